//! `libcuda.so.1` on host memory: the software driver's functions under the names that programs ask for.
//!
//! Everything is in `millpond-softgpu`; this crate only exports it. The key decision is that the list
//! of exports is made from the same lists as the driver's own table, so the two cannot differ.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

// The lists name every type that some signature uses.
use millpond_cuda::sys::*;
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
macro_rules! twins { ($($twin:ident = $name:ident($($args:tt)*);)*) => { exports!(twin_address; $($twin($($args)*);)*); } }
millpond_softgpu::twin_entry_points!(twins);
millpond_softgpu::alias_entry_points!(aliases);

fn address(name: &str) -> *const c_void {
    let tables = [listed_address, extra_address, twin_address];
    let found = tables.iter().map(|table| table(name)).find(|address| !address.is_null());
    found.unwrap_or(std::ptr::null())
}
