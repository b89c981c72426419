//! Client processes.

use millpond_schema::record as fb;

use super::{Read, id, uuid};
use crate::{ClientId, caps, message};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRecord {
    pub client: ClientId,
    pub pid: u32,
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
    /// The tenant whose socket it used.
    pub tenant: String,
    /// What it calls itself.
    pub program: String,
    pub since_unix_ms: u64,
    /// A mover of the daemon that wrote this; it may have anything mapped.
    pub mover: bool,
}

pub(super) fn write_seen(client: &ClientRecord) -> fb::ClientSeen {
    fb::ClientSeen {
        client: id(client.client.0),
        pid: client.pid,
        user: client.user,
        group: client.group,
        groups: Some(client.groups.clone()),
        tenant: Some(client.tenant.clone()),
        program: Some(client.program.clone()),
        since_unix_ms: client.since_unix_ms,
        mover: client.mover,
    }
}

pub(super) fn read_seen(client: fb::ClientSeenRef<'_>) -> Read<ClientRecord> {
    let groups = match client.groups()? {
        Some(groups) => {
            message::at_most("groups", groups.len(), caps::GROUPS)?;
            groups.iter().collect()
        }
        None => Vec::new(),
    };
    Ok(ClientRecord {
        client: ClientId(uuid("client", client.client()?)?),
        pid: client.pid()?,
        user: client.user()?,
        group: client.group()?,
        groups,
        tenant: message::text_up_to("tenant", client.tenant()?, caps::NAME_BYTES)?,
        program: message::text_up_to("program", client.program()?, caps::PROGRAM_BYTES)?,
        since_unix_ms: client.since_unix_ms()?,
        mover: client.mover()?,
    })
}

pub(super) fn write_gone(client: ClientId) -> fb::ClientGone {
    fb::ClientGone { client: id(client.0) }
}
