//! Initialisation, version, error texts, symbol look-up, capture mode.

use crate::error::CudaError;
use crate::sys::{CudaTable, Status, constants};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// `cuInit`. Takes about 0.1 s the first time on a real driver.
///
/// # Errors
/// No device, no permission, or a driver that does not match its kernel module.
pub fn init(table: &CudaTable) -> Result<(), CudaError> {
    // SAFETY: no pointers; any thread may call it at any time.
    unsafe { call!(table, cuInit(0)) }
}

/// `cuDriverGetVersion`, which needs no initialisation: 13000 is CUDA 13.0.
///
/// # Errors
/// What the driver answers.
pub fn version(table: &CudaTable) -> Result<i32, CudaError> {
    let mut version: c_int = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDriverGetVersion(&raw mut version)) }?;
    Ok(version)
}

/// `cuGetErrorName`: the driver's own name for a code.
///
/// # Errors
/// `INVALID_VALUE` for a code that the driver does not know.
pub fn error_name(table: &CudaTable, status: Status) -> Result<String, CudaError> {
    let mut name: *const c_char = ptr::null();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuGetErrorName(status.0, &raw mut name)) }?;
    // SAFETY: on success the driver wrote the address of a constant string (or null).
    Ok(unsafe { constant_text(name) })
}

/// `cuGetErrorString`: the driver's own description of a code.
///
/// # Errors
/// `INVALID_VALUE` for a code that the driver does not know.
pub fn error_text(table: &CudaTable, status: Status) -> Result<String, CudaError> {
    let mut text: *const c_char = ptr::null();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuGetErrorString(status.0, &raw mut text)) }?;
    // SAFETY: on success the driver wrote the address of a constant string (or null).
    Ok(unsafe { constant_text(text) })
}

/// `cuGetProcAddress` (version 2): `None` when the driver has no such symbol for that version.
///
/// # Errors
/// What the driver answers other than "not found".
pub fn proc_address(
    table: &CudaTable,
    symbol: &CStr,
    cuda_version: i32,
) -> Result<Option<NonNull<c_void>>, CudaError> {
    let mut function = ptr::null_mut();
    let mut found = constants::PROC_ADDRESS_SUCCESS;
    // SAFETY: the name is NUL-terminated and both out-pointers are valid for the call.
    let result = unsafe {
        call!(
            table,
            cuGetProcAddress_v2(
                symbol.as_ptr(),
                &raw mut function,
                cuda_version,
                0,
                &raw mut found
            )
        )
    };
    match result {
        Ok(()) if found == constants::PROC_ADDRESS_SUCCESS => Ok(NonNull::new(function)),
        Ok(()) => Ok(None),
        Err(error) if error.status == Status::NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
}

/// `cuThreadExchangeStreamCaptureMode`: sets this thread's mode and returns the old one.
///
/// # Errors
/// `INVALID_VALUE` for an unknown mode.
pub fn exchange_capture_mode(table: &CudaTable, mode: u32) -> Result<u32, CudaError> {
    let mut exchanged = mode;
    // SAFETY: the in-out-pointer is valid for the call.
    unsafe { call!(table, cuThreadExchangeStreamCaptureMode(&raw mut exchanged)) }?;
    Ok(exchanged)
}

/// # Safety
/// `text` is null or the address of a NUL-terminated string that is never freed.
unsafe fn constant_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
