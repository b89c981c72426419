//! Deleted tensors that nobody is known to hold, and that are there still.
//!
//! What is deleted and leased is not among them: it is looked at when its last lease ends. So a
//! client that comes or goes costs as much as is freed for it, however much is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_wire::{Audience, TensorId};

use super::borrowers::Borrowers;
use super::owner::Owner;
use super::pond::Pond;
use super::ports::Ports;
use super::slabs::Slab;

/// Owner, audience and borrowers of a slab, as something that has an order.
type Shared = (Rc<str>, u32, u32, u8, Borrowers);

/// The owner and audience of a group of tensors, and the tensors.
type Held = (Owner, Audience, BTreeSet<TensorId>);

/// All of them, by what they wait for.
#[derive(Debug, Default)]
pub(super) struct Unfreed {
    /// A client that has not claimed yet may hold them.
    unclaimed: BTreeMap<Shared, Held>,
    /// The journal did not take that they are freed.
    unrecorded: BTreeSet<TensorId>,
}

fn shared<F>(slab: &Slab<F>) -> Shared {
    let (owner, audience) = (&slab.class.owner, slab.class.audience.code());
    (Rc::clone(&owner.tenant), owner.user, owner.group, audience, slab.earlier_borrowers())
}

impl Unfreed {
    /// It waits until everybody has claimed who could hold it.
    pub fn wait_for_claims<F>(&mut self, slab: &Slab<F>, id: TensorId) {
        let new = || (slab.class.owner.clone(), slab.class.audience, BTreeSet::new());
        self.unclaimed.entry(shared(slab)).or_insert_with(new).2.insert(id);
    }

    /// It waits for a journal that takes something.
    pub fn wait_for_journal(&mut self, id: TensorId) {
        self.unrecorded.insert(id);
    }

    /// It is leased again, or gone, or waits for something else from now on.
    pub fn forget<F>(&mut self, slab: &Slab<F>, id: TensorId) {
        self.unrecorded.remove(&id);
        if self.unclaimed.is_empty() {
            return;
        }
        let key = shared(slab);
        if let Some((_, _, tensors)) = self.unclaimed.get_mut(&key) {
            tensors.remove(&id);
            if tensors.is_empty() {
                self.unclaimed.remove(&key);
            }
        }
    }

    /// Takes out what may be freed now, if `may_be_held` says nothing else of those who could hold
    /// it.
    fn take_due(
        &mut self,
        may_be_held: impl Fn(&Borrowers, &Owner, Audience) -> bool,
    ) -> BTreeSet<TensorId> {
        let mut due = std::mem::take(&mut self.unrecorded);
        self.unclaimed.retain(|(.., borrowers), (owner, audience, tensors)| {
            let held = may_be_held(borrowers, owner, *audience);
            if !held {
                due.append(tensors);
            }
            held
        });
        due
    }

    #[cfg(test)]
    pub fn all(&self) -> BTreeSet<TensorId> {
        let unclaimed = self.unclaimed.values().flat_map(|(_, _, tensors)| tensors);
        unclaimed.chain(&self.unrecorded).copied().collect()
    }
}

impl<P: Ports> Pond<P> {
    /// Frees every deleted tensor, and every version, that nobody can hold any more.
    pub(super) fn free_deleted(&mut self, ports: &mut P) {
        self.let_versions_go(ports);
        let clients = &self.clients;
        let due = self.unfreed.take_due(|borrowers, owner, audience| {
            clients.may_be_held(|caller| borrowers.may_hold(caller, owner, audience))
        });
        for tensor in due {
            self.free_if_unused(ports, tensor);
        }
    }

    /// What an earlier daemon had deleted waits for the claims of its clients, if there are any.
    pub(super) fn resume_deleted(&mut self, ports: &mut P) {
        let deleted = self.catalog.iter().filter(|(_, tensor)| tensor.is_deleted());
        for (id, tensor) in deleted.filter(|(id, _)| !self.holds.are_on(*id)) {
            if let Some(slab) = self.slabs.get(tensor.slab) {
                self.unfreed.wait_for_claims(slab, id);
            }
        }
        self.free_deleted(ports);
    }

    /// Somebody holds it now, deleted or not.
    pub(super) fn is_held(&mut self, id: TensorId) {
        let Some(tensor) = self.catalog.get(id).filter(|tensor| tensor.is_deleted()) else {
            return;
        };
        if let Some(slab) = self.slabs.get(tensor.slab) {
            self.unfreed.forget(slab, id);
        }
    }
}
