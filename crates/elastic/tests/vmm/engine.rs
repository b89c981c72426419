//! Where `candle-cuda-vmm` fails, this crate does not; and what it has besides.

use crate::common::{again, assert_passed, free, on_device};
use crate::{MIB, PAGE, pool};
use candle_cuda_vmm::cuda_ffi::{self, AllocationProp, MemoryLocationType};
use candle_cuda_vmm::{
    AccessFlags, Device, GlobalMemoryStats, MemoryStats, PhysicalMemoryHandle, SharedMemoryPool,
    VirtualAddressRange, VirtualMemoryPool, VmmError, map_memory, set_memory_access, unmap_memory,
};
use millpond_cuda::{Context, Stream, TouchKernel};
use std::time::Duration;

#[test]
fn pages_come_and_go_as_allocated() {
    on_device("engine::pages_come_and_go_as_allocated", |context| {
        let mut pool = pool(64);
        assert_eq!((pool.capacity(), pool.page_size()), (64 * PAGE, PAGE));
        let base = pool.base_address();
        assert_eq!(pool.allocate(0, 2 * PAGE).unwrap(), base);
        assert_eq!(pool.allocate(4 * PAGE + 100, PAGE).unwrap(), base + 4 * PAGE + 100);
        let stats = pool.stats();
        assert_eq!((stats.physical_usage, stats.mapped_pages), (4 * PAGE, 4));
        assert_eq!(stats.virtual_capacity, 64 * PAGE);
        assert!(pool.is_mapped(0, 2 * PAGE) && pool.is_mapped(5 * PAGE, 1));
        assert!(!pool.is_mapped(PAGE, PAGE + 1) && !pool.is_mapped(0, usize::MAX));
        let range = pool.cache().driver().range();
        range.copy_from_host(4 * PAGE as u64, b"kept").unwrap();
        let before = free(context);
        pool.deallocate(0, 2 * PAGE).unwrap();
        assert_eq!(pool.physical_memory_usage(), 2 * PAGE);
        assert!(free(context) >= before);
        let mut found = [0; 4];
        pool.cache().driver().range().copy_to_host(4 * PAGE as u64, &mut found).unwrap();
        assert_eq!(&found, b"kept");
        for _ in 0..20 {
            pool.allocate(0, 2 * PAGE).unwrap();
            pool.deallocate(0, 2 * PAGE).unwrap();
        }
        pool.deallocate(4 * PAGE, 2 * PAGE).unwrap();
        assert_eq!((pool.physical_memory_usage(), pool.base_address()), (0, base));
    });
}

#[test]
fn a_second_allocation_of_a_model_finds_its_place() {
    on_device("engine::a_second_allocation_of_a_model_finds_its_place", |_| {
        let mut shared = SharedMemoryPool::new(40 * PAGE, Device::new_cuda(0).unwrap()).unwrap();
        shared.register_model("llama", 64 * PAGE).unwrap();
        shared.register_model("gpt", 16 * PAGE).unwrap();
        let base = shared.model_base_address("llama").unwrap();
        let first = shared.allocate_for_model("llama", 4 * PAGE).unwrap();
        let second = shared.allocate_for_model("llama", 3 * PAGE + 1).unwrap();
        assert_eq!((first, second), (base, base + 4 * PAGE));
        shared.deallocate_for_model("llama", first - base, 4 * PAGE).unwrap();
        assert_eq!(shared.allocate_for_model("llama", 2 * PAGE).unwrap(), base, "the gap is used");
        assert_eq!(shared.allocate_for_model("llama", 8 * PAGE).unwrap(), base + 8 * PAGE);
        let stats = shared.get_model_stats("llama").unwrap();
        assert_eq!((stats.physical_usage, stats.mapped_pages), (14 * PAGE, 14));
        let model = shared.model("llama").unwrap();
        assert_eq!((model.base_address(), model.is_mapped(0, 2 * PAGE)), (base, true));
        assert!(shared.model("bert").is_none());
        let limited = shared.allocate_for_model("llama", 30 * PAGE).unwrap_err();
        let VmmError::OutOfPhysicalMemory { requested, available } = limited else {
            panic!("{limited}")
        };
        assert_eq!((requested, available), (30 * PAGE, 26 * PAGE));
        let no_gap = shared.allocate_for_model("gpt", 17 * PAGE).unwrap_err();
        let expected = (17 * PAGE, 16 * PAGE);
        assert!(matches!(no_gap, VmmError::OutOfVirtualMemory { requested, available }
            if (requested, available) == expected));
        shared.allocate_for_model("gpt", 16 * PAGE).unwrap();
        shared.unregister_model("llama").unwrap();
        let GlobalMemoryStats { physical_limit, physical_usage, num_models } =
            shared.global_stats();
        assert_eq!((physical_limit, physical_usage, num_models), (40 * PAGE, 16 * PAGE, 1));
        assert!(shared.get_model_stats("llama").is_none());
    });
}

