//! The raw layer: types, status codes, the list of entry points and the tables made from it.
//!
//! Types and constants are those of `cudarc`; functions are not, see the crate documentation.

mod arrays;
mod entry_points;
mod library;
mod nvml;
mod pool_types;
mod status;
mod table;
mod types;

pub use arrays::{Array3dDescriptor, ArrayDescriptor, ArrayMemoryRequirements};
pub use library::{Library, LoadError, global_symbol, library_containing};
pub use nvml::{NvmlMemoryV2, NvmlPciInfo, NvmlProcessInfoV1};
pub use pool_types::{AllocNodeParameters, PoolProperties};
pub use status::{NvmlStatus, Status};
pub use table::{CudaTable, MissingSymbol, NvmlTable};
pub use types::{AllocationProperties, constants};

pub use cudarc::driver::sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemAccessDesc, CUmemAllocationProp,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemPoolProps, CUmemPoolPtrExportData,
    CUmemoryPool, CUmodule, CUstream, CUuuid,
};
pub use cudarc::driver::sys::{CUarray, CUipcEventHandle, CUipcMemHandle, CUmipmappedArray};

use std::ffi::{c_uint, c_ulonglong, c_void};

/// An opaque NVML device.
pub type NvmlDevice = *mut c_void;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmlMemory {
    /// Bytes on the card.
    pub total: c_ulonglong,
    /// Bytes not in use by anybody.
    pub free: c_ulonglong,
    /// Bytes in use, the driver's own included.
    pub used: c_ulonglong,
}

/// `nvmlUtilization_t`, in percent of the last sample.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmlUtilization {
    /// Of the time a kernel ran.
    pub gpu: c_uint,
    /// Of the time memory was read or written.
    pub memory: c_uint,
}

/// `nvmlProcessInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NvmlProcessInfo {
    /// Process id in NVML's own pid namespace.
    pub pid: c_uint,
    /// Bytes used by the process; all ones when the driver does not say.
    pub used_gpu_memory: c_ulonglong,
    /// MIG GPU instance, or all ones.
    pub gpu_instance_id: c_uint,
    /// MIG compute instance, or all ones.
    pub compute_instance_id: c_uint,
}

/// A driver that is part of this program: a look-up from symbol to function.
///
/// The software driver offers one, so that a program runs on it without any shared library.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// Shown to people, for example `soft`.
    pub name: &'static str,
    /// Returns the address of a `cu*` entry point with exactly the signature of the list, or null.
    pub cuda_symbol: fn(&str) -> *const c_void,
    /// The same for `nvml*`.
    pub nvml_symbol: fn(&str) -> *const c_void,
}
