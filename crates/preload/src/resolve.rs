//! How programs find functions, and how they get ours instead.
//!
//! The real look-up comes first, always; its answer, an *address*, decides which hook a program
//! gets. So the version and the stream variant are the driver's choice, and what the driver lacks
//! stays missing.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::driver;
use crate::settings;

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// What the exported `dlsym` does next: jump to the real one, or give an answer.
#[repr(C)]
#[derive(Debug)]
pub struct Route {
    /// The answer, when there is no jump.
    pub answer: *mut c_void,
    /// Where to jump to with the caller's own arguments and return address.
    pub jump: usize,
}

/// The real `dlsym`, by its version: the plain name would be ours. 0 when there is none.
fn real_dlsym() -> usize {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    let known = REAL.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    for version in [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"] {
        // SAFETY: both texts end with a zero.
        let found =
            unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) }.addr();
        if found != 0 {
            REAL.store(found, Ordering::Relaxed);
            return found;
        }
    }
    0
}

/// Asks the real `dlsym`, as this library.
fn ask(handle: *mut c_void, name: &CStr) -> *mut c_void {
    let real = real_dlsym();
    if real == 0 {
        return core::ptr::null_mut();
    }
    // SAFETY: the address of `dlsym`, whose signature this is; the handle is the caller's.
    unsafe {
        let real: Dlsym = core::mem::transmute(real);
        real(handle, name.as_ptr())
    }
}

/// A function of a library that is loaded already: by its name, else by what comes after us.
#[cold]
pub(crate) fn in_loaded_library(library: &CStr, name: &CStr) -> usize {
    let found = look_in(library, name);
    let found = if found == 0 { ask(libc::RTLD_NEXT, name).addr() } else { found };
    forget_errors();
    if is_ours(found) { 0 } else { found }
}

fn look_in(library: &CStr, name: &CStr) -> usize {
    let Some(handle) = stay(library) else { return 0 };
    let found = ask(handle, name).addr();
    // SAFETY: the handle was just opened, and the library stays.
    unsafe { libc::dlclose(handle) };
    found
}

/// A library that is loaded, marked to stay. Programs load the driver to see whether there is one and
/// let go of it again; loaded the next time elsewhere, its functions would be unknown to the hooks.
fn stay(library: &CStr) -> Option<*mut c_void> {
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: the text ends with a zero.
    let handle = unsafe { libc::dlopen(library.as_ptr(), flags) };
    (!handle.is_null()).then_some(handle)
}

/// The library of a function stays.
fn stay_with(function: usize) {
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and the struct has room.
    let found = unsafe {
        (libc::dladdr(core::ptr::with_exposed_provenance(function), found.as_mut_ptr()) != 0)
            .then(|| found.assume_init())
    };
    if let Some(found) = found.filter(|found| !found.dli_fname.is_null())
        // SAFETY: the loader's own text, which lives as long as the library.
        && let Some(handle) = stay(unsafe { CStr::from_ptr(found.dli_fname) })
    {
        // SAFETY: just opened.
        unsafe { libc::dlclose(handle) };
    }
    forget_errors();
}

/// Runs what makes system calls of its own; errno is the program's and stays.
fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: the C library's own variable of this thread.
    unsafe {
        let errno = *libc::__errno_location();
        let answer = work();
        *libc::__errno_location() = errno;
        answer
    }
}

/// Our own look-ups may fail; the program must not find their words when it asks for its own.
pub(crate) fn forget_errors() {
    // SAFETY: no conditions.
    unsafe { libc::dlerror() };
}

static EXPORTED: AtomicUsize = AtomicUsize::new(0);
type Exported = fn(usize) -> usize;

/// Tells where the shared library exports its hooks: the addresses that a direct link binds to.
pub fn announce_exports(exported: Exported) {
    EXPORTED.store(exported as usize, Ordering::Relaxed);
}

fn exported_address(number: usize) -> usize {
    let exported = EXPORTED.load(Ordering::Relaxed);
    if exported == 0 {
        return 0;
    }
    // SAFETY: only `announce_exports` stores here, and it stores a function of this type.
    let exported: Exported = unsafe { core::mem::transmute(exported) };
    exported(number)
}

