//! Blocks that wait for a thread, in the order of their jobs.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::{Block, Job};

/// All jobs with blocks that nobody has taken.
pub(crate) struct Queue {
    block_bytes: u32,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Each with the number of the block that is next.
    jobs: VecDeque<(Arc<Job>, u64)>,
    closed: bool,
}

/// What a thread gets.
pub(crate) enum Next {
    /// A block to move.
    Block(Block),
    /// There is none now.
    Nothing,
    /// There will be none.
    Closed,
}

impl Queue {
    pub(crate) fn new(block_bytes: u32) -> Queue {
        Queue { block_bytes, waiting: Mutex::default(), changed: Condvar::new() }
    }

    pub(crate) fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, job: Job) {
        let blocks = job.blocks(self.block_bytes);
        self.lock().jobs.push_back((Arc::new(job), 0));
        if blocks == 1 {
            self.changed.notify_one();
        } else {
            self.changed.notify_all();
        }
    }

    /// No more jobs: threads end when the last block is taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// The next block if there is one.
    pub(crate) fn try_take(&self) -> Next {
        self.take_from(&mut self.lock())
    }

    /// Waits for the next block.
    pub(crate) fn take(&self) -> Next {
        let mut waiting = self.lock();
        loop {
            match self.take_from(&mut waiting) {
                Next::Nothing => {
                    waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
                next => return next,
            }
        }
    }

    fn take_from(&self, waiting: &mut Waiting) -> Next {
        let Some((job, next)) = waiting.jobs.front_mut() else {
            return if waiting.closed { Next::Closed } else { Next::Nothing };
        };
        let (start, bytes) = job.block(*next, self.block_bytes);
        *next += 1;
        let last = *next == job.blocks(self.block_bytes);
        let block = Block { job: Arc::clone(job), start, bytes, skip: job.has_failed() };
        if last {
            waiting.jobs.pop_front();
        }
        Next::Block(block)
    }
}
