//! What can go wrong with a pool, by what the caller can do about it.

use super::stats::PoolStats;
use crate::elastic_error::ElasticError;
use crate::pages::PageError;
use crate::size::Bytes;
use thiserror::Error;

/// A request to a pool that failed. Nothing of it has happened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PoolError {
    /// Free blocks, raise the budget, or ask for less: what is free was searched, waited for and given
    /// back for it, and others were asked.
    #[error("no memory for a block of {}: {stats}", Bytes(*asked))]
    OutOfMemory {
        /// What was asked for.
        asked: u64,
        /// The pool after the search.
        stats: Box<PoolStats>,
        /// Why the pool could not grow.
        source: ElasticError,
    },
    /// Ask for less: the pool's addresses do not suffice, whatever is free.
    #[error("a block of {} is larger than the addresses of the pool, {}", Bytes(*asked), Bytes(*limit))]
    TooLarge {
        /// What was asked for.
        asked: u64,
        /// What one block can be.
        limit: u64,
    },
    /// Make a pool of this process: the memory belongs to the one that was forked.
    #[error("the pool belongs to process {made_in}, from which this one was forked")]
    OtherProcess {
        /// The process that made the pool.
        made_in: u32,
    },
    /// Pages could not be given back; the cause decides.
    #[error(transparent)]
    Pages(ElasticError),
    /// The driver failed; what it says decides. A stream of another context is one such case.
    #[error(transparent)]
    Driver(#[from] PageError),
}

impl From<ElasticError> for PoolError {
    fn from(error: ElasticError) -> Self {
        match error {
            ElasticError::Driver(error) => Self::Driver(error),
            ElasticError::OtherProcess { made_in } => Self::OtherProcess { made_in },
            other => Self::Pages(other),
        }
    }
}
