//! Slabs: which exist, whose they are, what is free in them.
//!
//! A slab has one owner and one audience for its whole life, because whoever got its descriptor can
//! see all of it for ever. So tensors share a slab only with tensors of the same pool.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use millpond_wire::{Audience, Backing, GpuUuid, SlabId};

use super::owner::Owner;
use super::ranges::Ranges;

/// What the driver hands out at the least, and in multiples of what.
pub const GRANULARITY: u64 = 2 << 20;

/// How tensors are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SlabClass {
    /// Tensors under 1 MiB share 2 MiB.
    Small = 1,
    /// Tensors under 32 MiB share 64 MiB.
    Medium = 2,
    /// Larger ones get a slab of their own.
    Own = 3,
}

impl SlabClass {
    /// The class of a tensor.
    #[must_use]
    pub fn of(tensor_bytes: u64) -> Self {
        match tensor_bytes {
            0..0x10_0000 => SlabClass::Small,
            0x10_0000..0x200_0000 => SlabClass::Medium,
            _ => SlabClass::Own,
        }
    }

    /// The bytes of a slab for such a tensor.
    #[must_use]
    pub fn slab_bytes(self, tensor_bytes: u64) -> u64 {
        match self {
            SlabClass::Small => GRANULARITY,
            SlabClass::Medium => 64 << 20,
            SlabClass::Own => tensor_bytes.next_multiple_of(GRANULARITY),
        }
    }

    /// The class with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        [SlabClass::Small, SlabClass::Medium, SlabClass::Own]
            .into_iter()
            .find(|class| *class as u8 == code)
    }
}

/// What slabs must have in common to be exchangeable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    /// Where.
    pub device: GpuUuid,
    /// Whose.
    pub owner: Owner,
    /// Shared with whom.
    pub audience: Audience,
    /// For which tensors.
    pub class: SlabClass,
}

/// One allocation of the driver.
#[derive(Clone, Debug)]
pub struct Slab<F> {
    /// What it can be used for.
    pub pool: Pool,
    /// Its size.
    pub bytes: u64,
    /// How its memory is reached.
    pub backing: Backing,
    /// The descriptor that belongs to the backing; `None` if it did not survive.
    pub fd: Option<F>,
    /// What is free in it.
    pub ranges: Ranges,
    /// Tensors in it, deleted ones with leases included.
    pub tensors: u32,
    /// Their bytes.
    pub tensor_bytes: u64,
    /// A lease on it ended by death: nothing new goes into it.
    pub tainted: bool,
    /// It is older than this daemon, so clients that have not claimed yet may hold it.
    pub recovered: bool,
}

impl<F> Slab<F> {
    /// Whether the record survived and the memory did not.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.backing.transport.has_descriptor() && self.fd.is_none()
    }
}

/// All slabs.
#[derive(Debug)]
pub struct Slabs<F> {
    slabs: BTreeMap<SlabId, Slab<F>>,
    /// Slabs of a pool that may have room, newest last.
    open: HashMap<Pool, Vec<SlabId>>,
    /// Tainted, but the journal does not say so yet.
    pub untold: BTreeSet<SlabId>,
}

impl<F> Default for Slabs<F> {
    fn default() -> Self {
        Self { slabs: BTreeMap::new(), open: HashMap::new(), untold: BTreeSet::new() }
    }
}

impl<F> Slabs<F> {
    /// Adds a slab.
    pub fn insert(&mut self, id: SlabId, slab: Slab<F>) {
        if !slab.tainted && !slab.is_lost() && slab.backing.supported().is_ok() {
            self.open.entry(slab.pool.clone()).or_default().push(id);
        }
        self.slabs.insert(id, slab);
    }

    /// One slab.
    #[must_use]
    pub fn get(&self, id: SlabId) -> Option<&Slab<F>> {
        self.slabs.get(&id)
    }

    /// One slab, to be changed.
    pub fn get_mut(&mut self, id: SlabId) -> Option<&mut Slab<F>> {
        self.slabs.get_mut(&id)
    }

