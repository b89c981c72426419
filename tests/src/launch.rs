//! The touch kernel over the addresses of tensors; the one place of this package with `unsafe`.

use std::time::Duration;

use millpond::Tensor;
use millpond_cuda::{CudaError, DevicePtr, Stream, TouchKernel};

/// Queues the kernel: it reads the source for so long and writes the sum of its words to the
/// eight bytes at `index` of the target.
///
/// # Errors
/// Errors of earlier work, and an index outside of the target.
pub(crate) fn touch(
    kernel: &TouchKernel,
    stream: &Stream,
    source: &Tensor,
    target: &Tensor,
    index: u64,
    duration: Duration,
) -> Result<(), CudaError> {
    assert!((index + 1) * 8 <= target.bytes(), "the target has room");
    let to = DevicePtr(target.device_ptr().0 + index * 8);
    // SAFETY: tensors begin at multiples of 8 bytes at least, and the target has 8 bytes there that
    // nobody else writes. The source may be dropped while the kernel runs, which is what is tested:
    // a fault is the device's, host memory is not involved. The kernel outlives its launches, as
    // every caller waits for the stream before it returns.
    unsafe { kernel.launch(stream, source.device_ptr(), source.bytes(), to, 8, duration) }
}
