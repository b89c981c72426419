//! Rules of the pool that tests break on purpose, to see that they notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A rule of a pool, named by what happens when it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMutation {
    /// Memory of another stream is used without waiting for the end of its use there.
    ForeignWithoutWait = 1,
    /// A mark is recorded before the number that it covers is drawn: others free something in between.
    MarkBeforeNumber,
    /// Of the streams that used a block only its own is waited for.
    OthersForgotten,
    /// What was freed in a capture is everybody's.
    GraphForAll,
    /// Pages go back although their stream may still use them.
    ShedUnclean,
    /// A lane that is used again counts from one again, and is known by its place alone.
    LaneByPlace,
}

/// Which rule is broken, if any. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    broken: Arc<AtomicU8>,
}

impl Rules {
    /// Whether a test has broken a rule.
    pub(crate) fn breaks(&self, mutation: PoolMutation) -> bool {
        self.broken.load(Ordering::Relaxed) == mutation as u8
    }

    /// Breaks a rule.
    pub(crate) fn break_rule(&self, mutation: Option<PoolMutation>) {
        self.broken.store(mutation.map_or(0, |mutation| mutation as u8), Ordering::Relaxed);
    }
}
