//! Listings of clients with what they hold.
//!
//! A client that is there from the first slice to the last is listed, with the leases that it had
//! when theirs came.

use millpond_wire::message::{ClientInfo, LeaseInfo, ReplyBody, Target};
use millpond_wire::{ClientId, LeaseId, LeaseTarget, TensorName, VersionTarget};

use super::Budget;
use crate::policy::clients::Client;
use crate::policy::leases::Lease;
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

#[derive(Debug)]
pub(super) struct ClientListing {
    caller: Caller,
    /// The last client that was looked at.
    at: Option<ClientId>,
    /// That one has more leases, after this one.
    inside: Option<Option<LeaseId>>,
    found: Vec<ClientInfo>,
}

impl ClientListing {
    pub(super) fn new(caller: Caller) -> Self {
        Self { caller, at: None, inside: None, found: Vec::new() }
    }
}

impl<P: Ports> Pond<P> {
    /// Every client of the tenant is shown; what it holds only where it is shared with the caller.
    pub(super) fn slice_of_clients(
        &self,
        listing: &mut ClientListing,
        budget: &mut Budget,
    ) -> Option<ReplyBody> {
        loop {
            if let (Some(id), Some(lease)) = (listing.at, listing.inside) {
                self.leases_of_client(listing, (id, lease), budget)?;
                listing.inside = None;
            }
            let Some((id, client)) = self.clients.after(listing.at).next() else { break };
            if budget.is_spent() {
                return None;
            }
            budget.spend(1);
            listing.at = Some(id);
            let caller = &listing.caller;
            if !caller.sees_everything() && client.owner().tenant != caller.owner.tenant {
                continue;
            }
            listing.inside = Some(None);
            listing.found.push(ClientInfo {
                client: shown_id(caller, id, client),
                pid: client.process.pid,
                user: client.owner().user,
                program: client.program.clone(),
                since_unix_ms: client.since_ms,
                silent: client.is_silent(),
                leases: Vec::new(),
                mover: client.mover,
            });
        }
        Some(ReplyBody::Clients(std::mem::take(&mut listing.found)))
    }

    /// The leases of the client that was found last; `None` if there are more.
    fn leases_of_client(
        &self,
        listing: &mut ClientListing,
        (id, after): (ClientId, Option<LeaseId>),
        budget: &mut Budget,
    ) -> Option<()> {
        let Some(client) = self.clients.get(id) else { return Some(()) };
        let Some(shown) = listing.found.last_mut() else { return Some(()) };
        for (lease_id, lease) in self.leases.of_after(id, after) {
            if budget.is_spent() {
                return None;
            }
            budget.spend(1 + self.parts_of_leased(lease.target) / 8);
            listing.inside = Some(Some(lease_id));
            if self.may_see(&listing.caller, lease.target) {
                let (name, bytes) = self.leased(lease.target);
                let info = lease_info(&listing.caller, (id, client), lease, (name, bytes));
                shown.leases.push(info);
            }
        }
        Some(())
    }

    fn may_see(&self, caller: &Caller, target: LeaseTarget) -> bool {
        match target {
            LeaseTarget::Tensor(id) => self.lookup(caller, &Target::Id(id)).is_some(),
            LeaseTarget::Version(id) => {
                self.models.lookup(caller, &VersionTarget::Id(id)).is_some()
            }
        }
    }

    fn parts_of_leased(&self, target: LeaseTarget) -> usize {
        match target {
            LeaseTarget::Version(id) => self.models.get(id).map_or(0, |it| it.parts.len()),
            LeaseTarget::Tensor(_) => 0,
        }
    }

    /// Name and bytes of what a lease is on.
    pub(super) fn leased(&self, target: LeaseTarget) -> (Option<TensorName>, u64) {
        match target {
            LeaseTarget::Version(version) => match self.models.get(version) {
                Some(version) => (Some(version.model.name.clone()), self.slab_bytes_of(version)),
                None => (None, 0),
            },
            LeaseTarget::Tensor(tensor) => match self.catalog.get(tensor) {
                Some(tensor) => (tensor.name.clone(), tensor.bytes),
                None => (None, 0),
            },
        }
    }
}

/// An identity is a secret of its user's: with it another process could pass for the client.
fn shown_id<F>(caller: &Caller, id: ClientId, client: &Client<F>) -> Option<ClientId> {
    caller.may_change(client.owner()).then_some(id)
}

pub(super) fn lease_info<F>(
    caller: &Caller,
    (id, client): (ClientId, &Client<F>),
    lease: &Lease,
    (name, bytes): (Option<TensorName>, u64),
) -> LeaseInfo {
    LeaseInfo {
        target: lease.target,
        name,
        mode: lease.mode,
        bytes,
        since_unix_ms: lease.since_ms,
        client: shown_id(caller, id, client),
        pid: client.process.pid,
        program: client.program.clone(),
    }
}
