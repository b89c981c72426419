//! What users and a daemon may get wrong, and what the mover says then. It goes on after each.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use millpond_mover::channel::{FromMover, Job, ToMover, Why, Work};
use millpond_wire::{Backing, Epoch, GpuUuid, SlabId, Transport};

use crate::world::{
    BLOCK, MIB, Mover, Slab, World, get, in_own_world, own_rights, pattern, put, start,
};

fn still_works(world: &World, mover: &mut Mover, slab: &Slab) {
    let contents = pattern(BLOCK + 1, 8);
    let source = world.file("works", &contents);
    mover.done(put(slab, 3, BLOCK + 1, 0), Some(&source));
    assert!(slab.read(3, BLOCK + 1) == contents);
}

#[test]
fn a_short_file_is_told_with_the_place_where_it_ended() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let source = world.file("short", &pattern(5 * BLOCK + 10, 1));
        for (bytes, from, ended) in [
            (20 * BLOCK, 0, 5 * BLOCK + 10),
            (5 * BLOCK + 11, 0, 5 * BLOCK + 10),
            (2 * BLOCK, 4 * BLOCK, BLOCK + 10),
            (1, 30 * BLOCK, 0),
        ] {
            let (why, text) = mover.fails(put(&slab, 0, bytes, from), Some(&source));
            assert_eq!(why, Why::File);
            assert_eq!(text, format!("the file ended at {ended} of {bytes} bytes"));
        }
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn a_file_that_shrinks_under_its_jobs_hurts_nobody_else() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let source = world.file("shrinking", &pattern(4 * MIB, 1));
        let jobs: Vec<_> =
            (0..8).map(|_| mover.begin(put(&slab, 0, 4 * MIB, 0), Some(&source))).collect();
        source.set_len(100).unwrap();
        let mut answered = Vec::new();
        for _ in &jobs {
            match mover.hear() {
                FromMover::Done { job, .. } => answered.push(job),
                FromMover::JobFailed { job, why: Why::File, .. } => answered.push(job),
                other => panic!("{other:?}"),
            }
        }
        answered.sort_unstable();
        assert_eq!(answered, jobs);
        let (why, text) = mover.fails(put(&slab, 0, 101, 0), Some(&source));
        assert_eq!((why, text.as_str()), (Why::File, "the file ended at 100 of 101 bytes"));
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn what_is_no_regular_file_is_refused() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let (reader, writer) = std::io::pipe().unwrap();
        let folder = File::open(world.folder.path()).unwrap();
        let zero = File::open("/dev/zero").unwrap();
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        for bytes in [0, 1, 3 * BLOCK] {
            for fd in [reader.as_fd(), folder.as_fd(), zero.as_fd(), socket.as_fd()] {
                let (why, text) = mover.fails(put(&slab, 0, bytes, 0), Some(&fd));
                assert_eq!((why, text.as_str()), (Why::File, "this is not a regular file"));
            }
            let (why, _) = mover.fails(get(&slab, 0, bytes, 0), Some(&writer));
            assert_eq!(why, Why::File);
        }
        let path = world.folder.path().join("appended");
        let appended = File::options().append(true).create(true).open(&path).unwrap();
        assert_eq!(mover.fails(get(&slab, 0, 1, 0), Some(&appended)).0, Why::File);
        let (why, text) = mover.fails(get(&slab, 0, 5, 0), Some(&File::open(&path).unwrap()));
        assert_eq!(why, Why::File);
        assert!(text.starts_with("writing the file: "), "{text}");
        let write_only = File::options().write(true).open(&path).unwrap();
        let (why, text) = mover.fails(put(&slab, 0, 5, 0), Some(&write_only));
        assert_eq!(why, Why::File);
        assert!(text.starts_with("reading the file: "), "{text}");
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn a_memfd_is_a_file() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let contents = pattern(2 * BLOCK, 2);
        let sealed = millpond_wire::memfd::sealed("source", &contents).unwrap();
        mover.done(put(&slab, 0, 2 * BLOCK, 0), Some(&sealed));
        assert!(slab.read(0, 2 * BLOCK) == contents);
        let (why, text) = mover.fails(get(&slab, 0, BLOCK, 0), Some(&sealed));
        assert_eq!(why, Why::File, "{text}");
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let target = File::from(rustix::fs::memfd_create("target", flags).unwrap());
        mover.done(get(&slab, 0, 2 * BLOCK, 0), Some(&target));
        let mut found = vec![0; contents.len()];
        target.read_exact_at(&mut found, 0).unwrap();
        assert!(found == contents);
    });
}

