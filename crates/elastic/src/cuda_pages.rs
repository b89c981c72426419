//! Pages of a CUDA device: the real driver, or the software driver behind the same table.

use crate::geometry::Geometry;
use crate::grow::runs;
use crate::index;
use crate::pages::{PageDriver, PageError};
use millpond_cuda::{Access, Allocation, Context, CudaError, Event, MappedRange};
use std::sync::Arc;

/// Pages of one device under one reserved range. Every call relaxes this thread's capture mode, so
/// that a cache may grow while another thread captures a graph.
#[derive(Clone, Debug)]
pub struct CudaPages {
    range: Arc<MappedRange>,
    /// Mapped wherever nothing else is.
    null: Option<Arc<Allocation>>,
}

impl CudaPages {
    /// Reserves the addresses of a cache in the context's process. Costs no memory.
    ///
    /// # Errors
    /// What the driver answers: a granule smaller than the device's, or no such gap of addresses.
    pub fn reserve(context: &Context, geometry: &Geometry) -> Result<Self, CudaError> {
        let range = MappedRange::reserve(context, geometry.bytes(), geometry.granule())?;
        Ok(Self { range: Arc::new(range), null: None })
    }

    /// As [`CudaPages::reserve`], with one page of memory, the null page, under every granule without a page
    /// of its own. It may be read and written, and what is read there is undefined. It costs one granule, and
    /// a call of the driver for each granule of the range.
    ///
    /// A page takes the place of the null page after the device has done all its work. In the exchange, in
    /// both directions, the granule has no page for a moment.
    ///
    /// # Errors
    /// As for [`CudaPages::reserve`]; a card without room for one granule.
    pub fn reserve_with_null_page(
        context: &Context,
        geometry: &Geometry,
    ) -> Result<Self, CudaError> {
        let mut pages = Self::reserve(context, geometry)?;
        let _relaxed = context.driver().relax_capture();
        let null = Allocation::create_private(context.device(), geometry.granule())?;
        pages.null = Some(Arc::new(null));
        pages.lay_null(0, geometry.bytes())?;
        Ok(pages)
    }

    /// Maps the null page, if there is one, under all granules of a part.
    fn lay_null(&self, offset: u64, bytes: u64) -> Result<(), CudaError> {
        let Some(null) = &self.null else { return Ok(()) };
        let nulls = vec![&**null; index(bytes / null.bytes())];
        self.range.map(offset, &nulls, Access::ReadWrite)
    }

    /// Takes the null page away from a part, once no work uses it.
    fn lift_null(&self, offset: u64, bytes: u64) -> Result<(), CudaError> {
        let Some(null) = &self.null else { return Ok(()) };
        self.context().synchronize()?;
        let granules = (offset..offset + bytes).step_by(index(null.bytes()));
        // The driver may have refused to map the null page again.
        let is_laid = |at: &u64| self.range.at(*at, null.bytes()).is_ok();
        let rows = granules.filter(is_laid).map(|at| at / null.bytes());
        for run in runs(rows) {
            let (start, end) = (run.start * null.bytes(), run.end * null.bytes());
            self.range.unmap(start, end - start)?;
        }
        Ok(())
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
        let bytes = handles.iter().map(|handle| handle.bytes()).sum();
        self.lift_null(offset, bytes)?;
        self.range.map(offset, handles, Access::ReadWrite).map_err(|error| {
            let first = handles.first().map_or(0, |handle| handle.bytes());
            let error = PageError::from(error);
            if self.range.at(offset, first.max(1)).is_ok() {
                return error.stuck();
            }
            drop(self.lay_null(offset, bytes));
            error
        })
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        let _relaxed = self.context().driver().relax_capture();
        self.range.unmap(offset, bytes)?;
        // Without it the part is as in a cache without a null page.
        drop(self.lay_null(offset, bytes));
        Ok(())
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
