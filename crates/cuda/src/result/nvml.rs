//! NVML: readings about the card.

use super::text;
use crate::error::NvmlError;
use crate::sys::{
    NvmlDevice, NvmlMemory, NvmlProcessInfo, NvmlStatus, NvmlTable, NvmlUtilization, constants,
};
use std::ffi::{CStr, c_int, c_uint};
use std::ptr;

macro_rules! call {
    ($table:expr, $name:ident ( $( $argument:expr ),* $(,)? )) => {
        NvmlError::check(stringify!($name), ($table.$name)($( $argument ),*))
    };
}

/// `nvmlInit`, counted by the library.
///
/// # Errors
/// `DRIVER_NOT_LOADED`, `NO_PERMISSION`, `LIB_RM_VERSION_MISMATCH`.
pub fn init(table: &NvmlTable) -> Result<(), NvmlError> {
    // SAFETY: no pointers.
    unsafe { call!(table, nvmlInit_v2()) }
}

/// `nvmlShutdown`.
///
/// # Errors
/// `UNINITIALIZED`.
///
/// # Safety
/// The caller gives back one [`init`] of its own and uses no device handle after the last one.
pub unsafe fn shutdown(table: &NvmlTable) -> Result<(), NvmlError> {
    // SAFETY: the caller owns the initialisation.
    unsafe { call!(table, nvmlShutdown()) }
}

/// `nvmlSystemGetDriverVersion`, for example `580.159.04`.
///
/// # Errors
/// `UNINITIALIZED`.
pub fn driver_version(table: &NvmlTable) -> Result<String, NvmlError> {
    let mut buffer = [0_u8; 80];
    // SAFETY: the buffer is valid for writes of the length that is passed.
    unsafe { call!(table, nvmlSystemGetDriverVersion(buffer.as_mut_ptr().cast(), 80)) }?;
    Ok(text(&buffer))
}

/// `nvmlSystemGetCudaDriverVersion`: 13000 is CUDA 13.0.
///
/// # Errors
/// `LIBRARY_NOT_FOUND` without libcuda.
pub fn cuda_version(table: &NvmlTable) -> Result<i32, NvmlError> {
    let mut version: c_int = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, nvmlSystemGetCudaDriverVersion_v2(&raw mut version)) }?;
    Ok(version)
}

/// `nvmlDeviceGetCount`.
///
/// # Errors
/// `UNINITIALIZED`.
pub fn count(table: &NvmlTable) -> Result<u32, NvmlError> {
    let mut count: c_uint = 0;
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, nvmlDeviceGetCount_v2(&raw mut count)) }?;
    Ok(count)
}

/// `nvmlDeviceGetHandleByIndex`. NVML's order is not CUDA's.
///
/// # Errors
/// `INVALID_ARGUMENT` for an index out of range.
pub fn device_by_index(table: &NvmlTable, index: u32) -> Result<NvmlDevice, NvmlError> {
    let mut device = ptr::null_mut();
    // SAFETY: the out-pointer is valid for the call.
    unsafe { call!(table, nvmlDeviceGetHandleByIndex_v2(index, &raw mut device)) }?;
    Ok(device)
}

/// `nvmlDeviceGetHandleByUUID` with text as `GPU-…`.
///
/// # Errors
/// `NOT_FOUND`.
pub fn device_by_uuid(table: &NvmlTable, uuid: &CStr) -> Result<NvmlDevice, NvmlError> {
    let mut device = ptr::null_mut();
    // SAFETY: name and out-pointer are valid for the call.
    unsafe { call!(table, nvmlDeviceGetHandleByUUID(uuid.as_ptr(), &raw mut device)) }?;
    Ok(device)
}

/// `nvmlDeviceGetUUID`, as `GPU-…`.
///
/// # Errors
/// `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn uuid(table: &NvmlTable, device: NvmlDevice) -> Result<String, NvmlError> {
    let mut buffer = [0_u8; 96];
    // SAFETY: the buffer is valid for that length; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetUUID(device, buffer.as_mut_ptr().cast(), 96)) }?;
    Ok(text(&buffer))
}

