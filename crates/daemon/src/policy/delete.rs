//! Tensors are deleted: the name goes at once, the memory with the last lease.

use millpond_wire::message::{EventKind, Target};
use millpond_wire::record::Record;
use millpond_wire::{ClientId, TensorId};

use super::answer::{Answer, done, from_port, gone};
use super::create::changed;
use super::owner::{Caller, not_yours};
use super::pond::Pond;
use super::ports::{PortError, Ports};

impl<P: Ports> Pond<P> {
    pub(super) fn delete(&mut self, ports: &mut P, caller: &Caller, id: TensorId) -> Answer<P::Fd> {
        if self.catalog.is_buried(id) {
            return done();
        }
        self.find(caller, &Target::Id(id))?;
        self.not_a_part(id)?;
        let Some(tensor) = self.catalog.get(id) else { return Err(gone("tensor", id)) };
        if tensor.is_deleted() {
            return done();
        }
        let Some(slab) = self.slabs.get(tensor.slab) else { return Err(gone("tensor", id)) };
        if !caller.may_change(&slab.class.owner) {
            let what = format!("tensor '{}'", tensor.label(id));
            return Err(not_yours(&what, &slab.class.owner));
        }
        let why = format!("deleted by user {}", caller.owner.user);
        self.delete_now(ports, id, &why).map_err(from_port)?;
        done()
    }

    pub(super) fn delete_now(
        &mut self,
        ports: &mut P,
        id: TensorId,
        why: &str,
    ) -> Result<(), PortError> {
        let Some(tensor) = self.catalog.get(id) else { return Ok(()) };
        let name = tensor.name.clone();
        let slab = self.slabs.get(tensor.slab);
        let audience = slab.map(|slab| slab.class.audience);
        let owner = slab.map(|slab| slab.class.owner.clone());
        ports.journal(&Record::TensorDeleted(id))?;
        self.list_before_change(ports, id);
        let user = owner.as_ref().map(|owner| owner.user);
        if let Some(owner) = owner {
            self.catalog.delete(id, &owner);
            self.holds.tensor_deleted(id);
            if let (Some(name), Some(audience)) = (&name, audience) {
                let now_ms = ports.monotonic_ms();
                self.catalog.remember_end(name, &owner, audience, now_ms, why);
            }
        }
        changed(ports, id, name.as_ref());
        self.counts.tensors_deleted += 1;
        self.happened(ports, EventKind::TensorDeleted, Some(id.into()), name, user, why);
        self.free_if_unused(ports, id);
        Ok(())
    }

    /// Deletes everything that ends with this client.
    pub(super) fn delete_all_ephemeral(&mut self, ports: &mut P, creator: ClientId) {
        for id in self.catalog.ephemeral_of(creator).collect::<Vec<_>>() {
            self.delete_ephemeral(ports, id);
        }
    }

    /// Deletes what ends with its creator. Whether that could be recorded.
    pub(super) fn delete_ephemeral(&mut self, ports: &mut P, id: TensorId) -> bool {
        let deleted = self.delete_now(ports, id, "its creator is gone");
        if let Err(error) = &deleted {
            tracing::error!(tensor = %id, "could not record a delete: {error}");
        }
        deleted.is_ok()
    }
}
