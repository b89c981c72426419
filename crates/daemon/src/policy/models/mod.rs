//! Models: named sets of versions, each an arena of slabs that many processes map.
//!
//! A slab of a version is a *part*: a tensor without a name in a slab of its own, so that moves,
//! leases of movers, the journal and freeing work as for every tensor. A part lives as long as a
//! version has it; a lease is on the version, and keeps all its parts.

mod commit;
mod get;
mod listing;
mod making;
mod replay;
mod retire;
mod stage;
mod swap;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use millpond_wire::message::{VersionGet, VersionStage, VersionState};
use millpond_wire::record::ReadyRecord;
use millpond_wire::{
    Audience, ClientId, ErrorKind, Failure, GpuUuid, LeaseId, TensorId, TensorName, TensorRef,
    Token, VersionId, VersionTag, VersionTarget,
};

use super::catalog::{NameKey, key};
use super::owner::{Caller, Owner};
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use making::Making;
pub(super) use making::MakingKey;

/// Renames of a model whose repeats are recognised.
const RENAMES: usize = 4;
/// Swaps of a model whose repeats are recognised.
const SWAPS: usize = 8;

/// One version of a model.
#[derive(Debug)]
pub(super) struct Version<F> {
    pub model: NameKey,
    pub tag: VersionTag,
    pub owner: Owner,
    pub device: GpuUuid,
    pub audience: Audience,
    /// Who stages it, or did.
    pub creator: ClientId,
    pub created_ms: u64,
    /// The slabs of its arena, in order.
    pub parts: Vec<TensorId>,
    /// Parts that it had before; who has a lease may still have them mapped.
    pub former: BTreeSet<TensorId>,
    pub state: VersionState,
    /// What its commit said; `None` if it never was complete.
    pub ready: Option<ReadyRecord>,
    /// Its manifest; `None` if it is not complete, or if it did not survive.
    pub manifest: Option<F>,
    /// Older than this daemon.
    pub recovered: bool,
    /// Who holds it.
    pub leases: BTreeSet<(ClientId, LeaseId)>,
}

impl<F> Version<F> {
    /// As people write it.
    pub(super) fn label(&self) -> String {
        format!("{}@{}", self.model.2, self.tag)
    }

    /// Everything that must not go before this version does.
    fn keeps(&self) -> impl Iterator<Item = TensorId> {
        self.parts.iter().copied().chain(self.former.iter().copied())
    }
}

/// A model. It is there as long as it has a version.
#[derive(Debug)]
pub(super) struct Model {
    pub owner: Owner,
    /// In the order in which they were begun.
    pub versions: Vec<VersionId>,
    pub current: Option<VersionId>,
    /// Those that were current before, newest last.
    pub history: Vec<VersionId>,
    /// The last swaps, oldest first, each with what was current before it.
    pub swaps: VecDeque<(Token, Option<VersionTag>)>,
    /// The last renames, oldest first.
    pub renames: VecDeque<Token>,
}

impl Model {
    fn new(owner: Owner) -> Self {
        let (versions, history) = (Vec::new(), Vec::new());
        let (swaps, renames) = (VecDeque::new(), VecDeque::new());
        Self { owner, versions, current: None, history, swaps, renames }
    }

    fn remember(&mut self, token: Token, previous: Option<VersionTag>) {
        if self.swaps.len() == SWAPS {
            self.swaps.pop_front();
        }
        self.swaps.push_back((token, previous));
    }

    /// The version is not current any more, nor to be rolled back to.
    fn forget(&mut self, id: VersionId) {
        self.history.retain(|other| *other != id);
        if self.current == Some(id) {
            self.current = None;
            // The journal says of swaps only what leads to a current version.
            self.swaps.clear();
        }
    }
}

/// A get that waits until there is a version for it.
#[derive(Clone, Debug)]
pub(super) struct VersionWaiter {
    pub conn: ConnId,
    pub number: u64,
    pub get: VersionGet,
    pub until_ms: u64,
}

/// A stage that came before the driver had said which GPUs there are.
#[derive(Clone, Debug)]
pub(super) struct PendingStage {
    pub conn: ConnId,
    pub number: u64,
    pub stage: VersionStage,
}

/// All models.
#[derive(Debug)]
pub(super) struct Models<F> {
    pub versions: BTreeMap<VersionId, Version<F>>,
    pub models: BTreeMap<NameKey, Model>,
    /// Which versions have a part, or had it and may still have it mapped.
    pub(super) having: BTreeMap<TensorId, BTreeSet<VersionId>>,
    /// Slabs that are being made: for a version that begins, or for one place in one.
    pub making: BTreeMap<(VersionId, Option<usize>), Making>,
    pub before_driver: Vec<PendingStage>,
    pub waiters: Vec<VersionWaiter>,
}

impl<F> Default for Models<F> {
    fn default() -> Self {
        Self {
            versions: BTreeMap::new(),
            models: BTreeMap::new(),
            having: BTreeMap::new(),
            making: BTreeMap::new(),
            before_driver: Vec::new(),
            waiters: Vec::new(),
        }
    }
}

