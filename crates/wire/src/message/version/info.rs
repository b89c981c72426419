//! What is known about versions and models, and what a lease on a version comes with.

use millpond_schema::message as fb;

use super::super::list::{Entries, list};
use super::super::read::{self, DecodeError, Read, uuid_to_id};
use super::super::session::{read_lease_info, write_lease_info};
use super::super::{Audience, LeaseInfo, LeaseToken, Mode, ReplyBody};
use super::{VersionState, read_tag};
use crate::model_name::known_model_name;
use crate::{
    Backing, ContentHash, GpuUuid, LeaseId, TensorId, TensorName, VersionId, VersionTag, backing,
};

/// What is known about a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionInfo {
    pub version: VersionId,
    pub model: TensorName,
    pub tag: VersionTag,
    /// Staging, ready or draining.
    pub state: VersionState,
    pub device: GpuUuid,
    pub user: u32,
    pub audience: Audience,
    /// Bytes of its tensors; zero while it is staged.
    pub bytes: u64,
    pub slab_bytes: u64,
    /// The part of them that other versions have as well.
    pub shared_bytes: u64,
    pub slabs: u32,
    pub tensors: u32,
    /// Hash of where everything lies, once it is ready.
    pub layout: Option<ContentHash>,
    /// Hash of everything, once it is ready.
    pub content: Option<ContentHash>,
    pub created_unix_ms: u64,
    /// When it was complete.
    pub ready_unix_ms: Option<u64>,
    pub readers: u32,
    /// It is the model's current version.
    pub current: bool,
    /// It was current before, and a rollback leads to it.
    pub previous: bool,
    /// Its record survived but not its memory.
    pub lost: bool,
    pub source: String,
    /// Who stages it, while somebody does.
    pub stager_pid: Option<u32>,
}

fn write_info(info: &VersionInfo) -> fb::VersionInfo {
    fb::VersionInfo {
        version: Some(uuid_to_id(info.version.0)),
        model: Some(info.model.to_string()),
        tag: Some(info.tag.to_string()),
        state: info.state.code(),
        device: Some(info.device.0.to_vec()),
        user: info.user,
        audience: info.audience.code(),
        bytes: info.bytes,
        slab_bytes: info.slab_bytes,
        shared_bytes: info.shared_bytes,
        slabs: info.slabs,
        tensors: info.tensors,
        layout: info.layout.map(|hash| hash.0.to_vec()),
        content: info.content.map(|hash| hash.0.to_vec()),
        created_unix_ms: info.created_unix_ms,
        ready_unix_ms: info.ready_unix_ms,
        readers: info.readers,
        current: info.current,
        previous: info.previous,
        lost: info.lost,
        source: Some(info.source.clone()),
        stager_pid: info.stager_pid.unwrap_or(0),
    }
}

fn read_info(info: fb::VersionInfoRef<'_>) -> Read<VersionInfo> {
    let hash = |field, bytes: Option<&[u8]>| -> Read<Option<ContentHash>> {
        bytes.map(|bytes| Ok(ContentHash(read::bytes16(field, bytes)?))).transpose()
    };
    Ok(VersionInfo {
        version: VersionId(read::uuid("version", info.version()?)?),
        model: known_model_name(read::required("model", info.model()?)?)?,
        tag: read_tag(info.tag()?)?.ok_or(DecodeError::Missing("tag"))?,
        state: read::code("state", info.state()?, VersionState::from_code)?,
        device: read::gpu("device", info.device()?)?,
        user: info.user()?,
        audience: read::code("audience", info.audience()?, Audience::from_code)?,
        bytes: info.bytes()?,
        slab_bytes: info.slab_bytes()?,
        shared_bytes: info.shared_bytes()?,
        slabs: info.slabs()?,
        tensors: info.tensors()?,
        layout: hash("layout", info.layout()?)?,
        content: hash("content", info.content()?)?,
        created_unix_ms: info.created_unix_ms()?,
        ready_unix_ms: info.ready_unix_ms()?,
        readers: info.readers()?,
        current: info.current()?,
        previous: info.previous()?,
        lost: info.lost()?,
        source: read::text("source", info.source()?)?,
        stager_pid: Some(info.stager_pid()?).filter(|pid| *pid != 0),
    })
}

/// One slab of a version, as a tensor of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// For moves, and for sharing it.
    pub tensor: TensorId,
    pub bytes: u64,
    pub backing: Backing,
}

fn write_parts(parts: &[PartInfo]) -> Option<Vec<fb::PartInfo>> {
    let part = |part: &PartInfo| fb::PartInfo {
        tensor: Some(uuid_to_id(part.tensor.0)),
        bytes: part.bytes,
        backing: backing::write(&part.backing),
    };
    Some(parts.iter().map(part).collect())
}

