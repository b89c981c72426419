//! Clients and what they hold, as JSON.

use millpond_wire::message::{ClientInfo, LeaseInfo};
use serde::Serialize;

use crate::commands::ps::{Process, Versions};

/// One lease.
#[derive(Debug, Serialize)]
pub struct LeaseJson {
    /// On what.
    tensor: String,
    /// That tensor's name, or the model's.
    name: Option<String>,
    /// The tag of the version, if it is one.
    version: Option<String>,
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

impl LeaseJson {
    /// A lease, with the tag of its version where it has one.
    pub fn new(lease: &LeaseInfo, version: Option<String>) -> Self {
        Self {
            version,
            tensor: lease.target.to_string(),
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
    /// Everybody who is connected, or silent and alive: one for each process.
    pub processes: Vec<ProcessJson>,
    /// The same, one for each connection.
    pub clients: Vec<ClientJson>,
}

/// One process.
#[derive(Debug, Serialize)]
pub struct ProcessJson {
    /// As the daemon sees it.
    pid: u32,
    /// User id.
    user: u32,
    /// What it calls itself.
    program: String,
    /// Since when its first connection is known.
    since_unix_ms: u64,
    /// Lives, but has no connection: it keeps what it holds.
    silent: bool,
    /// Is a mover of the pond's own.
    mover: bool,
    /// How many of `clients` it is.
    connections: usize,
    /// How many leases it has.
    lease_count: usize,
    /// Bytes of the tensors it holds, each counted once.
    held_bytes: u64,
    /// Their names, and those of versions as in `llama@v1`.
    holds: Vec<String>,
}

impl From<&Process> for ProcessJson {
    fn from(process: &Process) -> Self {
        Self {
            pid: process.pid,
            user: process.user,
            program: process.program.clone(),
            since_unix_ms: process.since_unix_ms,
            silent: process.silent,
            mover: process.mover,
            connections: process.connections,
            lease_count: process.leases,
            held_bytes: process.held_bytes,
            holds: process.holds.clone(),
        }
    }
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

impl ClientJson {
    /// A client, with the tags of what versions it holds.
    pub fn new(client: &ClientInfo, versions: &Versions) -> Self {
        let lease = |lease: &LeaseInfo| LeaseJson::new(lease, versions.get(&lease.target).cloned());
        Self {
            id: client.client.to_string(),
            pid: client.pid,
            user: client.user,
            program: client.program.clone(),
            since_unix_ms: client.since_unix_ms,
            silent: client.silent,
            mover: client.mover,
            held_bytes: held_bytes(client),
            leases: client.leases.iter().map(lease).collect(),
        }
    }
}

/// Bytes of the tensors that a client holds, each counted once however many leases it has on it.
fn held_bytes(client: &ClientInfo) -> u64 {
    let mut seen = std::collections::HashSet::new();
    client.leases.iter().filter(|lease| seen.insert(lease.target)).map(|lease| lease.bytes).sum()
}
