//! What the scheduler needs of memory, however it is divided.

use crate::error::TraceError;
use std::time::Duration;

/// Memory for the blocks of several models. Times count from the beginning of a run.
pub trait Memory {
    /// Whether a request may ever have so many blocks.
    fn fits(&self, model: usize, blocks: u64) -> bool;

    /// Models with the same budget compete for it, first come, first served.
    fn budget_of(&self, model: usize) -> usize;

    /// Takes blocks for a request and adds their numbers to a list.
    ///
    /// # Errors
    /// Everything but want of room.
    fn take(
        &mut self,
        now: Duration,
        model: usize,
        count: u64,
        blocks: &mut Vec<u32>,
    ) -> Result<Taken, TraceError>;

    /// Gives blocks back that no work uses any more.
    ///
    /// # Errors
    /// What a cache or the driver answers.
    fn give(&mut self, now: Duration, model: usize, blocks: &[u32]) -> Result<(), TraceError>;

    /// After how long it is worth to ask again although nothing was given, where room comes by
    /// itself.
    fn ask_again_after(&self) -> Option<Duration> {
        None
    }

    /// What nobody but this model can have at this moment.
    fn held_bytes(&self, model: usize) -> u64;

    /// What all models may have together.
    fn limit_bytes(&self) -> u64;

    /// Ends the use: the time that the driver took in all, and the bytes that were not given back.
    ///
    /// # Errors
    /// What a cache or the driver answers.
    fn close(&mut self) -> Result<Closed, TraceError>;
}

/// How blocks were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// They are there, from this moment on.
    At(Duration),
    /// There is no room, and nothing was taken.
    Short,
}

/// What is left of memory after its use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// What the driver's calls took.
    pub driver: Duration,
    /// What somebody still has.
    pub left_bytes: u64,
}