#[test]
fn wrong_pools_and_models_are_typed_errors() {
    on_device("engine::wrong_pools_and_models_are_typed_errors", |_| {
        let device = Device::new_cuda(0).unwrap();
        let new =
            |capacity, page| VirtualMemoryPool::new(capacity, page, device.clone()).unwrap_err();
        assert!(matches!(new(0, PAGE), VmmError::InvalidAlignment { actual: 0, .. }));
        let huge = 1 << 48;
        assert!(
            matches!(new(huge, PAGE), VmmError::OutOfVirtualMemory { requested, .. } if requested == huge)
        );
        for page in [0, 3 * MIB, 4096, 64 * 1024] {
            assert!(matches!(new(12 * MIB, page), VmmError::InvalidPageSize(size) if size == page));
        }
        assert!(matches!(Device::new_cuda(99), Err(VmmError::CudaError(_))));
        let mut shared = SharedMemoryPool::new(8 * PAGE, device).unwrap();
        shared.register_model("one", 4 * PAGE).unwrap();
        let twice = shared.register_model("one", 4 * PAGE);
        assert!(matches!(twice, Err(VmmError::ModelAlreadyExists(name)) if name == "one"));
        let unknown =
            |error: VmmError| matches!(error, VmmError::ModelNotFound(name) if name == "two");
        assert!(unknown(shared.allocate_for_model("two", 1).unwrap_err()));
        assert!(unknown(shared.deallocate_for_model("two", 0, 1).unwrap_err()));
        assert!(unknown(shared.unregister_model("two").unwrap_err()));
        assert!(shared.allocate_for_model("one", 0).is_err());
        shared.allocate_for_model("one", 4 * PAGE).unwrap();
        let below = shared.set_physical_limit(3 * PAGE).unwrap_err();
        assert!(matches!(below, VmmError::OutOfPhysicalMemory { .. }), "{below}");
        shared.set_physical_limit(4 * PAGE).unwrap();
        assert_eq!(shared.global_stats().physical_limit, 4 * PAGE);
        assert!(shared.model_base_address("two").is_none());
    });
}

#[test]
fn wrong_parts_of_a_pool_are_typed_errors_and_change_nothing() {
    on_device("engine::wrong_parts_of_a_pool_are_typed_errors_and_change_nothing", |_| {
        let mut pool = pool(8);
        pool.allocate(PAGE, 2 * PAGE).unwrap();
        let outside =
            [(0, 0), (8 * PAGE, 1), (7 * PAGE, PAGE + 1), (usize::MAX, 2), (2, usize::MAX)];
        for (offset, size) in outside {
            for answer in [pool.allocate(offset, size).map(drop), pool.deallocate(offset, size)] {
                assert!(matches!(answer, Err(VmmError::InvalidOffset { .. })), "{offset} {size}");
            }
        }
        let again = pool.allocate(0, 2 * PAGE).unwrap_err();
        assert!(matches!(again, VmmError::AlreadyMapped { offset: PAGE, size: PAGE }), "{again}");
        let never = pool.deallocate(2 * PAGE, 2 * PAGE).unwrap_err();
        let VmmError::NotMapped { offset, size: PAGE } = never else { panic!("{never}") };
        assert_eq!(offset, 3 * PAGE);
        assert_eq!(pool.stats().mapped_pages, 2);
        pool.deallocate(PAGE, 2 * PAGE).unwrap();
        assert!(matches!(pool.deallocate(PAGE, 2 * PAGE), Err(VmmError::NotMapped { .. })));
    });
}

