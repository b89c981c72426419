//! Processes, each with all of its connections.

use std::collections::{BTreeSet, HashMap};

use millpond::LeaseTarget;
use millpond_wire::message::ClientInfo;

/// The tags of versions, by the identity that their leases name.
pub type Versions = HashMap<LeaseTarget, String>;

/// One process.
#[derive(Debug)]
pub struct Process {
    /// As the daemon sees it.
    pub pid: u32,
    /// User id.
    pub user: u32,
    /// What it calls itself.
    pub program: String,
    /// Since when its first connection is known.
    pub since_unix_ms: u64,
    /// None of its connections is there: it keeps what it holds.
    pub silent: bool,
    /// The pond's own.
    pub mover: bool,
    /// How many clients it is.
    pub connections: usize,
    /// How many leases it has.
    pub leases: usize,
    /// Bytes of what it holds, each tensor counted once.
    pub held_bytes: u64,
    /// The names of what it holds, in order: `acts/x`, `llama@v1`.
    pub holds: Vec<String>,
}

impl Process {
    /// The processes of these clients, in the order of their first ones.
    pub fn all(clients: &[ClientInfo], versions: &Versions) -> Vec<Self> {
        let mut found: Vec<(Self, BTreeSet<LeaseTarget>, BTreeSet<String>)> = Vec::new();
        let mut places = HashMap::new();
        for client in clients {
            let key = (client.pid, client.user, client.mover);
            let place = *places.entry(key).or_insert_with(|| {
                found.push((Self::of(client), BTreeSet::new(), BTreeSet::new()));
                found.len() - 1
            });
            let Some((process, tensors, names)) = found.get_mut(place) else { continue };
            process.since_unix_ms = process.since_unix_ms.min(client.since_unix_ms);
            process.silent &= client.silent;
            process.connections += 1;
            process.leases += client.leases.len();
            for lease in &client.leases {
                if tensors.insert(lease.target) {
                    process.held_bytes = process.held_bytes.saturating_add(lease.bytes);
                }
                let name = lease.name.as_ref().map_or_else(
                    || lease.target.to_string(),
                    |name| match versions.get(&lease.target) {
                        Some(tag) => format!("{name}@{tag}"),
                        None => name.to_string(),
                    },
                );
                names.insert(name);
            }
        }
        let finished = |(process, _, names): (Self, _, BTreeSet<String>)| Self {
            holds: names.into_iter().collect(),
            ..process
        };
        found.into_iter().map(finished).collect()
    }

    fn of(client: &ClientInfo) -> Self {
        Self {
            pid: client.pid,
            user: client.user,
            program: client.program.clone(),
            since_unix_ms: client.since_unix_ms,
            silent: true,
            mover: client.mover,
            connections: 0,
            leases: 0,
            held_bytes: 0,
            holds: Vec::new(),
        }
    }

    /// The word for how it is.
    pub fn state(&self) -> &'static str {
        match (self.silent, self.mover) {
            (true, _) => "silent",
            (false, true) => "mover",
            (false, false) => "connected",
        }
    }
}
