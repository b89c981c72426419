//! A memory pool: a range of addresses, backed by the device in steps, cut into blocks in the order
//! of streams.
//!
//! ```text
//! |== step ==|== step ==|          |== step ==|              addresses of the pool
//! |  used  |  free | used |  free  | used |  free ...        blocks
//! ```
//!
//! The backed steps are what the pool has *reserved*, and what the device counts. A block that is
//! freed in a stream can be used again by that stream at once, by others as the pool's policy says.
//! A request takes the block that needs the fewest new steps. Steps that nobody uses go back when
//! the program waits for the work that used them and more is reserved than the release threshold,
//! or when it trims.

mod blocks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::{Status, constants};

use super::address::{Access, AddressSpace};
use super::board::{Device, GRANULARITY};
use super::fence::{Fence, Spot};
use super::ids;
use super::location::{Home, Location};
use super::physical::Allocation;
use super::pools::Place;
use super::system::to_u64;
use crate::config::MAX_DEVICES;
use blocks::{Blocks, Candidate};

pub use blocks::ReusePolicy;

/// How much a pool takes from its device at a time, unless the environment says otherwise.
pub const GROWTH_STEP: u64 = 32 << 20;

/// Blocks begin at multiples of this.
const UNIT: u64 = 512;

/// Bytes now and at most so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
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

/// The pool's addresses, from its first allocation on.
#[derive(Debug)]
struct Range {
    start: u64,
    steps: u64,
    blocks: Blocks,
    backed: BTreeSet<u64>,
}

/// What changes in a pool.
#[derive(Debug)]
pub struct State {
    range: Option<Range>,
    access: [Access; MAX_DEVICES],
    /// Taken from the device.
    pub reserved: Level,
    /// Given to the program, as it asked.
    pub used: Level,
    /// What stays reserved when the program waits.
    pub threshold: u64,
    /// How free memory may be used again.
    pub reuse: ReusePolicy,
}

/// What a pool is made as.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolSettings {
    /// The most that it may reserve, up to a whole step; 0 for no such limit.
    pub max_bytes: u64,
    /// How it can be exported.
    pub handle_types: u32,
    /// How much it takes at a time.
    pub step: u64,
    pub home: Home,
    /// The device, by its index on the board, or the part of host memory.
    pub location: Location,
}

#[derive(Debug)]
pub struct Pool {
    /// The number by which the program knows it.
    pub id: u64,
    /// Whose memory it is; for host memory, whose registry knows its files.
    pub device: Arc<Device>,
    /// What it was made as.
    pub settings: PoolSettings,
    space: Arc<AddressSpace>,
    destroyed: AtomicBool,
    state: Mutex<State>,
}

