//! Memory that a program has already becomes a tensor, without a copy.

mod adopted;
mod kept;
mod plan;
mod refusal;

use std::any::Any;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::sys::Status;
use millpond_cuda::{Context, CudaError, DevicePtr, Driver, MemoryRange, result, share};
use millpond_wire::message::{RequestBody, TensorAdopt, TensorInfo};
use millpond_wire::{Audience, Dtype, GpuUuid, Shape, TensorId, TensorName, Transport};

use self::adopted::{Entry, State};
use self::plan::{Plan, Way, plan};
pub use self::refusal::AdoptRefusal;
pub(crate) use self::{adopted::Adopted, kept::Kept};
use crate::core::Core;
use crate::link::Ask;
use crate::slab_map::DeviceSide;
use crate::{Error, Pond, Result, grant};

/// A tensor to be made of memory that is there, for [`Pond::adopt`].
#[derive(Clone, Debug)]
#[must_use]
pub struct AdoptSpec {
    name: Option<String>,
    dtype: Dtype,
    dims: Vec<u64>,
    audience: Audience,
}

impl AdoptSpec {
    /// A tensor with a name, found by it. Name and shape are checked when it is adopted.
    pub fn new(name: impl Into<String>, dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        Self { name: Some(name.into()), ..Self::unnamed(dtype, shape) }
    }

    /// A tensor without a name, found by its identity only.
    pub fn unnamed(dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        Self { name: None, dtype, dims: shape.into(), audience: Audience::User }
    }

    /// With whom it is shared; with one's own user only unless said.
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }
}

/// What readers reach the memory by.
struct Shared {
    context: Context,
    device: GpuUuid,
    plan: Plan,
    transport: Transport,
    fd: Option<OwnedFd>,
}

impl Pond {
    /// Makes a tensor of memory that this process has on a GPU, without a copy: `pointer` is where it
    /// begins, in C order. It waits for the work of the context, so that readers see complete bytes,
    /// and is ready at once.
    ///
    /// How the memory was made decides how it is shared: mapped memory of one handle by its descriptor,
    /// memory of a pool that can be exported by the pool's, both of which survive this process; and
    /// memory of `cuMemAlloc` by a legacy handle, which lives no longer than this process does.
    /// [`TensorInfo::survives`] says which. Of the last two, readers see the whole allocation around
    /// the tensor, and can write it.
    ///
    /// `keep` is whatever owns the memory here. It is dropped when the pond says that nobody has the
    /// tensor any more, or does not know it any more, in a thread of this crate; and before this returns
    /// if the memory is refused. Until then the connection stays, also when the last [`Pond`] is
    /// dropped. After [`Pond::close`] nobody is left to be told: then `keep` stays until the process
    /// ends, and the pond gives memory of `cuMemAlloc` to nobody new.
    ///
    /// The pond charges this user, or the group that pays for it, with the memory. If this process is
    /// under a limit, what that charged for it ends, except for memory of a pool, and comes back before
    /// `keep` is dropped.
    ///
    /// # Errors
    /// [`Error::Adopt`] for memory that cannot be shared, `exists`, and what else the pond or the
    /// driver answers. A call that ended without an answer may have been heard: then `keep` is
    /// dropped when the pond has said that it does not have the tensor.
    pub fn adopt(
        &self,
        spec: AdoptSpec,
        pointer: DevicePtr,
        keep: Box<dyn Any + Send>,
    ) -> Result<TensorInfo> {
        const WHAT: &str = "an adoption";
        let AdoptSpec { name, dtype, dims, audience } = spec;
        let name = name.map(TensorName::new).transpose()?;
        let shape = Shape::new(dims)?;
        let bytes = shape.bytes(dtype)?;
        let core = self.core();
        if core.is_closed() {
            return Err(Error::Closed);
        }
        let refused = |reason| Error::Adopt { address: pointer, reason };
        let driver = core.cuda.driver()?;
        if let Some(tensor) = core.adopted.around(pointer, bytes) {
            return Err(refused(AdoptRefusal::AlreadyAdopted { tensor }));
        }
        if core.slabs.overlaps(pointer, bytes) {
            return Err(refused(AdoptRefusal::OfThePond));
        }
        let shared =
            core.cuda.undisturbing(|| share_with(core, &driver, pointer, bytes, audience))?;
        let Shared { context, device, plan, transport, fd } = shared;

        let tensor = TensorId::random();
        // A reader can import an allocation of a pool once, so it is one tensor's.
        let (start, bytes) = match plan.way {
            Way::Pool => (plan.base, plan.slab_bytes),
            Way::Virtual | Way::Linear => (pointer, bytes),
        };
        let entry = Entry {
            kept: Arc::new(Kept::new(context, plan.base, plan.slab_bytes, keep)),
            start,
            bytes,
            by_descriptor: plan.way == Way::Virtual,
            state: State::Asked { renewed: false },
            _pond: self.clone(),
        };
        // Before it is announced: another thread may get it before this one has the answer.
        if let Some(tensor) = core.adopted.add(&core.link, tensor, entry)? {
            return Err(refused(AdoptRefusal::AlreadyAdopted { tensor }));
        }
        let body = RequestBody::TensorAdopt(Box::new(TensorAdopt {
            tensor,
            name,
            dtype,
            shape,
            device,
            audience,
            slab_bytes: plan.slab_bytes,
            offset: plan.offset,
            transport,
        }));
        let deadline = self.deadline(Duration::ZERO);
        let ask = Ask { what: WHAT, body, lease: None, deadline, waits_until: None };
        let (was_up, generation) = connection(core);
        let answer = core.link.call(ask, fd.as_ref());
        let info = answer.and_then(|answer| {
            let info = grant::without_lease(WHAT, answer)?;
            core.link.remembered()?;
            if info.tensor == tensor {
                return Ok(info);
            }
            Err(Error::Protocol(format!("its answer to {WHAT} is about another tensor")))
        });
        match &info {
            Ok(_) => core.adopted.announced(&core.link, tensor),
            Err(Error::Refused(_)) => core.adopted.refused(&core.link, tensor),
            // There was no connection before and none since: nobody has heard of it.
            Err(_) if !was_up && connection(core).1 == generation => {
                core.adopted.refused(&core.link, tensor);
            }
            Err(_) => core.adopted.given_up(&core.link, tensor),
        }
        info
    }
}

