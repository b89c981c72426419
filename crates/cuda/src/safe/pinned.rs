//! Pinned host memory.

use super::context::Context;
use super::event::Event;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::constants;
use crate::{result, to_usize};
use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// Page-locked host memory that the device reads and writes at full speed, seen as a slice.
///
/// Making one is slow (4 GiB take 1.9 s): make a small ring once and keep it. A buffer that is in
/// use by the device is inside a [`PendingCopy`](super::PendingCopy), so the host cannot touch it.
pub struct PinnedBuffer {
    context: Context,
    memory: NonNull<u8>,
    len: usize,
    /// Marks the end of the copy that uses the buffer; made once, because making one costs more
    /// than recording it.
    pub(crate) done: Event,
}

// SAFETY: the memory is owned like a boxed slice; the driver's handles may move between threads.
unsafe impl Send for PinnedBuffer {}
// SAFETY: shared access only reads.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// Allocates zeroed pinned memory.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `INVALID_VALUE` for no bytes.
    pub fn new(context: &Context, bytes: u64) -> Result<Self, CudaError> {
        let len = to_usize(bytes);
        let done = Event::new(context)?;
        let _bound = context.bind()?;
        let raw = result::host::alloc(context.table(), len, constants::HOST_ALLOC_PORTABLE)?;
        let memory = NonNull::new(raw.cast::<u8>()).ok_or_else(|| {
            CudaError::refused("cuMemHostAlloc", format!("null for {bytes} bytes"))
        })?;
        // The driver does not promise contents, and a slice must be initialised.
        // SAFETY: the driver just gave us that many bytes.
        unsafe { memory.write_bytes(0, len) };
        Ok(Self { context: context.clone(), memory, len, done })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len
    }

    /// The address of a part, for work of the device; `None` if it is not inside. No slice is made:
    /// the device may be at work in another part.
    pub(crate) fn part(&self, part: &Range<usize>) -> Option<*mut c_void> {
        let inside = part.start <= part.end && part.end <= self.len;
        inside.then(|| self.memory.as_ptr().wrapping_add(part.start).cast())
    }

    /// The context it was made in. It can be used in all contexts of the process.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl Deref for PinnedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: owned, initialised, and not in use by the device.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl DerefMut for PinnedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: owned, initialised, and not in use by the device.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl fmt::Debug for PinnedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("bytes", &self.len).finish_non_exhaustive()
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        let Ok(_bound) = self.context.bind() else { return };
        let raw = self.memory.as_ptr().cast::<c_void>();
        // SAFETY: we own the memory and the device does not use it.
        report_drop(unsafe { result::host::free(self.context.table(), raw) });
    }
}
