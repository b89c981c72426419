//! Pieces arrive, and their hashes are told.

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use millpond_mover::channel::{
    ChannelError, FromMover, Job, Pieces, PiecesKind, ToMover, Why, Work,
};
use millpond_wire::{ContentHash, Epoch, GpuUuid, Piece, Run, SlabId, caps};

use crate::world::{
    BLOCK, MIB, Mover, Slab, hashes_of, in_own_world, in_soft_world, own_rights, pattern, pieces,
    put, start,
};

fn piece(offset: u64, bytes: u64) -> Piece {
    Piece { offset, bytes }
}

fn run(file_offset: u64, bytes: u64) -> Run {
    Run { file_offset, bytes }
}

/// What the pieces are in the slab.
fn hashes_in(slab: &Slab, pieces: &[Piece]) -> Vec<ContentHash> {
    let hash = |piece: &Piece| ContentHash::of(&slab.read(piece.offset, piece.bytes));
    pieces.iter().map(hash).collect()
}

/// Pieces of one size from one place in the slab on, with gaps.
fn row(count: u64, bytes: u64, step: u64, first: u64) -> Vec<Piece> {
    (0..count).map(|index| piece(first + index * step, bytes)).collect()
}

#[test]
fn pieces_of_all_sizes_are_loaded_hashed_and_saved() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let contents = pattern(2 * MIB, 1);
        let source = world.file("source", &contents);
        let sizes = [1, 0, 255, 4096, BLOCK, BLOCK - 1, 2, BLOCK, 7, 70, 0];
        let mut at = 3;
        let all: Vec<Piece> = sizes
            .iter()
            .map(|bytes| {
                let now = piece(at, *bytes);
                at = (at + bytes).next_multiple_of(256);
                now
            })
            .collect();
        let bytes: u64 = sizes.iter().sum();
        let cut = bytes / 3;
        for runs in [
            vec![run(0, bytes)],
            vec![run(5, 10), run(15, 100), run(4096, bytes - 110)],
            vec![run(MIB, cut), run(99 * MIB, 0), run(9, cut), run(MIB + 99_999, bytes - 2 * cut)],
        ] {
            let wanted = hashes_of(&contents, &all, &runs);
            let on_file = pieces(PiecesKind::HashFile, &slab, &all, &runs);
            assert_eq!(mover.hashes(on_file, Some(&source)), wanted, "{runs:?}");
            assert_eq!(slab.read(0, 4 * MIB), vec![0xee; 4 << 20], "only the file is read");

            let load = pieces(PiecesKind::Load, &slab, &all, &runs);
            assert_eq!(mover.hashes(load, Some(&source)), wanted, "{runs:?}");
            assert_eq!(hashes_in(&slab, &all), wanted, "{runs:?}");
            let mut rest = slab.read(0, 4 * MIB);
            for one in &all {
                let start = usize::try_from(one.offset).unwrap();
                rest[start..start + usize::try_from(one.bytes).unwrap()].fill(0xee);
            }
            assert!(rest.iter().all(|byte| *byte == 0xee), "nothing between the pieces");

            let hash = pieces(PiecesKind::Hash, &slab, &all, &[]);
            assert_eq!(mover.hashes(hash, None), wanted);

            let target = world.file("target", &vec![0x11; contents.len()]);
            let save = pieces(PiecesKind::Save, &slab, &all, &runs);
            assert_eq!(mover.hashes(save, Some(&target)), wanted);
            let mut expected = vec![0x11; contents.len()];
            for one in runs.iter().filter(|run| run.bytes > 0) {
                let start = usize::try_from(one.file_offset).unwrap();
                let part = start..start + usize::try_from(one.bytes).unwrap();
                expected[part.clone()].copy_from_slice(&contents[part]);
            }
            let mut found = vec![0; contents.len()];
            target.read_exact_at(&mut found, 0).unwrap();
            assert!(found == expected, "{runs:?}");
            slab.mapping.memset(0, 4 * MIB, 0xee).unwrap();
        }
    });
}

