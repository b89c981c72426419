//! Messages of every kind.

use millpond_keeper::channel::{HoldKey, Holding, Message};
use millpond_mover::channel::{FromMover, Job, Pieces, PiecesKind, ToMover, Why, Work};
use millpond_wire::message::{Reply, Request};
use millpond_wire::{
    Backing, ClientId, ContentHash, Epoch, GpuUuid, HANDLE_BYTES, Piece, Run, SlabId, Transport,
    samples,
};
use planus::Builder;
use uuid::Uuid;

use crate::Folder;

const ID: Uuid = Uuid::from_u64_pair(0x1111_2222_3333_4444, 0x5555_6666_7777_8888);

pub fn requests(folder: &Folder) {
    for (seed, body) in samples::requests() {
        folder.seed(seed, Request { number: 5, body }.encode(&mut Builder::new()));
    }
}

pub fn replies(folder: &Folder) {
    for (seed, body) in samples::replies() {
        folder.seed(seed, Reply { number: 5, body }.encode(&mut Builder::new()));
    }
}

pub fn keeper_channel(folder: &Folder) {
    let keys = vec![
        HoldKey::journal(),
        HoldKey::listen("pond.sock").expect("a key"),
        HoldKey::folder_lock(),
        HoldKey::gpu_lock(GpuUuid([1; 16])),
        HoldKey::slab(SlabId(ID)),
        HoldKey::client(ClientId(ID)),
    ];
    let plain: Vec<Holding> = keys.iter().cloned().map(Holding::from).collect();
    let backing = Backing { transport: Transport::Mempool([7; HANDLE_BYTES]), adopted: true };
    let mut backings = plain.clone();
    backings.push(Holding { key: HoldKey::slab(SlabId(ID)), backing });
    let (epoch, config) = (Epoch(3), b"{\"driver\":\"soft\"}".to_vec());
    for (seed, message) in [
        ("start", Message::Start { epoch, keeper_pid: 7, config: config.clone(), version: 1 }),
        ("start-2", Message::Start { epoch, keeper_pid: 7, config: config.clone(), version: 2 }),
        ("held", Message::Held { holdings: plain.clone() }),
        ("held-backings", Message::Held { holdings: backings.clone() }),
        ("ready", Message::Ready),
        ("ping", Message::Ping { number: 9 }),
        ("stop", Message::Stop),
        ("hold", Message::Hold { holdings: plain }),
        ("hold-backings", Message::Hold { holdings: backings }),
        ("drop", Message::Drop { keys }),
        ("pong", Message::Pong { number: 9 }),
        ("serving", Message::Serving),
        ("adopt", Message::Adopt { epoch, daemon_pid: 8, config, version: 1 }),
        ("adopt-done", Message::AdoptDone),
    ] {
        folder.seed(seed, &message.encode().expect("a message"));
    }
}

pub fn mover_channel(folder: &Folder) {
    let (slab, from, epoch, bytes) = (SlabId(ID), SlabId(ID), Epoch(3), 4096);
    let (offset, file_offset, from_offset) = (256, 512, 1024);
    let job = |work| ToMover::Job(Job { job: 7, epoch, work });
    let run = |file_offset, bytes| Run { file_offset, bytes };
    let piece = |offset, bytes| Piece { offset, bytes };
    let pieces = |kind, runs| {
        let pieces = vec![piece(0, 1000), piece(1024, 24)];
        Work::Pieces(Pieces { kind, slab, base: offset, pieces, runs })
    };
    let device = GpuUuid([1; 16]);
    let map = |transport| {
        let adopted = transport != Transport::Vmm;
        ToMover::Map { slab, bytes, backing: Backing { transport, adopted } }
    };
    for (seed, message) in [
        ("start", ToMover::Start { epoch, device, threads: 4, block_bytes: 1 << 20, depth: 2 }),
        ("map", map(Transport::Vmm)),
        ("map-mempool", map(Transport::Mempool([7; HANDLE_BYTES]))),
        ("map-ipc", map(Transport::Ipc([7; HANDLE_BYTES]))),
        ("unmap", ToMover::Unmap { slab }),
        ("put", job(Work::Put { slab, offset, bytes, file_offset })),
        ("get", job(Work::Get { slab, offset, bytes, file_offset })),
        ("copy", job(Work::Copy { slab, offset, bytes, from, from_offset })),
        ("zero", job(Work::Zero { slab, offset, bytes })),
        ("pieces-load", job(pieces(PiecesKind::Load, vec![run(0, 1000), run(5000, 24)]))),
        ("pieces-hash", job(pieces(PiecesKind::Hash, Vec::new()))),
        ("pieces-save", job(pieces(PiecesKind::Save, vec![run(9, 1024)]))),
        ("stop", ToMover::Stop),
    ] {
        folder.seed(seed, &message.encode());
    }
    let text = || "no such file".to_owned();
    for (seed, message) in [
        ("ready", FromMover::Ready),
        ("failed", FromMover::Failed { text: text() }),
        ("mapped", FromMover::Mapped { slab }),
        ("map-failed", FromMover::MapFailed { slab, why: Why::Driver, text: text() }),
        ("map-unsupported", FromMover::MapFailed { slab, why: Why::Unsupported, text: text() }),
        ("unmapped", FromMover::Unmapped { slab }),
        ("done", FromMover::Done { job: 7, hashes: Vec::new() }),
        ("hashes", FromMover::Done { job: 7, hashes: vec![ContentHash([7; 16]); 2] }),
        ("job-failed", FromMover::JobFailed { job: 7, why: Why::File, text: text() }),
    ] {
        folder.seed(seed, &message.encode());
    }
}
