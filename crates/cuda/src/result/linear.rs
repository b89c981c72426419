//! `cuMemAlloc` and `cuMemFree`.

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
