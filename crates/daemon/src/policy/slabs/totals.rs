//! What all slabs of a GPU have together, counted as it changes: a status, and a look whether there is
//! room, take as long for a hundred thousand slabs as for one.

use std::collections::BTreeMap;

use millpond_wire::GpuUuid;

use super::Slab;

/// Of one GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::policy) struct Totals {
    pub slabs: u64,
    pub bytes: u64,
    pub tensors: u64,
    pub tensor_bytes: u64,
    /// Of slabs without a tensor, which are kept for their owners.
    pub recycled_bytes: u64,
    /// The part of it that no tensor ever gets: idle memory of hosts.
    pub idle_bytes: u64,
}

impl Totals {
    fn of<F>(slab: &Slab<F>) -> Self {
        let empty_bytes = if slab.tensors == 0 { slab.bytes } else { 0 };
        Self {
            slabs: 1,
            bytes: slab.bytes,
            tensors: slab.tensors.into(),
            tensor_bytes: slab.tensor_bytes,
            recycled_bytes: empty_bytes,
            idle_bytes: if slab.is_recyclable() { 0 } else { empty_bytes },
        }
    }

    fn with(self, other: Self, sum: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            slabs: sum(self.slabs, other.slabs),
            bytes: sum(self.bytes, other.bytes),
            tensors: sum(self.tensors, other.tensors),
            tensor_bytes: sum(self.tensor_bytes, other.tensor_bytes),
            recycled_bytes: sum(self.recycled_bytes, other.recycled_bytes),
            idle_bytes: sum(self.idle_bytes, other.idle_bytes),
        }
    }
}

/// GPUs without a slab are not in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TotalsByDevice(BTreeMap<GpuUuid, Totals>);

impl TotalsByDevice {
    pub(super) fn on(&self, device: GpuUuid) -> Totals {
        self.0.get(&device).copied().unwrap_or_default()
    }

    pub(super) fn devices(&self) -> impl Iterator<Item = GpuUuid> {
        self.0.keys().copied()
    }

    pub(super) fn add<F>(&mut self, slab: &Slab<F>) {
        let totals = self.0.entry(slab.class.device).or_default();
        *totals = totals.with(Totals::of(slab), u64::saturating_add);
    }

    pub(super) fn take<F>(&mut self, slab: &Slab<F>) {
        let device = slab.class.device;
        let left = self.on(device).with(Totals::of(slab), u64::saturating_sub);
        match left.slabs {
            0 => self.0.remove(&device),
            _ => self.0.insert(device, left),
        };
    }

    /// A slab that is in it changes.
    pub(super) fn change<F>(&mut self, slab: &mut Slab<F>, change: impl FnOnce(&mut Slab<F>)) {
        let before = Totals::of(slab);
        change(slab);
        let totals = self.0.entry(slab.class.device).or_default();
        *totals = totals.with(Totals::of(slab), u64::saturating_add);
        *totals = totals.with(before, u64::saturating_sub);
    }
}
