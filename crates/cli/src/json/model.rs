//! Models and their versions as JSON.

use std::collections::BTreeMap;

use millpond::{Loaded, ModelInfo, PartInfo, Saved, Verified, VersionInfo};
use millpond_wire::manifest::{Manifest, ManifestTensor};
use serde::Serialize;

use super::LeaseJson;
use crate::units;

/// One version: one of `models`, and in `inspect`, `load` and the like.
#[derive(Debug, Serialize)]
pub struct ModelVersionJson {
    /// Identity.
    id: String,
    /// Its model's name inside the owner's part.
    model: String,
    /// Its tag.
    version: String,
    /// Owner's user id.
    user: u32,
    /// `staging`, `ready` or `draining`.
    state: &'static str,
    /// It is the model's current version.
    current: bool,
    /// A rollback leads to it.
    previous: bool,
    /// Its record survived but not its memory.
    lost: bool,
    /// UUID of its GPU.
    device: String,
    /// `user`, `group` or `everybody`.
    share: &'static str,
    /// Bytes of its tensors; zero while it is staged.
    bytes: u64,
    /// Bytes of its slabs.
    slab_bytes: u64,
    /// The part of them that no other version has.
    own_bytes: u64,
    /// The part of them that other versions have as well.
    shared_bytes: u64,
    /// How many slabs.
    slab_count: u32,
    /// How many tensors.
    tensor_count: u32,
    /// Leases on it.
    readers: u32,
    /// Hash of where everything lies, once it is ready.
    layout_hash: Option<String>,
    /// Hash of everything, once it is ready.
    content_hash: Option<String>,
    /// When it was begun.
    created_unix_ms: u64,
    /// When it was complete.
    ready_unix_ms: Option<u64>,
    /// Where it came from.
    source: String,
    /// Who stages it, while somebody does.
    stager_pid: Option<u32>,
}

impl From<&VersionInfo> for ModelVersionJson {
    fn from(info: &VersionInfo) -> Self {
        Self {
            id: info.version.to_string(),
            model: info.model.to_string(),
            version: info.tag.to_string(),
            user: info.user,
            state: info.state.name(),
            current: info.current,
            previous: info.previous,
            lost: info.lost,
            device: info.device.to_string(),
            share: info.audience.name(),
            bytes: info.bytes,
            slab_bytes: info.slab_bytes,
            own_bytes: info.slab_bytes.saturating_sub(info.shared_bytes),
            shared_bytes: info.shared_bytes,
            slab_count: info.slabs,
            tensor_count: info.tensors,
            readers: info.readers,
            layout_hash: info.layout.map(|hash| hash.to_string()),
            content_hash: info.content.map(|hash| hash.to_string()),
            created_unix_ms: info.created_unix_ms,
            ready_unix_ms: info.ready_unix_ms,
            source: info.source.clone(),
            stager_pid: info.stager_pid,
        }
    }
}

/// `models`.
#[derive(Debug, Serialize)]
pub struct ModelsJson {
    /// Sorted as the daemon sends them.
    models: Vec<ModelJson>,
}

/// One model.
#[derive(Debug, Serialize)]
struct ModelJson {
    /// Name inside its owner's part.
    name: String,
    /// Owner's user id.
    user: u32,
    /// The tag of its current version.
    current: Option<String>,
    /// In the order in which they were begun.
    versions: Vec<ModelVersionJson>,
}

impl From<&[ModelInfo]> for ModelsJson {
    fn from(models: &[ModelInfo]) -> Self {
        let one = |model: &ModelInfo| ModelJson {
            name: model.name.to_string(),
            user: model.user,
            current: model.versions.iter().find(|it| it.current).map(|it| it.tag.to_string()),
            versions: model.versions.iter().map(ModelVersionJson::from).collect(),
        };
        Self { models: models.iter().map(one).collect() }
    }
}

/// `inspect` of a version: its fields, its slabs and its readers.
#[derive(Debug, Serialize)]
pub struct VersionDetailsJson {
    /// The version.
    #[serde(flatten)]
    pub version: ModelVersionJson,
    /// The tag that a rollback of its model leads to.
    pub rollback_to: Option<String>,
    /// In the order of the arena.
    pub slabs: Vec<SlabJson>,
    /// What the checkpoint says about itself.
    pub metadata: BTreeMap<String, String>,
    /// With `--tensors`, once it is ready; else `null`.
    pub tensors: Option<Vec<WeightJson>>,
    /// Who holds it.
    pub leases: Vec<LeaseJson>,
}

