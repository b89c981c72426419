//! A place in a stream after which memory may be used again.

use std::sync::Arc;

use super::queue::{Position, Queue};

/// The end of some work in a stream of one context.
#[derive(Clone, Debug)]
pub struct Fence {
    queue: Arc<Queue>,
    position: Position,
}

/// A stream: where an allocation is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The streams of its context.
    pub queue: &'a Arc<Queue>,
    /// Which of them.
    pub lane: u64,
}

impl Fence {
    /// The place of an item.
    pub fn new(queue: &Arc<Queue>, position: Position) -> Self {
        Self { queue: Arc::clone(queue), position }
    }

    /// Whether the work is done.
    pub fn passed(&self) -> bool {
        self.queue.passed(self.position)
    }

    /// Whether it is a place in this very stream.
    pub fn is_in(&self, spot: Spot<'_>) -> bool {
        Arc::ptr_eq(&self.queue, spot.queue) && self.position.lane == spot.lane
    }

    /// Whether the stream was told to wait for it.
    pub fn is_before(&self, spot: Spot<'_>) -> bool {
        Arc::ptr_eq(&self.queue, spot.queue) && spot.queue.orders(spot.lane, self.position)
    }

    /// The later of two places in the same stream; `None` for two streams.
    pub fn later(&self, other: &Self) -> Option<Self> {
        let spot = Spot { queue: &self.queue, lane: self.position.lane };
        other.is_in(spot).then(|| {
            if self.position.number >= other.position.number { self.clone() } else { other.clone() }
        })
    }

    /// Lets the stream wait for the work; a stream of another context makes the host wait.
    pub fn delay(&self, spot: Spot<'_>) -> Result<(), millpond_cuda::sys::Status> {
        if Arc::ptr_eq(&self.queue, spot.queue) {
            let job = super::job::Job::Nothing;
            spot.queue.submit_after(spot.lane, job, Some(self.position)).map(drop)
        } else {
            self.queue.wait(self.position)
        }
    }
}
