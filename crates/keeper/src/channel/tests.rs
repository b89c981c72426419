use std::fs::File;

use millpond_wire::{Backing, Epoch, HANDLE_BYTES, SlabId, Transport, caps, socket};
use proptest::prelude::*;

use super::*;

fn keys() -> impl Strategy<Value = Vec<HoldKey>> {
    let key = "[ -~]{1,100}".prop_map(|text| text.parse().unwrap());
    proptest::collection::vec(key, 0..=KEYS_PER_MESSAGE)
}

fn holdings() -> impl Strategy<Value = Vec<Holding>> {
    let data = any::<u8>().prop_map(|byte| [byte; HANDLE_BYTES]);
    let transport = prop_oneof![Just(Transport::Vmm), data.prop_map(Transport::Mempool)];
    let backing =
        (transport, any::<bool>()).prop_map(|(transport, adopted)| Backing { transport, adopted });
    let backings = prop_oneof![Just(Backing::default()).boxed(), backing.boxed(),];
    (keys(), backings).prop_map(|(keys, backing)| {
        // Every second one has it.
        let backings = [Backing::default(), backing].into_iter().cycle();
        keys.into_iter().zip(backings).map(|(key, backing)| Holding { key, backing }).collect()
    })
}

fn messages() -> impl Strategy<Value = Message> {
    let process = || (any::<u64>(), any::<u32>(), proptest::collection::vec(any::<u8>(), 0..300));
    prop_oneof![
        process().prop_map(|(epoch, keeper_pid, config)| Message::Start {
            epoch: Epoch(epoch),
            keeper_pid,
            config,
            version: 1,
        }),
        process().prop_map(|(epoch, daemon_pid, config)| Message::Adopt {
            epoch: Epoch(epoch),
            daemon_pid,
            config,
            version: 1,
        }),
        holdings().prop_map(|holdings| Message::Held { holdings }),
        holdings().prop_map(|holdings| Message::Hold { holdings }),
        keys().prop_map(|keys| Message::Drop { keys }),
        any::<u64>().prop_map(|number| Message::Ping { number }),
        any::<u64>().prop_map(|number| Message::Pong { number }),
        Just(Message::Ready),
        Just(Message::Stop),
        Just(Message::Serving),
        Just(Message::AdoptDone),
        Just(Message::HandOver),
        Just(Message::HandedOver),
        "\\PC{0,300}".prop_map(|program| Message::Upgrade { program }),
        "\\PC{0,300}".prop_map(|reason| Message::UpgradeRefused { reason }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in messages()) {
        let bytes = message.encode().unwrap();
        prop_assert!(bytes.len() <= caps::MESSAGE_BYTES);
        prop_assert_eq!(Message::decode(&bytes).unwrap(), message);
    }

    #[test]
    fn garbage_is_refused_or_is_exactly_a_message(
        kind in 0u8..32,
        rest in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let bytes = [&[kind], rest.as_slice()].concat();
        if let Ok(message) = Message::decode(&bytes) {
            prop_assert_eq!(message.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn a_message_that_is_cut_or_longer_is_refused(message in messages(), cut in any::<usize>()) {
        let mut bytes = message.encode().unwrap();
        prop_assert!(Message::decode(&bytes[..cut % bytes.len()]).is_err());
        bytes.push(0);
        prop_assert!(Message::decode(&bytes).is_err());
    }
}

#[test]
fn caps_are_kept_on_both_sides() {
    let start = |bytes| Message::Start {
        epoch: Epoch(1),
        keeper_pid: 1,
        config: vec![b' '; bytes],
        version: 1,
    };
    assert!(start(CONFIG_BYTES).encode().is_ok());
    assert!(start(CONFIG_BYTES + 1).encode().is_err());
    let keys = vec![HoldKey::journal(); KEYS_PER_MESSAGE + 1];
    let error = Message::Drop { keys }.encode().unwrap_err();
    assert_eq!(error.to_string(), "malformed channel message: more than 100 keys");
    let upgrade = |bytes| Message::Upgrade { program: "x".repeat(bytes) };
    assert!(upgrade(TEXT_BYTES).encode().is_ok());
    assert!(upgrade(TEXT_BYTES + 1).encode().is_err());
    assert!(Message::decode(&[&[22, 1, 16][..], &[b'x'; 4097]].concat()).is_err());
    assert!(Message::decode(&[22, 1, 0, 0xff]).is_err());
    assert!(Message::decode(&[17, 101]).is_err());
    assert!(Message::decode(&[17, 1, 1, b'\n']).is_err());
    assert!(Message::decode(&[17, 1, 0]).is_err());
}

#[test]
fn descriptors_are_counted_on_both_sides() {
    let (ours, theirs) = Channel::pair().unwrap();
    let null = File::open("/dev/null").unwrap();
    let hold = Message::Hold { holdings: vec![HoldKey::journal().into()] };
    assert!(matches!(ours.send(&hold, &[]), Err(ChannelError::Descriptors { .. })));
    socket::send(&theirs, &hold.encode().unwrap(), &[null.as_fd(), null.as_fd()], true).unwrap();
    let theirs = Channel::new(theirs);
    theirs.send(&Message::Serving, &[]).unwrap();
    let error = ours.try_receive().unwrap_err();
    assert!(matches!(error, ChannelError::Descriptors { expected: 1, found: 2 }), "{error}");
    assert_eq!(ours.receive().unwrap().0, Message::Serving, "the channel goes on");
}

#[test]
fn many_keys_go_in_batches() {
    let (ours, theirs) = Channel::pair().unwrap();
    let null = File::open("/dev/null").unwrap();
    let holds = (0..250).map(|_| (HoldKey::slab(SlabId::random()).into(), null.as_fd()));
    ours.send_holdings(|holdings| Message::Held { holdings }, holds, SEND_TIMEOUT).unwrap();
    let theirs = Channel::new(theirs);
    for expected in [100, 100, 50] {
        let (message, fds) = theirs.receive_within(SEND_TIMEOUT).unwrap();
        assert_eq!((message.descriptors(), fds.len()), (expected, expected));
    }
    assert!(theirs.try_receive().unwrap().is_none());
    drop(ours);
    assert!(matches!(theirs.receive(), Err(ChannelError::HungUp)));
}

#[test]
fn a_peer_that_does_not_read_is_named_as_hung() {
    let (ours, _theirs) = Channel::pair().unwrap();
    let large = Message::Start {
        epoch: Epoch(1),
        keeper_pid: 1,
        config: vec![0; CONFIG_BYTES],
        version: 1,
    };
    let null = File::open("/dev/null").unwrap();
    let error = loop {
        let patience = Duration::from_millis(20);
        if let Err(error) = ours.send_within(&large, &[null.as_fd()], patience) {
            break error;
        }
    };
    assert!(matches!(error, ChannelError::HungPeer { .. }), "{error}");
    let error = ours.receive_within(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, ChannelError::HungPeer { .. }), "{error}");
}

#[test]
fn keys_alone_are_the_bytes_of_version_1_and_backings_are_version_2() {
    let key = HoldKey::slab(SlabId::random());
    let text = key.as_str().as_bytes();
    let keys = [&[1, 41][..], text].concat();
    let backing = Backing { transport: Transport::Mempool([5; HANDLE_BYTES]), adopted: true };
    let with_backing = [&keys[..], &[2, 1], &[5; HANDLE_BYTES]].concat();
    type Make = fn(Vec<Holding>) -> Message;
    let kinds: [(u8, u8, Make); 2] = [
        (2, 8, |holdings| Message::Held { holdings }),
        (16, 24, |holdings| Message::Hold { holdings }),
    ];
    for (plain, backings, message) in kinds {
        let bytes = message(vec![key.clone().into()]).encode().unwrap();
        assert_eq!(bytes, [&[plain][..], &keys].concat());
        let made = message(vec![Holding { key: key.clone(), backing }]);
        assert_eq!(made.encode().unwrap(), [&[backings][..], &with_backing].concat());
        // Nothing has two forms.
        let twice = [&[backings][..], &keys, &[1, 0]].concat();
        assert!(Message::decode(&twice).is_err());
        // A peer of version 1 gets the keys alone.
        assert_eq!(*made.for_version(2), made);
        assert_eq!(*made.for_version(1), message(vec![key.clone().into()]));
    }
    let transport = Transport::Ipc([5; HANDLE_BYTES]);
    let backing = Backing { transport, adopted: false };
    let said = Message::Hold { holdings: vec![Holding { key, backing }] }.encode().unwrap_err();
    assert!(said.to_string().contains("without a descriptor"), "{said}");
    assert!(Message::decode(&[&[24][..], &keys, &[3, 0], &[5; HANDLE_BYTES]].concat()).is_err());
}

#[test]
fn each_end_sends_what_the_version_of_the_channel_knows() {
    let null = File::open("/dev/null").unwrap();
    let backing = Backing { transport: Transport::Mempool([5; HANDLE_BYTES]), adopted: false };
    let holding = Holding { key: HoldKey::slab(SlabId::random()), backing };
    let hold = Message::Hold { holdings: vec![holding.clone()] };
    for (version, expected) in [(1, holding.key.clone().into()), (2, holding)] {
        let (ours, theirs) = Channel::pair().unwrap();
        ours.speaking(version).send(&hold, &[null.as_fd()]).unwrap();
        let (message, fds) = Channel::new(theirs).receive().unwrap();
        assert_eq!((message, fds.len()), (Message::Hold { holdings: vec![expected] }, 1));
    }
}

/// A keeper or daemon of before names no version, and one to come names its own.
#[test]
fn the_first_message_says_the_version() {
    let hello = |version| {
        let process = (Epoch(3), 7, b"{}".to_vec());
        let (epoch, keeper_pid, config) = process.clone();
        let start = Message::Start { epoch, keeper_pid, config, version };
        let (epoch, daemon_pid, config) = process;
        [start, Message::Adopt { epoch, daemon_pid, config, version }]
    };
    for (kind, message) in [1, 20].into_iter().zip(hello(1)) {
        let of_before = [&[kind, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0][..], b"{}"].concat();
        assert_eq!(message.encode().unwrap(), of_before);
        assert_eq!(Message::decode(&of_before).unwrap(), message);
    }
    for message in hello(2) {
        assert_eq!(Message::decode(&message.encode().unwrap()).unwrap(), message);
    }
    let newer = VERSIONS.newest + 1;
    for message in hello(newer) {
        let mut bytes = message.encode().unwrap();
        bytes.extend(b"what only that version knows");
        let said = Message::decode(&bytes).unwrap_err().to_string();
        let expected = format!("the other end speaks version {newer} of the channel");
        assert!(said.starts_with(&expected), "{said}");
    }
}
