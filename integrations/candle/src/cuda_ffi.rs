//! The driver's calls for virtual memory.
//!
//! They work on the driver of this process, which the first call opens. Everything above them owns
//! what it stands for; who calls them owns it by hand.

use crate::driver::driver;
use crate::error::Result;
use millpond_cuda::result::mem;
use millpond_cuda::sys;
use millpond_cuda::sys::{AllocationProperties, constants};

pub use millpond_cuda::Granularity;

/// Where memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLocationType {
    /// On a device.
    Device,
}

/// What kind of memory to make. It can never leave the process.
#[derive(Debug, Clone)]
pub struct AllocationProp {
    /// Where the memory lies.
    pub location_type: MemoryLocationType,
    /// The device that it lies on.
    pub device_ordinal: i32,
}

impl AllocationProp {
    /// Memory on a device.
    #[must_use]
    pub fn device(device_ordinal: i32) -> Self {
        Self { location_type: MemoryLocationType::Device, device_ordinal }
    }

    fn to_raw(&self) -> AllocationProperties {
        AllocationProperties::private(self.device_ordinal)
    }
}

/// What a device may do with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessFlags {
    /// Nothing.
    None = 0,
    /// Read.
    Read = 1,
    /// Read and write.
    ReadWrite = 3,
}

/// A reference to physical memory.
pub type MemGenericAllocationHandle = sys::CUmemGenericAllocationHandle;

/// A device address.
pub type DevicePtr = sys::CUdeviceptr;

/// Makes physical memory.
///
/// # Errors
/// No driver; what the driver answers, such as a size that is not a multiple of the granularity.
///
/// # Safety
/// The caller gives the handle back with [`mem_release`], once.
pub unsafe fn mem_create(size: usize, prop: &AllocationProp) -> Result<MemGenericAllocationHandle> {
    Ok(mem::create(driver()?.table(), size, &prop.to_raw())?)
}

/// Gives a reference to physical memory back.
///
/// # Errors
/// What the driver answers.
///
/// # Safety
/// The reference is the caller's, and is not used again.
pub unsafe fn mem_release(handle: MemGenericAllocationHandle) -> Result<()> {
    // SAFETY: as for the caller.
    Ok(unsafe { mem::release(driver()?.table(), handle) }?)
}

/// Reserves addresses; 0 as the wanted address means any.
///
/// # Errors
/// What the driver answers.
///
/// # Safety
/// The caller gives the addresses back with [`mem_address_free`], once.
pub unsafe fn mem_address_reserve(
    size: usize,
    alignment: usize,
    addr: DevicePtr,
) -> Result<DevicePtr> {
    Ok(mem::reserve(driver()?.table(), size, alignment, addr)?)
}

/// Gives addresses back.
///
/// # Errors
/// What the driver answers to anything but a whole reservation without mappings.
///
/// # Safety
/// The reservation is the caller's, and nothing uses addresses in it any more.
pub unsafe fn mem_address_free(ptr: DevicePtr, size: usize) -> Result<()> {
    // SAFETY: as for the caller.
    Ok(unsafe { mem::free(driver()?.table(), ptr, size) }?)
}

/// Maps memory at an address. A handle is mapped whole: every known driver refuses a part of one.
///
/// # Errors
/// What the driver answers.
///
/// # Safety
/// The addresses are the caller's and the handle is alive.
pub unsafe fn mem_map(
    ptr: DevicePtr,
    size: usize,
    offset: usize,
    handle: MemGenericAllocationHandle,
) -> Result<()> {
    // SAFETY: as for the caller.
    Ok(unsafe { mem::map(driver()?.table(), ptr, size, offset, handle) }?)
}

/// Unmaps a run of whole handles.
///
/// # Errors
/// What the driver answers.
///
/// # Safety
/// The mappings are the caller's, and no work uses them any more.
pub unsafe fn mem_unmap(ptr: DevicePtr, size: usize) -> Result<()> {
    // SAFETY: as for the caller.
    Ok(unsafe { mem::unmap(driver()?.table(), ptr, size) }?)
}

/// Says what a device may do with a run of mappings.
///
/// # Errors
/// What the driver answers.
///
/// # Safety
/// The mappings are the caller's, and no running work needs more access than is left.
pub unsafe fn mem_set_access(
    ptr: DevicePtr,
    size: usize,
    device_ordinal: i32,
    flags: AccessFlags,
) -> Result<()> {
    let driver = driver()?;
    let table = driver.table();
    // SAFETY: as for the caller.
    let done = unsafe {
        match flags {
            AccessFlags::None => mem::withdraw_access(table, ptr, size, device_ordinal),
            AccessFlags::Read => mem::set_access(table, ptr, size, device_ordinal, false),
            AccessFlags::ReadWrite => mem::set_access(table, ptr, size, device_ordinal, true),
        }
    };
    Ok(done?)
}

/// The unit of sizes for memory of a kind.
///
/// # Errors
/// No driver; a device that does not exist.
///
/// # Safety
/// None is needed; the function is unsafe because its namesake is.
pub unsafe fn mem_get_allocation_granularity(
    prop: &AllocationProp,
    option: Granularity,
) -> Result<usize> {
    granularity(prop, option)
}

fn granularity(prop: &AllocationProp, option: Granularity) -> Result<usize> {
    let option = match option {
        Granularity::Minimum => constants::GRANULARITY_MINIMUM,
        Granularity::Recommended => constants::GRANULARITY_RECOMMENDED,
    };
    Ok(mem::granularity(driver()?.table(), &prop.to_raw(), option)?)
}

/// Sizes on a device should be multiples of this.
///
/// # Errors
/// No driver; a device that does not exist.
pub fn get_recommended_granularity(device_ordinal: i32) -> Result<usize> {
    granularity(&AllocationProp::device(device_ordinal), Granularity::Recommended)
}

/// Sizes on a device must be multiples of this.
///
/// # Errors
/// No driver; a device that does not exist.
pub fn get_minimum_granularity(device_ordinal: i32) -> Result<usize> {
    granularity(&AllocationProp::device(device_ordinal), Granularity::Minimum)
}
