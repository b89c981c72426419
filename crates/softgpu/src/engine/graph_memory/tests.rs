//! Memory of graphs without graphs, in adversarial mode.

use super::super::board::test_device;
use super::super::job::{Job, Site};
use super::super::queue::{LEGACY, Queue};
use super::*;

const STEP: u64 = 4 << 20;
const STREAM: u64 = 100;

struct Fixture {
    memory: GraphMemory,
    queue: Arc<Queue>,
    device: Arc<Device>,
    _folder: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = Arc::new(test_device(folder.path(), 8 * STEP));
    let space = Arc::new(AddressSpace::new(true));
    let queue = Queue::new(Site { space: Arc::clone(&space), device: 0 }, true);
    queue.open(STREAM, false);
    Fixture { memory: GraphMemory::new(&device, &space, STEP), queue, device, _folder: folder }
}

impl Fixture {
    fn spot(&self, lane: u64) -> Option<Spot<'_>> {
        Some(Spot { queue: &self.queue, lane })
    }

    /// A place that is only passed when somebody waits.
    fn fence(&self) -> Fence {
        Fence::new(&self.queue, self.queue.submit(STREAM, Job::Nothing).unwrap())
    }

    fn used(&self) -> u64 {
        self.device.usage().unwrap().used / STEP
    }
}

#[test]
fn memory_comes_with_the_launch_and_goes_with_the_trim() {
    let f = fixture();
    let at = f.memory.reserve(STEP + 1).unwrap();
    assert_eq!((f.used(), f.memory.around(at)), (0, None));
    f.memory.begin(at, f.spot(STREAM)).unwrap();
    assert_eq!((f.used(), f.memory.around(at + 5)), (2, Some((at, STEP + 1))));
    assert_eq!(f.memory.begin(at, f.spot(STREAM)), Err(Status::INVALID_VALUE), "in use");
    f.memory.trim();
    assert_eq!(f.used(), 2);
    let fence = f.fence();
    f.memory.end(at, Some(fence.clone())).unwrap();
    assert_eq!(f.memory.end(at, None), Err(Status::INVALID_VALUE), "freed");
    f.memory.trim();
    assert_eq!(f.used(), 2, "work still uses it");
    fence.wait().unwrap();
    f.memory.let_go(at);
    assert_eq!(f.used(), 2, "the graph is gone, the memory is not");
    f.memory.trim();
    assert_eq!((f.used(), f.memory.state().reserved.current), (0, 0));
    assert_eq!(f.memory.state().reserved.high, 2 * STEP);
}

#[test]
fn free_memory_serves_the_next_node_after_its_work() {
    let f = fixture();
    let (one, two) = (f.memory.reserve(STEP).unwrap(), f.memory.reserve(STEP).unwrap());
    f.memory.begin(one, f.spot(STREAM)).unwrap();
    f.memory.begin(two, f.spot(STREAM)).unwrap();
    assert_eq!(f.used(), 2, "both at once");
    let fence = f.fence();
    for at in [one, two] {
        f.memory.end(at, Some(fence.clone())).unwrap();
    }
    let third = f.memory.reserve(STEP).unwrap();
    f.memory.begin(third, f.spot(LEGACY)).unwrap();
    assert_eq!(f.used(), 2);
    assert!(!fence.passed(), "the stream waits, not the host");
    f.queue.wait(f.queue.end(LEGACY)).unwrap();
    assert!(fence.passed());
}

#[test]
fn an_upload_takes_memory_and_leaves_it_free() {
    let f = fixture();
    let at = f.memory.reserve(STEP).unwrap();
    f.memory.begin(at, None).unwrap();
    let beside = f.memory.reserve(STEP).unwrap();
    f.memory.begin(beside, None).unwrap();
    assert_eq!(f.used(), 2, "a graph has all its memory at once");
    f.memory.rest(at);
    f.memory.rest(beside);
    assert!(!f.memory.is_in_use(at) && !f.memory.is_in_use(beside));
    f.memory.trim();
    f.memory.begin(at, None).unwrap();
    f.memory.rest(at);
    assert_eq!((f.used(), f.memory.is_in_use(at)), (1, false));
    f.memory.begin(at, f.spot(STREAM)).unwrap();
    assert_eq!(f.used(), 1);
    let large = f.memory.reserve(9 * STEP).unwrap();
    assert_eq!(f.memory.begin(large, f.spot(STREAM)), Err(Status::OUT_OF_MEMORY));
    assert_eq!(f.used(), 1);
}
