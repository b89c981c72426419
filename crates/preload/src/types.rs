//! The structs that hooked calls take, as far as the hooks read them.

use core::ffi::c_void;

/// `CUresult`, as the number it is.
pub type Status = u32;

/// The results that the hooks give or look for.
pub mod status {
    use super::Status;
    /// `CUDA_SUCCESS`, and NVML's.
    pub const SUCCESS: Status = 0;
    /// `CUDA_ERROR_INVALID_VALUE`: what a pool that was destroyed gets.
    pub const INVALID_VALUE: Status = 1;
    /// `CUDA_ERROR_OUT_OF_MEMORY`: the one error that a limit adds.
    pub const OUT_OF_MEMORY: Status = 2;
    /// `CUDA_ERROR_NOT_INITIALIZED`: what a call gets when there is no driver behind it.
    pub const NOT_INITIALIZED: Status = 3;
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// `CUmemLocationType`: 1 is a device.
    pub kind: u32,
    /// The device's ordinal.
    pub id: i32,
}

impl Location {
    /// The ordinal, when it is a device.
    pub(crate) fn device(self) -> Option<i32> {
        (self.kind == 1).then_some(self.id)
    }
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocationProperties {
    /// `CUmemAllocationType`.
    pub kind: u32,
    /// `CUmemAllocationHandleType` bits.
    pub handle_types: u32,
    /// Where the memory is.
    pub location: Location,
    /// Unused on Linux.
    pub win32: usize,
    /// Compression, RDMA, usage.
    pub flags: u64,
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolProperties {
    /// `CUmemAllocationType`.
    pub kind: u32,
    /// `CUmemAllocationHandleType`.
    pub handle_types: u32,
    /// Where the memory is.
    pub location: Location,
    /// Unused on Linux.
    pub win32: usize,
    /// The most that the pool may hold.
    pub max_bytes: usize,
    /// Usage and what is reserved.
    pub reserved: [u64; 7],
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocationNode {
    /// Where and how.
    pub pool: PoolProperties,
    /// Who may reach it.
    pub access: usize,
    /// How many may.
    pub access_count: usize,
    /// Its size.
    pub bytes: usize,
    /// Its address.
    pub pointer: u64,
}

/// `CUarrayMapInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayMapInfo {
    /// The array and the part of it.
    pub resource: [u64; 7],
    /// `CUmemOperationType`: 1 is map.
    pub operation: u32,
    /// `CUmemHandleType`.
    pub handle_kind: u32,
    /// The allocation.
    pub handle: u64,
    /// The rest.
    pub rest: [u64; 3],
}

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IpcHandle {
    /// Its bytes mean something to the driver only.
    pub bytes: [u8; 64],
}

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExternalMemory {
    /// `CUexternalMemoryHandleType`.
    pub kind: u32,
    /// The handle.
    pub handle: [*mut c_void; 2],
    /// The size of the memory.
    pub bytes: u64,
    /// Flags.
    pub flags: u32,
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescription {
    /// Elements in a row.
    pub width: usize,
    /// Rows, or 0 for one dimension.
    pub height: usize,
    /// `CUarray_format`.
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array3DDescription {
    /// Elements in a row.
    pub width: usize,
    /// Rows, or 0.
    pub height: usize,
    /// Slices or layers, or 0.
    pub depth: usize,
    /// `CUarray_format`.
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
    /// `CUDA_ARRAY3D_*`.
    pub flags: u32,
}

/// `CUDA_ARRAY_DESCRIPTOR_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescription32 {
    /// Elements in a row.
    pub width: u32,
    /// Rows, or 0.
    pub height: u32,
    /// `CUarray_format`.
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR_v1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array3DDescription32 {
    /// Elements in a row.
    pub width: u32,
    /// Rows, or 0.
    pub height: u32,
    /// Slices or layers, or 0.
    pub depth: u32,
    /// `CUarray_format`.
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
    /// `CUDA_ARRAY3D_*`.
    pub flags: u32,
}

/// `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryRequirements {
    /// Bytes.
    pub size: usize,
    /// Alignment.
    pub alignment: usize,
    /// Nothing yet.
    pub reserved: [u32; 4],
}

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NvmlMemory {
    /// The card's size.
    pub total: u64,
    /// What is free.
    pub free: u64,
    /// What is not.
    pub used: u64,
}

/// `nvmlMemory_v2_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NvmlMemoryV2 {
    /// The struct's version.
    pub version: u32,
    /// The card's size.
    pub total: u64,
    /// What the driver keeps for itself.
    pub reserved: u64,
    /// What is free.
    pub free: u64,
    /// What programs use.
    pub used: u64,
}

/// `nvmlProcessInfo_t`, the layout of `_v3`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NvmlProcess {
    /// The process, as the host numbers it.
    pub pid: u32,
    /// Its bytes on the card.
    pub used: u64,
    /// MIG instances.
    pub instances: [u32; 2],
}

const _: () = {
    assert!(size_of::<AllocationProperties>() == 32);
    assert!(size_of::<PoolProperties>() == 88);
    assert!(size_of::<AllocationNode>() == 120);
    assert!(size_of::<ArrayMapInfo>() == 96);
    assert!(core::mem::offset_of!(ArrayMapInfo, handle) == 64);
    assert!(core::mem::offset_of!(ExternalMemory, bytes) == 24);
    assert!(size_of::<ArrayDescription>() == 24);
    assert!(size_of::<Array3DDescription>() == 40);
    assert!(size_of::<NvmlMemoryV2>() == 40);
    assert!(size_of::<NvmlProcess>() == 24);
};
