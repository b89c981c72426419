//! The driver's calls for virtual memory. They are the engine's, with this crate's errors.
//!
//! Everything above them owns what it stands for; who calls them owns it by hand.

use crate::error::Result;
use millpond_elastic::cuda_ffi as engine;

pub use millpond_elastic::cuda_ffi::{
    AccessFlags, AllocationProp, DevicePtr, Granularity, MemGenericAllocationHandle,
    MemoryLocationType,
};

/// Makes physical memory.
///
/// # Errors
/// No driver; what the driver answers, such as a size that is not a multiple of the granularity.
///
/// # Safety
/// The caller gives the handle back with [`mem_release`], once.
pub unsafe fn mem_create(size: usize, prop: &AllocationProp) -> Result<MemGenericAllocationHandle> {
    // SAFETY: as for the caller.
    Ok(unsafe { engine::mem_create(size, prop) }?)
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
    Ok(unsafe { engine::mem_release(handle) }?)
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
    // SAFETY: as for the caller.
    Ok(unsafe { engine::mem_address_reserve(size, alignment, addr) }?)
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
    Ok(unsafe { engine::mem_address_free(ptr, size) }?)
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
    Ok(unsafe { engine::mem_map(ptr, size, offset, handle) }?)
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
    Ok(unsafe { engine::mem_unmap(ptr, size) }?)
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
    // SAFETY: as for the caller.
    Ok(unsafe { engine::mem_set_access(ptr, size, device_ordinal, flags) }?)
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
    // SAFETY: as for the caller.
    Ok(unsafe { engine::mem_get_allocation_granularity(prop, option) }?)
}

/// Sizes on a device should be multiples of this.
///
/// # Errors
/// No driver; a device that does not exist.
pub fn get_recommended_granularity(device_ordinal: i32) -> Result<usize> {
    Ok(engine::get_recommended_granularity(device_ordinal)?)
}

/// Sizes on a device must be multiples of this.
///
/// # Errors
/// No driver; a device that does not exist.
pub fn get_minimum_granularity(device_ordinal: i32) -> Result<usize> {
    Ok(engine::get_minimum_granularity(device_ordinal)?)
}