/// Whether there is a connection, and how many there were.
fn connection(core: &Core) -> (bool, u64) {
    let state = core.link.lock();
    (state.session.is_up(), state.session.generation())
}

/// Looks at memory and has the driver name it for other processes, when all work on it is done.
fn share_with(
    core: &Core,
    driver: &Driver,
    pointer: DevicePtr,
    bytes: u64,
    audience: Audience,
) -> Result<Shared> {
    let refused = |reason| Error::Adopt { address: pointer, reason };
    // An answer about this memory is a refusal; anything else is trouble with the driver.
    let about_memory = |error: CudaError, reason: fn(&CudaError) -> AdoptRefusal| match error.status
    {
        Status::INVALID_VALUE | Status::NOT_SUPPORTED | Status::NOT_PERMITTED => {
            refused(reason(&error))
        }
        _ => error.into(),
    };
    let range = MemoryRange::of(driver, pointer)
        .map_err(|error| about_memory(error, |_| AdoptRefusal::NoMemory))?;
    let plan = plan(&range, pointer, bytes, audience).map_err(refused)?;
    let device = GpuUuid(range.device.0);
    let context = core.cuda.context(device)?;
    let bound = context.bind()?;
    // Other memory belongs to no context.
    if plan.way == Way::Linear
        && result::pointer::context(driver.table(), plan.base.0)? != context.raw()
    {
        return Err(refused(AdoptRefusal::OtherContext));
    }
    context.synchronize()?;
    let (transport, fd) = match plan.way {
        Way::Virtual => {
            let fd = share::export_virtual(driver, plan.base)
                .map_err(|error| about_memory(error, |_| AdoptRefusal::NotOurs))?;
            (Transport::Vmm, Some(fd))
        }
        Way::Pool => {
            let private = |error: &CudaError| AdoptRefusal::PrivatePool { said: error.to_string() };
            let (fd, data) = share::export_pool_pointer(driver, plan.base)
                .map_err(|error| about_memory(error, private))?;
            (Transport::Mempool(data), Some(fd))
        }
        Way::Linear => {
            let handle = share::export_linear(driver, plan.base)
                .map_err(|error| about_memory(error, |_| AdoptRefusal::NotOurs))?;
            (Transport::Ipc(handle), None)
        }
    };
    drop(bound);
    Ok(Shared { context, device, plan, transport, fd })
}
