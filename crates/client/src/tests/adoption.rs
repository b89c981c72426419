//! Memory of the program that becomes a tensor, and what refuses to.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use millpond_cuda::{
    Access, AddressRange, Allocation, Context, DevicePtr, Driver, DriverChoice, LinearMemory,
    Mapping, MemoryPool, PinnedBuffer, SharedPool, Stream,
};
use millpond_wire::message::{
    Reply, ReplyBody, Request, RequestBody, Target, TensorAdopt, TensorGrant,
};
use millpond_wire::{
    Audience, Backing, ErrorKind, GpuUuid, Shape, SlabId, TensorId, TensorName, Transport,
};

use crate::connection::lock;
use crate::testing::{Does, FakePond, eventually, failure, grant_of, info};
use crate::{AdoptRefusal, AdoptSpec, Dtype, Error, Pond, Result, Survives, TensorInfo, process};

const MIB: u64 = 1 << 20;
const SECOND: Duration = Duration::from_secs(5);

/// What the pond has taken in.
#[derive(Default)]
struct Taken {
    tensors: HashMap<TensorId, (TensorInfo, Transport, Option<OwnedFd>)>,
    /// Said with the next ping.
    freed: Vec<TensorId>,
    /// What it does with adoptions instead.
    instead: Option<fn() -> Does>,
}

struct Bench {
    pond: FakePond,
    taken: Arc<Mutex<Taken>>,
    driver: Driver,
    context: Context,
}

fn adopted(adopt: &TensorAdopt) -> TensorInfo {
    let backing = Backing { transport: adopt.transport, adopted: true };
    TensorInfo {
        tensor: adopt.tensor,
        name: adopt.name.clone(),
        dtype: adopt.dtype,
        shape: adopt.shape.clone(),
        bytes: adopt.shape.bytes(adopt.dtype).unwrap(),
        device: adopt.device,
        audience: adopt.audience,
        slab: SlabId::random(),
        slab_bytes: adopt.slab_bytes,
        offset: adopt.offset,
        transport: adopt.transport.kind(),
        adopted: true,
        survives: backing.survives(),
        ..info("unused")
    }
}

fn script(taken: &Arc<Mutex<Taken>>, request: &Request) -> Does {
    let mut state = lock(taken);
    let find = |state: &Taken, target: &Target| {
        let mut all = state.tensors.iter();
        let found = all.find(|(id, (info, ..))| match target {
            Target::Id(tensor) => *id == tensor,
            Target::Name(name) => {
                info.name.as_ref().is_some_and(|one| one.as_str() == name.to_string())
            }
        });
        found.map(|(id, _)| *id)
    };
    match &request.body {
        RequestBody::TensorAdopt(_) if state.instead.is_some() => state.instead.unwrap()(),
        RequestBody::TensorAdopt(_) => {
            let taken = Arc::clone(taken);
            Does::With(Box::new(move |request, fds| {
                let RequestBody::TensorAdopt(adopt) = &request.body else { unreachable!() };
                assert_eq!(fds.len(), usize::from(adopt.transport.has_descriptor()));
                let info = adopted(adopt);
                let fd = fds.first().map(|fd| fd.try_clone().unwrap());
                let kept = (info.clone(), adopt.transport, fd);
                lock(&taken).tensors.insert(adopt.tensor, kept);
                let backing = Backing::default();
                let grant = TensorGrant { info, lease: None, existed: false, backing, event: None };
                Does::Reply(ReplyBody::Tensor(grant))
            }))
        }
        RequestBody::TensorGet(get) => {
            let Some(id) = find(&state, &get.target) else {
                return Does::Reply(failure(ErrorKind::NotFound));
            };
            let (info, transport, fd) = &state.tensors[&id];
            let backing = Backing { transport: *transport, adopted: true };
            let body = grant_of(info.clone(), get.lease, get.mode, backing);
            let fds = fd.iter().map(|fd| fd.try_clone().unwrap()).collect();
            Does::ReplyWith(body, fds)
        }
        RequestBody::TensorInspect(target) => Does::Reply(match find(&state, target) {
            Some(id) => {
                ReplyBody::Details { info: state.tensors[&id].0.clone(), leases: Vec::new() }
            }
            None => failure(ErrorKind::NotFound),
        }),
        RequestBody::TensorDelete { tensor } => match state.tensors.remove(tensor) {
            Some(_) => Does::Polite,
            None => Does::Reply(failure(ErrorKind::NotFound)),
        },
        RequestBody::Ping => {
            let freed = std::mem::take(&mut state.freed).into_iter();
            let unasked = freed.map(|id| Reply { number: 0, body: ReplyBody::AdoptedFreed(id) });
            let mut replies: Vec<Reply> = unasked.collect();
            replies.push(Reply { number: request.number, body: ReplyBody::Done });
            Does::Replies(replies)
        }
        _ => Does::Polite,
    }
}

