//! Processes that own memory with legacy handles.

use millpond_schema::record as fb;

use super::{Read, id, uuid};
use crate::{Audience, GpuUuid, HostId, caps, message};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRecord {
    pub host: HostId,
    pub device: GpuUuid,
    pub tenant: String,
    /// Whose memory it owns.
    pub user: u32,
    pub group: u32,
    pub audience: Audience,
    pub pid: u32,
    pub since_unix_ms: u64,
}

pub(super) fn write_made(host: &HostRecord) -> fb::HostMade {
    fb::HostMade {
        host: id(host.host.0),
        device: Some(host.device.0.to_vec()),
        tenant: Some(host.tenant.clone()),
        user: host.user,
        group: host.group,
        audience: host.audience.code(),
        pid: host.pid,
        since_unix_ms: host.since_unix_ms,
    }
}

pub(super) fn read_made(host: fb::HostMadeRef<'_>) -> Read<HostRecord> {
    Ok(HostRecord {
        host: HostId(uuid("host", host.host()?)?),
        device: message::gpu("device", host.device()?)?,
        tenant: message::text_up_to("tenant", host.tenant()?, caps::NAME_BYTES)?,
        user: host.user()?,
        group: host.group()?,
        audience: message::code("audience", host.audience()?, Audience::from_code)?,
        pid: host.pid()?,
        since_unix_ms: host.since_unix_ms()?,
    })
}

pub(super) fn write_gone(host: HostId) -> fb::HostGone {
    fb::HostGone { host: id(host.0) }
}
