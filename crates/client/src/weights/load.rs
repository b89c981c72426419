//! From files to a version.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use millpond_weights::pieces::{DEFAULT_BATCH_BYTES, PieceBatch, batches};
use millpond_weights::{
    Checkpoint, CheckpointError, DEFAULT_SLAB_BYTES, Layout, PlannedTensor, TensorHashes,
};
use millpond_wire::message::{PartSpec, VersionStage};
use millpond_wire::{
    Audience, ContentHash, ErrorKind, Failure, GpuUuid, PiecesKind, TensorId, TensorName,
    VersionId, caps, model_name,
};
use rustix::fs::MemfdFlags;

use super::calls::Staged;
use super::hold::LeasedVersion;
use super::hub::{self, Located};
use super::like::Compare;
use super::stop::{GoOn, Stop};
use super::{Like, LoadPhase, LoadProgress, LoadSpec, Loaded, Unshared, UnsharedWhy, residency};
use crate::link::Link;
use crate::model::Activate;
use crate::transfer::{is_fuse, lanes, moves};
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
        let stop = Stop::default();
        let mut tell = |so| stop.heard(progress(so));
        let mut told = Teller::new(&mut tell);
        told.begin(LoadPhase::Checking, 0);
        let model = model_name(&spec.model).map_err(|error| invalid(error.to_string()))?;
        let located = hub::locate_all(&spec.paths)?;
        let paths: Vec<PathBuf> = located.iter().map(|it| it.path.clone()).collect();
        let checkpoint = Checkpoint::open(&paths).map_err(unreadable)?;
        let planned = spec.plan.apply(&checkpoint).map_err(|error| invalid(error.to_string()))?;
        let described =
            planned.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype, &tensor.shape));
        let layout = Layout::new(described, spec.slab_bytes.unwrap_or(DEFAULT_SLAB_BYTES))
            .map_err(|error| invalid(error.to_string()))?;
        let files = Files::open(&checkpoint, &planned)?;
        let took = |what: &str| tracing::debug!(elapsed = ?begun.elapsed(), "{what}");
        took("the files are checked");

        let found = self.neighbours(&spec, &model)?;
        let activate = match (spec.activate, found.has_current) {
            (true, _) => Activate::Yes,
            // Another load may be faster.
            (false, false) => Activate::IfFirst,
            (false, true) => Activate::No,
        };
        let device = spec.device.or(found.like.as_ref().map(|like| like.info.device));
        let audience = if model.is_public() { Audience::Everybody } else { spec.audience };
        let (layout, unshared) = match &found.like {
            Some(like) => fitting(layout, &spec, like, device, audience),
            None => (layout, None),
        };
        let twin = found.like.filter(|_| unshared.is_none());

        let link = &self.core().link;
        let mut hashes = TensorHashes::new(&layout);
        let total: u64 = layout.tensors.iter().map(|tensor| tensor.bytes).sum();
        let mut bytes_read = 0;
        let mut shared = vec![None; layout.slabs.len()];
        if let Some(twin) = &twin {
            told.begin(LoadPhase::Hashing, total);
            let (files, planned, layout) = (&files, &planned, &layout);
            let compare = Compare { link, files, planned, layout, twin, stop: &stop };
            shared = compare.run(&mut hashes, |bytes, was_read| {
                told.add(bytes);
                bytes_read += if was_read { bytes } else { 0 };
            })?;
            stop.check()?;
        }
        let stage = |shared: &[Option<TensorId>]| VersionStage {
            version: VersionId::random(),
            model: model.clone(),
            tag: spec.tag.clone(),
            device,
            audience,
            parts: parts(&layout, shared),
            lease: None,
        };
        let mut staged = match Staged::begin(link, stage(&shared)) {
            // Then it gets all of its slabs for itself.
            Err(error) if is_unshareable(error.kind()) && shared.iter().any(Option::is_some) => {
                shared.fill(None);
                Staged::begin(link, stage(&shared))?
            }
            other => other?,
        };
        took("the slabs are there");
        let bytes_shared: u64 = shared_bytes(&layout, &shared);
        told.begin(LoadPhase::Loading, total - bytes_shared);
        let load = Fill { link, files: &files, planned: &planned, layout: &layout, stop: &stop };
        let loaded = load.run(&staged, &shared, total - bytes_shared, &mut hashes, |bytes| {
            told.add(bytes);
            bytes_read += bytes;
        });
        took("the bytes are there");
        let manifest = loaded
            .and_then(|()| stop.check())
            .and_then(|()| checkpoint.check_unchanged().map_err(unreadable))
            .and_then(|()| {
                hashes.finish(&layout).map_err(|missing| Error::Protocol(missing.to_string()))
            });
        let manifest = match manifest {
            Ok(hashes) => layout.manifest(&hashes),
            Err(error) => return Err(staged.failed(error)),
        };
        let manifest = millpond_wire::manifest::Manifest {
            metadata: checkpoint.metadata,
            source: source(&located),
            ..manifest
        };
        let info = staged.commit(&manifest, activate)?;
        took("it is committed");
        let (elapsed, cold) = (begun.elapsed(), files.cold);
        Ok(Loaded { info, bytes_read, bytes_shared, elapsed, cold, unshared })
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
    spec: &LoadSpec,
    like: &LeasedVersion,
    device: Option<GpuUuid>,
    audience: Audience,
) -> (Layout, Option<Unshared>) {
    let info = &like.info;
    let unshared = |why| Some(Unshared { with: info.tag.clone(), why });
    if Some(info.device) != device {
        return (layout, unshared(UnsharedWhy::Device));
    }
    if info.audience != audience {
        return (layout, unshared(UnsharedWhy::Audience));
    }
    if info.layout == Some(layout.hash()) {
        return (layout, None);
    }
    let mut slabs: Vec<(u64, usize)> = like.parts.iter().map(|part| (part.bytes, 0)).collect();
    for tensor in &like.manifest.tensors {
        if let Some((_, tensors)) = slabs.get_mut(tensor.slab) {
            *tensors += 1;
        }
    }
    let other = info.layout.and_then(|hash| layout.in_slabs_like(&slabs, hash));
    match other {
        Some(other) if spec.slab_bytes.is_none() => (other, None),
        Some(_) => (layout, unshared(UnsharedWhy::SlabBytes)),
        None => (layout, unshared(UnsharedWhy::Tensors)),
    }
}

