//! Structs that the driver writes, mirrored with plain integers, and the constants we pass.
//!
//! `cudarc` declares the fields of these structs as closed enums. Writing such a struct is fine;
//! letting the driver fill one is undefined behaviour as soon as it knows a newer value.

use super::{
    CUmemAccessDesc, CUmemAllocationProp, CUmemLocation, NvmlMemory, NvmlProcessInfo,
    NvmlUtilization,
};
use std::ffi::c_void;
use std::mem::{align_of, offset_of, size_of};
use std::ptr;

/// `CUmemAllocationProp` with its enums as numbers, so that the driver may fill it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationProperties {
    /// `CUmemAllocationType`: 1 is pinned device memory.
    pub kind: u32,
    /// `CUmemAllocationHandleType` bits: how the allocation can be exported.
    pub handle_types: u32,
    /// `CUmemLocationType`: 1 is a device.
    pub location_kind: u32,
    /// Device ordinal when the location is a device.
    pub location_id: i32,
    /// Unused on Linux.
    pub win32_metadata: *mut c_void,
    /// 1 when the memory is compressible.
    pub compression: u8,
    /// 1 when network cards may reach the memory.
    pub gpu_direct_rdma: u8,
    /// `CU_MEM_CREATE_USAGE_*` bits.
    pub usage: u16,
    /// Zero.
    pub reserved: [u8; 4],
}

impl AllocationProperties {
    /// Device memory of the given ordinal that can be exported as a POSIX file descriptor.
    #[must_use]
    pub const fn exportable(ordinal: i32) -> Self {
        Self {
            kind: constants::ALLOCATION_PINNED,
            handle_types: constants::HANDLE_POSIX_FD,
            location_kind: constants::LOCATION_DEVICE,
            location_id: ordinal,
            win32_metadata: ptr::null_mut(),
            compression: 0,
            gpu_direct_rdma: 0,
            usage: 0,
            reserved: [0; 4],
        }
    }

    /// Device memory of the given ordinal that stays in its process.
    #[must_use]
    pub const fn private(ordinal: i32) -> Self {
        Self { handle_types: 0, ..Self::exportable(ordinal) }
    }

    /// All fields zero: the buffer to hand to a driver call that fills it.
    #[must_use]
    pub const fn zeroed() -> Self {
        Self { kind: 0, handle_types: 0, location_kind: 0, ..Self::exportable(0) }
    }

    /// The same address as the type of the entry point's signature.
    #[must_use]
    pub const fn as_raw(&self) -> *const CUmemAllocationProp {
        ptr::from_ref(self).cast()
    }

    /// The same address as the type of the entry point's signature, to be written.
    #[must_use]
    pub const fn as_raw_mut(&mut self) -> *mut CUmemAllocationProp {
        ptr::from_mut(self).cast()
    }
}

const _: () = {
    assert!(size_of::<AllocationProperties>() == size_of::<CUmemAllocationProp>());
    assert!(align_of::<AllocationProperties>() == align_of::<CUmemAllocationProp>());
    assert!(
        offset_of!(AllocationProperties, handle_types)
            == offset_of!(CUmemAllocationProp, requestedHandleTypes)
    );
    assert!(
        offset_of!(AllocationProperties, location_kind)
            == offset_of!(CUmemAllocationProp, location)
    );
    assert!(
        offset_of!(AllocationProperties, win32_metadata)
            == offset_of!(CUmemAllocationProp, win32HandleMetaData)
    );
    assert!(
        offset_of!(AllocationProperties, compression)
            == offset_of!(CUmemAllocationProp, allocFlags)
    );
    assert!(size_of::<AllocationProperties>() == 32);
    assert!(size_of::<CUmemLocation>() == 8);
    assert!(size_of::<CUmemAccessDesc>() == 12);
    assert!(size_of::<NvmlMemory>() == 24);
    assert!(size_of::<NvmlUtilization>() == 8);
    assert!(size_of::<NvmlProcessInfo>() == 24);
};

