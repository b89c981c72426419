//! The structs that hooked calls take, as far as the hooks read them.

use core::ffi::c_void;

/// `CUresult`, as the number it is.
pub type Status = u32;

/// The results that the hooks give or look for.
pub mod status {
    use super::Status;
    pub const SUCCESS: Status = 0;
    /// `CUDA_ERROR_INVALID_VALUE`: what a pool that was destroyed gets.
    pub const INVALID_VALUE: Status = 1;
    /// `CUDA_ERROR_OUT_OF_MEMORY`: the one error that a limit adds.
    pub const OUT_OF_MEMORY: Status = 2;
    /// `CUDA_ERROR_NOT_INITIALIZED`: what a call gets when there is no driver behind it.
    pub const NOT_INITIALIZED: Status = 3;
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// `CUmemLocationType`: 1 is a device.
    pub kind: u32,
    pub id: i32,
}

impl Location {
    /// The ordinal, when it is a device.
    pub(crate) fn device(self) -> Option<i32> {
        (self.kind == 1).then_some(self.id)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocationProperties {
    pub kind: u32,
    pub handle_types: u32,
    /// Where the memory is.
    pub location: Location,
    pub win32: usize,
    pub flags: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolProperties {
    pub kind: u32,
    pub handle_types: u32,
    /// Where the memory is.
    pub location: Location,
    pub win32: usize,
    /// The most that the pool may hold.
    pub max_bytes: usize,
    /// Usage and what is reserved.
    pub reserved: [u64; 7],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocationNode {
    pub pool: PoolProperties,
    /// Who may reach it.
    pub access: usize,
    pub access_count: usize,
    pub bytes: usize,
    pub pointer: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayMapInfo {
    /// The array and the part of it.
    pub resource: [u64; 7],
    /// `CUmemOperationType`: 1 is map.
    pub operation: u32,
    pub handle_kind: u32,
    pub handle: u64,
    pub rest: [u64; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IpcHandle {
    /// Its bytes mean something to the driver only.
    pub bytes: [u8; 64],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ExternalMemory {
    pub kind: u32,
    pub handle: [*mut c_void; 2],
    /// The size of the memory.
    pub bytes: u64,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescription {
    /// Elements in a row.
    pub width: usize,
    /// Rows, or 0 for one dimension.
    pub height: usize,
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array3DDescription {
    /// Elements in a row.
    pub width: usize,
    pub height: usize,
    /// Slices or layers, or 0.
    pub depth: usize,
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescription32 {
    /// Elements in a row.
    pub width: u32,
    pub height: u32,
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array3DDescription32 {
    /// Elements in a row.
    pub width: u32,
    pub height: u32,
    /// Slices or layers, or 0.
    pub depth: u32,
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryRequirements {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [u32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NvmlMemory {
    pub total: u64,
    pub free: u64,
    pub used: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NvmlMemoryV2 {
    pub version: u32,
    pub total: u64,
    /// What the driver keeps for itself.
    pub reserved: u64,
    pub free: u64,
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
