//! What the driver knows about an address.

use crate::error::CudaError;
use crate::sys::{CUcontext, CUdeviceptr, CUmemoryPool, CudaTable, constants};
use std::ffi::c_void;
use std::ptr;

/// `CU_POINTER_ATTRIBUTE_CONTEXT`: null for memory that belongs to no context.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn context(table: &CudaTable, address: CUdeviceptr) -> Result<CUcontext, CudaError> {
    let mut value: CUcontext = ptr::null_mut();
    // SAFETY: this attribute is written as one context.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_CONTEXT, address) }?;
    Ok(value)
}

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

/// `CU_POINTER_ATTRIBUTE_IS_MANAGED`.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn is_managed(table: &CudaTable, address: CUdeviceptr) -> Result<bool, CudaError> {
    flag(table, constants::POINTER_IS_MANAGED, address)
}

/// `CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE`: whether the memory has a legacy handle.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn is_legacy_ipc(table: &CudaTable, address: CUdeviceptr) -> Result<bool, CudaError> {
    flag(table, constants::POINTER_IS_LEGACY_IPC, address)
}

fn flag(table: &CudaTable, number: u32, address: CUdeviceptr) -> Result<bool, CudaError> {
    // Drivers write one byte or an `int` for what CUDA calls a boolean: there is room for both.
    let mut value = 0_u64;
    // SAFETY: the two callers ask for attributes that take no more than eight bytes.
    unsafe { attribute(table, (&raw mut value).cast(), number, address) }?;
    Ok(value.to_le_bytes()[0] != 0)
}

/// `CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES`: `CUmemAllocationHandleType` bits.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn handle_types(table: &CudaTable, address: CUdeviceptr) -> Result<u64, CudaError> {
    let mut value = 0_u64;
    // SAFETY: this attribute is written as 64 bits.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_HANDLE_TYPES, address) }?;
    Ok(value)
}

/// `CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE`: null for memory of no pool.
///
/// # Errors
/// `INVALID_VALUE` for an address that the driver does not know.
pub fn pool(table: &CudaTable, address: CUdeviceptr) -> Result<CUmemoryPool, CudaError> {
    let mut value: CUmemoryPool = ptr::null_mut();
    // SAFETY: this attribute is written as one pool.
    unsafe { attribute(table, (&raw mut value).cast(), constants::POINTER_POOL, address) }?;
    Ok(value)
}

/// `cuMemGetAddressRange`: the first address and the size of the memory around an address.
///
/// # Errors
/// `NOT_FOUND` for an address that is neither device memory nor pinned memory, and `INVALID_CONTEXT`
/// where no context is current.
pub fn address_range(
    table: &CudaTable,
    address: CUdeviceptr,
) -> Result<(CUdeviceptr, usize), CudaError> {
    let (mut base, mut bytes) = (0, 0);
    // SAFETY: both out-pointers are valid for the call; the address is only looked up.
    unsafe { call!(table, cuMemGetAddressRange_v2(&raw mut base, &raw mut bytes, address)) }
        .map_err(|error| error.with_detail(format!("address {address:#x}")))?;
    Ok((base, bytes))
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
