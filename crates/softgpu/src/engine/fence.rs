//! A place in a stream after which memory may be used again.

use std::sync::Arc;

use millpond_cuda::sys::Status;

use super::job::Job;
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

    /// Whether it comes no later than a place in the same stream.
    pub fn is_up_to(&self, queue: &Arc<Queue>, position: Position) -> bool {
        Arc::ptr_eq(&self.queue, queue)
            && self.position.lane == position.lane
            && self.position.number <= position.number
    }

    /// Whether it is a place in any stream of these.
    pub fn is_of(&self, queue: &Arc<Queue>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
    }

    /// Whether it is a place in this very stream.
    pub fn is_in(&self, spot: Spot<'_>) -> bool {
        Arc::ptr_eq(&self.queue, spot.queue) && self.position.lane == spot.lane
    }

    /// Whether the stream was told to wait for it.
    pub fn is_before(&self, spot: Spot<'_>) -> bool {
        Arc::ptr_eq(&self.queue, spot.queue) && spot.queue.orders(spot.lane, self.position)
    }

    /// Lets the stream wait for the work; a stream of another context makes the host wait.
    pub fn delay(&self, spot: Spot<'_>) -> Result<(), Status> {
        if Arc::ptr_eq(&self.queue, spot.queue) {
            spot.queue.submit_after(spot.lane, Job::Nothing, Some(self.position)).map(drop)
        } else {
            self.wait()
        }
    }

    /// Waits for the work.
    pub fn wait(&self) -> Result<(), Status> {
        self.queue.wait(self.position)
    }
}
