//! How movers end: asked, left alone, killed, and by their driver.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use millpond_mover::channel::{ChannelError, DaemonEnd, FromMover, PiecesKind, ToMover, Why};

use millpond_wire::{GpuUuid, Piece, Run};

use crate::world::{MIB, Mover, get, in_own_world, in_soft_world, pattern, pieces, put, start};

/// Hangs up and gives the mover back to see its end.
fn hang_up(mover: &mut Mover) {
    let (other, _) = DaemonEnd::pair().unwrap();
    drop(std::mem::replace(&mut mover.spawned.channel, other));
}

#[test]
fn stop_ends_it_after_what_was_asked() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(8 * MIB);
        mover.map(&slab);
        let contents = pattern(8 * MIB, 6);
        let source = world.file("source", &contents);
        let jobs = [0, 0, 0].map(|at| mover.begin(put(&slab, at, 8 * MIB, 0), Some(&source)));
        mover.say(&ToMover::Stop, None);
        for _ in jobs {
            assert!(matches!(mover.hear(), FromMover::Done { .. }));
        }
        assert_eq!(mover.ended().code(), Some(0));
        assert!(matches!(mover.channel().try_receive(), Err(ChannelError::HungUp)));
        assert!(slab.read(0, 8 * MIB) == contents);
    });
}

#[test]
fn a_daemon_of_another_version_is_told_and_left() {
    in_soft_world(|world| {
        let mut mover = Mover::spawn(&[]);
        let mut bytes = start(GpuUuid(world.device.uuid().0), 1, 4096).encode();
        bytes[1..5].copy_from_slice(&9_u32.to_le_bytes());
        millpond_wire::socket::send(mover.channel(), &bytes, &[], true).unwrap();
        let FromMover::Failed { text } = mover.hear() else { panic!("it has started") };
        assert!(text.starts_with("the other end speaks version 9 of the channel"), "{text}");
        assert_eq!(mover.ended().code(), Some(1));
    });
}

#[test]
fn threads_that_wait_for_room_in_a_file_see_the_end() {
    in_own_world(|world| {
        let mut mover = Mover::spawn(&[]);
        // Far more threads than one file keeps.
        mover.say(&start(GpuUuid(world.device.uuid().0), 24, 4096), None);
        assert!(matches!(mover.hear(), FromMover::Ready { .. }));
        let slab = world.slab(4 * MIB);
        mover.map(&slab);
        let contents = slab.read(0, 4 * MIB);
        let source = world.file("source", &contents);
        let names = ["one", "two", "three"];
        let targets = names.map(|name| world.file(name, &[]));
        let piece = |index: u64| Piece { offset: index * 4096, bytes: 4096 };
        let all: Vec<Piece> = (0..1024).map(piece).collect();
        let save = pieces(PiecesKind::Save, &slab, &all, &[Run { file_offset: 0, bytes: 4 * MIB }]);
        let mut jobs = Vec::new();
        for target in &targets {
            jobs.push(mover.begin(save.clone(), Some(target)));
            jobs.push(mover.begin(get(&slab, 0, 4 * MIB, 0), Some(target)));
            jobs.push(mover.begin(put(&slab, 0, 4 * MIB, 0), Some(&source)));
        }
        mover.say(&ToMover::Stop, None);
        let mut done: Vec<u64> = Vec::new();
        for _ in &jobs {
            let FromMover::Done { job, .. } = mover.hear() else { panic!() };
            done.push(job);
        }
        done.sort_unstable();
        assert_eq!(done, jobs);
        assert_eq!(mover.ended().code(), Some(0));
        for name in names {
            assert!(std::fs::read(world.folder.path().join(name)).unwrap() == contents, "{name}");
        }
    });
}

#[test]
fn a_hang_up_ends_it_while_idle_and_while_it_works() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        hang_up(&mut mover);
        assert_eq!(mover.ended().signal(), Some(9));

        let mut mover = Mover::start(world);
        let slab = world.slab(8 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(8 * MIB, 6));
        for _ in 0..100 {
            mover.begin(put(&slab, 0, 8 * MIB, 0), Some(&source));
        }
        hang_up(&mut mover);
        assert_eq!(mover.ended().signal(), Some(9));
    });
}

#[test]
fn a_hang_up_before_the_first_message_ends_it() {
    in_own_world(|_| {
        let mut mover = Mover::spawn(&[]);
        hang_up(&mut mover);
        assert!(!mover.ended().success());
    });
}

#[test]
fn faults_for_tests_hang_and_exit_where_they_say() {
    in_soft_world(|world| {
        let slab = world.slab(2 * MIB);
        let contents = pattern(2 * MIB, 6);
        let source = world.file("source", &contents);
        for (fault, lands) in [("hang-before-job:2", false), ("hang-after-copy:2", true)] {
            slab.mapping.memset(0, 2 * MIB, 0).unwrap();
            let mut mover = Mover::start_with(world, &[("MILLPOND_MOVER_FAULT", fault)]);
            mover.map(&slab);
            mover.done(put(&slab, 0, 0, 0), Some(&source));
            mover.begin(put(&slab, 0, 2 * MIB, 0), Some(&source));
            let third = mover.begin(put(&slab, 0, 0, 0), Some(&source));
            assert_eq!(
                mover.hear(),
                FromMover::Done { job: third, hashes: vec![] },
                "others go on"
            );
            if lands {
                let begin = std::time::Instant::now();
                while slab.read(0, 2 * MIB) != contents {
                    assert!(begin.elapsed() < crate::world::PATIENCE);
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            let silence = mover.channel().receive_within(Duration::from_millis(50));
            assert!(matches!(silence, Err(ChannelError::HungPeer { .. })), "{silence:?}");
            assert_eq!(slab.read(0, 2 * MIB) == contents, lands);
            hang_up(&mut mover);
            assert_eq!(mover.ended().signal(), Some(9), "hanging threads keep nothing alive");
        }
        let mut mover = Mover::start_with(world, &[("MILLPOND_MOVER_FAULT", "exit-before-job:1")]);
        mover.map(&slab);
        mover.begin(put(&slab, 0, 2 * MIB, 0), Some(&source));
        assert_eq!(mover.ended().code(), Some(71));
        let mover = Mover::spawn(&[("MILLPOND_MOVER_FAULT", "nonsense")]);
        let device = GpuUuid(world.device.uuid().0);
        mover.say(&start(device, 0, 0), None);
        let FromMover::Failed { text } = mover.hear() else { panic!() };
        assert!(text.contains("hang-before-job:N"), "{text}");
    });
}

#[test]
fn a_driver_that_fails_under_a_job_ends_it() {
    in_soft_world(|world| {
        let fault = [("MILLPOND_SOFT_FAULTS", "cuMemcpyHtoDAsync:error=700")];
        let mut mover = Mover::start_with(world, &fault);
        let slab = world.slab(2 * MIB);
        mover.map(&slab);
        let source = world.file("source", &pattern(2 * MIB, 6));
        let (why, text) = mover.fails(put(&slab, 0, 2 * MIB, 0), Some(&source));
        assert_eq!(why, Why::Driver);
        assert!(text.contains("cuMemcpyHtoDAsync"), "{text}");
        let status = mover.ended();
        assert_eq!(status.code(), Some(70), "{status}");
    });
}
