//! What a stage wants: whether the version may have that name, that tag and those slabs.

use std::collections::BTreeSet;

use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{PartSpec, VersionStage, VersionState};
use millpond_wire::{ClientId, ErrorKind, Failure, TensorId, VersionTag, caps};

use super::Version;
use super::making::Making;
use crate::policy::catalog::NameKey;
use crate::policy::owner::{Caller, Door, Owner};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::slabs::{GRANULARITY, SlabClass};

/// Versions that are named when a GPU is full.
const NAMED: usize = 8;

impl<P: Ports> Pond<P> {
    /// The tag that a new version of a model gets.
    pub(super) fn free_tag(
        &self,
        model: &NameKey,
        owner: &Owner,
        wanted: Option<VersionTag>,
    ) -> Result<VersionTag, Failure> {
        let name = &model.name;
        let making = || {
            let stages = self.models.making.values();
            stages.filter_map(|making| {
                let stage = making.stage.as_ref()?;
                let same = NameKey::new(&making.class.owner, &stage.model) == *model;
                same.then_some((making, stage.tag.as_ref()?))
            })
        };
        let known = self.models.models.get(model);
        let of_another = known.is_some_and(|model| model.owner.user != owner.user)
            || making().any(|(making, _)| making.class.owner.user != owner.user);
        if of_another {
            let message = format!("model '{name}' belongs to another user");
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("choose another name, or one in your own scope"));
        }
        let Some(tag) = wanted else {
            let versions = known.into_iter().flat_map(|model| &model.versions);
            let tags = versions.filter_map(|id| self.models.versions.get(id)).map(|it| &it.tag);
            let all = tags.chain(making().map(|(_, tag)| tag));
            let numbers = all.filter_map(|tag| tag.as_str().strip_prefix('v')?.parse::<u32>().ok());
            return Ok(VersionTag::numbered(u64::from(numbers.max().unwrap_or(0)) + 1));
        };
        let pid =
            |client: ClientId| self.clients.get(client).and_then(|client| client.process.number());
        let taken = known.and_then(|model| self.models.tagged(model, &tag));
        let state = match taken.and_then(|id| self.models.versions.get(&id)) {
            Some(version) if version.state == VersionState::Staging => Err(pid(version.creator)),
            Some(version) => Ok(version.state),
            None => match making().find(|(_, other)| **other == tag) {
                Some((making, _)) => Err(pid(making.client)),
                None => return Ok(tag),
            },
        };
        let message = match state {
            Err(Some(pid)) => format!("{name}@{tag} is being staged by pid {pid}"),
            Err(None) => format!("{name}@{tag} is being staged"),
            Ok(state) => format!("{name}@{tag} already exists and is {}", state.name()),
        };
        Err(Failure::new(ErrorKind::Exists, message).hint(format!(
            "`millpond retire {name} {tag}` gives it up; or choose another `--version`"
        )))
    }

    /// Checks the slabs that are wanted; returns those that are to be made, by place.
    pub(super) fn check_parts(
        &self,
        stage: &mut VersionStage,
        class: &SlabClass,
    ) -> Result<Vec<(usize, u64)>, Failure> {
        let invalid = |message: String| Err(Failure::new(ErrorKind::Invalid, message));
        if !(1..=caps::PARTS).contains(&stage.parts.len()) {
            let count = stage.parts.len();
            return invalid(format!("a version has 1 to {} slabs, not {count}", caps::PARTS));
        }
        let mut wanted = Vec::new();
        let mut sum: u64 = 0;
        let mut seen = BTreeSet::new();
        for (place, part) in stage.parts.iter_mut().enumerate() {
            let bytes = part.bytes.checked_next_multiple_of(GRANULARITY);
            let Some(bytes) = bytes.filter(|bytes| (1..=caps::TENSOR_ELEMENTS).contains(bytes))
            else {
                return invalid(format!("slab {place} cannot have {} bytes", part.bytes));
            };
            part.bytes = bytes;
            match part.shared {
                None => {
                    // No overflow: at most PARTS of them, each far below.
                    sum += bytes;
                    wanted.push((place, bytes));
                }
                Some(id) if !seen.insert(id) => {
                    return invalid(format!("slab {place} is already in the version"));
                }
                Some(id) => self.may_share(place, id, part, class)?,
            }
        }
        if sum > caps::TENSOR_ELEMENTS {
            return invalid(format!("{sum} bytes are more than any GPU has"));
        }
        Ok(wanted)
    }

    fn may_share(
        &self,
        place: usize,
        id: TensorId,
        spec: &PartSpec,
        class: &SlabClass,
    ) -> Result<(), Failure> {
        let invalid = |why: String| {
            let message = format!("slab {place} cannot be shared: {why}");
            Err(Failure::new(ErrorKind::Invalid, message).hint("load it instead"))
        };
        let found = self.catalog.get(id).filter(|it| it.is_part() && !it.is_deleted());
        let found = found.and_then(|tensor| Some((tensor, self.slabs.get(tensor.slab)?)));
        // What another user has is not told.
        let Some((tensor, slab)) = found.filter(|(_, slab)| slab.class.owner == class.owner) else {
            return invalid(format!("none of your versions has {id}"));
        };
        if self.models.with_part(id).next().is_none() {
            return invalid(format!("no version has {id} any longer"));
        }
        if slab.is_lost() {
            return invalid("its memory is lost".to_owned());
        }
        if slab.class.device != class.device {
            return invalid(format!("it lies on {}", slab.class.device));
        }
        if slab.class.audience != class.audience {
            let audience = slab.class.audience;
            return invalid(format!("it is shared with {audience}, not {}", class.audience));
        }
        if tensor.bytes != spec.bytes {
            return invalid(format!("it has {} bytes, not {}", tensor.bytes, spec.bytes));
        }
        Ok(())
    }

    /// Says which models hold a GPU that is full.
    pub(super) fn with_models(&self, failure: Failure, making: &Making) -> Failure {
        if failure.kind != ErrorKind::GpuFull {
            return failure;
        }
        let owner = &making.class.owner;
        let caller = self.clients.get(making.client).map(|client| client.caller.clone());
        let caller = caller.unwrap_or_else(|| Caller {
            owner: owner.clone(),
            groups: [].into(),
            door: Door::Users,
        });
        let on = |version: &&Version<P::Fd>| version.device == making.class.device;
        let versions = self.models.versions.values().filter(on);
        let seen = versions.filter(|version| caller.may_use(&version.owner, version.audience));
        let mut largest: Vec<(u64, String)> =
            seen.map(|version| (self.slab_bytes_of(version), version.label())).collect();
        if largest.is_empty() {
            return failure;
        }
        largest.sort_by(|a, b| b.cmp(a));
        largest.truncate(NAMED);
        let named: Vec<String> = largest
            .into_iter()
            .map(|(bytes, label)| format!("{label} {}", format_bytes(bytes)))
            .collect();
        let hint = failure.hint.clone().unwrap_or_default();
        let models = format!("models here: {}; `millpond retire` gives one back", named.join(", "));
        failure.hint(format!("{models}; {hint}"))
    }
}
