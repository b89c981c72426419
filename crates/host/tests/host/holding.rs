//! Memory that a host owns, in the hands of others.

use millpond_cuda::Nvml;
use millpond_host::channel::{DaemonEnd, FromHost, NO_EVENT, SLAB_UNIT_BYTES, ToHost, Why};
use millpond_wire::SlabId;

use crate::world::{Host, MIB, in_own_world, is_filled_with, wait_until};

#[test]
fn another_process_opens_reads_and_writes() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slab = host.allocate(4 * MIB);
        let first = world.open(&slab);
        assert!(is_filled_with(&first, 0), "it was to be zeroed");
        first.span().copy_from_host(MIB, b"written").unwrap();
        drop(first);
        let again = world.open(&slab);
        let mut found = [0; 7];
        again.span().copy_to_host(MIB, &mut found).unwrap();
        assert_eq!(&found, b"written");
    });
}

#[test]
fn two_slabs_are_two_memories() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slabs = [2 * MIB, 2 * MIB, 6 * MIB].map(|bytes| host.allocate(bytes));
        let opened: Vec<_> = slabs.iter().map(|slab| world.open(slab)).collect();
        for (byte, opened) in (1..).zip(&opened) {
            opened.span().memset(0, opened.bytes(), byte).unwrap();
        }
        for (byte, opened) in (1..).zip(&opened) {
            assert!(is_filled_with(opened, byte), "{byte}");
        }
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            assert_ne!(slabs[one].memory, slabs[other].memory);
            let events = [one, other].map(|at| slabs[at].event);
            assert!(events[0] != events[1] || events == [NO_EVENT; 2]);
        }
    });
}

#[test]
fn its_event_can_be_waited_for_at_once_and_be_recorded_by_others() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        if slab.event == NO_EVENT {
            eprintln!("SKIPPED: this driver shares no events between processes");
            return;
        }
        let event = world.open_event(&slab.event);
        assert!(event.is_done().unwrap());
        event.make_wait(&world.stream).unwrap();
        event.record(&world.stream).unwrap();
        event.synchronize().unwrap();
    });
}

#[test]
fn asked_again_it_gives_the_same_handles_and_keeps_the_bytes() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        let opened = world.open(&slab);
        opened.span().memset(0, 2 * MIB, 5).unwrap();
        assert_eq!(host.try_allocate(slab.slab, 2 * MIB, true), Ok(slab.clone()));
        assert!(is_filled_with(&opened, 5), "nothing is zeroed again");
        assert_eq!(host.try_allocate(slab.slab, 4 * MIB, true), Err(Why::Exists));
    });
}

#[test]
fn a_later_daemon_finds_everything_and_goes_on() {
    in_own_world(|world| {
        let mut host = Host::start(world);
        let mut slabs = vec![host.allocate(2 * MIB), host.allocate(4 * MIB)];
        let opened = world.open(&slabs[0]);
        opened.span().memset(0, 2 * MIB, 9).unwrap();
        drop(opened);
        // A daemon that dies with one question asked and its answer not read.
        let kept = host.channel().try_clone_fd().unwrap();
        let last = SlabId::random();
        host.say(&ToHost::Allocate { slab: last, bytes: 2 * MIB, zero: true });
        host.daemon = Some(DaemonEnd::new(kept));
        let (held, sealed, _) = host.hello(2);
        slabs.sort_by_key(|slab| slab.slab);
        assert!(!sealed && held.len() == 3);
        let before: Vec<_> = held.iter().filter(|slab| slab.slab != last).cloned().collect();
        assert_eq!(before, slabs);
        let nines = held.iter().filter(|slab| is_filled_with(&world.open(slab), 9)).count();
        assert_eq!(nines, 1);
        host.allocate(2 * MIB);
        assert_eq!(host.hello(3).0.len(), 4);
    });
}

#[test]
fn a_full_gpu_is_an_answer() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slab = host.allocate(2 * MIB);
        let huge = (world.device.total_bytes() / SLAB_UNIT_BYTES + 1) * SLAB_UNIT_BYTES;
        assert_eq!(host.try_allocate(SlabId::random(), huge, true), Err(Why::OutOfMemory));
        assert_eq!(host.try_allocate(SlabId::random(), 3 * MIB, true), Err(Why::Size));
        assert_eq!(host.try_allocate(SlabId::random(), 0, true), Err(Why::Size));
        drop(world.open(&slab));
        host.allocate(2 * MIB);
        assert!(!host.hello(1).1, "nothing was freed");
    });
}

#[test]
fn nvml_says_what_its_context_takes() {
    in_own_world(|world| {
        let host = Host::spawn(&[]);
        let FromHost::Ready { context_bytes } = host.ask(&ToHost::Start { device: world.gpu() })
        else {
            panic!()
        };
        let nvml = Nvml::open(&world.driver).unwrap().device(world.device.uuid()).unwrap();
        let processes = nvml.processes().unwrap();
        let found = processes.iter().find(|process| process.pid == host.child.id());
        // In a container NVML may name processes as the machine outside does.
        assert_eq!(context_bytes, found.and_then(|process| process.used_bytes).unwrap_or(0));
        host.allocate(64 * MIB);
        assert_eq!(host.hello(1).2, context_bytes, "as it was without memory");
    });
}

#[test]
fn memory_goes_with_its_host() {
    in_own_world(|world| {
        let before = world.free_bytes();
        let mut host = Host::start(world);
        host.allocate(64 * MIB);
        assert!(world.free_bytes() + 64 * MIB <= before);
        host.kill();
        // What a real driver may take or give back beside the test.
        let noise = if world.is_soft() { 0 } else { 16 * MIB };
        wait_until("memory is still taken", || {
            (world.free_bytes() + noise >= before).then_some(())
        });
    });
}
