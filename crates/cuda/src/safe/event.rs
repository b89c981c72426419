//! Events: marks in streams.

use super::context::Context;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use crate::sys::{CUevent, constants};
use std::sync::Arc;
use std::time::Duration;

/// A mark that a stream passes. Cheap to clone: the clones are one event, which ends with the last.
#[derive(Clone, Debug)]
pub struct Event {
    owned: Arc<Owned>,
}

#[derive(Debug)]
struct Owned {
    context: Context,
    raw: CUevent,
}

// SAFETY: an event is a handle that any thread may use; the driver locks inside.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Event {
    /// An event without a clock, the cheap kind. Waiting for it sleeps and does not spin.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let flags = constants::EVENT_DISABLE_TIMING | constants::EVENT_BLOCKING_SYNC;
        Self::with_flags(context, flags)
    }

    /// An event that notes when it was passed.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn with_timing(context: &Context) -> Result<Self, CudaError> {
        Self::with_flags(context, constants::EVENT_BLOCKING_SYNC)
    }

    pub(super) fn with_flags(context: &Context, flags: u32) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let raw = result::event::create(context.table(), flags)?;
        Ok(Self::from_raw(context, raw))
    }

    /// Takes over an event that was just made or opened in a context.
    pub(super) fn from_raw(context: &Context, raw: CUevent) -> Self {
        Self { owned: Arc::new(Owned { context: context.clone(), raw }) }
    }

    /// The context that it was made in.
    pub(super) fn context(&self) -> &Context {
        &self.owned.context
    }

    /// The raw event of the `result` layer.
    #[must_use]
    pub fn raw(&self) -> CUevent {
        self.owned.raw
    }

    /// Marks the end of what the stream has queued so far.
    ///
    /// # Errors
    /// `INVALID_HANDLE` when the stream belongs to another context.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        let _bound = stream.context().bind()?;
        // SAFETY: both are alive.
        unsafe { result::event::record(self.owned.context.table(), self.raw(), stream.raw()) }
    }

    /// Whether the mark was passed; true for an event that was never recorded.
    ///
    /// # Errors
    /// What the work before it met.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        let _bound = self.owned.context.bind()?;
        // SAFETY: the event is alive.
        match unsafe { result::event::query(self.owned.context.table(), self.raw()) } {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for the mark.
    ///
    /// # Errors
    /// What the work before it met.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let _bound = self.owned.context.bind()?;
        // SAFETY: the event is alive.
        unsafe { result::event::synchronize(self.owned.context.table(), self.raw()) }
    }

    /// Time from another event to this one, both made by [`Event::with_timing`].
    ///
    /// # Errors
    /// `NOT_READY` before both were passed, `INVALID_HANDLE` without clocks.
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration, CudaError> {
        let _bound = self.owned.context.bind()?;
        // SAFETY: both are alive.
        let milliseconds = unsafe {
            result::event::elapsed_ms(self.owned.context.table(), start.raw(), self.raw())
        }?;
        // Negative when the events were recorded the other way round.
        Ok(Duration::try_from_secs_f32(milliseconds / 1000.0).unwrap_or(Duration::ZERO))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let table = self.context.table();
        // SAFETY: we own the event; streams that wait for it have their own reference.
        report_drop(unsafe { result::event::destroy(table, self.raw) });
    }
}
