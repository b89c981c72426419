//! What movers take, and that they give it back.

use std::time::{Duration, Instant};

use millpond_cuda::Nvml;
use millpond_mover::channel::{FromMover, PiecesKind, ToMover};
use millpond_wire::{GpuUuid, Piece, Run, SlabId};

use crate::world::{BLOCK, MIB, Mover, PATIENCE, get, in_own_world, pattern, pieces, put, start};

/// What a real driver may take or give back beside the test.
const NOISE_BYTES: u64 = 16 << 20;

#[test]
fn what_its_context_takes_is_read_before_it_has_mapped_anything() {
    in_own_world(|world| {
        let taken = 5 * MIB;
        let mover = Mover::spawn(&[("MILLPOND_SOFT_CONTEXT_BYTES", &taken.to_string())]);
        mover.say(&start(GpuUuid(world.device.uuid().0), 3, u32::try_from(BLOCK).unwrap()), None);
        let FromMover::Ready { context_bytes } = mover.hear() else { panic!("not ready") };
        let nvml = Nvml::open(&world.driver).unwrap().device(world.device.uuid()).unwrap();
        let of_process = || {
            let processes = nvml.processes().unwrap();
            let found = processes.iter().find(|process| process.pid == mover.spawned.child.id());
            found.and_then(|process| process.used_bytes)
        };
        if world.is_soft() {
            assert_eq!((context_bytes, of_process()), (taken, Some(taken)));
        } else {
            // In a container NVML may name processes as the machine outside does. Threads that get their
            // streams only now take a little more.
            assert_eq!(context_bytes > 0, of_process().is_some());
            assert!(of_process().is_none_or(|bytes| bytes.abs_diff(context_bytes) < 64 * MIB));
        }
        let slab = SlabId::random();
        mover.say(&ToMover::MakePool { slab, bytes: 128 * MIB }, None);
        assert!(matches!(mover.hear_with(), (FromMover::PoolMade { .. }, Some(_))));
        if let Some(bytes) = of_process() {
            assert!(bytes >= context_bytes + 128 * MIB, "no measure of a context: {bytes}");
        }
    });
}

#[test]
fn a_killed_mover_leaves_no_memory_taken() {
    in_own_world(|world| {
        let noise = if world.is_soft() { 0 } else { NOISE_BYTES };
        let before = world.free_bytes();
        let mut mover = Mover::start(world);
        let slab = world.slab(128 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(16 * MIB, 1));
        for _ in 0..64 {
            mover.begin(put(&slab, 0, 16 * MIB, 0), Some(&source));
        }
        assert!(matches!(mover.hear(), FromMover::Done { .. }), "it is at work");
        mover.kill();
        assert!(world.free_bytes() + 128 * MIB <= before + noise, "the slab outlives the mover");
        assert_eq!(slab.read(120 * MIB, 8), [0xee; 8]);
        drop(slab);
        let begin = Instant::now();
        while world.free_bytes() + noise < before {
            assert!(begin.elapsed() < PATIENCE, "{} of {before}", world.free_bytes());
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn a_stopped_mover_leaves_the_slab_to_others() {
    in_own_world(|world| {
        let slab = world.slab(4 * MIB);
        let contents = pattern(4 * MIB, 1);
        let source = world.file("source", &contents);
        let mut first = Mover::start(world);
        first.map(&slab);
        first.done(put(&slab, 0, 4 * MIB, 0), Some(&source));
        first.kill();
        let mut second = Mover::start(world);
        second.map(&slab);
        let target = world.file("target", &[]);
        second.done(get(&slab, 0, 4 * MIB, 0), Some(&target));
        assert!(std::fs::read(world.folder.path().join("target")).unwrap() == contents);
    });
}

#[test]
fn host_memory_does_not_grow_with_what_is_moved() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(64 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(64 * MIB, 1));
        let target = world.file("target", &[]);
        mover.done(put(&slab, 0, 64 * MIB, 0), Some(&source));
        let before = own_bytes(&mover);
        let piece = |index| Piece { offset: index * BLOCK, bytes: BLOCK };
        let all: Vec<Piece> = (0..64 * MIB / BLOCK).map(piece).collect();
        let runs = [Run { file_offset: 0, bytes: 64 * MIB }];
        for _ in 0..8 {
            mover.begin(put(&slab, 0, 64 * MIB, 0), Some(&source));
            mover.begin(get(&slab, 0, 64 * MIB, 0), Some(&target));
            for (kind, file) in [(PiecesKind::Load, &source), (PiecesKind::Save, &target)] {
                mover.begin(pieces(kind, &slab, &all, &runs), Some(file));
            }
        }
        let mut most = before;
        for _ in 0..32 {
            assert!(matches!(mover.hear(), FromMover::Done { .. }));
            most = most.max(own_bytes(&mover));
        }
        assert!(most < before + 8 * MIB, "{before} bytes grew to {most}");
    });
}

/// What the process has for itself: neither the slab, which the software driver has in shared
/// memory, nor files.
fn own_bytes(mover: &Mover) -> u64 {
    let status = format!("/proc/{}/status", mover.spawned.child.id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
