//! Clients and what they hold.

use std::collections::HashSet;

use millpond_wire::ClientId;
use millpond_wire::message::ClientInfo;
use serde::Serialize;

use crate::{Lease, Process, Tags, Text, visible};

/// `ps`.
#[derive(Clone, Debug, Serialize)]
pub struct Clients {
    /// Everybody who is connected, or silent and alive: one for each process.
    pub processes: Vec<Process>,
    /// The same, one for each connection.
    pub clients: Vec<Client>,
}

impl Clients {
    /// Clients, with the tags of the versions they hold.
    #[must_use]
    pub fn new(clients: &[ClientInfo], tags: &Tags) -> Self {
        Self {
            processes: Process::all(clients, tags),
            clients: clients.iter().map(|client| Client::new(client, tags)).collect(),
        }
    }
}

data! { $
    /// One client.
    pub struct Client as client_fields {
        /// Identity; absent for clients of other users.
        id: Option<Text<ClientId>>,
        /// Process, as the daemon sees it; nothing for one outside the daemon's pid namespace.
        pid: Option<u32>,
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
        leases: Vec<Lease>,
    }
}

impl Client {
    /// A client, with the tags of the versions it holds.
    #[must_use]
    pub fn new(client: &ClientInfo, tags: &Tags) -> Self {
        let mut seen = HashSet::new();
        let once = client.leases.iter().filter(|lease| seen.insert(lease.target));
        Self {
            id: client.client.map(Text),
            pid: visible(client.pid),
            user: client.user,
            program: client.program.clone(),
            since_unix_ms: client.since_unix_ms,
            silent: client.silent,
            mover: client.mover,
            held_bytes: once.map(|lease| lease.bytes).sum(),
            leases: client.leases.iter().map(|lease| Lease::new(lease, tags)).collect(),
        }
    }
}
