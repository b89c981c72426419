//! The page table without a driver around it.

use super::super::board::test_device;
use super::super::physical::Origin;
use super::*;

const PAGE: u64 = GRANULARITY;

struct Fixture {
    space: AddressSpace,
    device: Arc<super::super::board::Device>,
    _folder: tempfile::TempDir,
}

fn fixture(strict: bool) -> Fixture {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let device = Arc::new(test_device(folder.path(), 64 * PAGE));
    Fixture { space: AddressSpace::new(strict), device, _folder: folder }
}

impl Fixture {
    fn memory(&self, pages: u64) -> Arc<Allocation> {
        Arc::new(Allocation::create(&self.device, pages * PAGE, Origin::Created(1)).unwrap())
    }

    fn used(&self) -> u64 {
        self.device.usage().unwrap().used / PAGE
    }
}

#[test]
fn a_mapping_holds_its_memory() {
    let f = fixture(false);
    let start = f.space.reserve(4 * PAGE, 0, 0).unwrap();
    f.space.map(start, 2 * PAGE, 0, f.memory(2)).unwrap();
    assert_eq!(f.used(), 2);
    f.space.set_access(start, 2 * PAGE, 0, Access::ReadWrite).unwrap();
    assert_eq!(f.space.free(start, 4 * PAGE), Err(Status::INVALID_VALUE));
    f.space.unmap(start, 2 * PAGE).unwrap();
    assert_eq!(f.used(), 0);
    f.space.free(start, 4 * PAGE).unwrap();
    assert!(!f.space.is_device_address(start));
}

#[test]
fn the_host_sees_what_devices_may_see() {
    let f = fixture(false);
    let start = f.space.reserve(PAGE, 0, 0).unwrap();
    let memory = f.memory(1);
    system::write_from(memory.file().unwrap(), 8, b"pond".as_ptr().expose_provenance(), 4).unwrap();
    f.space.map(start, PAGE, 0, memory).unwrap();
    f.space.set_access(start, PAGE, 0, Access::Read).unwrap();
    let seen = std::ptr::with_exposed_provenance::<[u8; 4]>(system::to_usize(start + 8));
    // SAFETY: the range shows the file, readable.
    assert_eq!(unsafe { seen.read_volatile() }, *b"pond");
}

#[test]
fn ranges_are_resolved_across_mappings_and_checked() {
    let f = fixture(true);
    let start = f.space.reserve(4 * PAGE, 0, 0).unwrap();
    f.space.map(start, PAGE, 0, f.memory(1)).unwrap();
    f.space.map(start + PAGE, 2 * PAGE, 0, f.memory(2)).unwrap();
    let resolve = |at, bytes, need| {
        f.space
            .resolve(at, bytes, 0, need)
            .map(|parts| parts.iter().map(|part| (part.offset, part.bytes)).collect::<Vec<_>>())
    };
    assert_eq!(resolve(start, 8, Access::Read), Err(Status::INVALID_VALUE), "no access yet");
    f.space.set_access(start, 3 * PAGE, 0, Access::Read).unwrap();
    assert_eq!(resolve(start + PAGE - 8, 16, Access::Read), Ok(vec![(PAGE - 8, 8), (0, 8)]));
    assert_eq!(resolve(start, 8, Access::ReadWrite), Err(Status::INVALID_VALUE));
    assert_eq!(resolve(start + 3 * PAGE - 8, 16, Access::Read), Err(Status::INVALID_VALUE));
    assert_eq!(resolve(u64::MAX - 4, 16, Access::Read), Err(Status::INVALID_VALUE));
    f.space.set_access(start + PAGE, 2 * PAGE, 0, Access::ReadWrite).unwrap();
    assert_eq!(f.space.access(start, 0), Ok(Access::Read));
    assert_eq!(f.space.access(start + PAGE, 0), Ok(Access::ReadWrite));
    assert_eq!(f.space.access(start + PAGE, 1), Ok(Access::None), "access is per device");
}

#[test]
fn thousands_of_mappings_are_quick() {
    let f = fixture(false);
    let memory = f.memory(1);
    let count = 4000;
    let start = f.space.reserve(count * PAGE, 0, 0).unwrap();
    let clock = std::time::Instant::now();
    for index in 0..count {
        f.space.map(start + index * PAGE, PAGE, 0, Arc::clone(&memory)).unwrap();
    }
    f.space.set_access(start, count * PAGE, 0, Access::ReadWrite).unwrap();
    f.space.unmap(start, count * PAGE).unwrap();
    assert!(clock.elapsed().as_secs() < 2, "{:?}", clock.elapsed());
}

#[test]
fn linear_memory_is_exact_and_goes_with_its_context() {
    let f = fixture(false);
    let memory = Arc::new(Allocation::create(&f.device, 4096, Origin::Linear).unwrap());
    let at = f.space.map_linear(100, memory, 7).unwrap();
    assert!(f.space.resolve(at, 100, 0, Access::ReadWrite).is_ok());
    assert!(f.space.resolve(at, 101, 0, Access::Read).is_err());
    assert_eq!(f.space.unmap_linear(at + 8), Err(Status::INVALID_VALUE));
    f.space.unmap_context(8);
    assert!(f.space.pointer(at + 99).is_some());
    f.space.unmap_context(7);
    assert!(f.space.pointer(at).is_none());
    assert_eq!(f.device.usage().unwrap().used, 0);
}

#[test]
fn small_memory_shares_blocks_that_are_counted_once() {
    let f = fixture(false);
    let small = |bytes: u64, context: u64| {
        let part = Allocation::create_part(&f.device, bytes.next_multiple_of(4096)).unwrap();
        let block = || Allocation::create(&f.device, PAGE, Origin::Own);
        f.space.map_small(bytes, Arc::new(part), context, block).unwrap()
    };
    let (first, second) = (small(5000, 1), small(SMALL_BYTES, 1));
    assert_eq!((second - first, f.used()), (8192, 1));
    assert_eq!(first / PAGE, second / PAGE);
    f.space.unmap_linear(first).unwrap();
    assert_eq!((small(5000, 1), f.used()), (first, 1), "the gap is used again");
    let third = small(SMALL_BYTES, 1);
    assert_ne!(third / PAGE, first / PAGE, "the first block has no room");
    let other = small(1, 2);
    assert_eq!(f.used(), 3, "another context has a block of its own");
    assert!(f.space.resolve(first, 5000, 0, Access::ReadWrite).is_ok());
    assert!(f.space.resolve(first, 5001, 0, Access::Read).is_err());
    f.space.unmap_linear(first).unwrap();
    assert_eq!(f.used(), 3);
    f.space.unmap_linear(second).unwrap();
    assert_eq!((f.used(), f.space.unmap_linear(second)), (2, Err(Status::INVALID_VALUE)));
    f.space.unmap_context(1);
    f.space.unmap_context(2);
    assert_eq!(f.used(), 0);
    assert!(![first, third, other].iter().any(|at| f.space.is_device_address(*at)));
}
