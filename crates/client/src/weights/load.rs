//! From files to a version.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use millpond_weights::pieces::{DEFAULT_BATCH_BYTES, PieceBatch, batches};
use millpond_weights::{Checkpoint, DEFAULT_SLAB_BYTES, Layout, PlannedTensor, TensorHashes};
use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartSpec, VersionStage};
use millpond_wire::{
    Audience, ErrorKind, Failure, GpuUuid, PiecesKind, TensorId, TensorName, VersionId, caps,
    model_name,
};

use super::calls::Staged;
use super::files::{Files, move_batch, unreadable};
use super::hold::LeasedVersion;
use super::hub::{self, Located};
use super::like::Compare;
use super::stop::{GoOn, Stop};
use super::teller::Teller;
use super::ties::Ties;
use super::{Like, LoadPhase, LoadProgress, LoadSpec, Loaded, Unshared, UnsharedWhy};
use crate::expected::expect_moves;
use crate::link::Link;
use crate::model::{Activate, template};
use crate::transfer::lanes;
use crate::{Error, IntoVersion, Pond, Result};

impl Pond {
    /// Loads a checkpoint as a new version of a model. Everything about the files is checked before
    /// any memory is taken, nobody gets the version before all of its bytes are there, and whatever
    /// ends the load before leaves nothing; so does a `progress` that answers
    /// [`Break`](std::ops::ControlFlow::Break). A model's first version becomes its current one.
    ///
    /// Without a device it goes to the GPU of the version that it is [`like`](LoadSpec::like), or
    /// else to the pond's first one.
    ///
    /// # Errors
    /// `file` for a checkpoint that cannot be read, is not one, or changes meanwhile; `invalid` for
    /// a plan that does not fit it; `exists` if the version is there; `gpu_full` with what is free
    /// and who holds the rest; what else the pond answers.
    pub fn load<A: GoOn>(
        &self,
        spec: LoadSpec,
        mut progress: impl FnMut(LoadProgress) -> A,
    ) -> Result<Loaded> {
        let begun = Instant::now();
        let took = |what: &str| tracing::debug!(elapsed = ?begun.elapsed(), "{what}");
        let stop = Stop::default();
        let mut tell = |so| stop.heard(progress(so));
        let mut told = Teller::new(&mut tell);
        told.begin(LoadPhase::Checking, 0);
        let model = model_name(&spec.model).map_err(|error| invalid(error.to_string()))?;
        let located = hub::locate_all(&spec.paths)?;
        let mut found = self.neighbours(&spec, &model)?;
        let activate = activate(&spec, &found);
        let device = spec.device.or(found.like.as_ref().map(|like| like.info.device));
        let link = &self.core().link;
        // A mover takes longer to start than headers take to be read.
        expect_moves(link, device, &model)?;
        took("a mover is asked for");

        let opened = Opened::new(&located, &spec, &mut told, &stop)?;
        took("the files are checked");
        let audience = if model.is_public() { Audience::Everybody } else { spec.audience };
        let ties = opened.ties;
        let (layout, unshared) = match &mut found.like {
            Some(like) => fitting(opened.layout, &ties, &spec, like, device, audience),
            None => (opened.layout, None),
        };
        let twin = found.like.filter(|_| unshared.is_none());
        let mut load = Load {
            link,
            files: &opened.files,
            planned: &opened.planned,
            hashes: TensorHashes::new(&layout),
            layout: &layout,
            stop: &stop,
            bytes_read: ties.bytes_read,
        };
        let mut shared = load.compare(twin.as_ref(), &mut told)?;
        let stage = |parts| VersionStage {
            version: VersionId::random(),
            model: model.clone(),
            tag: spec.tag.clone(),
            device,
            audience,
            parts,
            lease: None,
        };
        let mut staged = load.stage(&mut shared, stage)?;
        took("the slabs are there");
        let bytes_shared = shared_bytes(&layout, &shared);
        let filled = load.fill(&staged, &shared, &mut told);
        took("the bytes are there");
        let manifest = filled
            .and_then(|()| opened.checkpoint.check_unchanged().map_err(unreadable))
            .and_then(|()| load.manifest(&ties));
        let manifest = match manifest {
            Ok(manifest) => Manifest {
                metadata: opened.checkpoint.metadata,
                source: source(&located),
                ..manifest
            },
            Err(error) => return Err(staged.failed(error)),
        };
        let bytes_read = load.bytes_read;
        let info = staged.commit(&manifest, activate)?;
        took("it is committed");
        let (elapsed, cold) = (begun.elapsed(), opened.files.is_cold());
        let Ties { names: tied, bytes: bytes_tied, .. } = ties;
        Ok(Loaded { info, bytes_read, bytes_shared, tied, bytes_tied, elapsed, cold, unshared })
    }

