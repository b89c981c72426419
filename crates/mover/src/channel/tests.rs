use std::fs::File;

use millpond_wire::{Epoch, GpuUuid, SlabId};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn slab() -> impl Strategy<Value = SlabId> {
    any::<[u8; 16]>().prop_map(|bytes| SlabId(Uuid::from_bytes(bytes)))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,100}", Just("x".repeat(limits::TEXT_BYTES))]
}

fn work() -> impl Strategy<Value = Work> {
    let place = || (slab(), any::<u64>(), any::<u64>(), any::<u64>());
    prop_oneof![
        place().prop_map(|(slab, offset, bytes, file_offset)| Work::Put {
            slab,
            offset,
            bytes,
            file_offset
        }),
        place().prop_map(|(slab, offset, bytes, file_offset)| Work::Get {
            slab,
            offset,
            bytes,
            file_offset
        }),
        (place(), slab()).prop_map(|((slab, offset, bytes, from_offset), from)| Work::Copy {
            slab,
            offset,
            bytes,
            from,
            from_offset
        }),
        place().prop_map(|(slab, offset, bytes, _)| Work::Zero { slab, offset, bytes }),
    ]
}

fn to_mover() -> impl Strategy<Value = ToMover> {
    let start = (any::<u64>(), any::<[u8; 16]>(), any::<u16>(), any::<u32>(), any::<u8>());
    prop_oneof![
        start.prop_map(|(epoch, device, threads, block_bytes, depth)| ToMover::Start {
            epoch: Epoch(epoch),
            device: GpuUuid(device),
            threads,
            block_bytes,
            depth
        }),
        (slab(), any::<u64>()).prop_map(|(slab, bytes)| ToMover::Map { slab, bytes }),
        slab().prop_map(|slab| ToMover::Unmap { slab }),
        (any::<u64>(), any::<u64>(), work()).prop_map(|(job, epoch, work)| ToMover::Job(Job {
            job,
            epoch: Epoch(epoch),
            work
        })),
        Just(ToMover::Stop),
    ]
}

fn from_mover() -> impl Strategy<Value = FromMover> {
    let why = prop_oneof![Just(Why::Epoch), Just(Why::Range), Just(Why::File), Just(Why::Driver)];
    prop_oneof![
        Just(FromMover::Ready),
        text().prop_map(|text| FromMover::Failed { text }),
        slab().prop_map(|slab| FromMover::Mapped { slab }),
        (slab(), text()).prop_map(|(slab, text)| FromMover::MapFailed { slab, text }),
        slab().prop_map(|slab| FromMover::Unmapped { slab }),
        any::<u64>().prop_map(|job| FromMover::Done { job }),
        (any::<u64>(), why, text()).prop_map(|(job, why, text)| FromMover::JobFailed {
            job,
            why,
            text
        }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(to in to_mover(), from in from_mover()) {
        prop_assert_eq!(ToMover::decode(&to.encode()).unwrap(), to);
        let bytes = from.encode();
        prop_assert!(bytes.len() <= FROM_MOVER_BYTES);
        prop_assert_eq!(FromMover::decode(&bytes).unwrap(), from);
    }

    #[test]
    fn garbage_is_refused_or_is_exactly_a_message(
        kind in 0u8..48,
        rest in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let bytes = [&[kind], rest.as_slice()].concat();
        if let Ok(message) = ToMover::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes.clone());
        }
        if let Ok(message) = FromMover::decode(&bytes) {
            prop_assert_eq!(message.encode(), bytes);
        }
    }

    #[test]
    fn a_message_that_is_cut_or_longer_is_refused(
        to in to_mover(),
        from in from_mover(),
        cut in any::<usize>(),
    ) {
        let mut bytes = to.encode();
        prop_assert!(ToMover::decode(&bytes[..cut % bytes.len()]).is_err());
        bytes.push(0);
        prop_assert!(ToMover::decode(&bytes).is_err());
        let mut bytes = from.encode();
        prop_assert!(FromMover::decode(&bytes[..cut % bytes.len()]).is_err());
        bytes.push(0);
        prop_assert!(FromMover::decode(&bytes).is_err());
    }
}

#[test]
fn a_long_text_is_cut_between_characters_and_a_longer_one_refused() {
    let text = "ä".repeat(limits::TEXT_BYTES);
    let bytes = FromMover::Failed { text }.encode();
    let FromMover::Failed { text } = FromMover::decode(&bytes).unwrap() else { panic!() };
    assert_eq!(text, "ä".repeat(limits::TEXT_BYTES / 2));
    let mut long = vec![33];
    long.extend(4097_u16.to_le_bytes());
    long.extend([b'x'; 4097]);
    let error = FromMover::decode(&long).unwrap_err().to_string();
    assert_eq!(error, "malformed message on the mover's channel: a text is above 4096 bytes");
    assert!(FromMover::decode(&[33, 1, 0, 0xff]).is_err());
}

#[test]
fn descriptors_are_counted_on_both_sides() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = MoverEnd::new(theirs);
    let null = File::open("/dev/null").unwrap();
    let map = ToMover::Map { slab: SlabId::random(), bytes: 1 };
    assert!(matches!(ours.send(&map, None), Err(ChannelError::Descriptors { .. })));
    let stop = ToMover::Stop;
    assert!(matches!(ours.send(&stop, Some(null.as_fd())), Err(ChannelError::Descriptors { .. })));
    ours.send(&map, Some(null.as_fd())).unwrap();
    let (message, fd) = theirs.receive().unwrap();
    assert!(message == map && fd.is_some());
    socket::send(&ours, &map.encode(), &[null.as_fd(), null.as_fd()], true).unwrap();
    assert!(matches!(theirs.receive(), Err(ChannelError::Descriptors { expected: 1, found: 2 })));
}

#[test]
fn the_daemon_never_waits_for_long() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    assert!(ours.try_receive().unwrap().is_none());
    let patience = Duration::from_millis(20);
    let error = loop {
        if let Err(error) = ours.send_within(&ToMover::Stop, None, patience) {
            break error;
        }
    };
    assert!(matches!(error, ChannelError::HungPeer { .. }), "{error}");
    assert!(matches!(ours.receive_within(patience), Err(ChannelError::HungPeer { .. })));
    let theirs = MoverEnd::new(theirs);
    theirs.send(&FromMover::Ready).unwrap();
    assert_eq!(ours.try_receive().unwrap(), Some(FromMover::Ready));
    drop(theirs);
    assert!(matches!(ours.try_receive(), Err(ChannelError::HungUp)));
}

#[test]
fn a_hang_up_is_seen_behind_unread_messages() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = MoverEnd::new(theirs);
    ours.send(&ToMover::Stop, None).unwrap();
    drop(ours);
    theirs.wait_for_hang_up().unwrap();
    assert_eq!(theirs.receive().unwrap().0, ToMover::Stop);
    assert!(matches!(theirs.receive(), Err(ChannelError::HungUp)));
    assert!(matches!(theirs.send(&FromMover::Ready), Err(ChannelError::HungUp)));
}