#[test]
fn jobs_of_another_epoch_are_refused() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(BLOCK, 2));
        for epoch in [6, 8].map(Epoch) {
            let work = put(&slab, 0, BLOCK, 0);
            mover.say(
                &ToMover::Job(Job { job: 99, epoch, by: own_rights(), work }),
                Some(source.as_fd()),
            );
            let FromMover::JobFailed { job: 99, why: Why::Epoch, text } = mover.hear() else {
                panic!()
            };
            assert_eq!(text, format!("the job belongs to epoch {epoch}, this mover to epoch 7"));
        }
        assert_eq!(slab.read(0, 8), [0xee; 8]);
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn ranges_outside_of_slabs_and_files_are_refused() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let (slab, other) = (world.slab(2 * MIB), world.slab(2 * MIB));
        mover.map(&slab);
        let source = world.file("source", &[]);
        let (id, unknown) = (slab.id, SlabId::random());
        let copy = |slab, offset, bytes, from, from_offset| Work::Copy {
            slab,
            offset,
            bytes,
            from,
            from_offset,
        };
        for work in [
            put(&slab, 1, 2 * MIB, 0),
            put(&slab, u64::MAX, 2, 0),
            put(&slab, 0, u64::MAX, 1),
            put(&slab, 0, 1, u64::MAX),
            put(&slab, 0, 1, 1 << 63),
            put(&other, 0, 1, 0),
            get(&slab, 2 * MIB, 1, 0),
            get(&slab, 0, 2, u64::MAX - 1),
            Work::Zero { slab: id, offset: 2 * MIB - 1, bytes: 2 },
            Work::Zero { slab: unknown, offset: 0, bytes: 0 },
            copy(id, 0, 1, unknown, 0),
            copy(unknown, 0, 1, id, 0),
            copy(id, 0, 1, id, 2 * MIB),
            copy(id, 2 * MIB, 1, id, 0),
            copy(id, 0, 100, id, 99),
            copy(id, 99, 100, id, 0),
        ] {
            let message =
                ToMover::Job(Job { job: 0, epoch: Epoch(7), by: own_rights(), work: work.clone() });
            let file = (message.descriptors() == 1).then_some(&source as &dyn AsFd);
            let (why, text) = mover.fails(work.clone(), file);
            assert_eq!(why, Why::Range, "{work:?}: {text}");
        }
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn what_is_no_slab_is_not_mapped() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        let null = File::open("/dev/null").unwrap();
        let failed = |mover: &Mover, id| match mover.hear() {
            FromMover::MapFailed { slab, why, text } if slab == id => {
                assert_ne!(why, Why::Unsupported);
                text
            }
            other => panic!("{other:?}"),
        };
        mover.say(
            &ToMover::Map { slab: slab.id, bytes: 2 * MIB, backing: Backing::default() },
            Some(null.as_fd()),
        );
        failed(&mover, slab.id);
        for bytes in [0, 1, 3 << 20, 4 * MIB] {
            mover.say(
                &ToMover::Map { slab: slab.id, bytes, backing: Backing::default() },
                Some(slab.fd.as_fd()),
            );
            let text = failed(&mover, slab.id);
            assert!(text.starts_with("cu") || text.starts_with("Mapping"), "{text}");
        }
        mover.map(&slab);
        mover.say(
            &ToMover::Map { slab: slab.id, bytes: slab.bytes, backing: Backing::default() },
            Some(slab.fd.as_fd()),
        );
        assert_eq!(failed(&mover, slab.id), format!("slab {} is already mapped", slab.id));
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn handles_that_open_nothing_are_refused_and_others_go_on() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(2 * MIB);
        for transport in [Transport::Mempool([7; 64]), Transport::Ipc([7; 64])] {
            for adopted in [false, true] {
                let backing = Backing { transport, adopted };
                let fd = transport.has_descriptor().then(|| slab.fd.as_fd());
                mover.say(&ToMover::Map { slab: slab.id, bytes: slab.bytes, backing }, fd);
                let FromMover::MapFailed { slab: id, why, text } = mover.hear() else { panic!() };
                assert_eq!((id, why), (slab.id, Why::Driver), "{text}");
                assert!(text.starts_with("cu"), "{text}");
            }
        }
        mover.map(&slab);
        still_works(world, &mut mover, &slab);
    });
}

#[test]
fn a_mover_that_cannot_start_says_why_and_exits() {
    in_own_world(|world| {
        let device = GpuUuid(world.device.uuid().0);
        for (first, expected) in [
            (start(GpuUuid([3; 16]), 0, 0), "GPU-03030303-0303-0303-0303-030303030303"),
            (start(device, 65, 0), "at most 64 threads"),
            (start(device, 1, 1000), "1000 bytes"),
        ] {
            let mut mover = Mover::spawn(&[]);
            mover.say(&first, None);
            let FromMover::Failed { text } = mover.hear() else { panic!() };
            assert!(text.contains(expected), "{text}");
            assert_eq!(mover.ended().code(), Some(1));
        }
        let mut mover = Mover::spawn(&[]);
        mover.say(&ToMover::Stop, None);
        assert_eq!(mover.ended().code(), Some(1), "`Start` comes first");
    });
}
