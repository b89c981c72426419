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
        let source = required(NonNull::new(source.cast_mut().cast::<u8>()), "source")?;
        let length = length(bytes)?;
        // SAFETY: it is not NULL, and the header demands that so many bytes are readable there and do not change during the call.
        let source = unsafe { slice::from_raw_parts(source.as_ptr(), length) };
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
        let target = required(NonNull::new(target.cast::<u8>()), "target")?;
        let length = length(bytes)?;
        // SAFETY: it is not NULL, and the header demands that so many bytes are writable there and nobody else's during the call. Bytes have no
        // value that is not allowed, and the copy only writes.
        let target = unsafe { slice::from_raw_parts_mut(target.as_ptr(), length) };
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
