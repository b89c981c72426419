//! Leases end, and memory is given back: never under a reader, never to another owner.

use millpond_view::units::count;
use millpond_wire::message::EventKind;
use millpond_wire::record::{CountedLease, Record};
use millpond_wire::{ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, SlabId, TensorId};

use super::adopt::Lent;
use super::answer::{Answer, done};
use super::events::happening;
use super::pond::Pond;
use super::ports::{PortError, Ports};
use super::slabs::Home;

/// How a lease ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The client has unmapped and said so.
    Released,
    /// The process is gone.
    Died,
}

impl<P: Ports> Pond<P> {
    /// A client has unmapped these. All of them are tried: one whose end cannot be recorded stays,
    /// and the client repeats the release.
    pub(super) fn release(
        &mut self,
        ports: &mut P,
        client: ClientId,
        leases: &[LeaseId],
    ) -> Answer<P::Fd> {
        let mut unrecorded = None;
        for lease in leases {
            match self.record_release(ports, client, *lease) {
                Ok(()) => self.end_lease(ports, client, *lease, Ending::Released),
                Err(error) => unrecorded = Some(error),
            }
        }
        match unrecorded {
            None => done(),
            Some(error) => {
                let message = format!("the end of a lease could not be made durable: {error}");
                Err(Failure::new(ErrorKind::Later, message).hint("try again in a moment"))
            }
        }
    }

    /// Makes the end of a counted lease durable, before it ends: the next daemon would take it for
    /// one whose answer was lost. The end of any other needs no record.
    pub(super) fn record_release(
        &mut self,
        ports: &mut P,
        client: ClientId,
        lease: LeaseId,
    ) -> Result<(), PortError> {
        let Some(known) = self.leases.get(client, lease) else { return Ok(()) };
        let (LeaseTarget::Tensor(tensor), true) = (known.target, known.counted) else {
            return Ok(());
        };
        let (mode, asked) = (known.mode, known.asked);
        let counted = CountedLease { client, lease, mode, ended: true, asked };
        self.count_release(ports, tensor, counted)
    }

    /// A lease of a client that ends itself.
    pub(super) fn end_lease_of(
        &mut self,
        ports: &mut P,
        client: ClientId,
        lease: LeaseId,
        ending: Ending,
    ) {
        if ending == Ending::Released
            && let Err(error) = self.record_release(ports, client, lease)
        {
            // The next daemon does not know the client any more, and so no lease of its.
            tracing::error!(%client, "could not record the end of a lease: {error}");
        }
        self.end_lease(ports, client, lease, ending);
    }

    pub(super) fn end_lease(
        &mut self,
        ports: &mut P,
        client: ClientId,
        lease: LeaseId,
        ending: Ending,
    ) {
        // Already ended: a repeat gets the same answer.
        let Some(ended) = self.leases.end(client, lease) else { return };
        if !self.clients.get(client).is_some_and(|client| client.mover) {
            match ending {
                Ending::Released => self.counts.leases_released += 1,
                Ending::Died => self.counts.leases_died += 1,
            }
        }
        let id = match ended.target {
            LeaseTarget::Tensor(id) => id,
            LeaseTarget::Version(id) => {
                self.version_lease_ended(ports, id, ending);
                return;
            }
        };
        let Some(tensor) = self.catalog.get(id) else { return };
        if ending == Ending::Died {
            let slab = tensor.slab;
            self.slabs.taint(ports, slab);
        }
        self.unleased(ports, id);
        self.free_if_unused(ports, id);
    }

    pub(super) fn free_if_unused(&mut self, ports: &mut P, id: TensorId) {
        let Some(tensor) = self.catalog.get(id) else { return };
        if !tensor.is_deleted() || self.is_in_use(id) {
            return;
        }
        let slab_id = tensor.slab;
        let recovered = tensor.recovered;
        let Some(slab) = self.slabs.get(slab_id) else { return };
        self.unfreed.forget(slab, id);
        if recovered && self.may_be_held(slab_id) {
            self.unfreed.wait_for_claims(slab, id);
            return;
        }
        let owner = slab.class.owner.clone();
        if self.slabs.is_untold(slab_id) && !self.slabs.record_taint(ports, slab_id) {
            self.unfreed.wait_for_journal(id);
            return;
        }
        if let Err(error) = ports.journal(&Record::TensorFreed(id)) {
            tracing::error!(tensor = %id, "could not record that a tensor was freed: {error}");
            self.unfreed.wait_for_journal(id);
            return;
        }
        let user = Some(owner.user);
        // While it is still in the catalog, which says who may know.
        let public = self.public(id.into(), user);
        self.catalog.unschedule(id);
        let Some(tensor) = self.catalog.remove(id, &owner) else { return };
        let empty = self.slabs.give(slab_id, tensor.offset, tensor.bytes);
        let tainted = self.slabs.get(slab_id).is_some_and(|slab| slab.tainted);
        let adopted = self.slabs.get(slab_id).is_some_and(|slab| slab.backing.adopted);
        if empty {
            self.recycle_or_drop(ports, slab_id);
        }
        if adopted {
            self.adoptions.keep_lent(Lent { client: tensor.creator, tensor: id, slab: slab_id });
            self.free_in_hosts(ports);
        }
        let is_idle = self.slabs.get(slab_id).is_some_and(|slab| !slab.is_recyclable());
        let became = match (empty, self.slabs.get(slab_id).is_some(), tainted) {
            (true, true, _) if is_idle => "its memory stays in its host, unused",
            (false, _, false) => "its slab has other tensors",
            (false, _, true) => "its slab has other tensors, and goes with the last of them",
            (true, true, _) => "its slab is kept for its owner",
            (true, false, false) => "its slab is given back",
            (true, false, true) => "its slab is given back, because a process died with it",
        };
        if tensor.is_part() {
            // Its version told of it.
            return;
        }
        self.counts.tensors_freed += 1;
        let text = format!("{}; {became}", count(tensor.bytes, "byte"));
        let on = Some(id.into());
        let event = happening(ports, EventKind::TensorFreed, on, tensor.name, user, text);
        self.tell(ports, event, public);
    }

    /// Whether a client that has not claimed yet may hold this slab.
    pub(super) fn may_be_held(&self, slab: SlabId) -> bool {
        let slab = self.slabs.get(slab);
        slab.is_some_and(|slab| self.clients.may_be_held(|caller| slab.may_be_held_by(caller)))
    }

    pub(super) fn recycle_or_drop(&mut self, ports: &mut P, id: SlabId) {
        let Some(slab) = self.slabs.get(id) else { return };
        if let Some(Home::Host(host)) = slab.home {
            if !self.keep_idle(ports, host, id) {
                self.slabs.let_go(ports, id);
            }
            return;
        }
        let device = slab.class.device;
        let totals = self.slabs.totals_on(device);
        let recycled = totals.recycled_bytes.saturating_sub(totals.idle_bytes);
        let is_lost = slab.is_lost();
        let is_charged = self.payers.is_charged(slab.class.owner.user);
        // The slab itself is among the recycled ones now.
        let is_useless = slab.tainted || is_lost || !slab.is_recyclable();
        if is_useless || is_charged || recycled > self.caps.recycle_bytes {
            self.slabs.let_go(ports, id);
        }
    }
}
