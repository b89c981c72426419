//! Models come back from the journal, and go into the next one.

use std::collections::HashMap;

use millpond_wire::message::VersionState;
use millpond_wire::record::{Record, VersionRecord};
use millpond_wire::{ClientId, TensorId, caps};

use super::{Models, Version};
use crate::policy::catalog::NameKey;
use crate::policy::owner::Owner;
use crate::policy::pond::Pond;
use crate::policy::ports::{Held, Ports};

impl<P: Ports> Pond<P> {
    /// A record of a version, as it was or as a damaged journal has it.
    pub(in crate::policy) fn replay_version(
        &mut self,
        record: Record,
        held: &mut HashMap<Held, P::Fd>,
    ) {
        match record {
            Record::VersionStaged(staged) => self.replay_staged(&staged),
            Record::VersionReady(ready) => {
                let id = ready.version;
                if !self.models.is_in(id, VersionState::Staging) {
                    return;
                }
                let (current, manifest) = (ready.current, held.remove(&Held::Manifest(id)));
                self.became_ready(ready, manifest);
                if current {
                    self.models.flip(id, None);
                }
            }
            Record::VersionCurrent { version, token }
                if self.models.is_in(version, VersionState::Ready) =>
            {
                self.models.flip(version, token);
            }
            Record::VersionDraining(id) => self.models.drain(id),
            Record::VersionBorrowed { version, user } => {
                if let Some(version) = self.models.versions.get_mut(&version) {
                    version.borrowers.replay(user);
                }
            }
            Record::VersionGone(id) => {
                let manifest = self.models.remove(id).and_then(|version| version.manifest);
                if let Some(manifest) = manifest {
                    held.insert(Held::Manifest(id), manifest);
                }
                self.catalog.bury(id);
            }
            _ => {}
        }
    }

    fn replay_staged(&mut self, staged: &VersionRecord) {
        let id = staged.version;
        if self.models.is_in(id, VersionState::Staging) {
            self.models.set_parts(id, staged.parts.clone());
            return;
        }
        let known = self.models.versions.contains_key(&id);
        if known || self.catalog.has(id.0) || self.catalog.is_buried(id) {
            return;
        }
        let tenant = self.clients.tenant(&staged.tenant);
        let owner = Owner { tenant, user: staged.user, group: staged.group };
        let version = Version::recorded(staged, owner, true);
        let model = self.models.models.get(&version.model);
        if model.is_some_and(|model| model.owner.user != staged.user) {
            return;
        }
        self.models.insert(id, version);
    }

    /// Goes on where the earlier daemon stopped. Returns how many versions are lost.
    pub(in crate::policy) fn settle_versions(&mut self, ports: &mut P) -> usize {
        let versions = self.models.versions.values();
        let staged = versions.filter(|version| version.state == VersionState::Staging);
        let gone: Vec<ClientId> = staged
            .map(|version| version.creator)
            .filter(|creator| !self.clients.knows(*creator))
            .collect();
        for creator in gone {
            self.give_up_staged(ports, creator);
        }
        let models: Vec<NameKey> = self.models.models.keys().cloned().collect();
        for model in models {
            self.trim(ports, &model);
        }
        self.let_versions_go(ports);
        let parts = self.catalog.iter().filter(|(_, tensor)| tensor.is_part()).map(|(id, _)| id);
        let unused: Vec<TensorId> = parts.filter(|id| !self.models.keep(*id)).collect();
        for part in unused {
            self.drop_part_if_unused(ports, part);
        }
        self.models.versions.values().filter(|version| self.is_lost(version)).count()
    }
}

impl<F> Models<F> {
    /// The records that say the same; those of the parts come before them.
    pub(in crate::policy) fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for model in self.models.values() {
            let versions = || {
                let known = model.versions.iter();
                known.filter_map(|id| Some((*id, self.versions.get(id)?)))
            };
            for (id, version) in versions() {
                let borrowed = |user| Record::VersionBorrowed { version: id, user };
                let staged = version.record(id);
                // What a later record of a version no longer has, it had before.
                let former: Vec<TensorId> = version.former.iter().copied().collect();
                for parts in former.chunks(caps::PARTS) {
                    let parts = parts.to_vec();
                    records.push(Record::VersionStaged(VersionRecord { parts, ..staged.clone() }));
                }
                records.push(Record::VersionStaged(staged));
                records.extend(version.borrowers.users().map(borrowed));
                if let Some(ready) = &version.ready {
                    let ready =
                        millpond_wire::record::ReadyRecord { current: false, ..ready.clone() };
                    records.push(Record::VersionReady(ready));
                }
            }
            let mut current =
                |version, token| records.push(Record::VersionCurrent { version, token });
            for version in &model.history {
                current(*version, None);
            }
            if let Some(version) = model.current {
                current(version, None);
                // Swaps to what is current change nothing, but are remembered.
                for (token, _) in &model.swaps {
                    current(version, Some(*token));
                }
            }
            // A rename to the name that it has changes nothing, but is remembered.
            if let Some((id, version)) = versions().next() {
                let name = &version.model.name;
                let renames = model.renames.iter().map(|token| Record::Renamed {
                    object: id.into(),
                    name: name.clone(),
                    token: *token,
                });
                records.extend(renames);
            }
            let draining = versions().filter(|(_, it)| it.state == VersionState::Draining);
            records.extend(draining.map(|(id, _)| Record::VersionDraining(id)));
        }
        records
    }
}
