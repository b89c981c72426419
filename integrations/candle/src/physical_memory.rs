//! Physical memory that gives itself back.

use crate::cuda_ffi::MemGenericAllocationHandle;
use crate::device::of_candle;
use crate::error::Result;
use candle_core::Device;
use std::ops::Deref;

/// Physical memory of a device. Dropping it gives back its reference; what is mapped lives on.
///
/// ```no_run
/// use candle_core::Device;
/// use candle_cuda_vmm::PhysicalMemoryHandle;
///
/// # fn main() -> candle_cuda_vmm::Result<()> {
/// let device = Device::new_cuda(0)?;
/// let handle = PhysicalMemoryHandle::new(2 * 1024 * 1024, &device)?;
/// assert_eq!(handle.size(), 2 * 1024 * 1024);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PhysicalMemoryHandle(millpond_elastic::PhysicalMemoryHandle);

impl PhysicalMemoryHandle {
    /// Makes memory.
    ///
    /// # Errors
    /// A device without CUDA; a size that is 0 or not a multiple of the recommended granularity; what
    /// the driver answers.
    pub fn new(size: usize, device: &Device) -> Result<Self> {
        let (_, engine) = of_candle(device)?;
        Ok(Self(millpond_elastic::PhysicalMemoryHandle::new(size, &engine)?))
    }

    /// Takes a handle over.
    ///
    /// # Safety
    /// The handle is alive, is the caller's to give away, and has this size and device.
    #[must_use]
    pub unsafe fn from_raw(
        handle: MemGenericAllocationHandle,
        size: usize,
        device_ordinal: i32,
    ) -> Self {
        // SAFETY: as for the caller.
        let handle = unsafe {
            millpond_elastic::PhysicalMemoryHandle::from_raw(handle, size, device_ordinal)
        };
        Self(handle)
    }

    /// The raw handle, which is the caller's from now on:
    /// [`mem_release`](crate::cuda_ffi::mem_release) gives it back.
    #[must_use]
    pub fn into_raw(self) -> MemGenericAllocationHandle {
        self.0.into_raw()
    }
}

/// Its size, its device and its raw handle are those of the engine's.
impl Deref for PhysicalMemoryHandle {
    type Target = millpond_elastic::PhysicalMemoryHandle;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
