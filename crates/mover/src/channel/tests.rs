use std::fs::File;

use millpond_wire::{
    Backing, ContentHash, Epoch, GpuUuid, HANDLE_BYTES, Piece, Run, SlabId, Transport, socket,
};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn slab() -> impl Strategy<Value = SlabId> {
    any::<[u8; 16]>().prop_map(|bytes| SlabId(Uuid::from_bytes(bytes)))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,100}", Just("x".repeat(caps::TEXT_BYTES))]
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
        pieces().prop_map(Work::Pieces),
    ]
}

fn pieces() -> impl Strategy<Value = Pieces> {
    let kinds = [PiecesKind::Load, PiecesKind::HashFile, PiecesKind::Hash, PiecesKind::Save];
    let places = proptest::collection::vec((0_u64..1 << 40, 0_u64..=caps::PIECE_BYTES), 0..20);
    (proptest::sample::select(kinds.to_vec()), slab(), 0_u64..1 << 40, places).prop_map(
        |(kind, slab, base, places)| {
            let piece = |&(offset, bytes): &(u64, u64)| Piece { offset, bytes };
            let run = |&(file_offset, bytes): &(u64, u64)| Run { file_offset, bytes };
            let pieces = places.iter().map(piece).collect();
            let runs = places.iter().rev().map(run).filter(|_| kind.has_file()).collect();
            Pieces { kind, slab, base, pieces, runs }
        },
    )
}

fn backing() -> impl Strategy<Value = Backing> {
    let data = || any::<u8>().prop_map(|byte| [byte; HANDLE_BYTES]);
    let transport = prop_oneof![
        Just(Transport::Vmm),
        data().prop_map(Transport::Mempool),
        data().prop_map(Transport::Ipc),
    ];
    (transport, any::<bool>()).prop_map(|(transport, adopted)| Backing { transport, adopted })
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
        (slab(), any::<u64>(), backing()).prop_map(|(slab, bytes, backing)| ToMover::Map {
            slab,
            bytes,
            backing
        }),
        (slab(), any::<u64>(), backing()).prop_map(|(slab, bytes, backing)| ToMover::Prove {
            slab,
            bytes,
            backing
        }),
        (slab(), any::<u64>()).prop_map(|(slab, bytes)| ToMover::MakePool { slab, bytes }),
        slab().prop_map(|slab| ToMover::DropPool { slab }),
        slab().prop_map(|slab| ToMover::Unmap { slab }),
        (any::<u64>(), any::<u64>(), rights(), work()).prop_map(|(job, epoch, by, work)| {
            ToMover::Job(Job { job, epoch: Epoch(epoch), by, work })
        }),
        any::<u64>().prop_map(|job| ToMover::Cancel { job }),
        Just(ToMover::Stop),
    ]
}

fn rights() -> impl Strategy<Value = Rights> {
    let number = || 0..u32::MAX;
    (number(), number(), proptest::collection::vec(number(), 0..40))
        .prop_map(|(user, group, groups)| Rights { user, group, groups })
}

#[test]
fn a_number_that_leaves_a_user_as_it_is_is_nobodys() {
    for by in [
        Rights { user: u32::MAX, ..Rights::default() },
        Rights { group: u32::MAX, ..Rights::default() },
        Rights { groups: vec![1, u32::MAX], ..Rights::default() },
    ] {
        let work = Work::Zero { slab: SlabId::random(), offset: 0, bytes: 1 };
        let job = ToMover::Job(Job { job: 1, epoch: Epoch(1), by, work });
        assert!(matches!(ToMover::decode(&job.encode()), Err(ChannelError::Malformed(_))));
    }
}