    /// Every slab.
    pub fn iter(&self) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.slabs.iter().map(|(id, slab)| (*id, slab))
    }

    /// Puts a tensor into a slab of the pool that has room for it.
    pub fn place(&mut self, pool: &Pool, bytes: u64, fresh: bool) -> Option<(SlabId, u64)> {
        let open = self.open.get(pool)?;
        // Newest first: older ones are more likely to be full.
        for id in open.iter().rev() {
            let Some(slab) = self.slabs.get_mut(id) else { continue };
            // A slab of one's own is not shared, and not taken by something much smaller.
            let alone = slab.tensors == 0 && slab.bytes == pool.class.slab_bytes(bytes);
            if pool.class == SlabClass::Own && !alone {
                continue;
            }
            if let Some(offset) = slab.ranges.take(bytes, fresh) {
                slab.tensors += 1;
                slab.tensor_bytes += bytes;
                return Some((*id, offset));
            }
        }
        None
    }

    /// Takes all of an empty slab; false if it is not there or not empty.
    pub fn take_whole(&mut self, id: SlabId) -> bool {
        let Some(slab) = self.slabs.get_mut(&id).filter(|slab| slab.tensors == 0) else {
            return false;
        };
        let taken = slab.ranges.take(slab.bytes, false).is_some();
        if taken {
            slab.tensors = 1;
            slab.tensor_bytes = slab.bytes;
        }
        taken
    }

    /// Gives a tensor's range back; true when the slab is empty now.
    pub fn give(&mut self, id: SlabId, offset: u64, bytes: u64) -> bool {
        let Some(slab) = self.slabs.get_mut(&id) else { return false };
        slab.ranges.give(offset, bytes);
        slab.tensors = slab.tensors.saturating_sub(1);
        slab.tensor_bytes = slab.tensor_bytes.saturating_sub(bytes);
        slab.tensors == 0
    }

    /// Nothing new goes into this slab; true if that is news.
    pub fn taint(&mut self, id: SlabId) -> bool {
        let Some(slab) = self.slabs.get_mut(&id) else { return false };
        let news = !std::mem::replace(&mut slab.tainted, true);
        if news && let Some(open) = self.open.get_mut(&slab.pool) {
            open.retain(|other| *other != id);
        }
        news
    }

    /// Takes a slab out of the books.
    pub fn remove(&mut self, id: SlabId) -> Option<Slab<F>> {
        let slab = self.slabs.remove(&id)?;
        self.untold.remove(&id);
        if let Some(open) = self.open.get_mut(&slab.pool) {
            open.retain(|other| *other != id);
            if open.is_empty() {
                self.open.remove(&slab.pool);
            }
        }
        Some(slab)
    }

    /// Bytes of all slabs on a GPU.
    #[must_use]
    pub fn bytes_on(&self, device: GpuUuid) -> u64 {
        self.on(device).map(|(_, slab)| slab.bytes).sum()
    }

    /// Slabs on a GPU.
    pub fn on(&self, device: GpuUuid) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.iter().filter(move |(_, slab)| slab.pool.device == device)
    }

    /// Empty slabs on a GPU that are kept for their owner.
    pub fn recycled_on(&self, device: GpuUuid) -> impl Iterator<Item = (SlabId, &Slab<F>)> {
        self.on(device).filter(|(_, slab)| slab.tensors == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(user: u32, audience: Audience) -> Pool {
        Pool {
            device: GpuUuid([1; 16]),
            owner: Owner { tenant: "local".into(), user, group: 1 },
            audience,
            class: SlabClass::Small,
        }
    }

    fn slab(pool: Pool) -> Slab<()> {
        Slab {
            pool,
            bytes: GRANULARITY,
            backing: Backing::default(),
            fd: Some(()),
            ranges: Ranges::new(GRANULARITY),
            tensors: 0,
            tensor_bytes: 0,
            tainted: false,
            recovered: false,
        }
    }

    #[test]
    fn classes_by_size() {
        assert_eq!(SlabClass::of(1), SlabClass::Small);
        assert_eq!(SlabClass::of((1 << 20) - 1), SlabClass::Small);
        assert_eq!(SlabClass::of(1 << 20), SlabClass::Medium);
        assert_eq!(SlabClass::of((32 << 20) - 1), SlabClass::Medium);
        assert_eq!(SlabClass::of(32 << 20), SlabClass::Own);
        assert_eq!(SlabClass::Own.slab_bytes((32 << 20) + 1), 34 << 20);
        for class in [SlabClass::Small, SlabClass::Medium, SlabClass::Own] {
            assert_eq!(SlabClass::from_code(class as u8), Some(class));
        }
    }

    #[test]
    fn a_slab_of_ones_own_is_recycled_whole() {
        let own = Pool { class: SlabClass::Own, ..pool(1, Audience::User) };
        let bytes = 80 << 20;
        let mut slabs = Slabs::default();
        let id = SlabId::random();
        slabs.insert(id, Slab { bytes, ranges: Ranges::new(bytes), ..slab(own.clone()) });
        assert_eq!(slabs.place(&own, 40 << 20, false), None, "half of it would be wasted");
        assert_eq!(slabs.place(&own, bytes - 5, false), Some((id, 0)));
        assert_eq!(slabs.place(&own, bytes, false), None);
    }

    #[test]
    fn tensors_share_a_slab_only_inside_a_pool_and_never_a_tainted_one() {
        let mut slabs = Slabs::default();
        let id = SlabId::random();
        let mine = pool(1, Audience::User);
        slabs.insert(id, slab(mine.clone()));
        assert_eq!(slabs.place(&mine, 100, false), Some((id, 0)));
        assert_eq!(slabs.place(&pool(2, Audience::User), 100, false), None);
        assert_eq!(slabs.place(&pool(1, Audience::Everybody), 100, false), None);
        assert_eq!(slabs.place(&mine, GRANULARITY, false), None);
        assert!(slabs.taint(id));
        assert!(!slabs.taint(id));
        assert_eq!(slabs.place(&mine, 100, false), None);
        assert!(slabs.give(id, 0, 100));
        assert_eq!(slabs.bytes_on(GpuUuid([1; 16])), GRANULARITY);
        assert!(slabs.remove(id).is_some());
        assert_eq!(slabs.bytes_on(GpuUuid([1; 16])), 0);
    }
}
