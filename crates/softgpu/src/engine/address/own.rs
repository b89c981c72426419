//! Addresses that the driver takes for itself: the chunks of pools and the memory of graphs.
//!
//! A reservation is mapped in parts, each of one whole allocation.

use std::sync::Arc;

use millpond_cuda::sys::Status;

use super::{Access, AddressSpace, Allocation, Mapping, Tables, out_of_memory, system};
use crate::config::MAX_DEVICES;
use crate::engine::board::GRANULARITY;

/// What each device may do.
pub type AccessList = [Access; MAX_DEVICES];

impl AddressSpace {
    pub fn reserve_own(&self, bytes: u64) -> Result<u64, Status> {
        let start = system::reserve(bytes, GRANULARITY).map_err(out_of_memory)?;
        self.write().own.insert(start, bytes);
        Ok(start)
    }

    /// Gives addresses back, with what is mapped there.
    pub fn release_own(&self, start: u64) {
        let gone: Vec<Mapping> = {
            let mut tables = self.write();
            let Some(bytes) = tables.own.remove(&start) else { return };
            let keys: Vec<u64> =
                tables.mappings.range(start..start + bytes).map(|(key, _)| *key).collect();
            // SAFETY: the range is a reservation of `reserve_own`; references into it do not exist.
            // If the kernel fails, the addresses stay taken, which harms nobody.
            let _ = unsafe { system::release(start, bytes) };
            keys.iter().filter_map(|key| tables.mappings.remove(key)).collect()
        };
        // Freeing memory takes long: after the lock.
        drop(gone);
    }

    /// Maps memory over a part of a reservation.
    pub fn map_own(
        &self,
        start: u64,
        allocation: Arc<Allocation>,
        access: AccessList,
    ) -> Result<(), Status> {
        let mut tables = self.write();
        let bytes = allocation.bytes;
        if !tables.is_own(start, bytes) || tables.overlapping(start, bytes).next().is_some() {
            return Err(Status::INVALID_VALUE);
        }
        let mut mapping = Mapping {
            bytes,
            pages: bytes,
            allocation,
            access: [Access::None; MAX_DEVICES],
            shown: false,
            context: None,
        };
        if !self.strict || mapping.allocation.home.is_open_to_host() {
            mapping.show(start, access)?;
        }
        mapping.access = access;
        tables.mappings.insert(start, mapping);
        Ok(())
    }

    /// Takes away what [`Self::map_own`] mapped here.
    pub fn unmap_own(&self, start: u64) {
        let gone = {
            let mut tables = self.write();
            if !tables.is_own(start, 1) {
                return;
            }
            let gone = tables.mappings.remove(&start);
            if let Some(mapping) = gone.as_ref().filter(|mapping| mapping.shown) {
                // SAFETY: the range is inside a reservation of ours; references into it do not
                // exist. If the kernel fails, the file stays shown until the process ends.
                let _ = unsafe { system::hide(start, mapping.pages) };
            }
            gone
        };
        drop(gone);
    }

    /// Changes what devices may do with what is mapped here.
    pub fn set_own_access(&self, start: u64, access: AccessList) -> Result<(), Status> {
        let mut tables = self.write();
        let mapping = tables.mappings.get_mut(&start).ok_or(Status::INVALID_VALUE)?;
        if !self.strict || mapping.allocation.home.is_open_to_host() {
            mapping.show(start, access)?;
        }
        mapping.access = access;
        Ok(())
    }
}

impl Tables {
    pub(super) fn is_own(&self, at: u64, bytes: u64) -> bool {
        let before = self.own.range(..=at).next_back();
        before.is_some_and(|(start, size)| at - start < *size && bytes <= size - (at - start))
    }
}
