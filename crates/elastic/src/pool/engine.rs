//! The pool itself: blocks out, blocks in.

use super::block::Block;
use super::book::{Book, Needs, Taken, Wanted};
use super::error::PoolError;
use super::graph::GraphMemory;
use super::ground::Ground;
use super::ladder::Search;
use super::lanes::Key;
use super::monitor::{Monitor, StdMonitor};
use super::mutation::{PoolMutation, Rules};
use super::sizes;
use super::snapshot::PoolSnapshot;
use super::stats::PoolStats;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

/// One of so many parts of the addresses is for small blocks.
const SMALL_PART: u64 = 8;

/// Blocks of device memory in the order of streams.
///
/// A block that is freed on a stream is there for the next request of that stream at once, without a
/// call of the driver. Another stream gets it when the host has seen that its work is over, or after it
/// was told to wait for that work. Cheap to clone; all threads may use all clones. Pages go back when
/// the last clone and the last block are gone.
pub struct StreamPool<G: Ground, M: Monitor<Book<G::Mark>> = StdMonitor<Book<<G as Ground>::Mark>>>
{
    shared: Arc<Shared<G, M>>,
}

pub(crate) struct Shared<G: Ground, M: Monitor<Book<G::Mark>>> {
    pub(super) ground: G,
    pub(super) book: M,
    /// Marks that were passed.
    pub(super) spare: Mutex<Vec<G::Mark>>,
    /// Streams with frees that no mark covers yet, where the pool can keep a stream.
    pub(super) bare: Mutex<HashMap<Key, G::Stream>>,
    process: u32,
    pub(super) rules: Rules,
}

/// A pool as long as others keep it.
pub struct WeakPool<G: Ground, M: Monitor<Book<G::Mark>> = StdMonitor<Book<<G as Ground>::Mark>>> {
    shared: Weak<Shared<G, M>>,
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> WeakPool<G, M> {
    /// The pool, if a clone or a block is left.
    #[must_use]
    pub fn upgrade(&self) -> Option<StreamPool<G, M>> {
        self.shared.upgrade().map(|shared| StreamPool { shared })
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> fmt::Debug for WeakPool<G, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakPool")
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> StreamPool<G, M> {
    /// A pool without any memory.
    pub fn new(ground: G) -> Self {
        let boundary = ground.bytes() / SMALL_PART / ground.granule() * ground.granule();
        let rules = Rules::default();
        let book = M::new(Book::new(boundary, rules.clone()));
        let (spare, bare) = (Mutex::new(Vec::new()), Mutex::new(HashMap::new()));
        let process = ground.process();
        Self { shared: Arc::new(Shared { ground, book, spare, bare, process, rules }) }
    }

    /// A block that work of the stream may use from now on. Its size is at least what was asked for, its
    /// contents are undefined, and its address is a multiple of 512.
    ///
    /// In a capture the block is the graph's: see [`StreamPool::graph_memory`].
    ///
    /// # Errors
    /// No memory, after everything was tried; what the driver answers.
    pub fn alloc(&self, bytes: u64, stream: &G::Stream) -> Result<Block<G, M>, PoolError> {
        let taken = self.shared.alloc(bytes, stream)?;
        Ok(Block::new(Arc::clone(&self.shared), taken, stream.clone()))
    }

    /// Gives memory back that no block uses, until so many bytes are back or none is left. Answers how
    /// many bytes the payer has again. With `wait` the whole device is waited for where that helps, which
    /// breaks captures.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn trim(&self, bytes: u64, wait: bool) -> Result<u64, PoolError> {
        self.shared.check_process()?;
        let shared = &self.shared;
        shared.poll()?;
        let mut search = Search::default();
        let mut freed = shared.shed(bytes, &mut search)?;
        if freed < bytes && wait {
            shared.settle()?;
            freed += shared.shed(bytes - freed, &mut search)?;
        }
        Ok(freed)
    }

    /// The memory of the capture that the stream is in. While this lives, blocks that were used in the
    /// capture are used for nothing else, also those that were freed: the graph may run at any time.
    /// Drop it when the graph is gone. Where nobody asks for it, that memory stays the graph's for ever.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn graph_memory(&self, stream: &G::Stream) -> Result<Option<GraphMemory<G, M>>, PoolError> {
        let Some(capture) = self.shared.ground.capture(stream)? else { return Ok(None) };
        self.shared.book.with(|book| book.lanes.hold(capture));
        Ok(Some(GraphMemory::new(Arc::clone(&self.shared), capture)))
    }

    /// Everything that can be counted.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.shared.book.with(|book| book.stats())
    }

