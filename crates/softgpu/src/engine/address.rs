//! The address space of this process: what is reserved, what is mapped there, and who may use it.
//!
//! ```text
//! |<------------- reservation ------------->|      nothing can touch it
//! |   mapping   |   mapping   |             |      one whole allocation each
//! |  none | ro | rw  per device             |      set by cuMemSetAccess
//! ```
//!
//! The page table is the truth; the operating system's mappings only let the host look at device
//! memory directly, and in strict mode there are none. Copies and kernels never go through device
//! addresses: they look them up here and then use the allocations' files.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_cuda::sys::Status;

use super::board::GRANULARITY;
use super::physical::{Allocation, Origin};
use super::system::{self, HostAccess};
use crate::config::MAX_DEVICES;

/// What a mapping lets a device do.
pub type Access = HostAccess;

/// A part of one allocation, found by address.
#[derive(Clone, Debug)]
pub struct Segment {
    pub allocation: Arc<Allocation>,
    pub offset: u64,
    /// How much of it.
    pub bytes: u64,
}

#[derive(Debug)]
struct Mapping {
    /// What the program may use; less than the pages for linear memory.
    bytes: u64,
    /// What is taken from the address space.
    pages: u64,
    allocation: Arc<Allocation>,
    access: [Access; MAX_DEVICES],
    shown: bool,
    context: Option<u64>,
}

#[derive(Debug, Default)]
struct Tables {
    reservations: BTreeMap<u64, u64>,
    mappings: BTreeMap<u64, Mapping>,
    /// Reservations of the driver's own, which the program cannot map into or free.
    own: BTreeMap<u64, u64>,
    /// Those of them that small linear memory shares: the context, and what is counted.
    blocks: BTreeMap<u64, (u64, Arc<Allocation>)>,
}

/// What is known about an address.
#[derive(Clone, Debug)]
pub struct PointerInfo {
    /// Start of its mapping.
    pub start: u64,
    /// Size of its mapping.
    pub bytes: u64,
    pub allocation: Arc<Allocation>,
    /// The context that made it, for linear memory.
    pub context: Option<u64>,
}

/// Reservations and page table.
#[derive(Debug)]
pub struct AddressSpace {
    tables: RwLock<Tables>,
    strict: bool,
}

fn out_of_memory(_: io::Error) -> Status {
    Status::OUT_OF_MEMORY
}

