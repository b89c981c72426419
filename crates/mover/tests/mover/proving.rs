//! Memory of another program is mapped once, and is then what its owner says.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use millpond_cuda::{LinearMemory, SharedPool};
use millpond_mover::channel::{FromMover, ToMover, Why};
use millpond_wire::{Backing, SlabId, Transport};

use crate::world::{MIB, Mover, World, in_own_world, in_soft_world, pattern, put};

fn prove(mover: &Mover, transport: Transport, bytes: u64, fd: Option<BorrowedFd<'_>>) -> FromMover {
    let (slab, backing) = (SlabId::random(), Backing { transport, adopted: true });
    mover.say(&ToMover::Prove { slab, bytes, backing }, fd);
    let said = mover.hear();
    let (FromMover::Proved { slab: of } | FromMover::NotProved { slab: of, .. }) = &said else {
        panic!("{said:?}")
    };
    assert_eq!(*of, slab);
    said
}

#[track_caller]
fn refused(said: FromMover) -> (Why, String) {
    match said {
        FromMover::NotProved { why, text, .. } => (why, text),
        other => panic!("{other:?}"),
    }
}

fn is_proved(said: &FromMover) -> bool {
    matches!(said, FromMover::Proved { .. })
}

fn still_works(world: &World, mover: &mut Mover) {
    let slab = world.slab(2 * MIB);
    mover.map(&slab);
    let source = world.file("works", &pattern(4096, 8));
    mover.done(put(&slab, 0, 4096, 0), Some(&source));
    assert!(slab.read(0, 4096) == pattern(4096, 8));
}

#[test]
fn memory_with_a_descriptor_is_proved_and_not_touched() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        let prove = |bytes| prove(&mover, Transport::Vmm, bytes, Some(slab.fd.as_fd()));
        assert!(is_proved(&prove(4 * MIB)));
        assert!(is_proved(&prove(4 * MIB)), "it was let go of");
        assert_eq!(slab.read(4 * MIB - 8, 8), [0xee; 8]);
        for bytes in [0, 4 * MIB + 1, 6 * MIB, 1 << 50] {
            refused(prove(bytes));
        }
        still_works(world, &mut mover);
    });
}

#[test]
fn a_file_that_is_no_memory_is_not_proved() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let file = world.file("file", &[7; 4096]);
        let null = File::open("/dev/null").unwrap();
        let (pipe, _writer) = std::io::pipe().unwrap();
        for fd in [file.as_fd(), null.as_fd(), pipe.as_fd()] {
            for transport in [Transport::Vmm, Transport::Mempool([1; 64])] {
                let (why, text) = refused(prove(&mover, transport, 2 * MIB, Some(fd)));
                assert!(matches!(why, Why::Driver | Why::Range), "{why:?}: {text}");
            }
        }
        still_works(world, &mut mover);
    });
}

/// The software driver's memory is a file, which its owner can cut.
#[test]
fn memory_that_was_cut_short_is_not_proved_and_ends_nobody() {
    in_soft_world(|world| {
        let mut mover = Mover::start(world);
        let slab = world.slab(4 * MIB);
        rustix::fs::ftruncate(&slab.fd, MIB).unwrap();
        let (why, text) = refused(prove(&mover, Transport::Vmm, 4 * MIB, Some(slab.fd.as_fd())));
        assert_eq!((why, text.as_str()), (Why::Range, "the memory has fewer than 4194304 bytes"));
        still_works(world, &mut mover);
    });
}

#[test]
fn a_pool_of_another_program_is_proved() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let pool = SharedPool::make(&world.context, 32 * MIB).unwrap();
        let (fd, data) = pool.export().unwrap();
        let fd = fd.as_fd();
        let prove = |data, bytes| prove(&mover, Transport::Mempool(data), bytes, Some(fd));
        assert!(is_proved(&prove(data, 32 * MIB)));
        let (why, text) = refused(prove(data, 1 << 40));
        assert!(why == Why::Range && text.contains("not 1099511627776"), "{why:?}: {text}");
        assert_eq!(refused(prove([9; 64], 32 * MIB)).0, Why::Driver);
        assert!(is_proved(&prove(data, 32 * MIB)), "it was let go of");
        still_works(world, &mut mover);
    });
}

#[test]
fn memory_with_a_legacy_handle_is_proved_until_its_owner_has_freed_it() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let memory = LinearMemory::alloc(&world.context, 4 * MIB).unwrap();
        let transport = Transport::Ipc(memory.ipc_handle().unwrap());
        assert!(is_proved(&prove(&mover, transport, 4 * MIB, None)));
        let (why, text) = refused(prove(&mover, transport, 1 << 40, None));
        assert!(why == Why::Range && text.contains("not 1099511627776"), "{why:?}: {text}");
        assert!(is_proved(&prove(&mover, transport, 4 * MIB, None)), "it was let go of");
        assert_eq!(refused(prove(&mover, Transport::Ipc([9; 64]), 4 * MIB, None)).0, Why::Driver);
        if world.is_soft() {
            // What a card makes of an old handle is the card's affair.
            memory.free().unwrap();
            assert_eq!(refused(prove(&mover, transport, 4 * MIB, None)).0, Why::Driver);
        }
        still_works(world, &mut mover);
    });
}
