//! NVML beside the driver.

use crate::support::{Gpu, MIB, is_soft, observe_text, wait_until};
use millpond_cuda::sys::NvmlStatus;
use millpond_cuda::{DeviceUuid, Nvml, NvmlDevice};

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
fn nvml_can_be_opened_twice() {
    let gpu = Gpu::take();
    let (first, _) = card(&gpu);
    let (_second, device) = card(&gpu);
    drop(first);
    assert!(device.memory().unwrap().total_bytes > 0);
}
