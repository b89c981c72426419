//! Order and lateness, with jobs on real memory.

use std::time::Duration;

use super::super::address::{Access, AddressSpace};
use super::super::board::{Device, test_device};
use super::super::job::{Place, Stamp};
use super::super::physical::{Allocation, Origin};
use super::*;

const PAGE: u64 = 2 << 20;
const STREAM: u64 = 100;
const OTHER: u64 = 200;

struct Fixture {
    queue: Arc<Queue>,
    start: u64,
    _device: Arc<Device>,
    _folder: tempfile::TempDir,
}

fn fixture(adversarial: bool) -> Fixture {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = Arc::new(test_device(folder.path(), 8 * PAGE));
    let space = Arc::new(AddressSpace::new(true));
    let start = space.reserve(PAGE, 0, 0).unwrap();
    space
        .map(
            start,
            PAGE,
            0,
            Arc::new(Allocation::create(&device, PAGE, Origin::Created(1)).unwrap()),
        )
        .unwrap();
    space.set_access(start, PAGE, 0, Access::ReadWrite).unwrap();
    Fixture {
        queue: Queue::new(Site { space, device: 0 }, adversarial),
        start,
        _device: device,
        _folder: folder,
    }
}

impl Fixture {
    fn fill(&self, value: u8) -> Job {
        Job::Fill { to: self.start, pattern: vec![value], bytes: 16 }
    }

    fn slow(&self, milliseconds: u64) -> Job {
        Job::Touch {
            source: (self.start, 8),
            target: (self.start + 64, 8),
            time: Duration::from_millis(milliseconds),
        }
    }

    /// The first byte, read without taking part in any order.
    fn byte(&self) -> u8 {
        let mut byte = [0_u8; 1];
        let to = Place::Host(byte.as_mut_ptr().expose_provenance());
        Job::Copy { to, from: Place::Device(self.start), bytes: 1 }.run(self.queue.site()).unwrap();
        byte[0]
    }
}

#[test]
fn work_of_a_stream_runs_in_order() {
    let f = fixture(false);
    f.queue.open(STREAM, false);
    for value in 1..=50 {
        f.queue.submit(STREAM, f.fill(value)).unwrap();
    }
    f.queue.wait(f.queue.end(STREAM)).unwrap();
    assert_eq!(f.byte(), 50);
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let f = fixture(false);
    f.queue.open(STREAM, true);
    f.queue.submit(STREAM, f.slow(30)).unwrap();
    f.queue.submit(STREAM, f.fill(1)).unwrap();
    f.queue.run(LEGACY, f.fill(2)).unwrap();
    assert_eq!(f.byte(), 2, "it came after the stream's work");
    f.queue.submit(LEGACY, f.slow(30)).unwrap();
    f.queue.submit(LEGACY, f.fill(3)).unwrap();
    f.queue.submit(STREAM, f.fill(4)).unwrap();
    f.queue.wait_all().unwrap();
    assert_eq!(f.byte(), 4);
}

#[test]
fn other_streams_do_not_wait() {
    let f = fixture(false);
    f.queue.open(STREAM, false);
    f.queue.open(OTHER, false);
    let slow = f.queue.submit(STREAM, f.slow(200)).unwrap();
    f.queue.submit(OTHER, f.fill(1)).unwrap();
    f.queue.wait(f.queue.end(OTHER)).unwrap();
    f.queue.run(LEGACY, Job::Nothing).unwrap();
    assert_eq!(f.queue.query(slow), Err(Status::NOT_READY));
    f.queue.wait(slow).unwrap();
}

#[test]
fn late_work_runs_when_somebody_waits_for_what_comes_after_it() {
    let f = fixture(true);
    f.queue.open(STREAM, false);
    f.queue.open(OTHER, false);
    let first = f.queue.submit(STREAM, f.fill(1)).unwrap();
    let second = f.queue.submit_after(OTHER, Job::Nothing, Some(first)).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(f.byte(), 0, "nobody has waited");
    f.queue.wait(second).unwrap();
    assert_eq!(f.byte(), 1);
}

#[test]
fn late_work_runs_when_it_is_polled_for_long() {
    let f = fixture(true);
    f.queue.open(STREAM, false);
    let stamp = Arc::new(Stamp::default());
    let position = f.queue.submit(STREAM, Job::Stamp(Arc::clone(&stamp))).unwrap();
    let mut polls = 0;
    while f.queue.query(position).is_err() {
        polls += 1;
        std::thread::sleep(Duration::from_micros(100));
    }
    assert!(polls >= QUERIES - 1 && stamp.time().is_some());
}

#[test]
fn late_work_runs_in_the_end() {
    let f = fixture(true);
    f.queue.open(STREAM, false);
    f.queue.submit(STREAM, f.fill(1)).unwrap();
    std::thread::sleep(IDLE + Duration::from_millis(300));
    assert_eq!(f.byte(), 1);
}

#[test]
fn what_is_unmapped_under_late_work_loses_the_context() {
    let f = fixture(true);
    f.queue.open(STREAM, false);
    f.queue.submit(STREAM, f.fill(1)).unwrap();
    f.queue.site().space.unmap(f.start, PAGE).unwrap();
    assert_eq!(f.queue.wait(f.queue.end(STREAM)), Err(Status::ILLEGAL_ADDRESS));
    assert_eq!(f.queue.submit(STREAM, Job::Nothing), Err(Status::ILLEGAL_ADDRESS));
    assert_eq!(f.queue.run(LEGACY, Job::Nothing), Err(Status::ILLEGAL_ADDRESS));
    assert_eq!(f.queue.fault(), Some(Status::ILLEGAL_ADDRESS));
}

#[test]
fn a_kernel_checks_its_source_again_at_its_end() {
    let f = fixture(false);
    f.queue.open(STREAM, false);
    // Long enough that no busy machine comes too late.
    f.queue.submit(STREAM, f.slow(2000)).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    f.queue.site().space.unmap(f.start, PAGE).unwrap();
    assert_eq!(f.queue.wait_all(), Err(Status::ILLEGAL_ADDRESS));
}

#[test]
fn a_bad_host_address_does_not_lose_the_context() {
    let f = fixture(false);
    let job = Job::Copy { to: Place::Device(f.start), from: Place::Host(8), bytes: 8 };
    assert_eq!(f.queue.run(LEGACY, job), Err(Status::INVALID_VALUE));
    assert_eq!(f.queue.fault(), None);
}

#[test]
fn a_closed_stream_finishes_its_work() {
    let f = fixture(false);
    f.queue.open(STREAM, false);
    f.queue.submit(STREAM, f.slow(20)).unwrap();
    let last = f.queue.submit(STREAM, f.fill(9)).unwrap();
    f.queue.close(STREAM);
    f.queue.wait(last).unwrap();
    assert_eq!(f.byte(), 9);
}