/// Something that owns memory, and how one sees that it is gone.
fn owner<T: Send + 'static>(of: T) -> (Box<(T, Arc<()>)>, Weak<()>) {
    let mark = Arc::new(());
    let seen = Arc::downgrade(&mark);
    (Box::new((of, mark)), seen)
}

fn is_kept(seen: &Weak<()>) -> bool {
    seen.strong_count() > 0
}

fn spec() -> AdoptSpec {
    AdoptSpec::new("acts/x", Dtype::U8, [MIB])
}

fn refusal(refused: Result<TensorInfo>) -> AdoptRefusal {
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.hint().unwrap().contains("copy"), "{error:?}");
    match error {
        Error::Adopt { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

impl Bench {
    fn new() -> Self {
        let driver = Driver::open(DriverChoice::Soft, Some(&millpond_softgpu::PROVIDER)).unwrap();
        let context = Context::primary(&driver.devices().unwrap().remove(0)).unwrap();
        let taken: Arc<Mutex<Taken>> = Arc::default();
        let own = Arc::clone(&taken);
        let pond = FakePond::start(move |_, request| script(&own, request));
        Self { pond, taken, driver, context }
    }

    fn connect(&self) -> Pond {
        self.pond.builder().driver(self.driver.clone()).connect().unwrap()
    }

    fn map(&self, memory: &Allocation, access: Access) -> Mapping {
        let range = AddressRange::reserve(&self.driver, memory.bytes()).unwrap();
        Mapping::map(&self.context, &range, 0, memory, access).unwrap()
    }

    /// Memory of one handle that can be exported.
    fn mapped(&self) -> Mapping {
        let memory = Allocation::create(self.context.device(), 2 * MIB).unwrap();
        self.map(&memory, Access::ReadWrite)
    }

    fn pooled(&self) -> SharedPool {
        SharedPool::make(&self.context, 2 * MIB).unwrap()
    }

    fn linear(&self) -> LinearMemory {
        LinearMemory::alloc(&self.context, 4 * MIB).unwrap()
    }

    /// The pond says that nobody has it any more.
    fn free(&self, pond: &Pond, tensor: TensorId) {
        let mut taken = lock(&self.taken);
        taken.tensors.remove(&tensor);
        taken.freed.push(tensor);
        drop(taken);
        pond.ping().unwrap();
    }
}

#[test]
fn mapped_memory_becomes_a_tensor_that_everybody_maps_by_its_descriptor() {
    let bench = Bench::new();
    let pond = bench.connect();
    let memory = bench.mapped();
    memory.span().memset(0, MIB, 7).unwrap();
    let pointer = memory.pointer();
    let (keep, seen) = owner(memory);
    let info = pond.adopt(spec().audience(Audience::Group), pointer, keep).unwrap();
    assert_eq!((info.offset, info.slab_bytes, info.bytes), (0, 2 * MIB, MIB));
    assert_eq!((info.survives, info.audience), (Survives::Everything, Audience::Group));
    assert_eq!(info.device, GpuUuid(bench.context.device().uuid().0));
    let x = pond.get("acts/x").unwrap();
    assert_ne!(x.device_ptr(), pointer, "a mapping of its own, which can be read-only");
    assert!(x.to_vec().unwrap().iter().all(|byte| *byte == 7));
    assert!(is_kept(&seen));
}

#[test]
fn ones_own_pool_and_linear_memory_is_used_where_it_is() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (pooled, linear) = (bench.pooled(), bench.linear());
    let pointers = [pooled.pointer(), linear.pointer()];
    let (first, _) = owner(pooled);
    let (second, _) = owner(linear);
    let keeps: [Box<dyn std::any::Any + Send>; 2] = [first, second];
    let kinds = [("pooled", Survives::Everything), ("linear", Survives::Owner)];
    for ((pointer, keep), (name, survives)) in pointers.into_iter().zip(keeps).zip(kinds) {
        // It begins inside of its allocation.
        let inside = DevicePtr(pointer.0 + 4096);
        let info = pond.adopt(AdoptSpec::new(name, Dtype::U8, [MIB]), inside, keep).unwrap();
        assert_eq!((info.offset, info.survives), (4096, survives), "{name}");
        let x = pond.get_with(name, crate::GetOptions::read_write()).unwrap();
        assert_eq!(x.device_ptr(), inside, "{name}");
        x.fill(9).unwrap();
        x.copy_from_host(1, b"pond").unwrap();
        x.publish().unwrap();
        assert_eq!(x.to_vec().unwrap()[..6], *b"\x09pond\x09", "{name}");
        let error = x.record(&Stream::legacy(x.context())).unwrap_err();
        assert!(matches!(error, Error::NoEvent { .. }), "{error}");
        let reader = pond.get(name).unwrap();
        assert_eq!(reader.device_ptr(), inside);
        assert!(matches!(reader.fill(0), Err(Error::ReadOnly { .. })), "a promise");
    }
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(pond.core().mapped_slabs(), 0);
}

#[test]
fn memory_of_a_pool_is_imported_once_for_all_modes_and_given_back_once() {
    let bench = Bench::new();
    let pond = bench.connect();
    let pool = bench.pooled();
    pool.span().memset(0, MIB, 5).unwrap();
    let (fd, data) = pool.export().unwrap();
    let adopt = TensorAdopt {
        tensor: TensorId::random(),
        name: Some(TensorName::new("acts/x").unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new([4096]).unwrap(),
        device: GpuUuid(bench.context.device().uuid().0),
        audience: Audience::User,
        slab_bytes: 2 * MIB,
        offset: 512,
        transport: Transport::Mempool(data),
    };
    let kept = (adopted(&adopt), adopt.transport, Some(fd));
    lock(&bench.taken).tensors.insert(adopt.tensor, kept);
    for _ in 0..2 {
        let reader = pond.get("acts/x").unwrap();
        let writer = pond.get_with("acts/x", crate::GetOptions::read_write()).unwrap();
        assert_eq!(reader.device_ptr(), writer.device_ptr());
        assert_eq!(pond.core().mapped_slabs(), 1);
        drop(reader);
        assert!(pond.flush(SECOND).unwrap());
        assert_eq!(writer.to_vec().unwrap(), [5; 4096]);
        writer.publish().unwrap();
        drop(writer);
        assert!(pond.flush(SECOND).unwrap());
        assert_eq!(pond.core().mapped_slabs(), 0);
    }
}

#[test]
fn what_owns_the_memory_is_kept_until_nobody_has_the_tensor() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (memory, other) = (bench.pooled(), bench.pooled());
    let (pointer, other_pointer) = (memory.pointer(), other.pointer());
    let (keep, seen) = owner(memory);
    let (other_keep, other_seen) = owner(other);
    let info = pond.adopt(spec(), pointer, keep).unwrap();
    let unnamed = AdoptSpec::unnamed(Dtype::U8, [MIB]);
    let other = pond.adopt(unnamed, other_pointer, other_keep).unwrap();
    assert_eq!(pond.core().adopted.len(), 2);
    // A tensor of this process has it too, whatever the pond says.
    let x = pond.get("acts/x").unwrap();
    bench.free(&pond, info.tensor);
    eventually(|| pond.core().adopted.len() == 1);
    assert!(is_kept(&seen));
    x.to_vec().unwrap();
    drop(x);
    eventually(|| !is_kept(&seen));
    assert!(is_kept(&other_seen));
    bench.free(&pond, other.tensor);
    eventually(|| !is_kept(&other_seen));
    assert!(!pond.core().link.lock().session.listens());
    // The thread begins anew with the next one.
    let memory = bench.pooled();
    let pointer = memory.pointer();
    let (keep, seen) = owner(memory);
    let info = pond.adopt(spec(), pointer, keep).unwrap();
    bench.free(&pond, info.tensor);
    eventually(|| !is_kept(&seen));
}

#[test]
fn a_pond_that_does_not_know_the_memory_any_more_gives_it_back() {
    let bench = Bench::new();
    let pond = bench.connect();
    let (one, two) = (bench.pooled(), bench.pooled());
    let pointers = [one.pointer(), two.pointer()];
    let (one, forgotten) = owner(one);
    let (two, known) = owner(two);
    let info = pond.adopt(spec(), pointers[0], one).unwrap();
    let spec = AdoptSpec::new("acts/y", Dtype::U8, [MIB]);
    pond.adopt(spec, pointers[1], two).unwrap();
    lock(&bench.taken).tensors.remove(&info.tensor);
    bench.pond.hang_up();
    eventually(|| !is_kept(&forgotten));
    assert!(is_kept(&known));
    assert_eq!(pond.core().adopted.len(), 1);
}

#[test]
fn what_is_refused_is_dropped_before_the_call_returns() {
    let bench = Bench::new();
    let pond = bench.connect();
    lock(&bench.taken).instead = Some(|| Does::Reply(failure(ErrorKind::Exists)));
    let memory = bench.pooled();
    let pointer = memory.pointer();
    let (keep, seen) = owner(());
    let error = pond.adopt(spec(), pointer, keep).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists);
    assert!(!is_kept(&seen));
    let (keep, seen) = owner(());
    assert!(pond.adopt(AdoptSpec::new("a b", Dtype::U8, [1]), pointer, keep).is_err());
    assert!(!is_kept(&seen));
    let (keep, seen) = owner(());
    assert_eq!(refusal(pond.adopt(spec(), DevicePtr(0x1000), keep)), AdoptRefusal::NoMemory);
    assert!(!is_kept(&seen));
    assert_eq!(pond.core().adopted.len(), 0);
    // Refused once is not refused for ever.
    lock(&bench.taken).instead = None;
    pond.adopt(spec(), pointer, Box::new(())).unwrap();
}

