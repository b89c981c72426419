//! The driver, opened when the first tensor is mapped.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, Weak};

use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, Device, DevicePtr, DeviceSpan,
    DeviceUuid, Driver, DriverChoice, ForeignMemory, IpcEvent, Mapping, OpenedMemory, PoolMemory,
    result,
};
use millpond_wire::{GpuUuid, Mode, SlabId};

use crate::adopt::Kept;
use crate::connection::lock;
use crate::slab_map::{DeviceSide, Handle, Reach};
use crate::{Error, Result};

/// The driver of this process.
#[derive(Debug)]
pub(crate) struct CudaSide {
    opened: Mutex<Opened>,
    /// What is imported from pools. Two contexts share it: the driver gives the same address again, and
    /// takes it back for both.
    pooled: Mutex<HashMap<SlabId, Weak<PoolMemory>>>,
}

#[derive(Debug, Default)]
struct Opened {
    driver: Option<Driver>,
    devices: Vec<Device>,
    /// Primary contexts that we have retained.
    primaries: Vec<Context>,
}

impl CudaSide {
    /// With the driver that is given, or else the environment's choice.
    pub(crate) fn new(driver: Option<Driver>) -> Self {
        let opened = Opened { driver, ..Opened::default() };
        Self { opened: Mutex::new(opened), pooled: Mutex::default() }
    }

    /// Opens the driver, and looks whether it sees the device that is wanted.
    pub(crate) fn prepare(&self, device: Option<GpuUuid>) -> Result<()> {
        let mut opened = lock(&self.opened);
        opened.open()?;
        device.map_or(Ok(()), |device| opened.device(device).map(drop))
    }

    /// The driver, opened.
    pub(crate) fn driver(&self) -> Result<Driver> {
        lock(&self.opened).open()
    }

    /// Whether this is a primary context that we keep: what is mapped for where a thread has none.
    pub(crate) fn keeps(&self, context: &Context) -> bool {
        lock(&self.opened).primaries.contains(context)
    }

    /// Whether [`CudaSide::context`] would choose this one for its device; `kept` is what
    /// [`CudaSide::keeps`] said about it.
    ///
    /// A program may give its thread another context at any time, and nobody is told but the driver.
    /// So it is asked each time: about 10 ns, from the thread's own memory, without a lock and
    /// without the device.
    pub(crate) fn chooses(&self, context: &Context, kept: bool, device: GpuUuid) -> Result<bool> {
        let current = result::context::current(context.driver().table())?;
        if current == context.raw() || (current.is_null() && kept) {
            return Ok(true);
        }
        Ok(self.context(device)? == *context)
    }

    /// The context to map for: the calling thread's if it is of that device, else the device's
    /// primary one.
    pub(crate) fn context(&self, device: GpuUuid) -> Result<Context> {
        let mut opened = lock(&self.opened);
        let driver = opened.open()?;
        let wanted = opened.device(device)?;
        let current = result::context::current(driver.table())?;
        let is_wanted = |context: &&Context| context.device().uuid() == wanted.uuid();
        let mut primary = opened.primaries.iter().find(is_wanted).cloned();
        if primary.is_none() && (current.is_null() || Context::primary_state(&wanted)?.active) {
            primary = Some(opened.retain(&wanted)?);
        }
        if let Some(primary) = &primary
            && (current.is_null() || current == primary.raw())
        {
            return Ok(primary.clone());
        }
        match Context::current(&driver)? {
            Some(context) if is_wanted(&&context) => Ok(context),
            _ => primary.map_or_else(|| opened.retain(&wanted), Ok),
        }
    }
}

/// Primary contexts stay retained: to give one back is a call to the driver that may take long,
/// and this may run inside the drop of a tensor.
impl Drop for CudaSide {
    fn drop(&mut self) {
        std::mem::forget(std::mem::take(&mut lock(&self.opened).primaries));
    }
}

impl Opened {
    fn open(&mut self) -> Result<Driver> {
        let driver = match &self.driver {
            Some(driver) => driver.clone(),
            None => Driver::open(DriverChoice::from_env(), soft())?,
        };
        if self.devices.is_empty() {
            self.devices = driver.devices()?;
        }
        self.driver = Some(driver.clone());
        Ok(driver)
    }

    fn retain(&mut self, device: &Device) -> Result<Context> {
        let primary = Context::primary(device)?;
        self.primaries.push(primary.clone());
        Ok(primary)
    }

    fn device(&self, device: GpuUuid) -> Result<Device> {
        let found = self.devices.iter().find(|one| one.uuid() == DeviceUuid(device.0));
        found.cloned().ok_or(Error::DeviceNotVisible { device })
    }
}

#[cfg(feature = "soft")]
fn soft() -> Option<&'static millpond_cuda::sys::Provider> {
    Some(&millpond_softgpu::PROVIDER)
}

#[cfg(not(feature = "soft"))]
fn soft() -> Option<&'static millpond_cuda::sys::Provider> {
    None
}

fn access(mode: Mode) -> Access {
    match mode {
        Mode::ReadOnly => Access::ReadOnly,
        Mode::ReadWrite => Access::ReadWrite,
    }
}

/// A slab in this process's address space.
#[derive(Debug)]
pub(crate) enum MappedSlab {
    Vmm {
        mapping: Mapping,
        /// The mapping alone would keep the memory. To give the handle back is a call to the driver,
        /// though, and who waits for a tensor should not wait for that as well.
        memory: Allocation,
    },
    Pool(Arc<PoolMemory>),
    Opened(Opening),
    /// This process's own memory, with what owns it here.
    Own {
        memory: ForeignMemory,
        _kept: Arc<Kept>,
    },
}

