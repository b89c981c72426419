//! What is known about a tensor, and what a lease on it comes with.

use millpond_schema::message as fb;

use super::super::list::{Entries, list};
use super::super::read::{self, Read, uuid_to_id};
use super::super::session::{read_lease_info, write_lease_info};
use super::super::{Audience, LeaseInfo, LeaseToken, Life, Mode, ReplyBody, TensorState};
use crate::{
    Backing, Dtype, GpuUuid, HANDLE_BYTES, LeaseId, Shape, SlabId, Survives, TensorId, TensorName,
    TransportKind, backing,
};

/// What is known about a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    pub tensor: TensorId,
    /// Name inside its owner's scope.
    pub name: Option<TensorName>,
    pub dtype: Dtype,
    pub shape: Shape,
    pub device: GpuUuid,
    pub bytes: u64,
    /// Writing, ready or deleted.
    pub state: TensorState,
    pub generation: u64,
    pub user: u32,
    pub audience: Audience,
    /// Ends with its creator's process.
    pub ephemeral: bool,
    pub created_unix_ms: u64,
    pub slab: SlabId,
    pub slab_bytes: u64,
    /// Where in the slab it begins.
    pub offset: u64,
    /// How many leases there are on it.
    pub leases: u32,
    /// What is left of its life.
    pub life: Life,
    pub transport: TransportKind,
    /// Another program made the memory, and the pond took it in.
    pub adopted: bool,
    pub survives: Survives,
    /// The process that keeps the memory; zero where descriptors do.
    pub home_pid: u32,
    /// How many holds keep it; `None` where it was not made to be held.
    pub holds: Option<u64>,
}

pub(crate) fn write_info(info: &TensorInfo) -> fb::TensorInfo {
    fb::TensorInfo {
        tensor: Some(uuid_to_id(info.tensor.0)),
        name: read::write_name(info.name.as_ref()),
        dtype: info.dtype.code(),
        shape: Some(info.shape.dims().to_vec()),
        strides: Some(info.shape.strides()),
        device: Some(info.device.0.to_vec()),
        bytes: info.bytes,
        state: info.state.code(),
        generation: info.generation,
        user: info.user,
        audience: info.audience.code(),
        ephemeral: info.ephemeral,
        created_unix_ms: info.created_unix_ms,
        slab: Some(uuid_to_id(info.slab.0)),
        slab_bytes: info.slab_bytes,
        offset: info.offset,
        leases: info.leases,
        ttl_ms: info.life.ttl_ms,
        linger_ms: info.life.linger_ms,
        accesses_left: info.life.accesses,
        transport: info.transport.code(),
        adopted: info.adopted,
        survives: info.survives.code(),
        home_pid: info.home_pid,
        holds: info.holds,
    }
}

pub(crate) fn read_info(info: fb::TensorInfoRef<'_>) -> Read<TensorInfo> {
    Ok(TensorInfo {
        tensor: TensorId(read::uuid("tensor", info.tensor()?)?),
        name: read::name(info.name()?)?,
        dtype: read::dtype(info.dtype()?)?,
        shape: read::shape(info.shape()?)?,
        device: read::gpu("device", info.device()?)?,
        bytes: info.bytes()?,
        state: read::code("state", info.state()?, TensorState::from_code)?,
        generation: info.generation()?,
        user: info.user()?,
        audience: read::code("audience", info.audience()?, Audience::from_code)?,
        ephemeral: info.ephemeral()?,
        created_unix_ms: info.created_unix_ms()?,
        slab: SlabId(read::uuid("slab", info.slab()?)?),
        slab_bytes: info.slab_bytes()?,
        offset: info.offset()?,
        leases: info.leases()?,
        life: Life {
            ttl_ms: info.ttl_ms()?,
            linger_ms: info.linger_ms()?,
            accesses: info.accesses_left()?,
        },
        transport: read::code("transport", info.transport()?, TransportKind::from_code)?,
        adopted: info.adopted()?,
        survives: read::code("survives", info.survives()?, Survives::from_code)?,
        home_pid: info.home_pid()?,
        holds: info.holds()?,
    })
}

/// A tensor with or without a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorGrant {
    pub info: TensorInfo,
    /// The lease that was asked for, with its proof.
    pub lease: Option<(LeaseId, Mode, LeaseToken)>,
    /// Of a create: the tensor already existed, and nothing of the request was applied to it.
    pub existed: bool,
    /// How the slab is reached, with a lease, and for a hold and a peek.
    pub backing: Backing,
    /// The event that carries order between streams of two processes, where the memory has one.
    pub event: Option<[u8; HANDLE_BYTES]>,
}

pub(in super::super) fn write_grant(grant: &TensorGrant) -> fb::TensorReply {
    let (lease, mode, token) = match &grant.lease {
        Some((lease, mode, token)) => (lease.0, mode.code(), Some(token.to_vec())),
        None => (0, 0, None),
    };
    let (info, existed) = (Some(Box::new(write_info(&grant.info))), grant.existed);
    let backing = backing::write(&grant.backing);
    let event = grant.event.map(|event| event.to_vec());
    fb::TensorReply { info, lease, mode, token, existed, backing, event }
}

pub(in super::super) fn read_grant(grant: fb::TensorReplyRef<'_>) -> Read<TensorGrant> {
    let info = read_info(read::required("info", grant.info()?)?)?;
    let lease = match grant.lease()? {
        0 => None,
        number => Some((
            LeaseId(number),
            read::code("mode", grant.mode()?, Mode::from_code)?,
            read::bytes16("token", read::required("token", grant.token()?)?)?,
        )),
    };
    let (existed, backing) = (grant.existed()?, backing::read(grant.backing()?)?);
    let event = backing::read_handle("event", grant.event()?)?;
    Ok(TensorGrant { info, lease, existed, backing, event })
}

pub(in super::super) fn write_details(
    info: &TensorInfo,
    leases: &[LeaseInfo],
) -> fb::TensorDetails {
    fb::TensorDetails {
        info: Some(Box::new(write_info(info))),
        leases: Some(leases.iter().map(write_lease_info).collect()),
    }
}

pub(in super::super) fn read_details(
    details: fb::TensorDetailsRef<'_>,
    entries: &Entries,
) -> Read<ReplyBody> {
    Ok(ReplyBody::Details {
        info: read_info(read::required("info", details.info()?)?)?,
        leases: list("leases", details.leases()?, entries, read_lease_info)?,
    })
}
