//! A memory pool: chunks of device memory, cut into blocks in the order of streams.
//!
//! The pool takes memory from the device in steps, and that *reserved* memory is what the device
//! counts. A block that is freed in a stream can be used again by that stream at once, by others
//! when the stream has got there. Whole chunks that nobody uses go back to the device when the
//! program waits for something and more is reserved than the release threshold, or when it trims.

mod blocks;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

use super::address::{Access, AddressSpace};
use super::board::{Device, GRANULARITY};
use super::fence::{Fence, Spot};
use super::ids;
use super::physical::{Allocation, Origin};
use crate::config::MAX_DEVICES;
use blocks::{Blocks, Reuse};

/// How much a pool takes from its device at a time, unless the environment says otherwise.
pub const GROWTH_STEP: u64 = 32 << 20;

/// Requests are rounded up to this.
const UNIT: u64 = 512;

/// How free memory may be used again: three of the pool's attributes.
#[derive(Clone, Copy, Debug)]
pub struct ReusePolicy {
    /// By streams that were told to wait for the free.
    pub events: bool,
    /// By anybody when the free is found to be done.
    pub opportunistic: bool,
    /// By a stream that is made to wait for the free.
    pub internal: bool,
}

/// Bytes of a pool, now and at most so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Now.
    pub current: u64,
    /// At most, since it was last reset.
    pub high: u64,
}

impl Level {
    pub fn add(&mut self, bytes: u64) {
        self.current += bytes;
        self.high = self.high.max(self.current);
    }

    pub fn sub(&mut self, bytes: u64) {
        self.current = self.current.saturating_sub(bytes);
    }

    pub fn reset(&mut self) {
        self.high = self.current;
    }
}

#[derive(Debug)]
struct Chunk {
    bytes: u64,
    blocks: Blocks,
}

/// What changes in a pool.
#[derive(Debug)]
pub struct State {
    chunks: BTreeMap<u64, Chunk>,
    access: [Access; MAX_DEVICES],
    /// Taken from the device.
    pub reserved: Level,
    /// Given to the program.
    pub used: Level,
    /// What stays reserved when the program waits.
    pub threshold: u64,
    /// How free memory may be used again.
    pub reuse: ReusePolicy,
}

/// What a pool is made as.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolSettings {
    /// The most that it may reserve; 0 for no such limit.
    pub max_bytes: u64,
    /// How it can be exported.
    pub handle_types: u32,
    /// How much it takes at a time.
    pub step: u64,
}

/// One pool.
#[derive(Debug)]
pub struct Pool {
    /// The number by which the program knows it.
    pub id: u64,
    /// Whose memory it is.
    pub device: Arc<Device>,
    /// What it was made as.
    pub settings: PoolSettings,
    space: Arc<AddressSpace>,
    destroyed: AtomicBool,
    state: Mutex<State>,
}

