//! Tensors: made, found, published, renamed and deleted.

use std::num::NonZeroU32;

use millpond_schema::message as fb;

use super::read::{self, DecodeError, Read, id_to_uuid, uuid_to_id};
use super::session::{read_lease, required_lease};
use super::{Audience, RequestBody, small_enum};
use crate::{
    Backing, Dtype, GpuUuid, LeaseId, LeaseTarget, Mode, Shape, TensorId, TensorName, TensorRef,
    Token, Transport, TransportKind, backing, caps,
};

mod hold;
mod info;

pub use hold::TensorHold;
pub(super) use hold::{read_hold, read_peek, read_unhold, write_hold, write_peek, write_unhold};
pub use info::{TensorGrant, TensorInfo};
pub(super) use info::{read_details, read_grant, write_details, write_grant};
pub(crate) use info::{read_info, write_info};

/// `wait_ms` that never ends.
pub const WAIT_FOREVER: u64 = u64::MAX;

small_enum! {
    /// Where a tensor is in its life.
    TensorState {
        /// Its creator has not published it yet.
        1 Writing "writing",
        /// Published: readers may have it.
        2 Ready "ready",
        /// Deleted, and kept only for the leases that are left.
        3 Deleted "deleted",
        /// The process that kept its memory is gone; what is left is what readers have mapped.
        4 Orphan "orphan",
    }
}

/// A tensor by name or by identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// By name, as its user sees it.
    Name(TensorRef),
    Id(TensorId),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Name(name) => name.fmt(f),
            Target::Id(id) => id.fmt(f),
        }
    }
}

fn write_target(target: &Target) -> (Option<String>, Option<fb::Id>) {
    match target {
        Target::Name(name) => (Some(name.to_string()), None),
        Target::Id(id) => (None, Some(uuid_to_id(id.0))),
    }
}

fn read_target(
    name: Option<&str>,
    id: Option<fb::IdRef<'_>>,
    node: Option<fb::IdRef<'_>>,
) -> Read<Target> {
    read::own_node(node)?;
    match (name, id) {
        (Some(_), Some(_)) => Err(DecodeError::NameAndId),
        (None, Some(id)) => Ok(Target::Id(TensorId(id_to_uuid(id)))),
        (Some(name), None) => {
            // A name, and before it '~', ten digits and a slash.
            read::at_most("name", name.len(), caps::NAME_BYTES + 12)?;
            Ok(Target::Name(name.parse::<TensorRef>()?))
        }
        (None, None) => Err(DecodeError::Missing("name")),
    }
}

/// A tensor to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorCreate {
    /// Made by the client: a repeat finds the tensor instead of making another.
    pub tensor: TensorId,
    /// Without a name it is found by identity only.
    pub name: Option<TensorName>,
    pub dtype: Dtype,
    pub shape: Shape,
    /// The pond's first GPU if absent.
    pub device: Option<GpuUuid>,
    pub audience: Audience,
    /// Ends with its creator's process.
    pub ephemeral: bool,
    /// Filled with zeroes, and so ready at once.
    pub zero: bool,
    /// A read-write lease for the creator.
    pub lease: Option<LeaseId>,
    pub life: Life,
    pub transport: TransportKind,
    /// It is made to be held, and this is the token of its first hold.
    pub hold: Option<Token>,
}

/// How long a tensor lives, beside being deleted. Every end only stops new leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub ttl_ms: Option<u64>,
    /// From the end of its last lease; before it ever had one, from its creation.
    pub linger_ms: Option<u64>,
    /// Answered gets; the creator's own lease is none.
    pub accesses: Option<u64>,
}

pub(super) fn write_create(create: &TensorCreate) -> fb::TensorCreate {
    fb::TensorCreate {
        tensor: Some(uuid_to_id(create.tensor.0)),
        name: read::write_name(create.name.as_ref()),
        dtype: create.dtype.code(),
        shape: Some(create.shape.dims().to_vec()),
        device: create.device.map(|device| device.0.to_vec()),
        audience: create.audience.code(),
        ephemeral: create.ephemeral,
        zero: create.zero,
        lease: create.lease.map_or(0, |lease| lease.0),
        ttl_ms: create.life.ttl_ms,
        linger_ms: create.life.linger_ms,
        max_accesses: create.life.accesses,
        transport: create.transport.code(),
        hold: create.hold.map(|token| uuid_to_id(token.0)),
    }
}

