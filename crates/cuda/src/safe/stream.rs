//! Streams, and the checked work that can be queued on them.

use super::context::Context;
use super::event::Event;
use super::mapped_range::MappedRange;
use super::report_drop;
use super::span::DeviceSpan;
use crate::error::CudaError;
use crate::sys::{CUstream, constants};
use crate::{result, to_usize};
use std::ptr;
use std::sync::{Arc, OnceLock};

/// A queue of work in one context. Cheap to clone: the clones are one stream, which ends with the last.
#[derive(Clone, Debug)]
pub struct Stream {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    context: Context,
    raw: CUstream,
    owned: bool,
    id: OnceLock<u64>,
}

// SAFETY: a stream is a handle that any thread may use; the driver locks inside.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Stream {
    /// A stream that does not wait for the legacy default stream.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let raw = result::stream::create(context.table(), constants::STREAM_NON_BLOCKING)?;
        Ok(Self::of(context, raw, true))
    }

    /// The context's legacy default stream, which needs no making.
    #[must_use]
    pub fn legacy(context: &Context) -> Self {
        Self::of(context, ptr::null_mut(), false)
    }

    /// A stream that somebody else made, for example PyTorch's. It is not destroyed on drop.
    ///
    /// # Safety
    /// `raw` is a stream of `context`, and lives as long as this value.
    #[must_use]
    pub unsafe fn from_raw(context: &Context, raw: CUstream) -> Self {
        Self::of(context, raw, false)
    }

    fn of(context: &Context, raw: CUstream, owned: bool) -> Self {
        let id = OnceLock::new();
        Self { inner: Arc::new(Inner { context: context.clone(), raw, owned, id }) }
    }

    /// The context of the stream.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.inner.context
    }

    /// The raw stream of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUstream {
        self.inner.raw
    }

    /// Whether the stream lives as long as this value does: one that was made here, or the legacy
    /// stream of the context. One that somebody else made may be destroyed by its maker.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.inner.owned || self.inner.raw.is_null()
    }

    /// A number that no other stream of the process ever has. A handle is given to the next stream
    /// when this one is gone.
    ///
    /// Handle 2 means each thread's own stream: do not share a value made from it between threads.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn id(&self) -> Result<u64, CudaError> {
        if let Some(id) = self.inner.id.get() {
            return Ok(*id);
        }
        let _bound = self.context().bind()?;
        // SAFETY: the stream is alive.
        let id = unsafe { result::stream::id(self.context().table(), self.raw()) }?;
        Ok(*self.inner.id.get_or_init(|| id))
    }

    /// The number of the capture that work is written into from now on; `None` where work is done. A
    /// capture that was invalidated counts until it has ended.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_IMPLICIT` for the legacy stream while a blocking one captures.
    pub fn capture(&self) -> Result<Option<u64>, CudaError> {
        // A stream that was made knows its context; a default stream is the current context's.
        let _bound = if self.inner.owned { None } else { Some(self.context().bind()?) };
        // SAFETY: the stream is alive.
        unsafe { result::graph::capture_id(self.context().table(), self.raw()) }
    }

    /// Waits for all work queued so far.
    ///
    /// # Errors
    /// What the work met.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let _bound = self.context().bind()?;
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.context().table(), self.raw()) }
    }

    /// Whether all work queued so far is done.
    ///
    /// # Errors
    /// What the work met.
    pub fn is_idle(&self) -> Result<bool, CudaError> {
        let _bound = self.context().bind()?;
        // SAFETY: the stream is alive.
        match unsafe { result::stream::query(self.context().table(), self.raw()) } {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets later work of this stream wait for what the event recorded.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn wait_event(&self, event: &Event) -> Result<(), CudaError> {
        let _bound = self.context().bind()?;
        // SAFETY: both are alive.
        unsafe { result::stream::wait_event(self.context().table(), self.raw(), event.raw()) }
    }

    /// Queues a fill. The memory must stay until it is done; see [`Mapping`](super::Mapping).
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory and where it is read-only.
    pub fn memset<'a>(
        &self,
        memory: impl Into<DeviceSpan<'a>>,
        offset: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), CudaError> {
        let target = memory.into().at(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context().bind()?;
        let (table, count) = (self.context().table(), to_usize(bytes));
        // SAFETY: the target was checked and the stream is alive. If the memory goes first, the
        // device faults; host memory is not involved.
        unsafe { result::copy::fill_u8_async(table, target.0, value, count, self.raw()) }
    }

    /// Queues a fill of a part of a range. What is unmapped before it is done faults on the device.
    ///
    /// # Errors
    /// `INVALID_VALUE` where nothing is mapped.
    pub fn memset_range(
        &self,
        range: &MappedRange,
        offset: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), CudaError> {
        let target = range.at(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context().bind()?;
        let (table, count) = (self.context().table(), to_usize(bytes));
        // SAFETY: as for `memset`.
        unsafe { result::copy::fill_u8_async(table, target.0, value, count, self.raw()) }
    }

    /// Queues a copy on the device. Both ends must stay until it is done; see
    /// [`Mapping`](super::Mapping).
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the memory and into what is read-only.
    pub fn copy<'a>(
        &self,
        target: impl Into<DeviceSpan<'a>>,
        target_offset: u64,
        source: impl Into<DeviceSpan<'a>>,
        source_offset: u64,
        bytes: u64,
    ) -> Result<(), CudaError> {
        let to = target.into().at(target_offset, bytes)?;
        let from = source.into().at(source_offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context().bind()?;
        let (table, size) = (self.context().table(), to_usize(bytes));
        // SAFETY: both ends were checked and the stream is alive. If one goes first, the
        // device faults; host memory is not involved.
        unsafe { result::copy::device_to_device_async(table, to.0, from.0, size, self.raw()) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.owned {
            let table = self.context.table();
            // SAFETY: we own the stream. Queued work still runs, and owns what it needs.
            report_drop(unsafe { result::stream::destroy(table, self.raw) });
        }
    }
}
