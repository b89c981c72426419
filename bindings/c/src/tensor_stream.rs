//! Tensors and the work of streams.

use std::ffi::c_void;

use crate::border::{Out, waiting, write};
use crate::result::ResultNumber;
use crate::stream::Foreign;
use crate::tensor::{Mapped, millpond_tensor};

/// As millpond_tensor_publish(), but waits only for the work of one stream: a `CUstream` or `cudaStream_t` of the
/// tensor's context; NULL is the legacy default stream. `generation` may be NULL.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_publish_after(
    tensor: *const millpond_tensor,
    stream: *mut c_void,
    generation: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        let stream = Foreign::of(mapped.tensor.context(), stream);
        write(generation, mapped.tensor.publish_after(&stream)?);
        Ok(())
    })
}

/// Marks the end of what the stream has queued so far as this program's last write: whoever calls
/// millpond_tensor_wait() from now on, in any process, waits for it on its stream and not on the host. Only for
/// tensors that the pond made with MILLPOND_TRANSPORT_IPC.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_record(
    tensor: *const millpond_tensor,
    stream: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        Ok(mapped.tensor.record(&Foreign::of(mapped.tensor.context(), stream))?)
    })
}

/// Lets later work of the stream wait for the last millpond_tensor_record() of anybody. Where nobody has recorded,
/// there is nothing to wait for. If the process that recorded last was killed before that work was done, the stream
/// waits for ever.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_wait(
    tensor: *const millpond_tensor,
    stream: *mut c_void,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        Ok(mapped.tensor.wait(&Foreign::of(mapped.tensor.context(), stream))?)
    })
}

/// Queues a fill of the whole tensor with one byte.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_fill_on(
    tensor: *const millpond_tensor,
    stream: *mut c_void,
    byte: u8,
) -> ResultNumber {
    waiting(|| {
        let mapped = Mapped::of(tensor)?;
        Ok(mapped.tensor.fill_on(&Foreign::of(mapped.tensor.context(), stream), byte)?)
    })
}

/// The CUDA context that the tensor is mapped for, a `CUcontext`; NULL for a handle that is no tensor of this
/// process.
///
/// Threads: any. Fork: a tensor of the parent is refused in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_tensor_context(tensor: *const millpond_tensor) -> *mut c_void {
    crate::border::value(std::ptr::null_mut(), || {
        Ok(Mapped::of(tensor)?.tensor.context().raw().cast())
    })
}