#[test]
fn the_base_is_where_pieces_count_from() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let contents = pattern(10_000, 1);
        let source = world.file("source", &contents);
        let (all, runs) = (vec![piece(5, 100), piece(1000, 9900)], vec![run(0, 10_000)]);
        let (kind, base) = (PiecesKind::Load, 777);
        let wanted = hashes_of(&contents, &all, &runs);
        let load = Pieces { kind, slab: slab.id, base, pieces: all, runs };
        assert_eq!(mover.hashes(Work::Pieces(load), Some(&source)), wanted);
        assert!(slab.read(782, 100) == contents[..100]);
        assert!(slab.read(1777, 9900) == contents[100..]);
        assert_eq!((slab.read(781, 1), slab.read(1776, 1)), (vec![0xee], vec![0xee]));
    });
}

#[test]
fn thousands_of_small_pieces_side_by_side() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let contents = pattern(5000 * 700, 3);
        let source = world.file("source", &contents);
        let target = world.file("target", &[]);
        let all = row(5000, 700, 768, 0);
        let moves: Vec<(&[Piece], Run)> = all
            .chunks(caps::PIECES_PER_MOVE)
            .zip((0..).map(|index| index * 1024 * 700))
            .map(|(part, at)| (part, run(at, part.len() as u64 * 700)))
            .collect();
        for (kind, file) in [
            (PiecesKind::Load, Some(&source)),
            (PiecesKind::Hash, None),
            (PiecesKind::HashFile, Some(&source)),
            (PiecesKind::Save, Some(&target)),
        ] {
            let mut jobs = Vec::new();
            for (part, from) in &moves {
                let runs = if kind.has_file() { vec![*from] } else { vec![] };
                let work = pieces(kind, &slab, part, &runs);
                jobs.push((mover.begin(work, file.map(|file| file as _)), part, from));
            }
            for _ in 0..jobs.len() {
                let FromMover::Done { job, hashes } = mover.hear() else { panic!() };
                let at = jobs.iter().position(|(number, ..)| *number == job).unwrap();
                let (_, part, from) = jobs.swap_remove(at);
                assert!(hashes == hashes_of(&contents, part, &[*from]), "{kind:?}");
            }
        }
        let slab_bytes = slab.read(0, 5000 * 768);
        let tensors = slab_bytes.chunks(768).zip(contents.chunks(700));
        for (index, (found, wanted)) in tensors.enumerate() {
            assert!(found[..700] == *wanted && found[700..] == [0xee; 68], "tensor {index}");
        }
        let mut saved = vec![0; contents.len()];
        target.read_exact_at(&mut saved, 0).unwrap();
        assert!(saved == contents);
    });
}

#[test]
fn rows_of_a_matrix_become_a_piece() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        // 1,000 rows of 300 bytes; the piece is the columns 100 to 150.
        let contents = pattern(300_000, 4);
        let source = world.file("source", &contents);
        let runs: Vec<Run> = (0..1000).map(|row| run(row * 300 + 100, 50)).collect();
        let all = [piece(256, 50_000)];
        let wanted = hashes_of(&contents, &all, &runs);
        let work = pieces(PiecesKind::Load, &slab, &all, &runs);
        assert_eq!(mover.hashes(work, Some(&source)), wanted);
        let columns: Vec<u8> =
            contents.chunks(300).flat_map(|row| &row[100..150]).copied().collect();
        assert!(slab.read(256, 50_000) == columns);
    });
}

