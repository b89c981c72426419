//! Every public item of `candle-cuda-vmm`, by its path and its type: what compiles here compiles there.

use crate::{MIB, PAGE, card, on_cards, pool};
use candle_cuda_vmm::cuda_ffi::{self, AllocationProp, DevicePtr, MemGenericAllocationHandle};
use candle_cuda_vmm::{
    AccessFlags, GlobalMemoryStats, MemoryStats, PhysicalMemoryHandle, Result, SharedMemoryPool,
    VirtualAddressRange, VirtualMemoryPool, VmmError, error, map_memory, mapping, physical_memory,
    set_memory_access, unmap_memory, virtual_memory,
};

/// One type by two paths.
fn is_same<T>(_: fn() -> T, _: fn() -> T) {}

#[test]
fn each_type_has_its_module_and_stands_at_the_root() {
    is_same::<Option<error::VmmError>>(|| None, || None::<VmmError>);
    is_same::<error::Result<()>>(|| Ok(()), || Result::<()>::Ok(()));
    is_same::<Option<physical_memory::PhysicalMemoryHandle>>(
        || None,
        || None::<PhysicalMemoryHandle>,
    );
    is_same::<Option<mapping::VirtualAddressRange>>(|| None, || None::<VirtualAddressRange>);
    is_same::<Option<virtual_memory::VirtualMemoryPool>>(|| None, || None::<VirtualMemoryPool>);
    is_same::<Option<virtual_memory::SharedMemoryPool>>(|| None, || None::<SharedMemoryPool>);
    is_same::<Option<virtual_memory::MemoryStats>>(|| None, || None::<MemoryStats>);
    is_same::<Option<virtual_memory::GlobalMemoryStats>>(|| None, || None::<GlobalMemoryStats>);
    is_same::<Option<cuda_ffi::AccessFlags>>(|| None, || None::<AccessFlags>);
    type Unmap = fn(&VirtualAddressRange, usize, usize) -> Result<()>;
    type Map = fn(&VirtualAddressRange, usize, &PhysicalMemoryHandle, usize, usize) -> Result<()>;
    type Access = fn(&VirtualAddressRange, usize, usize, i32, AccessFlags) -> Result<()>;
    let _: [Unmap; 2] = [unmap_memory, mapping::unmap_memory];
    let _: [Map; 2] = [map_memory, mapping::map_memory];
    let _: [Access; 2] = [set_memory_access, mapping::set_memory_access];
    let _: &str = candle_cuda_vmm::VERSION;
    let _: fn() -> bool = candle_cuda_vmm::is_vmm_supported;
    fn is_send<T: Send>() {}
    is_send::<(VirtualMemoryPool, SharedMemoryPool, PhysicalMemoryHandle, VirtualAddressRange)>();
}

/// As a program passes it on: `compact` has nothing to tell but whether it failed.
fn compacted(pool: &mut VirtualMemoryPool) -> Result<()> {
    pool.compact()
}

#[test]
fn each_method_of_a_pool_has_its_type() {
    on_cards("items::each_method_of_a_pool_has_its_type", || {
        let mut one: VirtualMemoryPool = pool(8);
        let address: usize = one.allocate(0, PAGE).unwrap();
        let numbers: [usize; 4] =
            [one.physical_memory_usage(), one.capacity(), one.base_address(), one.page_size()];
        assert_eq!(numbers, [PAGE, 8 * PAGE, address, PAGE]);
        let is_mapped: bool = one.is_mapped(0, PAGE);
        assert!(is_mapped);
        let MemoryStats { virtual_capacity, physical_usage, mapped_pages, fragmentation_ratio } =
            one.stats().clone();
        assert_eq!((virtual_capacity, physical_usage, mapped_pages), (8 * PAGE, PAGE, 1));
        let _: f32 = fragmentation_ratio;
        let freed: Result<()> = one.deallocate(0, PAGE);
        freed.and_then(|()| compacted(&mut one)).unwrap();
    });
}

#[test]
fn each_method_of_a_shared_pool_has_its_type() {
    on_cards("items::each_method_of_a_shared_pool_has_its_type", || {
        let mut shared: SharedMemoryPool = SharedMemoryPool::new(64 * MIB, card(0)).unwrap();
        let registered: Result<()> = shared.register_model("a", 64 * MIB);
        let address: Result<usize> = shared.allocate_for_model("a", PAGE);
        assert!(registered.is_ok() && address.is_ok());
        let stats: Option<MemoryStats> = shared.get_model_stats("a");
        assert_eq!(stats.unwrap().mapped_pages, 1);
        let GlobalMemoryStats { physical_limit, physical_usage, num_models } =
            shared.global_stats().clone();
        assert_eq!((physical_limit, physical_usage, num_models), (64 * MIB, PAGE, 1));
        let ended: [Result<()>; 2] =
            [shared.deallocate_for_model("a", 0, PAGE), shared.unregister_model("a")];
        assert!(ended.iter().all(Result::is_ok));
    });
}

