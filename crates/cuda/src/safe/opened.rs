//! Memory and events of other processes, by legacy handles.

use super::context::Context;
use super::event::Event;
use super::pointer::DevicePtr;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use crate::sys::constants;

/// Another process's memory, opened by its handle: see
/// [`LinearMemory::ipc_handle`](super::LinearMemory::ipc_handle).
///
/// It stays when the other process frees it or dies. Opening the same memory again in the same
/// context gives the same address, and each opening is closed by itself.
#[derive(Debug)]
pub struct OpenedMemory {
    context: Context,
    pointer: DevicePtr,
    bytes: u64,
    /// False once it was closed.
    open: bool,
}

impl OpenedMemory {
    /// Opens memory.
    ///
    /// # Errors
    /// `INVALID_VALUE` when the memory was freed, `INVALID_HANDLE` when its process has ended,
    /// `NOT_PERMITTED` when that process has allocated memory of another size since it freed this,
    /// and a refusal of one's own memory. Memory of the same size is opened in its place.
    pub fn open(context: &Context, handle: &[u8; 64]) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let pointer = DevicePtr(result::ipc::open_memory(context.table(), handle)?);
        let mut opened = Self { context: context.clone(), pointer, bytes: 0, open: true };
        opened.bytes = result::pointer::address_range(context.table(), pointer.0)?.1 as u64;
        Ok(opened)
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Size, as it was allocated.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that it is open in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Closes the memory. The caller has seen that no work uses it any more.
    ///
    /// # Errors
    /// What the driver answers; it is not tried again.
    pub fn close(mut self) -> Result<(), CudaError> {
        self.close_once()
    }

    /// As [`OpenedMemory::close`], but what the driver refuses to close is handed back: it is still
    /// there.
    ///
    /// # Errors
    /// What the driver answers, with the memory.
    pub fn close_or_keep(mut self) -> Result<(), (Self, CudaError)> {
        match self.close_once() {
            Ok(()) => Ok(()),
            Err(error) => {
                self.open = true;
                Err((self, error))
            }
        }
    }

    fn close_once(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        // SAFETY: gives back our one opening, and `open` lets this happen once.
        unsafe { result::ipc::close_memory(self.context.table(), self.pointer.0) }
    }
}

impl Drop for OpenedMemory {
    fn drop(&mut self) {
        report_drop(self.close_once());
    }
}

/// An event whose order other processes see. Cheap to clone: the clones are one event.
///
/// Whoever has it, its maker or who opened it, may record it and wait for it, and it stays usable
/// when its maker has died. But if the process that recorded last is killed before the work before
/// that record is done, a wait for it does not end on a card: who waits must know that the other
/// process lives, or record it again.
#[derive(Clone, Debug)]
pub struct IpcEvent {
    event: Event,
}

impl IpcEvent {
    /// Makes an event.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self, CudaError> {
        let flags = constants::EVENT_INTERPROCESS | constants::EVENT_DISABLE_TIMING;
        Ok(Self { event: Event::with_flags(context, flags)? })
    }

    /// The bytes by which another process opens it.
    ///
    /// # Errors
    /// `INVALID_HANDLE` for an event that was opened, not made, here.
    pub fn handle(&self) -> Result<[u8; 64], CudaError> {
        let context = self.event.context();
        let _bound = context.bind()?;
        // SAFETY: the event is alive.
        unsafe { result::ipc::event_handle(context.table(), self.event.raw()) }
    }

    /// Opens an event of another process.
    ///
    /// # Errors
    /// What the driver answers to bytes that are no handle of an event.
    pub fn open(context: &Context, handle: &[u8; 64]) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let raw = result::ipc::open_event(context.table(), handle)?;
        Ok(Self { event: Event::from_raw(context, raw) })
    }

    /// Marks the end of what the stream has queued so far. What waits for the event from now on, in
    /// any process, waits for this mark.
    ///
    /// # Errors
    /// `INVALID_HANDLE` when the stream belongs to another context.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        self.event.record(stream)
    }

    /// Lets later work of a stream wait for the mark that was recorded last.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn make_wait(&self, stream: &Stream) -> Result<(), CudaError> {
        stream.wait_event(&self.event)
    }

    /// Whether the mark was passed; true for an event that was never recorded.
    ///
    /// # Errors
    /// What the work before it met.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.event.is_done()
    }

    /// Waits for the mark.
    ///
    /// # Errors
    /// What the work before it met.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.event.synchronize()
    }
}
