//! Copies and fills, synchronous and stream-ordered.
//!
//! All of them work in the current context of this thread. The asynchronous ones return when the
//! work is queued: what they touch must live and stay mapped until the stream has passed them.

use crate::error::CudaError;
use crate::sys::{CUdeviceptr, CUstream, CudaTable};
use std::ffi::c_void;

/// `cuMemcpyHtoD_v2`: host to device.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words).
pub unsafe fn host_to_device(
    table: &CudaTable,
    target: CUdeviceptr,
    source: *const c_void,
    bytes: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyHtoD_v2(target, source, bytes)) }
}

/// `cuMemcpyDtoH_v2`: device to host.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words).
pub unsafe fn device_to_host(
    table: &CudaTable,
    target: *mut c_void,
    source: CUdeviceptr,
    bytes: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyDtoH_v2(target, source, bytes)) }
}

/// `cuMemcpyDtoD_v2`: device to device.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words).
pub unsafe fn device_to_device(
    table: &CudaTable,
    target: CUdeviceptr,
    source: CUdeviceptr,
    bytes: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyDtoD_v2(target, source, bytes)) }
}

/// `cuMemcpyHtoDAsync_v2`: host to device.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words), until the stream has passed the work. `stream` is null or a living stream of the current context.
pub unsafe fn host_to_device_async(
    table: &CudaTable,
    target: CUdeviceptr,
    source: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyHtoDAsync_v2(target, source, bytes, stream)) }
}

/// `cuMemcpyDtoHAsync_v2`: device to host.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words), until the stream has passed the work. `stream` is null or a living stream of the current context.
pub unsafe fn device_to_host_async(
    table: &CudaTable,
    target: *mut c_void,
    source: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyDtoHAsync_v2(target, source, bytes, stream)) }
}

/// `cuMemcpyDtoDAsync_v2`: device to device.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words), until the stream has passed the work. `stream` is null or a living stream of the current context.
pub unsafe fn device_to_device_async(
    table: &CudaTable,
    target: CUdeviceptr,
    source: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemcpyDtoDAsync_v2(target, source, bytes, stream)) }
}

/// `cuMemsetD8_v2`: `count` bytes.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words).
pub unsafe fn fill_u8(
    table: &CudaTable,
    target: CUdeviceptr,
    value: u8,
    count: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemsetD8_v2(target, value, count)) }
}

/// `cuMemsetD32_v2`: `count` words of 32 bits.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words).
pub unsafe fn fill_u32(
    table: &CudaTable,
    target: CUdeviceptr,
    value: u32,
    count: usize,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemsetD32_v2(target, value, count)) }
}

/// `cuMemsetD8Async`: `count` bytes.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words), until the stream has passed the work. `stream` is null or a living stream of the current context.
pub unsafe fn fill_u8_async(
    table: &CudaTable,
    target: CUdeviceptr,
    value: u8,
    count: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemsetD8Async(target, value, count, stream)) }
}

/// `cuMemsetD32Async`: `count` words of 32 bits.
///
/// # Errors
/// `INVALID_VALUE` for addresses that the driver does not know, and errors of earlier work.
///
/// # Safety
/// All ranges are valid for that many bytes (or words), until the stream has passed the work. `stream` is null or a living stream of the current context.
pub unsafe fn fill_u32_async(
    table: &CudaTable,
    target: CUdeviceptr,
    value: u32,
    count: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for all handles and ranges.
    unsafe { call!(table, cuMemsetD32Async(target, value, count, stream)) }
}
