//! Pinned host memory.

use crate::error::CudaError;
use crate::sys::CudaTable;
use std::ffi::c_void;
use std::ptr;

/// `cuMemHostAlloc`. Slow: 4 GiB take 1.9 s.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_CONTEXT` when this thread has none.
pub fn alloc(table: &CudaTable, bytes: usize, flags: u32) -> Result<*mut c_void, CudaError> {
    let mut address = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuMemHostAlloc(&raw mut address, bytes, flags)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes of pinned memory")))?;
    Ok(address)
}

/// `cuMemFreeHost`.
///
/// # Errors
/// `INVALID_VALUE` for an address that [`alloc`] did not return.
///
/// # Safety
/// The caller owns the memory; neither host nor device uses it any more.
pub unsafe fn free(table: &CudaTable, address: *mut c_void) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the memory.
    unsafe { call!(table, cuMemFreeHost(address)) }
}

/// `cuMemHostRegister`: pins memory that already exists.
///
/// # Errors
/// `HOST_MEMORY_ALREADY_REGISTERED`, `OUT_OF_MEMORY`.
///
/// # Safety
/// The range is mapped in this process until [`unregister`] was called.
pub unsafe fn register(
    table: &CudaTable,
    address: *mut c_void,
    bytes: usize,
    flags: u32,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the range.
    unsafe { call!(table, cuMemHostRegister_v2(address, bytes, flags)) }
        .map_err(|error| error.with_detail(format!("{bytes} bytes of host memory")))
}

/// `cuMemHostUnregister`.
///
/// # Errors
/// `HOST_MEMORY_NOT_REGISTERED`.
///
/// # Safety
/// The caller registered the range, and no work of any stream uses it any more.
pub unsafe fn unregister(table: &CudaTable, address: *mut c_void) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the range.
    unsafe { call!(table, cuMemHostUnregister(address)) }
}
