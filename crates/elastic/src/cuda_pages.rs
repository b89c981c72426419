//! Pages of a CUDA device: the real driver, or the software driver behind the same table.

use crate::geometry::Geometry;
use crate::pages::{PageDriver, PageError};
use millpond_cuda::{Access, Allocation, Context, CudaError, Event, MappedRange};
use std::sync::Arc;

/// Pages of one device under one reserved range. Every call relaxes this thread's capture mode, so
/// that a cache may grow while another thread captures a graph.
#[derive(Clone, Debug)]
pub struct CudaPages {
    range: Arc<MappedRange>,
}

impl CudaPages {
    /// Reserves the addresses of a cache in the context's process. Costs no memory.
    ///
    /// # Errors
    /// What the driver answers: a granule smaller than the device's, or no such gap of addresses.
    pub fn reserve(context: &Context, geometry: &Geometry) -> Result<Self, CudaError> {
        let range = MappedRange::reserve(context, geometry.bytes(), geometry.granule())?;
        Ok(Self { range: Arc::new(range) })
    }

    /// The range, for copies and kernels over what is committed. Mapping and unmapping there is the
    /// cache's business.
    #[must_use]
    pub fn range(&self) -> &MappedRange {
        &self.range
    }

    fn context(&self) -> &Context {
        self.range.context()
    }
}

impl PageDriver for CudaPages {
    type Handle = Allocation;
    type Fence = Event;

    fn base(&self) -> u64 {
        self.range.pointer().0
    }

    fn create(&self, bytes: u64) -> Result<Allocation, PageError> {
        let _relaxed = self.context().driver().relax_capture();
        Ok(Allocation::create_private(self.context().device(), bytes)?)
    }

    fn release(&self, handle: Allocation) -> Result<(), PageError> {
        let _relaxed = self.context().driver().relax_capture();
        Ok(handle.release()?)
    }

    fn map(&self, offset: u64, handles: &[&Allocation]) -> Result<(), PageError> {
        let _relaxed = self.context().driver().relax_capture();
        self.range.map(offset, handles, Access::ReadWrite).map_err(|error| {
            let first = handles.first().map_or(0, |handle| handle.bytes());
            let error = PageError::from(error);
            if self.range.at(offset, first.max(1)).is_ok() { error.stuck() } else { error }
        })
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        let _relaxed = self.context().driver().relax_capture();
        Ok(self.range.unmap(offset, bytes)?)
    }

    fn is_passed(&self, fence: &Event) -> Result<bool, PageError> {
        let _relaxed = self.context().driver().relax_capture();
        Ok(fence.is_done()?)
    }

    fn settle(&self) -> Result<(), PageError> {
        let _relaxed = self.context().driver().relax_capture();
        Ok(self.context().synchronize()?)
    }
}
