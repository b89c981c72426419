//! What the driver thread does next: users take turns with slabs, and after each of them comes one
//! step of everything else.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::Ask;

#[derive(Debug, Default)]
pub(super) struct Order {
    /// Slabs to be made, by user; none is empty.
    slabs: BTreeMap<u32, VecDeque<Ask>>,
    /// Everything else, in the order in which it was asked.
    rest: VecDeque<Ask>,
    /// The user whose slab was made last.
    last: Option<u32>,
    /// The last was a slab.
    slab_was_last: bool,
}

impl Order {
    pub(super) fn add(&mut self, ask: Ask) {
        match ask {
            Ask::MakeSlab { user, .. } | Ask::Charge { user, .. } => {
                self.slabs.entry(user).or_default().push_back(ask)
            }
            _ => self.rest.push_back(ask),
        }
    }

    pub(super) fn next(&mut self) -> Option<Ask> {
        let rest = if self.slab_was_last { self.rest.pop_front() } else { None };
        self.slab_was_last = false;
        if rest.is_some() {
            return rest;
        }
        match self.next_slab() {
            Some(ask) => {
                self.slab_was_last = true;
                Some(ask)
            }
            None => self.rest.pop_front(),
        }
    }

    fn next_slab(&mut self) -> Option<Ask> {
        let from = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut users = self.slabs.range((from, Bound::Unbounded)).chain(&self.slabs);
        let user = users.next().map(|(user, _)| *user)?;
        self.last = Some(user);
        let queue = self.slabs.get_mut(&user)?;
        let ask = queue.pop_front();
        if queue.is_empty() {
            self.slabs.remove(&user);
        }
        ask
    }

    /// Everything that was asked beside slabs: what is given back there may be what a slab lacks.
    pub(super) fn take_rest(&mut self) -> VecDeque<Ask> {
        std::mem::take(&mut self.rest)
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{GpuUuid, SlabId};
    use uuid::Uuid;

    use super::*;

    fn slab(user: u32, number: u128) -> Ask {
        let (slab, device) = (SlabId(Uuid::from_u128(number)), GpuUuid([0; 16]));
        Ask::MakeSlab { slab, device, bytes: 1, user }
    }

    fn said(ask: &Ask) -> String {
        match ask {
            Ask::MakeSlab { slab, user, .. } => format!("{user}:{}", slab.0.as_u128()),
            Ask::SlabGone(slab) => format!("gone {}", slab.0.as_u128()),
            Ask::ReadPhysical => "read".to_owned(),
            Ask::Charge { slab, .. } => format!("charge {}", slab.0.as_u128()),
            Ask::Count { slab, .. } => format!("count {}", slab.0.as_u128()),
            Ask::TryFabric { .. } => "fabric".to_owned(),
            Ask::Close(_) => "close".to_owned(),
        }
    }

    #[test]
    fn a_slab_waits_for_one_of_each_other_user_and_for_little_else() {
        let mut order = Order::default();
        for number in 1..=3 {
            order.add(slab(7, number));
            order.add(Ask::SlabGone(SlabId(Uuid::from_u128(number))));
        }
        order.add(Ask::ReadPhysical);
        order.add(slab(9, 1));
        order.add(slab(5, 1));
        let all: Vec<_> = std::iter::from_fn(|| order.next()).map(|ask| said(&ask)).collect();
        let expected = ["5:1", "gone 1", "7:1", "gone 2", "9:1", "gone 3", "7:2", "read", "7:3"];
        assert_eq!(all, expected);
        order.add(Ask::ReadPhysical);
        order.add(slab(7, 4));
        assert_eq!(order.take_rest().len(), 1);
        assert_eq!(order.next().map(|ask| said(&ask)).as_deref(), Some("7:4"));
        assert!(order.next().is_none());
    }
}
