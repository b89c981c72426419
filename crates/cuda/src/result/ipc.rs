//! Memory and events of other processes by legacy handles: 64 bytes that mean something while their
//! maker lives.

use crate::error::CudaError;
use crate::sys::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CudaTable, constants};
use std::ffi::c_char;
use std::ptr;

/// The bytes of a handle.
pub type HandleBytes = [u8; 64];

fn from_c(bytes: [c_char; 64]) -> HandleBytes {
    bytes.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()))
}

fn to_c(bytes: &HandleBytes) -> [c_char; 64] {
    bytes.map(|byte| c_char::from_ne_bytes([byte]))
}

/// `cuIpcGetMemHandle`.
///
/// # Errors
/// `INVALID_VALUE` for what is not memory of `cuMemAlloc` of this process.
pub fn memory_handle(table: &CudaTable, address: CUdeviceptr) -> Result<HandleBytes, CudaError> {
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    // SAFETY: the out-pointer is valid for the call; the address is only looked up.
    unsafe { call!(table, cuIpcGetMemHandle(&raw mut handle, address)) }
        .map_err(|error| error.with_detail(format!("address {address:#x}")))?;
    Ok(from_c(handle.reserved))
}

/// `cuIpcOpenMemHandle` in the current context. Each call is one more to close.
///
/// # Errors
/// `INVALID_VALUE` when the memory was freed, `INVALID_HANDLE` when its process has ended,
/// `INVALID_CONTEXT` for memory of this process.
pub fn open_memory(table: &CudaTable, handle: &HandleBytes) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    let handle = CUipcMemHandle { reserved: to_c(handle) };
    let flags = constants::IPC_LAZY_PEER_ACCESS;
    // SAFETY: the out-pointer is valid for the call; the driver checks the bytes.
    unsafe { call!(table, cuIpcOpenMemHandle_v2(&raw mut address, handle, flags)) }?;
    Ok(address)
}

/// `cuIpcCloseMemHandle`.
///
/// # Errors
/// `INVALID_VALUE` for an address that is not open.
///
/// # Safety
/// The caller gives back one opening of its own, and no work uses the memory any more.
pub unsafe fn close_memory(table: &CudaTable, address: CUdeviceptr) -> Result<(), CudaError> {
    // SAFETY: the caller owns the opening.
    unsafe { call!(table, cuIpcCloseMemHandle(address)) }
        .map_err(|error| error.with_detail(format!("address {address:#x}")))
}

/// `cuIpcGetEventHandle`.
///
/// # Errors
/// `INVALID_HANDLE` for an event that was not made for other processes.
///
/// # Safety
/// `event` is alive.
pub unsafe fn event_handle(table: &CudaTable, event: CUevent) -> Result<HandleBytes, CudaError> {
    let mut handle = CUipcEventHandle { reserved: [0; 64] };
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the event.
    unsafe { call!(table, cuIpcGetEventHandle(&raw mut handle, event)) }?;
    Ok(from_c(handle.reserved))
}

/// `cuIpcOpenEventHandle` in the current context.
///
/// # Errors
/// What the driver answers to bytes that are no handle of an event.
pub fn open_event(table: &CudaTable, handle: &HandleBytes) -> Result<CUevent, CudaError> {
    let mut event = ptr::null_mut();
    let handle = CUipcEventHandle { reserved: to_c(handle) };
    // SAFETY: the out-pointer is valid for the call; the driver checks the bytes.
    unsafe { call!(table, cuIpcOpenEventHandle(&raw mut event, handle)) }?;
    Ok(event)
}
