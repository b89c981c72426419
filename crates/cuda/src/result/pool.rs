//! Stream-ordered memory and the pools that it comes from.

use crate::error::CudaError;
use crate::sys::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolPtrExportData, CUmemoryPool,
    CUstream, CudaTable, PoolProperties, constants,
};
use std::ffi::{c_int, c_void};
use std::os::fd::OwnedFd;
use std::ptr;

/// `cuMemAllocAsync` from the current pool of the stream's device.
///
/// # Errors
/// `OUT_OF_MEMORY`.
///
/// # Safety
/// `stream` is null or a living stream.
pub unsafe fn alloc_async(
    table: &CudaTable,
    bytes: usize,
    stream: CUstream,
) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the stream.
    unsafe { call!(table, cuMemAllocAsync(&raw mut address, bytes, stream)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes")))?;
    Ok(address)
}

/// `cuMemAllocFromPoolAsync`.
///
/// # Errors
/// `OUT_OF_MEMORY`, also when the pool has its largest size.
///
/// # Safety
/// `pool` is alive, and `stream` is null or alive.
pub unsafe fn alloc_from_pool(
    table: &CudaTable,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the handles.
    unsafe { call!(table, cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, stream)) }
        .map_err(|error| error.with_detail(format!("requested {bytes} bytes")))?;
    Ok(address)
}

/// `cuMemFreeAsync`.
///
/// # Errors
/// `INVALID_VALUE` for an address that is not the start of an allocation.
///
/// # Safety
/// The caller owns the memory, all its uses come before this in the order of streams, and `stream`
/// is null or alive.
pub unsafe fn free_async(
    table: &CudaTable,
    address: CUdeviceptr,
    stream: CUstream,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for memory and stream.
    unsafe { call!(table, cuMemFreeAsync(address, stream)) }
}

/// `cuMemPoolCreate`.
///
/// # Errors
/// `INVALID_VALUE` for properties that no pool can have.
pub fn create(table: &CudaTable, properties: &PoolProperties) -> Result<CUmemoryPool, CudaError> {
    let mut pool = ptr::null_mut();
    // SAFETY: both pointers are valid for the call.
    unsafe { call!(table, cuMemPoolCreate(&raw mut pool, properties.as_raw())) }?;
    Ok(pool)
}

/// `cuMemPoolDestroy`: memory that is still allocated stays until it is freed.
///
/// # Errors
/// `INVALID_VALUE` for a device's default pool.
///
/// # Safety
/// The caller owns the pool and uses it no more.
pub unsafe fn destroy(table: &CudaTable, pool: CUmemoryPool) -> Result<(), CudaError> {
    // SAFETY: the caller owns the pool.
    unsafe { call!(table, cuMemPoolDestroy(pool)) }
}

/// `cuMemPoolTrimTo`: gives unused memory back until only so much is reserved.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `pool` is alive.
pub unsafe fn trim(table: &CudaTable, pool: CUmemoryPool, keep: usize) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the pool.
    unsafe { call!(table, cuMemPoolTrimTo(pool, keep)) }
}

/// `cuMemPoolGetAttribute` for one of the 64-bit attributes.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `pool` is alive, and `attribute` is a `constants::POOL_*` that has 64 bits.
pub unsafe fn bytes_attribute(
    table: &CudaTable,
    pool: CUmemoryPool,
    attribute: u32,
) -> Result<u64, CudaError> {
    let mut value = 0_u64;
    // SAFETY: the caller vouches for the pool and the width of the attribute.
    unsafe { call!(table, cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast())) }?;
    Ok(value)
}

/// `cuMemPoolSetAttribute` for one of the 64-bit attributes.
///
/// # Errors
/// `INVALID_VALUE` for one that cannot be set, or not to that.
///
/// # Safety
/// As [`bytes_attribute`].
pub unsafe fn set_bytes_attribute(
    table: &CudaTable,
    pool: CUmemoryPool,
    attribute: u32,
    mut value: u64,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the pool and the width of the attribute.
    unsafe { call!(table, cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast())) }
}

/// `cuMemPoolGetAttribute` for one of the reuse policies.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `pool` is alive, and `attribute` is a `constants::POOL_REUSE_*`.
pub unsafe fn flag_attribute(
    table: &CudaTable,
    pool: CUmemoryPool,
    attribute: u32,
) -> Result<bool, CudaError> {
    let mut value: c_int = 0;
    // SAFETY: the caller vouches for the pool and the width of the attribute.
    unsafe { call!(table, cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast())) }?;
    Ok(value != 0)
}

/// `cuMemPoolSetAttribute` for one of the reuse policies.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// As [`flag_attribute`].
pub unsafe fn set_flag_attribute(
    table: &CudaTable,
    pool: CUmemoryPool,
    attribute: u32,
    value: bool,
) -> Result<(), CudaError> {
    let mut value = c_int::from(value);
    // SAFETY: the caller vouches for the pool and the width of the attribute.
    unsafe { call!(table, cuMemPoolSetAttribute(pool, attribute, (&raw mut value).cast())) }
}

