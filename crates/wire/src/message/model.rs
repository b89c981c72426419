//! Models and their versions: what is asked and answered.

use super::{Audience, LeaseInfo, LeaseToken, Mode, small_enum};
use crate::{
    Backing, ContentHash, GpuUuid, LeaseId, TensorId, TensorName, Token, VersionId, VersionTag,
    VersionTarget,
};

small_enum! {
    /// Where a version is in its life.
    VersionState {
        /// Its bytes are being written; only who stages it has it.
        1 Staging "staging",
        /// Complete: readers may have it.
        2 Ready "ready",
        /// Kept only for the readers that are left.
        3 Draining "draining",
    }
}

/// A slab of a version's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSpec {
    /// Its size.
    pub bytes: u64,
    /// A part of another version, which is to be in this one as well; nothing is made then.
    pub shared: Option<TensorId>,
}

/// A version that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionStage {
    /// Made by the client: a repeat finds the version instead of making another.
    pub version: VersionId,
    /// The model, which need not exist yet.
    pub model: TensorName,
    /// The next number if absent.
    pub tag: Option<VersionTag>,
    /// The pond's first GPU if absent.
    pub device: Option<GpuUuid>,
    /// With whom it is shared.
    pub audience: Audience,
    /// The slabs of its arena, in order.
    pub parts: Vec<PartSpec>,
    /// A read-write lease for who stages it.
    pub lease: Option<LeaseId>,
}

/// A version's bytes are complete. Comes with its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCommit {
    /// Which.
    pub version: VersionId,
    /// Recognises a repeat.
    pub token: Token,
    /// Hash of where everything lies.
    pub layout: ContentHash,
    /// Hash of everything.
    pub content: ContentHash,
    /// How many tensors.
    pub tensors: u32,
    /// Their bytes.
    pub bytes: u64,
    /// It becomes the current one in the same step.
    pub activate: bool,
    /// With `activate`: only if the model has no current version. A daemon that does not know this
    /// field activates it.
    pub unless_current: bool,
    /// Where it came from, for people.
    pub source: String,
}

/// A lease on a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionGet {
    /// Which.
    pub target: VersionTarget,
    /// The lease's number.
    pub lease: LeaseId,
    /// How it will be mapped; read-write only by who stages it.
    pub mode: Mode,
    /// How long to wait until there is one; zero means not at all.
    pub wait_ms: u64,
}

/// One slab of a version, as a tensor of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// For moves, and for sharing it.
    pub tensor: TensorId,
    /// Its size.
    pub bytes: u64,
    /// How it is reached.
    pub backing: Backing,
}

/// What is known about a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    /// Identity.
    pub version: VersionId,
    /// Its model.
    pub model: TensorName,
    /// Its tag.
    pub tag: VersionTag,
    /// Staging, ready or draining.
    pub state: VersionState,
    /// Where it lies.
    pub device: GpuUuid,
    /// Owner.
    pub user: u32,
    /// With whom it is shared.
    pub audience: Audience,
    /// Bytes of its tensors; zero while it is staged.
    pub bytes: u64,
    /// Bytes of its slabs.
    pub slab_bytes: u64,
    /// The part of them that other versions have as well.
    pub shared_bytes: u64,
    /// How many slabs.
    pub slabs: u32,
    /// How many tensors.
    pub tensors: u32,
    /// Hash of where everything lies, once it is ready.
    pub layout: Option<ContentHash>,
    /// Hash of everything, once it is ready.
    pub content: Option<ContentHash>,
    /// When it was begun.
    pub created_unix_ms: u64,
    /// When it was complete.
    pub ready_unix_ms: Option<u64>,
    /// Leases on it.
    pub readers: u32,
    /// It is the model's current version.
    pub current: bool,
    /// It was current before, and a rollback leads to it.
    pub previous: bool,
    /// Its record survived but not its memory.
    pub lost: bool,
    /// Where it came from.
    pub source: String,
    /// Who stages it, while somebody does.
    pub stager_pid: Option<u32>,
}

/// A version with or without a lease. With descriptors: the manifest if there is one, then slabs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionGrant {
    /// The version.
    pub info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub parts: Vec<PartInfo>,
    /// The lease that was asked for, with its proof.
    pub lease: Option<(LeaseId, Mode, LeaseToken)>,
    /// The first descriptor is the manifest.
    pub manifest: bool,
    /// How many slabs' descriptors follow; more by [`super::RequestBody::VersionSlabs`].
    pub slabs: u32,
}

/// One version and its readers. With the manifest if it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDetails {
    /// The version.
    pub info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub parts: Vec<PartInfo>,
    /// Who holds it.
    pub leases: Vec<LeaseInfo>,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name inside its owner's part.
    pub name: TensorName,
    /// Owner.
    pub user: u32,
    /// In the order in which they were begun.
    pub versions: Vec<VersionInfo>,
}
