//! Devices by ordinal.

use super::text;
use crate::error::CudaError;
use crate::sys::{CUdevice, CUuuid, CudaTable};
use std::ffi::c_int;

/// `cuDeviceGetCount`.
///
/// # Errors
/// `NOT_INITIALIZED` before `cuInit`.
pub fn count(table: &CudaTable) -> Result<i32, CudaError> {
    let mut count: c_int = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGetCount(&raw mut count)) }?;
    Ok(count)
}

/// `cuDeviceGet`.
///
/// # Errors
/// `INVALID_DEVICE` for an ordinal out of range.
pub fn get(table: &CudaTable, ordinal: i32) -> Result<CUdevice, CudaError> {
    let mut device: CUdevice = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGet(&raw mut device, ordinal)) }?;
    Ok(device)
}

/// `cuDeviceGetName`.
///
/// # Errors
/// `INVALID_DEVICE` for a device that does not exist.
pub fn name(table: &CudaTable, device: CUdevice) -> Result<String, CudaError> {
    let mut buffer = [0_u8; 256];
    // SAFETY: the buffer is valid for writes of the length that is passed.
    unsafe { call!(table, cuDeviceGetName(buffer.as_mut_ptr().cast(), 256, device)) }?;
    Ok(text(&buffer))
}

/// `cuDeviceGetUuid`.
///
/// # Errors
/// `INVALID_DEVICE` for a device that does not exist.
pub fn uuid(table: &CudaTable, device: CUdevice) -> Result<[u8; 16], CudaError> {
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGetUuid_v2(&raw mut uuid, device)) }?;
    Ok(uuid.bytes.map(i8::cast_unsigned))
}

/// `cuDeviceTotalMem`.
///
/// # Errors
/// `INVALID_DEVICE` for a device that does not exist.
pub fn total_bytes(table: &CudaTable, device: CUdevice) -> Result<usize, CudaError> {
    let mut bytes = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceTotalMem_v2(&raw mut bytes, device)) }?;
    Ok(bytes)
}

/// `cuDeviceGetAttribute`.
///
/// # Errors
/// `INVALID_VALUE` for an attribute that the driver does not know.
pub fn attribute(table: &CudaTable, attribute: u32, device: CUdevice) -> Result<i32, CudaError> {
    let mut value: c_int = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGetAttribute(&raw mut value, attribute, device)) }?;
    Ok(value)
}

/// `cuDeviceGetPCIBusId`, for example `0000:19:00.0`.
///
/// # Errors
/// `INVALID_DEVICE` for a device that does not exist.
pub fn pci_bus_id(table: &CudaTable, device: CUdevice) -> Result<String, CudaError> {
    let mut buffer = [0_u8; 64];
    // SAFETY: the buffer is valid for writes of the length that is passed.
    unsafe { call!(table, cuDeviceGetPCIBusId(buffer.as_mut_ptr().cast(), 64, device)) }?;
    Ok(text(&buffer))
}
