//! A version that begins, to be written by this process.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{
    MoveWork, PartInfo, PartSpec, RequestBody, VersionInfo, VersionStage,
};
use millpond_wire::{
    Audience, Dtype, ErrorKind, GpuUuid, LeaseId, Mode, TensorId, VersionId, VersionTag,
    VersionTarget, model_name,
};

use super::attach::without_manifest;
use super::attachment::{self, Attachment};
use super::granted::{self, Granted};
use super::staged::StagedTensor;
use super::template::{self, Origin};
use super::version::label;
use super::{Arena, IntoVersion, Unfinished};
use crate::cuda_side::CudaSide;
use crate::lease_guard::LeaseGuard;
use crate::link::{Ask, Link};
use crate::slab_map::DeviceSide;
use crate::transfer::moves;
use crate::{Error, Pond, Result};

const WHAT: &str = "a version's beginning";
const PART: &str = "a slab of its own";

/// A version to be made.
///
/// ```
/// use millpond::{Dtype, StageSpec};
///
/// // The next version, of which only what is written differs from another one.
/// let next = StageSpec::new("llama").tag("v3").like("llama@v2");
/// // A version from nothing.
/// let first = StageSpec::new("tiny").tensors([("lm_head".into(), Dtype::F32, vec![8, 8])]);
/// # drop((next, first));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct StageSpec {
    model: String,
    tag: Option<String>,
    device: Option<GpuUuid>,
    audience: Option<Audience>,
    origin: Origin,
    ties: Vec<(String, String)>,
    slab_bytes: u64,
    source: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
}

impl StageSpec {
    /// A version of this model, which need not exist yet. All of it is checked when it is staged.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            tag: None,
            device: None,
            audience: None,
            origin: Origin::Nothing,
            ties: Vec::new(),
            slab_bytes: template::SLAB_BYTES,
            source: None,
            metadata: None,
        }
    }

    /// Its tag; the next number unless said.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// On which GPU; where the version is that it is like, or else the pond's first one.
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.device = Some(device);
        self
    }

    /// With whom it is shared; as the version that it is like, or else with one's own user only.
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = Some(audience);
        self
    }

    /// It has the tensors and the bytes of another version, and shares its slabs as long as nothing
    /// is written to them.
    pub fn like(mut self, version: impl IntoVersion) -> Self {
        self.origin = Origin::Like(version.into_version());
        self
    }

    /// It has these tensors, by name, dtype and shape; each is to be written.
    pub fn tensors(mut self, tensors: impl IntoIterator<Item = (String, Dtype, Vec<u64>)>) -> Self {
        self.origin = Origin::Tensors(tensors.into_iter().collect());
        self
    }

    /// A further name of one of these tensors, as with tied weights: it has no bytes of its own, and
    /// what is written under one name is read under the other. A version that is like this one has
    /// the same ties.
    pub fn tied(mut self, name: impl Into<String>, to: impl Into<String>) -> Self {
        self.ties.push((name.into(), to.into()));
        self
    }

    /// How large a slab of a version with new tensors gets, unless one tensor is larger; 2 GiB
    /// unless said. A slab is what versions share, and what costs time to map.
    pub fn slab_bytes(mut self, bytes: u64) -> Self {
        self.slab_bytes = bytes;
        self
    }

    /// Where its bytes come from, for people.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What it says about itself; as the version that it is like unless said.
    pub fn metadata(mut self, metadata: BTreeMap<String, String>) -> Self {
        self.metadata = Some(metadata);
        self
    }
}

/// A version that this process writes. Nobody else sees it before [`Staging::commit`]; dropped
/// without that, nothing is left of it.
pub struct Staging {
    /// Given up before its lease ends.
    pub(super) unfinished: Unfinished,
    pub(super) attachment: Arc<Attachment>,
    pub(super) info: VersionInfo,
    lease: LeaseId,
    pub(super) parts: Vec<PartInfo>,
    pub(super) slots: Vec<Slot>,
    /// What it will be; hashes of what is written are not right yet.
    pub(super) manifest: Manifest,
    /// Kept until the end: slabs are copied from it.
    like: Option<Like>,
}

/// How far a slab is on its way from another version's to one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The other version's.
    Shared,
    /// Its own, but without the bytes, or not mapped.
    Empty,
    /// Its own, and mapped.
    Own,
}