/// What was to be shared cannot be, or not with everybody for whom this version is.
fn is_unshareable(kind: ErrorKind) -> bool {
    use ErrorKind::{Denied, Invalid, Lost, NotFound, Retired};
    matches!(kind, NotFound | Retired | Lost | Invalid | Denied)
}

/// The checkpoint's files as the mover gets them.
pub(super) struct Files {
    open: Vec<OwnedFd>,
    /// Some are read past the page cache.
    cold: bool,
}

impl Files {
    fn open(checkpoint: &Checkpoint, planned: &[PlannedTensor]) -> Result<Self> {
        // Reads past the cache want whole blocks; scattered ones would read most blocks twice.
        let strided = planned.iter().any(|tensor| tensor.runs.len() > 1);
        let mut files = Self { open: Vec::new(), cold: false };
        for source in &checkpoint.files {
            if is_fuse(&source.file) {
                return Err(Error::file(format!(
                    "'{}' is on a file system in user space (FUSE), which a mover does not read; \
                     copy it to a disk first",
                    source.path.display()
                )));
            }
            let direct = if strided {
                None
            } else {
                residency::past_the_cache(&source.file, &source.path, source.bytes)
            };
            files.cold |= direct.is_some();
            let buffered = || {
                let copy = source.file.try_clone();
                copy.map(OwnedFd::from).map_err(|error| in_file(&source.path, &error))
            };
            files.open.push(direct.map_or_else(buffered, Ok)?);
        }
        Ok(files)
    }
}

