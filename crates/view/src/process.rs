//! Processes, each with all of its connections.

use std::collections::{BTreeSet, HashMap};

use millpond_wire::LeaseTarget;
use millpond_wire::message::{ClientInfo, LeaseInfo};

use crate::Tags;

data! { $
    /// One process.
    pub struct Process as process_fields {
        /// As the daemon sees it; nothing for one outside the daemon's pid namespace.
        pid: Option<u32>,
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
        /// How many clients it is.
        connections: usize,
        /// How many leases it has.
        lease_count: usize,
        /// Bytes of the tensors it holds, each counted once.
        held_bytes: u64,
        /// Their names in order, and those of versions as in `llama@v1`.
        holds: Vec<String>,
    }
}

impl Process {
    /// The processes of these clients, in the order of their first ones.
    #[must_use]
    pub fn all(clients: &[ClientInfo], tags: &Tags) -> Vec<Self> {
        let mut found: Vec<(Self, BTreeSet<LeaseTarget>, BTreeSet<String>)> = Vec::new();
        let mut places = HashMap::new();
        for (index, client) in clients.iter().enumerate() {
            // Without a number nothing says which connections are of one process.
            let unknown = (client.pid == 0).then_some(index);
            let key = (client.pid, unknown, client.user, client.mover);
            let place = *places.entry(key).or_insert_with(|| {
                found.push((Self::of(client), BTreeSet::new(), BTreeSet::new()));
                found.len() - 1
            });
            let Some((process, targets, names)) = found.get_mut(place) else { continue };
            process.since_unix_ms = process.since_unix_ms.min(client.since_unix_ms);
            process.silent &= client.silent;
            process.connections += 1;
            process.lease_count += client.leases.len();
            for lease in &client.leases {
                if targets.insert(lease.target) {
                    process.held_bytes = process.held_bytes.saturating_add(lease.bytes);
                }
                names.insert(shown(lease, tags));
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
            pid: visible(client.pid),
            user: client.user,
            program: client.program.clone(),
            since_unix_ms: client.since_unix_ms,
            silent: true,
            mover: client.mover,
            connections: 0,
            lease_count: 0,
            held_bytes: 0,
            holds: Vec::new(),
        }
    }

    /// The word for its state.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match (self.silent, self.mover) {
            (true, _) => "silent",
            (false, true) => "mover",
            (false, false) => "connected",
        }
    }
}

/// The number of a process; nothing for one outside the daemon's pid namespace.
#[must_use]
pub fn visible(pid: u32) -> Option<u32> {
    Some(pid).filter(|pid| *pid != 0)
}

/// The number of a process in a table.
#[must_use]
pub fn pid_text(pid: Option<u32>) -> String {
    pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string())
}

fn shown(lease: &LeaseInfo, tags: &Tags) -> String {
    match (&lease.name, tags.of(lease)) {
        (Some(name), Some(tag)) => format!("{name}@{tag}"),
        (Some(name), None) => name.to_string(),
        (None, _) => lease.target.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{ClientId, Mode, TensorId, TensorName, VersionId, VersionTag};

    use super::*;

    fn client(names: &[&str]) -> ClientInfo {
        let id = ClientId::random();
        let lease = |name: &&str| LeaseInfo {
            target: TensorId::random().into(),
            name: Some(TensorName::new(*name).unwrap()),
            mode: Mode::ReadOnly,
            bytes: 1 << 20,
            since_unix_ms: 0,
            client: Some(id),
            pid: 7,
            program: "python".into(),
        };
        ClientInfo {
            client: Some(id),
            pid: 7,
            user: 1,
            program: "python".into(),
            since_unix_ms: 9,
            silent: true,
            leases: names.iter().map(lease).collect(),
            mover: false,
        }
    }

    #[test]
    fn several_connections_of_a_process_are_one_process() {
        let mut holds = client(&["net"]);
        let version = VersionId::random();
        holds.leases[0].target = version.into();
        let mut watches = client(&[]);
        (watches.silent, watches.since_unix_ms) = (false, 1);
        let mut both = client(&["x"]);
        both.leases.push(holds.leases[0].clone());
        let tags = Tags::of_version(version, &VersionTag::new("v1").unwrap());
        let clients = [holds, watches, both];
        let processes = Process::all(&clients, &tags);
        assert_eq!(processes.len(), 1);
        let process = &processes[0];
        assert_eq!((process.connections, process.lease_count, process.since_unix_ms), (3, 3, 1));
        assert_eq!(process.held_bytes, 2 << 20, "a tensor counts once");
        assert_eq!((process.state(), process.holds.join(" ").as_str()), ("connected", "net@v1 x"));
        let mut other = client(&[]);
        other.pid = 8;
        assert_eq!(Process::all(&[clients[0].clone(), other], &tags).len(), 2);
    }
}
