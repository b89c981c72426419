//! Requests and replies about models, to bytes and back.

use super::model::{
    ModelInfo, PartInfo, PartSpec, VersionCommit, VersionDetails, VersionGet, VersionGrant,
    VersionInfo, VersionStage, VersionState,
};
use super::read::{self, DecodeError, Read};
use super::reply_read::{self, Entries};
use super::reply_write::write_lease;
use super::{Audience, Mode, uuid_to_id};
use crate::model_name::model_name;
use crate::{
    ContentHash, LeaseId, ModelRef, Piece, Run, TensorId, TensorRef, Token, VersionId, VersionTag,
    VersionTarget, backing, limits,
};
use millpond_schema::message as fb;

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
    read::at_most("parts", parts.len(), limits::PARTS)?;
    let mut specs = Vec::with_capacity(parts.len());
    for part in parts {
        let part = part?;
        let shared = part.shared()?.map(|id| TensorId(super::id_to_uuid(id)));
        specs.push(PartSpec { bytes: part.bytes()?, shared });
    }
    Ok(VersionStage {
        version: VersionId(read::uuid("version", stage.version()?)?),
        model: model_name(read::required("model", stage.model()?)?)?,
        tag: read_tag(stage.tag()?)?,
        device: stage.device()?.map(|device| read::gpu("device", Some(device))).transpose()?,
        audience: read::code("audience", stage.audience()?, Audience::from_code)?,
        parts: specs,
        lease: Some(LeaseId(stage.lease()?)).filter(|lease| lease.0 != 0),
    })
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
        source: read::text("source", commit.source()?, limits::TEXT_BYTES)?,
    })
}

type Written = (Option<fb::Id>, Option<String>, Option<String>);

pub(super) fn write_target(target: &VersionTarget) -> Written {
    match target {
        VersionTarget::Id(version) => (Some(uuid_to_id(version.0)), None, None),
        VersionTarget::Name(ModelRef { model, tag }) => {
            (None, Some(model.to_string()), tag.as_ref().map(ToString::to_string))
        }
    }
}

pub(super) fn read_target(
    version: Option<fb::IdRef<'_>>,
    model: Option<&str>,
    tag: Option<&str>,
    node: Option<fb::IdRef<'_>>,
) -> Read<VersionTarget> {
    match version {
        Some(id) => {
            read::own_node(node)?;
            Ok(VersionTarget::Id(VersionId(super::id_to_uuid(id))))
        }
        None => {
            let model = read_model(model, node)?;
            Ok(VersionTarget::Name(ModelRef { model, tag: read_tag(tag)? }))
        }
    }
}

pub(super) fn read_model(model: Option<&str>, node: Option<fb::IdRef<'_>>) -> Read<TensorRef> {
    read::own_node(node)?;
    let model = read::required("model", model)?;
    // A name, and before it '~', ten digits and a slash.
    read::at_most("model", model.len(), limits::NAME_BYTES + 12)?;
    Ok(model.parse::<TensorRef>()?)
}

pub(super) fn read_tag(tag: Option<&str>) -> Read<Option<VersionTag>> {
    Ok(tag.map(VersionTag::new).transpose()?)
}

pub(super) fn read_get(get: fb::VersionGetRef<'_>) -> Read<VersionGet> {
    let lease = Some(get.lease()?).filter(|lease| *lease != 0);
    Ok(VersionGet {
        target: read_target(get.version()?, get.model()?, get.tag()?, get.node()?)?,
        lease: LeaseId(lease.ok_or(DecodeError::Missing("lease"))?),
        mode: read::code("mode", get.mode()?, Mode::from_code)?,
        wait_ms: get.wait_ms()?,
    })
}

pub(super) fn write_spans<T>(
    spans: &[T],
    span: impl Fn(&T) -> (u64, u64),
) -> Option<Vec<fb::Span>> {
    let spans = spans.iter().map(span).map(|(offset, bytes)| fb::Span { offset, bytes });
    Some(spans.collect())
}