#[test]
fn whole_pieces_pass_the_ring_that_movers_have() {
    in_own_world(|world| {
        let mut mover = Mover::spawn(&[]);
        mover.say(&start(GpuUuid(world.device.uuid().0), 2, 0), None);
        assert!(matches!(mover.hear(), FromMover::Ready { .. }));
        let slab = world.slab(32 * MIB);
        mover.map(&slab);
        let contents = pattern(13 * MIB + 5, 4);
        let source = world.file("source", &contents);
        let full = caps::PIECE_BYTES;
        let all = [piece(0, full), piece(full, full), piece(2 * full, full), piece(3 * full, MIB)];
        let runs = [run(5, 13 * MIB)];
        let wanted = hashes_of(&contents, &all, &runs);
        let work = pieces(PiecesKind::Load, &slab, &all, &runs);
        assert_eq!(mover.hashes(work, Some(&source)), wanted);
        assert!(slab.read(0, 13 * MIB) == contents[5..]);
        let hash = pieces(PiecesKind::Hash, &slab, &all, &[]);
        assert_eq!(mover.hashes(hash, None), wanted);
    });
}

#[test]
fn a_file_is_hashed_for_a_slab_that_is_not_mapped() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let contents = pattern(BLOCK, 4);
        let source = world.file("source", &contents);
        let work = |kind| {
            let (pieces, runs) = (vec![piece(u64::MAX >> 1, BLOCK)], vec![run(0, BLOCK)]);
            Work::Pieces(Pieces { kind, slab: SlabId::random(), base: 0, pieces, runs })
        };
        let wanted = vec![ContentHash::of(&contents)];
        assert_eq!(mover.hashes(work(PiecesKind::HashFile), Some(&source)), wanted);
        for kind in [PiecesKind::Load, PiecesKind::Save] {
            let (why, text) = mover.fails(work(kind), Some(&source));
            assert_eq!(why, Why::Range);
            assert!(text.ends_with("is not mapped"), "{text}");
        }
    });
}

#[test]
fn pieces_that_do_not_fit_are_refused() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(BLOCK, 4));
        for (bad, expected) in [
            (piece(2 * MIB, 1), "has no 1 bytes at 2097152"),
            (piece(2 * MIB - 5, 6), "has no 6 bytes at 2097147"),
            (piece(0, BLOCK + 1), "a piece of 65537 bytes does not fit a buffer of 65536 bytes"),
        ] {
            let (all, runs) = ([piece(0, 1), bad], [run(0, bad.bytes + 1)]);
            for kind in [PiecesKind::Load, PiecesKind::Save] {
                let work = pieces(kind, &slab, &all, &runs);
                let (why, text) = mover.fails(work, Some(&source));
                assert_eq!(why, Why::Range);
                assert!(text.ends_with(expected), "{text}");
            }
            let (why, _) = mover.fails(pieces(PiecesKind::Hash, &slab, &all, &[]), None);
            assert_eq!(why, Why::Range);
        }
        let old = pieces(PiecesKind::Load, &slab, &[piece(0, 1)], &[run(0, 1)]);
        let old = ToMover::Job(Job { job: 99, epoch: Epoch(6), by: own_rights(), work: old });
        mover.say(&old, Some(source.as_fd()));
        assert!(matches!(mover.hear(), FromMover::JobFailed { job: 99, why: Why::Epoch, .. }));
        assert_eq!(slab.read(0, 1), [0xee]);
        assert_eq!(mover.hashes(pieces(PiecesKind::Load, &slab, &[], &[]), Some(&source)), []);
        let null = std::fs::File::open("/dev/null").unwrap();
        let (why, _) = mover.fails(pieces(PiecesKind::HashFile, &slab, &[], &[]), Some(&null));
        assert_eq!(why, Why::File);
    });
}

#[test]
fn a_mover_does_not_go_on_with_pieces_beyond_the_caps() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let source = world.file("source", &[]);
        let all = [piece(0, caps::PIECE_BYTES + 1)];
        let runs = [run(0, caps::PIECE_BYTES + 1)];
        mover.begin(pieces(PiecesKind::Load, &slab, &all, &runs), Some(&source));
        assert_eq!(mover.ended().code(), Some(1), "its daemon checks first");
    });
}

