//! Small linear memory, which shares blocks of 2 MiB as on the card.
//!
//! A block belongs to one context. It is counted as a whole, from its first allocation to its last;
//! the allocations in it are files of their own, so that each can be shared by itself.

use std::sync::Arc;

use millpond_cuda::sys::Status;

use super::{Access, AddressSpace, Allocation, Mapping, Tables, out_of_memory, system};
use crate::config::MAX_DEVICES;
use crate::engine::board::GRANULARITY;

/// Linear memory up to this size shares blocks.
pub const SMALL_BYTES: u64 = 1 << 20;

impl AddressSpace {
    /// Maps small linear memory into a block of its context, which `block` makes when none has room.
    pub fn map_small(
        &self,
        bytes: u64,
        allocation: Arc<Allocation>,
        context: u64,
        block: impl Fn() -> Result<Allocation, Status>,
    ) -> Result<u64, Status> {
        let pages = allocation.bytes;
        let mut access = [Access::None; MAX_DEVICES];
        *access.get_mut(allocation.device.index).ok_or(Status::INVALID_DEVICE)? = Access::ReadWrite;
        let mut mapping = Mapping {
            bytes,
            pages,
            allocation,
            access: [Access::None; MAX_DEVICES],
            shown: false,
            context: Some(context),
        };
        // Making a block takes long: before the lock. Meanwhile others may fill the gap that was seen.
        let mut fresh = None;
        let (mut tables, start) = loop {
            let mut tables = self.write();
            if let Some(start) = tables.gap(context, pages) {
                break (tables, start);
            }
            if let Some(counted) = fresh.take() {
                let start = system::reserve(GRANULARITY, GRANULARITY).map_err(out_of_memory)?;
                tables.own.insert(start, GRANULARITY);
                tables.blocks.insert(start, (context, counted));
                break (tables, start);
            }
            drop(tables);
            fresh = Some(Arc::new(block()?));
        };
        let shown = if self.strict { Ok(()) } else { mapping.show(start, access) };
        mapping.access = access;
        tables.mappings.insert(start, mapping);
        let undone = shown.is_err().then(|| tables.unmap_small(start));
        drop(tables);
        drop((undone, fresh));
        shown.map(|()| start)
    }

    /// The block that small memory at an address is a part of.
    pub fn block_at(&self, at: u64) -> Option<Arc<Allocation>> {
        let tables = self.read();
        let block = tables.block_of(at)?;
        tables.blocks.get(&block).map(|(_, counted)| Arc::clone(counted))
    }
}

impl Tables {
    /// Room in a block of a context.
    fn gap(&self, context: u64, pages: u64) -> Option<u64> {
        let blocks = self.blocks.iter().filter(|(_, (owner, _))| *owner == context);
        blocks.map(|(start, _)| *start).find_map(|start| {
            let mut at = start;
            for (key, mapping) in self.mappings.range(start..start + GRANULARITY) {
                if key - at >= pages {
                    return Some(at);
                }
                at = key + mapping.pages;
            }
            (start + GRANULARITY - at >= pages).then_some(at)
        })
    }

    fn block_of(&self, at: u64) -> Option<u64> {
        let (start, _) = self.blocks.range(..=at).next_back()?;
        (at - start < GRANULARITY).then_some(*start)
    }

    /// Takes small memory away; its block goes with the last. `None` for memory of no block.
    pub(super) fn unmap_small(&mut self, at: u64) -> Option<(Mapping, Option<Arc<Allocation>>)> {
        let block = self.block_of(at)?;
        let mapping = self.mappings.remove(&at)?;
        if mapping.shown {
            // SAFETY: the range is inside a block of ours; references into it do not exist. If the
            // kernel fails, the file stays shown until the process ends.
            let _ = unsafe { system::hide(at, mapping.pages) };
        }
        if self.mappings.range(block..block + GRANULARITY).next().is_some() {
            return Some((mapping, None));
        }
        self.own.remove(&block);
        // SAFETY: the block's reservation shows nothing any more, and nobody knows it.
        let _ = unsafe { system::release(block, GRANULARITY) };
        Some((mapping, self.blocks.remove(&block).map(|(_, counted)| counted)))
    }
}
