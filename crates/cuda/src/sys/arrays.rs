//! Structures of CUDA arrays, with numbers where the header has enums.

use cudarc::driver::sys as raw;
use std::ffi::c_uint;

/// `CUDA_ARRAY_DESCRIPTOR`: an array of one or two dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayDescriptor {
    /// Elements in a row.
    pub width: usize,
    /// Rows; 0 for one dimension.
    pub height: usize,
    /// `CU_AD_FORMAT_*`.
    pub format: u32,
    /// Channels of an element.
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`: an array of up to three dimensions, or of layers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Array3dDescriptor {
    /// Elements in a row.
    pub width: usize,
    /// Rows; 0 for one dimension.
    pub height: usize,
    /// Slices or layers; 0 for none.
    pub depth: usize,
    /// `CU_AD_FORMAT_*`.
    pub format: u32,
    /// Channels of an element.
    pub channels: c_uint,
    /// `CUDA_ARRAY3D_*`.
    pub flags: c_uint,
}

/// `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayMemoryRequirements {
    /// Bytes that the array needs.
    pub size: usize,
    /// What its memory must be aligned to.
    pub alignment: usize,
    /// Not used.
    pub reserved: [c_uint; 4],
}

const _: () = {
    assert!(size_of::<ArrayDescriptor>() == size_of::<raw::CUDA_ARRAY_DESCRIPTOR>());
    assert!(size_of::<Array3dDescriptor>() == size_of::<raw::CUDA_ARRAY3D_DESCRIPTOR>());
    assert!(
        size_of::<ArrayMemoryRequirements>() == size_of::<raw::CUDA_ARRAY_MEMORY_REQUIREMENTS>()
    );
};
