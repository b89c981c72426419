//! What the observer knows about versions of models, and what must be true of them.

use std::collections::BTreeSet;

use millpond_keeper::channel::{HoldKey, KeyView};
use millpond_wire::message::{VersionGrant, VersionInfo, VersionStage, VersionState};
use millpond_wire::{Audience, SlabId, TensorName, TransportKind, VersionId, VersionTag};

use crate::card::Fd;
use crate::daemon::Daemon;
use crate::oracle::{Known, Oracle, Place, Violation, ensure};
use crate::settle::Books;
use crate::world::World;

/// Swaps of a model after which one that was current may be retired: the pond keeps one.
const FLIPS: usize = 3;

/// The name that models are renamed to; nothing is staged under it.
pub const OTHER_MODEL: &str = "o";

/// What is known of one version from requests and answers.
#[derive(Clone, Debug)]
pub struct KnownVersion {
    pub id: VersionId,
    pub user: u32,
    pub model: TensorName,
    pub tag: Option<VersionTag>,
    pub creator: u32,
    /// Its slabs, as the last answer had them.
    pub parts: Vec<usize>,
    /// Its stager was told that it exists.
    pub staged: bool,
    /// A slab of it may just be replaced.
    pub replacing: bool,
    /// A commit was to be sent.
    pub commit_asked: bool,
    /// It is complete, as an answer said.
    pub ready: bool,
    /// Its model has the other name, as an answer said.
    pub renamed: bool,
    /// It was, or will be, current.
    pub flipped: bool,
    /// Its owner has asked for its end, or for so many others that it may go.
    pub may_be_gone: bool,
    /// How often its model was to be flipped, as far as this one saw.
    flips: usize,
}

impl KnownVersion {
    fn is_of_model(&self, other: &KnownVersion) -> bool {
        self.model == other.model && (self.user == other.user || self.model.is_public())
    }
}

impl Oracle {
    /// A client will ask for this.
    pub fn asked_version(&mut self, creator: u32, user: u32, stage: &VersionStage) {
        self.versions.push(KnownVersion {
            id: stage.version,
            user,
            model: stage.model.clone(),
            tag: stage.tag.clone(),
            creator,
            parts: Vec::new(),
            staged: false,
            replacing: false,
            commit_asked: false,
            ready: false,
            renamed: false,
            flipped: false,
            may_be_gone: false,
            flips: 0,
        });
    }

    /// Where a version is in the list.
    #[must_use]
    pub fn version_at(&self, id: VersionId) -> Option<usize> {
        self.versions.iter().position(|version| version.id == id)
    }

    /// The current version of a model will change, to this one if it is known which.
    pub fn will_flip(&mut self, of: usize, to: Option<usize>) {
        if let Some(to) = to {
            self.versions[to].flipped = true;
        }
        let model = self.versions[of].clone();
        let mut flips = 0;
        for version in self.versions.iter_mut().filter(|it| it.is_of_model(&model)) {
            flips = flips.max(version.flips + 1);
            version.flips = flips;
        }
        for version in self.versions.iter_mut().filter(|it| it.is_of_model(&model)) {
            version.flips = flips;
            version.may_be_gone |= version.flipped && flips >= FLIPS;
        }
    }

    /// The slab of a version, as the observer counts tensors.
    fn part(&mut self, grant: &VersionGrant, at: usize) -> usize {
        let part = grant.parts[at];
        if let Some(known) = self.index.get(&part.tensor) {
            return *known;
        }
        let info = &grant.info;
        let public = info.model.is_public();
        self.tensors.push(Known {
            id: part.tensor,
            user: info.user,
            audience: if public { Audience::Everybody } else { info.audience },
            bytes: part.bytes,
            zero: false,
            ephemeral: false,
            named_later: false,
            creator: 0,
            name: None,
            place: None,
            part: true,
            created: false,
            published: false,
            may_be_gone: true,
            held: false,
            deleted: false,
            refusals: 0,
            sends: 0,
            renames: 0,
            renamed: None,
            transport: TransportKind::Vmm,
            adopted: false,
            wrong: false,
            home: None,
        });
        self.index.insert(part.tensor, self.tensors.len() - 1);
        self.tensors.len() - 1
    }
}

