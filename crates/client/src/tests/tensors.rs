//! Tensors in real (software) device memory, granted by a pond in a thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_cuda::{Allocation, Context, Driver, DriverChoice, Stream};
use millpond_wire::message::{ReplyBody, RequestBody, TensorGrant};
use millpond_wire::{Backing, ErrorKind, GpuUuid, LeaseId, Mode, SlabId};

use crate::testing::{Does, FakePond, an_fd, info};
use crate::{Dtype, Error, GetOptions, Pond, TensorInfo, TensorSpec, process};

const SLAB: u64 = 2 << 20;
const SECOND: Duration = Duration::from_secs(5);

/// A pond with one slab in which every tensor lies at the same place.
struct Bench {
    pond: FakePond,
    driver: Driver,
}

fn soft_driver() -> Driver {
    Driver::open(DriverChoice::Soft, Some(&millpond_softgpu::PROVIDER)).unwrap()
}

fn slab(driver: &Driver) -> (GpuUuid, OwnedFd) {
    let device = driver.devices().unwrap().remove(0);
    let memory = Allocation::create(&device, SLAB).unwrap();
    (GpuUuid(device.uuid().0), memory.export().unwrap())
}

impl Bench {
    fn new() -> Self {
        let driver = soft_driver();
        let (device, fd) = slab(&driver);
        let tensor = TensorInfo { device, offset: 4096, ..info("acts/x") };
        let pond = FakePond::start(move |_, request| {
            let (lease, mode) = match &request.body {
                RequestBody::TensorCreate(create) => match create.lease {
                    Some(lease) => (lease, Mode::ReadWrite),
                    None => {
                        let grant = TensorGrant {
                            info: tensor.clone(),
                            lease: None,
                            existed: false,
                            backing: Backing::default(),
                            event: None,
                        };
                        return Does::Reply(ReplyBody::Tensor(grant));
                    }
                },
                RequestBody::TensorGet(get) => (get.lease, get.mode),
                _ => return Does::Polite,
            };
            let grant = crate::testing::grant(tensor.clone(), lease, mode);
            Does::ReplyWith(grant, vec![fd.try_clone().unwrap()])
        });
        Self { pond, driver }
    }

    fn connect(&self) -> Pond {
        self.pond.builder().driver(self.driver.clone()).connect().unwrap()
    }

    /// Leases that the pond was told have ended, in order.
    fn released(&self) -> Vec<LeaseId> {
        let seen = self.pond.seen();
        seen.into_iter()
            .filter_map(|(_, body)| match body {
                RequestBody::LeaseRelease { leases } => Some(leases),
                _ => None,
            })
            .flatten()
            .collect()
    }
}

#[test]
fn what_one_writes_another_reads() {
    let bench = Bench::new();
    let pond = bench.connect();
    let x = pond.create(TensorSpec::new("acts/x", Dtype::F32, [4, 8])).unwrap();
    assert_eq!((x.bytes(), x.mode(), x.dtype()), (128, Mode::ReadWrite, Dtype::F32));
    assert_eq!(x.name().unwrap().as_str(), "acts/x");
    x.fill(7).unwrap();
    x.copy_from_host(4, b"pond").unwrap();
    let generation = x.publish().unwrap();
    assert_eq!(x.generation(), generation);
    x.publish_after(&Stream::new(x.context()).unwrap()).unwrap();

    let y = pond.get("acts/x").unwrap();
    let mut expected = vec![7; 128];
    expected[4..8].copy_from_slice(b"pond");
    assert_eq!(y.to_vec().unwrap(), expected);
    assert_ne!(x.device_ptr(), y.device_ptr(), "another mode is another mapping");
    let z = pond.get_with("acts/x", GetOptions::read_only().wait(SECOND)).unwrap();
    assert_eq!(z.device_ptr(), y.device_ptr(), "the same mode is the same mapping");
    drop((x, y, z));
    assert!(pond.flush(SECOND).unwrap());
    let mut released = bench.released();
    released.sort_unstable();
    assert_eq!(released, [1, 2, 3].map(LeaseId));
    pond.close().unwrap();
}

