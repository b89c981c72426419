//! The driver, opened when the first tensor is mapped.

use std::os::fd::BorrowedFd;
use std::sync::Mutex;

use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, Device, DeviceUuid, Driver, DriverChoice,
    Mapping, result,
};
use millpond_wire::{GpuUuid, Mode};

use crate::connection::lock;
use crate::slab_map::DeviceSide;
use crate::{Error, Result};

/// The driver of this process.
#[derive(Debug)]
pub(crate) struct CudaSide {
    opened: Mutex<Opened>,
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
        Self { opened: Mutex::new(Opened { driver, ..Opened::default() }) }
    }

    /// Opens the driver, and looks whether it sees the device that is wanted.
    pub(crate) fn prepare(&self, device: Option<GpuUuid>) -> Result<()> {
        let mut opened = lock(&self.opened);
        opened.open()?;
        device.map_or(Ok(()), |device| opened.device(device).map(drop))
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
pub(crate) struct MappedSlab {
    pub(crate) mapping: Mapping,
    /// The mapping alone would keep the memory. To give the handle back is a call to the driver,
    /// though, and who waits for a tensor should not wait for that as well.
    memory: Allocation,
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
        fd: BorrowedFd<'_>,
        bytes: u64,
        mode: Mode,
    ) -> Result<MappedSlab, CudaError> {
        // Where the driver cannot do so, the calls themselves say what is wrong.
        let _relaxed = context.driver().relax_capture();
        let memory = Allocation::import(context.driver(), fd, bytes)?;
        let range = AddressRange::reserve(context.driver(), bytes)?;
        let mapping = Mapping::map(context, &range, 0, &memory, access(mode))?;
        Ok(MappedSlab { mapping, memory })
    }

    fn synchronize(&self, context: &Context) -> Result<(), CudaError> {
        context.synchronize()
    }

    fn unmap(&self, slab: MappedSlab) -> Result<(), CudaError> {
        slab.mapping.unmap()?;
        slab.memory.release()
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
