//! The bytes between daemon and mover are those of the golden files.

#![allow(clippy::unwrap_used)]

#[path = "../../../tests/golden/check.rs"]
mod check;

use millpond_mover::channel::{FromMover, Job, Pieces, PiecesKind, Rights, ToMover, Why, Work};
use millpond_wire::{Backing, ContentHash, Epoch, GpuUuid, Piece, Run, SlabId, Transport};

fn slab() -> SlabId {
    "11112222-3333-4444-5555-666677778888".parse().unwrap()
}

fn rights() -> Rights {
    Rights { user: 1000, group: 100, groups: vec![4, 27] }
}

fn to_mover() -> Vec<(&'static str, ToMover)> {
    let (slab, from, epoch, bytes) = (slab(), slab(), Epoch(3), 4096);
    let (offset, file_offset, from_offset) = (256, 512, 1024);
    let job = |work| ToMover::Job(Job { job: 7, epoch, by: rights(), work });
    let run = |file_offset, bytes| Run { file_offset, bytes };
    let pieces = |kind, runs| {
        let piece = |offset, bytes| Piece { offset, bytes };
        let pieces = vec![piece(0, 1000), piece(1024, 24)];
        job(Work::Pieces(Pieces { kind, slab, base: offset, pieces, runs }))
    };
    let device = GpuUuid([1; 16]);
    let map =
        |transport, adopted| ToMover::Map { slab, bytes, backing: Backing { transport, adopted } };
    let prove =
        |transport| ToMover::Prove { slab, bytes, backing: Backing { transport, adopted: true } };
    let data = std::array::from_fn(|at| u8::try_from(at).unwrap());
    vec![
        ("start", ToMover::Start { epoch, device, threads: 4, block_bytes: 1 << 20, depth: 2 }),
        ("map", map(Transport::Vmm, false)),
        ("map-adopted", map(Transport::Vmm, true)),
        ("map-mempool", map(Transport::Mempool(data), false)),
        ("map-ipc", map(Transport::Ipc(data), false)),
        ("prove", prove(Transport::Vmm)),
        ("prove-mempool", prove(Transport::Mempool(data))),
        ("prove-ipc", prove(Transport::Ipc(data))),
        ("make-pool", ToMover::MakePool { slab, bytes }),
        ("drop-pool", ToMover::DropPool { slab }),
        ("unmap", ToMover::Unmap { slab }),
        ("put", job(Work::Put { slab, offset, bytes, file_offset })),
        ("get", job(Work::Get { slab, offset, bytes, file_offset })),
        ("copy", job(Work::Copy { slab, offset, bytes, from, from_offset })),
        ("zero", job(Work::Zero { slab, offset, bytes })),
        ("pieces-load", pieces(PiecesKind::Load, vec![run(0, 1000), run(5000, 24)])),
        ("pieces-hash-file", pieces(PiecesKind::HashFile, vec![run(9, 1024)])),
        ("pieces-hash", pieces(PiecesKind::Hash, Vec::new())),
        ("pieces-save", pieces(PiecesKind::Save, vec![run(9, 1024)])),
        ("cancel", ToMover::Cancel { job: 7 }),
        ("stop", ToMover::Stop),
    ]
}

fn from_mover() -> Vec<(&'static str, FromMover)> {
    let (slab, text) = (slab(), || "no such file".to_owned());
    let data = std::array::from_fn(|at| u8::try_from(at).unwrap());
    let pool_failed = |out_of_memory| FromMover::PoolFailed { slab, out_of_memory, text: text() };
    vec![
        ("ready", FromMover::Ready { context_bytes: 500 << 20 }),
        ("failed", FromMover::Failed { text: text() }),
        ("mapped", FromMover::Mapped { slab }),
        ("map-failed", FromMover::MapFailed { slab, why: Why::Driver, text: text() }),
        ("map-unsupported", FromMover::MapFailed { slab, why: Why::Unsupported, text: text() }),
        ("unmapped", FromMover::Unmapped { slab }),
        ("proved", FromMover::Proved { slab }),
        ("not-proved", FromMover::NotProved { slab, why: Why::Range, text: text() }),
        ("pool-made", FromMover::PoolMade { slab, data }),
        ("pool-failed", pool_failed(false)),
        ("pool-out-of-memory", pool_failed(true)),
        ("done", FromMover::Done { job: 7, hashes: Vec::new() }),
        ("hashes", FromMover::Done { job: 7, hashes: vec![ContentHash([7; 16]); 2] }),
        ("job-failed", FromMover::JobFailed { job: 7, why: Why::File, text: text() }),
        ("job-denied", FromMover::JobFailed { job: 7, why: Why::Denied, text: text() }),
        ("job-cancelled", FromMover::JobFailed { job: 7, why: Why::Cancelled, text: text() }),
    ]
}

#[test]
fn golden_to_mover() {
    let messages = to_mover();
    let encoded = messages.iter().map(|(name, it)| ((*name).to_owned(), it.encode()));
    let golden = check::check("to-mover", encoded);
    for (name, message) in &messages {
        assert_eq!(ToMover::decode(&golden[*name]).unwrap(), *message, "{name}");
    }
}

#[test]
fn golden_from_mover() {
    let messages = from_mover();
    let encoded = messages.iter().map(|(name, it)| ((*name).to_owned(), it.encode()));
    let golden = check::check("from-mover", encoded);
    for (name, message) in &messages {
        assert_eq!(FromMover::decode(&golden[*name]).unwrap(), *message, "{name}");
    }
}
