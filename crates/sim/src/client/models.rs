//! A client loads versions, attaches to them, swaps and retires them.

use std::rc::Rc;

use millpond_wire::message::{
    PartSpec, Rename, RequestBody, VersionCommit, VersionGet, VersionGrant, VersionStage,
};
use millpond_wire::{
    Audience, ContentHash, LeaseId, LeaseTarget, Mode, TensorName, Token, VersionId, VersionTag,
    VersionTarget,
};

use super::script::Scene;
use super::{Client, Mapping, What};
use crate::card::{Fd, Memory};
use crate::oracle::{Oracle, Violation, ensure};
use crate::versions::OTHER_MODEL;

const MIB: u64 = 1 << 20;

impl Client {
    /// Does one thing with models.
    ///
    /// # Errors
    /// If it sees what it must not.
    pub fn act_on_models(&mut self, scene: &mut Scene<'_>) -> Result<(), Violation> {
        if scene.rng.once_in(2) && self.commit(scene)? {
            return Ok(());
        }
        match scene.rng.below(16) {
            0..=4 => self.stage(scene),
            5..=8 => self.attach(scene),
            9..=10 => self.own(scene),
            11..=14 => self.swap(scene),
            _ if scene.rng.once_in(3) => self.rename_model(scene),
            _ => self.retire_version(scene),
        }
        Ok(())
    }

    fn stage(&mut self, scene: &mut Scene<'_>) {
        let rng = &mut *scene.rng;
        let name = ["m", "m", "n", "public/m"];
        let name = rng.pick(&name).copied().unwrap_or("m");
        let Ok(model) = TensorName::new(name) else { return };
        let number = scene.oracle.versions.len();
        let tag = if rng.once_in(4) { None } else { VersionTag::new(format!("t{number}")).ok() };
        let audience = if rng.once_in(3) { Audience::Everybody } else { Audience::User };
        let count = 1 + rng.below(2);
        let mut parts: Vec<PartSpec> = (0..count)
            .map(|_| PartSpec { bytes: (2 + 2 * rng.below(3)) * MIB, shared: None })
            .collect();
        let mine = |it: &&crate::versions::KnownVersion| {
            it.ready && it.user == self.user && !it.parts.is_empty()
        };
        let ready: Vec<_> = scene.oracle.versions.iter().filter(mine).collect();
        if rng.once_in(2)
            && let Some(like) = rng.pick(&ready)
        {
            let shared = &scene.oracle.tensors[like.parts[0]];
            parts.insert(0, PartSpec { bytes: shared.bytes, shared: Some(shared.id) });
        }
        let lease = self.new_lease();
        let version = VersionStage {
            version: VersionId(rng.id()),
            model,
            tag,
            device: None,
            audience,
            parts,
            lease: Some(lease),
        };
        scene.trace.say(|| format!("  stage {version:?}"));
        scene.oracle.asked_version(self.pid, self.user, &version);
        self.ask(RequestBody::VersionStage(version), What::Stage, Some(lease));
    }

    /// Writes everything, waits for the card, commits; false if there is nothing to commit.
    fn commit(&mut self, scene: &mut Scene<'_>) -> Result<bool, Violation> {
        let whole = |mapping: &Mapping| {
            let Some(version) = mapping.version.map(|at| &scene.oracle.versions[at]) else {
                return false;
            };
            let has = |part: &usize| mapping.ranges.iter().any(|(tensor, _)| tensor == part);
            mapping.mode == Mode::ReadWrite
                && !version.commit_asked
                && !version.replacing
                && version.creator == self.pid
                && version.parts.iter().all(has)
        };
        let leases: Vec<LeaseId> =
            self.mappings.iter().filter(|(_, it)| whole(it)).map(|(id, _)| *id).collect();
        let Some(&lease) = scene.rng.pick(&leases) else { return Ok(false) };
        self.queue_kernel_of(lease);
        self.synchronise(lease, scene.oracle)?;
        let Some(version) = self.mappings.get(&lease).and_then(|it| it.version) else {
            return Ok(false);
        };
        let activate = scene.rng.once_in(2);
        scene.oracle.versions[version].commit_asked = true;
        if activate {
            scene.oracle.will_flip(version, Some(version));
        }
        let id = scene.oracle.versions[version].id;
        scene.trace.say(|| format!("  commit {id} activate {activate}"));
        let commit = VersionCommit {
            version: id,
            token: Token(scene.rng.id()),
            layout: ContentHash([1; 16]),
            content: ContentHash([2; 16]),
            tensors: 1,
            bytes: 1,
            activate,
            unless_current: scene.rng.once_in(2),
            source: "sim".to_owned(),
        };
        let (body, file) = (RequestBody::VersionCommit(commit), Fd::Contents(version));
        self.ask_with(body, What::Commit(version), None, Some(file));
        Ok(true)
    }

    fn attach(&mut self, scene: &mut Scene<'_>) {
        let rng = &mut *scene.rng;
        let lease = self.new_lease();
        let known = scene.oracle.versions.len();
        let recent = known.saturating_sub(1 + rng.index(known.min(5)));
        let target = match scene.oracle.versions.get(recent) {
            Some(known) if !rng.once_in(2) => VersionTarget::Id(known.id),
            _ => {
                let name = rng.pick(&["m", "n", "public/m"]).copied().unwrap_or("m");
                let Ok(name) = name.parse() else { return };
                VersionTarget::Name(name)
            }
        };
        let wait_ms = if rng.once_in(3) { 1 + rng.below(1000) } else { 0 };
        scene.trace.say(|| format!("  attach {target} lease {lease} wait {wait_ms}"));
        let get = VersionGet { target, lease, mode: Mode::ReadOnly, wait_ms };
        self.ask(RequestBody::VersionGet(get), What::Attach, Some(lease));
    }

