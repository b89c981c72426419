//! Events.

use crate::error::CudaError;
use crate::sys::{CUevent, CUstream, CudaTable};
use std::ptr;

/// `cuEventCreate` in the current context.
///
/// # Errors
/// `INVALID_CONTEXT` when this thread has none.
pub fn create(table: &CudaTable, flags: u32) -> Result<CUevent, CudaError> {
    let mut event = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuEventCreate(&raw mut event, flags)) }?;
    Ok(event)
}

/// `cuEventDestroy`.
///
/// # Errors
/// Errors of earlier work.
///
/// # Safety
/// The caller owns the event and uses it no more.
pub unsafe fn destroy(table: &CudaTable, event: CUevent) -> Result<(), CudaError> {
    // SAFETY: the caller owns the event.
    unsafe { call!(table, cuEventDestroy_v2(event)) }
}

/// `cuEventRecord`.
///
/// # Errors
/// `INVALID_HANDLE` when the two belong to different contexts.
///
/// # Safety
/// `event` is alive, and `stream` is null or alive.
pub unsafe fn record(table: &CudaTable, event: CUevent, stream: CUstream) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for both handles.
    unsafe { call!(table, cuEventRecord(event, stream)) }
}

/// `cuEventQuery`.
///
/// # Errors
/// `NOT_READY` while the recorded work runs, else what it met.
///
/// # Safety
/// `event` is alive.
pub unsafe fn query(table: &CudaTable, event: CUevent) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the event.
    unsafe { call!(table, cuEventQuery(event)) }
}

/// `cuEventSynchronize`.
///
/// # Errors
/// What the recorded work met.
///
/// # Safety
/// `event` is alive.
pub unsafe fn synchronize(table: &CudaTable, event: CUevent) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the event.
    unsafe { call!(table, cuEventSynchronize(event)) }
}

/// `cuEventElapsedTime` in milliseconds.
///
/// # Errors
/// `NOT_READY` before both have happened; `INVALID_HANDLE` for events without timing.
///
/// # Safety
/// Both events are alive.
pub unsafe fn elapsed_ms(
    table: &CudaTable,
    start: CUevent,
    end: CUevent,
) -> Result<f32, CudaError> {
    let mut milliseconds = 0.0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the events.
    unsafe { call!(table, cuEventElapsedTime(&raw mut milliseconds, start, end)) }?;
    Ok(milliseconds)
}