/// Numbers of `cuda.h` that this crate passes or compares, as the plain integers of the list.
pub mod constants {
    /// `NVML_TEMPERATURE_GPU`.
    pub const NVML_TEMPERATURE_GPU: u32 = 0;
    /// `CU_MEM_ALLOCATION_TYPE_PINNED`.
    pub const ALLOCATION_PINNED: u32 = 1;
    /// `CU_MEM_ALLOCATION_TYPE_MANAGED`.
    pub const ALLOCATION_MANAGED: u32 = 2;
    /// `CU_MEM_LOCATION_TYPE_NONE`.
    pub const LOCATION_NONE: u32 = 0;
    /// `CU_MEM_LOCATION_TYPE_DEVICE`.
    pub const LOCATION_DEVICE: u32 = 1;
    /// `CU_MEM_LOCATION_TYPE_HOST`.
    pub const LOCATION_HOST: u32 = 2;
    /// `CU_MEM_LOCATION_TYPE_HOST_NUMA`.
    pub const LOCATION_HOST_NUMA: u32 = 3;
    /// `CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT`.
    pub const LOCATION_HOST_NUMA_CURRENT: u32 = 4;
    /// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
    pub const HANDLE_POSIX_FD: u32 = 1;
    /// `CU_MEM_HANDLE_TYPE_FABRIC`.
    pub const HANDLE_FABRIC: u32 = 8;
    /// `CU_MEM_ALLOC_GRANULARITY_MINIMUM`.
    pub const GRANULARITY_MINIMUM: u32 = 0;
    /// `CU_MEM_ALLOC_GRANULARITY_RECOMMENDED`.
    pub const GRANULARITY_RECOMMENDED: u32 = 1;
    /// `CU_MEM_ACCESS_FLAGS_PROT_NONE`.
    pub const ACCESS_NONE: u64 = 0;
    /// `CU_MEM_ACCESS_FLAGS_PROT_READ`.
    pub const ACCESS_READ: u64 = 1;
    /// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
    pub const ACCESS_READ_WRITE: u64 = 3;
    /// `CU_STREAM_NON_BLOCKING`.
    pub const STREAM_NON_BLOCKING: u32 = 1;
    /// `CU_EVENT_BLOCKING_SYNC`.
    pub const EVENT_BLOCKING_SYNC: u32 = 1;
    /// `CU_EVENT_DISABLE_TIMING`.
    pub const EVENT_DISABLE_TIMING: u32 = 2;
    /// `CU_EVENT_INTERPROCESS`.
    pub const EVENT_INTERPROCESS: u32 = 4;
    /// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
    pub const IPC_LAZY_PEER_ACCESS: u32 = 1;
    /// `CU_MEMHOSTALLOC_PORTABLE`.
    pub const HOST_ALLOC_PORTABLE: u32 = 1;
    /// `CU_MEMHOSTREGISTER_PORTABLE`.
    pub const HOST_REGISTER_PORTABLE: u32 = 1;
    /// `CU_STREAM_CAPTURE_MODE_GLOBAL`.
    pub const CAPTURE_GLOBAL: u32 = 0;
    /// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`.
    pub const CAPTURE_THREAD_LOCAL: u32 = 1;
    /// `CU_STREAM_CAPTURE_MODE_RELAXED`.
    pub const CAPTURE_RELAXED: u32 = 2;
    /// `CU_GET_PROC_ADDRESS_SUCCESS`.
    pub const PROC_ADDRESS_SUCCESS: u32 = 0;
    /// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
    pub const PROC_ADDRESS_NOT_FOUND: u32 = 1;
    /// `CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`.
    pub const PROC_ADDRESS_VERSION_NOT_SUFFICIENT: u32 = 2;
    /// `CU_POINTER_ATTRIBUTE_CONTEXT`.
    pub const POINTER_CONTEXT: u32 = 1;
    /// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`.
    pub const POINTER_MEMORY_TYPE: u32 = 2;
    /// `CU_POINTER_ATTRIBUTE_IS_MANAGED`: one byte.
    pub const POINTER_IS_MANAGED: u32 = 8;
    /// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
    pub const POINTER_DEVICE_ORDINAL: u32 = 9;
    /// `CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE`: one byte.
    pub const POINTER_IS_LEGACY_IPC: u32 = 10;
    /// `CU_POINTER_ATTRIBUTE_RANGE_START_ADDR`.
    pub const POINTER_RANGE_START: u32 = 11;
    /// `CU_POINTER_ATTRIBUTE_RANGE_SIZE`.
    pub const POINTER_RANGE_SIZE: u32 = 12;
    /// `CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES`: 64 bits.
    pub const POINTER_HANDLE_TYPES: u32 = 14;
    /// `CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE`.
    pub const POINTER_POOL: u32 = 17;
    /// `CU_MEMORYTYPE_HOST`.
    pub const MEMORY_TYPE_HOST: u32 = 1;
    /// `CU_MEMORYTYPE_DEVICE`.
    pub const MEMORY_TYPE_DEVICE: u32 = 2;
    /// `CU_MEM_ATTACH_GLOBAL`.
    pub const ATTACH_GLOBAL: u32 = 1;
    /// `CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES`: an `int`.
    pub const POOL_REUSE_EVENTS: u32 = 1;
    /// `CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC`: an `int`.
    pub const POOL_REUSE_OPPORTUNISTIC: u32 = 2;
    /// `CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES`: an `int`.
    pub const POOL_REUSE_INTERNAL: u32 = 3;
    /// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`: 64 bits, as all that follow.
    pub const POOL_RELEASE_THRESHOLD: u32 = 4;
    /// `CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT`.
    pub const POOL_RESERVED_CURRENT: u32 = 5;
    /// `CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH`.
    pub const POOL_RESERVED_HIGH: u32 = 6;
    /// `CU_MEMPOOL_ATTR_USED_MEM_CURRENT`.
    pub const POOL_USED_CURRENT: u32 = 7;
    /// `CU_MEMPOOL_ATTR_USED_MEM_HIGH`.
    pub const POOL_USED_HIGH: u32 = 8;
    /// `CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT`: 64 bits, as all that follow.
    pub const GRAPH_USED_CURRENT: u32 = 0;
    /// `CU_GRAPH_MEM_ATTR_USED_MEM_HIGH`.
    pub const GRAPH_USED_HIGH: u32 = 1;
    /// `CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT`.
    pub const GRAPH_RESERVED_CURRENT: u32 = 2;
    /// `CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH`.
    pub const GRAPH_RESERVED_HIGH: u32 = 3;
    /// `CU_GRAPH_NODE_TYPE_KERNEL`.
    pub const NODE_KERNEL: u32 = 0;
    /// `CU_GRAPH_NODE_TYPE_MEMCPY`.
    pub const NODE_MEMCPY: u32 = 1;
    /// `CU_GRAPH_NODE_TYPE_MEMSET`.
    pub const NODE_MEMSET: u32 = 2;
    /// `CU_GRAPH_NODE_TYPE_MEM_ALLOC`.
    pub const NODE_MEM_ALLOC: u32 = 10;
    /// `CU_GRAPH_NODE_TYPE_MEM_FREE`.
    pub const NODE_MEM_FREE: u32 = 11;
    /// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`.
    pub const INSTANTIATE_AUTO_FREE: u64 = 1;
    /// `CU_STREAM_CAPTURE_STATUS_NONE`.
    pub const CAPTURE_STATUS_NONE: u32 = 0;
    /// `CU_STREAM_CAPTURE_STATUS_ACTIVE`.
    pub const CAPTURE_STATUS_ACTIVE: u32 = 1;
    /// `CU_STREAM_CAPTURE_STATUS_INVALIDATED`.
    pub const CAPTURE_STATUS_INVALIDATED: u32 = 2;
}
