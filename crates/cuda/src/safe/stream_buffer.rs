//! Memory in the order of a stream.

use super::context::ContextGuard;
use super::pointer::DevicePtr;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::{result, to_usize};
use std::mem::ManuallyDrop;

/// Memory of `cuMemAllocAsync`: work that follows in the stream may use it, and freeing it takes its
/// turn in the same stream.
///
/// It borrows the guard of its context, so an allocation and its end are one call of the driver each.
#[derive(Debug)]
pub struct StreamBuffer<'a> {
    bound: &'a ContextGuard<'a>,
    stream: &'a Stream,
    pointer: DevicePtr,
}

impl<'a> StreamBuffer<'a> {
    /// Allocates from the pool of the stream's device.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`; `INVALID_VALUE` for a stream of another context than the one that is bound.
    pub fn new(
        bound: &'a ContextGuard<'a>,
        stream: &'a Stream,
        bytes: u64,
    ) -> Result<Self, CudaError> {
        if bound.context() != stream.context() {
            let detail = "the stream is of another context than the one that is bound".to_owned();
            return Err(CudaError::refused("StreamBuffer::new", detail));
        }
        // SAFETY: the stream is alive, and its context is current.
        let address = unsafe {
            result::pool::alloc_async(stream.context().table(), to_usize(bytes), stream.raw())
        };
        Ok(Self { bound, stream, pointer: DevicePtr(address?) })
    }

    /// First address.
    #[must_use]
    pub fn pointer(&self) -> DevicePtr {
        self.pointer
    }

    /// Frees the memory in the order of the stream.
    ///
    /// # Errors
    /// What the driver answers, errors of earlier work included.
    pub fn free(self) -> Result<(), CudaError> {
        ManuallyDrop::new(self).free_now()
    }

    fn free_now(&self) -> Result<(), CudaError> {
        let table = self.bound.context().table();
        // SAFETY: we own the memory and free it once; the stream is borrowed, hence alive.
        unsafe { result::pool::free_async(table, self.pointer.0, self.stream.raw()) }
    }
}

impl Drop for StreamBuffer<'_> {
    fn drop(&mut self) {
        report_drop(self.free_now());
    }
}