/// Memory that was opened by its handle.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Those that somebody has asked for. Given back before the memory.
    events: Mutex<Vec<(Handle, IpcEvent)>>,
    memory: OpenedMemory,
}

impl Opening {
    /// The event with this handle, opened once.
    pub(crate) fn event(&self, handle: &Handle) -> Result<IpcEvent, CudaError> {
        let mut events = lock(&self.events);
        if let Some((_, event)) = events.iter().find(|(other, _)| other == handle) {
            return Ok(event.clone());
        }
        let context = self.memory.context();
        let _relaxed = context.driver().relax_capture();
        let event = IpcEvent::open(context, handle)?;
        events.push((*handle, event.clone()));
        Ok(event)
    }
}

impl MappedSlab {
    pub(crate) fn span(&self) -> DeviceSpan<'_> {
        match self {
            MappedSlab::Vmm { mapping, .. } => mapping.span(),
            MappedSlab::Pool(memory) => memory.span(),
            MappedSlab::Opened(opening) => opening.memory.span(),
            MappedSlab::Own { memory, .. } => memory.span(),
        }
    }
}

/// What the driver refuses to take back is still there, and stays.
fn stays<T>((kept, error): (T, CudaError)) -> CudaError {
    std::mem::forget(kept);
    error
}

impl DeviceSide for CudaSide {
    type Context = Context;
    type Mapping = MappedSlab;
    type Range = AddressRange;
    type Memory = Allocation;
    type Placed = Mapping;

    fn map(
        &self,
        context: &Context,
        slab: SlabId,
        reach: &Reach,
        bytes: u64,
        mode: Mode,
    ) -> Result<MappedSlab, CudaError> {
        // Where the driver cannot do so, the calls themselves say what is wrong.
        let _relaxed = context.driver().relax_capture();
        match reach {
            Reach::Vmm(fd) => {
                let memory = Allocation::import(context.driver(), fd.as_fd(), bytes)?;
                let range = AddressRange::reserve(context.driver(), bytes)?;
                let mapping = Mapping::map(context, &range, 0, &memory, access(mode))?;
                Ok(MappedSlab::Vmm { mapping, memory })
            }
            Reach::Mempool(fd, data) => {
                let mut pooled = lock(&self.pooled);
                if let Some(memory) = pooled.get(&slab).and_then(Weak::upgrade) {
                    return Ok(MappedSlab::Pool(memory));
                }
                let memory = Arc::new(PoolMemory::import(context, fd.as_fd(), data)?);
                pooled.insert(slab, Arc::downgrade(&memory));
                Ok(MappedSlab::Pool(memory))
            }
            Reach::Ipc(handle) => {
                let memory = OpenedMemory::open(context, handle)?;
                Ok(MappedSlab::Opened(Opening { events: Mutex::default(), memory }))
            }
            Reach::Own(kept) => {
                let memory = ForeignMemory::find(context, kept.base(), kept.bytes())?;
                Ok(MappedSlab::Own { memory, _kept: Arc::clone(kept) })
            }
        }
    }

    fn extent(slab: &MappedSlab) -> (DevicePtr, u64) {
        let span = slab.span();
        (span.pointer(), span.bytes())
    }

    fn synchronize(&self, context: &Context) -> Result<(), CudaError> {
        context.synchronize()
    }

    fn unmap(&self, slab: MappedSlab) -> Result<(), CudaError> {
        match slab {
            MappedSlab::Vmm { mapping, memory } => {
                mapping.unmap()?;
                memory.release()
            }
            MappedSlab::Pool(memory) => {
                let mut pooled = lock(&self.pooled);
                // Where it is not the last one, the work of another context may not be done.
                let Some(last) = Arc::into_inner(memory) else { return Ok(()) };
                pooled.retain(|_, one| one.strong_count() > 0);
                last.release_or_keep().map_err(stays)
            }
            MappedSlab::Opened(Opening { events, memory }) => {
                drop(events);
                memory.close_or_keep().map_err(stays)
            }
            MappedSlab::Own { .. } => Ok(()),
        }
    }

    fn reserve(&self, context: &Context, bytes: u64) -> Result<AddressRange, CudaError> {
        AddressRange::reserve(context.driver(), bytes)
    }

    fn import(
        &self,
        context: &Context,
        fd: BorrowedFd<'_>,
        bytes: u64,
    ) -> Result<Allocation, CudaError> {
        Allocation::import(context.driver(), fd, bytes)
    }

    fn place(
        &self,
        context: &Context,
        range: &AddressRange,
        offset: u64,
        memory: &Allocation,
        mode: Mode,
    ) -> Result<Mapping, CudaError> {
        Mapping::map(context, range, offset, memory, access(mode))
    }

    fn lift(&self, placed: Mapping) -> Result<(), (Mapping, CudaError)> {
        placed.unmap_or_keep()
    }

    fn release(&self, memory: Allocation) -> Result<(), CudaError> {
        memory.release()
    }

    fn undisturbing<R>(&self, work: impl FnOnce() -> R) -> R {
        let driver = lock(&self.opened).driver.clone();
        // Where the driver cannot do so, the work itself says what is wrong.
        let _relaxed = driver.as_ref().map(Driver::relax_capture);
        work()
    }
}
