use millpond_wire::{Epoch, GpuUuid, HANDLE_BYTES, SlabId, socket};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn slab() -> impl Strategy<Value = SlabId> {
    any::<[u8; 16]>().prop_map(|bytes| SlabId(Uuid::from_bytes(bytes)))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,100}", Just("x".repeat(caps::TEXT_BYTES))]
}

fn handle() -> impl Strategy<Value = Handle> {
    (any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(first, second)| {
        let mut handle = [0; HANDLE_BYTES];
        handle[..32].copy_from_slice(&first);
        handle[32..].copy_from_slice(&second);
        handle
    })
}

fn to_host() -> impl Strategy<Value = ToHost> {
    prop_oneof![
        any::<[u8; 16]>().prop_map(|device| ToHost::Start { device: GpuUuid(device) }),
        any::<u64>().prop_map(|epoch| ToHost::Hello { epoch: Epoch(epoch) }),
        (slab(), any::<u64>(), any::<bool>()).prop_map(|(slab, bytes, zero)| ToHost::Allocate {
            slab,
            bytes,
            zero
        }),
        slab().prop_map(|slab| ToHost::Free { slab }),
        Just(ToHost::Stop),
    ]
}

fn holding() -> impl Strategy<Value = Holding> {
    (slab(), any::<u64>(), handle(), handle()).prop_map(|(slab, bytes, memory, event)| Holding {
        slab,
        bytes,
        memory,
        event,
    })
}

fn from_host() -> impl Strategy<Value = FromHost> {
    let why = proptest::sample::select(Why::ALL.to_vec());
    let held = proptest::collection::vec(holding(), 0..8);
    prop_oneof![
        any::<u64>().prop_map(|context_bytes| FromHost::Ready { context_bytes }),
        text().prop_map(|text| FromHost::Failed { text }),
        (any::<u64>(), held)
            .prop_map(|(epoch, held)| FromHost::Holds { epoch: Epoch(epoch), held }),
        (any::<u64>(), any::<bool>(), any::<u64>()).prop_map(|(epoch, sealed, context_bytes)| {
            FromHost::HoldsEnd { epoch: Epoch(epoch), sealed, context_bytes }
        }),
        (slab(), handle(), handle()).prop_map(|(slab, memory, event)| FromHost::Allocated {
            slab,
            memory,
            event
        }),
        (slab(), why, text()).prop_map(|(slab, why, text)| FromHost::NotAllocated {
            slab,
            why,
            text
        }),
        slab().prop_map(|slab| FromHost::Freed { slab }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(to in to_host(), from in from_host()) {
        let bytes = to.encode();
        prop_assert!(bytes.len() <= TO_HOST_BYTES);
        prop_assert_eq!(ToHost::decode(&bytes).unwrap(), to);
        let bytes = from.encode();
        prop_assert!(bytes.len() <= FROM_HOST_BYTES);
        prop_assert_eq!(FromHost::decode(&bytes).unwrap(), from);
    }

    #[test]
    fn garbage_is_refused_or_is_exactly_a_message(
        kind in 0u8..48,
        rest in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = [&[kind], rest.as_slice()].concat();
        match ToHost::decode(&bytes) {
            // Another range of versions that has ours in it.
            Ok(ToHost::Hello { epoch }) => prop_assert_eq!(&bytes[9..], epoch.0.to_le_bytes()),
            Ok(message) => prop_assert_eq!(message.encode(), bytes.clone()),
            Err(_) => {}
        }
        if let Ok(message) = FromHost::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes);
        }
    }

    #[test]
    fn damaged_messages_never_panic(
        to in to_host(),
        from in from_host(),
        (at, flip) in (any::<usize>(), 1u8..),
    ) {
        let damage = |mut bytes: Vec<u8>| {
            let at = at % bytes.len();
            bytes[at] ^= flip;
            bytes
        };
        let _ = ToHost::decode(&damage(to.encode()));
        let _ = FromHost::decode(&damage(from.encode()));
    }

    #[test]
    fn a_message_that_is_cut_or_longer_is_refused(
        to in to_host(),
        from in from_host(),
        cut in any::<usize>(),
    ) {
        let mut bytes = to.encode();
        prop_assert!(ToHost::decode(&bytes[..cut % bytes.len()]).is_err());
        bytes.push(0);
        prop_assert!(ToHost::decode(&bytes).is_err());
        let mut bytes = from.encode();
        prop_assert!(FromHost::decode(&bytes[..cut % bytes.len()]).is_err());
        bytes.push(0);
        prop_assert!(FromHost::decode(&bytes).is_err());
    }
}

fn holdings(count: usize) -> Vec<Holding> {
    let (memory, event) = ([1; HANDLE_BYTES], [2; HANDLE_BYTES]);
    let one = |_| Holding { slab: SlabId::random(), bytes: SLAB_UNIT_BYTES, memory, event };
    (0..count).map(one).collect()
}

#[test]
fn the_longest_messages_travel_and_longer_ones_are_refused() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = HostEnd::new(theirs);
    let most = FromHost::Holds { epoch: Epoch(1), held: holdings(HOLDINGS_PER_MESSAGE) };
    assert!(most.encode().len() <= FROM_HOST_BYTES);
    theirs.send(&most).unwrap();
    assert!(ours.try_receive().unwrap() == Some(most));
    let more = FromHost::Holds { epoch: Epoch(1), held: holdings(HOLDINGS_PER_MESSAGE + 1) };
    assert!(matches!(theirs.send(&more), Err(ChannelError::Malformed(_))));
    let error = FromHost::decode(&more.encode()).unwrap_err().to_string();
    assert_eq!(error, "malformed channel message: more holdings than fit a message");

    let failed = FromHost::Failed { text: "x".repeat(2 * caps::TEXT_BYTES) };
    theirs.send(&failed).unwrap();
    let cut = FromHost::Failed { text: "x".repeat(caps::TEXT_BYTES) };
    assert_eq!(ours.try_receive().unwrap(), Some(cut));
    let long = [&[33][..], &4097_u16.to_le_bytes(), &[b'x'; 4097]].concat();
    assert!(FromHost::decode(&long).unwrap_err().to_string().contains("above 4096 bytes"));
}

