//! Listings of tensors.
//!
//! A listing has every tensor that was there when it began, once and under the name that it had
//! then, whatever happens meanwhile; the rest is as it was when its slice came. A page says nothing
//! about the moment: it has tensors as its slices found them, in the order of their identities.

use std::collections::BTreeSet;

use millpond_wire::TensorId;
use millpond_wire::message::{ReplyBody, TensorInfo, TensorPage};

use super::Budget;
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

#[derive(Debug)]
pub(super) struct TensorListing {
    caller: Caller,
    prefix: String,
    /// The last tensor that was looked at.
    at: Option<TensorId>,
    found: Vec<TensorInfo>,
    /// Tensors further on that are done with: they are in it already, or came later.
    passed: BTreeSet<TensorId>,
    /// Entries of a page; none if this is no page.
    most: Option<usize>,
}

impl TensorListing {
    pub(super) fn new(caller: Caller, prefix: String, page: Option<TensorPage>) -> Self {
        let at = page.and_then(|page| page.after);
        let most = page.map(|page| usize::try_from(page.most.get()).unwrap_or(usize::MAX));
        Self { caller, prefix, at, found: Vec::new(), passed: BTreeSet::new(), most }
    }

    /// At most, in a pond with so many tensors. A page without a prefix mostly has what it looks at.
    pub(super) fn weight(&self, tensors: usize) -> usize {
        match self.most {
            Some(most) if self.prefix.is_empty() => most.min(tensors),
            _ => tensors,
        }
    }

    fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.found.len() >= most)
    }

    /// Whether this tensor is still before it; not from now on.
    fn pass(&mut self, id: TensorId) -> bool {
        self.most.is_none() && self.at.is_none_or(|at| id > at) && self.passed.insert(id)
    }
}

impl<P: Ports> Pond<P> {
    pub(super) fn slice_of_tensors(
        &self,
        ports: &P,
        listing: &mut TensorListing,
        budget: &mut Budget,
    ) -> Option<ReplyBody> {
        let now_ms = ports.monotonic_ms();
        for (id, tensor) in self.catalog.after(listing.at) {
            if listing.is_full() {
                break;
            }
            if budget.is_spent() {
                return None;
            }
            budget.spend(1);
            listing.at = Some(id);
            if !listing.passed.remove(&id) {
                let TensorListing { caller, prefix, .. } = &*listing;
                let listed = self.listed(caller, prefix, (id, tensor), now_ms);
                listing.found.extend(listed);
            }
        }
        Some(ReplyBody::Tensors(std::mem::take(&mut listing.found)))
    }

    /// A tensor is about to be deleted or named: listings that began before have it as it is.
    pub(in crate::policy) fn list_before_change(&mut self, ports: &P, id: TensorId) {
        // Taken out, because what they say of a tensor is the pond's to know.
        let mut turns = std::mem::take(&mut self.turns);
        for listing in turns.listings() {
            if listing.pass(id)
                && let Some(tensor) = self.catalog.get(id)
            {
                let TensorListing { caller, prefix, .. } = &*listing;
                let listed = self.listed(caller, prefix, (id, tensor), ports.monotonic_ms());
                listing.found.extend(listed);
            }
        }
        self.turns = turns;
    }

    /// A tensor was made: listings that began before do not have it.
    pub(in crate::policy) fn list_without(&mut self, id: TensorId) {
        for listing in self.turns.listings() {
            listing.pass(id);
        }
    }
}
