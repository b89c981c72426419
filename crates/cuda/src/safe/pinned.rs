//! Pinned host memory.

use super::context::Context;
use super::event::Event;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::constants;
use crate::{result, to_usize};
use std::alloc::{self, Layout};
use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

/// The smallest page of any machine with such a driver; larger ones only waste the rest of one.
const PAGE_BYTES: usize = 64 << 10;

/// Host memory that is to be pinned: zeroed, in place, and known to no driver. It can be made while
/// a context is, and pinning it then takes a tenth of what [`PinnedBuffer::new`] takes.
pub struct HostPages {
    memory: NonNull<u8>,
    len: usize,
    layout: Layout,
}

// SAFETY: owned like a boxed slice.
unsafe impl Send for HostPages {}
// SAFETY: shared access reads nothing at all.
unsafe impl Sync for HostPages {}

impl HostPages {
    /// Takes memory from the system, whole pages of it; `None` if there is none, or for no bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Option<Self> {
        let len = to_usize(bytes);
        let size = len.checked_next_multiple_of(PAGE_BYTES).filter(|size| *size > 0)?;
        // No page has anything else in it: what is pinned, is pinned by itself.
        let layout = Layout::from_size_align(size, PAGE_BYTES).ok()?;
        // SAFETY: the size is not zero.
        let memory = NonNull::new(unsafe { alloc::alloc(layout) })?;
        // Every page is touched here, not while it is pinned.
        // SAFETY: so many bytes were just given to us.
        unsafe { memory.write_bytes(0, size) };
        Some(Self { memory, len, layout })
    }
}

impl fmt::Debug for HostPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPages").field("bytes", &self.layout.size()).finish_non_exhaustive()
    }
}

impl Drop for HostPages {
    fn drop(&mut self) {
        // SAFETY: made with this layout, and nobody has it any more.
        unsafe { alloc::dealloc(self.memory.as_ptr(), self.layout) };
    }
}

/// Page-locked host memory that the device reads and writes at full speed, seen as a slice.
///
/// Making one is slow (4 GiB take 1.9 s): make a small ring once and keep it. A buffer that is in
/// use by the device is inside a [`PendingCopy`](super::PendingCopy), so the host cannot touch it.
pub struct PinnedBuffer {
    context: Context,
    memory: NonNull<u8>,
    len: usize,
    /// Where the memory is not the driver's own.
    pages: Option<HostPages>,
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
        Ok(Self { context: context.clone(), memory, len, pages: None, done })
    }

    /// Pins pages that are there already.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `NOT_SUPPORTED` where the driver pins only memory of its own.
    pub fn of(context: &Context, pages: HostPages) -> Result<Self, CudaError> {
        let (memory, len) = (pages.memory, pages.len);
        let done = Event::new(context)?;
        let _bound = context.bind()?;
        let (raw, flags) = (memory.as_ptr().cast(), constants::HOST_REGISTER_PORTABLE);
        // SAFETY: the pages are ours, and go only after they were unregistered.
        unsafe { result::host::register(context.table(), raw, pages.layout.size(), flags) }?;
        Ok(Self { context: context.clone(), memory, len, pages: Some(pages), done })
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
        let raw = self.memory.as_ptr().cast::<c_void>();
        let Ok(_bound) = self.context.bind() else {
            // What the driver may still have pinned must not become anything else's.
            std::mem::forget(self.pages.take());
            return;
        };
        let table = self.context.table();
        match self.pages.take() {
            // SAFETY: we own the memory and the device does not use it.
            None => report_drop(unsafe { result::host::free(table, raw) }),
            Some(pages) => {
                // SAFETY: we registered these pages and the device does not use them.
                let unregistered = unsafe { result::host::unregister(table, raw) };
                if unregistered.is_err() {
                    std::mem::forget(pages);
                }
                report_drop(unregistered);
            }
        }
    }
}
