//! Bytes arrive where they should, and nowhere else.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use millpond_mover::channel::{FromMover, ToMover, Work};
use millpond_mover::raw::{RawRing, raw_get, raw_put};

use millpond_wire::Backing;

use crate::world::{BLOCK, MIB, Mover, get, in_own_world, pattern, put};

#[test]
fn what_is_put_is_got_for_all_sizes_and_places() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let sizes = [0, 1, 4095, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7];
        let places = [(0, 0), (1, 0), (0, 1), (4097, 3), (BLOCK, BLOCK), (13, 5 * BLOCK - 1)];
        for (seed, (size, (offset, file_offset))) in
            (1..).zip(sizes.into_iter().flat_map(|size| places.map(|place| (size, place))))
        {
            let contents = pattern(size, seed);
            let source = world.file("source", &[]);
            source.write_all_at(&contents, file_offset).unwrap();
            slab.mapping.memset(0, 2 * MIB, 0xee).unwrap();
            mover.done(put(&slab, offset, size, file_offset), Some(&source));
            let what = format!("{size} bytes from {file_offset} to {offset}");
            assert!(slab.read(offset, size) == contents, "put of {what}");
            assert_eq!(slab.read(offset + size, 64), [0xee; 64], "behind {what}");
            assert!(slab.read(0, offset).iter().all(|byte| *byte == 0xee), "before {what}");

            let target = world.file("target", &vec![0x11; 2 << 20]);
            mover.done(get(&slab, offset, size, file_offset), Some(&target));
            let mut whole = vec![0x11; 2 << 20];
            let at = usize::try_from(file_offset).unwrap();
            whole[at..at + contents.len()].copy_from_slice(&contents);
            let mut found = vec![0; 2 << 20];
            target.read_exact_at(&mut found, 0).unwrap();
            assert!(found == whole, "get of {what}");
            assert_eq!(target.metadata().unwrap().len(), 2 << 20);
        }
    });
}

#[test]
fn many_jobs_in_flight_end_once_each() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let (slab, back) = (world.slab(8 * MIB), world.slab(8 * MIB));
        mover.map(&slab);
        mover.map(&back);
        let part = 8 * MIB / 64;
        let contents = pattern(8 * MIB, 5);
        let source = world.file("source", &contents);
        let target = world.file("target", &[]);
        let mut waiting = HashMap::new();
        for number in 0..64 {
            let at = number * part;
            let job = mover.begin(put(&slab, at, part, at), Some(&source));
            waiting.insert(job, (0, at));
        }
        // Each answer leads to a copy into the other slab, and that to a file.
        let mut ended = [0; 3];
        while ended[2] < 64 {
            let FromMover::Done { job, .. } = mover.hear() else { panic!() };
            let (step, at) = waiting.remove(&job).expect("each job ends once");
            ended[step] += 1;
            let from = slab.id;
            let next = match step {
                0 => {
                    let slab = back.id;
                    let copy = Work::Copy { slab, offset: at, bytes: part, from, from_offset: at };
                    mover.begin(copy, None)
                }
                1 => mover.begin(get(&back, at, part, at), Some(&target)),
                _ => continue,
            };
            waiting.insert(next, (step + 1, at));
        }
        assert!(waiting.is_empty());
        assert_eq!(ended, [64; 3]);
        let mut found = vec![0; contents.len()];
        target.read_exact_at(&mut found, 0).unwrap();
        assert!(found == contents);
        assert!(mover.channel().try_receive().unwrap().is_none(), "nothing is said twice");
    });
}

#[test]
fn copies_and_zeros_touch_what_they_should() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let (one, two) = (world.slab(2 * MIB), world.slab(2 * MIB));
        mover.map(&one);
        mover.map(&two);
        let contents = pattern(100_001, 9);
        one.mapping.copy_from_host(77, &contents).unwrap();
        let copy = Work::Copy {
            slab: two.id,
            offset: 12_345,
            bytes: 100_001,
            from: one.id,
            from_offset: 77,
        };
        mover.done(copy, None);
        assert!(two.read(12_345, 100_001) == contents);
        assert_eq!((two.read(12_344, 1), two.read(112_346, 1)), (vec![0xee], vec![0xee]));

        mover.done(Work::Zero { slab: two.id, offset: 12_346, bytes: 100_000 }, None);
        assert!(two.read(12_346, 100_000).iter().all(|byte| *byte == 0));
        assert_eq!((two.read(12_345, 1)[0], two.read(112_346, 1)[0]), (contents[0], 0xee));

        // Inside one slab, beside each other; and nothing at all.
        let bytes = 100_078;
        let copy = Work::Copy { slab: one.id, offset: bytes, bytes, from: one.id, from_offset: 0 };
        mover.done(copy, None);
        assert!(one.read(bytes + 77, 100_001) == contents);
        mover.done(Work::Zero { slab: one.id, offset: 2 * MIB, bytes: 0 }, None);
        let from = two.id;
        mover.done(Work::Copy { slab: one.id, offset: 0, bytes: 0, from, from_offset: 0 }, None);
    });
}

#[test]
fn a_slab_is_let_go_after_its_last_job_and_can_come_again() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(8 * MIB);
        let source = world.file("source", &pattern(8 * MIB, 3));
        for _ in 0..3 {
            mover.map(&slab);
            let mut jobs: Vec<_> =
                (0..4).map(|_| mover.begin(put(&slab, 0, 8 * MIB, 0), Some(&source))).collect();
            mover.say(&ToMover::Unmap { slab: slab.id }, None);
            // The threads end jobs side by side, so in any order.
            while !jobs.is_empty() {
                let said = mover.hear();
                let FromMover::Done { job, .. } = said else { panic!("{said:?}") };
                assert!(jobs.contains(&job), "{job}");
                jobs.retain(|other| *other != job);
            }
            assert_eq!(mover.hear(), FromMover::Unmapped { slab: slab.id });
        }
        mover.say(&ToMover::Unmap { slab: slab.id }, None);
        assert_eq!(mover.hear(), FromMover::Unmapped { slab: slab.id }, "also when not mapped");
        mover.say(
            &ToMover::Map { slab: slab.id, bytes: slab.bytes, backing: Backing::default() },
            Some(slab.fd.as_fd()),
        );
        assert_eq!(mover.hear(), FromMover::Mapped { slab: slab.id });
    });
}

#[test]
fn the_raw_ring_moves_the_same_bytes() {
    in_own_world(|world| {
        let slab = world.slab(2 * MIB);
        let contents = pattern(2 * MIB - 5, 4);
        let (source, target) = (world.file("source", &contents), world.file("target", &[]));
        let bytes = contents.len() as u64;
        let ring = RawRing { threads: 3, block_bytes: 65_536, depth: 2 };
        raw_put(&world.context, &source, &slab.mapping, bytes, ring).unwrap();
        assert!(slab.read(0, bytes) == contents);
        assert_eq!(slab.read(bytes, 5), [0xee; 5]);
        raw_get(&world.context, &target, &slab.mapping, bytes, ring).unwrap();
        let mut found = vec![0; contents.len()];
        target.read_exact_at(&mut found, 0).unwrap();
        assert!(found == contents && target.metadata().unwrap().len() == bytes);
        let long = raw_put(&world.context, &source, &slab.mapping, 2 * MIB, ring);
        assert!(long.is_err(), "the file is shorter");
        let none = RawRing { threads: 0, ..ring };
        assert!(raw_get(&world.context, &target, &slab.mapping, bytes, none).is_err());
    });
}
