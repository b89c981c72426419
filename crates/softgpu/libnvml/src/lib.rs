//! `libnvidia-ml.so.1` on host memory: the software driver's readings under NVML's names.
//!
//! Everything is in `millpond-softgpu`; this crate only exports it, from the same lists as the
//! driver's own table. It shares nothing with `libcuda.so.1` in the same process but the folder.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

use std::ffi::{c_char, c_int, c_uint, c_void};

// The lists name every type that some signature uses.
use millpond_cuda::sys::*;
use millpond_softgpu::bridge;

/// Exports functions under their own names.
macro_rules! exports {
    ($($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, as NVML documents it.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that NVML documents for this call.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> NvmlStatus {
                // SAFETY: as the caller promised.
                unsafe { bridge::$name($($arg),*) }
            }
        )*
    };
}

/// Exports functions under a second name.
macro_rules! aliases {
    ($($alias:ident = $name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` under the name that older programs use.")]
            ///
            /// # Safety
            /// Every pointer is null or valid in the way that NVML documents for this call.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $alias($($arg: $type),*) -> NvmlStatus {
                // SAFETY: as the caller promised.
                unsafe { bridge::$name($($arg),*) }
            }
        )*
    };
}

millpond_cuda::nvml_entry_points!(exports);
millpond_softgpu::nvml_extra_entry_points!(exports);
millpond_softgpu::nvml_alias_entry_points!(aliases);

/// `nvmlErrorString`: what a code means, which never fails.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(result: NvmlStatus) -> *const c_char {
    let text = match result {
        NvmlStatus::SUCCESS => c"The operation was successful",
        NvmlStatus::UNINITIALIZED => c"Uninitialized",
        NvmlStatus::INVALID_ARGUMENT => c"Invalid Argument",
        NvmlStatus::NOT_SUPPORTED => c"Not Supported",
        NvmlStatus::NOT_FOUND => c"Not Found",
        NvmlStatus::INSUFFICIENT_SIZE => c"Insufficient Size",
        NvmlStatus::NO_PERMISSION => c"Insufficient Permissions",
        NvmlStatus::DRIVER_NOT_LOADED => c"Driver Not Loaded",
        NvmlStatus::FUNCTION_NOT_FOUND => c"Function Not Found",
        NvmlStatus::GPU_IS_LOST => c"GPU is lost",
        NvmlStatus::ARGUMENT_VERSION_MISMATCH => c"Argument version mismatch",
        _ => c"Unknown Error",
    };
    text.as_ptr()
}
