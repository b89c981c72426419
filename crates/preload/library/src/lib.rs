//! `libmillpond_preload.so`: the hooks of `millpond-preload` under the names that programs link to.
//!
//! The key decision: `dlsym` is a naked function that leaves by a jump. The real one finds its
//! caller by the return address, and a call in between would make this library the caller of every
//! search for "the next" symbol: programs with another preloaded library would loop for ever.
//!
//! In the profile `preload` it is built without the standard library and has no constructor.

#![cfg_attr(panic = "abort", no_std)]
#![allow(non_snake_case, reason = "the functions have the names of the C functions")]

use core::ffi::{c_char, c_int, c_uint, c_void};

use millpond_preload::hooks::{self, entry};
use millpond_preload::resolve::{self, Route};
use millpond_preload::types::*;

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Nothing here panics on purpose, and unwinding into a stranger's frames is not possible.
    // SAFETY: no conditions.
    unsafe { libc::abort() }
}

macro_rules! exports {
    ($($class:ident $name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, for programs that link to it directly.")]
            ///
            /// # Safety
            /// As the driver documents for this call.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> Status {
                // SAFETY: as the caller promised.
                unsafe { entry::$name($($arg),*) }
            }
        )*

        static EXPORTED: &[unsafe extern "C" fn()] = &[$({
            let function: unsafe extern "C" fn($($type),*) -> Status = $name;
            // SAFETY: only its address is used.
            unsafe {
                core::mem::transmute::<unsafe extern "C" fn($($type),*) -> Status, unsafe extern "C" fn()>(function)
            }
        }),*];
    };
}
millpond_preload::hooked_entry_points!(exports);

fn exported(number: usize) -> usize {
    EXPORTED.get(number).map_or(0, |function| *function as usize)
}

/// Decides what a look-up does.
///
/// # Safety
/// As for `dlsym`.
unsafe extern "C" fn route(handle: *mut c_void, name: *const c_char) -> Route {
    resolve::announce_exports(exported);
    // SAFETY: as the caller promised.
    unsafe { resolve::route(handle, name) }
}

/// `dlsym`: the caller's arguments and return address go on to the real one, unless the name is one
/// of the driver's.
///
/// # Safety
/// As for `dlsym`.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {route}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rdx, rdx",
        "jz 2f",
        "jmp rdx",
        "2:",
        "ret",
        route = sym route,
    )
}

/// `dlsym`: the caller's arguments and return address go on to the real one, unless the name is one
/// of the driver's.
///
/// # Safety
/// As for `dlsym`.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x29, sp",
        "bl {route}",
        "mov x16, x0",
        "mov x17, x1",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x17, 2f",
        "br x17",
        "2:",
        "mov x0, x16",
        "ret",
        route = sym route,
    )
}

/// Imports memory for which somebody else pays, such as the pond's: it is shown, not charged.
/// Otherwise as `cuMemImportFromShareableHandle`.
///
/// # Safety
/// As the driver documents for that call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn millpond_preload_import(
    handle: *mut u64,
    os_handle: *mut c_void,
    kind: c_uint,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { hooks::import_shared(handle, os_handle, kind) }
}

/// Ends the charge of memory that this program has made and now somebody else pays for: the pond.
/// Answers 0, or 1 when nothing like it is charged here.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_hand_over(pointer: u64, bytes: u64) -> c_int {
    c_int::from(!hooks::hand_over(pointer, bytes))
}

/// Charges memory again for which nobody else pays any more. Answers 0, or 1 when it is not there.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_take_back(pointer: u64, bytes: u64) -> c_int {
    c_int::from(!hooks::take_back(pointer, bytes))
}

/// Opens a legacy handle of memory for which somebody else pays: it is shown, not charged. Otherwise as
/// `cuIpcOpenMemHandle`.
///
/// # Safety
/// As the driver documents for that call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn millpond_preload_open(
    pointer: *mut u64,
    handle: IpcHandle,
    flags: c_uint,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { hooks::open_shared(pointer, handle, flags) }
}

/// Imports memory of a pool for which somebody else pays: it is shown, not charged. Otherwise as
/// `cuMemPoolImportPointer`.
///
/// # Safety
/// As the driver documents for that call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn millpond_preload_import_pointer(
    pointer: *mut u64,
    pool: usize,
    data: *mut c_void,
) -> Status {
    // SAFETY: as the caller promised.
    unsafe { hooks::import_pointer_shared(pointer, pool, data) }
}

/// The library's version, as text.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_preload_version() -> *const c_char {
    millpond_preload::VERSION.as_ptr()
}
