//! NVML's readings of the same devices. They need `nvmlInit`, not `cuInit`.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use millpond_cuda::sys::{NvmlDevice, NvmlMemory, NvmlProcessInfo, NvmlStatus};

use super::lookup::CUDA_VERSION;
use super::{Out, nvml_call, opaque, put_text};
use crate::engine::board::{Device, board};
use crate::engine::system::to_u64;

/// What the driver says it is.
pub const DRIVER_VERSION: &str = "580.159.04-soft";

/// How often `nvmlInit` was called more than `nvmlShutdown`.
static STARTED: AtomicU32 = AtomicU32::new(0);

fn devices() -> Result<&'static [Arc<Device>], NvmlStatus> {
    if STARTED.load(Ordering::Acquire) == 0 {
        return Err(NvmlStatus::UNINITIALIZED);
    }
    board().map(|board| board.devices.as_slice()).map_err(|_| NvmlStatus::DRIVER_NOT_LOADED)
}

/// NVML's device is the ordinal plus one, as a pointer.
fn device(handle: NvmlDevice) -> Result<&'static Arc<Device>, NvmlStatus> {
    let devices = devices()?;
    handle
        .addr()
        .checked_sub(1)
        .and_then(|index| devices.get(index))
        .ok_or(NvmlStatus::INVALID_ARGUMENT)
}

fn handle(device: &Device) -> NvmlDevice {
    opaque(to_u64(device.index + 1))
}

fn out<T>(pointer: *mut T) -> Result<Out<T>, NvmlStatus> {
    // SAFETY: the functions below were promised pointers that are null or valid for writing.
    unsafe { Out::new(pointer) }.map_err(|_| NvmlStatus::INVALID_ARGUMENT)
}

fn text(text: &str, buffer: *mut c_char, len: c_uint) -> Result<(), NvmlStatus> {
    if buffer.is_null() {
        return Err(NvmlStatus::INVALID_ARGUMENT);
    }
    let len = usize::try_from(len).map_err(|_| NvmlStatus::INVALID_ARGUMENT)?;
    // SAFETY: the functions below were promised a buffer of `len` bytes.
    if unsafe { put_text(text, buffer, len) } { Ok(()) } else { Err(NvmlStatus::INSUFFICIENT_SIZE) }
}

macro_rules! nvml_entries {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, as NVML documents it.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that NVML documents for this call.
            pub unsafe extern "C" fn $name($($arg: $type),*) -> NvmlStatus {
                nvml_call(stringify!($name), || $body)
            }
        )*
    };
}

nvml_entries! {
    fn nvmlInit_v2() {
        board().map_err(|_| NvmlStatus::DRIVER_NOT_LOADED)?;
        STARTED.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn nvmlShutdown() {
        let less = |count: u32| count.checked_sub(1);
        STARTED.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).map(drop).map_err(|_| NvmlStatus::UNINITIALIZED)
    }

    fn nvmlSystemGetDriverVersion(version: *mut c_char, len: c_uint) {
        devices()?;
        text(DRIVER_VERSION, version, len)
    }

    fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) {
        out(version)?.set(CUDA_VERSION);
        Ok(())
    }

    fn nvmlDeviceGetCount_v2(count: *mut c_uint) {
        let devices = devices()?;
        out(count)?.set(c_uint::try_from(devices.len()).unwrap_or(c_uint::MAX));
        Ok(())
    }

    fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut NvmlDevice) {
        let devices = devices()?;
        let found = usize::try_from(index).ok().and_then(|index| devices.get(index));
        out(device)?.set(handle(found.ok_or(NvmlStatus::INVALID_ARGUMENT)?));
        Ok(())
    }

    fn nvmlDeviceGetHandleByUUID(uuid: *const c_char, device: *mut NvmlDevice) {
        let devices = devices()?;
        if uuid.is_null() {
            return Err(NvmlStatus::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and a C string as the caller promised.
        let wanted = unsafe { CStr::from_ptr(uuid) }.to_str().unwrap_or_default();
        let found = devices.iter().find(|device| device.uuid_text().is_ok_and(|text| text == wanted));
        out(device)?.set(handle(found.ok_or(NvmlStatus::NOT_FOUND)?));
        Ok(())
    }

    fn nvmlDeviceGetUUID(handle: NvmlDevice, uuid: *mut c_char, len: c_uint) {
        text(&device(handle)?.uuid_text().map_err(|_| NvmlStatus::UNKNOWN)?, uuid, len)
    }

    fn nvmlDeviceGetName(handle: NvmlDevice, name: *mut c_char, len: c_uint) {
        text(device(handle)?.profile.name, name, len)
    }

    fn nvmlDeviceGetMemoryInfo(handle: NvmlDevice, memory: *mut NvmlMemory) {
        let device = device(handle)?;
        let memory = out(memory)?;
        let usage = device.usage().map_err(|_| NvmlStatus::UNKNOWN)?;
        let used = usage.used.min(usage.total);
        memory.set(NvmlMemory { total: usage.total, free: usage.total - used, used });
        Ok(())
    }

    fn nvmlDeviceGetComputeRunningProcesses_v3(handle: NvmlDevice, count: *mut c_uint, infos: *mut NvmlProcessInfo) {
        let device = device(handle)?;
        if count.is_null() {
            return Err(NvmlStatus::INVALID_ARGUMENT);
        }
        let readings = device
            .registry
            .with_processes(|processes, layout| processes.readings(layout))
            .map_err(|_| NvmlStatus::UNKNOWN)?;
        // As on the card, a process that never made a context is not shown, whatever it holds.
        let shown: Vec<_> = readings.into_iter().filter(|reading| reading.has_context).collect();
        // SAFETY: not null, and valid for reading and writing as the caller promised.
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
            let info = NvmlProcessInfo {
                pid: reading.pid,
                used_gpu_memory: reading.bytes,
                gpu_instance_id: c_uint::MAX,
                compute_instance_id: c_uint::MAX,
            };
            // SAFETY: the program has room for `room` of them, and `index` is less.
            unsafe { infos.add(index).write(info) };
        }
        Ok(())
    }
}