/// The version that another one is like, leased.
struct Like {
    _lease: LeaseGuard,
    parts: Vec<PartInfo>,
}

impl Pond {
    /// Begins a version of a model and maps what is its own, read-write.
    ///
    /// # Errors
    /// `exists` if the tag is taken, `not_found`, `gpu_full`, and what else the pond or the driver
    /// answers.
    pub fn stage(&self, spec: StageSpec) -> Result<Staging> {
        let StageSpec { model, tag, device, audience, origin, ties, slab_bytes, source, metadata } =
            spec;
        let model = model_name(&model)?;
        let tag = tag.map(VersionTag::new).transpose()?;
        let core = self.core();
        core.cuda.prepare(device)?;
        let (mut manifest, like, from) = match origin {
            Origin::Like(_) if !ties.is_empty() => return Err(template::ties_of_another()),
            Origin::Like(target) => {
                let (manifest, like, info) = self.stage_like(target?)?;
                (manifest, Some(like), Some(info))
            }
            Origin::Tensors(tensors) => {
                (template::laid_out(&tensors, &ties, slab_bytes)?, None, None)
            }
            Origin::Nothing => return Err(template::of_nothing(model.as_str())),
        };
        let said = from.as_ref().map(|from| format!("staged like {}", label(from)));
        manifest.source = source.or(said).unwrap_or_else(|| "staged".to_owned());
        manifest.metadata = metadata.unwrap_or(manifest.metadata);
        let shared = like.iter().flat_map(|like| like.parts.iter().map(|part| Some(part.tensor)));
        let shared = shared.chain(std::iter::repeat(None));
        let slabs = manifest.slabs.iter().zip(shared);
        let parts = slabs.map(|(slab, shared)| PartSpec { bytes: slab.bytes, shared }).collect();
        let (version, lease) = (VersionId::random(), core.link.new_lease());
        let audience = audience.or(from.as_ref().map(|from| from.audience));
        let body = RequestBody::VersionStage(VersionStage {
            version,
            model,
            tag,
            device: device.or(from.map(|from| from.device)),
            audience: audience.unwrap_or(Audience::User),
            parts,
            lease: Some(lease),
        });
        let deadline = self.deadline(Duration::ZERO);
        let ask = Ask { what: WHAT, body, lease: Some(lease), deadline, waits_until: None };
        let mut unfinished = Unfinished::new(&core.link, version);
        let answer = core.link.call(ask, None).map_err(|error| unfinished.not_begun(error))?;
        let granted = granted::with_lease(WHAT, answer, lease, Mode::ReadWrite);
        let begin = move |granted| self.begin(granted, lease, manifest, like, unfinished);
        // If it fails nobody could ever use it: it is given up by then.
        granted.and_then(begin).inspect_err(|_| core.link.give_back(lease))
    }

    fn stage_like(&self, target: VersionTarget) -> Result<(Manifest, Like, VersionInfo)> {
        let (lease, granted) = self.ask_version(target, Mode::ReadOnly, Duration::ZERO)?;
        let lease = LeaseGuard::keep(&self.core().link, lease)?;
        let Granted { info, parts, manifest, .. } = granted;
        let like = Like { _lease: lease, parts };
        let manifest = manifest.ok_or_else(|| without_manifest(&info))?;
        let manifest = manifest.to_manifest().map_err(|error| {
            let message = format!("version '{}': {error}", label(&info));
            Error::version(ErrorKind::Invalid, message, None)
        })?;
        Ok((manifest, like, info))
    }

    fn begin(
        &self,
        granted: Granted,
        lease: LeaseId,
        manifest: Manifest,
        like: Option<Like>,
        unfinished: Unfinished,
    ) -> Result<Staging> {
        let Granted { info, parts, lost, mut slabs, .. } = granted;
        let sizes = parts.iter().map(|part| part.bytes);
        if !sizes.clone().eq(manifest.slabs.iter().map(|slab| slab.bytes)) {
            return Err(Error::Protocol(format!(
                "'{}' has other slabs than requested",
                label(&info)
            )));
        }
        let (arena, slot) = match &like {
            Some(_) => {
                let list = self.core().list_for(info.device)?;
                (Arena::reserve(&*self.core().cuda, &list, sizes)?, Slot::Shared)
            }
            None => {
                let mode = Mode::ReadWrite;
                (attachment::map(self, info.device, &parts, &mut slabs, mode)?, Slot::Own)
            }
        };
        let attachment = Arc::new(Attachment::new(self, &info, arena, lease, lost));
        let slots = vec![slot; parts.len()];
        Ok(Staging { unfinished, attachment, info, lease, parts, slots, manifest, like })
    }
}

