//! Models and their versions.

use std::collections::BTreeMap;

use millpond_wire::manifest::{Manifest, ManifestTensor};
use millpond_wire::message::{ModelInfo, PartInfo, VersionInfo, VersionState};
use millpond_wire::{Audience, Dtype, GpuUuid, TensorId, TensorName, VersionId, VersionTag};
use serde::Serialize;

use crate::{Digest, Dims, Lease, Text};

data! { $
    /// One version of a model: one of `models`, and in `inspect`, `load` and the like.
    pub struct Version as version_fields {
        /// Identity.
        id: Text<VersionId>,
        /// Its model's name inside the owner's scope.
        model: Text<TensorName>,
        /// Its tag.
        version: Text<VersionTag>,
        /// Owner's user id.
        user: u32,
        /// `staging`, `ready` or `draining`.
        state: Text<VersionState>,
        /// It is the model's current version.
        current: bool,
        /// A rollback leads to it.
        previous: bool,
        /// Its record survived but not its memory.
        lost: bool,
        /// UUID of its GPU.
        device: Text<GpuUuid>,
        /// `user`, `group` or `everybody`.
        share: Text<Audience>,
        /// Bytes of its tensors; zero while it is staged.
        bytes: u64,
        /// Bytes of its slabs.
        slab_bytes: u64,
        /// Bytes of slabs that no other version has.
        own_bytes: u64,
        /// Bytes of slabs that other versions have as well.
        shared_bytes: u64,
        /// How many slabs.
        slab_count: u32,
        /// How many tensors.
        tensor_count: u32,
        /// Leases on it.
        readers: u32,
        /// Hash of where everything lies, once it is ready.
        layout_hash: Digest,
        /// Hash of everything, once it is ready.
        content_hash: Digest,
        /// When it was begun.
        created_unix_ms: u64,
        /// When it was complete.
        ready_unix_ms: Option<u64>,
        /// Where it came from.
        source: String,
        /// The process that stages it, while one does.
        stager_pid: Option<u32>,
    }
}

impl From<&VersionInfo> for Version {
    fn from(info: &VersionInfo) -> Self {
        Self {
            id: Text(info.version),
            model: Text(info.model.clone()),
            version: Text(info.tag.clone()),
            user: info.user,
            state: Text(info.state),
            current: info.current,
            previous: info.previous,
            lost: info.lost,
            device: Text(info.device),
            share: Text(info.audience),
            bytes: info.bytes,
            slab_bytes: info.slab_bytes,
            own_bytes: info.slab_bytes.saturating_sub(info.shared_bytes),
            shared_bytes: info.shared_bytes,
            slab_count: info.slabs,
            tensor_count: info.tensors,
            readers: info.readers,
            layout_hash: Digest(info.layout),
            content_hash: Digest(info.content),
            created_unix_ms: info.created_unix_ms,
            ready_unix_ms: info.ready_unix_ms,
            source: info.source.clone(),
            stager_pid: info.stager_pid,
        }
    }
}

/// `models`.
#[derive(Clone, Debug, Serialize)]
pub struct Models {
    /// Sorted as the daemon sends them.
    pub models: Vec<Model>,
}

impl From<&[ModelInfo]> for Models {
    fn from(models: &[ModelInfo]) -> Self {
        Self { models: models.iter().map(Model::from).collect() }
    }
}

data! { $
    /// One model.
    pub struct Model as model_fields {
        /// Name inside its owner's scope.
        name: Text<TensorName>,
        /// Owner's user id.
        user: u32,
        /// The tag of its current version.
        current: Option<Text<VersionTag>>,
        /// In the order in which they were begun.
        versions: Vec<Version>,
    }
}

impl From<&ModelInfo> for Model {
    fn from(model: &ModelInfo) -> Self {
        let current = model.versions.iter().find(|info| info.current);
        Self {
            name: Text(model.name.clone()),
            user: model.user,
            current: current.map(|info| Text(info.tag.clone())),
            versions: model.versions.iter().map(Version::from).collect(),
        }
    }
}

/// `inspect` of a version: its fields, its slabs and its readers.
#[derive(Clone, Debug, Serialize)]
pub struct VersionDetails {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// The tag that a rollback of its model leads to.
    pub rollback_to: Option<String>,
    /// In the order of the arena.
    pub slabs: Vec<Slab>,
    /// Bytes that are saved by tensors with several names.
    pub tied_bytes: u64,
    /// The names of each tensor that has several.
    pub tied: Vec<Vec<String>>,
    /// What the checkpoint says about itself.
    pub metadata: BTreeMap<String, String>,
    /// With `--tensors`, once it is ready; else `null`.
    pub tensors: Option<Vec<Weight>>,
    /// Who holds it.
    pub leases: Vec<Lease>,
}

/// One slab of a version.
#[derive(Clone, Debug, Serialize)]
pub struct Slab {
    /// Identity of the memory; two versions that share it have the same.
    pub tensor: Text<TensorId>,
    /// Its bytes.
    pub bytes: u64,
    /// Hash over its tensors' hashes, once the version is ready.
    pub hash: Digest,
}

impl Slab {
    /// All of a version.
    #[must_use]
    pub fn all(parts: &[PartInfo], manifest: Option<&Manifest>) -> Vec<Self> {
        let hash = |at: usize| Some(manifest?.slabs.get(at)?.hash);
        let one = |(at, part): (usize, &PartInfo)| Self {
            tensor: Text(part.tensor),
            bytes: part.bytes,
            hash: Digest(hash(at)),
        };
        parts.iter().enumerate().map(one).collect()
    }
}

/// One tensor of a version.
#[derive(Clone, Debug, Serialize)]
pub struct Weight {
    /// Its name in the checkpoint.
    pub name: String,
    /// Element type in safetensors' spelling.
    pub dtype: Text<Dtype>,
    /// Extents.
    pub shape: Dims,
    /// Its bytes.
    pub bytes: u64,
    /// Which slab.
    pub slab: usize,
    /// Where in that slab it begins.
    pub slab_offset_bytes: u64,
    /// Hash of its bytes.
    pub hash: Digest,
}

impl From<&ManifestTensor> for Weight {
    fn from(tensor: &ManifestTensor) -> Self {
        Self {
            name: tensor.name.clone(),
            dtype: Text(tensor.dtype),
            shape: Dims(tensor.shape.clone()),
            bytes: tensor.bytes,
            slab: tensor.slab,
            slab_offset_bytes: tensor.offset,
            hash: Digest(Some(tensor.hash)),
        }
    }
}

/// `swap` and `rollback`.
#[derive(Clone, Debug, Serialize)]
pub struct Swapped {
    /// What is current now.
    #[serde(flatten)]
    pub current: Version,
    /// The tag of what was current before.
    pub replaced: Option<String>,
}

/// `retire`.
#[derive(Clone, Debug, Serialize)]
pub struct Retired {
    /// The version as it was.
    #[serde(flatten)]
    pub version: Version,
    /// Its memory is back; `null` where that was not waited for.
    pub gone: Option<bool>,
}
