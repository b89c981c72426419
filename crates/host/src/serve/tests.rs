//! The loop with a GPU that fails when it is told to.

use std::cell::{Cell, RefCell};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::thread::JoinHandle;

use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_wire::{Epoch, HANDLE_BYTES, SlabId};

use super::*;
use crate::channel::{DaemonEnd, HOLDINGS_PER_MESSAGE, Handle, Holding, SLAB_UNIT_BYTES, Why};
use crate::memory::{Handles, NotMade};

const PATIENCE: Duration = Duration::from_secs(60);
const DEVICE: GpuUuid = GpuUuid([7; 16]);
const CONTEXT_BYTES: u64 = 500 << 20;
const UNIT: u64 = SLAB_UNIT_BYTES;
/// Sizes by which the GPU of tests is told what to do.
const NO_ROOM: u64 = 1000 * UNIT;
const FAILS: u64 = 1001 * UNIT;
const FAILS_AFTER_MEMORY: u64 = 1002 * UNIT;
const LOSES: u64 = 1003 * UNIT;
const FREE_FAILS: u64 = 1004 * UNIT;
const FREE_LOSES: u64 = 1005 * UNIT;

/// Counts handles; its blocks are their sizes.
#[derive(Default)]
struct Fake {
    made: Cell<u8>,
    log: Rc<RefCell<Vec<String>>>,
}

fn failed(status: Status) -> CudaError {
    CudaError { call: "cuFake", status, detail: None }
}

impl Memory for Fake {
    type Block = u64;

    fn allocate(&self, bytes: u64, zero: bool) -> Result<(u64, Handles), NotMade> {
        let no = |status, freed| Err(NotMade { error: failed(status), freed });
        match bytes {
            NO_ROOM => return no(Status::OUT_OF_MEMORY, false),
            FAILS => return no(Status::INVALID_VALUE, false),
            FAILS_AFTER_MEMORY => return no(Status::OUT_OF_MEMORY, true),
            LOSES => return no(Status::ILLEGAL_ADDRESS, false),
            _ => {}
        }
        self.log.borrow_mut().push(format!("allocate {} {zero}", bytes / UNIT));
        self.made.set(self.made.get().wrapping_add(1));
        Ok((bytes, handles(self.made.get())))
    }

    fn free(&self, bytes: u64) -> Result<(), CudaError> {
        self.log.borrow_mut().push(format!("free {}", bytes / UNIT));
        match bytes {
            FREE_FAILS => Err(failed(Status::INVALID_VALUE)),
            FREE_LOSES => Err(failed(Status::ILLEGAL_ADDRESS)),
            _ => Ok(()),
        }
    }
}

fn handle(number: u8) -> Handle {
    [number; HANDLE_BYTES]
}

fn handles(number: u8) -> Handles {
    Handles { memory: handle(number), event: handle(number ^ 0x80) }
}

/// How a host has ended, and which calls the GPU saw.
type End = (Result<(), HostError>, Vec<String>);

/// A host in a thread, with both ends of a daemon's life.
struct World {
    daemon: DaemonEnd,
    host: JoinHandle<End>,
}

impl World {
    fn new() -> World {
        let (daemon, theirs) = DaemonEnd::pair().unwrap();
        let run = move || {
            let fake = Fake::default();
            let log = Rc::clone(&fake.log);
            let channel = HostEnd::new(theirs);
            let result = serve(&channel, &mut Owner::new(DEVICE, fake, CONTEXT_BYTES));
            (result, log.take())
        };
        World { daemon, host: std::thread::spawn(run) }
    }

    fn say(&self, message: &ToHost) {
        self.daemon.send(message).unwrap();
    }

    #[track_caller]
    fn hear(&self) -> FromHost {
        self.daemon.receive_within(PATIENCE).unwrap()
    }

    #[track_caller]
    fn ask(&self, message: &ToHost) -> FromHost {
        self.say(message);
        self.hear()
    }