#[test]
fn memory_that_may_have_been_announced_is_kept_until_the_pond_says_no() {
    let bench = Bench::new();
    let patience = Duration::from_millis(300);
    let builder = bench.pond.builder().driver(bench.driver.clone()).request_timeout(patience);
    let pond = builder.connect().unwrap();
    lock(&bench.taken).instead = Some(|| Does::Nothing);
    let memory = bench.pooled();
    let pointer = memory.pointer();
    let (keep, seen) = owner(memory);
    let error = pond.adopt(spec(), pointer, keep).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    // The pond was asked to delete it, and did not have it.
    bench.pond.wait_for(|_, body| matches!(body, RequestBody::TensorDelete { .. }));
    eventually(|| !is_kept(&seen));
}

#[test]
fn nobody_has_heard_of_memory_that_no_pond_was_there_for() {
    let bench = Bench::new();
    let pond = bench.connect();
    let context = bench.context.clone();
    let memory = bench.pooled();
    let Bench { pond: fake, .. } = bench;
    let folder = fake.folder().to_owned();
    drop(fake);
    assert!(!folder.exists());
    eventually(|| pond.ping().is_err());
    let (keep, seen) = owner(());
    assert!(pond.adopt(spec(), memory.pointer(), keep).is_err());
    assert!(!is_kept(&seen));
    drop(context);
}

