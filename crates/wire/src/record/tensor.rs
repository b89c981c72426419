//! Tensors, and the names of tensors and models.

use millpond_schema::record as fb;

use super::{Read, Record, id, uuid};
use crate::message::{self, record_id_to_uuid};
use crate::{
    ClientId, Dtype, LeaseId, LeaseTarget, Mode, Shape, SlabId, TensorId, TensorName, Token,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorRecord {
    pub tensor: TensorId,
    pub name: Option<TensorName>,
    pub dtype: Dtype,
    pub shape: Shape,
    /// Its slab, which also says owner, audience and GPU.
    pub slab: SlabId,
    pub offset: u64,
    pub bytes: u64,
    pub ready: bool,
    pub generation: u64,
    /// Ends with its creator.
    pub ephemeral: bool,
    pub creator: ClientId,
    pub created_unix_ms: u64,
    pub published: Option<Token>,
    /// Deleted, with leases left.
    pub deleted: bool,
    /// When its time is over, on the clock that counts from the machine's start.
    pub expires_boot_ms: Option<u64>,
    /// How long it stays after its last lease.
    pub linger_ms: Option<u64>,
    /// How many gets are still answered.
    pub accesses_left: Option<u64>,
    /// A slab of a version's arena: it lives as long as a version has it.
    pub part: bool,
    pub renamed: Option<Token>,
    /// It lives as long as it is held.
    pub held: bool,
    /// The token of the hold that its create was.
    pub hold: Option<Token>,
}

pub(super) fn write_made(tensor: &TensorRecord) -> fb::TensorMade {
    fb::TensorMade {
        tensor: id(tensor.tensor.0),
        name: tensor.name.as_ref().map(ToString::to_string),
        dtype: tensor.dtype.code(),
        shape: Some(tensor.shape.dims().to_vec()),
        slab: id(tensor.slab.0),
        offset: tensor.offset,
        bytes: tensor.bytes,
        ready: tensor.ready,
        generation: tensor.generation,
        ephemeral: tensor.ephemeral,
        creator: id(tensor.creator.0),
        created_unix_ms: tensor.created_unix_ms,
        published: tensor.published.and_then(|token| id(token.0)),
        deleted: tensor.deleted,
        expires_boot_ms: tensor.expires_boot_ms,
        linger_ms: tensor.linger_ms,
        accesses_left: tensor.accesses_left,
        part: tensor.part,
        renamed: tensor.renamed.and_then(|token| id(token.0)),
        held: tensor.held,
        hold: tensor.hold.and_then(|token| id(token.0)),
    }
}

pub(super) fn read_made(tensor: fb::TensorMadeRef<'_>) -> Read<TensorRecord> {
    Ok(TensorRecord {
        tensor: TensorId(uuid("tensor", tensor.tensor()?)?),
        name: message::name(tensor.name()?)?,
        dtype: message::dtype(tensor.dtype()?)?,
        shape: message::shape(tensor.shape()?)?,
        slab: SlabId(uuid("slab", tensor.slab()?)?),
        offset: tensor.offset()?,
        bytes: tensor.bytes()?,
        ready: tensor.ready()?,
        generation: tensor.generation()?,
        ephemeral: tensor.ephemeral()?,
        creator: ClientId(uuid("creator", tensor.creator()?)?),
        created_unix_ms: tensor.created_unix_ms()?,
        published: tensor.published()?.map(|id| Token(record_id_to_uuid(id))),
        deleted: tensor.deleted()?,
        expires_boot_ms: tensor.expires_boot_ms()?,
        linger_ms: tensor.linger_ms()?,
        accesses_left: tensor.accesses_left()?,
        part: tensor.part()?,
        renamed: tensor.renamed()?.map(|id| Token(record_id_to_uuid(id))),
        held: tensor.held()?,
        hold: tensor.hold()?.map(|id| Token(record_id_to_uuid(id))),
    })
}

pub(super) fn write_published(
    tensor: TensorId,
    token: Token,
    generation: u64,
    name: Option<&TensorName>,
    replaced: Option<TensorId>,
) -> fb::TensorPublished {
    fb::TensorPublished {
        tensor: id(tensor.0),
        token: id(token.0),
        generation,
        name: name.map(ToString::to_string),
        replaced: replaced.and_then(|tensor| id(tensor.0)),
    }
}

pub(super) fn read_published(published: fb::TensorPublishedRef<'_>) -> Read<Record> {
    Ok(Record::TensorPublished {
        tensor: TensorId(uuid("tensor", published.tensor()?)?),
        token: Token(uuid("token", published.token()?)?),
        generation: published.generation()?,
        name: message::name(published.name()?)?,
        replaced: published.replaced()?.map(|id| TensorId(record_id_to_uuid(id))),
    })
}

/// A lease that a counted get was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedLease {
    pub client: ClientId,
    pub lease: LeaseId,
    pub mode: Mode,
    pub ended: bool,
    /// A hash of the name that it was asked by; zero if it was asked by identity.
    pub asked: u64,
}

pub(super) fn write_accessed(
    tensor: TensorId,
    accesses_left: u64,
    lease: Option<&CountedLease>,
) -> fb::TensorAccessed {
    fb::TensorAccessed {
        tensor: id(tensor.0),
        accesses_left,
        client: lease.and_then(|lease| id(lease.client.0)),
        lease: lease.map_or(0, |lease| lease.lease.0),
        mode: lease.map_or(0, |lease| lease.mode.code()),
        ended: lease.is_some_and(|lease| lease.ended),
        asked: lease.map_or(0, |lease| lease.asked),
    }
}

pub(super) fn read_accessed(accessed: fb::TensorAccessedRef<'_>) -> Read<Record> {
    let lease = match accessed.client()? {
        None => None,
        Some(client) => Some(CountedLease {
            client: ClientId(record_id_to_uuid(client)),
            lease: LeaseId(accessed.lease()?),
            mode: message::code("mode", accessed.mode()?, Mode::from_code)?,
            ended: accessed.ended()?,
            asked: accessed.asked()?,
        }),
    };
    Ok(Record::TensorAccessed {
        tensor: TensorId(uuid("tensor", accessed.tensor()?)?),
        accesses_left: accessed.accesses_left()?,
        lease,
    })
}

pub(super) fn write_deleted(tensor: TensorId) -> fb::TensorDeleted {
    fb::TensorDeleted { tensor: id(tensor.0) }
}

pub(super) fn write_freed(tensor: TensorId) -> fb::TensorFreed {
    fb::TensorFreed { tensor: id(tensor.0) }
}

pub(super) fn write_renamed(object: LeaseTarget, name: &TensorName, token: Token) -> fb::Renamed {
    fb::Renamed {
        tensor: object.tensor().and_then(|tensor| id(tensor.0)),
        version: object.version().and_then(|version| id(version.0)),
        name: Some(name.to_string()),
        token: id(token.0),
    }
}

pub(super) fn read_renamed(renamed: fb::RenamedRef<'_>) -> Read<Record> {
    let [tensor, version] =
        [renamed.tensor()?, renamed.version()?].map(|id| id.map(record_id_to_uuid));
    Ok(Record::Renamed {
        object: message::required("tensor", message::target(tensor, version)?)?,
        name: message::required("name", message::name(renamed.name()?)?)?,
        token: Token(uuid("token", renamed.token()?)?),
    })
}