pub(super) fn read_create(create: fb::TensorCreateRef<'_>) -> Read<TensorCreate> {
    let dtype = read::dtype(create.dtype()?)?;
    let shape = read::shape(create.shape()?)?;
    shape.bytes(dtype)?;
    Ok(TensorCreate {
        tensor: TensorId(read::uuid("tensor", create.tensor()?)?),
        name: read::new_name(create.name()?)?,
        dtype,
        shape,
        device: read::some_gpu("device", create.device()?)?,
        audience: read::code("audience", create.audience()?, Audience::from_code)?,
        ephemeral: create.ephemeral()?,
        zero: create.zero()?,
        lease: read_lease(create.lease()?),
        life: Life {
            ttl_ms: create.ttl_ms()?,
            linger_ms: create.linger_ms()?,
            accesses: create.max_accesses()?,
        },
        transport: read::code("transport", create.transport()?, TransportKind::from_code)?,
        hold: create.hold()?.map(|id| Token(id_to_uuid(id))),
    })
}

/// Memory of the caller that becomes a tensor, without a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorAdopt {
    /// Made by the client, as for a create.
    pub tensor: TensorId,
    pub name: Option<TensorName>,
    pub dtype: Dtype,
    pub shape: Shape,
    pub device: GpuUuid,
    pub audience: Audience,
    /// The whole of what the backing shares.
    pub slab_bytes: u64,
    /// Where in it the tensor begins.
    pub offset: u64,
    pub transport: Transport,
}

pub(super) fn write_adopt(adopt: &TensorAdopt) -> fb::TensorAdopt {
    fb::TensorAdopt {
        tensor: Some(uuid_to_id(adopt.tensor.0)),
        name: read::write_name(adopt.name.as_ref()),
        dtype: adopt.dtype.code(),
        shape: Some(adopt.shape.dims().to_vec()),
        device: Some(adopt.device.0.to_vec()),
        audience: adopt.audience.code(),
        slab_bytes: adopt.slab_bytes,
        offset: adopt.offset,
        backing: backing::write(&Backing { transport: adopt.transport, adopted: true }),
    }
}

pub(super) fn read_adopt(adopt: fb::TensorAdoptRef<'_>) -> Read<TensorAdopt> {
    let dtype = read::dtype(adopt.dtype()?)?;
    let shape = read::shape(adopt.shape()?)?;
    shape.bytes(dtype)?;
    Ok(TensorAdopt {
        tensor: TensorId(read::uuid("tensor", adopt.tensor()?)?),
        name: read::new_name(adopt.name()?)?,
        dtype,
        shape,
        device: read::gpu("device", adopt.device()?)?,
        audience: read::code("audience", adopt.audience()?, Audience::from_code)?,
        slab_bytes: adopt.slab_bytes()?,
        offset: adopt.offset()?,
        transport: backing::read(adopt.backing()?)?.transport,
    })
}

pub(super) fn write_adopted_freed(tensor: TensorId) -> fb::AdoptedFreed {
    fb::AdoptedFreed { tensor: Some(uuid_to_id(tensor.0)) }
}

pub(super) fn read_adopted_freed(freed: fb::AdoptedFreedRef<'_>) -> Read<TensorId> {
    read::uuid("tensor", freed.tensor()?).map(TensorId)
}

/// A lease that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorGet {
    pub target: Target,
    pub lease: LeaseId,
    pub mode: Mode,
    /// How long to wait until it exists and is published; zero means not at all.
    pub wait_ms: u64,
}

pub(super) fn write_get(get: &TensorGet) -> fb::TensorGet {
    let (name, tensor) = write_target(&get.target);
    let (lease, mode, wait_ms) = (get.lease.0, get.mode.code(), get.wait_ms);
    fb::TensorGet { name, tensor, lease, mode, wait_ms, node: None }
}

