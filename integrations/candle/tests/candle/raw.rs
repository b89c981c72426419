//! Handles, addresses and mappings by hand, with Candle's device.

use crate::card::{PAGE, context, on_card};
use candle_cuda_vmm::cuda_ffi::{self, AllocationProp, MemoryLocationType};
use candle_cuda_vmm::{
    AccessFlags, PhysicalMemoryHandle, Result, VERSION, VirtualAddressRange, VmmError,
    is_vmm_supported, map_memory, set_memory_access, unmap_memory,
};

fn by_hand(device: &candle_core::Device) -> Result<()> {
    let granularity = cuda_ffi::get_recommended_granularity(0)?;
    assert!(granularity >= cuda_ffi::get_minimum_granularity(0)?);
    let memory = PhysicalMemoryHandle::new(granularity, device)?;
    assert_eq!((memory.size(), memory.device_ordinal()), (granularity, 0));
    let range = VirtualAddressRange::new(4 * granularity, granularity)?;
    assert_eq!(range.ptr_at_offset(5)?, range.as_ptr() + 5);
    map_memory(&range, granularity, &memory, 0, granularity)?;
    set_memory_access(&range, granularity, granularity, 0, AccessFlags::ReadWrite)?;
    let twice = map_memory(&range, granularity, &memory, 0, granularity).unwrap_err();
    assert!(matches!(twice, VmmError::MappingFailed(_)), "{twice}");
    let outside = map_memory(&range, 4 * granularity, &memory, 0, granularity).unwrap_err();
    assert!(matches!(outside, VmmError::InvalidOffset { .. }), "{outside}");
    // Without `?`: the errors are this crate's.
    unmap_memory(&range, granularity, granularity)
}

#[test]
fn memory_is_mapped_by_hand() {
    on_card("memory_is_mapped_by_hand", |device| {
        by_hand(device).unwrap();
        let odd = PhysicalMemoryHandle::new(PAGE + 1, device).unwrap_err();
        assert!(matches!(odd, VmmError::InvalidAlignment { .. }), "{odd}");
        assert!(is_vmm_supported());
        println!("memory pools: {}", context(device).has_async_alloc());
    });
}

#[test]
fn the_crate_has_a_version_and_answers_without_a_card() {
    assert!(!VERSION.is_empty());
    assert_eq!(AllocationProp::device(3).device_ordinal, 3);
    assert_eq!(AllocationProp::device(0).location_type, MemoryLocationType::Device);
    println!("virtual memory management: {}", is_vmm_supported());
}
