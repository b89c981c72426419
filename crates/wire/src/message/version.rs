//! Versions of models: staged, committed, attached to, swapped and retired.

use millpond_schema::message as fb;

use super::read::{self, Read, uuid_to_id};
use super::session::{read_lease, required_lease};
use super::{Audience, Mode, RequestBody, small_enum};
use crate::model_name::model_name;
use crate::{
    ContentHash, GpuUuid, LeaseId, ModelRef, TensorId, TensorName, TensorRef, Token, VersionId,
    VersionTag, VersionTarget, caps,
};

mod info;

pub use info::{ModelInfo, PartInfo, VersionDetails, VersionGrant, VersionInfo};
pub(super) use info::{
    read_details, read_grant, read_models, read_slabs_reply, read_swapped, write_details,
    write_grant, write_models, write_slabs_reply, write_swapped,
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
    pub audience: Audience,
    /// The slabs of its arena, in order.
    pub parts: Vec<PartSpec>,
    /// A read-write lease for who stages it.
    pub lease: Option<LeaseId>,
}

pub(super) fn write_stage(stage: &VersionStage) -> fb::VersionStage {
    fb::VersionStage {
        version: Some(uuid_to_id(stage.version.0)),
        model: Some(stage.model.to_string()),
        tag: stage.tag.as_ref().map(ToString::to_string),
        device: stage.device.map(|device| device.0.to_vec()),
        audience: stage.audience.code(),
        parts: Some(
            stage
                .parts
                .iter()
                .map(|part| fb::PartSpec {
                    bytes: part.bytes,
                    shared: part.shared.map(|tensor| uuid_to_id(tensor.0)),
                })
                .collect(),
        ),
        lease: stage.lease.map_or(0, |lease| lease.0),
    }
}

pub(super) fn read_stage(stage: fb::VersionStageRef<'_>) -> Read<VersionStage> {
    let parts = read::required("parts", stage.parts()?)?;
    read::at_most("parts", parts.len(), caps::PARTS)?;
    let mut specs = Vec::with_capacity(parts.len());
    for part in parts {
        let part = part?;
        let shared = part.shared()?.map(|id| TensorId(read::id_to_uuid(id)));
        specs.push(PartSpec { bytes: part.bytes()?, shared });
    }
    Ok(VersionStage {
        version: VersionId(read::uuid("version", stage.version()?)?),
        model: model_name(read::required("model", stage.model()?)?)?,
        tag: read_tag(stage.tag()?)?,
        device: read::some_gpu("device", stage.device()?)?,
        audience: read::code("audience", stage.audience()?, Audience::from_code)?,
        parts: specs,
        lease: read_lease(stage.lease()?),
    })
}

/// A version's bytes are complete. Comes with its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCommit {
    pub version: VersionId,
    pub token: Token,
    /// Hash of where everything lies.
    pub layout: ContentHash,
    pub content: ContentHash,
    pub tensors: u32,
    pub bytes: u64,
    /// It becomes the current one in the same step.
    pub activate: bool,
    /// With `activate`: only if the model has no current version. A daemon that does not know this
    /// field activates it.
    pub unless_current: bool,
    /// Where it came from, for people.
    pub source: String,
}

pub(super) fn write_commit(commit: &VersionCommit) -> fb::VersionCommit {
    fb::VersionCommit {
        version: Some(uuid_to_id(commit.version.0)),
        token: Some(uuid_to_id(commit.token.0)),
        layout: Some(commit.layout.0.to_vec()),
        content: Some(commit.content.0.to_vec()),
        tensors: commit.tensors,
        bytes: commit.bytes,
        activate: commit.activate,
        unless_current: commit.unless_current,
        source: Some(commit.source.clone()),
    }
}

pub(super) fn read_commit(commit: fb::VersionCommitRef<'_>) -> Read<VersionCommit> {
    let hash = |field, bytes: Option<&[u8]>| -> Read<ContentHash> {
        Ok(ContentHash(read::bytes16(field, read::required(field, bytes)?)?))
    };
    Ok(VersionCommit {
        version: VersionId(read::uuid("version", commit.version()?)?),
        token: Token(read::uuid("token", commit.token()?)?),
        layout: hash("layout", commit.layout()?)?,
        content: hash("content", commit.content()?)?,
        tensors: commit.tensors()?,
        bytes: commit.bytes()?,
        activate: commit.activate()?,
        unless_current: commit.unless_current()?,
        source: read::text("source", commit.source()?)?,
    })
}

type Written = (Option<fb::Id>, Option<String>, Option<String>);

fn write_target(target: &VersionTarget) -> Written {
    match target {
        VersionTarget::Id(version) => (Some(uuid_to_id(version.0)), None, None),
        VersionTarget::Name(ModelRef { model, tag }) => {
            (None, Some(model.to_string()), tag.as_ref().map(ToString::to_string))
        }
    }
}