#[test]
fn accesses_are_checked_before_the_driver_sees_them() {
    let bench = Bench::new();
    let pond = bench.connect();
    let read_only = pond.get("acts/x").unwrap();
    for refused in [
        read_only.fill(0).unwrap_err(),
        read_only.copy_from_host(0, b"x").unwrap_err(),
        read_only.publish().unwrap_err(),
    ] {
        assert!(matches!(refused, Error::ReadOnly { .. }), "{refused}");
        assert!(refused.hint().unwrap().contains("read_write"));
    }
    let writable = pond.get_with("acts/x", GetOptions::read_write()).unwrap();
    for (offset, length) in [(128, 1), (0, 129), (u64::MAX, 1), (127, 2)] {
        let mut bytes = vec![0; length];
        for refused in
            [writable.copy_to_host(offset, &mut bytes), writable.copy_from_host(offset, &bytes)]
        {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, Error::OutOfBounds { .. }), "{refused}");
        }
    }
    writable.copy_to_host(128, &mut []).unwrap();
}

#[test]
fn a_pond_cannot_be_closed_under_its_tensors() {
    let bench = Bench::new();
    let pond = bench.connect();
    let x = pond.get("acts/x").unwrap();
    assert!(matches!(pond.clone().close(), Err(Error::InUse { leases: 1 })));
    drop(x);
    pond.close().unwrap();
}

#[test]
fn the_last_tensor_ends_the_connection_without_anybody_waiting() {
    let bench = Bench::new();
    let pond = bench.connect();
    let x = pond.get("acts/x").unwrap();
    drop(pond);
    x.to_vec().unwrap();
    drop(x);
    bench.pond.wait_for(|_, body| *body == RequestBody::Goodbye);
    assert_eq!(bench.released(), [LeaseId(1)]);
}

#[test]
fn a_restart_neither_unmaps_nor_forgets() {
    let bench = Bench::new();
    let pond = bench.connect();
    let x = pond.create(TensorSpec::unnamed(Dtype::F32, [4, 8])).unwrap();
    x.fill(9).unwrap();
    bench.pond.hang_up();
    bench.pond.wait_for(|number, body| number == 1 && matches!(body, RequestBody::Claim(_)));
    assert_eq!(x.to_vec().unwrap(), [9; 128]);
    assert!(!x.is_lost());
    x.publish().unwrap();
    drop(x);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(bench.released(), [LeaseId(1)]);
}

#[test]
fn many_threads_get_and_drop() {
    let bench = Bench::new();
    let pond = bench.connect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    assert_eq!(pond.get("acts/x").unwrap().to_vec().unwrap().len(), 128);
                }
            });
        }
    });
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(bench.released().len(), 100);
    assert!(pond.core().link.lock().session.leases().is_empty());
}

#[test]
fn a_tensor_is_mapped_for_the_context_of_its_thread() {
    let bench = Bench::new();
    let pond = bench.connect();
    let device = bench.driver.devices().unwrap().remove(0);
    let primary = Context::primary(&device).unwrap();
    let _bound = primary.bind().unwrap();
    assert_eq!(pond.get("acts/x").unwrap().context(), &primary);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(pond.get("acts/x").unwrap().context(), &primary));
    });
}

#[test]
fn a_device_that_is_not_there_is_refused_before_anything_is_made() {
    let bench = Bench::new();
    let pond = bench.connect();
    let spec = TensorSpec::new("acts/y", Dtype::F32, [4, 8]).device(GpuUuid([9; 16]));
    let error = pond.create(spec).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoDevice);
    assert!(!bench.pond.seen().iter().any(|(_, b)| matches!(b, RequestBody::TensorCreate(_))));
}

#[test]
fn what_cannot_be_mapped_is_given_back_and_a_new_tensor_deleted() {
    let driver = soft_driver();
    let device = slab(&driver).0;
    let pond = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorCreate(create) => {
            let tensor = TensorInfo { tensor: create.tensor, device, ..info("acts/x") };
            let grant = crate::testing::grant(tensor, create.lease.unwrap(), Mode::ReadWrite);
            // Not memory of any driver.
            Does::ReplyWith(grant, vec![an_fd()])
        }
        _ => Does::Polite,
    });
    let client = pond.builder().driver(driver).connect().unwrap();
    let spec = TensorSpec::new("acts/x", Dtype::F32, [4, 8]);
    assert_eq!(client.create(spec).unwrap_err().kind(), ErrorKind::Driver);
    pond.wait_for(|_, body| *body == RequestBody::LeaseRelease { leases: vec![LeaseId(1)] });
    pond.wait_for(|_, body| matches!(body, RequestBody::TensorDelete { .. }));
    client.close().unwrap();
}

