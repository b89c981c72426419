//! Virtual memory management: physical allocations, address ranges, mappings.

use crate::error::CudaError;
use crate::sys::{
    AllocationProperties, CUdeviceptr, CUmemAccessDesc, CUmemGenericAllocationHandle,
    CUmemLocation, CudaTable, constants,
};
use cudarc::driver::sys::{CUmemAccess_flags, CUmemLocationType};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

/// `cuMemCreate`. Needs `cuInit` but no context.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_VALUE` for a size that is not a multiple of the granularity.
pub fn create(
    table: &CudaTable,
    bytes: usize,
    properties: &AllocationProperties,
) -> Result<CUmemGenericAllocationHandle, CudaError> {
    let mut handle = 0;
    // SAFETY: both pointers are valid for the call, and the mirrored struct has the same layout.
    unsafe { call!(table, cuMemCreate(&raw mut handle, bytes, properties.as_raw(), 0)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes")))?;
    Ok(handle)
}

/// `cuMemRelease`.
///
/// # Errors
/// `INVALID_VALUE` for a handle that is not alive.
///
/// # Safety
/// The caller gives back one reference of its own.
pub unsafe fn release(
    table: &CudaTable,
    handle: CUmemGenericAllocationHandle,
) -> Result<(), CudaError> {
    // SAFETY: the caller owns the reference.
    unsafe { call!(table, cuMemRelease(handle)) }
}

/// `cuMemGetAllocationGranularity` for one of [`constants::GRANULARITY_MINIMUM`] and
/// [`constants::GRANULARITY_RECOMMENDED`].
///
/// # Errors
/// `INVALID_VALUE` for properties that the driver refuses.
pub fn granularity(
    table: &CudaTable,
    properties: &AllocationProperties,
    option: u32,
) -> Result<usize, CudaError> {
    let mut bytes = 0;
    // SAFETY: both pointers are valid for the call, and the mirrored struct has the same layout.
    unsafe {
        call!(table, cuMemGetAllocationGranularity(&raw mut bytes, properties.as_raw(), option))
    }?;
    Ok(bytes)
}

/// `cuMemGetAllocationPropertiesFromHandle`.
///
/// # Errors
/// `INVALID_VALUE` for a handle that is not alive.
///
/// # Safety
/// `handle` is alive.
pub unsafe fn properties(
    table: &CudaTable,
    handle: CUmemGenericAllocationHandle,
) -> Result<AllocationProperties, CudaError> {
    let mut properties = AllocationProperties::zeroed();
    // SAFETY: the caller vouches for the handle; the driver writes plain integers into the
    // mirrored struct, which has the same layout.
    unsafe {
        call!(table, cuMemGetAllocationPropertiesFromHandle(properties.as_raw_mut(), handle))
    }?;
    Ok(properties)
}

/// `cuMemExportToShareableHandle` as a POSIX file descriptor, with close-on-exec set.
///
/// # Errors
/// `INVALID_VALUE` for an imported handle: only the creator can export.
///
/// # Safety
/// `handle` is alive.
pub unsafe fn export(
    table: &CudaTable,
    handle: CUmemGenericAllocationHandle,
) -> Result<OwnedFd, CudaError> {
    let mut fd: c_int = -1;
    // SAFETY: for this handle type the driver writes one `int` to the out-pointer; the caller
    // vouches for the handle.
    unsafe {
        call!(
            table,
            cuMemExportToShareableHandle(
                (&raw mut fd).cast::<c_void>(),
                handle,
                constants::HANDLE_POSIX_FD,
                0
            )
        )
    }?;
    super::owned_fd("cuMemExportToShareableHandle", fd)
}

/// `cuMemImportFromShareableHandle` from a POSIX file descriptor, which stays the caller's.
///
/// # Errors
/// The driver's answer to an fd that is not an exported allocation.
pub fn import(
    table: &CudaTable,
    fd: BorrowedFd<'_>,
) -> Result<CUmemGenericAllocationHandle, CudaError> {
    let mut handle = 0;
    // The driver takes the number itself in place of a pointer.
    let number: usize = fd.as_raw_fd().cast_unsigned().try_into().unwrap_or(usize::MAX);
    let os_handle = ptr::without_provenance_mut(number);
    // SAFETY: the out-pointer is valid for the call and the fd is open.
    unsafe {
        call!(
            table,
            cuMemImportFromShareableHandle(&raw mut handle, os_handle, constants::HANDLE_POSIX_FD)
        )
    }?;
    Ok(handle)
}

/// `cuMemRetainAllocationHandle`: a new reference to what is mapped at an address.
///
/// # Errors
/// `INVALID_VALUE` where no VMM allocation is mapped.
pub fn retain(
    table: &CudaTable,
    address: CUdeviceptr,
) -> Result<CUmemGenericAllocationHandle, CudaError> {
    let mut handle = 0;
    let number = crate::to_usize(address);
    // SAFETY: the driver looks the address up in its own tables and does not dereference it.
    unsafe {
        call!(
            table,
            cuMemRetainAllocationHandle(&raw mut handle, ptr::without_provenance_mut(number))
        )
    }
    .map_err(|error| error.with_detail(format!("address {address:#x}")))?;
    Ok(handle)
}

/// `cuMemAddressReserve`; 0 as alignment or wanted address means "any".
///
/// # Errors
/// `OUT_OF_MEMORY` when the address space has no such gap; `INVALID_VALUE` for odd sizes.
pub fn reserve(
    table: &CudaTable,
    bytes: usize,
    alignment: usize,
    wanted: CUdeviceptr,
) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuMemAddressReserve(&raw mut address, bytes, alignment, wanted, 0)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes of addresses")))?;
    Ok(address)
}

/// `cuMemAddressFree`.
///
/// # Errors
/// `INVALID_VALUE` for anything but a whole reservation.
///
/// # Safety
/// The caller owns the reservation, and nothing uses addresses in it any more.
pub unsafe fn free(table: &CudaTable, address: CUdeviceptr, bytes: usize) -> Result<(), CudaError> {
    // SAFETY: the caller owns the reservation.
    unsafe { call!(table, cuMemAddressFree(address, bytes)) }
        .map_err(|error| error.with_detail(format!("{bytes} bytes at {address:#x}")))
}

/// `cuMemMap`: a handle is mapped whole, so `offset` is 0 in all correct uses.
///
/// # Errors
/// `NOT_SUPPORTED` for a part of a handle; the driver's answer to an occupied range.
///
/// # Safety
/// The caller owns the addresses and the handle is alive.
pub unsafe fn map(
    table: &CudaTable,
    address: CUdeviceptr,
    bytes: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for range and handle.
    unsafe { call!(table, cuMemMap(address, bytes, offset, handle, 0)) }
        .map_err(|error| error.with_detail(format!("{bytes} bytes at {address:#x}")))
}

/// `cuMemUnmap`: one or more whole mappings that lie side by side.
///
/// # Errors
/// `INVALID_VALUE` for anything else.
///
/// # Safety
/// The caller owns the mappings, and no work of any stream uses them any more.
pub unsafe fn unmap(
    table: &CudaTable,
    address: CUdeviceptr,
    bytes: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the mappings.
    unsafe { call!(table, cuMemUnmap(address, bytes)) }
        .map_err(|error| error.with_detail(format!("{bytes} bytes at {address:#x}")))
}

/// `cuMemSetAccess` for one device, over one or more mappings that lie side by side.
///
/// # Errors
/// `INVALID_VALUE` where nothing is mapped.
///
/// # Safety
/// The caller owns the mappings, and no running work needs more access than is left.
pub unsafe fn set_access(
    table: &CudaTable,
    address: CUdeviceptr,
    bytes: usize,
    ordinal: i32,
    writable: bool,
) -> Result<(), CudaError> {
    let flags = if writable {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    } else {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ
    };
    // SAFETY: as for the caller.
    unsafe { set_flags(table, address, bytes, ordinal, flags) }
}

/// `cuMemSetAccess` that leaves a device no access at all.
///
/// # Errors
/// As for [`set_access`].
///
/// # Safety
/// As for [`set_access`].
pub unsafe fn withdraw_access(
    table: &CudaTable,
    address: CUdeviceptr,
    bytes: usize,
    ordinal: i32,
) -> Result<(), CudaError> {
    let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
    // SAFETY: as for the caller.
    unsafe { set_flags(table, address, bytes, ordinal, flags) }
}

/// # Safety
/// As for [`set_access`].
unsafe fn set_flags(
    table: &CudaTable,
    address: CUdeviceptr,
    bytes: usize,
    ordinal: i32,
    flags: CUmemAccess_flags,
) -> Result<(), CudaError> {
    let description = CUmemAccessDesc { location: device_location(ordinal), flags };
    // SAFETY: the description is valid for the call; the caller vouches for the mappings.
    unsafe { call!(table, cuMemSetAccess(address, bytes, &raw const description, 1)) }
        .map_err(|error| error.with_detail(format!("{bytes} bytes at {address:#x}")))
}

/// `cuMemGetAccess`: the `ACCESS_*` flags that a device has at an address.
///
/// # Errors
/// `INVALID_VALUE` where nothing is mapped.
pub fn access(table: &CudaTable, address: CUdeviceptr, ordinal: i32) -> Result<u64, CudaError> {
    let mut flags = 0;
    let location = device_location(ordinal);
    // SAFETY: both pointers are valid for the call.
    unsafe { call!(table, cuMemGetAccess(&raw mut flags, &raw const location, address)) }?;
    Ok(flags)
}

const fn device_location(ordinal: i32) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: ordinal }
}
