//! What can be counted of a pool.

use super::book::{Book, State};
use crate::size::Bytes;
use std::fmt;

/// Makes the struct and the list of its fields from one list.
macro_rules! stats {
    ($($(#[$about:meta])* $field:ident,)*) => {
        /// A pool at one moment. Bytes are those of blocks unless said.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct PoolStats {
            $($(#[$about])* pub $field: u64,)*
        }

        impl PoolStats {
            /// The names and values of all fields, for whoever writes them down.
            #[must_use]
            pub fn fields(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field)),*]
            }
        }
    };
}

stats! {
    /// In blocks that are in use.
    in_use_bytes,
    /// What was asked for; blocks are a little larger.
    asked_bytes,
    /// In gaps and in freed blocks that other streams have not passed yet.
    free_bytes,
    /// In gaps that every stream may have at once.
    clean_bytes,
    /// In freed blocks that wait for another stream.
    waiting_bytes,
    /// What the pool holds of the card: blocks in use and free bytes.
    held_bytes,
    /// The most that was in use.
    peak_in_use_bytes,
    /// The most that was held.
    peak_held_bytes,
    /// The largest gap.
    largest_gap_bytes,
    /// Blocks that are in use.
    blocks,
    /// Gaps.
    gaps,
    /// Blocks that were handed out so far.
    allocations,
    /// Of those, from a gap that lay ready: no call of the driver was needed.
    reused,
    /// Of those, from a gap of another stream whose end the new one waits for.
    taken_over,
    /// How often memory was added.
    growths,
    /// How often work of streams was waited for.
    waits,
    /// Bytes that were given back.
    shed_bytes,
    /// Requests that found no memory.
    refused,
    /// Streams that the pool knows.
    streams,
}

impl PoolStats {
    /// The part of the free bytes that the largest gap is not: 0.0 when all of them are one gap, or none.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn fragmentation(&self) -> f64 {
        let scattered = self.free_bytes.saturating_sub(self.largest_gap_bytes);
        scattered as f64 / self.free_bytes.max(1) as f64
    }
}

impl fmt::Display for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in use in {} block{}, {} free in {} gap{} (largest {}), {} held, peak {}",
            Bytes(self.in_use_bytes),
            self.blocks,
            plural(self.blocks),
            Bytes(self.free_bytes),
            self.gaps,
            plural(self.gaps),
            Bytes(self.largest_gap_bytes),
            Bytes(self.held_bytes),
            Bytes(self.peak_held_bytes),
        )
    }
}

const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// What is counted as it happens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) in_use: u64,
    pub(crate) asked: u64,
    pub(crate) held: u64,
    pub(crate) blocks: u64,
    peak_in_use: u64,
    peak_held: u64,
    allocations: u64,
    pub(crate) taken_over: u64,
    pub(crate) grown_for: u64,
    growths: u64,
    pub(crate) waits: u64,
    pub(crate) shed: u64,
    pub(crate) refused: u64,
    /// What was last said to be free.
    offered: u64,
}

/// Who pays hears what is free when that has changed by so much: it is no more than an estimate.
const OFFER_STEP: u64 = 32 << 20;

impl Counters {
    /// What is free, if it is time to say so.
    pub(crate) fn offer(&mut self) -> Option<u64> {
        let free = self.held - self.in_use;
        let is_due = free.abs_diff(self.offered) >= OFFER_STEP || free == 0 && self.offered > 0;
        if is_due {
            self.offered = free;
        }
        is_due.then_some(free)
    }

    pub(crate) fn took(&mut self, bytes: u64, asked: u64) {
        self.in_use += bytes;
        self.asked += asked;
        self.blocks += 1;
        self.allocations += 1;
        self.peak_in_use = self.peak_in_use.max(self.in_use);
    }

    pub(crate) fn freed(&mut self, bytes: u64, asked: u64) {
        self.in_use -= bytes;
        self.asked -= asked;
        self.blocks -= 1;
    }

    pub(crate) fn grew(&mut self, bytes: u64) {
        self.held += bytes;
        self.growths += 1;
        self.peak_held = self.peak_held.max(self.held);
    }
}

impl<M> Book<M> {
    pub(crate) fn stats(&self) -> PoolStats {
        let counted = &self.counters;
        let mut stats = PoolStats {
            in_use_bytes: counted.in_use,
            asked_bytes: counted.asked,
            clean_bytes: self.clean_bytes(),
            held_bytes: counted.held,
            peak_in_use_bytes: counted.peak_in_use,
            peak_held_bytes: counted.peak_held,
            blocks: counted.blocks,
            allocations: counted.allocations,
            reused: counted.allocations - counted.taken_over - counted.grown_for,
            taken_over: counted.taken_over,
            growths: counted.growths,
            waits: counted.waits,
            shed_bytes: counted.shed,
            refused: counted.refused,
            streams: self.lanes.iter().filter(|(_, lane)| !lane.is_capture()).count() as u64,
            ..PoolStats::default()
        };
        for (_, stretch) in self.stretches.iter() {
            match &stretch.state {
                State::Gap { .. } => {
                    stats.gaps += 1;
                    stats.free_bytes += stretch.bytes;
                    stats.largest_gap_bytes = stats.largest_gap_bytes.max(stretch.bytes);
                }
                State::Waiting { .. } => {
                    stats.waiting_bytes += stretch.bytes;
                    stats.free_bytes += stretch.bytes;
                }
                State::Used(_) | State::End => {}
            }
        }
        stats
    }

    /// Starts the peaks anew.
    pub(crate) fn reset_peaks(&mut self) {
        let counted = &mut self.counters;
        (counted.peak_in_use, counted.peak_held) = (counted.in_use, counted.held);
    }
}