fn from_mover() -> impl Strategy<Value = FromMover> {
    let why = || proptest::sample::select(Why::ALL.to_vec());
    prop_oneof![
        any::<u64>().prop_map(|context_bytes| FromMover::Ready { context_bytes }),
        text().prop_map(|text| FromMover::Failed { text }),
        slab().prop_map(|slab| FromMover::Mapped { slab }),
        (slab(), why(), text()).prop_map(|(slab, why, text)| FromMover::MapFailed {
            slab,
            why,
            text
        }),
        slab().prop_map(|slab| FromMover::Unmapped { slab }),
        slab().prop_map(|slab| FromMover::Proved { slab }),
        (slab(), why(), text()).prop_map(|(slab, why, text)| FromMover::NotProved {
            slab,
            why,
            text
        }),
        (slab(), any::<u8>())
            .prop_map(|(slab, byte)| FromMover::PoolMade { slab, data: [byte; HANDLE_BYTES] }),
        (slab(), any::<bool>(), text()).prop_map(|(slab, out_of_memory, text)| {
            FromMover::PoolFailed { slab, out_of_memory, text }
        }),
        (any::<u64>(), proptest::collection::vec(any::<[u8; 16]>(), 0..20)).prop_map(
            |(job, hashes)| {
                FromMover::Done { job, hashes: hashes.into_iter().map(ContentHash).collect() }
            }
        ),
        (any::<u64>(), why(), text()).prop_map(|(job, why, text)| FromMover::JobFailed {
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

fn load(pieces: Vec<Piece>, runs: Vec<Run>) -> Pieces {
    Pieces { kind: PiecesKind::Load, slab: SlabId::random(), base: 0, pieces, runs }
}

fn pieces_job(pieces: Pieces) -> ToMover {
    ToMover::Job(Job { job: 1, epoch: Epoch(1), by: Rights::default(), work: Work::Pieces(pieces) })
}

#[test]
fn the_largest_move_and_its_answer_travel() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = MoverEnd::new(theirs);
    let null = File::open("/dev/null").unwrap();
    let bytes = caps::MOVE_BYTES / caps::PIECES_PER_MOVE as u64;
    let pieces = vec![Piece { offset: 0, bytes }; caps::PIECES_PER_MOVE];
    let bytes = caps::MOVE_BYTES / caps::RUNS_PER_MOVE as u64;
    let runs = vec![Run { file_offset: u64::MAX >> 2, bytes }; caps::RUNS_PER_MOVE];
    let job = pieces_job(load(pieces, runs));
    assert!(job.encode().len() <= TO_MOVER_BYTES);
    ours.send(&job, Some(null.as_fd())).unwrap();
    assert!(theirs.receive().unwrap().0 == job);
    let hashes = vec![ContentHash([1; 16]); caps::PIECES_PER_MOVE];
    let done = FromMover::Done { job: 1, hashes };
    assert!(done.encode().len() <= FROM_MOVER_BYTES);
    theirs.send(&done).unwrap();
    let (said, fd) = ours.try_receive().unwrap().unwrap();
    assert!(said == done && fd.is_none());
}

#[test]
fn moves_beyond_the_caps_are_refused() {
    let piece = |offset, bytes| Piece { offset, bytes };
    let run = |file_offset, bytes| Run { file_offset, bytes };
    let full = caps::PIECE_BYTES;
    let good = load(vec![piece(0, 5), piece(7, 5)], vec![run(0, 10)]);
    assert_eq!(good.check(), Ok(()));
    for (bad, expected) in [
        (load(vec![piece(0, 0); 1025], vec![]), "too many pieces"),
        (load(vec![], vec![run(0, 0); 2049]), "too many"),
        (load(vec![piece(0, full + 1)], vec![run(0, full + 1)]), "too large"),
        (load(vec![piece(0, full); 65], vec![run(0, 65 * full)]), "too large together"),
        (load(vec![piece(u64::MAX, 1)], vec![run(0, 1)]), "outside any slab"),
        (Pieces { base: u64::MAX - 11, ..good.clone() }, "outside any slab"),
        (load(vec![piece(0, 1)], vec![run(u64::MAX, 1)]), "outside any file"),
        (load(vec![piece(0, 1)], vec![run(i64::MAX as u64, 1)]), "outside any file"),
        (load(vec![piece(0, 1)], vec![run(0, 2)]), "differ in length"),
        (load(vec![piece(0, 1)], vec![run(0, 1 << 62); 5]), "differ in length"),
        (Pieces { kind: PiecesKind::Hash, ..good.clone() }, "differ in length"),
        (
            Pieces { kind: PiecesKind::Hash, ..load(vec![piece(0, 0)], vec![run(0, 0)]) },
            "differ in length",
        ),
    ] {
        let why = bad.check().unwrap_err();
        assert!(why.contains(expected), "{why}, not {expected}");
        let error = ToMover::decode(&pieces_job(bad).encode()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    let long = FromMover::Done { job: 1, hashes: vec![ContentHash([0; 16]); 1025] };
    assert!(FromMover::decode(&long.encode()).is_err());
}

#[test]
fn pieces_take_a_file_unless_they_stay_in_their_slab() {
    let (pieces, runs) = (vec![Piece { offset: 0, bytes: 1 }], vec![]);
    let load = load(pieces, runs);
    for (kind, files, slab) in [
        (PiecesKind::Load, 1, true),
        (PiecesKind::HashFile, 1, false),
        (PiecesKind::Hash, 0, true),
        (PiecesKind::Save, 1, true),
    ] {
        assert_eq!(pieces_job(Pieces { kind, ..load.clone() }).descriptors(), files, "{kind:?}");
        assert_eq!(kind.touches_slab(), slab);
    }
}

#[test]
fn a_long_text_is_cut_between_characters_and_a_longer_one_refused() {
    let text = "ä".repeat(caps::TEXT_BYTES);
    let bytes = FromMover::Failed { text }.encode();
    let FromMover::Failed { text } = FromMover::decode(&bytes).unwrap() else { panic!() };
    assert_eq!(text, "ä".repeat(caps::TEXT_BYTES / 2));
    let mut long = vec![33];
    long.extend(4097_u16.to_le_bytes());
    long.extend([b'x'; 4097]);
    let error = FromMover::decode(&long).unwrap_err().to_string();
    assert_eq!(error, "malformed channel message: a text is above 4096 bytes");
    assert!(FromMover::decode(&[33, 1, 0, 0xff]).is_err());
}

#[test]
fn descriptors_are_counted_on_both_sides() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = MoverEnd::new(theirs);
    let null = File::open("/dev/null").unwrap();
    let map_of = |transport| {
        let backing = Backing { transport, adopted: false };
        ToMover::Map { slab: SlabId::random(), bytes: 1, backing }
    };
    assert_eq!(map_of(Transport::Mempool([1; HANDLE_BYTES])).descriptors(), 1);
    assert_eq!(map_of(Transport::Ipc([1; HANDLE_BYTES])).descriptors(), 0);
    let prove_of = |transport| {
        let backing = Backing { transport, adopted: true };
        ToMover::Prove { slab: SlabId::random(), bytes: 1, backing }
    };
    assert_eq!(prove_of(Transport::Vmm).descriptors(), 1);
    assert_eq!(prove_of(Transport::Mempool([1; HANDLE_BYTES])).descriptors(), 1);
    assert_eq!(prove_of(Transport::Ipc([1; HANDLE_BYTES])).descriptors(), 0);
    let map = map_of(Transport::Vmm);
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
fn a_pool_comes_with_its_descriptor_and_nothing_else_does() {
    let (ours, theirs) = DaemonEnd::pair().unwrap();
    let theirs = MoverEnd::new(theirs);
    let null = File::open("/dev/null").unwrap();
    let slab = SlabId::random();
    let made = FromMover::PoolMade { slab, data: [1; HANDLE_BYTES] };
    let failed = FromMover::PoolFailed { slab, out_of_memory: true, text: "full".into() };
    assert!(matches!(theirs.send(&made), Err(ChannelError::Descriptors { .. })));
    for other in [&failed, &FromMover::Proved { slab }] {
        let sent = theirs.send_with(other, Some(null.as_fd()));
        assert!(matches!(sent, Err(ChannelError::Descriptors { .. })), "{other:?}");
    }
    theirs.send_with(&made, Some(null.as_fd())).unwrap();
    let (said, fd) = ours.receive_within(SEND_TIMEOUT).unwrap();
    assert!(said == made && fd.is_some());
    // A mover that is not ours says what it likes.
    socket::send(&theirs.0, &made.encode(), &[], true).unwrap();
    assert!(matches!(ours.try_receive(), Err(ChannelError::Descriptors { .. })));
    socket::send(&theirs.0, &failed.encode(), &[null.as_fd()], true).unwrap();
    assert!(matches!(ours.try_receive(), Err(ChannelError::Descriptors { .. })));
    theirs.send(&failed).unwrap();
    assert_eq!(ours.try_receive().unwrap().unwrap().0, failed, "the next one is read");
}

/// What is read must come back when it is written.
#[test]
fn a_yes_that_is_neither_yes_nor_no_is_refused() {
    let slab = SlabId::random();
    let failed = FromMover::PoolFailed { slab, out_of_memory: true, text: String::new() };
    let mut bytes = failed.encode();
    assert_eq!(bytes[17], 1);
    bytes[17] = 2;
    assert!(matches!(FromMover::decode(&bytes), Err(ChannelError::Malformed(_))));
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
    let ready = FromMover::Ready { context_bytes: 7 };
    theirs.send(&ready).unwrap();
    assert_eq!(ours.try_receive().unwrap().unwrap().0, ready);
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
    assert!(matches!(
        theirs.send(&FromMover::Ready { context_bytes: 0 }),
        Err(ChannelError::HungUp)
    ));
}

#[test]
fn another_version_is_refused_whatever_follows() {
    for (kind, decode) in [
        (1, (|bytes| ToMover::decode(bytes).err()) as fn(&[u8]) -> Option<ChannelError>),
        (32, |bytes| FromMover::decode(bytes).err()),
    ] {
        let newer = VERSIONS.newest + 1;
        let bytes = [&[kind][..], &newer.to_le_bytes(), b"what only that version knows"].concat();
        let said = decode(&bytes).unwrap().to_string();
        let expected = format!("the other end speaks version {newer} of the channel");
        assert!(said.starts_with(&expected), "{said}");
    }
}
