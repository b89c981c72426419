//! Reserved addresses and what is mapped there.

use crate::cuda_ffi::{self, AccessFlags, DevicePtr};
use crate::error::{Result, VmmError};
use crate::index;
use crate::physical_memory::PhysicalMemoryHandle;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
pub struct VirtualAddressRange {
    ptr: DevicePtr,
    size: usize,
    alignment: usize,
    /// Sizes of what is mapped, by offset. The driver frees no addresses under which something is.
    mapped: Mutex<BTreeMap<usize, usize>>,
}

impl VirtualAddressRange {
    /// Reserves addresses.
    ///
    /// # Errors
    /// An alignment that is not a power of two; what the driver answers.
    pub fn new(size: usize, alignment: usize) -> Result<Self> {
        if !alignment.is_power_of_two() {
            let required = alignment.checked_next_power_of_two().unwrap_or(1);
            return Err(VmmError::InvalidAlignment { actual: alignment, required });
        }
        // SAFETY: this value owns the addresses, and its drop gives them back.
        let ptr = unsafe { cuda_ffi::mem_address_reserve(size, alignment, 0) }?;
        Ok(Self { ptr, size, alignment, mapped: Mutex::default() })
    }

    /// Takes a reservation over.
    ///
    /// # Safety
    /// The reservation is the caller's to give away, and has this size and alignment. What is
    /// mapped there already stays the caller's, and goes first.
    #[must_use]
    pub unsafe fn from_raw(ptr: DevicePtr, size: usize, alignment: usize) -> Self {
        Self { ptr, size, alignment, mapped: Mutex::default() }
    }

    /// First address.
    #[must_use]
    pub fn base_address(&self) -> usize {
        index(self.ptr)
    }

    /// Count of addresses.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The alignment that it was made with.
    #[must_use]
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// First address, as the driver's type.
    #[must_use]
    pub fn as_ptr(&self) -> DevicePtr {
        self.ptr
    }

    /// The address at an offset.
    ///
    /// # Errors
    /// An offset outside.
    pub fn ptr_at_offset(&self, offset: usize) -> Result<DevicePtr> {
        if offset >= self.size {
            return Err(VmmError::InvalidOffset { offset, size: 0, capacity: self.size });
        }
        Ok(self.ptr + offset as u64)
    }

    /// The reservation, which is the caller's from now on: [`cuda_ffi::mem_address_free`] gives it
    /// back, after what is mapped there is unmapped.
    #[must_use]
    pub fn into_raw(self) -> (DevicePtr, usize) {
        let raw = (self.ptr, self.size);
        std::mem::forget(self);
        raw
    }

    /// The address of a part that is not empty.
    fn part(&self, offset: usize, size: usize) -> Result<DevicePtr> {
        part(offset, size, self.size)?;
        Ok(self.ptr + offset as u64)
    }

    fn mapped(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for VirtualAddressRange {
    fn drop(&mut self) {
        let mapped = std::mem::take(&mut *self.mapped());
        for (offset, size) in mapped {
            // SAFETY: `map_memory` has mapped it here, and nobody can reach it through this value
            // any more. Work that still uses it faults on the device.
            drop(unsafe { cuda_ffi::mem_unmap(self.ptr + offset as u64, size) });
        }
        // SAFETY: the reservation is ours, and this happens once.
        drop(unsafe { cuda_ffi::mem_address_free(self.ptr, self.size) });
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
    let ptr = virtual_range.part(offset, size)?;
    part(physical_offset, size, physical_handle.size())?;
    let mut mapped = virtual_range.mapped();
    // SAFETY: the addresses are inside a reservation that the range owns, and the handle is alive.
    unsafe { cuda_ffi::mem_map(ptr, size, physical_offset, physical_handle.as_raw()) }?;
    mapped.insert(offset, size);
    Ok(())
}

/// Unmaps a run of whole handles from a range. The caller has seen that no work uses it any more.
///
/// # Errors
/// A part that is empty or outside of the range; what the driver answers.
pub fn unmap_memory(virtual_range: &VirtualAddressRange, offset: usize, size: usize) -> Result<()> {
    let ptr = virtual_range.part(offset, size)?;
    let mut mapped = virtual_range.mapped();
    // SAFETY: the addresses are inside a reservation that the range owns; the driver checks that
    // whole mappings lie there. Work that still uses them faults on the device.
    unsafe { cuda_ffi::mem_unmap(ptr, size) }?;
    mapped.retain(|at, _| !(offset..offset + size).contains(at));
    Ok(())
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
    let ptr = virtual_range.part(offset, size)?;
    // SAFETY: the addresses are inside a reservation that the range owns. Running work that loses a
    // right faults on the device.
    unsafe { cuda_ffi::mem_set_access(ptr, size, device_ordinal, flags) }
}

/// Refuses a part that is empty or not inside.
pub(crate) fn part(offset: usize, size: usize, capacity: usize) -> Result<()> {
    let is_inside = offset.checked_add(size).is_some_and(|end| end <= capacity);
    if size == 0 || !is_inside {
        return Err(VmmError::InvalidOffset { offset, size, capacity });
    }
    Ok(())
}
