//! The order in which leases end.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_cuda::DevicePtr;
use millpond_cuda::sys::Status;
use millpond_wire::{LeaseId, Mode, SlabId};

use crate::connection::lock;
use crate::retire::{Release, Retire, RetireList, ToUnmap};
use crate::slab_map::{DeviceSide, Reach, SlabMap, SlabMapping};
use crate::testing::{Act, FakeDevice, FakeSink, an_fd, eventually};

const SECOND: Duration = Duration::from_secs(5);
const SLAB: u64 = 2 << 20;

struct Bench {
    device: Arc<FakeDevice>,
    sink: Arc<FakeSink>,
    slabs: Arc<SlabMap<FakeDevice>>,
    retire: Retire<FakeDevice>,
}

impl Bench {
    fn new() -> Self {
        let device = Arc::new(FakeDevice::default());
        let sink = FakeSink { log: Arc::clone(&device.log), ..FakeSink::default() };
        let sink = Arc::new(sink);
        let slabs = Arc::new(SlabMap::new(Arc::clone(&device)));
        let told = Arc::clone(&sink);
        let release: Release = Arc::new(move |leases| told.release(leases));
        let retire = Retire::new(Arc::clone(&device), Arc::clone(&slabs), release);
        Self { device, sink, slabs, retire }
    }

    fn list(&self, context: u32) -> Arc<RetireList<FakeDevice>> {
        self.retire.list(&context)
    }

    fn reach(
        &self,
        context: u32,
        slab: SlabId,
        mode: Mode,
        reach: &Reach,
    ) -> crate::Result<Arc<SlabMapping<FakeDevice>>> {
        self.slabs.get(&self.list(context), slab, SLAB, mode, reach)
    }

    fn map(&self, context: u32, slab: SlabId, mode: Mode) -> Arc<SlabMapping<FakeDevice>> {
        self.reach(context, slab, mode, &Reach::Vmm(an_fd())).unwrap()
    }
}

fn drop_lease(lease: u64, slab: Arc<SlabMapping<FakeDevice>>) {
    let list = Arc::clone(slab.list());
    list.push(LeaseId(lease), ToUnmap::Slab(slab));
}

#[test]
fn release_follows_unmap_and_unmap_follows_the_work() {
    let bench = Bench::new();
    bench.device.set_busy(Some(1));
    let slab = SlabId::random();
    let (one, two) = (bench.map(1, slab, Mode::ReadOnly), bench.map(1, slab, Mode::ReadOnly));
    drop_lease(1, one);
    drop_lease(2, two);
    assert!(!bench.retire.flush(Duration::from_millis(30)));
    assert_eq!(bench.device.acts(), [Act::Map(1)], "nothing happens while work runs");
    bench.device.set_busy(None);
    assert!(bench.retire.flush(SECOND));
    // The thread may have taken the first lease before the second came.
    let acts = bench.device.acts();
    let unmapped = acts.iter().position(|act| *act == Act::Unmap(1)).unwrap();
    assert_eq!(acts[unmapped - 1], Act::Synchronize(1));
    assert!(matches!(&acts[unmapped + 1], Act::Release(leases) if leases.contains(&LeaseId(2))));
    assert_eq!(acts.iter().filter(|act| matches!(act, Act::Unmap(_))).count(), 1);
    assert_eq!(bench.slabs.len(), 0);
    assert!(!bench.device.was_called_by(thread::current().id()));
}

#[test]
fn the_thread_begins_with_the_first_lease_that_ends() {
    let bench = Bench::new();
    let list = bench.list(1);
    let slab = bench.map(1, SlabId::random(), Mode::ReadOnly);
    assert_eq!(Arc::strong_count(&list), 3, "ours, the bench's and the slab's");
    drop_lease(1, slab);
    assert!(bench.retire.flush(SECOND));
    assert_eq!(Arc::strong_count(&list), 3, "ours, the bench's and the thread's");
    assert_eq!(bench.slabs.len(), 0);
}