/// Makes the move of a batch, and says what its pieces are.
pub(super) fn move_batch(
    link: &Arc<Link>,
    tensor: TensorId,
    kind: PiecesKind,
    batch: &PieceBatch,
    files: &Files,
) -> Result<Vec<ContentHash>> {
    let pieces = batch.pieces.iter().map(|(piece, ..)| *piece).collect();
    let missing = || Error::system("reading a checkpoint", "a file was not opened");
    let file = files.open.get(batch.file).ok_or_else(missing)?;
    if !batch.is_scattered() {
        return moves::pieces(link, tensor, kind, pieces, batch.runs.clone(), Some(file));
    }
    let failed = |error| Error::system("bringing scattered bytes together", error);
    let source = file.try_clone().map(File::from).map_err(failed)?;
    let together = rustix::fs::memfd_create("millpond-gathered", MemfdFlags::CLOEXEC)
        .map_err(|errno| failed(errno.into()))?;
    let together = File::from(together);
    let run = batch.gather(&source, &together).map_err(failed)?;
    moves::pieces(link, tensor, kind, pieces, vec![run], Some(&together.into()))
}

/// The bytes of a staged version.
struct Fill<'a> {
    link: &'a Arc<Link>,
    files: &'a Files,
    planned: &'a [PlannedTensor],
    layout: &'a Layout,
    stop: &'a Stop,
}

impl Fill<'_> {
    fn run(
        &self,
        staged: &Staged,
        shared: &[Option<TensorId>],
        total: u64,
        hashes: &mut TensorHashes,
        mut read: impl FnMut(u64),
    ) -> Result<()> {
        let own = |slab: usize| shared.get(slab).is_none_or(Option::is_none);
        let wanted: Vec<PieceBatch> = batches(self.planned, self.layout, DEFAULT_BATCH_BYTES)
            .filter(|batch| own(batch.slab))
            .collect();
        let lanes = lanes::lanes(wanted.len(), total);
        let work = |batch: PieceBatch| {
            let missing = || Error::Protocol("a slab of the version is missing".to_owned());
            let part = staged.parts.get(batch.slab).ok_or_else(missing)?.tensor;
            let hashed = move_batch(self.link, part, PiecesKind::Load, &batch, self.files)?;
            Ok((batch, hashed))
        };
        lanes::run(lanes, wanted.into_iter(), work, |(batch, hashed)| {
            for ((_, tensor, piece), hash) in batch.pieces.iter().zip(hashed) {
                hashes.set(*tensor, *piece, hash);
            }
            read(batch.bytes);
            self.stop.flow()
        })
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

fn unreadable(error: CheckpointError) -> Error {
    if let Some(hint) = error.hint() {
        return Error::file_with_hint(error.to_string(), hint);
    }
    match &error {
        CheckpointError::Io { path, error } if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("'{}' not found", path.display());
            Error::File { message, reason: Some(error.kind()) }
        }
        CheckpointError::Io { path, error } => Error::in_file(path.display(), error),
        _ => Error::file(error.to_string()),
    }
}

fn in_file(path: &Path, error: &std::io::Error) -> Error {
    Error::in_file(format_args!("opening '{}'", path.display()), error)
}

fn invalid(message: String) -> Error {
    Failure::new(ErrorKind::Invalid, message).into()
}

/// Counts what is done of a phase, and how fast.
struct Teller<'a> {
    tell: &'a mut dyn FnMut(LoadProgress),
    phase: LoadPhase,
    done: u64,
    total: u64,
    begun: Instant,
}

impl<'a> Teller<'a> {
    fn new(tell: &'a mut dyn FnMut(LoadProgress)) -> Self {
        Self { tell, phase: LoadPhase::Checking, done: 0, total: 0, begun: Instant::now() }
    }

    fn begin(&mut self, phase: LoadPhase, total: u64) {
        (self.phase, self.done, self.total) = (phase, 0, total);
        self.begun = Instant::now();
        self.add(0);
    }

    #[expect(clippy::cast_precision_loss, reason = "a speed for people")]
    fn add(&mut self, bytes: u64) {
        self.done += bytes;
        let seconds = self.begun.elapsed().as_secs_f64();
        let speed = if self.done == 0 { 0.0 } else { self.done as f64 / seconds.max(1e-9) / 1e9 };
        let (phase, done, total) = (self.phase, self.done, self.total);
        (self.tell)(LoadProgress { phase, done, total, gigabytes_per_second: speed });
    }
}
