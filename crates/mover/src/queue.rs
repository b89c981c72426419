//! Blocks that wait for a thread: of each user in turn, in the order of the user's jobs; but a file
//! that is written keeps only some of the threads.

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
    /// The user whose turn is next is first.
    turns: VecDeque<Turn>,
    closed: bool,
}

/// The jobs of a user, each with the number of the block that is next.
struct Turn {
    user: u32,
    jobs: VecDeque<(Arc<Job>, u64)>,
}

impl Waiting {
    fn add(&mut self, job: Arc<Job>) {
        let user = job.by.user;
        match self.turns.iter_mut().find(|turn| turn.user == user) {
            Some(turn) => turn.jobs.push_back((job, 0)),
            None => self.turns.push_back(Turn { user, jobs: VecDeque::from([(job, 0)]) }),
        }
    }
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
        self.lock().add(Arc::new(job));
        if blocks == 1 {
            self.changed.notify_one();
        } else {
            self.changed.notify_all();
        }
    }

    /// Nobody wants this job any more. What is begun of it ends as ever.
    pub(crate) fn cancel(&self, number: u64) {
        let waiting = self.lock();
        let mut jobs = waiting.turns.iter().flat_map(|turn| &turn.jobs);
        if let Some((job, _)) = jobs.find(|(job, _)| job.number == number) {
            job.cancel();
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
        let of = |turn: &Turn| turn.jobs.iter().position(has_room);
        let mut turns = waiting.turns.iter().enumerate();
        let found = turns.find_map(|(place, turn)| Some((place, of(turn)?)));
        let Some((mut turn, first)) =
            found.and_then(|(place, first)| Some((waiting.turns.remove(place)?, first)))
        else {
            let over = waiting.closed && waiting.turns.is_empty();
            return if over { Next::Closed } else { Next::Nothing };
        };
        let Some((job, next)) = turn.jobs.get_mut(first) else { return Next::Nothing };
        let index = *next;
        let (start, bytes) = job.block(index, self.block_bytes);
        *next += 1;
        let last = *next == job.blocks(self.block_bytes);
        let block = Block { job: Arc::clone(job), index, start, bytes, skip: job.has_failed() };
        if last {
            turn.jobs.remove(first);
        }
        if !turn.jobs.is_empty() {
            waiting.turns.push_back(turn);
        }
        Next::Block(block)
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Piece, PiecesKind, Run, SlabId};

    use super::*;
    use crate::channel::{FromMover, Pieces, Rights, Why};
    use crate::cuts::Cuts;
    use crate::file::UserFile;
    use crate::job::Work;

    const BLOCK: u32 = 100;

    fn queue() -> Queue {
        Queue::new(Ring { threads: 1, block_bytes: BLOCK, depth: 1 })
    }

    fn job(user: u32, number: u64, blocks: u64) -> Job {
        let bytes = u64::from(BLOCK);
        let pieces = (0..blocks).map(|at| Piece { offset: at * bytes, bytes }).collect();
        let runs = vec![Run { file_offset: 0, bytes: blocks * bytes }];
        let (kind, slab) = (PiecesKind::HashFile, SlabId::random());
        let cuts = Cuts::new(Pieces { kind, slab, base: 0, pieces, runs }, BLOCK).unwrap();
        let file = UserFile::new(tempfile::tempfile().unwrap().into());
        let by = Rights { user, group: user, groups: Vec::new() };
        Job::new((number, by), Work::HashFile(file, cuts), (0, blocks * bytes, 0), BLOCK)
    }

    fn block(queue: &Queue) -> Option<Block> {
        match queue.try_take() {
            Next::Block(block) => Some(block),
            Next::Nothing | Next::Closed => None,
        }
    }

    /// Job and block of everything that is left.
    fn order(queue: &Queue) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| block(queue)).map(|block| (block.job.number, block.index)).collect()
    }

    #[test]
    fn users_take_turns_and_each_ones_jobs_keep_their_order() {
        let queue = queue();
        queue.push(job(1, 10, 3));
        queue.push(job(1, 11, 2));
        queue.push(job(2, 20, 2));
        queue.push(job(3, 30, 1));
        let expected = [(10, 0), (20, 0), (30, 0), (10, 1), (20, 1), (10, 2), (11, 0), (11, 1)];
        assert_eq!(order(&queue), expected);
    }

    #[test]
    fn who_comes_after_a_large_job_waits_for_one_block_of_it() {
        let queue = queue();
        for number in 0..10 {
            queue.push(job(1, number, 1000));
        }
        assert_eq!(block(&queue).map(|block| block.job.number), Some(0));
        queue.push(job(2, 99, 1));
        let next: Vec<u64> = order(&queue).into_iter().map(|(job, _)| job).take(2).collect();
        assert!(next.contains(&99), "{next:?}");
    }

    #[test]
    fn a_job_that_is_cancelled_begins_no_block_and_is_answered() {
        let queue = queue();
        queue.push(job(1, 10, 3));
        let begun = block(&queue).unwrap();
        queue.cancel(10);
        queue.cancel(77);
        let rest: Vec<Block> = std::iter::from_fn(|| block(&queue)).collect();
        assert_eq!(rest.iter().map(|block| block.skip).collect::<Vec<_>>(), [true, true]);
        assert!(!begun.skip);
        let ended: Vec<bool> =
            rest.iter().chain([&begun]).map(|block| block.job.block_ended()).collect();
        assert_eq!(ended, [false, false, true]);
        let answer = begun.job.answer();
        assert!(matches!(answer, FromMover::JobFailed { job: 10, why: Why::Cancelled, .. }));
    }
}
