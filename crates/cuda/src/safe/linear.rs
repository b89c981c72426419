//! Plain device memory.

use super::context::Context;
use super::pointer::DevicePtr;
use super::report_drop;
use crate::error::CudaError;
use crate::{result, to_usize};

/// Memory of `cuMemAlloc`: dies with its process, and is shared by a legacy handle alone.
///
/// A process that has freed memory whose handle others know must never allocate such memory again:
/// the driver gives its number to the next one, and the old handle then opens that.
#[derive(Debug)]
pub struct LinearMemory {
    context: Context,
    pointer: DevicePtr,
    bytes: u64,
    /// False once it was freed.
    held: bool,
}

impl LinearMemory {
    /// Allocates.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `INVALID_VALUE` for no bytes.
    pub fn alloc(context: &Context, bytes: u64) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let pointer = DevicePtr(result::linear::alloc(context.table(), to_usize(bytes))?);
        Ok(Self { context: context.clone(), pointer, bytes, held: true })
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The context that owns the memory.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Fills all of it with a byte and waits for the device to have done so.
    ///
    /// # Errors
    /// Errors of earlier work.
    pub fn fill(&self, byte: u8) -> Result<(), CudaError> {
        self.span().memset(0, self.bytes, byte)
    }

    /// The bytes by which another process opens the memory, while this one lives and holds it.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn ipc_handle(&self) -> Result<[u8; 64], CudaError> {
        let _bound = self.context.bind()?;
        result::ipc::memory_handle(self.context.table(), self.pointer.0)
    }

    /// Frees the memory and says how that went. What others have opened stays theirs.
    ///
    /// # Errors
    /// What the driver answers, errors of earlier work included.
    pub fn free(mut self) -> Result<(), CudaError> {
        self.free_once()
    }

    fn free_once(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.held) {
            return Ok(());
        }
        let _bound = self.context.bind()?;
        // SAFETY: we own the memory, and `held` lets this happen once. The driver waits for work
        // that uses it.
        unsafe { result::linear::free(self.context.table(), self.pointer.0) }
    }
}

impl Drop for LinearMemory {
    fn drop(&mut self) {
        report_drop(self.free_once());
    }
}
