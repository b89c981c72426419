//! Contexts, and making one current.

use super::device::Device;
use super::driver::Driver;
use super::report_drop;
use crate::error::CudaError;
use crate::result;
use crate::sys::{CUcontext, CudaTable, Status};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A context of one device. Cheap to clone; streams, events and mappings keep it alive.
///
/// A context costs about 518 MiB of the card: make one only where work runs on the device.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    raw: CUcontext,
    /// Whether we hold a retain of the primary context that must be given back.
    retained: bool,
}

// SAFETY: a context is a handle that any thread may make current; the driver locks inside.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// Memory of a device, as `cuMemGetInfo` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that nobody uses.
    pub free_bytes: u64,
    /// Bytes of the device.
    pub total_bytes: u64,
}

/// What the driver says about a device's primary context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimaryState {
    /// Whether somebody in this process holds it.
    pub active: bool,
    /// `CU_CTX_*` flags.
    pub flags: u32,
}

impl Context {
    /// Retains the device's primary context, the one that PyTorch and the CUDA runtime use.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` when the context itself does not fit on the card.
    pub fn primary(device: &Device) -> Result<Self, CudaError> {
        let raw = result::context::retain_primary(device.driver().table(), device.raw())?;
        Ok(Self { inner: Arc::new(Inner { device: device.clone(), raw, retained: true }) })
    }

    /// The context that is current on this thread, whoever made it; `None` when there is none.
    ///
    /// A primary context is retained as well, so that it lives as long as this value. Any other
    /// one stays its maker's: it must outlive this value.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn current(driver: &Driver) -> Result<Option<Self>, CudaError> {
        let table = driver.table();
        let raw = match result::context::current(table) {
            Ok(raw) if raw.is_null() => return Ok(None),
            Ok(raw) => raw,
            // Nobody in this process has used the driver yet.
            Err(error) if error.status == Status::NOT_INITIALIZED => return Ok(None),
            Err(error) => return Err(error),
        };
        let ordinal = result::context::device(table)?;
        let device = Device::new(driver, ordinal)?;
        if result::context::primary_state(table, device.raw())?.1 {
            let primary = Self::primary(&device)?;
            if primary.inner.raw == raw {
                return Ok(Some(primary));
            }
        }
        Ok(Some(Self { inner: Arc::new(Inner { device, raw, retained: false }) }))
    }

    /// Whether the device's primary context exists in this process.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn primary_state(device: &Device) -> Result<PrimaryState, CudaError> {
        let (flags, active) =
            result::context::primary_state(device.driver().table(), device.raw())?;
        Ok(PrimaryState { active, flags })
    }

    /// The device of the context.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The driver of the context.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        self.inner.device.driver()
    }

    /// The raw context of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUcontext {
        self.inner.raw
    }

    pub(crate) fn table(&self) -> &CudaTable {
        self.driver().table()
    }

    /// Makes the context current on this thread until the guard is dropped. Every safe function
    /// does so itself; it is needed only for calls of the `result` layer, and to make many safe
    /// calls a little cheaper.
    ///
    /// # Errors
    /// `INVALID_CONTEXT`, `CONTEXT_IS_DESTROYED`.
    pub fn bind(&self) -> Result<ContextGuard<'_>, CudaError> {
        let pushed = result::context::current(self.table())? != self.inner.raw;
        if pushed {
            // SAFETY: the context is alive: we hold a retain, or its maker promised.
            unsafe { result::context::push(self.table(), self.inner.raw) }?;
        }
        Ok(ContextGuard { context: self, pushed, not_send: PhantomData })
    }

    /// Waits for all work of the context.
    ///
    /// # Errors
    /// What the work met, sticky errors included.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let _bound = self.bind()?;
        result::context::synchronize(self.table())
    }

    /// Free and total memory of the device, over all processes.
    ///
    /// # Errors
    /// Errors of earlier work.
    pub fn memory_info(&self) -> Result<MemoryInfo, CudaError> {
        let _bound = self.bind()?;
        let (free, total) = result::context::memory_info(self.table())?;
        Ok(MemoryInfo { free_bytes: free as u64, total_bytes: total as u64 })
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.inner.raw == other.inner.raw
    }
}

impl Eq for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.inner.device.uuid())
            .field("raw", &self.inner.raw)
            .field("retained", &self.inner.retained)
            .finish()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.retained {
            let table = self.device.driver().table();
            // SAFETY: gives back the one retain of the constructor.
            report_drop(unsafe { result::context::release_primary(table, self.device.raw()) });
        }
    }
}

/// Keeps a context current on this thread.
#[derive(Debug)]
pub struct ContextGuard<'a> {
    context: &'a Context,
    pushed: bool,
    not_send: PhantomData<*mut ()>,
}

impl ContextGuard<'_> {
    /// The context that is current.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }
}

impl Drop for ContextGuard<'_> {
    fn drop(&mut self) {
        if self.pushed {
            report_drop(result::context::pop(self.context.table()).map(drop));
        }
    }
}