#[test]
fn reserving_needs_no_driver_and_takes_no_lease() {
    let bench = Bench::new();
    let pond = bench.pond.builder().connect().unwrap();
    let info = pond.reserve(TensorSpec::new("acts/x", Dtype::F32, [4, 8]).zero(true)).unwrap();
    assert_eq!(info.bytes, 128);
    assert!(pond.core().link.lock().session.leases().is_empty());
}

#[test]
fn a_slab_is_mapped_once_however_often_it_is_got() {
    let bench = Bench::new();
    let pond = bench.connect();
    let core = Arc::clone(pond.core());
    let tensors: Vec<_> = (0..10).map(|_| pond.get("acts/x").unwrap()).collect();
    assert_eq!(core.mapped_slabs(), 1);
    drop(tensors);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(core.mapped_slabs(), 0);
    let _: SlabId = pond.get("acts/x").unwrap().info().slab;
}

#[test]
fn a_forked_child_has_its_own_connection_and_leaves_the_parents_leases_alone() {
    let bench = Bench::new();
    let pond = bench.connect();
    let parent = pond.client_id();
    let (x, y) = (pond.get("acts/x").unwrap(), pond.get("acts/x").unwrap());
    // What runs on this thread from here on believes that it is the child.
    let child = process::pretend(u32::MAX);
    let refused = x.to_vec().unwrap_err();
    assert!(matches!(refused, Error::Forked { .. }), "{refused}");
    assert_ne!(pond.client_id(), parent);
    pond.ping().unwrap();
    drop(x);
    assert!(pond.flush(SECOND).unwrap());
    let own = pond.get("acts/x").unwrap();
    drop(own);
    assert!(pond.flush(SECOND).unwrap());
    let hellos = bench.pond.seen();
    let hellos = hellos.iter().filter(|(_, body)| matches!(body, RequestBody::Hello(_)));
    assert_eq!(hellos.count(), 2);
    assert_eq!(bench.released(), [LeaseId(1)], "the child's, which counts for itself");
    drop(child);
    assert_eq!(pond.client_id(), parent);
    assert_eq!(pond.core().link.lock().session.leases().len(), 2);
    assert_eq!(y.to_vec().unwrap().len(), 128, "the mapping is there");
}

#[test]
fn many_gets_come_in_their_order_and_a_failure_gives_all_back() {
    let bench = Bench::new();
    let pond = bench.connect();
    let names: Vec<String> = (0..200).map(|number| format!("acts/{number}")).collect();
    let get =
        |names: &[String]| pond.get_many(names.iter().map(String::as_str), GetOptions::read_only());
    let tensors = get(&names).unwrap();
    assert_eq!(tensors.len(), 200);
    let asked = bench.pond.seen().into_iter().filter_map(|(_, body)| match body {
        RequestBody::TensorGet(get) => Some(get.target.to_string()),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), names);
    drop(tensors);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(bench.released().len(), 200);
    assert!(get(&[]).unwrap().is_empty());
}

#[test]
fn one_of_many_that_fails_leaves_none() {
    let driver = soft_driver();
    let (device, fd) = slab(&driver);
    let tensor = TensorInfo { device, ..info("acts/x") };
    let fake = FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorGet(get) if get.target.to_string() == "bad" => {
            Does::Reply(crate::testing::failure(ErrorKind::NotFound))
        }
        RequestBody::TensorGet(get) => {
            let grant = crate::testing::grant(tensor.clone(), get.lease, get.mode);
            Does::ReplyWith(grant, vec![fd.try_clone().unwrap()])
        }
        _ => Does::Polite,
    });
    let pond = fake.builder().driver(driver).connect().unwrap();
    let names = ["a", "b", "bad", "c"];
    let error = pond.get_many(names, GetOptions::read_only()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(pond.flush(SECOND).unwrap());
    pond.close().unwrap();
}
