//! Physical allocations: sizes, properties, handles.

use crate::support::{Gpu, MIB, read, status};
use millpond_cuda::sys::{AllocationProperties, Status};
use millpond_cuda::{Allocation, AllocationInfo, DevicePtr, Granularity, LinearMemory, result};
use std::os::fd::AsFd;

#[test]
fn granularities_are_powers_of_two() {
    let gpu = Gpu::take();
    let minimum = Allocation::granularity(&gpu.device, Granularity::Minimum).unwrap();
    let recommended = Allocation::granularity(&gpu.device, Granularity::Recommended).unwrap();
    assert!(minimum.is_power_of_two() && recommended.is_power_of_two());
    assert!(minimum >= 4096 && recommended >= minimum);
}

#[test]
fn odd_sizes_are_refused() {
    let gpu = Gpu::take();
    for bytes in [0, 1, gpu.unit() / 2, gpu.unit() + 4096] {
        let result = Allocation::create(&gpu.device, bytes);
        assert_eq!(status(result), Status::INVALID_VALUE, "{bytes} bytes");
    }
}

#[test]
fn more_than_the_card_has_is_out_of_memory() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let unit = gpu.unit();
    let bytes = (gpu.device.total_bytes() / unit + 1) * unit;
    let error = Allocation::create(&gpu.device, bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory (requested {bytes} bytes)"
        )
    );
    gpu.assert_taken(before, 0);
    drop(gpu.create(unit));
}

#[test]
fn a_device_that_does_not_exist_is_refused() {
    let gpu = Gpu::take();
    let properties = AllocationProperties::exportable(99);
    let bytes = usize::try_from(gpu.unit()).unwrap();
    let result = result::mem::create(gpu.driver.table(), bytes, &properties);
    assert_eq!(status(result), Status::INVALID_DEVICE);
}

#[test]
fn creating_takes_memory_and_releasing_gives_it_back() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let allocation = gpu.create(64 * MIB);
    gpu.assert_taken(before, 64 * MIB);
    allocation.release().unwrap();
    gpu.assert_freed(before);
}

#[test]
fn properties_are_kept() {
    let gpu = Gpu::take();
    let allocation = gpu.create(gpu.unit());
    let expected = AllocationInfo {
        device_ordinal: Some(gpu.device.ordinal()),
        posix_fd: true,
        compressed: false,
        gpu_direct_rdma: false,
    };
    assert_eq!(allocation.info(), Ok(expected));
}

#[test]
fn new_memory_reads_as_zero() {
    let gpu = Gpu::take();
    for round in 0..3 {
        let memory = gpu.memory(4 * gpu.unit());
        assert!(read(&memory).iter().all(|byte| *byte == 0), "round {round}");
        memory.memset(0, memory.bytes(), 0xa5).unwrap();
        assert!(read(&memory).iter().all(|byte| *byte == 0xa5));
        memory.unmap().unwrap();
    }
}

#[test]
fn a_handle_is_found_by_address() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let memory = gpu.memory(unit);
    memory.memset(0, unit, 0x42).unwrap();
    let inside = memory.at(4096, 1).unwrap();
    let again = Allocation::retain(&gpu.driver, inside, unit).unwrap();
    assert!(again.info().unwrap().posix_fd);
    memory.unmap().unwrap();
    let elsewhere = gpu.map(&again, millpond_cuda::Access::ReadOnly);
    assert!(read(&elsewhere).iter().all(|byte| *byte == 0x42));
    // The creator may export what it retained.
    let fd = again.export().unwrap();
    drop(Allocation::import(&gpu.driver, fd.as_fd(), unit).unwrap());
}

#[test]
fn other_addresses_have_no_handle() {
    let gpu = Gpu::take();
    let unit = gpu.unit();
    let plain = LinearMemory::alloc(&gpu.context(), unit).unwrap();
    let reserved = gpu.reserve(unit);
    for address in [plain.pointer(), reserved.start(), DevicePtr(0x1000)] {
        let result = Allocation::retain(&gpu.driver, address, unit);
        assert_eq!(status(result), Status::INVALID_VALUE, "{address}");
    }
}

#[test]
fn many_handles_at_once() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let all: Vec<_> = (0..32).map(|_| gpu.create(gpu.unit())).collect();
    gpu.assert_taken(before, 32 * gpu.unit());
    drop(all);
    gpu.assert_freed(before);
}
