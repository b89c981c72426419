//! Memory that is not shared by handle: plain, pitched, managed.

use crate::error::CudaError;
use crate::sys::{CUdeviceptr, CudaTable};

/// `cuMemAlloc` in the current context.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_CONTEXT` when this thread has none.
pub fn alloc(table: &CudaTable, bytes: usize) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuMemAlloc_v2(&raw mut address, bytes)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes")))?;
    Ok(address)
}

/// `cuMemAllocPitch` in the current context: the address, and the bytes from one row to the next.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_VALUE` for an element size other than 4, 8 and 16.
pub fn alloc_pitch(
    table: &CudaTable,
    width: usize,
    height: usize,
    element: u32,
) -> Result<(CUdeviceptr, usize), CudaError> {
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: both out-pointers are valid for the call.
    unsafe {
        call!(table, cuMemAllocPitch_v2(&raw mut address, &raw mut pitch, width, height, element))
    }
    .map_err(|error| error.with_detail(format!("requested {height} rows of {width} bytes")))?;
    Ok((address, pitch))
}

/// `cuMemAllocManaged` in the current context.
///
/// # Errors
/// `OUT_OF_MEMORY`; `INVALID_VALUE` for other flags than global or host.
pub fn alloc_managed(
    table: &CudaTable,
    bytes: usize,
    flags: u32,
) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuMemAllocManaged(&raw mut address, bytes, flags)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} managed bytes")))?;
    Ok(address)
}

/// `cuMemFree`.
///
/// # Errors
/// `INVALID_VALUE` for an address that `alloc` did not return.
///
/// # Safety
/// The caller owns the memory, and no work of any stream uses it any more.
pub unsafe fn free(table: &CudaTable, address: CUdeviceptr) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the memory.
    unsafe { call!(table, cuMemFree_v2(address)) }
}
