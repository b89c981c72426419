//! Memory of other kinds: pools that a mover makes, and what a process has with legacy handles. The
//! process of a test is a second one beside the mover, with a context of its own.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use millpond_cuda::{LinearMemory, PoolMemory};
use millpond_mover::channel::{FromMover, ToMover, Work};
use millpond_wire::{Backing, HANDLE_BYTES, SlabId, Transport};

use crate::world::{BLOCK, MIB, Mover, PATIENCE, World, in_own_world, in_soft_world, pattern};

const BYTES: u64 = 32 * MIB;

/// A pool that a mover has made.
pub struct Pool {
    pub id: SlabId,
    pub fd: OwnedFd,
    pub data: [u8; HANDLE_BYTES],
}

impl Pool {
    #[track_caller]
    pub fn made(mover: &Mover, bytes: u64) -> Pool {
        let id = SlabId::random();
        mover.say(&ToMover::MakePool { slab: id, bytes }, None);
        match mover.hear_with() {
            (FromMover::PoolMade { slab, data }, Some(fd)) if slab == id => Pool { id, fd, data },
            other => panic!("{other:?}"),
        }
    }

    pub fn backing(&self) -> Backing {
        Backing { transport: Transport::Mempool(self.data), adopted: false }
    }

    #[track_caller]
    fn import(&self, world: &World) -> PoolMemory {
        let memory = PoolMemory::import(&world.context, self.fd.as_fd(), &self.data).unwrap();
        assert!(memory.bytes() >= BYTES);
        memory
    }

    #[track_caller]
    fn map(&self, mover: &Mover) {
        let (slab, bytes, backing) = (self.id, BYTES, self.backing());
        mover.say(&ToMover::Map { slab, bytes, backing }, Some(self.fd.as_fd()));
        assert_eq!(mover.hear(), FromMover::Mapped { slab });
    }
}

fn first_bytes(memory: &PoolMemory, offset: u64) -> [u8; 8] {
    let mut found = [1; 8];
    memory.span().copy_to_host(offset, &mut found).unwrap();
    found
}

fn put(slab: SlabId, bytes: u64) -> Work {
    Work::Put { slab, offset: 3, bytes, file_offset: 0 }
}

fn get(slab: SlabId, bytes: u64) -> Work {
    Work::Get { slab, offset: 3, bytes, file_offset: 0 }
}

/// Puts a file there and gets it back from the same mover.
fn there_and_back(world: &World, mover: &mut Mover, slab: SlabId) -> Vec<u8> {
    let contents = pattern(5 * BLOCK + 1, 7);
    let source = world.file("source", &contents);
    let target = world.file("target", &[]);
    mover.done(put(slab, contents.len() as u64), Some(&source));
    mover.done(get(slab, contents.len() as u64), Some(&target));
    let mut found = vec![0; contents.len()];
    target.read_exact_at(&mut found, 0).unwrap();
    assert!(found == contents);
    contents
}

#[test]
fn a_pool_is_zeroes_that_another_process_opens() {
    in_own_world(|world| {
        let mover = Mover::start(world);
        let pool = Pool::made(&mover, BYTES);
        let memory = pool.import(world);
        assert_eq!(first_bytes(&memory, 0), [0; 8]);
        assert_eq!(first_bytes(&memory, BYTES - 8), [0; 8]);
    });
}

#[test]
fn a_pool_stays_when_its_mover_was_killed() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let pool = Pool::made(&mover, BYTES);
        pool.map(&mover);
        let contents = there_and_back(world, &mut mover, pool.id);
        mover.kill();
        let memory = pool.import(world);
        assert_eq!(first_bytes(&memory, 3), contents[..8]);
        drop(memory);
        // And again, for one more process: the next mover.
        let mut next = Mover::start(world);
        pool.map(&next);
        there_and_back(world, &mut next, pool.id);
    });
}

#[test]
fn a_pool_stays_when_its_mover_has_ended_in_order() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let (pool, other) = (Pool::made(&mover, BYTES), Pool::made(&mover, BYTES));
        pool.map(&mover);
        let contents = there_and_back(world, &mut mover, pool.id);
        mover.say(&ToMover::Stop, None);
        assert_eq!(mover.ended().code(), Some(0));
        let memory = pool.import(world);
        assert_eq!(first_bytes(&memory, 3), contents[..8]);
        assert_eq!(first_bytes(&other.import(world), 0), [0; 8]);
    });
}

