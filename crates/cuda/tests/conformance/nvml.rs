//! NVML beside the driver.

use crate::alone::alone;
use crate::extra::{NvmlExtra, need};
use crate::support::{Gpu, MIB, is_soft, observe_text, wait_until};
use millpond_cuda::result;
use millpond_cuda::sys::{
    self, NvmlMemoryV2, NvmlPciInfo, NvmlProcessInfo, NvmlProcessInfoV1, NvmlStatus,
};
use millpond_cuda::{DeviceUuid, DriverChoice, Nvml, NvmlDevice};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

/// NVML and the raw handle of the first device's card.
fn raw_card(gpu: &Gpu) -> (Nvml, sys::NvmlDevice) {
    let nvml = Nvml::open(&gpu.driver).unwrap();
    let name = CString::new(gpu.device.uuid().to_string()).unwrap();
    let device = result::nvml::device_by_uuid(nvml.table(), &name).unwrap();
    (nvml, device)
}

fn card(gpu: &Gpu) -> (Nvml, NvmlDevice) {
    let nvml = Nvml::open(&gpu.driver).unwrap();
    let device = nvml.device(gpu.device.uuid()).unwrap();
    (nvml, device)
}

#[test]
fn cards_are_found_by_uuid() {
    let gpu = Gpu::take();
    let (nvml, device) = card(&gpu);
    assert!(nvml.device_count().unwrap() >= 1);
    assert_eq!(device.uuid().unwrap(), gpu.device.uuid().to_string());
    assert_eq!(device.name().unwrap(), gpu.device.name());
    let unknown = nvml.device(DeviceUuid([9; 16])).unwrap_err();
    assert_eq!(unknown.status, NvmlStatus::NOT_FOUND);
    assert!(!nvml.driver_version().unwrap().is_empty());
    observe_text("nvmlSystemGetDriverVersion", nvml.driver_version().unwrap());
    assert_eq!(
        millpond_cuda::result::nvml::cuda_version(nvml.table()).unwrap(),
        gpu.driver.version().0
    );
}

#[test]
fn memory_agrees_with_the_driver() {
    let gpu = Gpu::take();
    let (_nvml, device) = card(&gpu);
    let total = gpu.device.total_bytes();
    let memory = device.memory().unwrap();
    observe_text(
        "nvmlDeviceGetMemoryInfo total / cuDeviceTotalMem",
        format!("{} / {total}", memory.total_bytes),
    );
    assert!(memory.total_bytes.abs_diff(total) < total / 20);
    assert!(memory.used_bytes + memory.free_bytes <= memory.total_bytes);

    let before = memory.used_bytes;
    let allocation = gpu.create(64 * MIB);
    let rise = device.memory().unwrap().used_bytes.saturating_sub(before);
    assert!((64 * MIB..80 * MIB).contains(&rise), "rose by {rise}");
    drop(allocation);
    wait_until("NVML sees the memory free", || {
        device.memory().unwrap().used_bytes < before + 16 * MIB
    });
}

#[test]
fn processes_can_be_listed() {
    let gpu = Gpu::take();
    let _context = gpu.context();
    let (_nvml, device) = card(&gpu);
    let memory = gpu.memory(16 * MIB);
    let processes = device.processes().unwrap();
    let ours = processes.iter().find(|process| process.pid == std::process::id());
    observe_text("NVML lists this process", format!("{ours:?} of {}", processes.len()));
    // In another pid namespace the real driver knows us by another number, or not at all.
    if is_soft() {
        let ours = ours.unwrap();
        assert!(ours.used_bytes.is_none_or(|bytes| bytes >= memory.bytes()), "{ours:?}");
    }
}