    /// Has the peaks begin anew.
    pub fn reset_peaks(&self) {
        self.shared.book.with(Book::reset_peaks);
    }

    /// All blocks and gaps by address, to be drawn or written.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        let base = self.shared.ground.base();
        self.shared.book.with(|book| PoolSnapshot::of(book, base))
    }

    /// Breaks a rule of the pool, for tests that must notice it; `None` mends it.
    #[doc(hidden)]
    pub fn break_rule(&self, mutation: Option<PoolMutation>) {
        self.shared.rules.break_rule(mutation);
    }

    /// A reference that does not keep the pool.
    #[must_use]
    pub fn downgrade(&self) -> WeakPool<G, M> {
        WeakPool { shared: Arc::downgrade(&self.shared) }
    }

    /// What the pool stands on.
    #[must_use]
    pub fn ground(&self) -> &G {
        &self.shared.ground
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Shared<G, M> {
    pub(crate) fn base(&self) -> u64 {
        self.ground.base()
    }

    fn check_process(&self) -> Result<(), PoolError> {
        let made_in = self.process;
        match made_in == self.ground.process() {
            true => Ok(()),
            false => Err(PoolError::OtherProcess { made_in }),
        }
    }

    fn alloc(&self, asked: u64, stream: &G::Stream) -> Result<Taken, PoolError> {
        self.check_process()?;
        let key = match self.ground.capture(stream)? {
            Some(capture) => self.within(capture, stream),
            None => Key::Stream(self.ground.id(stream)?),
        };
        let limit = self.ground.bytes() / SMALL_PART * (SMALL_PART - 1);
        let too_large = PoolError::TooLarge { asked, limit };
        let bytes = sizes::bucket(asked).filter(|bytes| *bytes <= limit).ok_or(too_large)?;
        let wanted = Wanted { key, bytes, asked };
        let (taken, offer) = self.book.with(|book| (book.take(&wanted), book.counters.offer()));
        self.offer(offer);
        match taken {
            Some(taken) => Ok(taken),
            None => self.climb(&wanted, stream),
        }
    }

    pub(super) fn offer(&self, free: Option<u64>) {
        if let Some(free) = free {
            self.ground.offer(free);
        }
    }

    /// Frees a block: for the stream at once, for others as soon as all who used it are done.
    pub(crate) fn free(&self, taken: &Taken, stream: &G::Stream, others: &[G::Stream]) {
        if self.check_process().is_err() {
            return;
        }
        let capture = match self.ground.capture(stream) {
            Ok(capture) => capture,
            // The driver is gone, and the memory with it.
            Err(error) if error.is_gone() => return,
            Err(_) => None,
        };
        // A stream that captures is not asked for its number. What it frees waits for the graph, and then
        // for the device.
        let key = if capture.is_some() { Key::Unknown } else { self.key_of(stream) };
        let others = match others {
            [] => Vec::new(),
            _ if self.rules.breaks(PoolMutation::OthersForgotten) => Vec::new(),
            others => self.ends_of_use(others, key),
        };
        let is_lasting = self.ground.lasts(stream);
        let (needs, offer) = self.book.with(|book| {
            let is_own = book.used(taken.place, taken.serial).is_some();
            let capture = capture.map(|capture| self.within(capture, stream));
            let needs = match is_own {
                true => book.free(taken.place, key, capture, others, is_lasting),
                false => Needs::Nothing,
            };
            if needs == Needs::Keeping {
                self.keep_stream(key, stream);
            }
            (needs, book.counters.offer())
        });
        self.offer(offer);
        if let Needs::Mark(number) = needs {
            // Without a mark it is over when the next one is.
            let _ = self.cover(key, number, stream);
        }
    }

    /// Whether two living streams are the same.
    pub(crate) fn are_one(&self, one: &G::Stream, other: &G::Stream) -> bool {
        self.ground.handle(one) == self.ground.handle(other)
    }

    /// The lane of a stream in a capture.
    pub(super) fn within(&self, capture: u64, stream: &G::Stream) -> Key {
        Key::Capture { capture, stream: self.ground.handle(stream) }
    }

    /// The lane of a stream. One that says no number has a lane that only waiting for the device ends.
    pub(super) fn key_of(&self, stream: &G::Stream) -> Key {
        self.ground.id(stream).map_or(Key::Unknown, Key::Stream)
    }

    pub(crate) fn release_graph(&self, capture: u64) {
        self.book.with(|book| book.lanes.release(capture));
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Clone for StreamPool<G, M> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> fmt::Debug for StreamPool<G, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPool").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "forked.rs"]
mod forked;