/// `nvmlDeviceGetName`.
///
/// # Errors
/// `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn name(table: &NvmlTable, device: NvmlDevice) -> Result<String, NvmlError> {
    let mut buffer = [0_u8; 96];
    // SAFETY: the buffer is valid for that length; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetName(device, buffer.as_mut_ptr().cast(), 96)) }?;
    Ok(text(&buffer))
}

/// `nvmlDeviceGetMemoryInfo`.
///
/// # Errors
/// `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn memory(table: &NvmlTable, device: NvmlDevice) -> Result<NvmlMemory, NvmlError> {
    let mut memory = NvmlMemory::default();
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetMemoryInfo(device, &raw mut memory)) }?;
    Ok(memory)
}

/// `nvmlDeviceGetUtilizationRates`.
///
/// # Errors
/// `NOT_SUPPORTED` under MIG, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn utilization(
    table: &NvmlTable,
    device: NvmlDevice,
) -> Result<NvmlUtilization, NvmlError> {
    let mut rates = NvmlUtilization::default();
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetUtilizationRates(device, &raw mut rates)) }?;
    Ok(rates)
}

/// `nvmlDeviceGetTemperature` of the GPU itself, in degrees Celsius.
///
/// # Errors
/// `NOT_SUPPORTED`, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn temperature(table: &NvmlTable, device: NvmlDevice) -> Result<u32, NvmlError> {
    let mut celsius: c_uint = 0;
    let sensor = constants::NVML_TEMPERATURE_GPU;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetTemperature(device, sensor, &raw mut celsius)) }?;
    Ok(celsius)
}

/// `nvmlDeviceGetPowerUsage`, in milliwatts.
///
/// # Errors
/// `NOT_SUPPORTED`, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn power(table: &NvmlTable, device: NvmlDevice) -> Result<u32, NvmlError> {
    let mut milliwatts: c_uint = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetPowerUsage(device, &raw mut milliwatts)) }?;
    Ok(milliwatts)
}

/// `nvmlDeviceGetEnforcedPowerLimit`, in milliwatts: the lowest of all limits that hold.
///
/// # Errors
/// `NOT_SUPPORTED`, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn power_limit(table: &NvmlTable, device: NvmlDevice) -> Result<u32, NvmlError> {
    let mut milliwatts: c_uint = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetEnforcedPowerLimit(device, &raw mut milliwatts)) }?;
    Ok(milliwatts)
}

/// `nvmlDeviceGetFanSpeed`, in percent of what the fan is made for.
///
/// # Errors
/// `NOT_SUPPORTED` for a card without a fan, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn fan(table: &NvmlTable, device: NvmlDevice) -> Result<u32, NvmlError> {
    let mut percent: c_uint = 0;
    // SAFETY: the out-pointer is valid for the call; the caller vouches for the device.
    unsafe { call!(table, nvmlDeviceGetFanSpeed(device, &raw mut percent)) }?;
    Ok(percent)
}

/// `nvmlDeviceGetComputeRunningProcesses`.
///
/// # Errors
/// `NO_PERMISSION`, `GPU_IS_LOST`.
///
/// # Safety
/// `device` came from this library since its initialisation.
pub unsafe fn processes(
    table: &NvmlTable,
    device: NvmlDevice,
) -> Result<Vec<NvmlProcessInfo>, NvmlError> {
    // Processes come and go between two calls, so the first guess is generous and it grows.
    let mut infos = vec![NvmlProcessInfo::default(); 64];
    loop {
        let mut count = c_uint::try_from(infos.len()).unwrap_or(c_uint::MAX);
        // SAFETY: the buffer is valid for `count` entries; the caller vouches for the device.
        let result = unsafe {
            call!(
                table,
                nvmlDeviceGetComputeRunningProcesses_v3(device, &raw mut count, infos.as_mut_ptr())
            )
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        match result {
            Ok(()) => {
                infos.truncate(count);
                return Ok(infos);
            }
            // A driver that keeps asking for more would keep us here: stop at an absurd number.
            Err(error)
                if error.status == NvmlStatus::INSUFFICIENT_SIZE && infos.len() < 1 << 20 =>
            {
                let len = count.clamp(infos.len() * 2, 1 << 20);
                infos.resize(len, NvmlProcessInfo::default());
            }
            Err(error) => return Err(error),
        }
    }
}
