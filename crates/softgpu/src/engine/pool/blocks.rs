//! The blocks of one chunk: which bytes are in use, which are free, and since when.
//!
//! Blocks cover the chunk without a gap. A free block may still be in use by work that was queued
//! before it was freed; its fence says until when.

use std::collections::BTreeMap;

use crate::engine::fence::{Fence, Spot};

/// One block.
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

/// Who may take a free block.
#[derive(Clone, Copy, Debug)]
pub enum Reuse<'a> {
    /// The work of this stream, which comes after the fence; with `events` also by what the stream
    /// was told to wait for.
    Ordered { spot: Spot<'a>, events: bool },
    /// Whoever waits for the fence first.
    Waiting,
}

impl Reuse<'_> {
    fn allows(self, fence: Option<&Fence>) -> bool {
        match (fence, self) {
            (None, _) | (Some(_), Self::Waiting) => true,
            (Some(fence), Self::Ordered { spot, events }) => {
                fence.is_in(spot) || (events && fence.is_before(spot))
            }
        }
    }
}

/// All blocks of a chunk, by offset.
#[derive(Debug)]
pub struct Blocks {
    table: BTreeMap<u64, Block>,
}

impl Blocks {
    /// One free block.
    pub fn new(bytes: u64) -> Self {
        let whole = Block { bytes, state: State::Free(None) };
        Self { table: BTreeMap::from([(0, whole)]) }
    }

    /// True when the whole chunk is free and no work uses it.
    pub fn is_unused(&self) -> bool {
        self.table.values().all(|block| matches!(block.state, State::Free(None)))
    }

    /// Forgets fences that were passed.
    pub fn settle(&mut self) {
        for block in self.table.values_mut() {
            if let State::Free(fence) = &mut block.state
                && fence.as_ref().is_some_and(Fence::passed)
            {
                *fence = None;
            }
        }
        self.merge(|first, second| match (first, second) {
            (None, None) => Some(None),
            (Some(first), Some(second)) => first.later(second).map(Some),
            _ => None,
        });
    }

    /// Joins free neighbours that one stream may use together, so that a larger request fits.
    pub fn join(&mut self, spot: Spot<'_>) {
        self.merge(|first, second| match (first, second) {
            (Some(first), Some(second)) => first.later(second).map(Some),
            (Some(fence), None) | (None, Some(fence)) => {
                fence.is_in(spot).then(|| Some(fence.clone()))
            }
            (None, None) => Some(None),
        });
    }

    fn merge(&mut self, joined: impl Fn(&Option<Fence>, &Option<Fence>) -> Option<Option<Fence>>) {
        let mut at = 0;
        while let Some(block) = self.table.get(&at) {
            let next = at + block.bytes;
            let fence = match (&block.state, self.table.get(&next).map(|next| &next.state)) {
                (State::Free(first), Some(State::Free(second))) => joined(first, second),
                _ => None,
            };
            match fence {
                Some(fence) => {
                    let more = self.table.remove(&next).map_or(0, |block| block.bytes);
                    if let Some(block) = self.table.get_mut(&at) {
                        block.bytes += more;
                        block.state = State::Free(fence);
                    }
                }
                None => at = next,
            }
        }
    }

    /// The smallest free block that fits: its offset and size.
    pub fn find(&self, bytes: u64, reuse: Reuse<'_>) -> Option<(u64, u64)> {
        let fits = self.table.iter().filter(|(_, block)| match &block.state {
            State::Free(fence) => block.bytes >= bytes && reuse.allows(fence.as_ref()),
            State::Used(_) => false,
        });
        fits.map(|(at, block)| (*at, block.bytes)).min_by_key(|(_, size)| *size)
    }

    /// Takes the first `bytes` of a free block; answers its fence.
    pub fn take(&mut self, at: u64, bytes: u64, asked: u64) -> Option<Fence> {
        let block = self.table.get_mut(&at)?;
        let State::Free(fence) = block.state.clone() else { return None };
        let rest = block.bytes - bytes;
        *block = Block { bytes, state: State::Used(asked) };
        if rest > 0 {
            let state = State::Free(fence.clone());
            self.table.insert(at + bytes, Block { bytes: rest, state });
        }
        fence
    }

    /// The block in use that starts here: its size.
    pub fn used_at(&self, at: u64) -> Option<u64> {
        let block = self.table.get(&at)?;
        matches!(block.state, State::Used(_)).then_some(block.bytes)
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
}
