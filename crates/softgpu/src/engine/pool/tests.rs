//! Growth, reuse in the order of streams, thresholds, trimming, the largest size. In adversarial
//! mode, where nothing runs before somebody waits for it.

use std::time::Duration;

use super::super::board::test_device;
use super::super::job::{Job, Site};
use super::super::physical::Origin;
use super::super::queue::Queue;
use super::*;

const MIB: u64 = 1 << 20;
const STEP: u64 = 8 * MIB;
const FIRST: u64 = 100;
const SECOND: u64 = 200;

struct Fixture {
    pool: Pool,
    queue: Arc<Queue>,
    device: Arc<Device>,
    space: Arc<AddressSpace>,
    _folder: tempfile::TempDir,
}

fn fixture(max_bytes: u64) -> Fixture {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = Arc::new(test_device(folder.path(), 64 * MIB));
    let space = Arc::new(AddressSpace::new(true));
    let queue = Queue::new(Site { space: Arc::clone(&space), device: 0 }, true);
    queue.open(FIRST, false);
    queue.open(SECOND, false);
    let settings = PoolSettings { max_bytes, step: STEP, ..PoolSettings::default() };
    let pool = Pool::new(&device, &space, settings);
    Fixture { pool, queue, device, space, _folder: folder }
}

impl Fixture {
    fn spot(&self, lane: u64) -> Spot<'_> {
        Spot { queue: &self.queue, lane }
    }

    fn alloc(&self, bytes: u64, lane: u64) -> u64 {
        self.pool.allocate(bytes, self.spot(lane)).unwrap()
    }

    /// Frees after work that only runs when somebody waits for it.
    fn free(&self, at: u64, lane: u64) -> Fence {
        let job = Job::Touch { source: (at, 8), target: (at, 8), time: Duration::ZERO };
        let place = self.queue.submit(lane, job).unwrap();
        let fence = Fence::new(&self.queue, place);
        self.pool.free(at, Some(fence.clone())).unwrap();
        fence
    }

    fn wait(&self, lane: u64) {
        let end = self.queue.end(lane);
        self.queue.wait(end).unwrap();
        self.pool.relax(|fence| fence.is_up_to(&self.queue, end));
    }

    fn reserved(&self) -> u64 {
        self.pool.state().reserved.current
    }

    fn only(&self, change: impl FnOnce(&mut ReusePolicy)) {
        let mut state = self.pool.state();
        state.reuse = ReusePolicy { events: false, opportunistic: false, internal: false };
        change(&mut state.reuse);
    }
}

#[test]
fn a_pool_grows_by_steps_and_the_device_counts_them() {
    let f = fixture(0);
    let first = f.alloc(1, FIRST);
    assert_eq!((f.reserved(), f.pool.state().used.current), (STEP, 1));
    let second = f.alloc(1000, FIRST);
    assert_eq!(second - first, 512);
    assert_eq!(f.reserved(), STEP);
    // The tail of the first step serves as well: three more are enough for four.
    f.alloc(31 * MIB, FIRST);
    assert_eq!(f.reserved(), 4 * STEP);
    assert_eq!(f.device.usage().unwrap().used, 4 * STEP);
    assert_eq!(f.pool.around(second + 999), Some((second, 1000)));
    assert_eq!(f.pool.around(second + 1000), None);
}

#[test]
fn a_hole_that_is_too_small_does_not_help() {
    let f = fixture(0);
    f.only(|_| ());
    let blocks: Vec<u64> = (0..4).map(|_| f.alloc(2 * MIB, FIRST)).collect();
    f.free(blocks[0], FIRST);
    f.free(blocks[2], FIRST);
    assert_eq!(f.reserved(), STEP);
    let large = f.alloc(3 * MIB, FIRST);
    assert_eq!(f.reserved(), 2 * STEP);
    assert!(large >= blocks[3] + 2 * MIB);
    f.free(blocks[1], FIRST);
    // Three neighbours of one stream are one block for that stream.
    assert_eq!(f.alloc(6 * MIB, FIRST), blocks[0]);
    assert_eq!(f.reserved(), 2 * STEP);
}

#[test]
fn the_same_stream_has_its_memory_back_at_once() {
    let f = fixture(0);
    f.only(|_| ());
    let at = f.alloc(STEP, FIRST);
    let fence = f.free(at, FIRST);
    assert_eq!(f.alloc(STEP, FIRST), at);
    assert!(!fence.passed(), "nobody had to wait");
    assert_eq!(f.reserved(), STEP);
}

#[test]
fn another_stream_has_it_only_in_order() {
    let f = fixture(0);
    f.only(|policy| policy.events = true);
    let at = f.alloc(STEP, FIRST);
    f.free(at, FIRST);
    let other = f.alloc(STEP, SECOND);
    assert_ne!(other, at, "nothing orders the two");
    assert_eq!(f.reserved(), 2 * STEP);
    f.pool.free(other, None).unwrap();

    let at = f.alloc(STEP, FIRST);
    f.free(at, FIRST);
    let end = f.queue.end(FIRST);
    f.queue.submit_after(SECOND, Job::Nothing, Some(end)).unwrap();
    assert_eq!(f.alloc(STEP, SECOND), at, "the second stream waits for the first");
    assert!(!f.queue.passed(end));
}