#[test]
fn memory_of_other_kinds_is_refused_with_its_reason() {
    let bench = Bench::new();
    let pond = bench.connect();
    let adopt = |pointer, bytes| {
        pond.adopt(AdoptSpec::new("acts/x", Dtype::U8, [bytes]), pointer, Box::new(()))
    };
    let pinned = PinnedBuffer::new(&bench.context, 4096).unwrap();
    let host = DevicePtr(u64::try_from(pinned.as_ptr().addr()).unwrap());
    assert_eq!(refusal(adopt(host, 4096)), AdoptRefusal::Host);

    let device = bench.context.device();
    let memory = Allocation::create(device, 2 * MIB).unwrap();
    let read_only = bench.map(&memory, Access::ReadOnly);
    assert_eq!(refusal(adopt(read_only.pointer(), MIB)), AdoptRefusal::ReadOnly);
    let private = Allocation::create_private(device, 2 * MIB).unwrap();
    let private = bench.map(&private, Access::ReadWrite);
    assert_eq!(refusal(adopt(private.pointer(), MIB)), AdoptRefusal::NotExportable);

    let [one, two] = [(); 2].map(|()| Allocation::create(device, 2 * MIB).unwrap());
    let range = AddressRange::reserve(&bench.driver, 4 * MIB).unwrap();
    let several =
        Mapping::map_all(&bench.context, &range, 0, &[&one, &two], Access::ReadWrite).unwrap();
    let reason = refusal(adopt(several.pointer(), 4 * MIB));
    assert!(matches!(reason, AdoptRefusal::SeveralHandles { .. }), "{reason}");
    let inside = DevicePtr(several.pointer().0 + 4096);
    let reason = refusal(adopt(inside, MIB));
    assert!(matches!(reason, AdoptRefusal::SharesHandle { before_bytes: 4096, .. }), "{reason}");

    let stream = Stream::new(&bench.context).unwrap();
    let pool = MemoryPool::default_of(device).unwrap();
    let pooled = pool.alloc(2 * MIB, &stream).unwrap();
    stream.synchronize().unwrap();
    let reason = refusal(adopt(pooled, MIB));
    assert!(matches!(reason, AdoptRefusal::PrivatePool { .. }), "{reason}");

    let shared = bench.pooled();
    let reason = refusal(adopt(shared.pointer(), 2 * MIB + 1));
    assert!(matches!(reason, AdoptRefusal::TooLarge { .. }), "{reason}");
    let spec = AdoptSpec::new("acts/x", Dtype::U8, [4096]).audience(Audience::Everybody);
    let reason = refusal(pond.adopt(spec, DevicePtr(shared.pointer().0 + 4096), Box::new(())));
    assert!(matches!(reason, AdoptRefusal::Neighbours { .. }), "{reason}");
    let seen = bench.pond.seen();
    assert!(!seen.iter().any(|(_, body)| matches!(body, RequestBody::TensorAdopt(_))));
}

