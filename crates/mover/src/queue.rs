//! Blocks that wait for a thread, in the order of their jobs; but a file that is written keeps only
//! some of the threads.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::{Block, Job};
use crate::settings::Ring;

/// Threads that write one file. The kernel lets writers of a file in one by one: on an H200's host,
/// 2 threads write 4.4 GB/s to memory, 8 threads 3.7. The others have time for other jobs.
const WRITERS: u8 = 4;

/// All jobs with blocks that nobody has taken.
pub(crate) struct Queue {
    block_bytes: u32,
    /// Blocks of one job that writes a file that may be on their way at once.
    written_blocks: u64,
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
    pub(crate) fn new(ring: Ring) -> Queue {
        Queue {
            block_bytes: ring.block_bytes,
            written_blocks: u64::from(WRITERS) * u64::from(ring.depth),
            waiting: Mutex::default(),
            changed: Condvar::new(),
        }
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

    /// A block that was written to a file has ended: a thread may have waited for that.
    pub(crate) fn room_in_a_file(&self) {
        // With the lock, so that nobody is between looking and waiting.
        if self.lock().closed {
            // Everybody must see the end.
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    fn take_from(&self, waiting: &mut Waiting) -> Next {
        let has_room = |(job, taken): &(Arc<Job>, u64)| {
            !job.work.writes_file() || job.running(*taken, self.block_bytes) < self.written_blocks
        };
        let Some(first) = waiting.jobs.iter().position(has_room) else {
            let over = waiting.closed && waiting.jobs.is_empty();
            return if over { Next::Closed } else { Next::Nothing };
        };
        let Some((job, next)) = waiting.jobs.get_mut(first) else { return Next::Nothing };
        let index = *next;
        let (start, bytes) = job.block(index, self.block_bytes);
        *next += 1;
        let last = *next == job.blocks(self.block_bytes);
        let block = Block { job: Arc::clone(job), index, start, bytes, skip: job.has_failed() };
        if last {
            waiting.jobs.remove(first);
        }
        Next::Block(block)
    }
}
