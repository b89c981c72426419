//! NVML's lists of processes. Nobody draws here, and there is no MPS: those lists are empty.

use std::ffi::c_uint;

use millpond_cuda::sys::{NvmlDevice, NvmlProcessInfo, NvmlProcessInfoV1, NvmlStatus};

use super::nvml::{device, nvml_entries};
use crate::engine::processes::ProcessReading;

fn full(reading: &ProcessReading) -> NvmlProcessInfo {
    NvmlProcessInfo {
        pid: reading.pid,
        used_gpu_memory: reading.bytes,
        gpu_instance_id: c_uint::MAX,
        compute_instance_id: c_uint::MAX,
    }
}

fn short(reading: &ProcessReading) -> NvmlProcessInfoV1 {
    NvmlProcessInfoV1 { pid: reading.pid, used_gpu_memory: reading.bytes }
}

/// The processes with a context on a device. As on the card, one that never made a context is not
/// shown, whatever it holds.
fn computing(handle: NvmlDevice) -> Result<Vec<ProcessReading>, NvmlStatus> {
    let readings =
        device(handle)?.registry.with_processes(|processes, layout| processes.readings(layout));
    let readings = readings.map_err(|_| NvmlStatus::UNKNOWN)?;
    Ok(readings.into_iter().filter(|reading| reading.has_context).collect())
}

fn none(handle: NvmlDevice) -> Result<Vec<ProcessReading>, NvmlStatus> {
    device(handle).map(|_| Vec::new())
}

/// Writes a list into the program's memory; too little room is an error that says how much.
///
/// # Safety
/// `count` is null or valid for reading and writing, and `infos` is null or has room for as many as
/// `count` says.
unsafe fn put<T>(
    shown: &[ProcessReading],
    make: fn(&ProcessReading) -> T,
    count: *mut c_uint,
    infos: *mut T,
) -> Result<(), NvmlStatus> {
    if count.is_null() {
        return Err(NvmlStatus::INVALID_ARGUMENT);
    }
    // SAFETY: not null, and valid as the caller promised.
    let room = usize::try_from(unsafe { count.read() }).unwrap_or(0);
    // SAFETY: as above.
    unsafe { count.write(c_uint::try_from(shown.len()).unwrap_or(c_uint::MAX)) };
    if shown.len() > room {
        return Err(NvmlStatus::INSUFFICIENT_SIZE);
    }
    if infos.is_null() && !shown.is_empty() {
        return Err(NvmlStatus::INVALID_ARGUMENT);
    }
    for (index, reading) in shown.iter().enumerate() {
        // SAFETY: the program has room for `room` of them, and `index` is less.
        unsafe { infos.add(index).write(make(reading)) };
    }
    Ok(())
}

nvml_entries! {
    fn nvmlDeviceGetComputeRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1) {
        // SAFETY: as the caller promised.
        unsafe { put(&computing(device)?, short, count, infos) }
    }

    fn nvmlDeviceGetComputeRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&computing(device)?, full, count, infos) }
    }

    fn nvmlDeviceGetComputeRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&computing(device)?, full, count, infos) }
    }

    fn nvmlDeviceGetGraphicsRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, short, count, infos) }
    }

    fn nvmlDeviceGetGraphicsRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, full, count, infos) }
    }

    fn nvmlDeviceGetGraphicsRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, full, count, infos) }
    }

    fn nvmlDeviceGetMPSComputeRunningProcesses(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfoV1) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, short, count, infos) }
    }

    fn nvmlDeviceGetMPSComputeRunningProcesses_v2(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, full, count, infos) }
    }

    fn nvmlDeviceGetMPSComputeRunningProcesses_v3(device: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        // SAFETY: as the caller promised.
        unsafe { put(&none(device)?, full, count, infos) }
    }
}