/// `cuMemPoolSetAccess`.
///
/// # Errors
/// `INVALID_VALUE`; `INVALID_DEVICE` for a device that cannot reach the pool's.
///
/// # Safety
/// `pool` is alive, and no other device uses memory that is taken from it here.
pub unsafe fn set_access(
    table: &CudaTable,
    pool: CUmemoryPool,
    access: &[CUmemAccessDesc],
) -> Result<(), CudaError> {
    // SAFETY: the slice is valid for the call; the caller vouches for the pool.
    unsafe { call!(table, cuMemPoolSetAccess(pool, access.as_ptr(), access.len())) }
}

/// `cuMemPoolGetAccess`: `CU_MEM_ACCESS_FLAGS_*` of a location.
///
/// # Errors
/// `INVALID_VALUE`.
///
/// # Safety
/// `pool` is alive.
pub unsafe fn access(
    table: &CudaTable,
    pool: CUmemoryPool,
    mut location: CUmemLocation,
) -> Result<u32, CudaError> {
    let mut flags = 0;
    // SAFETY: both pointers are valid for the call; the caller vouches for the pool.
    unsafe { call!(table, cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location)) }?;
    Ok(flags)
}

/// `cuMemPoolExportToShareableHandle` as a POSIX file descriptor, with close-on-exec set.
///
/// # Errors
/// `INVALID_VALUE` for a pool that was not made to be exported.
///
/// # Safety
/// `pool` is alive.
pub unsafe fn export_fd(table: &CudaTable, pool: CUmemoryPool) -> Result<OwnedFd, CudaError> {
    let mut fd: c_int = -1;
    let out = (&raw mut fd).cast::<c_void>();
    let kind = constants::HANDLE_POSIX_FD;
    // SAFETY: for this handle type the driver writes one `int` to the out-pointer; the caller
    // vouches for the pool.
    unsafe { call!(table, cuMemPoolExportToShareableHandle(out, pool, kind, 0)) }?;
    super::owned_fd("cuMemPoolExportToShareableHandle", fd)
}

/// `cuMemPoolImportFromShareableHandle` of a file descriptor, which stays the caller's.
///
/// # Errors
/// What the driver answers for an fd that is not one of its pools.
pub fn import_fd(
    table: &CudaTable,
    fd: c_int,
    handle_type: u32,
) -> Result<CUmemoryPool, CudaError> {
    let mut pool = ptr::null_mut();
    let number = usize::try_from(fd).unwrap_or(usize::MAX);
    let handle = ptr::without_provenance_mut(number);
    // SAFETY: the out-pointer is valid for the call, and the handle is only a number.
    unsafe {
        call!(table, cuMemPoolImportFromShareableHandle(&raw mut pool, handle, handle_type, 0))
    }?;
    Ok(pool)
}

/// `cuMemPoolExportPointer`.
///
/// # Errors
/// `INVALID_VALUE` for memory of no exportable pool.
///
/// # Safety
/// `address` is the start of a living allocation.
pub unsafe fn export_pointer(
    table: &CudaTable,
    address: CUdeviceptr,
) -> Result<CUmemPoolPtrExportData, CudaError> {
    let mut data = CUmemPoolPtrExportData { reserved: [0; 64] };
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the address.
    unsafe { call!(table, cuMemPoolExportPointer(&raw mut data, address)) }?;
    Ok(data)
}

/// `cuMemPoolImportPointer`.
///
/// # Errors
/// `INVALID_VALUE` for data of another pool.
///
/// # Safety
/// `pool` is alive and was imported, and `data` was exported from the same pool.
pub unsafe fn import_pointer(
    table: &CudaTable,
    pool: CUmemoryPool,
    mut data: CUmemPoolPtrExportData,
) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    // SAFETY: both pointers are valid for the call; the caller vouches for pool and data.
    unsafe { call!(table, cuMemPoolImportPointer(&raw mut address, pool, &raw mut data)) }?;
    Ok(address)
}

/// `cuDeviceGetDefaultMemPool`.
///
/// # Errors
/// `INVALID_DEVICE`; `NOT_SUPPORTED` where there are no pools.
pub fn default_of(table: &CudaTable, device: CUdevice) -> Result<CUmemoryPool, CudaError> {
    let mut pool = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGetDefaultMemPool(&raw mut pool, device)) }?;
    Ok(pool)
}

/// `cuDeviceGetMemPool`: the pool that [`alloc_async`] takes from.
///
/// # Errors
/// `INVALID_DEVICE`.
pub fn current_of(table: &CudaTable, device: CUdevice) -> Result<CUmemoryPool, CudaError> {
    let mut pool = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, cuDeviceGetMemPool(&raw mut pool, device)) }?;
    Ok(pool)
}

/// `cuDeviceSetMemPool`.
///
/// # Errors
/// `INVALID_VALUE` for a pool of another device.
///
/// # Safety
/// `pool` is alive.
pub unsafe fn set_current(
    table: &CudaTable,
    device: CUdevice,
    pool: CUmemoryPool,
) -> Result<(), CudaError> {
    // SAFETY: the caller vouches for the pool.
    unsafe { call!(table, cuDeviceSetMemPool(device, pool)) }
}
