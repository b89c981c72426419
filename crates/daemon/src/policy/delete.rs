//! Tensors are deleted: the name goes at once, the memory with the last lease.

use millpond_view::units::count;
use millpond_wire::message::{EventKind, Target};
use millpond_wire::record::Record;
use millpond_wire::{ClientId, ErrorKind, Failure, Holder, TensorId, caps};

use super::answer::{Answer, done, from_port, gone};
use super::create::changed;
use super::owner::{Caller, not_yours};
use super::pond::Pond;
use super::ports::{PortError, Ports};

/// Whether a delete is for what is in use as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unless {
    Never,
    /// Nothing happens while somebody has a lease or a hold.
    InUse,
}

impl<P: Ports> Pond<P> {
    pub(super) fn delete(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: TensorId,
        unless: Unless,
    ) -> Answer<P::Fd> {
        if self.catalog.is_buried(id) {
            return done();
        }
        self.find(caller, &Target::Id(id))?;
        self.not_a_part(id)?;
        let Some(tensor) = self.catalog.get(id) else { return Err(gone("tensor", id)) };
        if tensor.is_deleted() && unless == Unless::Never {
            return done();
        }
        let Some(slab) = self.slabs.get(tensor.slab) else { return Err(gone("tensor", id)) };
        if !caller.may_change(&slab.class.owner) {
            let what = format!("tensor '{}'", tensor.label(id));
            return Err(not_yours(&what, &slab.class.owner));
        }
        let is_deleted = tensor.is_deleted();
        if unless == Unless::InUse {
            self.nobody_uses(id)?;
        }
        if is_deleted {
            return done();
        }
        let why = format!("deleted by user {}", caller.owner.user);
        self.delete_now(ports, id, &why).map_err(from_port)?;
        done()
    }

    /// Refuses what somebody uses, and says who. What was deleted before and is in use still is in
    /// use: its memory has not come back.
    fn nobody_uses(&self, id: TensorId) -> Result<(), Failure> {
        let Some(tensor) = self.catalog.get(id) else { return Ok(()) };
        let label = tensor.label(id);
        if self.is_in_use(id) {
            let (leases, holds) = (self.leases.count_on(id) as u64, self.holds.count_on(id));
            let mut by = Vec::new();
            if leases > 0 {
                by.push(count(leases, "lease"));
            }
            if holds > 0 {
                by.push(count(holds, "hold"));
            }
            let message = format!("tensor '{label}' is in use: {}", by.join(", "));
            let hint = "end them, or delete it without this condition: its memory then comes back \
                        after the last of them; `millpond ps` shows what they have";
            let holders = self.users_of(id, tensor.bytes);
            return Err(Failure { holders, ..Failure::new(ErrorKind::InUse, message).hint(hint) });
        }
        if tensor.recovered && self.may_be_held(tensor.slab) {
            // A lease of theirs is claimed in a moment, or not at all.
            let message =
                format!("tensor '{label}' may be in use by a program that has not come back");
            return Err(Failure::new(ErrorKind::Later, message).hint(
                "the daemon was restarted, and programs are telling it what they have: try again \
                 in a moment; `millpond ps` shows those that are silent",
            ));
        }
        Ok(())
    }

    /// The processes with leases on a tensor, and those that it is held for.
    fn users_of(&self, id: TensorId, bytes: u64) -> Vec<Holder> {
        let leases = self.leases.on(id).take(caps::HOLDERS_SHOWN).filter_map(|(client, _)| {
            let client = self.clients.get(client)?;
            Some((client.caller.owner.user, client.process.number()))
        });
        let mut users: Vec<Holder> = Vec::new();
        for (user, pid) in leases.chain(self.holds.holders_on(id)) {
            if users.iter().any(|it| (it.user, it.pid) == (user, pid)) {
                continue;
            }
            if users.len() == caps::FAILURE_LIST {
                break;
            }
            users.push(Holder { user, bytes, tensors: 1, cache: None, pid });
        }
        users
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
