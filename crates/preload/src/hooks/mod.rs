//! What each hooked function does.
//!
//! Every body follows one order: decide without the driver, reserve, call the real function with the
//! caller's own arguments, settle by what it answered. What the hooks do not know is the driver's.

#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

mod arrays;
mod captures;
mod context_charge;
mod context_size;
mod context_table;
mod contexts;
mod exports;
mod forwards;
mod graphs;
mod handover;
mod imports;
mod linear;
mod pending;
mod physical;
mod pool_calls;
mod pool_readings;
mod pool_registry;
mod pools;
mod primary;
mod queries;
mod reserve;
mod resolvers;
mod settle;
mod waits;

use core::ffi::{c_char, c_int, c_uint, c_void};

use crate::driver::real;
use crate::settings;
use crate::types::*;

pub use handover::{hand_over, take_back};
pub use imports::{import_pointer_shared, import_shared, open_shared};

/// The bodies, each under its function's name.
mod bodies {
    pub(super) use super::arrays::*;
    pub(super) use super::contexts::*;
    pub(super) use super::exports::*;
    pub(super) use super::forwards::*;
    pub(super) use super::graphs::*;
    pub(super) use super::imports::*;
    pub(super) use super::linear::*;
    pub(super) use super::physical::*;
    pub(super) use super::pool_calls::*;
    pub(super) use super::primary::*;
    pub(super) use super::queries::*;
    pub(super) use super::resolvers::*;
    pub(super) use super::waits::*;
}

/// Whether a class of calls is ours: a device's name alone changes answers, and nothing is charged.
macro_rules! ours {
    (resolver) => {
        settings::active()
    };
    (query) => {
        settings::active()
    };
    ($class:ident) => {
        settings::limited()
    };
}

macro_rules! entries {
    ($($class:ident $name:ident($($arg:ident: $type:ty),*);)*) => {
        /// The functions that programs get in place of the driver's.
        pub mod entry {
            use super::*;
            $(
                #[doc = concat!("`", stringify!($name), "`; straight to the driver when nothing is limited.")]
                ///
                /// # Safety
                /// As the driver documents for this call.
                pub unsafe extern "C" fn $name($($arg: $type),*) -> Status {
                    if ours!($class) {
                        // SAFETY: as the caller promised.
                        unsafe { bodies::$name($($arg),*) }
                    } else {
                        // SAFETY: as the caller promised.
                        unsafe { real::$name($($arg),*) }
                    }
                }
            )*
        }

        static ENTRIES: &[unsafe extern "C" fn()] = &[$({
            let function: unsafe extern "C" fn($($type),*) -> Status = entry::$name;
            // SAFETY: only its address is used.
            unsafe {
                core::mem::transmute::<unsafe extern "C" fn($($type),*) -> Status, unsafe extern "C" fn()>(function)
            }
        }),*];
    };
}
crate::hooked_entry_points!(entries);

/// The address of a hook by its place in the list.
pub(crate) fn address(number: usize) -> usize {
    ENTRIES.get(number).map_or(0, |entry| *entry as usize)
}

/// What the driver wrote behind a pointer, after it said that it did.
///
/// # Safety
/// The pointer may be read.
unsafe fn written<T: Copy>(pointer: *const T) -> T {
    // SAFETY: as the caller promised; C programs may align badly.
    unsafe { pointer.read_unaligned() }
}

/// A key for the tables from a handle or pointer.
fn key(handle: usize) -> u64 {
    u64::try_from(handle).unwrap_or(0)
}
