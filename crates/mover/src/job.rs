//! A job while it runs: how it is cut, what is left of it, what went wrong.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::channel::{FromMover, Rights, Why};
use crate::cuts::Cuts;
use crate::file::{FileFailure, UserFile};
use crate::slab::Slab;

/// What a job does, with everything it needs.
pub(crate) enum Work {
    /// From the file to the slab.
    Put(Arc<Slab>, UserFile),
    /// From the slab to the file.
    Get(Arc<Slab>, UserFile),
    /// To the first slab from the second, and where in that.
    Copy(Arc<Slab>, Arc<Slab>, u64),
    Zero(Arc<Slab>),
    /// Pieces from the file to the slab.
    Load(Arc<Slab>, UserFile, Cuts),
    /// Pieces of the file.
    HashFile(UserFile, Cuts),
    /// Pieces of the slab.
    Hash(Arc<Slab>, Cuts),
    /// Pieces from the slab to the file.
    Save(Arc<Slab>, UserFile, Cuts),
}

/// A job that was accepted.
pub(crate) struct Job {
    pub(crate) number: u64,
    /// Whose files these are.
    pub(crate) by: Rights,
    pub(crate) work: Work,
    /// Where in the slab; pieces know that themselves, and where in the file.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) file_offset: u64,
    /// Blocks that are not done.
    left: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

/// What went wrong first in the file's order.
enum Failure {
    /// The file ended after this many of the job's bytes.
    Ended(u64),
    Other(Why, String),
}

/// A part of a job that fits one buffer.
pub(crate) struct Block {
    pub(crate) job: Arc<Job>,
    pub(crate) index: u64,
    /// The first byte, from the job's start.
    pub(crate) start: u64,
    pub(crate) bytes: usize,
    /// The job had failed when this was taken, so it need not be moved. One that was taken before
    /// is moved, or the first place where a file ended would not be found.
    pub(crate) skip: bool,
}

impl Job {
    pub(crate) fn new(
        (number, by): (u64, Rights),
        work: Work,
        (offset, bytes, file_offset): (u64, u64, u64),
        block_bytes: u32,
    ) -> Job {
        let left = AtomicU64::new(count(&work, bytes, file_offset, block_bytes));
        let failure = Mutex::new(None);
        Job { number, by, work, offset, bytes, file_offset, left, failure }
    }

    /// How many blocks the job has.
    pub(crate) fn blocks(&self, block_bytes: u32) -> u64 {
        count(&self.work, self.bytes, self.file_offset, block_bytes)
    }

    /// First byte and size of a block. Blocks end where the file has a multiple of their size, so
    /// that all but the first start at a page.
    pub(crate) fn block(&self, index: u64, block_bytes: u32) -> (u64, usize) {
        if let Some(cuts) = self.work.cuts() {
            return cuts.block(usize::try_from(index).unwrap_or(usize::MAX));
        }
        if !self.work.is_cut() {
            return (0, 0);
        }
        span(index, self.bytes, self.file_offset, u64::from(block_bytes))
    }

    /// Whether a block failed, so that blocks which were not begun need not be.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Notes what went wrong with a block. Several may end early: the file ended at the first.
    pub(crate) fn fail(&self, start: u64, failure: FileFailure) {
        let mut known = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(match (known.take(), failure) {
            (Some(Failure::Ended(known)), FileFailure::Ended(bytes)) => {
                Failure::Ended(known.min(start + bytes as u64))
            }
            (Some(known), _) => known,
            (None, FileFailure::Ended(bytes)) => Failure::Ended(start + bytes as u64),
            (None, FileFailure::Denied(text)) => Failure::Other(Why::Denied, text),
            (None, FileFailure::Other(text)) => Failure::Other(Why::File, text),
        });
    }

    /// Nobody wants it any more: blocks that were not begun need not be.
    pub(crate) fn cancel(&self) {
        let mut known = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| Failure::Other(Why::Cancelled, "cancelled".to_owned()));
    }

    /// Counts a block as done, or as not to be done any more. True for the last one.
    pub(crate) fn block_ended(&self) -> bool {
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// How many of the first `taken` blocks are not done.
    pub(crate) fn running(&self, taken: u64, block_bytes: u32) -> u64 {
        let ended = self.blocks(block_bytes).saturating_sub(self.left.load(Ordering::Acquire));
        taken.saturating_sub(ended)
    }

    /// What to say after the last block.
    pub(crate) fn answer(&self) -> FromMover {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (why, text) = match failure {
            None => {
                let hashes = self.work.cuts().map(Cuts::hashes).unwrap_or_default();
                return FromMover::Done { job: self.number, hashes };
            }
            Some(Failure::Other(why, text)) => (why, text),
            Some(Failure::Ended(at)) => {
                (Why::File, format!("the file ended at {at} of {} bytes", self.bytes))
            }
        };
        FromMover::JobFailed { job: self.number, why, text }
    }
}

impl Work {
    /// Whether it is cut by size alone.
    fn is_cut(&self) -> bool {
        matches!(self, Work::Put(..) | Work::Get(..))
    }

    /// Whether threads wait for each other in the file.
    pub(crate) fn writes_file(&self) -> bool {
        matches!(self, Work::Get(..) | Work::Save(..))
    }

    /// A slab of it is not there any more, or in part.
    pub(crate) fn has_cut_slab(&self) -> bool {
        match self {
            Work::Copy(to, from, _) => !to.is_whole() || !from.is_whole(),
            Work::Put(slab, _)
            | Work::Get(slab, _)
            | Work::Zero(slab)
            | Work::Load(slab, ..)
            | Work::Hash(slab, _)
            | Work::Save(slab, ..) => !slab.is_whole(),
            Work::HashFile(..) => false,
        }
    }

    fn cuts(&self) -> Option<&Cuts> {
        match self {
            Work::Load(_, _, cuts)
            | Work::HashFile(_, cuts)
            | Work::Hash(_, cuts)
            | Work::Save(_, _, cuts) => Some(cuts),
            Work::Put(..) | Work::Get(..) | Work::Copy(..) | Work::Zero(..) => None,
        }
    }
}

/// Even a job without bytes has a block: its file is looked at.
fn count(work: &Work, bytes: u64, file_offset: u64, block_bytes: u32) -> u64 {
    let block = u64::from(block_bytes);
    if let Some(cuts) = work.cuts() {
        return (cuts.blocks() as u64).max(1);
    }
    if work.is_cut() { (file_offset % block + bytes).div_ceil(block).max(1) } else { 1 }
}

fn span(index: u64, bytes: u64, file_offset: u64, block: u64) -> (u64, usize) {
    let lead = file_offset % block;
    let start = (index * block).saturating_sub(lead);
    let end = ((index + 1) * block - lead).min(bytes);
    (start, usize::try_from(end.saturating_sub(start)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_follow_each_other_and_end_at_multiples_of_their_size(
            bytes in 0_u64..100_000,
            file_offset in 0_u64..50_000,
        ) {
            let blocks = (file_offset % 4096 + bytes).div_ceil(4096).max(1);
            let mut next = 0;
            for index in 0..blocks {
                let (start, size) = span(index, bytes, file_offset, 4096);
                prop_assert_eq!(start, next);
                prop_assert!(size <= 4096 && (size > 0 || bytes == 0));
                next = start + size as u64;
                prop_assert!(next == bytes || (file_offset + next).is_multiple_of(4096));
            }
            prop_assert_eq!(next, bytes);
        }
    }
}
