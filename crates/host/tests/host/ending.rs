//! How hosts end: asked, left alone, killed, and by their driver.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use millpond_host::channel::{ChannelError, DaemonEnd, FromHost, ToHost};
use millpond_wire::{Epoch, GpuUuid, SlabId};

use crate::world::{Host, MIB, in_own_world, in_soft_world, is_filled_with, opens_elsewhere};

#[test]
fn a_reader_keeps_what_it_has_open_when_the_host_is_killed() {
    in_own_world(|world| {
        let mut host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        let opened = world.open(&slab);
        opened.span().memset(0, 2 * MIB, 0x5a).unwrap();
        host.kill();
        assert!(is_filled_with(&opened, 0x5a));
        opened.span().memset(0, 2 * MIB, 0x5b).unwrap();
        assert!(is_filled_with(&opened, 0x5b));
        assert!(!opens_elsewhere(&slab.memory), "nobody else opens it any more");
        drop(opened);
        assert!(world.try_open(&slab.memory).is_err());
    });
}

#[test]
fn stop_ends_it_and_a_reader_keeps_what_it_has_open() {
    in_own_world(|world| {
        let mut host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        let opened = world.open(&slab);
        opened.span().memset(0, 2 * MIB, 0x5a).unwrap();
        host.say(&ToHost::Stop);
        assert_eq!(host.ended().code(), Some(0));
        assert!(is_filled_with(&opened, 0x5a));
        assert!(!opens_elsewhere(&slab.memory));
        drop(opened);
        assert!(world.try_open(&slab.memory).is_err());
    });
}

#[test]
fn it_lives_while_anybody_has_the_other_end() {
    in_own_world(|world| {
        let mut host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        let kept = host.channel().try_clone_fd().unwrap();
        host.daemon = None;
        // Long enough for one that ends to be gone; nothing is decided by it.
        std::thread::sleep(Duration::from_millis(100));
        assert!(host.is_alive());
        drop(world.open(&slab));
        host.daemon = Some(DaemonEnd::new(kept));
        assert_eq!(host.hello(2).0, [slab]);
        host.daemon = None;
        assert_eq!(host.ended().signal(), Some(9));
    });
}

#[test]
fn a_hang_up_before_the_first_message_ends_it() {
    in_own_world(|_| {
        let mut host = Host::spawn(&[]);
        host.daemon = None;
        assert!(!host.ended().success());
    });
}

#[test]
fn without_such_a_gpu_it_says_so_and_exits() {
    in_own_world(|_| {
        let mut host = Host::spawn(&[]);
        let FromHost::Failed { text } = host.ask(&ToHost::Start { device: GpuUuid([9; 16]) })
        else {
            panic!("it has started")
        };
        assert!(!text.is_empty());
        assert_eq!(host.ended().code(), Some(1));
        assert!(matches!(host.channel().try_receive(), Err(ChannelError::HungUp)));
    });
}

#[test]
fn a_host_that_was_never_started_says_so_to_a_later_daemon_and_exits() {
    in_own_world(|_| {
        let mut host = Host::spawn(&[]);
        let FromHost::Failed { text } = host.ask(&ToHost::Hello { epoch: Epoch(2) }) else {
            panic!("it holds nothing")
        };
        assert!(text.contains("`Start`"), "{text}");
        assert_eq!(host.ended().code(), Some(1));
        let mut host = Host::spawn(&[]);
        host.say(&ToHost::Stop);
        assert_eq!(host.ended().code(), Some(0));
    });
}

#[test]
fn a_daemon_of_another_version_is_told_and_ends_nothing_that_has_begun() {
    in_own_world(|world| {
        let mut host = Host::spawn(&[]);
        let mut bytes = ToHost::Start { device: world.gpu() }.encode();
        bytes[1..5].copy_from_slice(&9_u32.to_le_bytes());
        millpond_wire::socket::send(host.channel(), &bytes, &[], true).unwrap();
        let FromHost::Failed { text } = host.hear() else { panic!("it has started") };
        assert!(text.starts_with("the other end speaks version 9 of the channel"), "{text}");
        assert_eq!(host.ended().code(), Some(1));

        let host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        millpond_wire::socket::send(host.channel(), &bytes, &[], true).unwrap();
        assert!(matches!(host.hear(), FromHost::Failed { .. }));
        assert_eq!(host.hello(1).0, [slab]);
    });
}

#[test]
fn a_lost_context_ends_it() {
    in_soft_world(|world| {
        for fault in ["cuMemsetD8:error=700", "cuIpcGetMemHandle:error=700"] {
            let mut host = Host::start_with(world, &[("MILLPOND_SOFT_FAULTS", fault)]);
            let slab = SlabId::random();
            host.say(&ToHost::Allocate { slab, bytes: 2 * MIB, zero: true });
            assert_eq!(host.ended().code(), Some(70), "{fault}");
            assert!(matches!(host.channel().try_receive(), Err(ChannelError::HungUp)));
        }
    });
}

#[test]
fn a_host_has_no_rights() {
    in_own_world(|world| {
        let host = Host::start(world);
        let tasks = format!("/proc/{}/task", host.child.id());
        for task in std::fs::read_dir(tasks).unwrap() {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            if !status.starts_with("Name:\tmillpond") {
                continue;
            }
            for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
                let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
                assert_eq!(u64::from_str_radix(line.trim(), 16), Ok(0), "{set} {line}");
            }
        }
    });
}