#[test]
fn a_slab_stays_mapped_while_another_tensor_uses_it() {
    let bench = Bench::new();
    let slab = SlabId::random();
    let (one, two) = (bench.map(1, slab, Mode::ReadOnly), bench.map(1, slab, Mode::ReadOnly));
    assert!(Arc::ptr_eq(&one, &two));
    drop_lease(1, one);
    assert!(bench.retire.flush(SECOND));
    let released = |lease| Act::Release(vec![LeaseId(lease)]);
    assert_eq!(bench.device.acts(), [Act::Map(1), Act::Synchronize(1), released(1)]);
    drop_lease(2, two);
    assert!(bench.retire.flush(SECOND));
    assert_eq!(bench.device.acts()[3..], [Act::Synchronize(1), Act::Unmap(1), released(2)]);
    // And then it is mapped anew.
    drop_lease(3, bench.map(1, slab, Mode::ReadOnly));
    assert!(bench.retire.flush(SECOND));
    assert_eq!(bench.device.acts()[6], Act::Map(2));
}

#[test]
fn each_mode_and_context_has_its_own_mapping() {
    let bench = Bench::new();
    let slab = SlabId::random();
    let one = bench.map(1, slab, Mode::ReadOnly);
    assert!(!Arc::ptr_eq(&one, &bench.map(1, slab, Mode::ReadWrite)));
    assert!(!Arc::ptr_eq(&one, &bench.map(2, slab, Mode::ReadOnly)));
    assert!(Arc::ptr_eq(&one, &bench.map(1, slab, Mode::ReadOnly)));
}

#[test]
fn a_lease_on_its_way_out_lends_its_mapping() {
    let bench = Bench::new();
    bench.device.set_busy(Some(1));
    let slab = SlabId::random();
    drop_lease(1, bench.map(1, slab, Mode::ReadOnly));
    let again = bench.map(1, slab, Mode::ReadOnly);
    bench.device.set_busy(None);
    assert!(bench.retire.flush(SECOND));
    let acts = bench.device.acts();
    assert!(!acts.iter().any(|act| matches!(act, Act::Unmap(_))), "{acts:?}");
    assert!(again.mapping().is_some());
}

#[test]
fn a_busy_context_delays_only_its_own() {
    let bench = Bench::new();
    bench.device.set_busy(Some(1));
    drop_lease(1, bench.map(1, SlabId::random(), Mode::ReadOnly));
    drop_lease(2, bench.map(2, SlabId::random(), Mode::ReadOnly));
    eventually(|| bench.device.acts().contains(&Act::Release(vec![LeaseId(2)])));
    assert!(!bench.device.acts().contains(&Act::Release(vec![LeaseId(1)])));
    bench.device.set_busy(None);
    assert!(bench.retire.flush(SECOND));
}

#[test]
fn a_lost_context_neither_unmaps_nor_releases() {
    let bench = Bench::new();
    lock(&bench.device.failures).push(Status::ILLEGAL_ADDRESS);
    drop_lease(1, bench.map(1, SlabId::random(), Mode::ReadOnly));
    assert!(bench.retire.flush(SECOND), "given up is not on its way");
    drop_lease(2, bench.map(1, SlabId::random(), Mode::ReadOnly));
    assert!(bench.retire.flush(SECOND));
    assert_eq!(bench.device.acts(), [Act::Map(1), Act::Synchronize(1), Act::Map(2)]);
}

#[test]
fn a_passing_failure_is_tried_again() {
    let bench = Bench::new();
    // A stream is being captured, twice.
    lock(&bench.device.failures).extend([Status(900), Status(900)]);
    *lock(&bench.sink.failures) = 2;
    drop_lease(1, bench.map(1, SlabId::random(), Mode::ReadOnly));
    assert!(bench.retire.flush(SECOND));
    let acts = bench.device.acts();
    assert_eq!(acts[1..4], [Act::Synchronize(1), Act::Synchronize(1), Act::Synchronize(1)]);
    assert_eq!(acts[4..], [Act::Unmap(1), Act::Release(vec![LeaseId(1)])]);
}

#[test]
fn what_could_not_be_unmapped_stays_leased() {
    let bench = Bench::new();
    *lock(&bench.device.fail_unmap) = Some(Status::INVALID_VALUE);
    drop_lease(1, bench.map(1, SlabId::random(), Mode::ReadOnly));
    assert!(bench.retire.flush(SECOND));
    assert_eq!(bench.device.acts(), [Act::Map(1), Act::Synchronize(1), Act::Unmap(1)]);
}