#[test]
fn a_card_says_how_busy_how_warm_and_how_hungry_it_is_or_that_it_does_not_say() {
    let gpu = Gpu::take();
    let (_nvml, device) = card(&gpu);
    let busy = device.busy();
    observe_text("nvmlDeviceGetUtilizationRates", format!("{busy:?}"));
    if let Ok(busy) = busy {
        assert!(busy.kernels_percent <= 100 && busy.memory_percent <= 100, "{busy:?}");
    }
    let warm = device.temperature_celsius();
    observe_text("nvmlDeviceGetTemperature", format!("{warm:?}"));
    assert!(warm.is_ok_and(|celsius| (1..150).contains(&celsius)));
    let (power, limit) = (device.power_milliwatts(), device.power_limit_milliwatts());
    observe_text("nvmlDeviceGetPowerUsage, of", format!("{power:?}, {limit:?}"));
    if let (Ok(power), Ok(limit)) = (&power, &limit) {
        assert!(*power > 0 && *power < 2 * limit, "{power} mW of {limit} mW");
    }
    let fan = device.fan_percent();
    observe_text("nvmlDeviceGetFanSpeed", format!("{fan:?}"));
    for status in [power, limit, fan].into_iter().filter_map(Result::err).map(|it| it.status) {
        assert_eq!(status, NvmlStatus::NOT_SUPPORTED, "no other reason not to say");
    }
}

#[test]
fn readings_need_nvml_alone() {
    let gpu = Gpu::take();
    let uuid = gpu.device.uuid();
    let set = std::env::var_os(DriverChoice::VARIABLE);
    let choice = set.map_or(DriverChoice::Soft, DriverChoice::from);
    let nvml = Nvml::of_choice(&choice, Some(&millpond_softgpu::PROVIDER)).unwrap();
    assert_eq!(nvml.device(uuid).unwrap().uuid().unwrap(), uuid.to_string());
}

#[test]
fn nvml_can_be_opened_twice() {
    let gpu = Gpu::take();
    let (first, _) = card(&gpu);
    let (_second, device) = card(&gpu);
    drop(first);
    assert!(device.memory().unwrap().total_bytes > 0);
}

#[test]
fn the_versioned_reading_agrees_with_the_plain_one() {
    let gpu = Gpu::take();
    let (nvml, device) = raw_card(&gpu);
    let read = need!(NvmlExtra::of(&nvml), nvmlDeviceGetMemoryInfo_v2);
    let mut second = NvmlMemoryV2::default();
    // SAFETY: the handle is of this NVML, and the structure is valid for the call.
    unsafe {
        let first = result::nvml::memory(nvml.table(), device).unwrap();
        assert_eq!(read(device, &raw mut second), NvmlStatus::SUCCESS);
        observe_text("bytes that the driver reserves", second.reserved);
        assert_eq!(second.total, first.total);
        assert!(second.used + second.reserved + second.free <= second.total + 16 * MIB);
        second.version = 7;
        let refused = read(device, &raw mut second);
        observe_text("nvmlDeviceGetMemoryInfo_v2 of an unknown version", refused);
        assert_ne!(refused, NvmlStatus::SUCCESS);
    }
}

#[test]
fn every_list_of_processes_says_the_same() {
    let gpu = Gpu::take();
    let context = gpu.context();
    let _bound = context.bind().unwrap();
    let (nvml, device) = raw_card(&gpu);
    let extra = NvmlExtra::of(&nvml);
    let plain = need!(extra, nvmlDeviceGetComputeRunningProcesses);
    let second = need!(extra, nvmlDeviceGetComputeRunningProcesses_v2);
    let drawing = need!(extra, nvmlDeviceGetGraphicsRunningProcesses_v3);
    // SAFETY: the handle is of this NVML, and every buffer has as many entries as its count says.
    unsafe {
        let third = result::nvml::processes(nvml.table(), device).unwrap();
        let mut short = [NvmlProcessInfoV1::default(); 64];
        let mut count = 64;
        assert_eq!(plain(device, &raw mut count, short.as_mut_ptr()), NvmlStatus::SUCCESS);
        assert_eq!(usize::try_from(count).unwrap(), third.len());
        let mut full = [NvmlProcessInfo::default(); 64];
        assert_eq!(second(device, &raw mut count, full.as_mut_ptr()), NvmlStatus::SUCCESS);
        assert_eq!(usize::try_from(count).unwrap(), third.len());
        for info in &third {
            assert!(short.iter().any(|other| other.pid == info.pid));
            assert!(full.iter().any(|other| other.pid == info.pid));
        }
        let mut none = 0;
        let asked = plain(device, &raw mut none, null_mut());
        if third.is_empty() {
            observe_text("no process is listed here, so no size is asked for", asked);
        } else {
            assert_eq!(asked, NvmlStatus::INSUFFICIENT_SIZE);
            assert_eq!(usize::try_from(none).unwrap(), third.len());
        }
        let mut count = 64;
        assert_eq!(drawing(device, &raw mut count, full.as_mut_ptr()), NvmlStatus::SUCCESS);
        observe_text("processes that draw", count);
    }
}