impl AddressSpace {
    pub fn new(strict: bool) -> Self {
        Self { tables: RwLock::default(), strict }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// `cuMemAddressReserve`; a `hint` of 0 is none.
    pub fn reserve(&self, bytes: u64, alignment: u64, hint: u64) -> Result<u64, Status> {
        let aligned = |value: u64| value.is_multiple_of(GRANULARITY);
        if bytes == 0
            || !aligned(bytes)
            || !aligned(hint)
            || !(alignment == 0 || alignment.is_power_of_two())
        {
            return Err(Status::INVALID_VALUE);
        }
        let alignment = alignment.max(GRANULARITY);
        let at_hint =
            hint != 0 && hint.is_multiple_of(alignment) && system::reserve_at(hint, bytes).is_ok();
        let start = if at_hint {
            hint
        } else {
            system::reserve(bytes, alignment).map_err(out_of_memory)?
        };
        self.write().reservations.insert(start, bytes);
        Ok(start)
    }

    /// `cuMemAddressFree`: the whole reservation, with nothing mapped in it.
    pub fn free(&self, start: u64, bytes: u64) -> Result<(), Status> {
        let mut tables = self.write();
        if tables.reservations.get(&start) != Some(&bytes)
            || tables.overlapping(start, bytes).next().is_some()
        {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the range is one of our reservations and shows nothing.
        unsafe { system::release(start, bytes) }.map_err(out_of_memory)?;
        tables.reservations.remove(&start);
        Ok(())
    }

    /// `cuMemMap`: the whole allocation, with no access yet.
    pub fn map(
        &self,
        start: u64,
        bytes: u64,
        offset: u64,
        allocation: Arc<Allocation>,
    ) -> Result<(), Status> {
        if bytes == 0 || !start.is_multiple_of(GRANULARITY) {
            return Err(Status::INVALID_VALUE);
        }
        if bytes != allocation.bytes || offset != 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        let mut tables = self.write();
        if !tables.is_reserved(start, bytes) || tables.overlapping(start, bytes).next().is_some() {
            return Err(Status::INVALID_VALUE);
        }
        let access = [Access::None; MAX_DEVICES];
        tables.mappings.insert(
            start,
            Mapping { bytes, pages: bytes, allocation, access, shown: false, context: None },
        );
        Ok(())
    }

    /// `cuMemUnmap`: whole mappings only; holes are fine. Waits for nobody, as the card.
    pub fn unmap(&self, start: u64, bytes: u64) -> Result<(), Status> {
        if bytes == 0 || !start.is_multiple_of(GRANULARITY) || !bytes.is_multiple_of(GRANULARITY) {
            return Err(Status::INVALID_VALUE);
        }
        let gone = {
            let mut tables = self.write();
            let starts = tables.whole(start, bytes)?;
            let shown = starts.iter().find_map(|key| {
                let mapping = tables.mappings.get(key).filter(|mapping| mapping.shown)?;
                Some((*key, mapping.pages))
            });
            if let Some((first, pages)) = shown {
                // SAFETY: the range is inside our reservations; references into it do not exist.
                let hide = || unsafe { system::hide(start, bytes) };
                // At the limit of mappings the kernel refuses before it sees that some would go.
                let one_less = |_| {
                    // SAFETY: the same; the hole is closed at once.
                    unsafe { system::release(first, pages) }.and_then(|()| hide())
                };
                hide().or_else(one_less).map_err(out_of_memory)?;
            }
            starts.iter().filter_map(|key| tables.mappings.remove(key)).collect::<Vec<_>>()
        };
        // Freeing memory takes long: after the lock.
        drop(gone);
        Ok(())
    }

    /// `cuMemSetAccess` for one device: whole mappings, the first and the last byte mapped.
    pub fn set_access(
        &self,
        start: u64,
        bytes: u64,
        device: usize,
        access: Access,
    ) -> Result<(), Status> {
        let mut tables = self.write();
        let starts = tables.whole(start, bytes)?;
        let ends_at = |key: &u64| tables.mappings.get(key).map(|mapping| key + mapping.pages);
        if starts.first() != Some(&start)
            || starts.last().and_then(ends_at) != start.checked_add(bytes)
        {
            return Err(Status::INVALID_VALUE);
        }
        for key in starts {
            let Some(mapping) = tables.mappings.get_mut(&key) else { continue };
            if !matches!(mapping.allocation.origin, Origin::Created(_) | Origin::Imported) {
                return Err(Status::INVALID_VALUE);
            }
            let mut wanted = mapping.access;
            *wanted.get_mut(device).ok_or(Status::INVALID_VALUE)? = access;
            if !self.strict {
                mapping.show(key, wanted)?;
            }
            mapping.access = wanted;
        }
        Ok(())
    }

    /// What a device may do at an address.
    pub fn access(&self, at: u64, device: usize) -> Result<Access, Status> {
        let tables = self.read();
        let (_, mapping) = tables.containing(at).ok_or(Status::INVALID_VALUE)?;
        mapping.access.get(device).copied().ok_or(Status::INVALID_VALUE)
    }

    /// Linear memory: a reservation of its own, mapped and open to its device.
    pub fn map_linear(
        &self,
        bytes: u64,
        allocation: Arc<Allocation>,
        context: u64,
    ) -> Result<u64, Status> {
        let pages = allocation.bytes;
        let alignment = if pages >= GRANULARITY { GRANULARITY } else { 4096 };
        let start = system::reserve(pages, alignment).map_err(out_of_memory)?;
        let mut access = [Access::None; MAX_DEVICES];
        *access.get_mut(allocation.device.index).ok_or(Status::INVALID_DEVICE)? = Access::ReadWrite;
        let open = allocation.home.is_open_to_host();
        if open {
            access = [Access::ReadWrite; MAX_DEVICES];
        }
        let mut mapping = Mapping {
            bytes,
            pages,
            allocation,
            access: [Access::None; MAX_DEVICES],
            shown: false,
            context: Some(context),
        };
        if (open || !self.strict) && mapping.show(start, access).is_err() {
            // SAFETY: the range was just reserved and shows nothing. If the kernel has no room even
            // for this, the addresses stay reserved, which harms nobody.
            let _ = unsafe { system::release(start, pages) };
            return Err(Status::OUT_OF_MEMORY);
        }
        mapping.access = access;
        self.write().mappings.insert(start, mapping);
        Ok(start)
    }

    /// Whether an address is the start of linear memory, and of which context.
    pub fn linear_context(&self, start: u64) -> Option<u64> {
        let tables = self.read();
        let own = |mapping: &&Mapping| mapping.allocation.origin != Origin::Legacy;
        tables.mappings.get(&start).filter(own).and_then(|mapping| mapping.context)
    }

    /// Opens linear memory to one more device.
    pub fn grant(&self, start: u64, device: usize) {
        let mut tables = self.write();
        let access = tables.mappings.get_mut(&start).map(|mapping| &mut mapping.access);
        if let Some(access) = access.and_then(|access| access.get_mut(device)) {
            *access = Access::ReadWrite;
        }
    }

    /// Removes linear memory by its first address.
    pub fn unmap_linear(&self, start: u64) -> Result<(), Status> {
        let gone = {
            let mut tables = self.write();
            let pages = match tables.mappings.get(&start) {
                Some(mapping) if mapping.context.is_some() => mapping.pages,
                _ => return Err(Status::INVALID_VALUE),
            };
            if let Some(gone) = tables.unmap_small(start) {
                drop(tables);
                drop(gone);
                return Ok(());
            }
            // SAFETY: the range is the reservation that `map_linear` made.
            unsafe { system::release(start, pages) }.map_err(out_of_memory)?;
            tables.mappings.remove(&start)
        };
        drop(gone);
        Ok(())
    }

    /// Removes all linear memory of a context.
    pub fn unmap_context(&self, context: u64) {
        let starts: Vec<u64> = {
            let tables = self.read();
            tables
                .mappings
                .iter()
                .filter(|(_, mapping)| mapping.context == Some(context))
                .map(|(start, _)| *start)
                .collect()
        };
        for start in starts {
            // Only the kernel's lack of room can stop this; the memory then stays until exit.
            let _ = self.unmap_linear(start);
        }
    }

    /// The mapping around an address.
    pub fn pointer(&self, at: u64) -> Option<PointerInfo> {
        let tables = self.read();
        let (start, mapping) = tables.containing(at)?;
        Some(PointerInfo {
            start,
            bytes: mapping.bytes,
            allocation: Arc::clone(&mapping.allocation),
            context: mapping.context,
        })
    }

    /// True when an address belongs to the device, mapped or not.
    pub fn is_device_address(&self, at: u64) -> bool {
        let tables = self.read();
        tables.containing(at).is_some() || tables.is_reserved(at, 1) || tables.is_own(at, 1)
    }

    /// The memory behind a range, when a device has this access to all of it.
    pub fn resolve(
        &self,
        at: u64,
        bytes: u64,
        device: usize,
        need: Access,
    ) -> Result<Vec<Segment>, Status> {
        let end = at.checked_add(bytes).ok_or(Status::INVALID_VALUE)?;
        let tables = self.read();
        let (mut segments, mut position) = (Vec::new(), at);
        while position < end {
            let (start, mapping) = tables.containing(position).ok_or(Status::INVALID_VALUE)?;
            if mapping.access.get(device).is_none_or(|access| *access < need) {
                return Err(Status::INVALID_VALUE);
            }
            let stop = end.min(start + mapping.bytes);
            segments.push(Segment {
                allocation: Arc::clone(&mapping.allocation),
                offset: position - start,
                bytes: stop - position,
            });
            position = stop;
        }
        Ok(segments)
    }
}

impl Mapping {
    /// Lets the host do what any device may do.
    fn show(&mut self, start: u64, access: [Access; MAX_DEVICES]) -> Result<(), Status> {
        let wanted = access.iter().copied().max().unwrap_or(Access::None);
        let done = match (self.shown, wanted) {
            (false, Access::None) => return Ok(()),
            // SAFETY: the range is inside a reservation of ours and nothing is shown in it.
            (false, _) => unsafe {
                system::show(start, self.pages, self.allocation.file()?, wanted)
            },
            // SAFETY: the range shows this allocation.
            (true, _) => unsafe { system::protect(start, self.pages, wanted) },
        };
        done.map_err(out_of_memory)?;
        self.shown = true;
        Ok(())
    }
}

impl Tables {
    fn containing(&self, at: u64) -> Option<(u64, &Mapping)> {
        let (start, mapping) = self.mappings.range(..=at).next_back()?;
        (at < start + mapping.bytes).then_some((*start, mapping))
    }

    fn overlapping(&self, start: u64, bytes: u64) -> impl Iterator<Item = (u64, &Mapping)> {
        let end = start.saturating_add(bytes);
        let before = self
            .mappings
            .range(..start)
            .next_back()
            .filter(move |(key, mapping)| **key + mapping.pages > start);
        before
            .into_iter()
            .chain(self.mappings.range(start..end))
            .map(|(key, mapping)| (*key, mapping))
    }

    fn is_reserved(&self, start: u64, bytes: u64) -> bool {
        let inside = |(base, size): (&u64, &u64)| {
            start.checked_add(bytes).is_some_and(|end| end <= base + size)
        };
        self.reservations.range(..=start).next_back().is_some_and(inside)
    }

    /// The starts of the mappings in a reserved range, none of which reaches out of it.
    fn whole(&self, start: u64, bytes: u64) -> Result<Vec<u64>, Status> {
        let end = start.checked_add(bytes).ok_or(Status::INVALID_VALUE)?;
        if bytes == 0 || !self.is_reserved(start, bytes) {
            return Err(Status::INVALID_VALUE);
        }
        self.overlapping(start, bytes)
            .map(|(key, mapping)| {
                if key >= start && key + mapping.pages <= end {
                    Ok(key)
                } else {
                    Err(Status::INVALID_VALUE)
                }
            })
            .collect()
    }
}

mod own;
mod small;

pub use own::AccessList;
pub use small::SMALL_BYTES;

#[cfg(test)]
mod tests;