fn read_part(part: fb::PartInfoRef<'_>) -> Read<PartInfo> {
    let tensor = TensorId(read::uuid("tensor", part.tensor()?)?);
    Ok(PartInfo { tensor, bytes: part.bytes()?, backing: backing::read(part.backing()?)? })
}

/// A version with or without a lease. With descriptors: the manifest if there is one, then slabs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionGrant {
    pub info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub parts: Vec<PartInfo>,
    /// The lease that was asked for, with its proof.
    pub lease: Option<(LeaseId, Mode, LeaseToken)>,
    /// The first descriptor is the manifest.
    pub manifest: bool,
    /// How many slabs' descriptors follow; more by [`crate::message::RequestBody::VersionSlabs`].
    pub slabs: u32,
}

pub(in super::super) fn write_grant(grant: &VersionGrant) -> fb::VersionReply {
    let (lease, mode, token) = match &grant.lease {
        Some((lease, mode, token)) => (lease.0, mode.code(), Some(token.to_vec())),
        None => (0, 0, None),
    };
    fb::VersionReply {
        info: Some(Box::new(write_info(&grant.info))),
        parts: write_parts(&grant.parts),
        lease,
        mode,
        token,
        manifest: grant.manifest,
        slabs: grant.slabs,
    }
}

pub(in super::super) fn read_grant(
    grant: fb::VersionReplyRef<'_>,
    entries: &Entries,
) -> Read<VersionGrant> {
    let lease = match grant.lease()? {
        0 => None,
        lease => Some((
            LeaseId(lease),
            read::code("mode", grant.mode()?, Mode::from_code)?,
            read::bytes16("token", read::required("token", grant.token()?)?)?,
        )),
    };
    Ok(VersionGrant {
        info: read_info(read::required("info", grant.info()?)?)?,
        parts: list("parts", grant.parts()?, entries, read_part)?,
        lease,
        manifest: grant.manifest()?,
        slabs: grant.slabs()?,
    })
}

/// One version and its readers. With the manifest if it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDetails {
    pub info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub parts: Vec<PartInfo>,
    pub leases: Vec<LeaseInfo>,
}

pub(in super::super) fn write_details(details: &VersionDetails) -> fb::VersionDetails {
    fb::VersionDetails {
        info: Some(Box::new(write_info(&details.info))),
        parts: write_parts(&details.parts),
        leases: Some(details.leases.iter().map(write_lease_info).collect()),
    }
}

pub(in super::super) fn read_details(
    details: fb::VersionDetailsRef<'_>,
    entries: &Entries,
) -> Read<VersionDetails> {
    Ok(VersionDetails {
        info: read_info(read::required("info", details.info()?)?)?,
        parts: list("parts", details.parts()?, entries, read_part)?,
        leases: list("leases", details.leases()?, entries, read_lease_info)?,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name inside its owner's scope.
    pub name: TensorName,
    pub user: u32,
    /// In the order in which they were begun.
    pub versions: Vec<VersionInfo>,
}

pub(in super::super) fn write_models(models: &[ModelInfo]) -> fb::Models {
    let write = |model: &ModelInfo| fb::ModelInfo {
        name: Some(model.name.to_string()),
        user: model.user,
        versions: Some(model.versions.iter().map(write_info).collect()),
    };
    fb::Models { models: Some(models.iter().map(write).collect()) }
}

pub(in super::super) fn read_models(
    models: fb::ModelsRef<'_>,
    entries: &Entries,
) -> Read<ReplyBody> {
    let read = |model: fb::ModelInfoRef<'_>| {
        Ok(ModelInfo {
            name: known_model_name(read::required("name", model.name()?)?)?,
            user: model.user()?,
            versions: list("versions", model.versions()?, entries, read_info)?,
        })
    };
    Ok(ReplyBody::Models(list("models", models.models()?, entries, read)?))
}

pub(in super::super) fn write_swapped(
    current: &VersionInfo,
    previous: Option<&VersionTag>,
) -> fb::Swapped {
    fb::Swapped {
        current: Some(Box::new(write_info(current))),
        previous: previous.map(ToString::to_string),
    }
}

pub(in super::super) fn read_swapped(swapped: fb::SwappedRef<'_>) -> Read<ReplyBody> {
    Ok(ReplyBody::Swapped {
        current: Box::new(read_info(read::required("current", swapped.current()?)?)?),
        previous: read_tag(swapped.previous()?)?,
    })
}

pub(in super::super) fn write_slabs_reply(first: u32, count: u32) -> fb::Slabs {
    fb::Slabs { first, count }
}

pub(in super::super) fn read_slabs_reply(slabs: fb::SlabsRef<'_>) -> Read<ReplyBody> {
    Ok(ReplyBody::Slabs { first: slabs.first()?, count: slabs.count()? })
}
