//! What a pool of this process stands on: the pages of a cache that the pond knows.

use std::ops::Range;
use std::sync::Arc;

use millpond_cuda::{Event, Stream};
use millpond_elastic::{CudaGround, ElasticError, Ground, PageError, Patience};

use super::cache::ElasticCache;
use super::credit::GroupCredit;
use super::pages::GroupPages;
use crate::{Result, process};

/// A cache under a pool. Blocks keep it, and with it the place in the group's ledger.
#[derive(Debug)]
pub struct PoolGround {
    // Before the cache, whose end gives everything back.
    cuda: CudaGround<GroupPages, Arc<GroupCredit>>,
    cache: ElasticCache,
}

impl PoolGround {
    pub(super) fn new(cache: ElasticCache) -> Result<Self> {
        let cuda = CudaGround::new(cache.engine().clone(), cache.context().clone())?;
        Ok(Self { cuda, cache })
    }

    /// The cache as the pond knows it.
    #[must_use]
    pub fn cache(&self) -> &ElasticCache {
        &self.cache
    }
}

impl Ground for PoolGround {
    type Stream = Stream;
    type Mark = Event;

    fn process(&self) -> u32 {
        process::current()
    }

    fn base(&self) -> u64 {
        self.cuda.base()
    }

    fn granule(&self) -> u64 {
        self.cuda.granule()
    }

    fn largest_handle(&self) -> u64 {
        self.cuda.largest_handle()
    }

    fn bytes(&self) -> u64 {
        self.cuda.bytes()
    }

    fn commit(&self, bytes: Range<u64>, patience: Patience) -> Result<(), ElasticError> {
        self.cuda.commit(bytes, patience)
    }

    fn uncommit(&self, bytes: Range<u64>) -> Result<(), ElasticError> {
        self.cuda.uncommit(bytes)
    }

    fn trim(&self, bytes: u64) -> Result<u64, ElasticError> {
        let given = self.cuda.trim(bytes)?;
        self.cache.surrender();
        Ok(given)
    }

    fn offer(&self, bytes: u64) {
        self.cuda.offer(bytes);
    }

    fn settle(&self) -> Result<(), PageError> {
        self.cuda.settle()
    }

    fn handle(&self, stream: &Stream) -> u64 {
        self.cuda.handle(stream)
    }

    fn id(&self, stream: &Stream) -> Result<u64, PageError> {
        self.cuda.id(stream)
    }

    fn lasts(&self, stream: &Stream) -> bool {
        self.cuda.lasts(stream)
    }

    fn capture(&self, stream: &Stream) -> Result<Option<u64>, PageError> {
        self.cuda.capture(stream)
    }

    fn record(&self, stream: &Stream, again: Option<Event>) -> Result<Event, PageError> {
        self.cuda.record(stream, again)
    }

    fn is_passed(&self, mark: &Event) -> Result<bool, PageError> {
        self.cuda.is_passed(mark)
    }

    fn finish(&self, mark: &Event) -> Result<(), PageError> {
        self.cuda.finish(mark)
    }

    fn wait(&self, stream: &Stream, mark: &Event) -> Result<(), PageError> {
        self.cuda.wait(stream, mark)
    }
}