#[test]
fn a_pool_that_nobody_has_any_more_gives_its_memory_back() {
    in_soft_world(|world| {
        let mover = Mover::start(world);
        let before = world.free_bytes();
        let pool = Pool::made(&mover, BYTES);
        assert!(world.free_bytes() + BYTES <= before);
        mover.say(&ToMover::DropPool { slab: pool.id }, None);
        // One that it never made is no news to it.
        mover.say(&ToMover::DropPool { slab: SlabId::random() }, None);
        drop(pool);
        // Not answered: it is done when the next one is.
        let next = Pool::made(&mover, BYTES);
        mover.say(&ToMover::DropPool { slab: next.id }, None);
        drop(next);
        let begin = Instant::now();
        while world.free_bytes() < before {
            assert!(begin.elapsed() < PATIENCE, "{} of {before}", world.free_bytes());
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// The driver takes memory of a pool back only when all who imported it have let go.
#[test]
fn a_pool_that_was_dropped_by_its_mover_stays_with_those_who_map_it() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let pool = Pool::made(&mover, BYTES);
        pool.map(&mover);
        let contents = there_and_back(world, &mut mover, pool.id);
        let memory = pool.import(world);
        mover.say(&ToMover::Unmap { slab: pool.id }, None);
        assert_eq!(mover.hear(), FromMover::Unmapped { slab: pool.id });
        mover.say(&ToMover::DropPool { slab: pool.id }, None);
        let other = Pool::made(&mover, BYTES);
        assert_eq!(first_bytes(&other.import(world), 3), [0; 8]);
        assert_eq!(first_bytes(&memory, 3), contents[..8]);
    });
}

#[test]
fn a_pool_that_the_card_has_no_memory_for_is_told_and_the_mover_goes_on() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = SlabId::random();
        mover.say(&ToMover::MakePool { slab, bytes: 1 << 42 }, None);
        let FromMover::PoolFailed { slab: id, out_of_memory, text } = mover.hear() else {
            panic!()
        };
        assert!(id == slab && out_of_memory, "{text}");
        let pool = Pool::made(&mover, BYTES);
        pool.map(&mover);
        there_and_back(world, &mut mover, pool.id);
    });
}

#[test]
fn bytes_move_to_and_from_memory_of_a_host_and_between_all_kinds() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let memory = LinearMemory::alloc(&world.context, 4 * MIB).unwrap();
        memory.fill(0xee).unwrap();
        let transport = Transport::Ipc(memory.ipc_handle().unwrap());
        let (ipc, backing) = (SlabId::random(), Backing { transport, adopted: false });
        mover.say(&ToMover::Map { slab: ipc, bytes: 4 * MIB, backing }, None);
        assert_eq!(mover.hear(), FromMover::Mapped { slab: ipc });
        let contents = there_and_back(world, &mut mover, ipc);
        let mut found = vec![0; contents.len()];
        memory.span().copy_to_host(3, &mut found).unwrap();
        assert!(found == contents, "it is the same memory");
        let (pool, slab) = (Pool::made(&mover, BYTES), world.slab(4 * MIB));
        pool.map(&mover);
        mover.map(&slab);
        let bytes = contents.len() as u64;
        for (to, from) in [(pool.id, ipc), (slab.id, pool.id), (ipc, slab.id)] {
            let work = Work::Copy { slab: to, offset: 3, bytes, from, from_offset: 3 };
            mover.done(work, None);
        }
        assert!(slab.read(3, bytes) == contents);
        mover.done(Work::Zero { slab: ipc, offset: 3, bytes: 8 }, None);
        memory.span().copy_to_host(3, &mut found[..16]).unwrap();
        assert_eq!((&found[..8], &found[8..16]), (&[0; 8][..], &contents[8..16]));
        mover.say(&ToMover::Unmap { slab: ipc }, None);
        assert_eq!(mover.hear(), FromMover::Unmapped { slab: ipc });
    });
}