impl Staging {
    /// Its identity.
    #[must_use]
    pub fn version(&self) -> VersionId {
        self.info.version
    }

    /// Its tag.
    #[must_use]
    pub fn tag(&self) -> &VersionTag {
        &self.info.tag
    }

    /// The version, as it was when it was begun.
    #[must_use]
    pub fn info(&self) -> &VersionInfo {
        &self.info
    }

    /// The names of its tensors, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.manifest.tensors.iter().map(|tensor| tensor.name.as_str()).collect()
    }

    /// A tensor, to be written. The first one of a slab that was shared makes the slab this
    /// version's own, with the bytes that were there.
    ///
    /// # Errors
    /// `not_found`; `gpu_full` where the slab does not fit; what else the pond or the driver
    /// answers.
    pub fn tensor_mut(&mut self, name: &str) -> Result<StagedTensor> {
        self.attachment.own()?;
        let tensors = &self.manifest.tensors;
        let found = tensors.binary_search_by(|tensor| tensor.name.as_bytes().cmp(name.as_bytes()));
        let Ok(found) = found else {
            let (label, name) = (label(&self.info), name.escape_debug());
            let message = format!("version '{label}' has no tensor '{name}'");
            return Err(Error::version(ErrorKind::NotFound, message, None));
        };
        let tensor = tensors[found].clone();
        self.make_own(tensor.slab)?;
        let start = self.manifest.slabs[tensor.slab].arena_offset;
        Ok(StagedTensor::new(&self.attachment, start, tensor))
    }

    fn make_own(&mut self, slab: usize) -> Result<()> {
        if self.slots[slab] == Slot::Own {
            return Ok(());
        }
        let pond = self.attachment.pond().clone();
        let core = pond.core();
        let fd = self.take_slab(&core.link, slab)?;
        let (to, bytes) = (self.parts[slab].tensor, self.parts[slab].bytes);
        if let Some(like) = &self.like {
            let from = like.parts[slab].tensor;
            let work = move |offset| MoveWork::Copy { from, from_offset: offset };
            moves::all(&core.link, moves::cut(to, bytes, work), None, bytes, &mut |_| {})?;
        }
        let mut held = self.attachment.write();
        if let Some(arena) = &mut held.arena {
            let fill = |arena: &mut Arena<CudaSide>| {
                arena.fill(&core.cuda, slab, to, fd.as_fd(), Mode::ReadWrite)
            };
            core.cuda.undisturbing(|| fill(arena))?;
        }
        drop(held);
        self.slots[slab] = Slot::Own;
        Ok(())
    }

    /// The descriptor of a slab that is this version's own from now on.
    fn take_slab(&mut self, link: &Arc<Link>, slab: usize) -> Result<OwnedFd> {
        let (version, index) = (self.version(), u32::try_from(slab).unwrap_or(u32::MAX));
        let body = match self.slots[slab] {
            Slot::Shared => RequestBody::VersionPart { version, index },
            // An earlier attempt came to here.
            Slot::Empty | Slot::Own => {
                RequestBody::VersionSlabs { version, lease: self.lease, first: index, count: 1 }
            }
        };
        let fds = granted::more(link.ask(PART, body)?, index)?;
        let parts = self.attachment.pond().version(version)?.parts;
        let before = self.parts[slab];
        let shared: Option<TensorId> = self.like.as_ref().map(|like| like.parts[slab].tensor);
        match parts.get(slab) {
            Some(part) if part.bytes == before.bytes && Some(part.tensor) != shared => {
                self.parts[slab] = *part;
                self.slots[slab] = Slot::Empty;
            }
            _ => return Err(crate::answer::not_an_answer(PART)),
        }
        fds.into_iter().next().ok_or_else(|| crate::answer::not_an_answer(PART))
    }
}

impl fmt::Debug for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Staging")
            .field("version", &label(&self.info))
            .field("attachment", &self.attachment)
            .finish_non_exhaustive()
    }
}