#[test]
fn a_short_file_is_told_in_the_order_of_the_pieces() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let source = world.file("short", &pattern(3 * BLOCK + 10, 1));
        let all = row(20, BLOCK / 2, BLOCK, 0);
        let bytes = 10 * BLOCK;
        for (runs, ended) in [
            (vec![run(0, bytes)], 3 * BLOCK + 10),
            (vec![run(100 * BLOCK, bytes)], 0),
            (
                vec![run(0, 2 * BLOCK), run(0, 100), run(BLOCK, bytes - 2 * BLOCK - 100)],
                4 * BLOCK + 110,
            ),
        ] {
            for kind in [PiecesKind::Load, PiecesKind::HashFile] {
                let (why, text) = mover.fails(pieces(kind, &slab, &all, &runs), Some(&source));
                assert_eq!(why, Why::File);
                assert_eq!(text, format!("the file ended at {ended} of {bytes} bytes"));
            }
        }
        let read_only = std::fs::File::open(world.folder.path().join("short")).unwrap();
        let save = pieces(PiecesKind::Save, &slab, &all, &[run(0, bytes)]);
        let (why, text) = mover.fails(save, Some(&read_only));
        assert_eq!(why, Why::File);
        assert!(text.starts_with("writing the file: "), "{text}");
        assert_eq!(mover.hashes(pieces(PiecesKind::Hash, &slab, &all, &[]), None).len(), 20);
    });
}

#[test]
fn a_mover_killed_in_the_middle_takes_nothing_with_it() {
    in_own_world(|world| {
        let slab = world.slab(8 * MIB);
        let contents = pattern(8 * MIB, 6);
        let source = world.file("source", &contents);
        let all = row(8 * 16, BLOCK, BLOCK, 0);
        let runs = [run(0, 8 * MIB)];
        let mut mover = Mover::start(world);
        mover.map(&slab);
        for _ in 0..50 {
            mover.begin(pieces(PiecesKind::Load, &slab, &all, &runs), Some(&source));
        }
        assert!(matches!(mover.hear(), FromMover::Done { .. }), "it is at work");
        mover.kill();
        let mut next = Mover::start(world);
        next.map(&slab);
        let wanted = hashes_of(&contents, &all, &runs);
        let work = pieces(PiecesKind::Load, &slab, &all, &runs);
        assert_eq!(next.hashes(work, Some(&source)), wanted);
        assert!(slab.read(0, 8 * MIB) == contents);
    });
}

#[test]
fn faults_for_tests_happen_in_jobs_of_pieces() {
    in_soft_world(|world| {
        let slab = world.slab(2 * MIB);
        let source = world.file("source", &pattern(2 * MIB, 6));
        let all = row(32, BLOCK, BLOCK, 0);
        let work = |kind: PiecesKind| {
            let runs = [run(0, 2 * MIB)];
            pieces(kind, &slab, &all, if kind.has_file() { &runs } else { &[] })
        };
        for kind in [PiecesKind::Load, PiecesKind::HashFile, PiecesKind::Hash, PiecesKind::Save] {
            let file = kind.has_file().then_some(&source as &dyn AsFd);
            for fault in ["hang-before-job:1", "hang-after-copy:1"] {
                let mut mover = Mover::start_with(world, &[("MILLPOND_MOVER_FAULT", fault)]);
                mover.map(&slab);
                mover.begin(work(kind), file);
                let second = mover.begin(put(&slab, 0, 0, 0), Some(&source));
                assert_eq!(mover.hear(), FromMover::Done { job: second, hashes: vec![] });
                let silence = mover.channel().receive_within(Duration::from_millis(20));
                assert!(matches!(silence, Err(ChannelError::HungPeer { .. })), "{silence:?}");
            }
            let fault = [("MILLPOND_MOVER_FAULT", "exit-before-job:1")];
            let mut mover = Mover::start_with(world, &fault);
            mover.map(&slab);
            mover.begin(work(kind), file);
            assert_eq!(mover.ended().code(), Some(71));
        }
    });
}
