//! The memory of graphs on one device.
//!
//! An allocation node has its addresses from the start and gets memory when its graph is launched
//! or uploaded: a *piece* of whole growth steps. A piece that is free serves the next node of its
//! size, at other addresses, after the work that used it. It stays reserved until the program trims.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond_cuda::sys::Status;

use super::address::{Access, AddressSpace};
use super::board::Device;
use super::fence::{Fence, Spot};
use super::location::Home;
use super::physical::Allocation;
use super::pool::Level;
use crate::config::MAX_DEVICES;

#[derive(Debug)]
struct Piece {
    allocation: Arc<Allocation>,
    /// The node that has it now, by its first address.
    user: Option<u64>,
    after: Option<Fence>,
}

impl Piece {
    fn is_idle(&self) -> bool {
        self.user.is_none() && self.after.as_ref().is_none_or(Fence::passed)
    }
}

/// The addresses of a node.
#[derive(Debug)]
struct Slot {
    asked: u64,
    bytes: u64,
    /// Graphs and executable graphs with the node.
    holders: usize,
    /// The piece that is mapped there.
    piece: Option<u64>,
    /// The end of the last launch's work with it.
    after: Option<Fence>,
}

#[derive(Debug, Default)]
pub struct State {
    slots: BTreeMap<u64, Slot>,
    pieces: BTreeMap<u64, Piece>,
    /// Taken from the device; the card counts all of it as used, too.
    pub reserved: Level,
}

/// The memory of all graphs of this process on one device.
#[derive(Debug)]
pub struct GraphMemory {
    device: Arc<Device>,
    space: Arc<AddressSpace>,
    step: u64,
    state: Mutex<State>,
}

