//! Which slabs there are, and how much each user holds of each card.

use std::collections::BTreeMap;

use millpond_ledger::UNIT;
use millpond_wire::{GpuUuid, Holder, SlabId, caps};

/// One slab on somebody's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The card that it lies on.
    pub device: GpuUuid,
    pub user: u32,
    /// Its size in units of [`UNIT`] bytes.
    pub units: u64,
}

impl Holding {
    /// A slab of so many bytes.
    #[must_use]
    pub fn new(device: GpuUuid, bytes: u64, user: u32) -> Self {
        Self { device, user, units: bytes.div_ceil(UNIT) }
    }
}

/// Every slab, with the sum of each user on each card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    slabs: BTreeMap<SlabId, Holding>,
    sums: BTreeMap<(GpuUuid, u32), u64>,
}

impl Tally {
    /// Counts a slab; a slab that is counted already is counted anew.
    pub fn add(&mut self, slab: SlabId, holding: Holding) {
        self.remove(slab);
        let sum = self.sums.entry((holding.device, holding.user)).or_default();
        *sum = sum.saturating_add(holding.units);
        self.slabs.insert(slab, holding);
    }

    /// Stops counting a slab.
    pub fn remove(&mut self, slab: SlabId) -> Option<Holding> {
        let holding = self.slabs.remove(&slab)?;
        let key = (holding.device, holding.user);
        if let Some(sum) = self.sums.get_mut(&key) {
            *sum = sum.saturating_sub(holding.units);
            if *sum == 0 {
                self.sums.remove(&key);
            }
        }
        Some(holding)
    }

    /// Units that the users of whom `counts` says yes hold on a card.
    pub fn units(&self, device: GpuUuid, counts: impl Fn(u32) -> bool) -> u64 {
        let users = self.sums.range((device, 0)..=(device, u32::MAX));
        let users = users.filter(|((_, user), _)| counts(*user));
        users.fold(0, |sum, (_, units)| sum.saturating_add(*units))
    }
}

/// Who holds most, largest first, from (user, bytes, tensors) of each slab.
#[must_use]
pub fn holders(slabs: impl Iterator<Item = (u32, u64, u32)>) -> Vec<Holder> {
    let mut by_user: BTreeMap<u32, Holder> = BTreeMap::new();
    for (user, bytes, tensors) in slabs {
        let none = Holder { user, bytes: 0, tensors: 0, cache: None, pid: None };
        let holder = by_user.entry(user).or_insert(none);
        holder.bytes = holder.bytes.saturating_add(bytes);
        holder.tensors = holder.tensors.saturating_add(tensors);
    }
    let mut holders: Vec<Holder> = by_user.into_values().collect();
    holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
    holders.truncate(caps::FAILURE_LIST);
    holders
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: GpuUuid = GpuUuid([1; 16]);

    #[test]
    fn a_slab_counts_once_however_often_it_is_added() {
        let (mut tally, slab) = (Tally::default(), SlabId::random());
        tally.add(slab, Holding::new(GPU, 3 * UNIT, 7));
        tally.add(slab, Holding::new(GPU, 5 * UNIT - 1, 8));
        assert_eq!(tally.units(GPU, |_| true), 5, "a part of a unit is a unit");
        assert_eq!((tally.units(GPU, |user| user == 7), tally.units(GPU, |it| it == 8)), (0, 5));
        assert_eq!(tally.units(GpuUuid([2; 16]), |_| true), 0);
        assert!(tally.remove(slab).is_some());
        assert_eq!(tally, Tally::default(), "nothing is left of it");
        assert_eq!(tally.remove(slab), None);
    }

    #[test]
    fn holders_are_summed_and_the_largest_come_first() {
        let slabs = [(1, 10, 1), (2, 30, 2), (1, 15, 3)];
        let found = holders(slabs.into_iter());
        let found: Vec<_> = found.iter().map(|it| (it.user, it.bytes, it.tensors)).collect();
        assert_eq!(found, [(2, 30, 2), (1, 25, 4)]);
    }
}
