//! A host that has freed something, and handles of what it freed.

use millpond_host::channel::Why;
use millpond_wire::SlabId;

use crate::world::{Host, MIB, in_own_world, is_filled_with, opens_elsewhere, wait_until};

#[test]
fn after_a_free_nothing_is_allocated_any_more() {
    in_own_world(|world| {
        let host = Host::start(world);
        let (first, second) = (host.allocate(2 * MIB), host.allocate(2 * MIB));
        host.free(&first);
        host.free(&first);
        assert_eq!(host.try_allocate(SlabId::random(), 2 * MIB, true), Err(Why::Sealed));
        assert_eq!(host.try_allocate(first.slab, 2 * MIB, true), Err(Why::Sealed));
        let (held, sealed, _) = host.hello(1);
        assert!(sealed && held == [second]);
    });
}

#[test]
fn old_handles_never_open_anything_else() {
    in_own_world(|world| {
        let host = Host::start(world);
        let (old, other) = (host.allocate(2 * MIB), host.allocate(2 * MIB));
        let opened = world.open(&other);
        opened.span().memset(0, 2 * MIB, 0xaa).unwrap();
        drop(opened);
        assert!(opens_elsewhere(&old.memory));
        host.free(&old);
        assert!(world.try_open(&old.memory).is_err());
        assert!(!opens_elsewhere(&old.memory));
        // All that a daemon may try to get memory from this host, and from the next one.
        for _ in 0..8 {
            assert_eq!(host.try_allocate(SlabId::random(), 2 * MIB, true), Err(Why::Sealed));
            assert!(world.try_open(&old.memory).is_err());
        }
        let next = Host::start(world);
        for _ in 0..8 {
            let new = next.allocate(2 * MIB);
            assert!(new.memory != old.memory && new.memory != other.memory);
            assert!(world.try_open(&old.memory).is_err());
        }
        assert!(is_filled_with(&world.open(&other), 0xaa), "what was not freed is there");
        host.free(&other);
        assert!(world.try_open(&other.memory).is_err());
    });
}

#[test]
fn freed_memory_comes_back_to_the_gpu() {
    in_own_world(|world| {
        let host = Host::start(world);
        let slab = host.allocate(64 * MIB);
        let before = world.free_bytes();
        host.free(&slab);
        let noise = if world.is_soft() { 0 } else { 16 * MIB };
        wait_until("memory is still taken", || {
            (world.free_bytes() + noise >= before + 64 * MIB).then_some(())
        });
    });
}
