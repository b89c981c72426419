//! The memory of graphs on one device.
//!
//! An allocation node has its addresses from the start and gets memory when its graph is launched.
//! The memory stays with the addresses when it is freed, until the program trims. Addresses whose
//! graph is gone serve the next node of the same size, with the memory that they still have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

use super::address::{Access, AddressSpace};
use super::board::{Device, GRANULARITY};
use super::fence::Fence;
use super::physical::{Allocation, Origin};
use super::pool::Level;
use crate::config::MAX_DEVICES;

#[derive(Debug)]
struct Slot {
    asked: u64,
    bytes: u64,
    /// Graphs and executable graphs with the node.
    holders: usize,
    backed: bool,
    in_use: bool,
    after: Option<Fence>,
}

impl Slot {
    fn is_idle(&self) -> bool {
        !self.in_use && self.after.as_ref().is_none_or(Fence::passed)
    }
}

/// What changes.
#[derive(Debug, Default)]
pub struct State {
    slots: BTreeMap<u64, Slot>,
    /// Taken from the device.
    pub reserved: Level,
    /// Allocated by graphs that were launched, and not freed.
    pub used: Level,
}

/// The memory of all graphs of this process on one device.
#[derive(Debug)]
pub struct GraphMemory {
    device: Arc<Device>,
    space: Arc<AddressSpace>,
    state: Mutex<State>,
}

impl GraphMemory {
    /// None yet.
    pub fn new(device: &Arc<Device>, space: &Arc<AddressSpace>) -> Self {
        let (device, space) = (Arc::clone(device), Arc::clone(space));
        Self { device, space, state: Mutex::default() }
    }

    /// The changing part.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Addresses for a new node, held once.
    pub fn reserve(&self, asked: u64) -> Result<u64, Status> {
        let bytes = asked
            .checked_next_multiple_of(GRANULARITY)
            .filter(|bytes| *bytes > 0)
            .ok_or(Status::INVALID_VALUE)?;
        let mut state = self.state();
        let orphan = state
            .slots
            .iter_mut()
            .find(|(_, slot)| slot.holders == 0 && slot.bytes == bytes && slot.is_idle());
        if let Some((start, slot)) = orphan {
            (slot.holders, slot.asked, slot.after) = (1, asked, None);
            return Ok(*start);
        }
        let start = self.space.reserve_own(bytes)?;
        let slot = Slot { asked, bytes, holders: 1, backed: false, in_use: false, after: None };
        state.slots.insert(start, slot);
        Ok(start)
    }

    /// One more holder of a node's addresses.
    pub fn hold(&self, at: u64) {
        if let Some(slot) = self.state().slots.get_mut(&at) {
            slot.holders += 1;
        }
    }

    /// One less. Memory stays reserved; addresses without any go.
    pub fn let_go(&self, at: u64) {
        let mut state = self.state();
        if let Some(slot) = state.slots.get_mut(&at) {
            slot.holders = slot.holders.saturating_sub(1);
            if slot.holders == 0 && !slot.backed {
                state.slots.remove(&at);
                self.space.release_own(at);
            }
        }
    }

    /// Whether an address is that of a node.
    pub fn knows(&self, at: u64) -> bool {
        self.state().slots.contains_key(&at)
    }

    /// Whether a node's memory is allocated now.
    pub fn is_in_use(&self, at: u64) -> bool {
        self.state().slots.get(&at).is_some_and(|slot| slot.in_use)
    }

    /// The memory in use around an address: its start and the bytes asked for.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        let state = self.state();
        let (start, slot) = state.slots.range(..=at).next_back()?;
        (slot.in_use && at - start < slot.asked).then_some((*start, slot.asked))
    }

    /// A launch reaches an allocation node: memory appears, unless it is still there.
    pub fn begin(&self, at: u64) -> Result<(), Status> {
        let mut state = self.state();
        let slot = state.slots.get_mut(&at).ok_or(Status::INVALID_VALUE)?;
        if slot.in_use {
            return Err(Status::INVALID_VALUE);
        }
        let (bytes, was_backed) = (slot.bytes, slot.backed);
        if !was_backed {
            let allocation = Arc::new(Allocation::create(&self.device, bytes, Origin::Own)?);
            let mut access = [Access::None; MAX_DEVICES];
            if let Some(own) = access.get_mut(self.device.index) {
                *own = Access::ReadWrite;
            }
            self.space.map_own(at, allocation, access)?;
            slot.backed = true;
        }
        (slot.in_use, slot.after) = (true, None);
        if !was_backed {
            state.reserved.add(bytes);
        }
        state.used.add(bytes);
        Ok(())
    }

    /// The memory is freed, at once or after a fence; it stays reserved.
    pub fn end(&self, at: u64, fence: Option<Fence>) -> Result<(), Status> {
        let mut state = self.state();
        let slot = state.slots.get_mut(&at).ok_or(Status::INVALID_VALUE)?;
        if !slot.in_use {
            return Err(Status::INVALID_VALUE);
        }
        (slot.in_use, slot.after) = (false, fence);
        let bytes = slot.bytes;
        state.used.sub(bytes);
        Ok(())
    }

    /// `cuDeviceGraphMemTrim`: memory that nobody uses goes back to the device.
    pub fn trim(&self) {
        let mut state = self.state();
        let idle: Vec<u64> = state
            .slots
            .iter()
            .filter(|(_, slot)| slot.backed && slot.is_idle())
            .map(|(start, _)| *start)
            .collect();
        for start in idle {
            let Some(slot) = state.slots.get_mut(&start) else { continue };
            (slot.backed, slot.after) = (false, None);
            let (bytes, is_orphan) = (slot.bytes, slot.holders == 0);
            state.reserved.sub(bytes);
            if is_orphan {
                state.slots.remove(&start);
                self.space.release_own(start);
            } else {
                self.space.unmap_own(start);
            }
        }
    }
}