#[test]
fn threads_end_when_nothing_is_left() {
    let bench = Bench::new();
    let list = bench.list(1);
    drop_lease(1, bench.map(1, SlabId::random(), Mode::ReadOnly));
    bench.retire.end();
    assert!(bench.retire.flush(SECOND));
    // Ours and the bench's; the thread has let go.
    eventually(|| Arc::strong_count(&list) == 2);
}

#[test]
fn memory_without_modes_is_opened_once_and_closed_after_the_work() {
    for (reach, opened) in
        [(Reach::Ipc([1; 64]), Act::Open(1)), (Reach::Mempool(an_fd(), [1; 64]), Act::Pool(1))]
    {
        let bench = Bench::new();
        let slab = SlabId::random();
        let get = |mode| bench.reach(1, slab, mode, &reach).unwrap();
        let (reader, writer) = (get(Mode::ReadOnly), get(Mode::ReadWrite));
        assert!(Arc::ptr_eq(&reader, &writer), "it is open for both");
        bench.device.set_busy(Some(1));
        drop_lease(1, reader);
        drop_lease(2, writer);
        assert!(!bench.retire.flush(Duration::from_millis(30)));
        assert_eq!(bench.device.acts(), [opened], "nothing is closed while work runs");
        bench.device.set_busy(None);
        assert!(bench.retire.flush(SECOND));
        let acts = bench.device.acts();
        let closed = acts.iter().position(|act| *act == Act::Unmap(1)).unwrap();
        assert_eq!(acts[closed - 1], Act::Synchronize(1));
        assert!(matches!(&acts[closed + 1], Act::Release(some) if some.contains(&LeaseId(2))));
        assert_eq!(acts.iter().filter(|act| matches!(act, Act::Unmap(_))).count(), 1);
        // Another context has an opening of its own, and so has the next get.
        let other = bench.reach(2, slab, Mode::ReadOnly, &reach).unwrap();
        let again = get(Mode::ReadOnly);
        assert!(!Arc::ptr_eq(&other, &again));
        assert_eq!(bench.slabs.len(), 2);
    }
}

#[test]
fn memory_that_is_smaller_than_was_said_goes_back_unused() {
    let bench = Bench::new();
    let slab = SlabId::random();
    for reach in [Reach::Vmm(an_fd()), Reach::Ipc([1; 64]), Reach::Mempool(an_fd(), [1; 64])] {
        let list = bench.list(1);
        let get = |bytes| bench.slabs.get(&list, slab, bytes, Mode::ReadOnly, &reach);
        let before = bench.device.acts().len();
        let error = get(SLAB + 1).unwrap_err();
        assert_eq!(error.kind(), millpond_wire::ErrorKind::Protocol, "{error}");
        let acts = bench.device.acts();
        assert!(matches!(acts[before..], [_, Act::Unmap(_)]), "{acts:?}");
        assert_eq!(bench.slabs.len(), 0);
    }
    // What is open already is not believed to be larger either, and stays for who has it.
    let reach = Reach::Ipc([1; 64]);
    let held = bench.reach(1, slab, Mode::ReadOnly, &reach).unwrap();
    let opened = bench.device.acts().len();
    assert!(bench.slabs.get(&bench.list(1), slab, SLAB + 1, Mode::ReadOnly, &reach).is_err());
    assert_eq!(bench.device.acts().len(), opened);
    assert_eq!(bench.slabs.len(), 1);
    drop_lease(1, held);
    assert!(bench.retire.flush(SECOND));
    assert_eq!(bench.slabs.len(), 0);
}

#[test]
fn addresses_are_known_while_something_is_mapped_there() {
    let bench = Bench::new();
    let held = bench.map(1, SlabId::random(), Mode::ReadOnly);
    let (start, bytes) = FakeDevice::extent(held.mapping().unwrap());
    let overlaps = |at: u64, bytes| bench.slabs.overlaps(DevicePtr(at), bytes);
    assert!(overlaps(start.0, 1) && overlaps(start.0 + bytes - 1, 1) && overlaps(start.0 - 1, 2));
    assert!(!overlaps(start.0 - 1, 1) && !overlaps(start.0 + bytes, 1));
    drop_lease(1, held);
    assert!(bench.retire.flush(SECOND));
    assert!(!overlaps(start.0, 1));
}
