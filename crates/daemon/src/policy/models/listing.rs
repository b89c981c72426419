//! Readings of models and versions.

use millpond_wire::message::{ModelInfo, ReplyBody, VersionDetails, VersionInfo, VersionState};
use millpond_wire::{TensorId, VersionId, VersionTarget};

use super::Version;
use crate::policy::answer::{Answer, Answered, gone};
use crate::policy::owner::Caller;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

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
        let is_shared = |part: &&TensorId| self.models.with_part(**part).nth(1).is_some();
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
                .map(|client| client.pid),
        }
    }

    pub(in crate::policy) fn inspect_version(
        &self,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Answer<P::Fd> {
        let id = self.models.find(caller, target)?;
        let Some(version) = self.models.get(id) else { return Err(gone("version", id)) };
        let details = VersionDetails {
            info: self.version_info(id, version),
            parts: self.parts_of(version),
            leases: self.leases_on(caller, id.into()),
        };
        let manifest = version.manifest.iter().cloned().collect();
        Ok(Answered::Now(ReplyBody::VersionDetails(Box::new(details)), manifest))
    }

    pub(in crate::policy) fn model_list(&self, caller: &Caller, prefix: &str) -> Vec<ModelInfo> {
        let mut models: Vec<ModelInfo> = Vec::new();
        for (key, model) in &self.models.models {
            if !key.name.as_str().starts_with(prefix) {
                continue;
            }
            let known = model.versions.iter();
            let known = known.filter_map(|id| Some((*id, self.models.versions.get(id)?)));
            let shared = known.filter(|(_, it)| caller.may_use(&it.owner, it.audience));
            let versions: Vec<VersionInfo> =
                shared.map(|(id, version)| self.version_info(id, version)).collect();
            if !versions.is_empty() {
                models.push(ModelInfo { name: key.name.clone(), user: model.owner.user, versions });
            }
        }
        models.sort_by(|a, b| (&a.name, a.user).cmp(&(&b.name, b.user)));
        models
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
