//! Physical memory that gives itself back.

use crate::cuda_ffi::{self, AllocationProp, MemGenericAllocationHandle};
use crate::device::{Device, ordinal_of};
use crate::error::{Result, VmmError};

/// Physical memory of a device. Dropping it gives back its reference; what is mapped lives on.
///
/// ```no_run
/// use candle_cuda_vmm::{Device, PhysicalMemoryHandle};
///
/// # fn main() -> candle_cuda_vmm::Result<()> {
/// let device = Device::new_cuda(0)?;
/// let handle = PhysicalMemoryHandle::new(2 * 1024 * 1024, &device)?;
/// assert_eq!(handle.size(), 2 * 1024 * 1024);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PhysicalMemoryHandle {
    handle: MemGenericAllocationHandle,
    size: usize,
    device_ordinal: i32,
}

impl PhysicalMemoryHandle {
    /// Makes memory.
    ///
    /// # Errors
    /// A device without CUDA; a size that is 0 or not a multiple of the recommended granularity; what the driver
    /// answers.
    pub fn new(size: usize, device: &Device) -> Result<Self> {
        let device_ordinal = ordinal_of(device)?;
        let required = cuda_ffi::get_recommended_granularity(device_ordinal)?;
        if size == 0 || !size.is_multiple_of(required) {
            return Err(VmmError::InvalidAlignment { actual: size, required });
        }
        // SAFETY: this value owns the handle, and its drop gives it back.
        let handle =
            unsafe { cuda_ffi::mem_create(size, &AllocationProp::device(device_ordinal)) }?;
        Ok(Self { handle, size, device_ordinal })
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
        Self { handle, size, device_ordinal }
    }

    /// Its size.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The device that it lies on.
    #[must_use]
    pub fn device_ordinal(&self) -> i32 {
        self.device_ordinal
    }

    /// The raw handle, which stays this value's.
    #[must_use]
    pub fn as_raw(&self) -> MemGenericAllocationHandle {
        self.handle
    }

    /// The raw handle, which is the caller's from now on: [`cuda_ffi::mem_release`] gives it back.
    #[must_use]
    pub fn into_raw(self) -> MemGenericAllocationHandle {
        let handle = self.handle;
        std::mem::forget(self);
        handle
    }
}

impl Drop for PhysicalMemoryHandle {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and this happens once.
        let released = unsafe { cuda_ffi::mem_release(self.handle) };
        // At the end of a process the driver is gone first; the error has no reader.
        drop(released);
    }
}