#[test]
fn memory_that_is_done_is_found_without_a_wait_if_allowed() {
    for allowed in [false, true] {
        let f = fixture(0);
        f.only(|policy| policy.opportunistic = allowed);
        let at = f.alloc(STEP, FIRST);
        f.free(at, FIRST);
        assert_ne!(f.alloc(STEP, SECOND), at, "it still runs");
        f.queue.wait(f.queue.end(FIRST)).unwrap();
        assert_eq!(f.alloc(STEP, SECOND) == at, allowed);
        // A wait that the pool was told of frees it for everybody.
        let again = f.alloc(STEP, FIRST);
        f.free(again, FIRST);
        f.pool.state().threshold = u64::MAX;
        f.wait(FIRST);
        let size = f.reserved();
        f.alloc(STEP, SECOND);
        assert_eq!(f.reserved(), size);
    }
}

#[test]
fn a_stream_is_made_to_wait_before_the_pool_grows() {
    let f = fixture(0);
    let at = f.alloc(STEP, FIRST);
    let fence = f.free(at, FIRST);
    assert_eq!(f.alloc(STEP, SECOND), at);
    assert_eq!(f.reserved(), STEP);
    assert!(!fence.passed());
    f.queue.wait(f.queue.end(SECOND)).unwrap();
    assert!(fence.passed(), "the second stream came after the first");
}

#[test]
fn only_a_wait_for_the_stream_gives_memory_back() {
    let f = fixture(0);
    let at = f.alloc(20 * MIB, FIRST);
    f.free(at, FIRST);
    f.wait(SECOND);
    f.pool.trim(0);
    assert_eq!(f.reserved(), 3 * STEP);
    f.queue.wait(f.queue.end(FIRST)).unwrap();
    f.pool.trim(0);
    assert_eq!(f.reserved(), 3 * STEP, "done, but nobody looked");
    f.wait(FIRST);
    assert_eq!((f.reserved(), f.device.usage().unwrap().used), (0, 0));
    assert_eq!(f.pool.state().reserved.high, 3 * STEP);
    assert!(f.space.resolve(at, 1, 0, Access::Read).is_err());
}

#[test]
fn the_threshold_and_trimming_keep_what_they_say() {
    let f = fixture(0);
    f.pool.state().threshold = 2 * STEP;
    let blocks: Vec<u64> = (0..4).map(|_| f.alloc(STEP, FIRST)).collect();
    f.free(blocks[1], FIRST);
    f.free(blocks[3], FIRST);
    f.free(blocks[0], FIRST);
    f.wait(FIRST);
    assert_eq!(f.reserved(), 2 * STEP);
    f.pool.trim(STEP + 1);
    assert_eq!(f.reserved(), 2 * STEP, "at least so much stays");
    f.pool.trim(0);
    assert_eq!(f.reserved(), STEP, "the third block is in use");
    assert_eq!(f.pool.size_at(blocks[2]), Some(STEP));
    assert!(f.space.resolve(blocks[2], STEP, 0, Access::ReadWrite).is_ok());
    f.pool.free(blocks[2], None).unwrap();
    assert_eq!(f.pool.free(blocks[2], None), Err(Status::INVALID_VALUE));
    f.pool.trim(0);
    assert_eq!(f.reserved(), 0);
}

#[test]
fn a_pool_stays_under_its_largest_size() {
    let f = fixture(2 * STEP - 1);
    let spot = f.spot(FIRST);
    let at = f.alloc(STEP + 1, FIRST);
    assert_eq!(f.reserved(), 2 * STEP, "a whole step");
    assert_eq!(f.pool.allocate(STEP, spot), Err(Status::OUT_OF_MEMORY));
    assert_eq!(f.reserved(), 2 * STEP);
    f.alloc(STEP - 1024, FIRST);
    f.free(at, FIRST);
    f.alloc(STEP, FIRST);
    assert_eq!(f.reserved(), 2 * STEP);
}

#[test]
fn a_full_device_is_out_of_memory_and_nothing_is_kept() {
    let f = fixture(0);
    let spot = f.spot(FIRST);
    assert_eq!(f.pool.allocate(100 * MIB, spot), Err(Status::OUT_OF_MEMORY));
    assert_eq!(f.pool.allocate(u64::MAX, spot), Err(Status::OUT_OF_MEMORY));
    let other = Allocation::create(&f.device, 32 * MIB, Origin::Linear).unwrap();
    assert_eq!(f.pool.allocate(40 * MIB, spot), Err(Status::OUT_OF_MEMORY));
    assert_eq!((f.reserved(), f.device.usage().unwrap().used), (0, 32 * MIB));
    drop(other);
    let at = f.alloc(40 * MIB, FIRST);
    // What is free in one place is given up for a request that only fits in another.
    f.pool.state().threshold = u64::MAX;
    f.pool.free(at, None).unwrap();
    f.alloc(MIB, FIRST);
    f.alloc(56 * MIB, FIRST);
    assert_eq!(f.reserved(), 64 * MIB);
}

#[test]
fn a_destroyed_pool_ends_with_its_last_memory() {
    let f = fixture(0);
    let at = f.alloc(MIB, FIRST);
    assert!(!f.pool.is_over());
    f.pool.destroy();
    assert!(!f.pool.is_over());
    f.free(at, FIRST);
    assert!(!f.pool.is_over(), "work still uses it");
    f.wait(FIRST);
    assert!(f.pool.is_over());
    let Fixture { pool, device, space, .. } = f;
    drop(pool);
    assert_eq!(device.usage().unwrap().used, 0);
    assert!(!space.is_device_address(at));
}