fn is_ours(address: usize) -> bool {
    address != 0
        && (0..driver::HOOKED.len()).any(|number| {
            address == exported_address(number) || address == crate::hooks::address(number)
        })
}

/// What `dlsym(handle, name)` does.
///
/// # Safety
/// `name` is null or a text that ends with a zero.
pub unsafe extern "C" fn route(handle: *mut c_void, name: *const c_char) -> Route {
    let jump = Route { answer: core::ptr::null_mut(), jump: real_dlsym() };
    if name.is_null() || jump.jump == 0 {
        return jump;
    }
    // SAFETY: not null, and a text as the caller promised.
    let name = unsafe { CStr::from_ptr(name) };
    if !driver::is_driver_name(name.to_bytes()) {
        return jump;
    }
    let Some(number) = driver::hook_number(name) else { return jump };
    keeping_errno(|| route_hooked(handle, name, number, jump))
}

/// What a look-up of a hooked name does.
fn route_hooked(handle: *mut c_void, name: &CStr, number: usize, jump: Route) -> Route {
    let active = settings::active();
    // Without a limit only one thing is ours to do: not to be found in the driver's place.
    if !active && handle != libc::RTLD_DEFAULT {
        return jump;
    }
    let answer =
        |address: usize| Route { answer: core::ptr::with_exposed_provenance_mut(address), jump: 0 };
    // A search, not a library: its first hit is our own export, and whether there is a driver
    // behind it is the question.
    let mut found = ask(handle, name).addr();
    if found == exported_address(number) && found != 0 {
        found = driver::real_address(number);
        if found == 0 {
            // As without us: nothing, and the loader's words about it.
            return answer(ask(libc::RTLD_NEXT, name).addr());
        }
    }
    if found == 0 || !active {
        return answer(found);
    }
    if handle == libc::RTLD_NEXT {
        // What is next depends on who asks, and that was us: only the driver's own is next for all.
        let drivers = look_in(driver::library_of(name), name);
        forget_errors();
        return if found == drivers { answer(crate::hooks::address(number)) } else { jump };
    }
    if driver::real_address(number) == 0 {
        driver::learn(number, found);
        stay_with(found);
    }
    if driver::real_address(number) == found {
        return answer(crate::hooks::address(number));
    }
    answer(found)
}

/// Puts our hook in place of a real function that `cuGetProcAddress` found.
pub(crate) fn replace(function: &mut usize) {
    keeping_errno(driver::find_all);
    if let Some(number) = driver::hook_of(*function) {
        *function = crate::hooks::address(number);
    }
}

/// `cuGetProcAddress`, as the driver of CUDA 11.3 to 11.8 has it.
///
/// # Safety
/// As CUDA documents.
pub(crate) unsafe fn get_proc_address(
    symbol: *const c_char,
    function: *mut usize,
    version: c_int,
    flags: u64,
) -> u32 {
    // SAFETY: the caller's arguments, unchanged.
    let status = unsafe { driver::real::cuGetProcAddress(symbol, function, version, flags) };
    // SAFETY: as the caller promised.
    unsafe { replace_found(status, function) };
    status
}

/// `cuGetProcAddress_v2`: the same, and a word about why.
///
/// # Safety
/// As CUDA documents.
pub(crate) unsafe fn get_proc_address_v2(
    symbol: *const c_char,
    function: *mut usize,
    version: c_int,
    flags: u64,
    why: *mut u32,
) -> u32 {
    // SAFETY: the caller's arguments, unchanged.
    let status =
        unsafe { driver::real::cuGetProcAddress_v2(symbol, function, version, flags, why) };
    // SAFETY: as the caller promised.
    unsafe { replace_found(status, function) };
    status
}

/// # Safety
/// `function` is null or may be read and written.
unsafe fn replace_found(status: u32, function: *mut usize) {
    if status != 0 || function.is_null() {
        return;
    }
    // SAFETY: not null, and the driver has written an address there.
    unsafe {
        let mut found = function.read_unaligned();
        if found != 0 {
            replace(&mut found);
            function.write_unaligned(found);
        }
    }
}
