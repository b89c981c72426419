//! What can go wrong with a cache, by what the caller can do about it.

use crate::credit::{Holder, Short, Verdict};
use crate::geometry::GeometryError;
use crate::pages::PageError;
use crate::size::Bytes;
use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// A request to a cache that failed. Nothing of it has happened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ElasticError {
    /// Ask for less: the request alone is larger than the limit.
    #[error("{} never fit into a limit of {}", Bytes(*asked), Bytes(*limit))]
    NeverFits {
        /// What was asked for.
        asked: u64,
        /// What may be held in all.
        limit: u64,
    },
    /// Free something, or wait until a holder does, and ask again.
    #[error(
        "{} more do not fit: {} of {} are in use{}",
        Bytes(*asked), Bytes(*used), Bytes(*limit), Holders(holders)
    )]
    AfterFreeing {
        /// What was asked for.
        asked: u64,
        /// What may be held in all.
        limit: u64,
        /// What is held in all.
        used: u64,
        /// Who holds how much.
        holders: Vec<Holder>,
    },
    /// Come down to the limit first: more is held than it allows now.
    #[error(
        "{} more do not fit: {} are in use, and only {} are allowed{}",
        Bytes(*asked), Bytes(*used), Bytes(*limit), Holders(holders)
    )]
    OverBudget {
        /// What was asked for.
        asked: u64,
        /// What may be held in all.
        limit: u64,
        /// What is held in all.
        used: u64,
        /// Who holds how much.
        holders: Vec<Holder>,
    },
    /// Somebody outside of the budget has the memory: the card itself has no room.
    #[error("the card has no room for {} more; this cache holds {}", Bytes(*asked), Bytes(*held))]
    CardFull {
        /// What was asked for.
        asked: u64,
        /// What this cache holds.
        held: u64,
        /// What the driver said.
        source: PageError,
    },
    /// Uncommit blocks of this cache, or raise its cap.
    #[error(
        "{} more do not fit under the cap of {}: this cache holds {}",
        Bytes(*asked), Bytes(*cap), Bytes(*held)
    )]
    OverCap {
        /// What was asked for.
        asked: u64,
        /// What this cache may hold.
        cap: u64,
        /// What it holds.
        held: u64,
    },
    /// Ask for blocks that exist.
    #[error("blocks {}..{} are outside of a cache of {count} blocks", blocks.start, blocks.end)]
    OutOfRange {
        /// What was asked for.
        blocks: Range<u64>,
        /// How many there are.
        count: u64,
    },
    /// The block is usable already.
    #[error("block {block} is committed already")]
    AlreadyCommitted {
        /// The first such block.
        block: u64,
    },
    /// The block was never committed or taken, was given back before, or is named twice.
    #[error("block {block} is not committed")]
    NotCommitted {
        /// The first such block.
        block: u64,
    },
    /// Finish with the other user first.
    #[error("the cache is in use by {0}")]
    InUse(User),
    /// Make a cache of this process: the memory belongs to the one that was forked.
    #[error("the cache belongs to process {made_in}, from which this one was forked")]
    OtherProcess {
        /// The process that made the cache.
        made_in: u32,
    },
    /// The driver failed; what it says decides.
    #[error(transparent)]
    Driver(#[from] PageError),
    /// Choose other sizes.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

/// Who stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The table that hands out blocks.
    Table,
    /// Blocks that were committed by their numbers.
    Ranges,
    /// Blocks that a [`Prepared`](crate::Prepared) holds.
    Prepared,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "its table of blocks",
            Self::Ranges => "ranges of blocks that are committed",
            Self::Prepared => "blocks that are prepared and not committed yet",
        })
    }
}

impl From<Short> for ElasticError {
    fn from(short: Short) -> Self {
        let Short { asked, limit, used, holders, verdict } = short;
        match verdict {
            Verdict::Never => Self::NeverFits { asked, limit },
            Verdict::AfterFreeing => Self::AfterFreeing { asked, limit, used, holders },
            Verdict::OverBudget => Self::OverBudget { asked, limit, used, holders },
        }
    }
}

/// Writes who holds how much, or nothing.
struct Holders<'a>(&'a [Holder]);

impl fmt::Display for Holders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, holder) in self.0.iter().enumerate() {
            f.write_str(if number == 0 { " (" } else { ", " })?;
            write!(f, "{} {}", holder.name, Bytes(holder.bytes))?;
            if holder.idle_bytes > 0 {
                write!(f, " of which {} idle", Bytes(holder.idle_bytes))?;
            }
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_thing_and_the_numbers() {
        let holder = |name: &str, bytes, idle_bytes| Holder {
            name: name.into(),
            bytes,
            idle_bytes,
            user: None,
        };
        let holders = vec![holder("llama", 3 << 30, 1 << 30), holder("gpt", 1 << 29, 0)];
        let short = Short {
            asked: 1 << 30,
            limit: 4 << 30,
            used: 7 << 29,
            holders,
            verdict: Verdict::AfterFreeing,
        };
        assert_eq!(
            ElasticError::from(short).to_string(),
            "1 GiB more do not fit: 3.5 GiB of 4 GiB are in use (llama 3 GiB of which 1 GiB idle, \
             gpt 512 MiB)"
        );
        let error = ElasticError::OutOfRange { blocks: 3..9, count: 8 };
        assert_eq!(error.to_string(), "blocks 3..9 are outside of a cache of 8 blocks");
    }
}
