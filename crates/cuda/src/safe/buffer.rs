//! Plain device memory.

use super::context::Context;
use super::pointer::DevicePtr;
use super::report_drop;
use crate::error::CudaError;
use crate::{result, to_usize};

/// Memory of `cuMemAlloc`: cannot be shared by file descriptor, dies with its process.
#[derive(Debug)]
pub struct DeviceBuffer {
    context: Context,
    pointer: DevicePtr,
    bytes: u64,
}

impl DeviceBuffer {
    /// Allocates.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `INVALID_VALUE` for no bytes.
    pub fn new(context: &Context, bytes: u64) -> Result<Self, CudaError> {
        let _bound = context.bind()?;
        let pointer = DevicePtr(result::linear::alloc(context.table(), to_usize(bytes))?);
        Ok(Self { context: context.clone(), pointer, bytes })
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
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let Ok(_bound) = self.context.bind() else { return };
        // SAFETY: we own the memory. The driver waits for work that uses it.
        report_drop(unsafe { result::linear::free(self.context.table(), self.pointer.0) });
    }
}