impl Pool {
    /// An empty pool, open to its own device.
    pub fn new(device: &Arc<Device>, space: &Arc<AddressSpace>, settings: PoolSettings) -> Self {
        let mut access = [Access::None; MAX_DEVICES];
        if let Some(own) = access.get_mut(device.index) {
            *own = Access::ReadWrite;
        }
        let state = State {
            chunks: BTreeMap::new(),
            access,
            reserved: Level::default(),
            used: Level::default(),
            threshold: 0,
            reuse: ReusePolicy { events: true, opportunistic: true, internal: true },
        };
        Self {
            id: ids::next(),
            device: Arc::clone(device),
            settings,
            space: Arc::clone(space),
            destroyed: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// The changing part.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block for the work that follows in a stream.
    pub fn allocate(&self, asked: u64, spot: Spot<'_>) -> Result<u64, Status> {
        let bytes = asked.checked_next_multiple_of(UNIT).ok_or(Status::OUT_OF_MEMORY)?;
        let mut state = self.state();
        let policy = state.reuse;
        if policy.opportunistic {
            state.settle();
        }
        let ordered = Reuse::Ordered { spot, events: policy.events };
        let mut found = state.find(bytes, ordered);
        if found.is_none() {
            for chunk in state.chunks.values_mut() {
                chunk.blocks.join(spot);
            }
            found = state.find(bytes, ordered);
        }
        if found.is_none() {
            let grown = self.grow(&mut state, bytes).or_else(|_| {
                self.shrink(&mut state, 0);
                self.grow(&mut state, bytes)
            });
            found = match grown {
                Ok(start) => Some((start, 0)),
                Err(_) if policy.internal => state.find(bytes, Reuse::Waiting),
                Err(status) => return Err(status),
            };
        }
        let (start, offset) = found.ok_or(Status::OUT_OF_MEMORY)?;
        let chunk = state.chunks.get_mut(&start).ok_or(Status::UNKNOWN)?;
        if let Some(fence) = chunk.blocks.take(offset, bytes, asked)
            && !fence.is_before(spot)
            && let Err(status) = fence.delay(spot)
        {
            chunk.blocks.free(offset, Some(fence));
            return Err(status);
        }
        state.used.add(bytes);
        Ok(start + offset)
    }

    /// Takes another chunk from the device, into which the request fits.
    fn grow(&self, state: &mut State, bytes: u64) -> Result<u64, Status> {
        let least = bytes.checked_next_multiple_of(GRANULARITY).ok_or(Status::OUT_OF_MEMORY)?;
        let step = self.settings.step.max(GRANULARITY);
        let mut chunk = bytes.checked_next_multiple_of(step).ok_or(Status::OUT_OF_MEMORY)?;
        if self.settings.max_bytes != 0 {
            let room = self.settings.max_bytes.saturating_sub(state.reserved.current);
            chunk = chunk.min(room / GRANULARITY * GRANULARITY);
        }
        if chunk < least {
            return Err(Status::OUT_OF_MEMORY);
        }
        let allocation = Arc::new(Allocation::create(&self.device, chunk, Origin::Own)?);
        let start = self.space.reserve_own(chunk)?;
        if let Err(status) = self.space.map_own(start, allocation, state.access) {
            self.space.release_own(start);
            return Err(status);
        }
        state.chunks.insert(start, Chunk { bytes: chunk, blocks: Blocks::new(chunk) });
        state.reserved.add(chunk);
        Ok(start)
    }

    /// Gives chunks that nobody uses back, down to `keep`.
    fn shrink(&self, state: &mut State, keep: u64) {
        state.settle();
        let unused: Vec<(u64, u64)> = state
            .chunks
            .iter()
            .filter(|(_, chunk)| chunk.blocks.is_unused())
            .map(|(start, chunk)| (*start, chunk.bytes))
            .collect();
        for (start, bytes) in unused {
            if state.reserved.current <= keep || state.reserved.current - bytes < keep {
                continue;
            }
            state.chunks.remove(&start);
            state.reserved.sub(bytes);
            self.space.release_own(start);
        }
    }

    /// `cuMemPoolTrimTo`.
    pub fn trim(&self, keep: u64) {
        self.shrink(&mut self.state(), keep);
    }

    /// Called when the program has waited for work: gives back what is over the threshold.
    pub fn relax(&self) {
        let mut state = self.state();
        let keep = state.threshold;
        if state.reserved.current > keep {
            self.shrink(&mut state, keep);
        } else {
            state.settle();
        }
    }

    /// The allocation that starts at an address: its size.
    pub fn size_at(&self, at: u64) -> Option<u64> {
        let state = self.state();
        let (start, chunk) = state.containing(at)?;
        chunk.blocks.used_at(at - start)
    }

    /// The allocation around an address: its start and the bytes asked for.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        let state = self.state();
        let (start, chunk) = state.containing(at)?;
        chunk.blocks.used_around(at - start).map(|(offset, asked)| (start + offset, asked))
    }

    /// Frees an allocation, at once or after a fence.
    pub fn free(&self, at: u64, fence: Option<Fence>) -> Result<(), Status> {
        let mut state = self.state();
        let (start, bytes) = match state.containing(at) {
            Some((start, chunk)) => {
                (start, chunk.blocks.used_at(at - start).ok_or(Status::INVALID_VALUE)?)
            }
            None => return Err(Status::INVALID_VALUE),
        };
        if let Some(chunk) = state.chunks.get_mut(&start) {
            chunk.blocks.free(at - start, fence);
        }
        state.used.sub(bytes);
        Ok(())
    }

    /// What a device may do with the pool's memory.
    pub fn access(&self, device: usize) -> Result<Access, Status> {
        self.state().access.get(device).copied().ok_or(Status::INVALID_VALUE)
    }

    /// `cuMemPoolSetAccess`: for memory that is there and memory that comes.
    pub fn set_access(&self, device: usize, access: Access) -> Result<(), Status> {
        let mut state = self.state();
        *state.access.get_mut(device).ok_or(Status::INVALID_VALUE)? = access;
        for start in state.chunks.keys() {
            self.space.set_own_access(*start, state.access)?;
        }
        Ok(())
    }

    /// `cuMemPoolDestroy`: the pool ends with its last allocation.
    pub fn destroy(&self) {
        self.destroyed.store(true, Ordering::Release);
    }

    /// Whether the program may still name it.
    pub fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// Whether a destroyed pool holds nothing any more; gives back what it can.
    pub fn is_over(&self) -> bool {
        if !self.is_destroyed() {
            return false;
        }
        let mut state = self.state();
        self.shrink(&mut state, 0);
        state.chunks.is_empty()
    }
}

impl State {
    fn settle(&mut self) {
        for chunk in self.chunks.values_mut() {
            chunk.blocks.settle();
        }
    }

    /// The smallest block that fits: its chunk and its offset.
    fn find(&self, bytes: u64, reuse: Reuse<'_>) -> Option<(u64, u64)> {
        let fits = self.chunks.iter().filter_map(|(start, chunk)| {
            chunk.blocks.find(bytes, reuse).map(|(offset, size)| (size, *start, offset))
        });
        fits.min().map(|(_, start, offset)| (start, offset))
    }

    fn containing(&self, at: u64) -> Option<(u64, &Chunk)> {
        let (start, chunk) = self.chunks.range(..=at).next_back()?;
        (at - start < chunk.bytes).then_some((*start, chunk))
    }
}