#[test]
fn an_allocation_that_fails_half_way_leaves_nothing() {
    on_device("engine::an_allocation_that_fails_half_way_leaves_nothing", |context| {
        let page = 64 * MIB;
        let total = usize::try_from(context.device().total_bytes()).unwrap();
        let capacity = total.next_multiple_of(page) + page;
        let mut pool =
            VirtualMemoryPool::new(capacity, page, Device::new_cuda(0).unwrap()).unwrap();
        pool.allocate(0, page).unwrap();
        let full = pool.allocate(page, capacity - page).unwrap_err();
        assert!(
            matches!(full, VmmError::OutOfPhysicalMemory { available, .. } if available < total)
        );
        assert_eq!((pool.physical_memory_usage(), pool.stats().mapped_pages), (page, 1));
        pool.allocate(page, page).unwrap();
    });
}

#[test]
fn freeing_waits_for_the_device() {
    on_device("engine::freeing_waits_for_the_device", |context| {
        let mut pool = pool(4);
        pool.allocate(0, 2 * PAGE).unwrap();
        let kernel = TouchKernel::load(context).unwrap();
        let stream = Stream::new(context).unwrap();
        let long = Duration::from_millis(60);
        let range = pool.cache().driver().range();
        kernel.touch_range(&stream, range, 0..4096, 8192, long).unwrap();
        pool.deallocate(0, PAGE).unwrap();
        assert!(stream.is_idle().unwrap());
        let range = pool.cache().driver().range();
        let page = PAGE as u64;
        kernel.touch_range(&stream, range, page..page + 4096, page + 8192, long).unwrap();
        drop(pool);
        assert!(stream.is_idle().unwrap());
    });
}

#[test]
fn compacting_gives_idle_pages_back() {
    on_device("engine::compacting_gives_idle_pages_back", |_| {
        let mut pool = pool(64);
        pool.allocate(0, 2 * PAGE).unwrap();
        // What was prepared and given up is idle.
        drop(pool.cache().prepare(10..13).unwrap());
        assert_eq!(pool.physical_memory_usage(), 5 * PAGE);
        pool.compact().unwrap();
        assert_eq!(pool.physical_memory_usage(), 2 * PAGE);
    });
}

#[test]
fn raw_memory_is_mapped_and_dropped_in_any_order() {
    on_device("engine::raw_memory_is_mapped_and_dropped_in_any_order", |context| {
        let device = Device::new_cuda(0).unwrap();
        let before = free(context);
        for range_first in [true, false] {
            let range = VirtualAddressRange::new(4 * PAGE, PAGE).unwrap();
            assert_eq!((range.size(), range.alignment()), (4 * PAGE, PAGE));
            assert_eq!(range.base_address() % PAGE, 0);
            assert_eq!(range.ptr_at_offset(PAGE).unwrap(), range.as_ptr() + PAGE as u64);
            let memory = PhysicalMemoryHandle::new(PAGE, &device).unwrap();
            assert_eq!((memory.size(), memory.device_ordinal()), (PAGE, 0));
            map_memory(&range, PAGE, &memory, 0, PAGE).unwrap();
            set_memory_access(&range, PAGE, PAGE, 0, AccessFlags::ReadWrite).unwrap();
            set_memory_access(&range, PAGE, PAGE, 0, AccessFlags::Read).unwrap();
            set_memory_access(&range, PAGE, PAGE, 0, AccessFlags::None).unwrap();
            let again = map_memory(&range, PAGE, &memory, 0, PAGE);
            assert!(matches!(again, Err(VmmError::MappingFailed(_))), "{again:?}");
            if range_first {
                drop(range);
                drop(memory);
            } else {
                drop(memory);
                unmap_memory(&range, PAGE, PAGE).unwrap();
                drop(range);
            }
        }
        assert!(free(context) + (PAGE as u64) > before);
    });
}

