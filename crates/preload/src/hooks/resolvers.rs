//! How programs find functions.

use core::ffi::{c_char, c_int};

use crate::resolve;
use crate::types::Status;

pub(crate) unsafe fn cuGetProcAddress(
    symbol: *const c_char,
    function: *mut usize,
    version: c_int,
    flags: u64,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { resolve::get_proc_address(symbol, function, version, flags) }
}

pub(crate) unsafe fn cuGetProcAddress_v2(
    symbol: *const c_char,
    function: *mut usize,
    version: c_int,
    flags: u64,
    why: *mut u32,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { resolve::get_proc_address_v2(symbol, function, version, flags, why) }
}
