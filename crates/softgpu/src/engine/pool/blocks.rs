//! The blocks of a pool's address range: which bytes are in use, which are free, and since when.
//!
//! Blocks cover the range without a gap. A free block may still be in use by work that was queued
//! before it was freed: its fence says until when. The fence is forgotten when the *program* has
//! waited for that work; that it was passed without anybody waiting only lets other streams reuse
//! the block, as on the card.

use std::collections::BTreeMap;

use crate::engine::fence::{Fence, Spot};

#[derive(Clone, Debug)]
enum State {
    /// Given to the program, which asked for so many bytes.
    Used(u64),
    /// Free, at once or after a fence.
    Free(Option<Fence>),
}

#[derive(Clone, Debug)]
struct Block {
    bytes: u64,
    state: State,
}

/// How free memory may be used again: three of a pool's attributes.
#[derive(Clone, Copy, Debug)]
pub struct ReusePolicy {
    /// By streams that were told to wait for the free.
    pub events: bool,
    /// By anybody when the free is found to be done.
    pub opportunistic: bool,
    /// By a stream that is made to wait for the free.
    pub internal: bool,
}

impl ReusePolicy {
    /// How well a free block serves a stream, 0 is best; `None` when it may not have it.
    fn rank(self, fence: Option<&Fence>, spot: Spot<'_>) -> Option<u8> {
        let Some(fence) = fence else { return Some(0) };
        if fence.is_in(spot) || (self.events && fence.is_before(spot)) {
            return Some(0);
        }
        if self.opportunistic && fence.passed() {
            return Some(1);
        }
        self.internal.then_some(2)
    }
}

/// A free block that may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub at: u64,
    pub bytes: u64,
    /// How well it serves, 0 is best.
    pub rank: u8,
}

/// All blocks of a range, by offset.
#[derive(Debug)]
pub struct Blocks {
    table: BTreeMap<u64, Block>,
}

impl Blocks {
    pub fn new(bytes: u64) -> Self {
        let whole = Block { bytes, state: State::Free(None) };
        Self { table: BTreeMap::from([(0, whole)]) }
    }

    /// Forgets the fences of work that the program has waited for.
    pub fn settle(&mut self, waited: impl Fn(&Fence) -> bool) {
        for block in self.table.values_mut() {
            if let State::Free(fence) = &mut block.state
                && fence.as_ref().is_some_and(&waited)
            {
                *fence = None;
            }
        }
        self.merge();
    }

    /// Makes one block of neighbours that are free for anybody.
    fn merge(&mut self) {
        let mut at = 0;
        while let Some(block) = self.table.get(&at) {
            let next = at + block.bytes;
            let is_free = |at: &u64| {
                self.table.get(at).is_some_and(|block| matches!(block.state, State::Free(None)))
            };
            if is_free(&at) && is_free(&next) {
                let more = self.table.remove(&next).map_or(0, |block| block.bytes);
                if let Some(block) = self.table.get_mut(&at) {
                    block.bytes += more;
                }
            } else {
                at = next;
            }
        }
    }

    /// Where a request of a stream could go: at the start of each free block, over as many free
    /// neighbours as it needs.
    pub fn candidates(
        &self,
        bytes: u64,
        spot: Spot<'_>,
        policy: ReusePolicy,
    ) -> impl Iterator<Item = Candidate> {
        self.table.keys().filter_map(move |at| {
            let (mut size, mut rank) = (0, 0);
            for block in self.table.range(at..).map(|(_, block)| block) {
                let State::Free(fence) = &block.state else { return None };
                rank = rank.max(policy.rank(fence.as_ref(), spot)?);
                size += block.bytes;
                if size >= bytes {
                    return Some(Candidate { at: *at, bytes: size, rank });
                }
            }
            None
        })
    }

    /// Takes `bytes` of the free blocks from an offset on; answers their fences.
    pub fn take(&mut self, at: u64, bytes: u64, asked: u64) -> Vec<Fence> {
        let mut fences = Vec::new();
        let mut position = at;
        while position < at + bytes {
            let Some(Block { bytes: size, state: State::Free(fence) }) =
                self.table.remove(&position)
            else {
                break;
            };
            let end = position + size;
            if end > at + bytes {
                let state = State::Free(fence.clone());
                self.table.insert(at + bytes, Block { bytes: end - (at + bytes), state });
            }
            fences.extend(fence);
            position = end;
        }
        self.table.insert(at, Block { bytes, state: State::Used(asked) });
        fences
    }

    /// The block in use that starts here: the bytes asked for.
    pub fn used_at(&self, at: u64) -> Option<u64> {
        match self.table.get(&at)?.state {
            State::Used(asked) => Some(asked),
            State::Free(_) => None,
        }
    }

    /// The block in use around an offset: its start and the bytes asked for.
    pub fn used_around(&self, at: u64) -> Option<(u64, u64)> {
        let (start, block) = self.table.range(..=at).next_back()?;
        match block.state {
            State::Used(asked) if at - start < asked => Some((*start, asked)),
            _ => None,
        }
    }

    /// Frees a block in use.
    pub fn free(&mut self, at: u64, fence: Option<Fence>) {
        if let Some(block) = self.table.get_mut(&at) {
            block.state = State::Free(fence);
        }
    }

    /// True when a part of the range is free and the program has waited for all work that used it.
    pub fn is_unused(&self, from: u64, to: u64) -> bool {
        let first = self.table.range(..=from).next_back().map_or(from, |(start, _)| *start);
        self.table.range(first..to).all(|(_, block)| matches!(block.state, State::Free(None)))
    }
}
