//! Bytes of mapped tensors, from and to this machine's memory.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::slice;

use crate::border::{Answer, required, waiting};
use crate::failure::Failure;
use crate::result::ResultNumber;
use crate::tensor::{Mapped, millpond_tensor};

fn length(bytes: u64) -> Answer<usize> {
    let length = usize::try_from(bytes).ok().filter(|length| isize::try_from(*length).is_ok());
    length
        .ok_or_else(|| Failure::invalid(format!("{bytes} bytes are more than a process can have")))
}

/// An array of the caller; NULL with a count of zero is an empty one.
///
/// # Safety
/// Where it is not NULL, so many are readable there, and stay as they are during the call.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    count: usize,
    what: &'static str,
) -> Answer<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failure::Null { what });
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Failure::invalid(format!("{count} {what} are more than a process can have")));
    }
    // SAFETY: it is not NULL and its bytes fit an `isize`; the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts(pointer, count) })
}

/// Bytes of the caller.
///
/// # Safety
/// As for [`array`].
pub(crate) unsafe fn readable<'a>(source: *const c_void, bytes: u64) -> Answer<&'a [u8]> {
    let source = required(NonNull::new(source.cast_mut().cast::<u8>()), "source")?;
    // SAFETY: it is not NULL, and the caller vouches for the rest.
    Ok(unsafe { slice::from_raw_parts(source.as_ptr(), length(bytes)?) })
}

/// Room of the caller.
///
/// # Safety
/// Where it is not NULL, so many bytes are writable there, and nobody else's during the call.
pub(crate) unsafe fn writable<'a>(target: *mut c_void, bytes: u64) -> Answer<&'a mut [u8]> {
    let target = required(NonNull::new(target.cast::<u8>()), "target")?;
    // SAFETY: it is not NULL, and the caller vouches for the rest. Bytes have no value that is not allowed, and what
    // takes them only writes.
    Ok(unsafe { slice::from_raw_parts_mut(target.as_ptr(), length(bytes)?) })
}

/// Copies `bytes` bytes from `source`, in this machine's memory, into the tensor from `offset` bytes on, and waits.
///
/// Threads: any; `source` must not change meanwhile. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_copy_from_host(
    tensor: *const millpond_tensor,
    offset: u64,
    source: *const c_void,
    bytes: u64,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        // SAFETY: the header demands that so many bytes are readable there and do not change during the call.
        let source = unsafe { readable(source, bytes)? };
        Ok(mapped.tensor.copy_from_host(offset, source)?)
    })
}

/// Copies `bytes` bytes out of the tensor, from `offset` bytes on, to `target` in this machine's memory, and waits.
///
/// Threads: any; nobody else may use `target` meanwhile. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_copy_to_host(
    tensor: *const millpond_tensor,
    offset: u64,
    target: *mut c_void,
    bytes: u64,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        // SAFETY: the header demands that so many bytes are writable there and nobody else's during the call.
        let target = unsafe { writable(target, bytes)? };
        Ok(mapped.tensor.copy_to_host(offset, target)?)
    })
}

/// Fills the whole tensor with one byte, and waits.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_fill(tensor: *const millpond_tensor, byte: u8) -> ResultNumber {
    waiting(|| Ok(Mapped::of(tensor)?.tensor.fill(byte)?))
}