#[test]
fn raw_parts_go_out_and_come_back() {
    on_cards("items::raw_parts_go_out_and_come_back", || {
        let memory = PhysicalMemoryHandle::new(PAGE, &card(0)).unwrap();
        let raw: MemGenericAllocationHandle = memory.as_raw();
        assert_eq!(memory.into_raw(), raw);
        // SAFETY: the handle was given out above, and has this size and device.
        let memory = unsafe { PhysicalMemoryHandle::from_raw(raw, PAGE, 0) };
        assert_eq!((memory.size(), memory.device_ordinal()), (PAGE, 0));
        let range = VirtualAddressRange::new(2 * PAGE, PAGE).unwrap();
        let (pointer, size): (DevicePtr, usize) = range.into_raw();
        // SAFETY: the reservation was given out above, and has this size and alignment.
        let range = unsafe { VirtualAddressRange::from_raw(pointer, size, PAGE) };
        assert_eq!((range.as_ptr(), range.size(), range.alignment()), (pointer, size, PAGE));
        assert_eq!(range.base_address() as u64, pointer);
        map_memory(&range, 0, &memory, 0, PAGE).unwrap();
        set_memory_access(&range, 0, PAGE, 0, AccessFlags::ReadWrite).unwrap();
        unmap_memory(&range, 0, PAGE).unwrap();
    });
}

#[test]
fn calls_of_the_driver_do_what_their_names_say() {
    on_cards("items::calls_of_the_driver_do_what_their_names_say", || {
        let prop = AllocationProp::device(0);
        // SAFETY: what is made here is given back here, in the reverse order, and nothing uses it.
        unsafe {
            let unit =
                cuda_ffi::mem_get_allocation_granularity(&prop, cuda_ffi::Granularity::Recommended);
            assert_eq!(unit.unwrap(), cuda_ffi::get_recommended_granularity(0).unwrap());
            let memory = cuda_ffi::mem_create(PAGE, &prop).unwrap();
            let pointer = cuda_ffi::mem_address_reserve(PAGE, PAGE, 0).unwrap();
            cuda_ffi::mem_map(pointer, PAGE, 0, memory).unwrap();
            cuda_ffi::mem_set_access(pointer, PAGE, 0, AccessFlags::ReadWrite).unwrap();
            cuda_ffi::mem_unmap(pointer, PAGE).unwrap();
            cuda_ffi::mem_address_free(pointer, PAGE).unwrap();
            cuda_ffi::mem_release(memory).unwrap();
        }
    });
}

#[test]
fn each_variant_of_the_error_has_its_fields() {
    let [offset, size, capacity] = [1, 2, 3];
    let [requested, available, actual, required] = [4, 5, 6, 7];
    let words = || "words".to_owned();
    for error in [
        VmmError::CudaError(words()),
        VmmError::OutOfVirtualMemory { requested, available },
        VmmError::OutOfPhysicalMemory { requested, available },
        VmmError::InvalidOffset { offset, size, capacity },
        VmmError::MappingFailed(words()),
        VmmError::UnmappingFailed(words()),
        VmmError::InvalidAlignment { actual, required },
        VmmError::AlreadyMapped { offset, size },
        VmmError::NotMapped { offset, size },
        VmmError::InvalidPageSize(size),
        VmmError::UnsupportedDevice,
        VmmError::ModelNotFound(words()),
        VmmError::ModelAlreadyExists(words()),
        VmmError::Other(words()),
    ] {
        let error: Box<dyn std::error::Error + Send + Sync> = error.into();
        assert!(!error.to_string().is_empty());
    }
    assert!(matches!(VmmError::cuda("text"), VmmError::CudaError(text) if text == "text"));
    assert!(matches!(VmmError::other("text"), VmmError::Other(text) if text == "text"));
    let of_a_driver = std::io::Error::other("CUDA_ERROR_INVALID_VALUE");
    let error = VmmError::from_cuda_result(of_a_driver);
    assert!(
        matches!(&error, VmmError::CudaError(text) if text.contains("INVALID_VALUE")),
        "{error}"
    );
}
