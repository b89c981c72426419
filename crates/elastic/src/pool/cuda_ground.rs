//! Pools of a CUDA device: pages of a cache, and streams and events of its context.

use super::ground::{Ground, Patience};
use crate::cache::Cache;
use crate::credit::Credit;
use crate::elastic_error::ElasticError;
use crate::pages::{PageDriver, PageError};
use millpond_cuda::sys::Status;
use millpond_cuda::{Context, CudaError, Event, Stream};
use std::ops::Range;

/// A cache whose blocks are its granules, and the context that its addresses are for.
#[derive(Debug)]
pub struct CudaGround<D: PageDriver, C: Credit> {
    cache: Cache<D, C>,
    context: Context,
    /// Never recorded, so always passed: pages come back after the host has seen the end of all work.
    over: Event,
}

impl<D: PageDriver<Fence = Event>, C: Credit> CudaGround<D, C> {
    /// Takes over a cache of one segment that nobody else commits blocks of.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn new(cache: Cache<D, C>, context: Context) -> Result<Self, CudaError> {
        let over = Event::new(&context)?;
        Ok(Self { cache, context, over })
    }

    /// The pages underneath.
    #[must_use]
    pub fn cache(&self) -> &Cache<D, C> {
        &self.cache
    }

    /// The context that blocks are for.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    fn granules(&self, bytes: &Range<u64>) -> Range<u64> {
        let granule = self.granule();
        bytes.start / granule..bytes.end / granule
    }
}

impl<D: PageDriver<Fence = Event>, C: Credit> Ground for CudaGround<D, C> {
    type Stream = Stream;
    type Mark = Event;

    fn base(&self) -> u64 {
        self.cache.base()
    }

    fn granule(&self) -> u64 {
        self.cache.geometry().granule()
    }

    fn largest_handle(&self) -> u64 {
        let geometry = self.cache.geometry();
        geometry.classes().first().copied().unwrap_or(1) * geometry.granule()
    }

    fn bytes(&self) -> u64 {
        self.cache.geometry().bytes()
    }

    fn commit(&self, bytes: Range<u64>, patience: Patience) -> Result<(), ElasticError> {
        let granules = self.granules(&bytes);
        match patience {
            Patience::Quick => self.cache.commit_free(granules),
            Patience::Patient => self.cache.commit_range(granules),
        }
    }

    fn uncommit(&self, bytes: Range<u64>) -> Result<(), ElasticError> {
        self.cache.uncommit(self.granules(&bytes), Some(self.over.clone()))
    }

    fn trim(&self, bytes: u64) -> Result<u64, ElasticError> {
        Ok(self.cache.trim(bytes)?.bytes)
    }

    fn offer(&self, bytes: u64) {
        self.cache.offer(bytes);
    }

    fn settle(&self) -> Result<(), PageError> {
        self.cache.driver().settle()
    }

    fn handle(&self, stream: &Stream) -> u64 {
        stream.raw().addr() as u64
    }

    fn id(&self, stream: &Stream) -> Result<u64, PageError> {
        if stream.context() != &self.context {
            let detail = "the stream belongs to another context than the pool".to_owned();
            let (call, status) = ("StreamPool", Status::INVALID_HANDLE);
            return Err(CudaError { call, status, detail: Some(detail) }.into());
        }
        Ok(stream.id()?)
    }

    fn lasts(&self, stream: &Stream) -> bool {
        stream.is_lasting()
    }

    fn capture(&self, stream: &Stream) -> Result<Option<u64>, PageError> {
        match stream.capture() {
            Ok(capture) => Ok(capture),
            // The legacy stream itself never captures.
            Err(error) if error.status == Status::STREAM_CAPTURE_IMPLICIT => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn record(&self, stream: &Stream, again: Option<Event>) -> Result<Event, PageError> {
        // The legacy stream would carry the event into the capture of a stream that waits for it.
        if let Err(error) = stream.capture() {
            return Err(error.into());
        }
        let event = match again {
            Some(event) => event,
            None => Event::new(&self.context)?,
        };
        event.record(stream)?;
        Ok(event)
    }

    fn is_passed(&self, mark: &Event) -> Result<bool, PageError> {
        let _relaxed = self.context.driver().relax_capture();
        Ok(mark.is_done()?)
    }

    fn finish(&self, mark: &Event) -> Result<(), PageError> {
        let _relaxed = self.context.driver().relax_capture();
        Ok(mark.synchronize()?)
    }

    fn wait(&self, stream: &Stream, mark: &Event) -> Result<(), PageError> {
        Ok(stream.wait_event(mark)?)
    }
}
