//! Streams.

use crate::error::CudaError;
use crate::sys::{CUevent, CUstream, CudaTable};
use std::ptr;

/// `cuStreamCreate` in the current context.
///
/// # Errors
/// `INVALID_CONTEXT` when this thread has none.
pub fn create(table: &CudaTable, flags: u32) -> Result<CUstream, CudaError> {
    let mut stream = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuStreamCreate(&raw mut stream, flags)) }?;
    Ok(stream)
}

/// `cuStreamDestroy`: returns at once; queued work still runs.
///
/// # Errors
/// Errors of earlier work.
///
/// # Safety
/// The caller owns the stream and uses it no more.
pub unsafe fn destroy(table: &CudaTable, stream: CUstream) -> Result<(), CudaError> {
    // SAFETY: the caller owns the stream.
    unsafe { call!(table, cuStreamDestroy_v2(stream)) }
}

/// `cuStreamSynchronize`.
///
/// # Errors
/// What the work met.
///
/// # Safety
/// `stream` is null or alive.
pub unsafe fn synchronize(table: &CudaTable, stream: CUstream) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the stream.
    unsafe { call!(table, cuStreamSynchronize(stream)) }
}

/// `cuStreamQuery`.
///
/// # Errors
/// `NOT_READY` while work runs, else what the work met.
///
/// # Safety
/// `stream` is null or alive.
pub unsafe fn query(table: &CudaTable, stream: CUstream) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the stream.
    unsafe { call!(table, cuStreamQuery(stream)) }
}

/// `cuStreamGetId`: a number that no other stream of the process ever has, unlike a handle.
///
/// # Errors
/// `INVALID_CONTEXT` for a default stream when this thread has no context. `STREAM_CAPTURE_UNSUPPORTED` for a
/// stream that captures, whose capture is broken then.
///
/// # Safety
/// `stream` is null or alive.
pub unsafe fn id(table: &CudaTable, stream: CUstream) -> Result<u64, CudaError> {
    let mut id = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the stream.
    unsafe { call!(table, cuStreamGetId(stream, &raw mut id)) }?;
    Ok(id)
}

/// `cuStreamWaitEvent`: later work of the stream waits for the event.
///
/// # Errors
/// `INVALID_HANDLE`.
///
/// # Safety
/// `stream` is null or alive, and `event` is alive.
pub unsafe fn wait_event(
    table: &CudaTable,
    stream: CUstream,
    event: CUevent,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for both handles.
    unsafe { call!(table, cuStreamWaitEvent(stream, event, 0)) }
}