impl World {
    /// An answer about a version was sent: it must not contradict what was said before.
    pub(crate) fn version_answered(
        &mut self,
        grant: &VersionGrant,
        fds: &[Fd],
    ) -> Result<(), Violation> {
        let Some(version) = self.oracle.version_at(grant.info.version) else {
            return Err(Violation::new("a version nobody asked for", format!("{grant:?}")));
        };
        ensure(!grant.info.lost, "nothing is lost", || format!("{grant:?}"))?;
        let parts: Vec<usize> =
            (0..grant.parts.len()).map(|at| self.oracle.part(grant, at)).collect();
        let ready = grant.info.state == VersionState::Ready;
        for part in &parts {
            self.oracle.tensors[*part].published |= ready;
        }
        let known = &mut self.oracle.versions[version];
        known.ready |= ready;
        known.parts.clone_from(&parts);
        let slabs = fds.iter().skip(usize::from(grant.manifest));
        for (part, fd) in parts.into_iter().zip(slabs) {
            let Fd::Memory(memory) = fd else {
                return Err(Violation::new("a lease comes with its slabs", format!("{fd:?}")));
            };
            let Some(slab) = self.slab_of(memory.serial) else {
                return Err(Violation::new("what is handed out is held", format!("{grant:?}")));
            };
            let serial = *self.oracle.serials.entry(slab).or_insert(memory.serial);
            ensure(serial == memory.serial, "a slab is always the same memory", || {
                format!("{slab} was {serial} and is {}", memory.serial)
            })?;
            let bytes = self.oracle.tensors[part].bytes;
            if self.oracle.learn(part, Place { slab, offset: 0, bytes })? {
                self.check_place(part)?;
            }
        }
        Ok(())
    }

    fn slab_of(&self, serial: usize) -> Option<SlabId> {
        let Daemon::Running(running) = &self.daemon else { return None };
        running.ports.held.iter().find_map(|(key, fd)| match (key.view(), fd) {
            (KeyView::Slab(slab), Fd::Memory(memory)) if memory.serial == serial => Some(slab),
            _ => None,
        })
    }

    /// Every model has at most one current version, which is ready; what was promised is there.
    pub(crate) fn check_versions(&self, books: &Books) -> Result<(), Violation> {
        let mut listed = Vec::new();
        for model in &books.models {
            let detail = || format!("{model:?}");
            let current: Vec<_> = model.versions.iter().filter(|it| it.current).collect();
            let well = current.len() <= 1
                && current.iter().all(|version| version.state == VersionState::Ready);
            ensure(well, "what is current is ready", detail)?;
            let tags: BTreeSet<&VersionTag> = model.versions.iter().map(|it| &it.tag).collect();
            ensure(tags.len() == model.versions.len(), "a tag is taken once", detail)?;
            ensure(!model.versions.iter().any(|it| it.lost), "nothing is lost", detail)?;
            listed.extend(&model.versions);
        }
        for info in &listed {
            let kept = info.state != VersionState::Draining
                || info.readers > 0
                || self.faulted
                || self.sleeper_may_hold(info.user, info.version.0);
            ensure(kept, "memory goes with its last lease", || format!("{info:?}"))?;
        }
        for known in &self.oracle.versions {
            let creator = self.client_at(known.creator);
            let lives = creator.is_some_and(|it| it.alive && !it.is_closed());
            let info = listed.iter().find(|info| info.version == known.id);
            let state = info.map(|info| info.state);
            let detail = || format!("{known:?} is {info:?}");
            if known.ready && !known.may_be_gone {
                let there = state == Some(VersionState::Ready);
                ensure(there, "what was committed is there", detail)?;
            }
            if known.staged && lives && !known.may_be_gone {
                ensure(state.is_some(), "what was made is there", detail)?;
            }
            let named = |info: &&&VersionInfo| info.model.as_str() == OTHER_MODEL;
            let renamed = !known.renamed || info.is_none() || info.filter(named).is_some();
            ensure(renamed, "what was renamed has its new name", detail)?;
            let given_up = !lives && !known.commit_asked;
            let ended = info.is_none_or(|info| {
                info.state == VersionState::Draining
                    && self.sleeper_may_hold(info.user, info.version.0)
            });
            ensure(
                !given_up || ended || self.faulted,
                "what is staged ends with its stager",
                detail,
            )?;
        }
        Ok(())
    }

    /// Every byte of a version that is ready is what was written, for whoever comes now.
    pub(crate) fn check_version_bytes(&self, books: &Books) -> Result<(), Violation> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let versions = books.models.iter().flat_map(|model| &model.versions);
        for info in versions.filter(|info| info.state == VersionState::Ready) {
            let Some(version) = self.oracle.version_at(info.version) else { continue };
            for part in &self.oracle.versions[version].parts {
                let Some(place) = self.oracle.tensors[*part].place else { continue };
                let held = keeper.holds.get(&HoldKey::slab(place.slab));
                let Some(Fd::Memory(memory)) = held else {
                    return Err(Violation::new("nothing is lost", format!("{info:?}")));
                };
                self.oracle.read(*part, memory, true, "a new reader")?;
            }
        }
        Ok(())
    }
}