fn read_target(
    version: Option<fb::IdRef<'_>>,
    model: Option<&str>,
    tag: Option<&str>,
    node: Option<fb::IdRef<'_>>,
) -> Read<VersionTarget> {
    match version {
        Some(id) => {
            read::own_node(node)?;
            Ok(VersionTarget::Id(VersionId(read::id_to_uuid(id))))
        }
        None => {
            let model = read_model(model, node)?;
            Ok(VersionTarget::Name(ModelRef { model, tag: read_tag(tag)? }))
        }
    }
}

fn read_model(model: Option<&str>, node: Option<fb::IdRef<'_>>) -> Read<TensorRef> {
    read::own_node(node)?;
    let model = read::required("model", model)?;
    // A name, and before it '~', ten digits and a slash.
    read::at_most("model", model.len(), caps::NAME_BYTES + 12)?;
    Ok(model.parse::<TensorRef>()?)
}

fn read_tag(tag: Option<&str>) -> Read<Option<VersionTag>> {
    Ok(tag.map(VersionTag::new).transpose()?)
}

/// A lease on a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionGet {
    pub target: VersionTarget,
    pub lease: LeaseId,
    /// How it will be mapped; read-write only by who stages it.
    pub mode: Mode,
    /// How long to wait until there is one; zero means not at all.
    pub wait_ms: u64,
}

pub(super) fn write_get(get: &VersionGet) -> fb::VersionGet {
    let (version, model, tag) = write_target(&get.target);
    let (lease, mode, wait_ms) = (get.lease.0, get.mode.code(), get.wait_ms);
    fb::VersionGet { version, model, tag, lease, mode, wait_ms, node: None }
}

pub(super) fn read_get(get: fb::VersionGetRef<'_>) -> Read<VersionGet> {
    Ok(VersionGet {
        target: read_target(get.version()?, get.model()?, get.tag()?, get.node()?)?,
        lease: required_lease(get.lease()?)?,
        mode: read::code("mode", get.mode()?, Mode::from_code)?,
        wait_ms: get.wait_ms()?,
    })
}

pub(super) fn write_slabs(
    version: VersionId,
    lease: LeaseId,
    first: u32,
    count: u32,
) -> fb::VersionSlabs {
    fb::VersionSlabs { version: Some(uuid_to_id(version.0)), lease: lease.0, first, count }
}

pub(super) fn read_slabs(slabs: fb::VersionSlabsRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::VersionSlabs {
        version: VersionId(read::uuid("version", slabs.version()?)?),
        lease: required_lease(slabs.lease()?)?,
        first: slabs.first()?,
        count: slabs.count()?,
    })
}

pub(super) fn write_part(version: VersionId, index: u32) -> fb::VersionPart {
    fb::VersionPart { version: Some(uuid_to_id(version.0)), index }
}

pub(super) fn read_part(part: fb::VersionPartRef<'_>) -> Read<RequestBody> {
    let version = VersionId(read::uuid("version", part.version()?)?);
    Ok(RequestBody::VersionPart { version, index: part.index()? })
}

/// `current` tells a removal from a retirement.
pub(super) fn write_retire(target: &VersionTarget, current: bool) -> fb::VersionRetire {
    let (version, model, tag) = write_target(target);
    fb::VersionRetire { version, model, tag, current, node: None }
}

pub(super) fn read_retire(retire: fb::VersionRetireRef<'_>) -> Read<RequestBody> {
    let target = read_target(retire.version()?, retire.model()?, retire.tag()?, retire.node()?)?;
    Ok(match retire.current()? {
        false => RequestBody::VersionRetire(target),
        true => RequestBody::VersionRemove(target),
    })
}

pub(super) fn write_inspect(target: &VersionTarget) -> fb::VersionInspect {
    let (version, model, tag) = write_target(target);
    fb::VersionInspect { version, model, tag, node: None }
}

pub(super) fn read_inspect(inspect: fb::VersionInspectRef<'_>) -> Read<VersionTarget> {
    read_target(inspect.version()?, inspect.model()?, inspect.tag()?, inspect.node()?)
}

pub(super) fn write_swap(
    model: &TensorRef,
    tag: Option<&VersionTag>,
    token: Token,
) -> fb::ModelSwap {
    fb::ModelSwap {
        model: Some(model.to_string()),
        tag: tag.map(ToString::to_string),
        token: Some(uuid_to_id(token.0)),
        node: None,
    }
}

pub(super) fn read_swap(swap: fb::ModelSwapRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::ModelSwap {
        model: read_model(swap.model()?, swap.node()?)?,
        tag: read_tag(swap.tag()?)?,
        token: Token(read::uuid("token", swap.token()?)?),
    })
}

pub(super) fn write_list(prefix: &str) -> fb::ModelList {
    fb::ModelList { prefix: Some(prefix.to_owned()) }
}

pub(super) fn read_list(list: fb::ModelListRef<'_>) -> Read<RequestBody> {
    let prefix = read::text_up_to("prefix", list.prefix()?, caps::NAME_BYTES)?;
    Ok(RequestBody::ModelList { prefix })
}