#[test]
fn memory_of_the_pond_is_not_adopted_again() {
    let bench = Bench::new();
    let pond = bench.connect();
    let memory = bench.mapped();
    let pointer = memory.pointer();
    let info = pond.adopt(spec(), pointer, Box::new(memory)).unwrap();
    let again = AdoptSpec::new("acts/y", Dtype::U8, [4096]);
    let inside = DevicePtr(pointer.0 + 4096);
    let expected = AdoptRefusal::AlreadyAdopted { tensor: info.tensor };
    assert_eq!(refusal(pond.adopt(again.clone(), inside, Box::new(()))), expected);
    let x = pond.get("acts/x").unwrap();
    let refused = pond.adopt(again.clone(), x.device_ptr(), Box::new(()));
    assert_eq!(refusal(refused), AdoptRefusal::OfThePond);
    // Two tensors of one plain allocation are two tensors, but a pool's allocation is imported once.
    let (pooled, linear) = (bench.pooled(), bench.linear());
    let part = |name: &str, pointer: DevicePtr, offset| {
        let spec = AdoptSpec::new(name, Dtype::U8, [4096]);
        pond.adopt(spec, DevicePtr(pointer.0 + offset), Box::new(()))
    };
    part("linear/1", linear.pointer(), 0).unwrap();
    part("linear/2", linear.pointer(), 4096).unwrap();
    let first = part("pooled/1", pooled.pointer(), 0).unwrap().tensor;
    let expected = AdoptRefusal::AlreadyAdopted { tensor: first };
    assert_eq!(refusal(part("pooled/2", pooled.pointer(), 4096)), expected);
}

#[test]
fn the_connection_stays_while_the_pond_may_hand_out_the_memory() {
    let bench = Bench::new();
    let pond = bench.connect();
    let memory = bench.pooled();
    let pointer = memory.pointer();
    let (keep, seen) = owner(memory);
    let info = pond.adopt(spec(), pointer, keep).unwrap();
    drop(pond);
    let goodbye = || bench.pond.seen().iter().any(|(_, body)| *body == RequestBody::Goodbye);
    assert!(!goodbye() && is_kept(&seen));
    // It is made anew, too, and the next daemon does not know the tensor.
    lock(&bench.taken).tensors.remove(&info.tensor);
    bench.pond.hang_up();
    eventually(|| !is_kept(&seen));
    eventually(goodbye);
}

#[test]
fn a_closed_pond_leaves_adopted_memory_where_it_is() {
    let bench = Bench::new();
    let pond = bench.connect();
    let memory = bench.pooled();
    let pointer = memory.pointer();
    let (keep, seen) = owner(memory);
    pond.adopt(spec(), pointer, keep).unwrap();
    let other = pond.clone();
    pond.close().unwrap();
    bench.pond.wait_for(|_, body| *body == RequestBody::Goodbye);
    assert!(is_kept(&seen), "readers may be about to open it");
    let error = other.adopt(spec(), pointer, Box::new(())).unwrap_err();
    assert!(matches!(error, Error::Closed), "{error}");
}

#[test]
fn a_forked_child_frees_nothing_that_was_adopted() {
    let bench = Bench::new();
    let memory = bench.pooled();
    let (keep, seen) = owner(());
    let kept = crate::adopt::Kept::new(bench.context.clone(), memory.pointer(), MIB, keep);
    let child = process::pretend(u32::MAX);
    drop(kept);
    assert!(is_kept(&seen), "it is the parent's");
    drop(child);
}
