//! The pages of this process, on the driver that it has open.

use std::sync::Arc;

use millpond_cuda::{Allocation, Context, Event};
use millpond_elastic::{Credit, CudaPages, ElasticError, Geometry, PageDriver, PageError, Why};

use super::credit::GroupCredit;
use super::waiter::Waiter;

/// Pages of a cache. In a program that runs under a limit, the driver itself refuses memory beyond it;
/// then others are asked to give way, and it is tried again.
#[derive(Clone, Debug)]
pub struct GroupPages {
    pages: CudaPages,
    /// There in a program that is limited itself.
    waiter: Option<Arc<Waiter>>,
    /// Dropped after the pages.
    _null: Option<Arc<PaidNull>>,
}

/// The credit for a null page.
#[derive(Debug)]
struct PaidNull {
    credit: Arc<GroupCredit>,
    bytes: u64,
}

impl Drop for PaidNull {
    fn drop(&mut self) {
        self.credit.give(self.bytes);
    }
}

impl GroupPages {
    pub(super) fn new(pages: CudaPages, waiter: Option<Arc<Waiter>>) -> Self {
        Self { pages, waiter, _null: None }
    }

    /// Pages with a null page, which is paid for first. This never waits: the pond does not know the
    /// cache yet.
    pub(super) fn with_null_page(
        context: &Context,
        geometry: &Geometry,
        waiter: Option<Arc<Waiter>>,
        credit: &Arc<GroupCredit>,
    ) -> crate::Result<Self> {
        let bytes = geometry.granule();
        credit.take(bytes, Why::Ahead).map_err(ElasticError::from)?;
        let null = PaidNull { credit: Arc::clone(credit), bytes };
        let pages = CudaPages::reserve_with_null_page(context, geometry)?;
        Ok(Self { pages, waiter, _null: Some(Arc::new(null)) })
    }

    /// The pages themselves.
    #[must_use]
    pub fn pages(&self) -> &CudaPages {
        &self.pages
    }
}

impl PageDriver for GroupPages {
    type Handle = Allocation;
    type Fence = Event;

    fn base(&self) -> u64 {
        self.pages.base()
    }

    fn create(&self, bytes: u64) -> Result<Allocation, PageError> {
        let made = self.pages.create(bytes);
        let is_full = made.as_ref().is_err_and(PageError::is_out_of_memory);
        let Some(waiter) = self.waiter.as_ref().filter(|_| is_full) else { return made };
        let until = waiter.until();
        let _turn = waiter.turn();
        match waiter.want(bytes, until) {
            Ok(()) => self.pages.create(bytes),
            Err(_) => made,
        }
    }

    fn release(&self, handle: Allocation) -> Result<(), PageError> {
        self.pages.release(handle)
    }

    fn map(&self, offset: u64, handles: &[&Allocation]) -> Result<(), PageError> {
        self.pages.map(offset, handles)
    }

    fn unmap(&self, offset: u64, bytes: u64) -> Result<(), PageError> {
        self.pages.unmap(offset, bytes)
    }

    fn is_passed(&self, fence: &Event) -> Result<bool, PageError> {
        self.pages.is_passed(fence)
    }

    fn settle(&self) -> Result<(), PageError> {
        self.pages.settle()
    }
}
