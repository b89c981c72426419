//! A block of a pool.

use super::book::{Book, Taken};
use super::engine::Shared;
use super::ground::Ground;
use super::monitor::{Monitor, StdMonitor};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Some memory of a pool, for work of one stream. Dropping it frees it there: what the stream was
/// given before still has it, and so has work of streams that were named with
/// [`Block::record_stream`].
pub struct Block<G: Ground, M: Monitor<Book<G::Mark>> = StdMonitor<Book<<G as Ground>::Mark>>> {
    pool: Arc<Shared<G, M>>,
    taken: Taken,
    stream: G::Stream,
    others: Mutex<Vec<G::Stream>>,
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Block<G, M> {
    pub(crate) fn new(pool: Arc<Shared<G, M>>, taken: Taken, stream: G::Stream) -> Self {
        Self { pool, taken, stream, others: Mutex::new(Vec::new()) }
    }

    /// Where it begins.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.pool.base() + self.taken.start
    }

    /// Its offset from the pool's first address.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.taken.start
    }

    /// Its size, which is what was asked for or a little more.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.taken.bytes
    }

    /// A number that no other block of the pool ever has, unlike an address.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.taken.serial
    }

    /// The stream whose work may use it.
    #[must_use]
    pub fn stream(&self) -> &G::Stream {
        &self.stream
    }

    /// Says that work of another stream uses the block too: all that this stream is given until the
    /// block is freed. The caller orders the two streams, as always.
    pub fn record_stream(&self, other: &G::Stream) {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        // Programs say so with every use, and blocks may live long: a stream is kept once.
        if others.iter().all(|one| !self.pool.are_one(one, other)) {
            others.push(other.clone());
        }
    }

    /// Frees the block behind the work of another stream instead of its own.
    pub fn free_on(mut self, stream: &G::Stream) {
        let own = std::mem::replace(&mut self.stream, stream.clone());
        self.record_stream(&own);
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Drop for Block<G, M> {
    fn drop(&mut self) {
        let others = self.others.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.pool.free(&self.taken, &self.stream, others);
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> fmt::Debug for Block<G, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("address", &format_args!("{:#x}", self.address()))
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