#[test]
fn a_process_is_charged_for_all_kinds_of_memory() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let (_nvml, device) = card(&gpu);
    let own = || {
        let all = device.processes().unwrap();
        let own = all.iter().find(|process| process.pid == std::process::id());
        own.and_then(|process| process.used_bytes)
    };
    let Some(before) = own() else {
        // In another pid namespace the real driver knows us by another number, or not at all.
        assert!(!is_soft());
        return observe_text("NVML says what this process holds", "no");
    };
    let mapped = gpu.memory(32 * MIB);
    let linear = millpond_cuda::LinearMemory::alloc(&context, 64 * MIB).unwrap();
    let rise = own().unwrap().saturating_sub(before);
    assert!((96 * MIB..112 * MIB).contains(&rise), "rose by {rise}");
    let _bound = context.bind().unwrap();
    let mut ordered = 0;
    // SAFETY: the out-pointer is valid for the call, and nothing uses the memory.
    unsafe {
        let table = gpu.driver.table();
        let made = (table.cuMemAllocAsync)(&raw mut ordered, 64 << 20, null_mut());
        assert_eq!(made, sys::Status::SUCCESS);
        context.synchronize().unwrap();
        let rise = own().unwrap().saturating_sub(before);
        // A pool takes more than was asked for, in steps of its own.
        assert!(rise >= 160 * MIB, "rose by {rise}");
        assert_eq!((table.cuMemFreeAsync)(ordered, null_mut()), sys::Status::SUCCESS);
        context.synchronize().unwrap();
    }
    drop((mapped, linear));
    wait_until("NVML sees the memory free", || own().unwrap() < before + 16 * MIB);
}

#[test]
fn cards_have_a_place_on_the_bus() {
    let gpu = Gpu::take();
    let (nvml, device) = raw_card(&gpu);
    let place = need!(NvmlExtra::of(&nvml), nvmlDeviceGetPciInfo_v3);
    let find = need!(NvmlExtra::of(&nvml), nvmlDeviceGetHandleByPciBusId_v2);
    // SAFETY: of plain numbers, for which all zeroes is a value.
    let mut pci: NvmlPciInfo = unsafe { std::mem::zeroed() };
    let mut found = null_mut();
    // SAFETY: the handle is of this NVML, and all pointers are valid for the calls.
    unsafe {
        assert_eq!(place(device, &raw mut pci), NvmlStatus::SUCCESS);
        let text = CStr::from_ptr(pci.bus_id.as_ptr()).to_str().unwrap().to_lowercase();
        let legacy = CStr::from_ptr(pci.bus_id_legacy.as_ptr()).to_str().unwrap().to_lowercase();
        assert!(text.ends_with(legacy.split_once(':').unwrap().1), "{text} {legacy}");
        assert_eq!(find(pci.bus_id.as_ptr(), &raw mut found), NvmlStatus::SUCCESS);
        assert_eq!(found, device);
    }
}

#[test]
fn private_tables_of_nvml_are_refused() {
    let gpu = Gpu::take();
    let (nvml, _) = raw_card(&gpu);
    let table = need!(NvmlExtra::of(&nvml), nvmlInternalGetExportTable);
    let (mut address, id) = (null(), [0x6d_u8; 16]);
    // SAFETY: both pointers are valid for the call.
    let status = unsafe { table(&raw mut address, id.as_ptr().cast()) };
    assert_eq!(status, NvmlStatus::INVALID_ARGUMENT);
}
