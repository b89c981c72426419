//! Reserved addresses and what is mapped there.

use crate::cuda_ffi::{AccessFlags, DevicePtr};
use crate::error::Result;
use crate::physical_memory::PhysicalMemoryHandle;
use std::ops::Deref;

/// Reserved addresses of a device. Dropping them unmaps what [`map_memory`] has put there, and
/// gives them back.
///
/// ```no_run
/// use candle_cuda_vmm::VirtualAddressRange;
///
/// # fn main() -> candle_cuda_vmm::Result<()> {
/// let range = VirtualAddressRange::new(1024 * 1024 * 1024, 2 * 1024 * 1024)?;
/// assert_eq!(range.base_address() % (2 * 1024 * 1024), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct VirtualAddressRange(millpond_elastic::VirtualAddressRange);

impl VirtualAddressRange {
    /// Reserves addresses.
    ///
    /// # Errors
    /// An alignment that is not a power of two; what the driver answers.
    pub fn new(size: usize, alignment: usize) -> Result<Self> {
        Ok(Self(millpond_elastic::VirtualAddressRange::new(size, alignment)?))
    }

    /// Takes a reservation over.
    ///
    /// # Safety
    /// The reservation is the caller's to give away, and has this size and alignment. What is
    /// mapped there already stays the caller's, and goes first.
    #[must_use]
    pub unsafe fn from_raw(ptr: DevicePtr, size: usize, alignment: usize) -> Self {
        // SAFETY: as for the caller.
        Self(unsafe { millpond_elastic::VirtualAddressRange::from_raw(ptr, size, alignment) })
    }

    /// The address at an offset.
    ///
    /// # Errors
    /// An offset outside.
    pub fn ptr_at_offset(&self, offset: usize) -> Result<DevicePtr> {
        Ok(self.0.ptr_at_offset(offset)?)
    }

    /// The reservation, which is the caller's from now on:
    /// [`mem_address_free`](crate::cuda_ffi::mem_address_free) gives it back, after what is mapped
    /// there is unmapped.
    #[must_use]
    pub fn into_raw(self) -> (DevicePtr, usize) {
        self.0.into_raw()
    }
}

/// Its addresses, its size and its alignment are those of the engine's.
impl Deref for VirtualAddressRange {
    type Target = millpond_elastic::VirtualAddressRange;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Maps memory at an offset of a range. A handle is mapped whole: every known driver refuses a
/// part of one.
///
/// # Errors
/// A part that is empty or outside of the range or the memory; what the driver answers.
pub fn map_memory(
    virtual_range: &VirtualAddressRange,
    offset: usize,
    physical_handle: &PhysicalMemoryHandle,
    physical_offset: usize,
    size: usize,
) -> Result<()> {
    Ok(millpond_elastic::map_memory(virtual_range, offset, physical_handle, physical_offset, size)?)
}

/// Unmaps a run of whole handles from a range. The caller has seen that no work uses it any more.
///
/// # Errors
/// A part that is empty or outside of the range; what the driver answers.
pub fn unmap_memory(virtual_range: &VirtualAddressRange, offset: usize, size: usize) -> Result<()> {
    Ok(millpond_elastic::unmap_memory(virtual_range, offset, size)?)
}

/// Says what a device may do with a mapped part of a range.
///
/// # Errors
/// A part that is empty or outside of the range; what the driver answers.
pub fn set_memory_access(
    virtual_range: &VirtualAddressRange,
    offset: usize,
    size: usize,
    device_ordinal: i32,
    flags: AccessFlags,
) -> Result<()> {
    Ok(millpond_elastic::set_memory_access(virtual_range, offset, size, device_ordinal, flags)?)
}
