//! NVML's readings of the same devices. They need `nvmlInit`, not `cuInit`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use millpond_cuda::sys::{
    NvmlDevice, NvmlMemory, NvmlMemoryV2, NvmlPciInfo, NvmlStatus, NvmlUtilization, constants,
};

use super::lookup::CUDA_VERSION;
use super::{Out, opaque, put_text};
use crate::engine::board::{Device, board};
use crate::engine::system::to_u64;
use crate::readings::Readings;

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
pub(super) fn device(handle: NvmlDevice) -> Result<&'static Arc<Device>, NvmlStatus> {
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

/// What a card says of itself beside its memory.
fn readings(handle: NvmlDevice) -> Result<Readings, NvmlStatus> {
    device(handle)?;
    board().map(|board| board.config.readings).map_err(|_| NvmlStatus::DRIVER_NOT_LOADED)
}

fn put_reading(reading: Option<u32>, pointer: *mut c_uint) -> Result<(), NvmlStatus> {
    out(pointer)?.set(reading.ok_or(NvmlStatus::NOT_SUPPORTED)?);
    Ok(())
}

fn text(text: &str, buffer: *mut c_char, len: c_uint) -> Result<(), NvmlStatus> {
    if buffer.is_null() {
        return Err(NvmlStatus::INVALID_ARGUMENT);
    }
    let len = usize::try_from(len).map_err(|_| NvmlStatus::INVALID_ARGUMENT)?;
    // SAFETY: the functions below were promised a buffer of `len` bytes.
    if unsafe { put_text(text, buffer, len) } { Ok(()) } else { Err(NvmlStatus::INSUFFICIENT_SIZE) }
}

/// A text in a field of a structure, with its NUL.
fn fixed_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut field = [0; N];
    for (to, from) in field.iter_mut().take(N - 1).zip(text.bytes()) {
        *to = c_char::from_ne_bytes([from]);
    }
    field
}

macro_rules! nvml_entries {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, as NVML documents it.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that NVML documents for this call.
            pub unsafe extern "C" fn $name($($arg: $type),*) -> millpond_cuda::sys::NvmlStatus {
                super::nvml_call(stringify!($name), || $body)
            }
        )*
    };
}

pub(super) use nvml_entries;

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

    fn nvmlDeviceGetUtilizationRates(handle: NvmlDevice, utilization: *mut NvmlUtilization) {
        let readings = readings(handle)?;
        let gpu = readings.utilisation_percent.ok_or(NvmlStatus::NOT_SUPPORTED)?;
        let memory = readings.memory_percent.ok_or(NvmlStatus::NOT_SUPPORTED)?;
        out(utilization)?.set(NvmlUtilization { gpu, memory });
        Ok(())
    }

    fn nvmlDeviceGetTemperature(handle: NvmlDevice, sensor: c_uint, celsius: *mut c_uint) {
        let reading = readings(handle)?.temperature_celsius;
        if sensor != constants::NVML_TEMPERATURE_GPU {
            return Err(NvmlStatus::INVALID_ARGUMENT);
        }
        put_reading(reading, celsius)
    }

    fn nvmlDeviceGetPowerUsage(handle: NvmlDevice, milliwatts: *mut c_uint) {
        put_reading(readings(handle)?.power_milliwatts, milliwatts)
    }

    fn nvmlDeviceGetEnforcedPowerLimit(handle: NvmlDevice, milliwatts: *mut c_uint) {
        put_reading(readings(handle)?.power_limit_milliwatts, milliwatts)
    }

    fn nvmlDeviceGetFanSpeed(handle: NvmlDevice, percent: *mut c_uint) {
        put_reading(readings(handle)?.fan_percent, percent)
    }

    fn nvmlDeviceGetMemoryInfo(handle: NvmlDevice, memory: *mut NvmlMemory) {
        let device = device(handle)?;
        let memory = out(memory)?;
        let usage = device.usage().map_err(|_| NvmlStatus::UNKNOWN)?;
        let used = usage.used.min(usage.total);
        memory.set(NvmlMemory { total: usage.total, free: usage.total - used, used });
        Ok(())
    }

    fn nvmlDeviceGetMemoryInfo_v2(handle: NvmlDevice, memory: *mut NvmlMemoryV2) {
        let device = device(handle)?;
        if memory.is_null() {
            return Err(NvmlStatus::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and its first field was set as the caller promised.
        if unsafe { (&raw const (*memory).version).read_unaligned() } != NvmlMemoryV2::VERSION {
            return Err(NvmlStatus::FUNCTION_NOT_FOUND);
        }
        let usage = device.usage().map_err(|_| NvmlStatus::UNKNOWN)?;
        let used = usage.used.min(usage.total);
        let free = usage.total - used;
        let reading = NvmlMemoryV2 { total: usage.total, free, used, ..NvmlMemoryV2::default() };
        out(memory)?.set(reading);
        Ok(())
    }

    fn nvmlDeviceGetIndex(handle: NvmlDevice, index: *mut c_uint) {
        let device = device(handle)?;
        out(index)?.set(c_uint::try_from(device.index).unwrap_or(c_uint::MAX));
        Ok(())
    }

    fn nvmlDeviceGetPciInfo_v3(handle: NvmlDevice, pci: *mut NvmlPciInfo) {
        let device = device(handle)?;
        let pci = out(pci)?;
        let bus = c_uint::try_from(device.index).unwrap_or(c_uint::MAX);
        pci.set(NvmlPciInfo {
            bus_id_legacy: fixed_text(&format!("0000:{bus:02X}:00.0")),
            domain: 0,
            bus,
            device: 0,
            device_id: 0,
            subsystem_id: 0,
            bus_id: fixed_text(&format!("00000000:{bus:02X}:00.0")),
        });
        Ok(())
    }

    fn nvmlDeviceGetHandleByPciBusId_v2(id: *const c_char, device: *mut NvmlDevice) {
        let devices = devices()?;
        if id.is_null() {
            return Err(NvmlStatus::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and a C string as the caller promised.
        let wanted = unsafe { CStr::from_ptr(id) }.to_str().unwrap_or_default().to_ascii_uppercase();
        let (domain, place) = wanted.split_once(':').unwrap_or_default();
        let is_it = |device: &&Arc<Device>| place == format!("{:02X}:00.0", device.index);
        let found = devices.iter().find(is_it).filter(|_| u32::from_str_radix(domain, 16) == Ok(0));
        out(device)?.set(handle(found.ok_or(NvmlStatus::NOT_FOUND)?));
        Ok(())
    }

    fn nvmlInitWithFlags(_flags: c_uint) {
        board().map_err(|_| NvmlStatus::DRIVER_NOT_LOADED)?;
        STARTED.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn nvmlInternalGetExportTable(table: *mut *const c_void, _id: *const c_void) {
        // Private interfaces of NVIDIA's own tools: nobody else knows what they promise.
        out(table)?.set(std::ptr::null());
        Err(NvmlStatus::INVALID_ARGUMENT)
    }
}
