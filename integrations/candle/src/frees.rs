//! `cuMemFreeAsync` and `cuMemFree_v2` in front of the driver's: the two functions by which Candle
//! frees the memory of a tensor.
//!
//! An address at which a tensor of a pool begins is not freed; that tensor is noted as gone. The
//! pages need no mark of the stream: whoever unmaps them waits for the whole device first. Any other
//! address goes to the function that the loader would have taken, which may be that of a preloaded
//! library. Neither function panics, and a process at its end, whose driver is gone already, is
//! nothing special: only the driver's own answers differ.

use crate::error::{Result, VmmError};
use crate::in_use::InUse;
use candle_core::cuda_backend::cudarc::driver::{CudaStream, sys};
use millpond_elastic::{Cache, CudaPages, LocalCredit};
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

/// Pages and addresses of a pool.
pub(crate) type Pages = Cache<CudaPages, LocalCredit>;

/// Every tensor over a pool of this process. Addresses of devices are unique in a process.
static TENSORS: InUse<Option<Pages>, CudaStream> = InUse::new();

/// `CUDA_SUCCESS`.
const SUCCESS: u32 = 0;
/// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`.
const SYMBOL_NOT_FOUND: u32 = 302;

/// A tensor over pages begins at this address, and keeps them until it is freed there.
pub(crate) fn enter(address: u64, bytes: u64, mark: Option<Weak<CudaStream>>, pages: Pages) {
    TENSORS.enter(address, bytes, mark, Some(pages));
}

/// The lowest tensor with an address in this range.
pub(crate) fn first_tensor_in(addresses: &Range<u64>) -> Option<Range<u64>> {
    TENSORS.first_in(addresses)
}

/// Shows, once for a process, that what Candle calls to free memory is defined here.
///
/// # Errors
/// Calls arrive elsewhere.
pub(crate) fn check_linked() -> Result<()> {
    static IS_LINKED: AtomicBool = AtomicBool::new(false);
    static PROBE: Mutex<u8> = Mutex::new(0);
    if IS_LINKED.load(Ordering::Acquire) {
        return Ok(());
    }
    // A linker takes from a library what is asked for: this asks for both.
    std::hint::black_box((cuMemFreeAsync as *const (), cuMemFree_v2 as *const ()));
    let probe = PROBE.lock().unwrap_or_else(PoisonError::into_inner);
    // An address of the program: no driver has ever given it out, so each refuses to free it.
    let address = (&raw const *probe).addr() as u64;
    // SAFETY: known here, the address is left alone; the driver's function refuses it.
    let free = || unsafe { sys::cuMemFreeAsync(address, std::ptr::null_mut()) };
    check_arrives("cuMemFreeAsync", address, free)?;
    // SAFETY: as above.
    check_arrives("cuMemFree_v2", address, || unsafe { sys::cuMemFree_v2(address) })?;
    IS_LINKED.store(true, Ordering::Release);
    Ok(())
}

fn check_arrives(
    name: &'static str,
    address: u64,
    free: impl FnOnce() -> sys::CUresult,
) -> Result<()> {
    TENSORS.enter(address, 1, None, None);
    if free() == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    TENSORS.leave(address);
    Err(VmmError::FreesElsewhere(name))
}

/// Frees memory in the order of a stream, or notes that a tensor over a pool is gone.
///
/// # Safety
/// As for the driver's function: nothing uses the memory afterwards.
#[allow(non_snake_case, reason = "the name of the driver's function")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> u32 {
    static NEXT: Next = Next::new(c"cuMemFreeAsync");
    if TENSORS.leave(address) {
        return SUCCESS;
    }
    let Some(function) = NEXT.get() else {
        return SYMBOL_NOT_FOUND;
    };
    // SAFETY: the address is that of the driver's function, or of one that stands before it; both
    // have this signature.
    let function: unsafe extern "C" fn(u64, *mut c_void) -> u32 =
        unsafe { std::mem::transmute(function) };
    // SAFETY: as for the caller.
    unsafe { function(address, stream) }
}

/// Frees memory, or notes that a tensor over a pool is gone.
///
/// # Safety
/// As for the driver's function: nothing uses the memory afterwards.
#[allow(non_snake_case, reason = "the name of the driver's function")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    static NEXT: Next = Next::new(c"cuMemFree_v2");
    if TENSORS.leave(address) {
        return SUCCESS;
    }
    let Some(function) = NEXT.get() else {
        return SYMBOL_NOT_FOUND;
    };
    // SAFETY: the address is that of the driver's function, or of one that stands before it; both
    // have this signature.
    let function: unsafe extern "C" fn(u64) -> u32 = unsafe { std::mem::transmute(function) };
    // SAFETY: as for the caller.
    unsafe { function(address) }
}

/// The function of a name that the loader finds after this one.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn get(&self) -> Option<*mut c_void> {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return Some(found);
        }
        // SAFETY: the name ends with a zero; the answer is read as an address only.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_candle_calls_to_free_is_defined_here() {
        check_linked().unwrap();
        check_linked().unwrap();
    }

    #[test]
    fn the_next_function_is_the_drivers_and_not_ours() {
        for (name, ours) in [
            (c"cuMemFreeAsync", cuMemFreeAsync as *const c_void),
            (c"cuMemFree_v2", cuMemFree_v2 as *const c_void),
        ] {
            let next = Next::new(name).get().unwrap();
            assert_ne!(next.cast_const(), ours, "{name:?}");
        }
        assert!(Next::new(c"cuMillpondHasNone").get().is_none());
    }
}
