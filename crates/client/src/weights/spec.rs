//! What is to be loaded, how far it is, and what came of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use millpond_weights::Plan;
use millpond_wire::message::VersionInfo;
use millpond_wire::{Audience, GpuUuid, VersionTag};

/// A checkpoint to be loaded as a version of a model.
///
/// ```no_run
/// # fn main() -> Result<(), millpond::Error> {
/// use millpond::{LoadSpec, Pond};
///
/// let pond = Pond::connect()?;
/// let loaded = pond.load(LoadSpec::new("llama").path("./checkpoint").activate(true), |_| {})?;
/// assert!(loaded.info.current);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct LoadSpec {
    pub(super) model: String,
    pub(super) paths: Vec<PathBuf>,
    pub(super) tag: Option<VersionTag>,
    pub(super) device: Option<GpuUuid>,
    pub(super) audience: Audience,
    pub(super) activate: bool,
    pub(super) like: Like,
    pub(super) plan: Plan,
    pub(super) slab_bytes: Option<u64>,
}

/// The version with which equal slabs are shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Like {
    /// The model's current one, if it has one.
    #[default]
    Current,
    /// This one of the same model.
    Version(VersionTag),
    /// None.
    Nothing,
}

impl LoadSpec {
    /// A version of this model. Its name is checked when it is loaded.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            paths: Vec::new(),
            tag: None,
            device: None,
            audience: Audience::User,
            activate: false,
            like: Like::Current,
            plan: Plan::everything(),
            slab_bytes: None,
        }
    }

    /// One more safetensors file, folder or index; `hf:org/name`, with `@revision` or without, is a
    /// repository in the local Hugging Face cache.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// More of them.
    pub fn paths(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// The version's tag; the next of `v1`, `v2` and so on unless said.
    pub fn tag(mut self, tag: VersionTag) -> Self {
        self.tag = Some(tag);
        self
    }

    /// On which GPU; the pond's first one unless said.
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.device = Some(device);
        self
    }

    /// With whom it is shared; with one's own user only unless said.
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Whether it becomes the current version. A model's first version always does.
    pub fn activate(mut self, activate: bool) -> Self {
        self.activate = activate;
        self
    }

    /// With which version equal slabs are shared.
    pub fn like(mut self, like: Like) -> Self {
        self.like = like;
        self
    }

    /// Which part of the checkpoint is loaded; all of it unless said.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// How large a slab is at most, unless one tensor is larger. By default as large as those of the
    /// version that it is [`like`](Self::like), if that gives the same slabs; else 2 GiB.
    pub fn slab_bytes(mut self, slab_bytes: u64) -> Self {
        self.slab_bytes = Some(slab_bytes);
        self
    }
}

/// What a load is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPhase {
    /// Files are opened and their headers checked; tensors that are said to be tied are compared.
    Checking,
    /// Files are compared with the version that this one is like.
    Hashing,
    /// Bytes go to the GPU.
    Loading,
}

impl LoadPhase {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LoadPhase::Checking => "checking",
            LoadPhase::Hashing => "comparing",
            LoadPhase::Loading => "loading",
        }
    }
}

/// How far a load is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadProgress {
    /// What it is about.
    pub phase: LoadPhase,
    /// Bytes of this phase that are done.
    pub done: u64,
    /// Bytes of this phase in all.
    pub total: u64,
    /// How fast this phase is.
    pub gigabytes_per_second: f64,
}

/// Why a version shares no slab with the one that it is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unshared {
    /// That version's tag.
    pub with: VersionTag,
    /// Why.
    pub why: UnsharedWhy,
}

/// Why slabs cannot be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsharedWhy {
    /// It is on another GPU.
    Device,
    /// It is shared with other people.
    Audience,
    /// Slabs of another size were asked for.
    SlabBytes,
    /// It has other tensors, or they are of another dtype or shape.
    Tensors,
    /// It has the same tensors, but only one of the two stores those that are tied once.
    Ties,
}

impl UnsharedWhy {
    /// The word for what differs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Audience => "audience",
            Self::SlabBytes => "slab_bytes",
            Self::Tensors => "tensors",
            Self::Ties => "ties",
        }
    }

    /// In words.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Device => "it is on another GPU",
            Self::Audience => "it is shared with other people",
            Self::SlabBytes => "its slabs have another size",
            Self::Tensors => "its tensors have other names, dtypes or shapes",
            Self::Ties => "other tensors are tied in it",
        }
    }
}

/// A load that has ended well.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The version.
    pub info: VersionInfo,
    /// Bytes that were read from files, those that were only compared included.
    pub bytes_read: u64,
    /// Bytes of tensors in slabs that are shared with another version.
    pub bytes_shared: u64,
    /// Names of tensors that have no bytes of their own, each with the tensor whose bytes it has: the
    /// files have both, and say that they are tied.
    pub tied: Vec<(String, String)>,
    /// Bytes that are stored once because of that, and are in the files twice.
    pub bytes_tied: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Some of the files were not in the page cache and were read past it.
    pub cold: bool,
    /// Why nothing could be shared with the version that it is like, if there is one.
    pub unshared: Option<Unshared>,
}

impl Loaded {
    /// The names of each tensor that has several, sorted.
    pub(crate) fn names(&self) -> Vec<Vec<String>> {
        let mut by_tensor: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, to) in &self.tied {
            by_tensor.entry(to).or_insert_with(|| vec![to.clone()]).push(name.clone());
        }
        let mut all: Vec<Vec<String>> = by_tensor.into_values().collect();
        all.iter_mut().for_each(|names| names.sort());
        all.sort();
        all
    }
}