    /// The version that equal slabs are shared with, and whether the model has a current one.
    fn neighbours(&self, spec: &LoadSpec, model: &TensorName) -> Result<Neighbours> {
        let (has_current, current) =
            match LeasedVersion::take(self, spec.model.as_str().into_version()?) {
                // A daemon from before bare names were one's own finds the one under `public/`.
                Ok(found) if found.info.model != *model => (false, None),
                Ok(found) => (true, Some(found)),
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotReady => (false, None),
                    // What is loaded now may be what replaces it.
                    ErrorKind::Lost => (true, None),
                    _ => return Err(error),
                },
            };
        let like = match &spec.like {
            Like::Current => current,
            Like::Version(tag) => {
                let named = format!("{}@{tag}", spec.model);
                Some(LeasedVersion::take(self, named.as_str().into_version()?)?)
            }
            Like::Nothing => None,
        };
        Ok(Neighbours { has_current, like })
    }
}

struct Neighbours {
    has_current: bool,
    like: Option<LeasedVersion>,
}

/// The layout with which slabs can be shared with the version that this one is like, or why none
/// can. Only memory of one GPU that is for the same people is shared.
fn fitting(
    layout: Layout,
    ties: &Ties,
    spec: &LoadSpec,
    like: &mut LeasedVersion,
    device: Option<GpuUuid>,
    audience: Audience,
) -> (Layout, Option<Unshared>) {
    let with = like.info.tag.clone();
    let unshared = |why| Some(Unshared { with, why });
    if Some(like.info.device) != device {
        return (layout, unshared(UnsharedWhy::Device));
    }
    if like.info.audience != audience {
        return (layout, unshared(UnsharedWhy::Audience));
    }
    let untied = like.is_tied_otherwise(&layout, &ties.names);
    let like_hash = like.strip(&layout);
    if like_hash == Some(layout.hash()) {
        return (layout, None);
    }
    let mut slabs: Vec<(u64, usize)> = like.parts.iter().map(|part| (part.bytes, 0)).collect();
    for tensor in &like.manifest.tensors {
        if let Some((_, tensors)) = slabs.get_mut(tensor.slab) {
            *tensors += 1;
        }
    }
    let other = like_hash.and_then(|hash| layout.in_slabs_like(&slabs, hash));
    match other {
        Some(other) if spec.slab_bytes.is_none() => (other, None),
        Some(_) => (layout, unshared(UnsharedWhy::SlabBytes)),
        None if untied => (layout, unshared(UnsharedWhy::Ties)),
        None => (layout, unshared(UnsharedWhy::Tensors)),
    }
}

/// What was to be shared cannot be, or not with everybody for whom this version is.
fn is_unshareable(kind: ErrorKind) -> bool {
    use ErrorKind::{Denied, Invalid, Lost, NotFound, Retired};
    matches!(kind, NotFound | Retired | Lost | Invalid | Denied)
}

/// A checkpoint that was read as far as its headers go, and where its tensors will lie.
struct Opened {
    checkpoint: Checkpoint,
    /// Without those that are further names of others.
    planned: Vec<PlannedTensor>,
    ties: Ties,
    layout: Layout,
    files: Files,
}

impl Opened {
    fn new(
        located: &[Located],
        spec: &LoadSpec,
        told: &mut Teller<'_>,
        stop: &Stop,
    ) -> Result<Self> {
        let paths: Vec<PathBuf> = located.iter().map(|it| it.path.clone()).collect();
        let checkpoint = Checkpoint::open(&paths).map_err(unreadable)?;
        let planned = spec.plan.apply(&checkpoint);
        let mut planned = planned.map_err(|error| invalid(error.to_string()))?;
        // It looks at the page cache, which comparing fills.
        let files = Files::open(&checkpoint, &planned)?;
        let ties = Ties::take(&checkpoint, &mut planned, told, stop)?;
        let described =
            planned.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape));
        let layout = Layout::new(described, spec.slab_bytes.unwrap_or(DEFAULT_SLAB_BYTES))
            .map_err(|error| invalid(error.to_string()))?;
        Ok(Self { checkpoint, planned, ties, layout, files })
    }
}

/// A load under way: the steps that move bytes.
struct Load<'a> {
    link: &'a Arc<Link>,
    files: &'a Files,
    planned: &'a [PlannedTensor],
    layout: &'a Layout,
    hashes: TensorHashes,
    stop: &'a Stop,
    bytes_read: u64,
}