impl<F> Models<F> {
    /// Adds a version to its model, which is made if it is the first.
    fn insert(&mut self, id: VersionId, version: Version<F>) {
        let owner = version.owner.clone();
        let model = self.models.entry(version.model.clone()).or_insert_with(|| Model::new(owner));
        model.versions.push(id);
        for part in version.keeps() {
            self.having.entry(part).or_default().insert(id);
        }
        self.versions.insert(id, version);
    }

    /// Takes a version out of the books; the parts that it had may be of no use now.
    fn remove(&mut self, id: VersionId) -> Option<Version<F>> {
        let version = self.versions.remove(&id)?;
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

    /// A model has another name from now on, which no other model has.
    pub(super) fn rename(&mut self, from: &NameKey, to: NameKey, token: Token) {
        let Some(mut model) = self.models.remove(from) else { return };
        for id in &model.versions {
            if let Some(version) = self.versions.get_mut(id) {
                version.model = to.clone();
            }
        }
        if model.renames.len() == RENAMES {
            model.renames.pop_front();
        }
        model.renames.push_back(token);
        self.models.insert(to, model);
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

    /// Whether a version needs this part.
    pub(super) fn keep(&self, part: TensorId) -> bool {
        self.having.contains_key(&part)
    }

    /// The version of a model with a tag.
    fn tagged(&self, model: &Model, tag: &VersionTag) -> Option<VersionId> {
        let is_it = |id: &VersionId| self.versions.get(id).is_some_and(|it| it.tag == *tag);
        model.versions.iter().copied().find(is_it)
    }

    /// The model that a name means to a caller: one's own, then `public/`; or exactly the owner's
    /// that was written.
    fn resolve(&self, caller: &Caller, name: &TensorRef) -> Option<(&NameKey, &Model)> {
        let own = Owner { user: name.user.unwrap_or(caller.owner.user), ..caller.owner.clone() };
        let found = self.models.get_key_value(&key(&own, &name.name));
        if found.is_some() || name.user.is_some() {
            return found;
        }
        self.models.get_key_value(&key(&own, &name.name.in_public()?))
    }

    /// How many versions a user has, those that are being made included.
    fn count_of(&self, owner: &Owner) -> usize {
        let theirs = |other: &Owner| other.tenant == owner.tenant && other.user == owner.user;
        let versions = self.versions.values().filter(|version| theirs(&version.owner)).count();
        let making = self.making.values();
        versions + making.filter(|it| it.stage.is_some() && theirs(&it.pool.owner)).count()
    }
}

impl<P: Ports> Pond<P> {
    /// Whether this identity is a version, there or about to be.
    pub(super) fn is_version(&self, id: TensorId) -> bool {
        let id = VersionId(id.0);
        self.models.versions.contains_key(&id) || self.models.making.contains_key(&(id, None))
    }

    /// Whether slabs are being made for a new version of this model.
    pub(super) fn makes_version_of(&self, model: &NameKey) -> bool {
        self.models.making.values().any(|making| {
            let stage = making.stage.as_ref();
            stage.is_some_and(|stage| key(&making.pool.owner, &stage.model) == *model)
        })
    }

    /// Whether memory or manifest of a version did not survive.
    pub(super) fn is_lost(&self, version: &Version<P::Fd>) -> bool {
        let there = |part: &TensorId| {
            let tensor = self.catalog.get(*part).filter(|tensor| tensor.part);
            let slab = tensor.and_then(|tensor| self.slabs.get(tensor.slab));
            slab.is_some_and(|slab| !slab.is_lost())
        };
        (version.ready.is_some() && version.manifest.is_none()) || !version.parts.iter().all(there)
    }

    /// The version that a caller means, if the caller may have it.
    pub(super) fn lookup_version(
        &self,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Option<VersionId> {
        let id = match target {
            VersionTarget::Id(id) => *id,
            VersionTarget::Name(name) => {
                let (_, model) = self.models.resolve(caller, &name.model)?;
                match &name.tag {
                    Some(tag) => self.models.tagged(model, tag)?,
                    None => model.current?,
                }
            }
        };
        let version = self.models.versions.get(&id)?;
        caller.may_use(&version.owner, version.audience).then_some(id)
    }

    /// The same, or what to tell the caller.
    pub(super) fn find_version(
        &self,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Result<VersionId, Failure> {
        self.lookup_version(caller, target).ok_or_else(|| self.no_version(caller, target))
    }

    fn no_version(&self, caller: &Caller, target: &VersionTarget) -> Failure {
        let VersionTarget::Name(name) = target else {
            let message = format!("version {target} not found");
            return Failure::new(ErrorKind::NotFound, message)
                .hint("`millpond models` shows what there is");
        };
        let Some((_, model)) = self.find_model(caller, &name.model) else {
            return self.no_model(caller, &name.model);
        };
        let shared = self.shared_versions(caller, model);
        match &name.tag {
            Some(tag) => {
                let tags: Vec<String> =
                    shared.iter().map(|version| version.tag.to_string()).collect();
                let message = format!("model '{}' has no version {tag}", name.model);
                let mut failure = Failure::new(ErrorKind::NotFound, message)
                    .hint(format!("available: {}", tags.join(", ")));
                failure.similar = tags;
                failure.similar.truncate(millpond_wire::limits::FAILURE_LIST);
                failure
            }
            None => {
                let ready = |version: &&&Version<P::Fd>| version.state == VersionState::Ready;
                let message = format!("model '{}' has no current version yet", name.model);
                let failure = Failure::new(ErrorKind::NotReady, message);
                match shared.iter().rev().find(ready) {
                    Some(version) => {
                        failure.hint(format!("`millpond swap {} {}`", name.model, version.tag))
                    }
                    None => failure.hint("wait for the end of its load"),
                }
            }
        }
    }

    /// Versions of a model that are shared with a caller.
    fn shared_versions(&self, caller: &Caller, model: &Model) -> Vec<&Version<P::Fd>> {
        let versions = model.versions.iter().filter_map(|id| self.models.versions.get(id));
        versions.filter(|version| caller.may_use(&version.owner, version.audience)).collect()
    }

    /// The model that a caller means, if any of it is shared with the caller.
    fn find_model(&self, caller: &Caller, name: &TensorRef) -> Option<(&NameKey, &Model)> {
        let (key, model) = self.models.resolve(caller, name)?;
        (!self.shared_versions(caller, model).is_empty()).then_some((key, model))
    }

    fn no_model(&self, caller: &Caller, name: &TensorRef) -> Failure {
        let mut failure = Failure::new(ErrorKind::NotFound, format!("model '{name}' not found"));
        let visible = self.models.models.iter().filter(|(_, model)| {
            model.owner.tenant == caller.owner.tenant
                && !self.shared_versions(caller, model).is_empty()
        });
        failure.similar = super::catalog::similar(caller, name, visible.map(|(key, _)| key));
        let hint = crate::policy::catalog::way_out(&failure.similar, "millpond models");
        failure.hint(hint)
    }

    /// The answer to a request that takes a version's slab for a tensor.
    pub(super) fn not_a_part(&self, id: TensorId) -> Result<(), Failure> {
        if !self.catalog.get(id).is_some_and(|tensor| tensor.part) {
            return Ok(());
        }
        let message = match self.models.with_part(id).next() {
            Some((_, version)) => format!("tensor {id} is a slab of model {}", version.label()),
            None => format!("tensor {id} is a slab of a version that is gone"),
        };
        Err(Failure::new(ErrorKind::Invalid, message)
            .hint("it comes and goes with its version: `millpond inspect` and `millpond retire`"))
    }

    /// Whether a client may read this part, or write it, with the reason why not.
    pub(super) fn may_use_part(
        &self,
        client: ClientId,
        caller: &Caller,
        id: TensorId,
        writes: bool,
    ) -> Result<(), Failure> {
        let mut denied = None;
        let mut with = 0;
        for (_, version) in self.models.with_part(id) {
            with += 1;
            let label = version.label();
            let stages = version.state == VersionState::Staging && version.creator == client;
            let leased = version.leases.iter().any(|(holder, _)| *holder == client);
            let may = match version.state {
                _ if writes => stages,
                VersionState::Staging => stages,
                VersionState::Ready => caller.may_use(&version.owner, version.audience),
                VersionState::Draining => leased,
            };
            if may && !writes {
                return Ok(());
            }
            if !may {
                denied = Some(match version.state {
                    VersionState::Staging => Failure::new(
                        ErrorKind::Denied,
                        format!("{label} is staged by another process"),
                    ),
                    VersionState::Ready if writes => Failure::new(
                        ErrorKind::Denied,
                        format!("{label} is ready, and never changes again"),
                    )
                    .hint("stage another version"),
                    _ => retired(&label, None),
                });
            }
        }
        match denied {
            Some(failure) => Err(failure),
            None if with == 1 => Ok(()),
            None if with == 0 => {
                let message = format!("tensor {id} is a slab of a version that is gone");
                Err(Failure::new(ErrorKind::NotFound, message))
            }
            None => {
                let message = format!("tensor {id} is in {with} versions, and cannot be written");
                Err(Failure::new(ErrorKind::Denied, message)
                    .hint("ask for a slab of the version's own first"))
            }
        }
    }
}

/// The version takes no new readers.
fn retired(label: &str, current: Option<&VersionTag>) -> Failure {
    let message = match current {
        Some(current) => format!("{label} is retired; the current version is {current}"),
        None => format!("{label} is retired"),
    };
    let failure = Failure::new(ErrorKind::Retired, message);
    match current {
        Some(_) => failure.hint("attach without a version to get the current one"),
        None => failure.hint("`millpond models` shows what there is"),
    }
}

/// The record survived, but memory or manifest did not.
fn lost(model: &TensorName, tag: &VersionTag) -> Failure {
    Failure::new(ErrorKind::Lost, format!("the memory of {model}@{tag} is lost"))
        .hint(format!("`millpond retire {model} {tag}` and load it again"))
}
