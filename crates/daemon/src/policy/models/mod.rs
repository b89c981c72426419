//! Models: named sets of versions, each an arena of slabs that many processes map.
//!
//! A slab of a version is a *part*: a tensor without a name in a slab of its own, so that moves,
//! leases of movers, the journal and freeing work as for every tensor. A part lives as long as a
//! version has it; a lease is on the version, and keeps all its parts.

mod commit;
mod find;
mod get;
mod listing;
mod making;
mod own_part;
mod parts;
mod replay;
mod retire;
mod stage;
mod swap;
mod version;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_wire::message::VersionState;
use millpond_wire::record::Record;
use millpond_wire::{TensorId, TensorRef, Token, VersionId, VersionTag};

use super::catalog::NameKey;
use super::owner::{Caller, Owner};
use super::ports::{PortError, Ports};
use crate::accounts::{Account, Accounts, Resource};
pub(super) use listing::ModelListing;
use making::Making;
pub(super) use making::MakingKey;
use version::{Model, Version, lost, retired};

#[derive(Debug)]
pub(super) struct Models<F> {
    versions: BTreeMap<VersionId, Version<F>>,
    models: BTreeMap<NameKey, Model>,
    /// Which versions have a part, or had it and may still have it mapped.
    having: BTreeMap<TensorId, BTreeSet<VersionId>>,
    /// Slabs that are being made.
    making: BTreeMap<MakingKey, Making>,
    accounts: Accounts,
}

impl<F> Models<F> {
    /// None yet; their versions are on these accounts.
    pub(super) fn new(accounts: Accounts) -> Self {
        Self {
            versions: BTreeMap::new(),
            models: BTreeMap::new(),
            having: BTreeMap::new(),
            making: BTreeMap::new(),
            accounts,
        }
    }
}