impl Pool {
    /// An empty pool: open to its own device, or to all where the host may use it.
    pub fn new(device: &Arc<Device>, space: &Arc<AddressSpace>, settings: PoolSettings) -> Self {
        let access = settings.home.access(device.index);
        let step = settings.step.max(GRANULARITY).next_multiple_of(GRANULARITY);
        let state = State {
            range: None,
            access,
            reserved: Level::default(),
            used: Level::default(),
            threshold: 0,
            reuse: ReusePolicy { events: true, opportunistic: true, internal: true },
        };
        Self {
            id: ids::next(),
            device: Arc::clone(device),
            settings: PoolSettings { step, ..settings },
            space: Arc::clone(space),
            destroyed: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// The place of a device's own memory.
    pub fn place_of(device: &Device) -> Place {
        let id = i32::try_from(device.index).unwrap_or(i32::MAX);
        (Home::Device, Location { kind: constants::LOCATION_DEVICE, id })
    }

    /// What it can be the current pool of.
    pub fn belongs_to(&self) -> Place {
        (self.settings.home, self.settings.location)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Addresses for twice what the device has: holes between blocks need some.
    fn range<'a>(&self, state: &'a mut State) -> Result<&'a mut Range, Status> {
        if state.range.is_none() {
            let total = self.device.registry.total().map_err(|_| Status::OPERATING_SYSTEM)?;
            let steps = (total / self.settings.step).saturating_mul(2) + 2;
            let bytes = steps * self.settings.step;
            let start = self.space.reserve_own(bytes)?;
            let blocks = Blocks::new(bytes);
            state.range = Some(Range { start, steps, blocks, backed: BTreeSet::new() });
        }
        state.range.as_mut().ok_or(Status::UNKNOWN)
    }

    /// A block for the work that follows in a stream.
    pub fn allocate(&self, asked: u64, spot: Spot<'_>) -> Result<u64, Status> {
        let bytes = asked.checked_next_multiple_of(UNIT).ok_or(Status::OUT_OF_MEMORY)?;
        let mut state = self.state();
        let mut at = self.place(&mut state, bytes, spot)?;
        if self.back(&mut state, at, bytes).is_err() {
            // What is reserved in another place may be just what is missing in this one.
            if let Some(range) = state.range.as_mut() {
                range.blocks.settle(Fence::passed);
            }
            self.shrink(&mut state, 0);
            at = self.place(&mut state, bytes, spot)?;
            self.back(&mut state, at, bytes)?;
        }
        let range = self.range(&mut state)?;
        let start = range.start;
        let fences = range.blocks.take(at, bytes, asked);
        let late = |fence: &&Fence| !fence.is_before(spot) && !fence.passed();
        if let Err(status) = fences.iter().filter(late).try_for_each(|fence| fence.delay(spot)) {
            // The context is lost; whatever the block waited for will not run any more.
            range.blocks.free(at, None);
            return Err(status);
        }
        state.used.add(asked);
        Ok(start + at)
    }

    /// The place that needs the fewest new steps, and then serves the stream best.
    fn place(&self, state: &mut State, bytes: u64, spot: Spot<'_>) -> Result<u64, Status> {
        let policy = state.reuse;
        let range = self.range(state)?;
        let cost = |found: &Candidate| {
            let missing = self.missing(range, found.at, bytes).len();
            (missing, found.rank, found.bytes, found.at)
        };
        let best = range.blocks.candidates(bytes, spot, policy).min_by_key(cost);
        best.map(|found| found.at).ok_or(Status::OUT_OF_MEMORY)
    }

    /// The steps under a block that are not backed.
    fn missing(&self, range: &Range, at: u64, bytes: u64) -> Vec<u64> {
        let steps = at / self.settings.step..(at + bytes).div_ceil(self.settings.step);
        steps.filter(|step| !range.backed.contains(step)).collect()
    }

    /// Takes what is missing under a block from the device: all of it or nothing.
    fn back(&self, state: &mut State, at: u64, bytes: u64) -> Result<(), Status> {
        let range = self.range(state)?;
        let missing = self.missing(range, at, bytes);
        let (start, step) = (range.start, self.settings.step);
        let more = to_u64(missing.len()).saturating_mul(step);
        if self.settings.max_bytes != 0 {
            let limit = self.settings.max_bytes.checked_next_multiple_of(step);
            let sum = state.reserved.current.saturating_add(more);
            if more > 0 && limit.is_some_and(|limit| sum > limit) {
                return Err(Status::OUT_OF_MEMORY);
            }
        }
        // Asking first keeps a hopeless request from taking the whole device for a moment.
        if more > self.device.registry.total().map_err(|_| Status::OPERATING_SYSTEM)? {
            return Err(Status::OUT_OF_MEMORY);
        }
        let access = state.access;
        let mut taken = Vec::new();
        let done = missing.iter().try_for_each(|index| {
            let allocation =
                Arc::new(Allocation::create_own(&self.device, step, self.settings.home)?);
            self.space.map_own(start + index * step, allocation, access)?;
            taken.push(*index);
            Ok(())
        });
        if done.is_err() {
            for index in taken {
                self.space.unmap_own(start + index * step);
            }
            return done;
        }
        self.range(state)?.backed.extend(missing);
        state.reserved.add(more);
        Ok(())
    }

    /// Gives steps that nobody uses back, the last first, down to `keep`.
    fn shrink(&self, state: &mut State, keep: u64) {
        let step = self.settings.step;
        let Some(range) = state.range.as_mut() else { return };
        let unused: Vec<u64> = range
            .backed
            .iter()
            .rev()
            .copied()
            .filter(|index| range.blocks.is_unused(index * step, (index + 1) * step))
            .collect();
        for index in unused {
            if state.reserved.current < keep.saturating_add(step) {
                break;
            }
            range.backed.remove(&index);
            state.reserved.sub(step);
            self.space.unmap_own(range.start + index * step);
        }
    }

    pub fn trim(&self, keep: u64) {
        self.shrink(&mut self.state(), keep);
    }

    /// Called when the program has waited for work: gives back what is over the threshold.
    pub fn relax(&self, waited: impl Fn(&Fence) -> bool) {
        let mut state = self.state();
        let keep = state.threshold;
        if let Some(range) = state.range.as_mut() {
            range.blocks.settle(waited);
            self.shrink(&mut state, keep);
        }
    }

    /// The allocation that starts at an address: its size.
    pub fn size_at(&self, at: u64) -> Option<u64> {
        let state = self.state();
        let range = state.range.as_ref()?;
        range.blocks.used_at(at.checked_sub(range.start)?)
    }

    /// The allocation around an address: its start and the bytes asked for.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        let state = self.state();
        let range = state.range.as_ref()?;
        let offset = at.checked_sub(range.start)?;
        range.blocks.used_around(offset).map(|(found, asked)| (range.start + found, asked))
    }

    /// Frees an allocation, at once or after a fence. At once means that the program has waited, so
    /// that memory over the threshold goes back.
    pub fn free(&self, at: u64, fence: Option<Fence>) -> Result<(), Status> {
        let mut state = self.state();
        let range = state.range.as_mut().ok_or(Status::INVALID_VALUE)?;
        let offset = at.checked_sub(range.start).ok_or(Status::INVALID_VALUE)?;
        let asked = range.blocks.used_at(offset).ok_or(Status::INVALID_VALUE)?;
        let at_once = fence.is_none();
        range.blocks.free(offset, fence);
        state.used.sub(asked);
        drop(state);
        if at_once {
            self.relax(|_| false);
        }
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
        let access = state.access;
        if let Some(range) = state.range.as_ref() {
            for index in &range.backed {
                self.space.set_own_access(range.start + index * self.settings.step, access)?;
            }
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
        state.range.as_ref().is_none_or(|range| {
            range.backed.is_empty() && range.blocks.is_unused(0, range.steps * self.settings.step)
        })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let start = self.state().range.as_ref().map(|range| range.start);
        if let Some(start) = start {
            self.space.release_own(start);
        }
    }
}
