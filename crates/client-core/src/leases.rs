//! The leases that this process holds, with what proves them to the next daemon.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_wire::message::{LeaseClaim, ReplyBody};
use millpond_wire::{LeaseId, LeaseTarget};

/// Set when the pond does not know a lease any more.
pub type Lost = Arc<AtomicBool>;

/// The claim to a lease that a reply grants, and the bytes under it.
pub(crate) fn claim_in(body: &ReplyBody) -> Option<(LeaseClaim, u64)> {
    let (target, bytes, (lease, mode, token)) = match body {
        ReplyBody::Tensor(grant) => (grant.info.tensor.into(), grant.info.bytes, grant.lease?),
        ReplyBody::Version(grant) => {
            (grant.info.version.into(), grant.info.slab_bytes, grant.lease?)
        }
        _ => return None,
    };
    Some((LeaseClaim { lease, target, mode, token }, bytes))
}

#[derive(Debug)]
struct Entry {
    claim: LeaseClaim,
    lost: Lost,
    /// Of the object under the lease.
    bytes: u64,
}

#[derive(Debug, Default)]
pub struct Leases {
    held: BTreeMap<LeaseId, Entry>,
    /// Unmapped, and the pond is being told: claimed from a new daemon they would never end.
    ending: BTreeSet<LeaseId>,
}

impl Leases {
    /// Remembers a lease from the moment its grant was read.
    pub(crate) fn insert(&mut self, claim: LeaseClaim, bytes: u64) -> Lost {
        let new = || Entry { claim, lost: Lost::default(), bytes };
        let entry = self.held.entry(claim.lease).or_insert_with(new);
        entry.claim = claim;
        entry.lost.clone()
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
    #[must_use]
    pub fn known(&self, leases: &[LeaseId]) -> Vec<LeaseId> {
        leases.iter().copied().filter(|lease| self.held.contains_key(lease)).collect()
    }

    /// The claims that a new daemon gets.
    #[must_use]
    pub fn claims(&self) -> Vec<LeaseClaim> {
        let claimed = self.held.iter().filter(|(lease, _)| !self.ending.contains(lease));
        claimed.map(|(_, entry)| entry.claim).collect()
    }

    /// Every lease that the pond has not confirmed the end of.
    pub fn held(&self) -> impl Iterator<Item = &LeaseClaim> {
        self.held.values().map(|entry| &entry.claim)
    }

    /// Whether one of them is on this.
    #[must_use]
    pub fn are_on(&self, target: impl Into<LeaseTarget>) -> bool {
        let target = target.into();
        self.held().any(|claim| claim.target == target)
    }

    /// A new daemon does not know these: mapped they stay, but nobody protects them. Returns those
    /// that were held.
    pub(crate) fn refuse(&mut self, refused: &[LeaseId]) -> Vec<LeaseClaim> {
        let mut lost = Vec::new();
        for lease in refused {
            self.ending.remove(lease);
            if let Some(entry) = self.held.remove(lease) {
                entry.lost.store(true, Ordering::Release);
                lost.push(entry.claim);
            }
        }
        lost
    }

    /// Another pond: none of the leases is known there.
    pub(crate) fn refuse_all(&mut self) -> Vec<LeaseClaim> {
        let all: Vec<LeaseId> = self.held.keys().copied().collect();
        self.refuse(&all)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The bytes of everything under a lease.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.held.values().map(|entry| entry.bytes).sum()
    }
}
