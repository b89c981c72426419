//! Readings of models and versions.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;

use millpond_wire::message::{
    LeaseInfo, ModelInfo, ReplyBody, VersionDetails, VersionInfo, VersionState,
};
use millpond_wire::{TensorId, VersionId};

use super::{Model, Models, Version};
use crate::policy::answer::{Answer, Answered, gone};
use crate::policy::catalog::NameKey;
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::turns::Budget;

impl<P: Ports> Pond<P> {
    /// Bytes of a version's slabs.
    pub(in crate::policy) fn slab_bytes_of(&self, version: &Version<P::Fd>) -> u64 {
        let bytes = |part: &TensorId| self.catalog.get(*part).map_or(0, |tensor| tensor.bytes);
        version.parts.iter().map(bytes).sum()
    }

    pub(super) fn version_info(&self, id: VersionId, version: &Version<P::Fd>) -> VersionInfo {
        let model = self.models.models.get(&version.model);
        let ready = version.ready.as_ref();
        let bytes = |part: &TensorId| self.catalog.get(*part).map_or(0, |tensor| tensor.bytes);
        let is_shared = |part: &&TensorId| self.models.is_shared(**part);
        let stager = self.clients.get(version.creator);
        VersionInfo {
            version: id,
            model: version.model.name.clone(),
            tag: version.tag.clone(),
            state: version.state,
            device: version.device,
            user: version.owner.user,
            audience: version.audience,
            bytes: ready.map_or(0, |ready| ready.bytes),
            slab_bytes: self.slab_bytes_of(version),
            shared_bytes: version.parts.iter().filter(is_shared).map(bytes).sum(),
            slabs: count(version.parts.len()),
            tensors: ready.map_or(0, |ready| ready.tensors),
            layout: ready.map(|ready| ready.layout),
            content: ready.map(|ready| ready.content),
            created_unix_ms: version.created_ms,
            ready_unix_ms: ready.map(|ready| ready.ready_unix_ms),
            readers: count(self.leases.count_on(id)),
            current: model.is_some_and(|model| model.current == Some(id)),
            previous: model.is_some_and(|model| model.history.last() == Some(&id)),
            lost: self.is_lost(version),
            source: ready.map_or_else(String::new, |ready| ready.source.clone()),
            stager_pid: stager
                .filter(|_| version.state == VersionState::Staging)
                .and_then(|client| client.process.number()),
        }
    }

    pub(in crate::policy) fn version_details(
        &self,
        id: VersionId,
        leases: Vec<LeaseInfo>,
    ) -> Answer<P::Fd> {
        let Some(version) = self.models.get(id) else { return Err(gone("version", id)) };
        let (info, parts) = (self.version_info(id, version), self.parts_of(version));
        let manifest = version.manifest.iter().cloned().collect();
        let details = VersionDetails { info, parts, leases };
        Ok(Answered::Now(ReplyBody::VersionDetails(Box::new(details)), manifest))
    }

    pub(in crate::policy) fn slice_of_models(
        &self,
        listing: &mut ModelListing,
        budget: &mut Budget,
    ) -> Option<ReplyBody> {
        loop {
            while let Some(id) = listing.inside.front().copied() {
                if budget.is_spent() {
                    return None;
                }
                budget.spend(1);
                listing.inside.pop_front();
                let Some(version) = self.models.versions.get(&id) else { continue };
                if listing.caller.may_use(&version.owner, version.audience)
                    && listing.seen.insert(id)
                    && let Some(shown) = listing.found.last_mut()
                {
                    budget.spend(version.parts.len());
                    shown.versions.push(self.version_info(id, version));
                }
            }
            listing.found.pop_if(|model| model.versions.is_empty());
            let Some((key, model)) = self.models.next_listed(listing) else { break };
            if budget.is_spent() {
                return None;
            }
            budget.spend(1);
            if key.name.as_str().starts_with(&listing.prefix) {
                let (name, user) = (key.name.clone(), model.owner.user);
                listing.found.push(ModelInfo { name, user, versions: Vec::new() });
                listing.inside.extend(&model.versions);
            }
            listing.next(key);
        }
        Some(ReplyBody::Models(std::mem::take(&mut listing.found)))
    }
}

/// A listing of models. Each version that is there from the first slice to the last is in it, once,
/// under a name that its model had meanwhile.
#[derive(Debug)]
pub(in crate::policy) struct ModelListing {
    caller: Caller,
    prefix: String,
    /// The last model that was looked at.
    at: Option<NameKey>,
    /// Versions of that one to look at.
    inside: VecDeque<VersionId>,
    /// Models that got another name meanwhile: to be looked at again in the end.
    again: BTreeSet<NameKey>,
    found: Vec<ModelInfo>,
    seen: BTreeSet<VersionId>,
}

impl ModelListing {
    pub(in crate::policy) fn new(caller: Caller, prefix: String) -> Self {
        Self {
            caller,
            prefix,
            at: None,
            inside: VecDeque::new(),
            again: BTreeSet::new(),
            found: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    /// A model has this name from now on.
    pub(in crate::policy) fn renamed(&mut self, to: &NameKey) {
        self.again.insert(to.clone());
    }

    /// A model was looked at.
    fn next(&mut self, key: &NameKey) {
        if self.at.as_ref().is_none_or(|at| at < key) {
            self.at = Some(key.clone());
        }
        self.again.remove(key);
    }
}

impl<F> Models<F> {
    fn next_listed(&self, listing: &ModelListing) -> Option<(&NameKey, &Model)> {
        let from = listing.at.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.models.range((from, Bound::Unbounded)).next();
        next.or_else(|| listing.again.iter().find_map(|key| self.models.get_key_value(key)))
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