    /// A shared slab is to become the version's own.
    fn own(&mut self, scene: &mut Scene<'_>) {
        let versions = scene.oracle.versions.iter().enumerate();
        let staged = versions.filter(|(_, it)| {
            it.creator == self.pid && it.staged && !it.commit_asked && !it.replacing
        });
        let staged: Vec<usize> = staged.map(|(at, _)| at).collect();
        let Some(&version) = scene.rng.pick(&staged) else { return };
        let known = &mut scene.oracle.versions[version];
        known.replacing = true;
        let id = known.id;
        scene.trace.say(|| format!("  own the first slab of {id}"));
        let body = RequestBody::VersionPart { version: id, index: 0 };
        self.ask(body, What::Own(version), None);
    }

    /// Another lease on a staged version, to see its slabs as they are now.
    pub(super) fn attach_again(&mut self, version: usize, oracle: &Oracle) {
        let lease = self.new_lease();
        let target = VersionTarget::Id(oracle.versions[version].id);
        let get = VersionGet { target, lease, mode: Mode::ReadWrite, wait_ms: 0 };
        self.ask(RequestBody::VersionGet(get), What::Attach, Some(lease));
    }

    fn swap(&mut self, scene: &mut Scene<'_>) {
        let versions = scene.oracle.versions.iter().enumerate();
        let unready = scene.rng.once_in(6);
        let mine = versions.filter(|(_, it)| it.user == self.user && (it.ready || unready));
        let mine: Vec<usize> = mine.map(|(at, _)| at).collect();
        let Some(&version) = scene.rng.pick(&mine) else { return };
        let known = &scene.oracle.versions[version];
        let (model, tag) = (known.model.clone(), known.tag.clone());
        let rollback = tag.is_none() || scene.rng.once_in(3);
        scene.oracle.will_flip(version, (!rollback).then_some(version));
        let tag = tag.filter(|_| !rollback);
        let token = Token(scene.rng.id());
        scene.trace.say(|| format!("  swap {model} to {tag:?}, {token}"));
        self.ask(RequestBody::ModelSwap { model: model.into(), tag, token }, What::Swap, None);
    }

    /// Another name for the model of a version of one's own.
    fn rename_model(&mut self, scene: &mut Scene<'_>) {
        let known = scene.oracle.versions.len();
        let version = known.saturating_sub(1 + scene.rng.index(known.min(6)));
        let Some(known) = scene.oracle.versions.get(version) else { return };
        let Ok(name) = TensorName::new(OTHER_MODEL) else { return };
        if known.user != self.user {
            return;
        }
        let (object, token) = (LeaseTarget::Version(known.id), Token(scene.rng.id()));
        scene.trace.say(|| format!("  rename the model of {object} to {name}"));
        let rename = Rename { object, name, token };
        self.ask(RequestBody::Rename(rename), What::RenameModel(version), None);
    }

    fn retire_version(&mut self, scene: &mut Scene<'_>) {
        let known = scene.oracle.versions.len();
        let version = known.saturating_sub(1 + scene.rng.index(known.min(6)));
        let Some(known) = scene.oracle.versions.get_mut(version) else { return };
        known.may_be_gone |= known.user == self.user;
        let id = known.id;
        scene.trace.say(|| format!("  retire {id}"));
        self.ask(RequestBody::VersionRetire(VersionTarget::Id(id)), What::Other, None);
    }

    /// A lease on a version was granted.
    pub(super) fn attached(
        &mut self,
        grant: &VersionGrant,
        asked: Option<LeaseId>,
        fds: Vec<Fd>,
        oracle: &mut Oracle,
    ) -> Result<(), Violation> {
        let fits = grant.lease.map(|(lease, _, _)| lease) == asked;
        ensure(fits, "the lease that was asked for", || format!("{grant:?}, not {asked:?}"))?;
        let Some(version) = oracle.version_at(grant.info.version) else { return Ok(()) };
        let Some((lease, mode, _)) = grant.lease else { return Ok(()) };
        let slabs = fds.into_iter().skip(usize::from(grant.manifest));
        let memories: Vec<Rc<Memory>> = slabs
            .filter_map(|fd| match fd {
                Fd::Memory(memory) => Some(memory),
                _ => None,
            })
            .collect();
        let all = memories.len() == grant.parts.len();
        ensure(all, "a lease comes with its slabs", || format!("{grant:?}"))?;
        let known = &mut oracle.versions[version];
        known.staged = true;
        if mode == Mode::ReadWrite && known.creator == self.pid {
            known.replacing = false;
        }
        let tensors = grant.parts.iter().filter_map(|part| oracle.index.get(&part.tensor));
        let ranges: Vec<_> = tensors.copied().zip(memories).collect();
        if !ranges.is_empty() {
            let (ready, version) = (mode == Mode::ReadOnly, Some(version));
            let mapping = Mapping { mode, ranges, written: false, ready, version };
            self.mappings.insert(lease, mapping);
        }
        Ok(())
    }
}
