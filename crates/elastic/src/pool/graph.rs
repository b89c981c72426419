//! What a captured graph keeps.

use super::book::Book;
use super::engine::Shared;
use super::ground::Ground;
use super::monitor::{Monitor, StdMonitor};
use std::fmt;
use std::sync::Arc;

/// The memory of one capture: blocks that were used in it are the graph's, also after they were freed,
/// because the graph may run at any time. Drop it when the graph is gone; then everybody may have the
/// memory as soon as the device is done.
pub struct GraphMemory<G: Ground, M: Monitor<Book<G::Mark>> = StdMonitor<Book<<G as Ground>::Mark>>>
{
    pool: Arc<Shared<G, M>>,
    capture: u64,
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> GraphMemory<G, M> {
    pub(crate) fn new(pool: Arc<Shared<G, M>>, capture: u64) -> Self {
        Self { pool, capture }
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> Drop for GraphMemory<G, M> {
    fn drop(&mut self) {
        self.pool.release_graph(self.capture);
    }
}

impl<G: Ground, M: Monitor<Book<G::Mark>>> fmt::Debug for GraphMemory<G, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GraphMemory").field(&self.capture).finish()
    }
}