    #[track_caller]
    fn allocate(&self, slab: SlabId, bytes: u64) -> FromHost {
        self.ask(&ToHost::Allocate { slab, bytes, zero: false })
    }

    #[track_caller]
    fn refused(&self, slab: SlabId, bytes: u64) -> Why {
        match self.allocate(slab, bytes) {
            FromHost::NotAllocated { slab: named, why, text } if named == slab => {
                assert!(!text.is_empty());
                why
            }
            other => panic!("{other:?}"),
        }
    }

    /// Everything that is held, and whether the host is sealed.
    #[track_caller]
    fn hello(&self, number: u64) -> (Vec<Holding>, bool) {
        self.say(&ToHost::Hello { epoch: Epoch(number) });
        let mut all = Vec::new();
        loop {
            match self.hear() {
                FromHost::Holds { epoch, held } if epoch == Epoch(number) => all.extend(held),
                FromHost::HoldsEnd { epoch, sealed, context_bytes: CONTEXT_BYTES }
                    if epoch == Epoch(number) =>
                {
                    return (all, sealed);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn stopped(self) -> Vec<String> {
        self.say(&ToHost::Stop);
        let (result, log) = self.host.join().unwrap();
        result.unwrap();
        log
    }

    fn lost(self) -> HostError {
        self.host.join().unwrap().0.unwrap_err()
    }
}

fn allocated(slab: SlabId, number: u8) -> FromHost {
    FromHost::Allocated { slab, memory: handle(number), event: handle(number ^ 0x80) }
}

fn slabs<const N: usize>() -> [SlabId; N] {
    std::array::from_fn(|_| SlabId::random())
}

#[test]
fn answers_come_in_the_order_of_questions() {
    let world = World::new();
    let [first, second] = slabs();
    world.say(&ToHost::Allocate { slab: first, bytes: UNIT, zero: true });
    world.say(&ToHost::Allocate { slab: second, bytes: 2 * UNIT, zero: false });
    world.say(&ToHost::Free { slab: first });
    assert_eq!(world.hear(), allocated(first, 1));
    assert_eq!(world.hear(), allocated(second, 2));
    assert_eq!(world.hear(), FromHost::Freed { slab: first });
    assert_eq!(world.stopped(), ["allocate 1 true", "allocate 2 false", "free 1"]);
}

#[test]
fn the_same_slab_twice_is_one_with_the_same_handles() {
    let world = World::new();
    let [slab] = slabs();
    assert_eq!(world.allocate(slab, UNIT), allocated(slab, 1));
    assert_eq!(world.allocate(slab, UNIT), allocated(slab, 1));
    assert_eq!(world.refused(slab, 2 * UNIT), Why::Exists);
    assert_eq!(world.stopped(), ["allocate 1 false"]);
}

#[test]
fn a_host_that_has_freed_allocates_nothing_any_more() {
    let world = World::new();
    let [first, second, third] = slabs();
    world.allocate(first, UNIT);
    world.allocate(second, UNIT);
    assert!(!world.hello(1).1);
    assert_eq!(world.ask(&ToHost::Free { slab: first }), FromHost::Freed { slab: first });
    assert_eq!(world.refused(third, UNIT), Why::Sealed);
    assert_eq!(world.refused(first, UNIT), Why::Sealed);
    assert_eq!(world.allocate(second, UNIT), allocated(second, 2), "what is there is there");
    let (held, sealed) = world.hello(2);
    assert!(sealed && held.len() == 1 && held[0].slab == second);
    assert_eq!(world.stopped(), ["allocate 1 false", "allocate 1 false", "free 1"]);
}

#[test]
fn a_slab_that_is_not_there_is_freed_already_and_seals_nothing() {
    let world = World::new();
    let [slab, never] = slabs();
    assert_eq!(world.ask(&ToHost::Free { slab: never }), FromHost::Freed { slab: never });
    assert_eq!(world.allocate(slab, UNIT), allocated(slab, 1));
    assert_eq!(world.ask(&ToHost::Free { slab }), FromHost::Freed { slab });
    assert_eq!(world.ask(&ToHost::Free { slab }), FromHost::Freed { slab });
    assert_eq!(world.stopped(), ["allocate 1 false", "free 1"]);
}

#[test]
fn a_later_daemon_hears_of_everything() {
    let world = World::new();
    assert_eq!(world.hello(1), (vec![], false));
    let count = 2 * HOLDINGS_PER_MESSAGE + 3;
    let mut expected: Vec<Holding> = Vec::new();
    for _ in 0..count {
        let slab = SlabId::random();
        let FromHost::Allocated { memory, event, .. } = world.allocate(slab, 3 * UNIT) else {
            panic!()
        };
        expected.push(Holding { slab, bytes: 3 * UNIT, memory, event });
    }
    expected.sort_by_key(|holding| holding.slab);
    assert_eq!(world.hello(2), (expected.clone(), false));
    assert_eq!(world.hello(3), (expected, false));
    world.stopped();
}

#[test]
fn what_a_dead_daemon_asked_is_done_and_its_answers_are_not_lost() {
    let mut world = World::new();
    let [first, second] = slabs();
    let held = world.daemon.try_clone_fd().unwrap();
    world.say(&ToHost::Allocate { slab: first, bytes: UNIT, zero: false });
    world.say(&ToHost::Hello { epoch: Epoch(1) });
    world.say(&ToHost::Allocate { slab: second, bytes: UNIT, zero: false });
    world.daemon = DaemonEnd::new(held);
    world.say(&ToHost::Hello { epoch: Epoch(2) });
    assert_eq!(world.hear(), allocated(first, 1));
    assert!(matches!(world.hear(), FromHost::Holds { epoch: Epoch(1), held } if held.len() == 1));
    assert!(matches!(world.hear(), FromHost::HoldsEnd { epoch: Epoch(1), .. }));
    assert_eq!(world.hear(), allocated(second, 2));
    assert!(matches!(world.hear(), FromHost::Holds { epoch: Epoch(2), held } if held.len() == 2));
    assert!(matches!(world.hear(), FromHost::HoldsEnd { epoch: Epoch(2), .. }));
    world.stopped();
}

#[test]
fn answers_that_nobody_reads_stop_the_host_and_lose_nothing() {
    let mut world = World::new();
    let held = world.daemon.try_clone_fd().unwrap();
    let mut asked = Vec::new();
    // Until both queues are full: the host waits for room, and does not read.
    loop {
        let slab = SlabId::random();
        let message = ToHost::Allocate { slab, bytes: UNIT, zero: false };
        match world.daemon.send_within(&message, Duration::from_millis(100)) {
            Ok(()) => asked.push(slab),
            Err(ChannelError::HungPeer { .. }) => break,
            Err(error) => panic!("{error}"),
        }
    }
    world.daemon = DaemonEnd::new(held);
    for slab in &asked {
        assert!(matches!(world.hear(), FromHost::Allocated { slab: named, .. } if named == *slab));
    }
    asked.sort();
    let held: Vec<SlabId> = world.hello(2).0.iter().map(|holding| holding.slab).collect();
    assert_eq!(held, asked);
    world.stopped();
}

#[test]
fn no_room_is_an_answer() {
    let world = World::new();
    let [slab] = slabs();
    assert_eq!(world.refused(slab, NO_ROOM), Why::OutOfMemory);
    assert_eq!(world.refused(slab, FAILS), Why::Driver);
    assert_eq!(world.allocate(slab, UNIT), allocated(slab, 1));
    assert_eq!(world.hello(1).0.len(), 1);
    assert_eq!(world.stopped(), ["allocate 1 false"]);
}

#[test]
fn memory_that_was_made_and_freed_on_the_way_seals() {
    let world = World::new();
    let [slab] = slabs();
    assert_eq!(world.refused(slab, FAILS_AFTER_MEMORY), Why::OutOfMemory);
    assert_eq!(world.refused(slab, UNIT), Why::Sealed);
    assert_eq!(world.hello(1), (vec![], true));
    world.stopped();
}

#[test]
fn only_whole_units_are_allocated() {
    let world = World::new();
    let [slab] = slabs();
    for bytes in [0, 1, UNIT - 1, UNIT + 1, u64::MAX] {
        assert_eq!(world.refused(slab, bytes), Why::Size, "{bytes}");
    }
    assert_eq!(world.stopped(), Vec::<String>::new());
}

#[test]
fn a_free_that_fails_seals_and_the_rest_is_kept() {
    let world = World::new();
    let [bad, good, new] = slabs();
    world.allocate(bad, FREE_FAILS);
    world.allocate(good, UNIT);
    assert_eq!(world.ask(&ToHost::Free { slab: bad }), FromHost::Freed { slab: bad });
    assert_eq!(world.refused(new, UNIT), Why::Sealed);
    assert_eq!(world.hello(1).0.len(), 1);
    world.stopped();
}

#[test]
fn a_lost_context_ends_the_host_with_a_word() {
    let world = World::new();
    let [first, second] = slabs();
    world.allocate(first, UNIT);
    world.say(&ToHost::Allocate { slab: second, bytes: LOSES, zero: false });
    let said = world.lost().to_string();
    assert!(said.starts_with("the memory of 1 slabs is lost: cuFake"), "{said}");

    let world = World::new();
    world.allocate(first, FREE_LOSES);
    world.say(&ToHost::Free { slab: first });
    assert!(matches!(world.lost(), HostError::Lost { .. }));
}

#[test]
fn the_end_of_the_last_holder_ends_the_loop() {
    let World { daemon, host } = World::new();
    let held = daemon.try_clone_fd().unwrap();
    drop(daemon);
    let next = DaemonEnd::new(held);
    next.send(&ToHost::Hello { epoch: Epoch(1) }).unwrap();
    assert!(matches!(next.receive_within(PATIENCE).unwrap(), FromHost::HoldsEnd { .. }));
    drop(next);
    let (result, _) = host.join().unwrap();
    assert!(matches!(result, Err(HostError::Channel(ChannelError::HungUp))));
}

#[test]
fn what_is_not_understood_ends_nothing() {
    let world = World::new();
    let [slab] = slabs();
    world.allocate(slab, UNIT);
    let null = std::fs::File::open("/dev/null").unwrap();
    socket::send(&world.daemon, &[99, 1, 2, 3], &[], true).unwrap();
    socket::send(&world.daemon, &vec![4; 4096], &[], true).unwrap();
    socket::send(&world.daemon, &ToHost::Stop.encode(), &[null.as_fd()], true).unwrap();
    // A daemon that speaks later versions only.
    let later = [&[2_u8][..], &8_u32.to_le_bytes(), &9_u32.to_le_bytes(), b"more"].concat();
    socket::send(&world.daemon, &later, &[], true).unwrap();
    let FromHost::Failed { text } = world.hear() else { panic!("it was understood") };
    assert!(text.starts_with("the other end speaks version 9"), "{text}");
    assert_eq!(world.hello(1).0.len(), 1);
    world.stopped();
}

#[test]
fn a_second_start_is_answered_as_the_first_and_for_another_gpu_refused() {
    let world = World::new();
    let ready = FromHost::Ready { context_bytes: CONTEXT_BYTES };
    assert_eq!(world.ask(&ToHost::Start { device: DEVICE }), ready);
    let FromHost::Failed { text } = world.ask(&ToHost::Start { device: GpuUuid([8; 16]) }) else {
        panic!()
    };
    assert!(text.contains("this host is for GPU"), "{text}");
    assert_eq!(world.hello(1), (vec![], false));
    world.stopped();
}