/// The pieces of a move and the runs of a file that they are, which must be as many bytes.
pub(super) fn read_pieces(
    moving: fb::TensorMoveRef<'_>,
    has_file: bool,
) -> Read<(Vec<Piece>, Vec<Run>)> {
    let bad = |field, value| DecodeError::BadValue { field, value };
    let (mut pieces, mut runs) = (Vec::new(), Vec::new());
    let mut left = 0_u64;
    let spans = read::required("pieces", moving.pieces()?)?;
    read::at_most("pieces", spans.len(), limits::PIECES_PER_MOVE)?;
    for span in spans {
        let piece = Piece { offset: span.offset(), bytes: span.bytes() };
        let fits = (1..=limits::PIECE_BYTES).contains(&piece.bytes)
            && piece.offset.checked_add(piece.bytes).is_some();
        if !fits {
            return Err(bad("pieces", piece.bytes));
        }
        left += piece.bytes;
        pieces.push(piece);
    }
    if let Some(spans) = moving.runs()? {
        read::at_most("runs", spans.len(), limits::RUNS_PER_MOVE)?;
        for span in spans {
            let run = Run { file_offset: span.offset(), bytes: span.bytes() };
            let fits = run.bytes > 0 && run.file_offset.checked_add(run.bytes).is_some();
            left = left.checked_sub(run.bytes).filter(|_| fits).ok_or(bad("runs", run.bytes))?;
            runs.push(run);
        }
    }
    if has_file && left != 0 || !has_file && !runs.is_empty() {
        return Err(bad("runs", left));
    }
    Ok((pieces, runs))
}

pub(super) fn write_hashes(hashes: &[ContentHash]) -> Option<Vec<u8>> {
    (!hashes.is_empty()).then(|| hashes.iter().flat_map(|hash| hash.0).collect())
}

pub(super) fn read_hashes(bytes: Option<&[u8]>) -> Read<Vec<ContentHash>> {
    let bytes = bytes.unwrap_or_default();
    let (hashes, rest) = bytes.as_chunks::<16>();
    read::at_most("hashes", hashes.len(), limits::PIECES_PER_MOVE)?;
    if !rest.is_empty() {
        return Err(DecodeError::BadValue { field: "hashes", value: bytes.len() as u64 });
    }
    Ok(hashes.iter().map(|hash| ContentHash(*hash)).collect())
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

pub(super) fn write_info(info: &VersionInfo) -> fb::VersionInfo {
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

pub(super) fn read_info(info: fb::VersionInfoRef<'_>) -> Read<VersionInfo> {
    let hash = |field, bytes: Option<&[u8]>| -> Read<Option<ContentHash>> {
        bytes.map(|bytes| Ok(ContentHash(read::bytes16(field, bytes)?))).transpose()
    };
    Ok(VersionInfo {
        version: VersionId(read::uuid("version", info.version()?)?),
        model: model_name(read::required("model", info.model()?)?)?,
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
        source: read::text("source", info.source()?, limits::TEXT_BYTES)?,
        stager_pid: Some(info.stager_pid()?).filter(|pid| *pid != 0),
    })
}

pub(super) fn write_grant(grant: &VersionGrant) -> fb::VersionReply {
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

pub(super) fn read_grant(grant: fb::VersionReplyRef<'_>, entries: &Entries) -> Read<VersionGrant> {
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
        parts: reply_read::list("parts", grant.parts()?, entries, read_part)?,
        lease,
        manifest: grant.manifest()?,
        slabs: grant.slabs()?,
    })
}

pub(super) fn write_details(details: &VersionDetails) -> fb::VersionDetails {
    fb::VersionDetails {
        info: Some(Box::new(write_info(&details.info))),
        parts: write_parts(&details.parts),
        leases: Some(details.leases.iter().map(write_lease).collect()),
    }
}

pub(super) fn read_details(
    details: fb::VersionDetailsRef<'_>,
    entries: &Entries,
) -> Read<VersionDetails> {
    Ok(VersionDetails {
        info: read_info(read::required("info", details.info()?)?)?,
        parts: reply_read::list("parts", details.parts()?, entries, read_part)?,
        leases: reply_read::list("leases", details.leases()?, entries, reply_read::read_lease)?,
    })
}

pub(super) fn write_model(model: &ModelInfo) -> fb::ModelInfo {
    fb::ModelInfo {
        name: Some(model.name.to_string()),
        user: model.user,
        versions: Some(model.versions.iter().map(write_info).collect()),
    }
}

pub(super) fn read_model_info(model: fb::ModelInfoRef<'_>, entries: &Entries) -> Read<ModelInfo> {
    Ok(ModelInfo {
        name: model_name(read::required("name", model.name()?)?)?,
        user: model.user()?,
        versions: reply_read::list("versions", model.versions()?, entries, read_info)?,
    })
}
