//! The structs of pools and of graphs' allocation nodes, with plain integers for closed enums.

use super::{CUDA_MEM_ALLOC_NODE_PARAMS, CUdeviceptr, CUmemAccessDesc, CUmemPoolProps, constants};
use std::ffi::c_void;
use std::mem::{align_of, offset_of, size_of};
use std::ptr;

/// `CUmemPoolProps` with its enums as numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolProperties {
    /// `CUmemAllocationType`: 1 is pinned device memory.
    pub kind: u32,
    /// `CUmemAllocationHandleType` bits: how the pool can be exported; 0 for not at all.
    pub handle_types: u32,
    /// `CUmemLocationType`: 1 is a device.
    pub location_kind: u32,
    /// Device ordinal when the location is a device.
    pub location_id: i32,
    /// Unused on Linux.
    pub win32_attributes: *mut c_void,
    /// The most bytes that the pool may take from the device; 0 for no such limit.
    pub max_bytes: usize,
    /// `CU_MEM_CREATE_USAGE_*` bits.
    pub usage: u16,
    /// Zero.
    pub reserved: [u8; 54],
}

impl PoolProperties {
    /// A pool of a device's memory.
    #[must_use]
    pub const fn of_device(ordinal: i32) -> Self {
        Self {
            kind: constants::ALLOCATION_PINNED,
            handle_types: 0,
            location_kind: constants::LOCATION_DEVICE,
            location_id: ordinal,
            win32_attributes: ptr::null_mut(),
            max_bytes: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }

    /// The same address as the type of the entry point's signature.
    #[must_use]
    pub const fn as_raw(&self) -> *const CUmemPoolProps {
        ptr::from_ref(self).cast()
    }
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS` likewise.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocNodeParameters {
    /// Where the memory is.
    pub pool: PoolProperties,
    /// Further devices that may use it.
    pub access: *const CUmemAccessDesc,
    /// How many those are.
    pub access_count: usize,
    /// Size.
    pub bytes: usize,
    /// The address, which the driver fills in.
    pub address: CUdeviceptr,
}

impl AllocNodeParameters {
    /// That many bytes of a device's memory.
    #[must_use]
    pub const fn of_device(ordinal: i32, bytes: usize) -> Self {
        Self {
            pool: PoolProperties::of_device(ordinal),
            access: ptr::null(),
            access_count: 0,
            bytes,
            address: 0,
        }
    }

    /// The same address as the type of the entry point's signature, to be written.
    #[must_use]
    pub const fn as_raw_mut(&mut self) -> *mut CUDA_MEM_ALLOC_NODE_PARAMS {
        ptr::from_mut(self).cast()
    }
}

const _: () = {
    assert!(size_of::<PoolProperties>() == 88);
    assert!(size_of::<PoolProperties>() == size_of::<CUmemPoolProps>());
    assert!(align_of::<PoolProperties>() == align_of::<CUmemPoolProps>());
    assert!(offset_of!(PoolProperties, max_bytes) == offset_of!(CUmemPoolProps, maxSize));
    assert!(offset_of!(PoolProperties, usage) == offset_of!(CUmemPoolProps, usage));
    assert!(size_of::<AllocNodeParameters>() == size_of::<CUDA_MEM_ALLOC_NODE_PARAMS>());
    assert!(
        offset_of!(AllocNodeParameters, bytes) == offset_of!(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize)
    );
    assert!(
        offset_of!(AllocNodeParameters, address) == offset_of!(CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
    );
};
