//! The leases that this process holds, with what proves them to the next daemon.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_wire::LeaseId;
use millpond_wire::message::LeaseClaim;

/// Set when the pond does not know a lease any more.
pub(crate) type Lost = Arc<AtomicBool>;

#[derive(Debug)]
struct Held {
    claim: LeaseClaim,
    lost: Lost,
    /// Of what it is on.
    bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: HashMap<LeaseId, Held>,
    /// Unmapped, and the pond is being told: claimed from a new daemon they would never end.
    ending: HashSet<LeaseId>,
}

impl Leases {
    /// Remembers a lease from the moment its grant was read.
    pub(crate) fn insert(&mut self, claim: LeaseClaim, bytes: u64) -> Lost {
        let new = || Held { claim, lost: Lost::default(), bytes };
        let held = self.held.entry(claim.lease).or_insert_with(new);
        held.claim = claim;
        held.lost.clone()
    }

    /// These are unmapped, and their release is under way.
    pub(crate) fn end(&mut self, leases: &[LeaseId]) {
        self.ending.extend(leases);
    }

    /// Forgets leases whose release was confirmed.
    pub(crate) fn remove(&mut self, leases: &[LeaseId]) {
        for lease in leases {
            self.held.remove(lease);
            self.ending.remove(lease);
        }
    }

    /// Those of `leases` that are still held.
    pub(crate) fn known(&self, leases: &[LeaseId]) -> Vec<LeaseId> {
        leases.iter().copied().filter(|lease| self.held.contains_key(lease)).collect()
    }

    /// What is claimed from a new daemon.
    pub(crate) fn claims(&self) -> Vec<LeaseClaim> {
        let claimed = self.held.iter().filter(|(lease, _)| !self.ending.contains(lease));
        claimed.map(|(_, held)| held.claim).collect()
    }

    /// The new daemon does not know these: mapped they stay, but nobody protects them.
    pub(crate) fn refuse(&mut self, refused: &[LeaseId]) {
        for lease in refused {
            self.ending.remove(lease);
            if let Some(Held { claim, lost, .. }) = self.held.remove(lease) {
                lost.store(true, Ordering::Release);
                tracing::warn!(%lease, target = %claim.target, "the pond does not know this lease any more");
            }
        }
    }

    /// Another pond: none of the leases is known there.
    pub(crate) fn refuse_all(&mut self) {
        let all: Vec<LeaseId> = self.held.keys().copied().collect();
        self.refuse(&all);
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// The bytes of all that is leased.
    pub(crate) fn bytes(&self) -> u64 {
        self.held.values().map(|held| held.bytes).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Mode, TensorId};

    use super::*;

    #[test]
    fn refused_leases_are_lost_and_not_claimed_again() {
        let claim = |number| LeaseClaim {
            lease: LeaseId(number),
            target: TensorId::random().into(),
            mode: Mode::ReadOnly,
            token: [1; 16],
        };
        let mut leases = Leases::default();
        let (one, two) = (leases.insert(claim(1), 8), leases.insert(claim(2), 16));
        leases.refuse(&[LeaseId(1), LeaseId(9)]);
        assert!(one.load(Ordering::Acquire) && !two.load(Ordering::Acquire));
        assert_eq!(leases.claims().len(), 1);
        assert_eq!(leases.known(&[LeaseId(1), LeaseId(2)]), [LeaseId(2)]);
        leases.end(&[LeaseId(2)]);
        assert!(leases.claims().is_empty(), "what is unmapped is not claimed");
        assert_eq!(leases.len(), 1, "but the pond is still to be told");
        leases.refuse_all();
        assert!(two.load(Ordering::Acquire) && leases.is_empty());
    }
}
