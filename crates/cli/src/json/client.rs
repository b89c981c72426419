//! Clients and what they hold, as JSON.

use millpond_wire::message::{ClientInfo, LeaseInfo};
use serde::Serialize;

/// One lease.
#[derive(Debug, Serialize)]
pub struct LeaseJson {
    /// On what.
    tensor: String,
    /// That tensor's name.
    name: Option<String>,
    /// `ro` or `rw`.
    mode: &'static str,
    /// That tensor's bytes.
    bytes: u64,
    /// Since when.
    since_unix_ms: u64,
    /// Who holds it.
    client: String,
    /// That client's process.
    pid: u32,
    /// That client's program.
    program: String,
}

impl From<&LeaseInfo> for LeaseJson {
    fn from(lease: &LeaseInfo) -> Self {
        Self {
            tensor: lease.tensor.to_string(),
            name: lease.name.as_ref().map(ToString::to_string),
            mode: lease.mode.name(),
            bytes: lease.bytes,
            since_unix_ms: lease.since_unix_ms,
            client: lease.client.to_string(),
            pid: lease.pid,
            program: lease.program.clone(),
        }
    }
}

/// `ps`.
#[derive(Debug, Serialize)]
pub struct ClientsJson {
    /// Everybody who is connected, or silent and alive.
    pub clients: Vec<ClientJson>,
}

/// One client.
#[derive(Debug, Serialize)]
pub struct ClientJson {
    /// Identity.
    id: String,
    /// Process, as the daemon sees it.
    pid: u32,
    /// User id.
    user: u32,
    /// What it calls itself.
    program: String,
    /// Since when it is known.
    since_unix_ms: u64,
    /// Lives, but has no connection: it keeps what it holds.
    silent: bool,
    /// Is a mover of the pond's own.
    mover: bool,
    /// Bytes of the tensors it holds, each counted once.
    held_bytes: u64,
    /// What it holds.
    leases: Vec<LeaseJson>,
}

impl From<&ClientInfo> for ClientJson {
    fn from(client: &ClientInfo) -> Self {
        Self {
            id: client.client.to_string(),
            pid: client.pid,
            user: client.user,
            program: client.program.clone(),
            since_unix_ms: client.since_unix_ms,
            silent: client.silent,
            mover: client.mover,
            held_bytes: held_bytes(client),
            leases: client.leases.iter().map(LeaseJson::from).collect(),
        }
    }
}

/// Bytes of the tensors that a client holds, each counted once however many leases it has on it.
pub fn held_bytes(client: &ClientInfo) -> u64 {
    let mut seen = std::collections::HashSet::new();
    client.leases.iter().filter(|lease| seen.insert(lease.tensor)).map(|lease| lease.bytes).sum()
}