#[test]
fn raw_mistakes_are_typed_errors() {
    on_device("engine::raw_mistakes_are_typed_errors", |_| {
        let device = Device::new_cuda(0).unwrap();
        let range = VirtualAddressRange::new(2 * PAGE, PAGE).unwrap();
        let memory = PhysicalMemoryHandle::new(PAGE, &device).unwrap();
        let outside = |answer| matches!(answer, Err(VmmError::InvalidOffset { .. }));
        assert!(outside(map_memory(&range, usize::MAX, &memory, 0, PAGE)));
        assert!(outside(map_memory(&range, 0, &memory, usize::MAX, 2)));
        assert!(outside(map_memory(&range, 2 * PAGE, &memory, 0, PAGE)));
        assert!(outside(unmap_memory(&range, PAGE, usize::MAX)));
        assert!(outside(set_memory_access(&range, 0, 0, 0, AccessFlags::Read)));
        assert!(outside(range.ptr_at_offset(2 * PAGE).map(drop)));
        for alignment in [0, 3] {
            let answer = VirtualAddressRange::new(PAGE, alignment);
            assert!(matches!(answer, Err(VmmError::InvalidAlignment { .. })), "{answer:?}");
        }
        for size in [0, 1, PAGE + 4096] {
            let answer = PhysicalMemoryHandle::new(size, &device);
            assert!(matches!(answer, Err(VmmError::InvalidAlignment { .. })), "{answer:?}");
        }
    });
}

#[test]
fn granularities_and_properties_are_as_told() {
    on_device("engine::granularities_and_properties_are_as_told", |_| {
        assert!(candle_cuda_vmm::is_vmm_supported());
        let least = cuda_ffi::get_minimum_granularity(0).unwrap();
        assert!(cuda_ffi::get_recommended_granularity(0).unwrap() >= least);
        let prop = AllocationProp::device(0);
        assert_eq!((prop.location_type, prop.device_ordinal), (MemoryLocationType::Device, 0));
        let flags = [AccessFlags::None, AccessFlags::Read, AccessFlags::ReadWrite];
        assert_eq!(flags.map(|flags| flags as i32), [0, 1, 3]);
        assert!(!candle_cuda_vmm::VERSION.is_empty());
        let MemoryStats { mapped_pages, .. } = pool(1).stats();
        assert_eq!(mapped_pages, 0);
    });
}

#[test]
fn without_a_driver_nothing_panics() {
    const ROLE: &str = "MILLPOND_ELASTIC_WITHOUT_DRIVER";
    if std::env::var_os(ROLE).is_none() {
        let variables = [("MILLPOND_DRIVER", "/nowhere/libcuda.so"), (ROLE, "1")];
        assert_passed(&again("engine::without_a_driver_nothing_panics", &variables));
        return;
    }
    assert!(!candle_cuda_vmm::is_vmm_supported());
    let error = Device::new_cuda(0).unwrap_err();
    assert!(
        matches!(&error, VmmError::CudaError(text) if text.contains("/nowhere/libcuda.so")),
        "{error}"
    );
    assert!(cuda_ffi::get_recommended_granularity(0).is_err());
    assert!(VirtualAddressRange::new(PAGE, PAGE).is_err());
}

#[test]
fn a_pool_lives_in_the_context_that_it_is_given() {
    on_device("engine::a_pool_lives_in_the_context_that_it_is_given", |context: &Context| {
        let device = Device::from_context(context.clone()).unwrap();
        assert_eq!(&device.context().unwrap(), context);
        let mut pool = VirtualMemoryPool::new(4 * PAGE, PAGE, device.clone()).unwrap();
        pool.allocate(0, PAGE).unwrap();
        assert_eq!(device.as_cuda().ordinal(), device.ordinal());
    });
}