impl Load<'_> {
    fn total(&self) -> u64 {
        self.layout.tensors.iter().map(|tensor| tensor.bytes).sum()
    }

    /// For each slab the part of `twin` that has the same bytes.
    fn compare(
        &mut self,
        twin: Option<&LeasedVersion>,
        told: &mut Teller<'_>,
    ) -> Result<Vec<Option<TensorId>>> {
        let Some(twin) = twin else { return Ok(vec![None; self.layout.slabs.len()]) };
        told.begin(LoadPhase::Hashing, self.total());
        let (link, files, planned, layout) = (self.link, self.files, self.planned, self.layout);
        let compare = Compare { link, files, planned, layout, twin, stop: self.stop };
        let bytes_read = &mut self.bytes_read;
        let shared = compare.run(&mut self.hashes, |bytes, was_read| {
            told.add(bytes);
            *bytes_read += if was_read { bytes } else { 0 };
        })?;
        self.stop.check()?;
        Ok(shared)
    }

    /// Has the pond make the slabs that are not shared. Where one cannot be shared after all, the
    /// version gets all of its slabs for itself.
    fn stage(
        &self,
        shared: &mut [Option<TensorId>],
        stage: impl Fn(Vec<PartSpec>) -> VersionStage,
    ) -> Result<Staged> {
        match Staged::begin(self.link, stage(parts(self.layout, shared))) {
            Err(error) if is_unshareable(error.kind()) && shared.iter().any(Option::is_some) => {
                shared.fill(None);
                Staged::begin(self.link, stage(parts(self.layout, shared)))
            }
            other => other,
        }
    }

    /// Moves the bytes of all slabs that are not shared.
    fn fill(
        &mut self,
        staged: &Staged,
        shared: &[Option<TensorId>],
        told: &mut Teller<'_>,
    ) -> Result<()> {
        let total = self.total() - shared_bytes(self.layout, shared);
        told.begin(LoadPhase::Loading, total);
        let own = |slab: usize| shared.get(slab).is_none_or(Option::is_none);
        let wanted: Vec<PieceBatch> = batches(self.planned, self.layout, DEFAULT_BATCH_BYTES)
            .filter(|batch| own(batch.slab))
            .collect();
        let lanes = lanes::lanes(wanted.len(), total);
        let (link, files, stop) = (self.link, self.files, self.stop);
        let (hashes, bytes_read) = (&mut self.hashes, &mut self.bytes_read);
        let work = |batch: PieceBatch| {
            let missing = || Error::Protocol("a slab of the version is missing".to_owned());
            let part = staged.parts.get(batch.slab).ok_or_else(missing)?.tensor;
            let hashed = move_batch(link, part, PiecesKind::Load, &batch, files)?;
            Ok((batch, hashed))
        };
        lanes::run(lanes, wanted.into_iter(), work, |(batch, hashed)| {
            for ((_, tensor, piece), hash) in batch.pieces.iter().zip(hashed) {
                hashes.set(*tensor, *piece, hash);
            }
            told.add(batch.bytes);
            *bytes_read += batch.bytes;
            stop.flow()
        })?;
        stop.check()
    }

    /// The manifest, once every byte has its hash.
    fn manifest(&self, ties: &Ties) -> Result<Manifest> {
        let hashes = self.hashes.finish(self.layout);
        let hashes = hashes.map_err(|missing| Error::Protocol(missing.to_string()))?;
        let mut manifest = self.layout.manifest(&hashes);
        if !ties.names.is_empty() {
            template::tie(&mut manifest, &ties.names)?;
            template::hash_slabs(&mut manifest, |_| true);
        }
        Ok(manifest)
    }
}

fn activate(spec: &LoadSpec, found: &Neighbours) -> Activate {
    match (spec.activate, found.has_current) {
        (true, _) => Activate::Yes,
        // Another load may be faster.
        (false, false) => Activate::IfFirst,
        (false, true) => Activate::No,
    }
}

fn parts(layout: &Layout, shared: &[Option<TensorId>]) -> Vec<PartSpec> {
    let parts = layout.slabs.iter().zip(shared);
    parts.map(|(bytes, shared)| PartSpec { bytes: *bytes, shared: *shared }).collect()
}

fn shared_bytes(layout: &Layout, shared: &[Option<TensorId>]) -> u64 {
    let is_shared = |slab: usize| shared.get(slab).is_some_and(Option::is_some);
    let tensors = layout.tensors.iter().filter(|tensor| is_shared(tensor.slab));
    tensors.map(|tensor| tensor.bytes).sum()
}

/// Where it came from, for people.
fn source(paths: &[Located]) -> String {
    let first = paths.first().map(|path| path.label.clone()).unwrap_or_default();
    let mut text = match paths.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    };
    while text.len() > caps::TEXT_BYTES {
        text.pop();
    }
    text
}

fn invalid(message: String) -> Error {
    Failure::new(ErrorKind::Invalid, message).into()
}