/// One slab of a version.
#[derive(Debug, Serialize)]
pub struct SlabJson {
    /// Identity of the memory; two versions that share it have the same.
    tensor: String,
    /// Its bytes.
    bytes: u64,
    /// Hash over its tensors' hashes, once the version is ready.
    hash: Option<String>,
}

impl SlabJson {
    /// All of a version.
    pub fn all(parts: &[PartInfo], manifest: Option<&Manifest>) -> Vec<Self> {
        let hash = |at: usize| Some(manifest?.slabs.get(at)?.hash.to_string());
        let one = |(at, part): (usize, &PartInfo)| Self {
            tensor: part.tensor.to_string(),
            bytes: part.bytes,
            hash: hash(at),
        };
        parts.iter().enumerate().map(one).collect()
    }
}

/// One tensor of a version.
#[derive(Debug, Serialize)]
pub struct WeightJson {
    /// Its name in the checkpoint.
    name: String,
    /// Element type in safetensors' spelling.
    dtype: &'static str,
    /// Extents.
    shape: Vec<u64>,
    /// Its bytes.
    bytes: u64,
    /// Which slab.
    slab: usize,
    /// Where in that slab it begins.
    slab_offset_bytes: u64,
    /// Hash of its bytes.
    hash: String,
}

impl From<&ManifestTensor> for WeightJson {
    fn from(tensor: &ManifestTensor) -> Self {
        Self {
            name: tensor.name.clone(),
            dtype: tensor.dtype.name(),
            shape: tensor.shape.dims().to_vec(),
            bytes: tensor.bytes,
            slab: tensor.slab,
            slab_offset_bytes: tensor.offset,
            hash: tensor.hash.to_string(),
        }
    }
}

/// `load`: the version's fields, and what was read.
#[derive(Debug, Serialize)]
pub struct LoadedJson {
    /// The version.
    #[serde(flatten)]
    version: ModelVersionJson,
    /// Bytes that were read from files, those that were only compared included.
    read_bytes: u64,
    /// Bytes of tensors in slabs that are shared with another version.
    shared_tensor_bytes: u64,
    /// Some files were not in the page cache and were read past it.
    cold: bool,
    /// How long it took.
    elapsed_ms: f64,
}

impl From<&Loaded> for LoadedJson {
    fn from(loaded: &Loaded) -> Self {
        Self {
            version: ModelVersionJson::from(&loaded.info),
            read_bytes: loaded.bytes_read,
            shared_tensor_bytes: loaded.bytes_shared,
            cold: loaded.cold,
            elapsed_ms: units::millis(loaded.elapsed),
        }
    }
}

/// `swap` and `rollback`.
#[derive(Debug, Serialize)]
pub struct SwapJson {
    /// What is current now.
    #[serde(flatten)]
    pub current: ModelVersionJson,
    /// The tag of what was current before.
    pub replaced: Option<String>,
}

/// `retire`.
#[derive(Debug, Serialize)]
pub struct RetiredJson {
    /// The version as it was.
    #[serde(flatten)]
    pub version: ModelVersionJson,
    /// Its memory is back; `null` where that was not waited for.
    pub gone: Option<bool>,
}

/// `verify`.
#[derive(Debug, Serialize)]
pub struct VerifiedJson {
    /// The version.
    #[serde(flatten)]
    version: ModelVersionJson,
    /// Every byte is what was loaded.
    ok: bool,
    /// Names of tensors that are not.
    differing: Vec<String>,
    /// How long it took.
    elapsed_ms: f64,
}

impl From<&Verified> for VerifiedJson {
    fn from(verified: &Verified) -> Self {
        Self {
            version: ModelVersionJson::from(&verified.info),
            ok: verified.differing.is_empty(),
            differing: verified.differing.clone(),
            elapsed_ms: units::millis(verified.elapsed),
        }
    }
}

/// `save`.
#[derive(Debug, Serialize)]
pub struct SavedJson {
    /// The version.
    #[serde(flatten)]
    version: ModelVersionJson,
    /// What was written, the index last.
    files: Vec<String>,
    /// How long it took.
    elapsed_ms: f64,
}

impl From<&Saved> for SavedJson {
    fn from(saved: &Saved) -> Self {
        Self {
            version: ModelVersionJson::from(&saved.info),
            files: saved.files.iter().map(|path| path.display().to_string()).collect(),
            elapsed_ms: units::millis(saved.elapsed),
        }
    }
}
