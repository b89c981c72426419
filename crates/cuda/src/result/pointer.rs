//! What the driver knows about an address.

use crate::error::CudaError;
use crate::sys::{CUdeviceptr, CudaTable, constants};
use std::ffi::c_void;

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`: [`constants::MEMORY_TYPE_DEVICE`] for device memory.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn memory_type(table: &CudaTable, address: CUdeviceptr) -> Result<u32, CudaError> {
    let mut value = 0_u32;
    // SAFETY: this attribute is written as one `unsigned int`.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_MEMORY_TYPE, address) }?;
    Ok(value)
}

/// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn device_ordinal(table: &CudaTable, address: CUdeviceptr) -> Result<i32, CudaError> {
    let mut value = 0_i32;
    // SAFETY: this attribute is written as one `int`.
    unsafe {
        attribute(table, (&raw mut value).cast(), constants::POINTER_DEVICE_ORDINAL, address)
    }?;
    Ok(value)
}

/// `CU_POINTER_ATTRIBUTE_RANGE_START_ADDR`.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn range_start(table: &CudaTable, address: CUdeviceptr) -> Result<CUdeviceptr, CudaError> {
    let mut value: CUdeviceptr = 0;
    // SAFETY: this attribute is written as one `CUdeviceptr`.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_RANGE_START, address) }?;
    Ok(value)
}

/// `CU_POINTER_ATTRIBUTE_RANGE_SIZE`.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn range_bytes(table: &CudaTable, address: CUdeviceptr) -> Result<usize, CudaError> {
    let mut value = 0_usize;
    // SAFETY: this attribute is written as one `size_t`.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_RANGE_SIZE, address) }?;
    Ok(value)
}

/// # Safety
/// `value` is valid for a write of the attribute's type.
unsafe fn attribute(
    table: &CudaTable,
    value: *mut c_void,
    attribute: u32,
    address: CUdeviceptr,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the out-pointer; the address is only looked up.
    unsafe { call!(table, cuPointerGetAttribute(value, attribute, address)) }
        .map_err(|error| error.with_detail(format!("address {address:#x}")))
}
