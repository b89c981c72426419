//! Streams, and the checked work that can be queued on them.

use super::context::Context;
use super::event::Event;
use super::mapping::Mapping;
use super::report_drop;
use crate::error::CudaError;
use crate::sys::{CUstream, constants};
use crate::{result, to_usize};
use std::ptr;

/// A queue of work in one context.
#[derive(Debug)]
pub struct Stream {
    context: Context,
    raw: CUstream,
    owned: bool,
}

// SAFETY: a stream is a handle that any thread may use; the driver locks inside.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that does not wait for the legacy default stream.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let raw = result::stream::create(context.table(), constants::STREAM_NON_BLOCKING)?;
        Ok(Self { context: context.clone(), raw, owned: true })
    }

    /// The context's legacy default stream, which needs no making.
    #[must_use]
    pub fn legacy(context: &Context) -> Self {
        Self { context: context.clone(), raw: ptr::null_mut(), owned: false }
    }

    /// A stream that somebody else made, for example PyTorch's. It is not destroyed on drop.
    ///
    /// # Safety
    /// `raw` is a stream of `context`, and lives as long as this value.
    #[must_use]
    pub unsafe fn from_raw(context: &Context, raw: CUstream) -> Self {
        Self { context: context.clone(), raw, owned: false }
    }

    /// The context of the stream.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The raw stream of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUstream {
        self.raw
    }

    /// Waits for all work queued so far.
    ///
    /// # Errors
    /// What the work met.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let _bound = self.context.bind()?;
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.context.table(), self.raw) }
    }

    /// Whether all work queued so far is done.
    ///
    /// # Errors
    /// What the work met.
    pub fn is_idle(&self) -> Result<bool, CudaError> {
        let _bound = self.context.bind()?;
        // SAFETY: the stream is alive.
        match unsafe { result::stream::query(self.context.table(), self.raw) } {
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
        let _bound = self.context.bind()?;
        // SAFETY: both are alive.
        unsafe { result::stream::wait_event(self.context.table(), self.raw, event.raw()) }
    }

    /// Queues a fill. The mapping must stay until it is done; see [`Mapping`].
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the mapping and in a read-only one.
    pub fn memset(
        &self,
        mapping: &Mapping,
        offset: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), CudaError> {
        let target = mapping.at(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let (table, count) = (self.context.table(), to_usize(bytes));
        // SAFETY: the target was checked and the stream is alive. If the mapping goes first, the
        // device faults; host memory is not involved.
        unsafe { result::copy::fill_u8_async(table, target.0, value, count, self.raw) }
    }

    /// Queues a copy between mappings. Both must stay until it is done; see [`Mapping`].
    ///
    /// # Errors
    /// `INVALID_VALUE` outside of the mappings and into a read-only one.
    pub fn copy(
        &self,
        target: &Mapping,
        target_offset: u64,
        source: &Mapping,
        source_offset: u64,
        bytes: u64,
    ) -> Result<(), CudaError> {
        let to = target.at(target_offset, bytes)?;
        let from = source.at(source_offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        let (table, size) = (self.context.table(), to_usize(bytes));
        // SAFETY: both ends were checked and the stream is alive. If a mapping goes first, the
        // device faults; host memory is not involved.
        unsafe { result::copy::device_to_device_async(table, to.0, from.0, size, self.raw) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.owned {
            let table = self.context.table();
            // SAFETY: we own the stream. Queued work still runs, and owns what it needs.
            report_drop(unsafe { result::stream::destroy(table, self.raw) });
        }
    }
}
