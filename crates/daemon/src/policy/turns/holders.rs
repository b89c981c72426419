//! Everything about one tensor or version, with those who hold it.

use millpond_wire::message::{LeaseInfo, ReplyBody};
use millpond_wire::{ClientId, LeaseId, LeaseTarget, TensorId, VersionId, caps};

use super::Budget;
use crate::policy::answer::{Answer, now};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

/// The leases on something, as many as are shown.
#[derive(Debug, Default)]
pub(super) struct Holders {
    /// The last lease that was looked at.
    at: Option<(ClientId, LeaseId)>,
    found: Vec<LeaseInfo>,
}

impl Holders {
    /// How many entries an answer has whose object has so many leases.
    pub(super) fn weight(leases: usize) -> usize {
        1 + leases.min(caps::HOLDERS_SHOWN)
    }
}

impl<P: Ports> Pond<P> {
    pub(super) fn slice_of_tensor(
        &self,
        ports: &P,
        id: TensorId,
        holders: &mut Holders,
        budget: &mut Budget,
    ) -> Option<Answer<P::Fd>> {
        let leases = self.slice_of_holders(id.into(), holders, budget)?;
        let info = self.info(id, ports.monotonic_ms());
        Some(info.and_then(|info| now(ReplyBody::Details { info, leases })))
    }

    pub(super) fn slice_of_version(
        &self,
        id: VersionId,
        holders: &mut Holders,
        budget: &mut Budget,
    ) -> Option<Answer<P::Fd>> {
        let leases = self.slice_of_holders(id.into(), holders, budget)?;
        budget.spend(self.models.get(id).map_or(0, |version| version.parts.len()));
        Some(self.version_details(id, leases))
    }

    fn slice_of_holders(
        &self,
        target: LeaseTarget,
        holders: &mut Holders,
        budget: &mut Budget,
    ) -> Option<Vec<LeaseInfo>> {
        let (name, bytes) = self.leased(target);
        for (client, id) in self.leases.on_after(target, holders.at) {
            if holders.found.len() >= caps::HOLDERS_SHOWN {
                break;
            }
            if budget.is_spent() {
                return None;
            }
            budget.spend(1);
            holders.at = Some((client, id));
            if let Some(lease) = self.leases.get(client, id)
                && let Some(holder) = self.clients.get(client)
            {
                let info = super::clients::lease_info((client, holder), lease, name.clone(), bytes);
                holders.found.push(info);
            }
        }
        Some(std::mem::take(&mut holders.found))
    }
}
