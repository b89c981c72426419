//! The real functions: where they are, and how they are called.
//!
//! An address is looked up when it is first needed and kept for good: its library is marked to stay
//! loaded. Nothing here is called before the program has asked for a driver function.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::types::*;

/// What a hook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Resolver,
    /// Takes memory: reserved before the call, settled after it.
    Reserve,
    Free,
    /// Makes or ends a context.
    Context,
    /// Notes what a later call needs to know.
    Track,
    /// Looks at pools that may have shrunk.
    Sync,
    /// Answers with the limit.
    Query,
    /// Called by hooks, not replaced.
    Call,
}

macro_rules! action {
    (resolver) => {
        Action::Resolver
    };
    (reserve) => {
        Action::Reserve
    };
    (free) => {
        Action::Free
    };
    (context) => {
        Action::Context
    };
    (track) => {
        Action::Track
    };
    (sync) => {
        Action::Sync
    };
    (query) => {
        Action::Query
    };
    (call) => {
        Action::Call
    };
}

/// Makes, for a list, its names with actions, its numbers, and functions that call the real ones.
macro_rules! table {
    ($names:ident, $number:ident, $addresses:ident, $calls:ident;
     $($class:ident $name:ident($($arg:ident: $type:ty),*);)*) => {
        #[allow(non_camel_case_types, reason = "the names of the C functions")]
        #[allow(clippy::enum_variant_names, reason = "the names of the C functions")]
        #[derive(Clone, Copy)]
        pub(crate) enum $number { $($name),* }

        /// Names and actions, in the list's order.
        pub(crate) static $names: &[(&CStr, Action)] = &[$((
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            action!($class),
        )),*];

        static $addresses: [AtomicUsize; [$(stringify!($name)),*].len()] =
            [$({ let _ = stringify!($name); AtomicUsize::new(0) }),*];

        /// The real functions. One that the driver lacks answers that there is no driver.
        pub(crate) mod $calls {
            #![allow(non_snake_case, reason = "the names of the C functions")]
            use super::*;
            $(
                /// # Safety
                /// As the driver documents for this call.
                #[inline]
                pub(crate) unsafe fn $name($($arg: $type),*) -> Status {
                    let index = $number::$name as usize;
                    let mut address = super::$addresses[index].load(Ordering::Relaxed);
                    if address == 0 {
                        address = find(&super::$addresses[index], $names[index].0);
                        if address == 0 {
                            return status::NOT_INITIALIZED;
                        }
                    }
                    // SAFETY: the address of this name in the driver's library, and the list has its
                    // signature; the arguments are the caller's.
                    unsafe {
                        let function: unsafe extern "C" fn($($type),*) -> Status =
                            core::mem::transmute(address);
                        function($($arg),*)
                    }
                }
            )*
        }
    };
}
macro_rules! hooked { ($($list:tt)*) => { table!(HOOKED, Hooked, REAL, real; $($list)*); } }
macro_rules! called { ($($list:tt)*) => { table!(CALLED, Called, OTHERS, others; $($list)*); } }
crate::hooked_entry_points!(hooked);
crate::list::called_entry_points!(called);

/// Every hooked name with its action.
pub fn hooked_names() -> impl ExactSizeIterator<Item = (&'static CStr, Action)> {
    HOOKED.iter().copied()
}

/// Whether a name is one of the driver's: `cu` or `nvml` and a capital letter. Names such as
/// `cublasCreate` and `curl_easy_init` are not.
pub(crate) fn is_driver_name(name: &[u8]) -> bool {
    match name {
        [b'c', b'u', next, ..] | [b'n', b'v', b'm', b'l', next, ..] => next.is_ascii_uppercase(),
        _ => false,
    }
}

/// The place of a name in the list of hooks.
pub(crate) fn hook_number(name: &CStr) -> Option<usize> {
    HOOKED.iter().position(|hook| hook.0 == name)
}

/// The real address of a hook, looked up if need be; 0 when there is none.
pub(crate) fn real_address(number: usize) -> usize {
    let (Some(place), Some(hook)) = (REAL.get(number), HOOKED.get(number)) else { return 0 };
    match place.load(Ordering::Relaxed) {
        0 => find(place, hook.0),
        known => known,
    }
}

/// Says where a real function is, when its library is not known by name.
pub(crate) fn learn(number: usize, address: usize) {
    if let Some(place) = REAL.get(number) {
        let _ = place.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Whether the driver has a function that the hooks call.
pub(crate) fn has(called: Called) -> bool {
    let index = called as usize;
    let (Some(place), Some(name)) = (OTHERS.get(index), CALLED.get(index)) else { return false };
    place.load(Ordering::Relaxed) != 0 || find(place, name.0) != 0
}

/// The hook whose real function this is.
pub(crate) fn hook_of(address: usize) -> Option<usize> {
    let exported = REAL.iter().position(|real| real.load(Ordering::Relaxed) == address);
    let renamed = || address != 0 && address == RENAMED.load(Ordering::Relaxed);
    exported.or_else(|| renamed().then_some(Hooked::cuGraphInstantiateWithFlags as usize))
}

/// `cuGraphInstantiate` as it is since CUDA 12, which a driver may have under no exported name: it
/// does what `cuGraphInstantiateWithFlags` does, with the same arguments.
static RENAMED: AtomicUsize = AtomicUsize::new(0);

fn find_renamed() {
    const SINCE: c_int = 12_000;
    let (mut found, mut why) = (0_usize, 0_u32);
    let name = c"cuGraphInstantiate".as_ptr();
    // SAFETY: the name ends in NUL, and both results are valid for the call, which needs no `cuInit`.
    let status = unsafe { real::cuGetProcAddress_v2(name, &raw mut found, SINCE, 0, &raw mut why) };
    if status == status::SUCCESS {
        RENAMED.store(found, Ordering::Relaxed);
    }
}

/// Looks up every hooked function of CUDA, so that addresses can be told apart.
pub(crate) fn find_all() {
    static DONE: AtomicUsize = AtomicUsize::new(0);
    if DONE.load(Ordering::Acquire) == 0 {
        for number in 0..HOOKED.len() {
            real_address(number);
        }
        find_renamed();
        DONE.store(1, Ordering::Release);
    }
}

/// The library that a function is in.
pub(crate) fn library_of(name: &CStr) -> &'static CStr {
    if name.to_bytes().starts_with(b"nvml") { c"libnvidia-ml.so.1" } else { c"libcuda.so.1" }
}

#[cold]
fn find(place: &AtomicUsize, name: &CStr) -> usize {
    let found = crate::resolve::in_loaded_library(library_of(name), name);
    if found != 0 {
        place.store(found, Ordering::Relaxed);
    }
    found
}
