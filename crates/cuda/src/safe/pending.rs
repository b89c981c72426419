//! Copies between pinned memory and the device that run while the host does something else.

use super::pinned::PinnedBuffer;
use super::span::DeviceSpan;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Range;

/// A queued copy that owns its pinned buffer until the device is done with it.
///
/// Dropping it waits. If even waiting fails, the buffer is leaked: nobody can tell then whether
/// the device still writes to it.
#[derive(Debug)]
#[must_use = "dropping a pending copy waits for it"]
pub struct PendingCopy {
    buffer: ManuallyDrop<PinnedBuffer>,
    finished: bool,
}

impl Stream {
    /// Queues a copy of a part of a pinned buffer to an offset of device memory, which must stay
    /// until it is done; see [`Mapping`](super::Mapping).
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory or the buffer and where the memory is read-only. The
    /// buffer is freed then.
    pub fn copy_from_pinned<'a>(
        &self,
        target: impl Into<DeviceSpan<'a>>,
        offset: u64,
        buffer: PinnedBuffer,
        part: Range<usize>,
    ) -> Result<PendingCopy, CudaError> {
        self.copies_from_pinned(target, buffer, [(offset, part)])
    }

    /// Queues copies of parts of one pinned buffer, each to an offset of the memory; see
    /// [`Stream::copy_from_pinned`].
    ///
    /// # Errors
    /// As for one copy; those before the one that is refused may have happened.
    pub fn copies_from_pinned<'a>(
        &self,
        target: impl Into<DeviceSpan<'a>>,
        buffer: PinnedBuffer,
        parts: impl IntoIterator<Item = (u64, Range<usize>)>,
    ) -> Result<PendingCopy, CudaError> {
        let target = target.into();
        self.queue(buffer, |stream, buffer| {
            let table = stream.context().table();
            for (offset, part) in parts {
                let (from, len) = (part_of(buffer, &part)?, part.len());
                let to = target.at(offset, len as u64)?;
                // SAFETY: the target was checked; the source lies in the buffer, which the pending
                // copy owns until the stream has passed the copy.
                unsafe {
                    result::copy::host_to_device_async(table, to.0, from, len, stream.raw())
                }?;
            }
            Ok(())
        })
    }

    /// Queues a copy from an offset of device memory to a part of a pinned buffer. The memory must
    /// stay until it is done; see [`Mapping`](super::Mapping).
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory or the buffer. The buffer is freed then.
    pub fn copy_to_pinned<'a>(
        &self,
        source: impl Into<DeviceSpan<'a>>,
        offset: u64,
        buffer: PinnedBuffer,
        part: Range<usize>,
    ) -> Result<PendingCopy, CudaError> {
        self.copies_to_pinned(source, buffer, [(offset, part)])
    }

    /// Queues copies to parts of one pinned buffer, each from an offset of the memory; see
    /// [`Stream::copy_to_pinned`].
    ///
    /// # Errors
    /// As for one copy.
    pub fn copies_to_pinned<'a>(
        &self,
        source: impl Into<DeviceSpan<'a>>,
        buffer: PinnedBuffer,
        parts: impl IntoIterator<Item = (u64, Range<usize>)>,
    ) -> Result<PendingCopy, CudaError> {
        let source = source.into();
        self.queue(buffer, |stream, buffer| {
            let table = stream.context().table();
            for (offset, part) in parts {
                let (to, len) = (part_of(buffer, &part)?, part.len());
                let from = source.at(offset, len as u64)?;
                // SAFETY: the source was checked; the target lies in the buffer, which the pending
                // copy owns until the stream has passed the copy.
                unsafe {
                    result::copy::device_to_host_async(table, to, from.0, len, stream.raw())
                }?;
            }
            Ok(())
        })
    }

    fn queue(
        &self,
        buffer: PinnedBuffer,
        copy: impl FnOnce(&Self, &PinnedBuffer) -> Result<(), CudaError>,
    ) -> Result<PendingCopy, CudaError> {
        let _bound = self.context().bind()?;
        // Leaked if the caller's parts panic: the copies before that one still run.
        let buffer = ManuallyDrop::new(buffer);
        let queued = copy(self, &buffer).and_then(|()| buffer.done.record(self));
        let mut pending = PendingCopy { buffer, finished: false };
        if let Err(error) = queued {
            // What was queued runs without a mark: wait for the whole stream before the buffer goes.
            let waited = self.synchronize();
            pending.finish(waited.is_ok());
            return Err(error);
        }
        Ok(pending)
    }
}

impl PendingCopy {
    /// Whether the copy is done, so that [`PendingCopy::wait`] returns at once.
    ///
    /// # Errors
    /// What the copy, or earlier work of the stream, met.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.buffer.done.is_done()
    }

    /// Waits and gives the buffer back.
    ///
    /// # Errors
    /// What the copy, or earlier work of the stream, met. The buffer is leaked then.
    pub fn wait(mut self) -> Result<PinnedBuffer, CudaError> {
        let waited = self.buffer.done.synchronize();
        self.finished = true;
        waited?;
        // SAFETY: `finished` keeps the destructor from taking the buffer a second time.
        Ok(unsafe { ManuallyDrop::take(&mut self.buffer) })
    }

    /// Drops the buffer when the device is known to be done, else leaks it.
    fn finish(&mut self, idle: bool) {
        self.finished = true;
        if idle {
            // SAFETY: `finished` keeps the destructor from taking the buffer a second time.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        } else {
            tracing::warn!(bytes = self.buffer.len(), "leaked a pinned buffer after a lost copy");
        }
    }
}

impl Drop for PendingCopy {
    fn drop(&mut self) {
        if !self.finished {
            let waited = self.buffer.done.synchronize();
            self.finish(waited.is_ok());
        }
    }
}

fn part_of(buffer: &PinnedBuffer, part: &Range<usize>) -> Result<*mut c_void, CudaError> {
    buffer.part(part).ok_or_else(|| {
        let detail = format!("bytes {part:?} of a pinned buffer of {}", buffer.bytes());
        CudaError::refused("Stream::copy_pinned", detail)
    })
}
