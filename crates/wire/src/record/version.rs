//! Versions of models.

use millpond_schema::record as fb;

use super::{Read, Record, id, uuid};
use crate::message::{self, record_id_to_uuid, uuid_to_record_id};
use crate::model_name::known_model_name;
use crate::{
    Audience, ClientId, ContentHash, GpuUuid, TensorId, TensorName, Token, VersionId, VersionTag,
    caps,
};

/// A version of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRecord {
    pub version: VersionId,
    pub model: TensorName,
    pub tag: VersionTag,
    pub tenant: String,
    pub user: u32,
    pub group: u32,
    pub device: GpuUuid,
    pub audience: Audience,
    /// The slabs of its arena, in order.
    pub parts: Vec<TensorId>,
    pub creator: ClientId,
    pub created_unix_ms: u64,
    /// Other users than its owner who get a lease on it are recorded.
    pub borrowers_recorded: bool,
}

pub(super) fn write_staged(staged: &VersionRecord) -> fb::VersionStaged {
    fb::VersionStaged {
        version: id(staged.version.0),
        model: Some(staged.model.to_string()),
        tag: Some(staged.tag.to_string()),
        tenant: Some(staged.tenant.clone()),
        user: staged.user,
        group: staged.group,
        device: Some(staged.device.0.to_vec()),
        audience: staged.audience.code(),
        parts: Some(staged.parts.iter().map(|part| uuid_to_record_id(part.0)).collect()),
        creator: id(staged.creator.0),
        created_unix_ms: staged.created_unix_ms,
        borrowers_recorded: staged.borrowers_recorded,
    }
}

pub(super) fn read_staged(staged: fb::VersionStagedRef<'_>) -> Read<VersionRecord> {
    let parts = message::required("parts", staged.parts()?)?;
    message::at_most("parts", parts.len(), caps::PARTS)?;
    Ok(VersionRecord {
        version: VersionId(uuid("version", staged.version()?)?),
        model: known_model_name(message::required("model", staged.model()?)?)?,
        tag: VersionTag::new(message::required("tag", staged.tag()?)?)?,
        tenant: message::text_up_to("tenant", staged.tenant()?, caps::NAME_BYTES)?,
        user: staged.user()?,
        group: staged.group()?,
        device: message::gpu("device", staged.device()?)?,
        audience: message::code("audience", staged.audience()?, Audience::from_code)?,
        parts: parts.iter().map(|id| TensorId(record_id_to_uuid(id))).collect(),
        creator: ClientId(uuid("creator", staged.creator()?)?),
        created_unix_ms: staged.created_unix_ms()?,
        borrowers_recorded: staged.borrowers_recorded()?,
    })
}

/// What a version is, once it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyRecord {
    pub version: VersionId,
    pub token: Token,
    /// Hash of where everything lies.
    pub layout: ContentHash,
    pub content: ContentHash,
    pub tensors: u32,
    pub bytes: u64,
    pub source: String,
    pub ready_unix_ms: u64,
    /// It became the current one in the same step.
    pub current: bool,
}

pub(super) fn write_ready(ready: &ReadyRecord) -> fb::VersionReady {
    fb::VersionReady {
        version: id(ready.version.0),
        token: id(ready.token.0),
        layout: Some(ready.layout.0.to_vec()),
        content: Some(ready.content.0.to_vec()),
        tensors: ready.tensors,
        bytes: ready.bytes,
        source: Some(ready.source.clone()),
        ready_unix_ms: ready.ready_unix_ms,
        current: ready.current,
    }
}

pub(super) fn read_ready(ready: fb::VersionReadyRef<'_>) -> Read<ReadyRecord> {
    Ok(ReadyRecord {
        version: VersionId(uuid("version", ready.version()?)?),
        token: Token(uuid("token", ready.token()?)?),
        layout: hash("layout", ready.layout()?)?,
        content: hash("content", ready.content()?)?,
        tensors: ready.tensors()?,
        bytes: ready.bytes()?,
        source: message::text_up_to("source", ready.source()?, caps::TEXT_BYTES)?,
        ready_unix_ms: ready.ready_unix_ms()?,
        current: ready.current()?,
    })
}

fn hash(field: &'static str, bytes: Option<&[u8]>) -> Read<ContentHash> {
    Ok(ContentHash(message::bytes16(field, message::required(field, bytes)?)?))
}

pub(super) fn write_current(version: VersionId, token: Option<Token>) -> fb::VersionCurrent {
    fb::VersionCurrent { version: id(version.0), token: token.and_then(|token| id(token.0)) }
}

pub(super) fn read_current(current: fb::VersionCurrentRef<'_>) -> Read<Record> {
    Ok(Record::VersionCurrent {
        version: VersionId(uuid("version", current.version()?)?),
        token: current.token()?.map(|id| Token(record_id_to_uuid(id))),
    })
}

pub(super) fn write_draining(version: VersionId) -> fb::VersionDraining {
    fb::VersionDraining { version: id(version.0) }
}

pub(super) fn write_borrowed(version: VersionId, user: u32) -> fb::VersionBorrowed {
    fb::VersionBorrowed { version: id(version.0), user }
}

pub(super) fn read_borrowed(borrowed: fb::VersionBorrowedRef<'_>) -> Read<Record> {
    let version = VersionId(uuid("version", borrowed.version()?)?);
    Ok(Record::VersionBorrowed { version, user: borrowed.user()? })
}

pub(super) fn write_gone(version: VersionId) -> fb::VersionGone {
    fb::VersionGone { version: id(version.0) }
}