#[test]
fn flags_and_reasons_have_their_numbers_and_no_others() {
    let slab = SlabId::random();
    let mut bytes = ToHost::Allocate { slab, bytes: 1, zero: true }.encode();
    assert_eq!(bytes.pop(), Some(1));
    bytes.push(2);
    let error = ToHost::decode(&bytes).unwrap_err().to_string();
    assert_eq!(error, "malformed channel message: a flag is neither 0 nor 1");
    for (number, why) in (0..).zip(Why::ALL) {
        let text = String::new();
        let mut bytes = FromHost::NotAllocated { slab, why, text }.encode();
        assert_eq!(bytes[17], number);
        bytes[17] = 5;
        assert!(FromHost::decode(&bytes).is_err());
    }
}

#[test]
fn a_message_with_a_descriptor_is_refused_and_the_next_one_comes() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = HostEnd::new(theirs);
    let null = std::fs::File::open("/dev/null").unwrap();
    socket::send(&ours, &ToHost::Stop.encode(), &[null.as_fd()], true).unwrap();
    socket::send(&ours, &[99], &[], true).unwrap();
    ours.send(&ToHost::Stop).unwrap();
    assert!(matches!(theirs.receive(), Err(ChannelError::Descriptors { expected: 0, found: 1 })));
    assert!(matches!(theirs.receive(), Err(ChannelError::Malformed("unknown kind"))));
    assert_eq!(theirs.receive().unwrap(), ToHost::Stop);
}

#[test]
fn the_daemon_never_waits_for_long() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    assert!(ours.try_receive().unwrap().is_none());
    let patience = Duration::from_millis(20);
    let error = loop {
        if let Err(error) = ours.send_within(&ToHost::Stop, patience) {
            break error;
        }
    };
    assert!(matches!(error, ChannelError::HungPeer { .. }), "{error}");
    assert!(matches!(ours.receive_within(patience), Err(ChannelError::HungPeer { .. })));
    let theirs = HostEnd::new(theirs);
    theirs.send(&FromHost::Ready { context_bytes: 1 }).unwrap();
    assert_eq!(ours.try_receive().unwrap(), Some(FromHost::Ready { context_bytes: 1 }));
    drop(theirs);
    assert!(matches!(ours.try_receive(), Err(ChannelError::HungUp)));
}

#[test]
fn a_host_waits_for_room_until_the_next_daemon_reads() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let held = ours.try_clone_fd().unwrap();
    drop(ours);
    let theirs = HostEnd::new(theirs);
    let count = 64;
    let sender = std::thread::spawn(move || {
        for number in 0..count {
            let held = holdings(HOLDINGS_PER_MESSAGE);
            theirs.send(&FromHost::Holds { epoch: Epoch(number), held }).unwrap();
        }
        theirs
    });
    let next = DaemonEnd::new(held);
    for number in 0..count {
        let message = next.receive_within(Duration::from_secs(60)).unwrap();
        assert!(matches!(message, FromHost::Holds { epoch, .. } if epoch == Epoch(number)));
    }
    drop(sender.join().unwrap());
}

#[test]
fn only_the_last_holder_hangs_up() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = HostEnd::new(theirs);
    let held = ours.try_clone_fd().unwrap();
    ours.send(&ToHost::Stop).unwrap();
    drop(ours);
    theirs.send(&FromHost::Ready { context_bytes: 0 }).unwrap();
    let next = DaemonEnd::new(held);
    assert_eq!(next.try_receive().unwrap(), Some(FromHost::Ready { context_bytes: 0 }));
    drop(next);
    theirs.wait_for_hang_up().unwrap();
    assert_eq!(theirs.receive().unwrap(), ToHost::Stop, "what was sent is not lost");
    assert!(matches!(theirs.receive(), Err(ChannelError::HungUp)));
    let ready = FromHost::Ready { context_bytes: 0 };
    assert!(matches!(theirs.send(&ready), Err(ChannelError::HungUp)));
}

#[test]
fn another_version_is_refused_whatever_follows() {
    let newer = VERSIONS.newest + 1;
    for (kind, decode) in [
        (1, (|bytes| ToHost::decode(bytes).err()) as fn(&[u8]) -> Option<ChannelError>),
        (32, |bytes| FromHost::decode(bytes).err()),
        (35, |bytes| FromHost::decode(bytes).err()),
    ] {
        let bytes = [&[kind][..], &newer.to_le_bytes(), b"what only that version knows"].concat();
        let said = decode(&bytes).unwrap().to_string();
        let expected = format!("the other end speaks version {newer} of the channel");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn a_later_daemon_that_speaks_an_older_version_too_is_understood() {
    let hello = |oldest: u32, newest: u32| {
        let range = [oldest.to_le_bytes(), newest.to_le_bytes()].concat();
        ToHost::decode(&[&[2], range.as_slice(), &7_u64.to_le_bytes()].concat())
    };
    let Versions { oldest, newest } = VERSIONS;
    assert_eq!(hello(oldest, newest + 5).unwrap(), ToHost::Hello { epoch: Epoch(7) });
    assert_eq!(hello(0, oldest).unwrap(), ToHost::Hello { epoch: Epoch(7) });
    let error = hello(newest + 1, newest + 5).unwrap_err();
    assert!(matches!(error, ChannelError::Version { .. }), "{error}");
}