pub(super) fn read_get(get: fb::TensorGetRef<'_>) -> Read<TensorGet> {
    Ok(TensorGet {
        target: read_target(get.name()?, get.tensor()?, get.node()?)?,
        lease: required_lease(get.lease()?)?,
        mode: read::code("mode", get.mode()?, Mode::from_code)?,
        wait_ms: get.wait_ms()?,
    })
}

/// A tensor's bytes are complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPublish {
    pub tensor: TensorId,
    pub token: Token,
    /// The name that it gets with this publish, if it had none.
    pub name: Option<TensorName>,
    /// Another tensor of that name is deleted in the same step.
    pub replace: bool,
}

pub(super) fn write_publish(publish: &TensorPublish) -> fb::TensorPublish {
    fb::TensorPublish {
        tensor: Some(uuid_to_id(publish.tensor.0)),
        token: Some(uuid_to_id(publish.token.0)),
        name: read::write_name(publish.name.as_ref()),
        replace: publish.replace,
    }
}

pub(super) fn read_publish(publish: fb::TensorPublishRef<'_>) -> Read<TensorPublish> {
    Ok(TensorPublish {
        tensor: TensorId(read::uuid("tensor", publish.tensor()?)?),
        token: Token(read::uuid("token", publish.token()?)?),
        name: read::new_name(publish.name()?)?,
        replace: publish.replace()?,
    })
}

pub(super) fn write_delete(tensor: TensorId, unused: bool) -> fb::TensorDelete {
    fb::TensorDelete { tensor: Some(uuid_to_id(tensor.0)), unused }
}

pub(super) fn read_delete(delete: fb::TensorDeleteRef<'_>) -> Read<RequestBody> {
    let tensor = TensorId(read::uuid("tensor", delete.tensor()?)?);
    Ok(match delete.unused()? {
        false => RequestBody::TensorDelete { tensor },
        true => RequestBody::TensorDeleteUnused { tensor },
    })
}

pub(super) fn write_inspect(target: &Target) -> fb::TensorInspect {
    let (name, tensor) = write_target(target);
    fb::TensorInspect { name, tensor, node: None }
}

pub(super) fn read_inspect(inspect: fb::TensorInspectRef<'_>) -> Read<Target> {
    read_target(inspect.name()?, inspect.tensor()?, inspect.node()?)
}

/// A part of a listing, in the order of identities: what is there from the first page to the last is listed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorPage {
    /// The largest identity of the page before; none for the first.
    pub after: Option<TensorId>,
    /// A page with fewer entries is the last.
    pub most: NonZeroU32,
}

pub(super) fn write_list(prefix: &str, page: Option<TensorPage>) -> fb::TensorList {
    fb::TensorList {
        prefix: Some(prefix.to_owned()),
        after: page.and_then(|page| page.after).map(|id| uuid_to_id(id.0)),
        most: page.map_or(0, |page| page.most.get()),
    }
}

pub(super) fn read_list(list: fb::TensorListRef<'_>) -> Read<RequestBody> {
    let prefix = read::text_up_to("prefix", list.prefix()?, caps::NAME_BYTES)?;
    let after = list.after()?.map(|id| TensorId(id_to_uuid(id)));
    let page = NonZeroU32::new(list.most()?).map(|most| TensorPage { after, most });
    Ok(RequestBody::TensorList { prefix, page })
}

/// Another name for a tensor or a model. Leases and mappings stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The tensor, or any version of the model: a repeat cannot hit another object that has got the
    /// old name since.
    pub object: LeaseTarget,
    /// The new name, in the owner's scope.
    pub name: TensorName,
    pub token: Token,
}

pub(super) fn write_rename(rename: &Rename) -> fb::Rename {
    fb::Rename {
        tensor: rename.object.tensor().map(|id| uuid_to_id(id.0)),
        version: rename.object.version().map(|id| uuid_to_id(id.0)),
        name: Some(rename.name.to_string()),
        token: Some(uuid_to_id(rename.token.0)),
    }
}

pub(super) fn read_rename(rename: fb::RenameRef<'_>) -> Read<Rename> {
    let object = read::lease_target(rename.tensor()?, rename.version()?)?;
    Ok(Rename {
        object: read::required("tensor", object)?,
        name: read::required("name", read::new_name(rename.name()?)?)?,
        token: Token(read::uuid("token", rename.token()?)?),
    })
}