impl<F> Models<F> {
    pub(super) fn get(&self, id: VersionId) -> Option<&Version<F>> {
        self.versions.get(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }

    pub(super) fn model(&self, key: &NameKey) -> Option<&Model> {
        self.models.get(key)
    }

    /// The model of a version.
    pub(super) fn of_version(&self, id: VersionId) -> Option<(&NameKey, &Model)> {
        self.models.get_key_value(&self.versions.get(&id)?.model)
    }

    /// The user of each version, those that begin included.
    pub(super) fn version_users(&self) -> impl Iterator<Item = u32> {
        let making = self.making.values().filter(|making| making.stage.is_some());
        let begin = making.map(|making| making.class.owner.user);
        self.versions.values().map(|version| version.owner.user).chain(begin)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.models.is_empty() && self.making.is_empty()
    }

    #[cfg(test)]
    pub(super) fn is_making(&self) -> bool {
        !self.making.is_empty()
    }

    #[cfg(test)]
    pub(super) fn parts(&self) -> usize {
        self.having.len()
    }

    #[cfg(test)]
    pub(super) fn manifests(&self) -> impl Iterator<Item = VersionId> {
        self.versions.iter().filter(|(_, it)| it.manifest.is_some()).map(|(id, _)| *id)
    }

    /// Adds a version to its model, which is made if it is the first.
    fn insert(&mut self, id: VersionId, version: Version<F>) {
        let owner = version.owner.clone();
        let model = self.models.entry(version.model.clone()).or_insert_with(|| Model::new(owner));
        model.versions.push(id);
        for part in version.keeps() {
            self.having.entry(part).or_default().insert(id);
        }
        self.account(&version).add(Resource::Versions, 1);
        if let Some(before) = self.versions.insert(id, version) {
            self.account(&before).give(Resource::Versions, 1);
        }
    }

    fn account(&self, version: &Version<F>) -> Rc<Account> {
        self.accounts.of(&version.owner.tenant, version.owner.user)
    }

    /// Takes a version out of the books; the parts that it had may be of no use now.
    fn remove(&mut self, id: VersionId) -> Option<Version<F>> {
        let version = self.versions.remove(&id)?;
        self.account(&version).give(Resource::Versions, 1);
        if let Some(model) = self.models.get_mut(&version.model) {
            model.forget(id);
            model.versions.retain(|other| *other != id);
            if model.versions.is_empty() {
                self.models.remove(&version.model);
            }
        }
        for part in version.keeps() {
            self.unlink(part, id);
        }
        Some(version)
    }

    /// A user gets a lease on a version. Another's version is journalled as borrowed, once.
    pub(super) fn lend(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        id: VersionId,
        user: &Owner,
    ) -> Result<(), PortError> {
        let Some(version) = self.versions.get_mut(&id) else { return Ok(()) };
        if version.owner.is_user(user) || !version.borrowers.lacks(user.user) {
            return Ok(());
        }
        ports.journal(&Record::VersionBorrowed { version: id, user: user.user })?;
        version.borrowers.add(user.user);
        Ok(())
    }

    /// A model has another name from now on, which no other model has.
    pub(super) fn rename(&mut self, from: &NameKey, to: NameKey, token: Token) {
        let Some(mut model) = self.models.remove(from) else { return };
        for id in &model.versions {
            if let Some(version) = self.versions.get_mut(id) {
                version.model = to.clone();
            }
        }
        model.renamed(token);
        self.models.insert(to, model);
    }

    fn is_in(&self, id: VersionId, state: VersionState) -> bool {
        self.versions.get(&id).is_some_and(|version| version.state == state)
    }

    /// What a flip changes in the books, now or when it is replayed. Returns what was current.
    fn flip(&mut self, id: VersionId, token: Option<Token>) -> Option<VersionId> {
        let version = self.versions.get(&id)?;
        let model = self.models.get_mut(&version.model)?;
        let before = model.current.replace(id).filter(|before| *before != id);
        if let Some(before) = before {
            model.history.push(before);
        }
        model.history.retain(|other| *other != id);
        if let Some(token) = token {
            let tag = before.and_then(|before| self.versions.get(&before));
            model.remember(token, tag.map(|version| version.tag.clone()));
        }
        before
    }

    /// A version takes no new readers, now or when that is replayed.
    fn drain(&mut self, id: VersionId) {
        let Some(version) = self.versions.get_mut(&id) else { return };
        version.state = VersionState::Draining;
        if let Some(model) = self.models.get_mut(&version.model) {
            model.forget(id);
        }
    }

    fn unlink(&mut self, part: TensorId, id: VersionId) {
        if let Some(having) = self.having.get_mut(&part) {
            having.remove(&id);
            if having.is_empty() {
                self.having.remove(&part);
            }
        }
    }

    /// A version gets other parts; those that it had stay until nobody has it mapped.
    fn set_parts(&mut self, id: VersionId, parts: Vec<TensorId>) {
        let Some(version) = self.versions.get_mut(&id) else { return };
        let before = std::mem::replace(&mut version.parts, parts);
        version.former.extend(before);
        for part in &version.parts {
            version.former.remove(part);
            self.having.entry(*part).or_default().insert(id);
        }
    }

    /// Versions that have this part in their arena now.
    pub(super) fn with_part(
        &self,
        part: TensorId,
    ) -> impl Iterator<Item = (VersionId, &Version<F>)> {
        let having = self.having.get(&part).into_iter().flatten();
        let known = having.filter_map(|id| Some((*id, self.versions.get(id)?)));
        known.filter(move |(_, version)| version.parts.contains(&part))
    }

    /// Whether several versions have this part in their arenas now.
    fn is_shared(&self, part: TensorId) -> bool {
        // Most parts have one version, which takes no look at its arena.
        self.having.get(&part).is_some_and(|having| having.len() > 1)
            && self.with_part(part).nth(1).is_some()
    }

    /// Whether a version needs this part.
    pub(super) fn keep(&self, part: TensorId) -> bool {
        self.having.contains_key(&part)
    }

    /// The version of a model with a tag.
    fn tagged(&self, model: &Model, tag: &VersionTag) -> Option<VersionId> {
        let is_it = |id: &VersionId| self.versions.get(id).is_some_and(|it| it.tag == *tag);
        model.versions.iter().copied().find(is_it)
    }

    /// The model that a name means to a caller.
    fn resolve(&self, caller: &Caller, name: &TensorRef) -> Option<(&NameKey, &Model)> {
        self.models.get_key_value(&NameKey::meant(caller, name))
    }
}
