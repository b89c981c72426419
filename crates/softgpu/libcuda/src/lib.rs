//! `libcuda.so.1` on host memory: the software driver's functions under the names that programs ask for.
//!
//! Everything is in `millpond-softgpu`; this crate only exports it. The key decision is that the list
//! of exports is made from the same lists as the driver's own table, so the two cannot differ.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

use millpond_cuda::sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmemAccessDesc, CUmemAllocationProp,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemPoolProps, CUmemPoolPtrExportData,
    CUmemoryPool, CUmodule, CUstream, CUuuid, Status,
};
use millpond_softgpu::bridge;

/// Exports functions under their own names, and answers their addresses by name.
macro_rules! exports {
    ($table:ident; $($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, as CUDA documents it.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that CUDA documents for this call.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> Status {
                bridge::announce_exports(address);
                // SAFETY: as the caller promised.
                unsafe { bridge::$name($($arg),*) }
            }
        )*

        fn $table(name: &str) -> *const c_void {
            match name {
                $(stringify!($name) => {
                    let function: unsafe extern "C" fn($($type),*) -> Status = $name;
                    function as *const c_void
                })*
                _ => std::ptr::null(),
            }
        }
    };
}

/// Exports functions under a second name.
macro_rules! aliases {
    ($($alias:ident = $name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` under the name that many programs use.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that CUDA documents for this call.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $alias($($arg: $type),*) -> Status {
                // SAFETY: as the caller promised.
                unsafe { $name($($arg),*) }
            }
        )*
    };
}

macro_rules! listed { ($($list:tt)*) => { exports!(listed_address; $($list)*); } }
macro_rules! extra { ($($list:tt)*) => { exports!(extra_address; $($list)*); } }
millpond_cuda::cuda_entry_points!(listed);
millpond_softgpu::extra_entry_points!(extra);
millpond_softgpu::alias_entry_points!(aliases);

fn address(name: &str) -> *const c_void {
    let listed = listed_address(name);
    if listed.is_null() { extra_address(name) } else { listed }
}