impl GraphMemory {
    pub fn new(device: &Arc<Device>, space: &Arc<AddressSpace>, step: u64) -> Self {
        let (device, space) = (Arc::clone(device), Arc::clone(space));
        Self { device, space, step, state: Mutex::default() }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Addresses for a new node, held once.
    pub fn reserve(&self, asked: u64) -> Result<u64, Status> {
        let bytes = asked.checked_next_multiple_of(self.step).filter(|bytes| *bytes > 0);
        let bytes = bytes.ok_or(Status::INVALID_VALUE)?;
        let start = self.space.reserve_own(bytes)?;
        self.state()
            .slots
            .insert(start, Slot { asked, bytes, holders: 1, piece: None, after: None });
        Ok(start)
    }

    /// One more holder of a node's addresses.
    pub fn hold(&self, at: u64) {
        if let Some(slot) = self.state().slots.get_mut(&at) {
            slot.holders += 1;
        }
    }

    /// One less. Addresses that nobody holds and that are not in use go; the memory stays.
    pub fn let_go(&self, at: u64) {
        let mut state = self.state();
        if let Some(slot) = state.slots.get_mut(&at) {
            slot.holders = slot.holders.saturating_sub(1);
        }
        self.bury(&mut state);
    }

    fn bury(&self, state: &mut State) {
        let State { slots, pieces, .. } = state;
        slots.retain(|at, slot| {
            let piece = slot.piece.and_then(|piece| pieces.get(&piece));
            // Work that was launched still finds its addresses.
            let needed = slot.holders > 0
                || piece.is_some_and(|piece| piece.user == Some(*at))
                || slot.after.as_ref().is_some_and(|after| !after.passed());
            if !needed {
                self.space.release_own(*at);
            }
            needed
        });
    }

    /// Whether an address is that of a node.
    pub fn knows(&self, at: u64) -> bool {
        self.state().slots.contains_key(&at)
    }

    /// Whether a node's memory is allocated now.
    pub fn is_in_use(&self, at: u64) -> bool {
        self.state().is_in_use(at)
    }

    /// The memory in use around an address: its start and the bytes asked for.
    pub fn around(&self, at: u64) -> Option<(u64, u64)> {
        let state = self.state();
        let (start, slot) = state.slots.range(..=at).next_back()?;
        (state.is_in_use(*start) && at - start < slot.asked).then_some((*start, slot.asked))
    }

    /// A launch reaches an allocation node: memory appears, unless it is still there. Without a
    /// stream it only appears, for an upload, which lets go of it with [`Self::rest`].
    pub fn begin(&self, at: u64, spot: Option<Spot<'_>>) -> Result<(), Status> {
        let mut state = self.state();
        if state.is_in_use(at) {
            return Err(Status::INVALID_VALUE);
        }
        let slot = state.slots.get(&at).ok_or(Status::INVALID_VALUE)?;
        let (bytes, mapped) = (slot.bytes, slot.piece);
        let is_free = |piece: &Piece| piece.user.is_none() && piece.allocation.bytes == bytes;
        let own = mapped.filter(|id| state.pieces.get(id).is_some_and(is_free));
        let any = || state.pieces.iter().find(|(_, piece)| is_free(piece)).map(|(id, _)| *id);
        let id = match own.or_else(any) {
            Some(id) => id,
            None => {
                let allocation = Allocation::create_own(&self.device, bytes, Home::Device)?;
                let id = allocation.handle;
                let allocation = Arc::new(allocation);
                state.pieces.insert(id, Piece { allocation, user: None, after: None });
                state.reserved.add(bytes);
                id
            }
        };
        if mapped != Some(id) {
            self.map(&mut state, at, id)?;
        }
        if let Some(piece) = state.pieces.get_mut(&id) {
            if let Some(spot) = spot
                && let Some(fence) = piece.after.take().filter(|fence| !fence.is_before(spot))
            {
                fence.delay(spot)?;
            }
            piece.user = Some(at);
        }
        Ok(())
    }

    /// An upload is over: its memory waits for a launch, after the work that used it before.
    pub fn rest(&self, at: u64) {
        let mut state = self.state();
        let piece = state.slots.get(&at).and_then(|slot| slot.piece);
        if let Some(piece) = piece.and_then(|id| state.pieces.get_mut(&id)) {
            piece.user = None;
        }
    }

    /// Shows a piece at a node's addresses, which may show another from an earlier launch.
    fn map(&self, state: &mut State, at: u64, id: u64) -> Result<(), Status> {
        let State { slots, pieces, .. } = state;
        let slot = slots.get_mut(&at).ok_or(Status::INVALID_VALUE)?;
        if let Some(fence) = slot.after.take() {
            fence.wait()?;
        }
        self.space.unmap_own(at);
        slot.piece = None;
        let allocation = Arc::clone(&pieces.get(&id).ok_or(Status::UNKNOWN)?.allocation);
        let mut access = [Access::None; MAX_DEVICES];
        if let Some(own) = access.get_mut(self.device.index) {
            *own = Access::ReadWrite;
        }
        self.space.map_own(at, allocation, access)?;
        slot.piece = Some(id);
        Ok(())
    }

    /// The memory is freed, at once or after a fence; it stays reserved.
    pub fn end(&self, at: u64, fence: Option<Fence>) -> Result<(), Status> {
        let mut state = self.state();
        if !state.is_in_use(at) {
            return Err(Status::INVALID_VALUE);
        }
        let State { slots, pieces, .. } = &mut *state;
        if let Some(slot) = slots.get_mut(&at) {
            slot.after.clone_from(&fence);
            if let Some(piece) = slot.piece.and_then(|piece| pieces.get_mut(&piece)) {
                (piece.user, piece.after) = (None, fence);
            }
        }
        self.bury(&mut state);
        Ok(())
    }

    /// `cuDeviceGraphMemTrim`: memory that nobody uses goes back to the device.
    pub fn trim(&self) {
        let mut state = self.state();
        let idle: Vec<u64> =
            state.pieces.iter().filter(|(_, piece)| piece.is_idle()).map(|(id, _)| *id).collect();
        for id in idle {
            for (at, slot) in &mut state.slots {
                if slot.piece == Some(id) {
                    slot.piece = None;
                    self.space.unmap_own(*at);
                }
            }
            if let Some(piece) = state.pieces.remove(&id) {
                state.reserved.sub(piece.allocation.bytes);
            }
        }
        self.bury(&mut state);
    }
}

impl State {
    fn is_in_use(&self, at: u64) -> bool {
        let piece = self.slots.get(&at).and_then(|slot| self.pieces.get(&slot.piece?));
        piece.is_some_and(|piece| piece.user == Some(at))
    }
}

#[cfg(test)]
mod tests;
