//! Clients and their leases.
//!
//! A client is a process. It outlives its connections: a hang-up makes it silent, and only its
//! goodbye or the end of its process ends its leases.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use millpond_wire::{ClientId, LeaseId, LeaseTarget, Mode};

use super::owner::{Caller, Owner};
use super::ports::ConnId;

/// The right to use one tensor or one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// On what.
    pub target: LeaseTarget,
    /// How it is mapped.
    pub mode: Mode,
    /// Since when.
    pub since_ms: u64,
    /// It is in the journal, because it came with a get that counts.
    pub counted: bool,
}

/// One process.
#[derive(Clone, Debug)]
pub struct Client<F> {
    /// User and groups, never admin: that is a property of a connection.
    pub caller: Caller,
    /// Process, as the daemon sees it.
    pub pid: u32,
    /// What it calls itself.
    pub program: String,
    /// Since when it is known.
    pub since_ms: u64,
    /// Fires when the process is gone. Taken when the client is first recorded: until then its
    /// hang-up is its end, and it costs one descriptor less.
    pub pidfd: Option<F>,
    /// `None` while it is silent.
    pub conn: Option<ConnId>,
    /// It may hold leases of an earlier daemon that it has not claimed yet.
    pub unclaimed: bool,
    /// It is in the journal and its pidfd is held: from its first lease on.
    pub recorded: bool,
    /// Its first hold was an event, so its end is one too. A client that never holds anything makes
    /// neither: commands that only look would push everything else out of the events that are kept.
    pub announced: bool,
    /// What it holds.
    pub leases: BTreeMap<LeaseId, Lease>,
    /// A mover, of this daemon or an earlier one.
    pub mover: bool,
}

impl<F> Client<F> {
    /// Lives, but has no connection. A mover needs none.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.conn.is_none() && !self.mover
    }

    /// The owner of what this client makes.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.caller.owner
    }
}

/// One connection, with or without its hello.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Who connected.
    pub caller: Caller,
    /// Process, as the daemon sees it.
    pub pid: u32,
    /// After the hello.
    pub client: Option<ClientId>,
    /// Requests that are to be answered later.
    pub pending: u32,
    /// Has broken the protocol before: once is enough for the log.
    pub blamed: bool,
}

/// All clients and connections.
#[derive(Debug)]
pub struct Clients<F> {
    /// Processes.
    pub clients: BTreeMap<ClientId, Client<F>>,
    /// Connections.
    pub conns: BTreeMap<ConnId, Connection>,
    /// How many clients have not claimed yet.
    unclaimed: usize,
    tenants: HashMap<String, Rc<str>>,
}

impl<F> Default for Clients<F> {
    fn default() -> Self {
        Self {
            clients: BTreeMap::new(),
            conns: BTreeMap::new(),
            unclaimed: 0,
            tenants: HashMap::new(),
        }
    }
}

impl<F> Clients<F> {
    /// One shared text for each tenant.
    pub fn tenant(&mut self, name: &str) -> Rc<str> {
        if let Some(tenant) = self.tenants.get(name) {
            return Rc::clone(tenant);
        }
        let tenant: Rc<str> = name.into();
        self.tenants.insert(name.to_owned(), Rc::clone(&tenant));
        tenant
    }

    /// Adds a client.
    pub fn insert(&mut self, id: ClientId, client: Client<F>) {
        self.unclaimed += usize::from(client.unclaimed);
        self.clients.insert(id, client);
    }

    /// Takes a client out.
    pub fn remove(&mut self, id: ClientId) -> Option<Client<F>> {
        let client = self.clients.remove(&id)?;
        self.unclaimed -= usize::from(client.unclaimed);
        Some(client)
    }

    /// The client has said all that it holds.
    pub fn claimed(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get_mut(&id)
            && std::mem::replace(&mut client.unclaimed, false)
        {
            self.unclaimed -= 1;
        }
    }

    /// Whether a client that has not claimed yet may hold something of this owner.
    #[must_use]
    pub fn may_be_held(&self, could_use: impl Fn(&Caller) -> bool) -> bool {
        self.unclaimed > 0
            && self.clients.values().any(|client| client.unclaimed && could_use(&client.caller))
    }

    /// Clients without a connection.
    #[must_use]
    pub fn silent(&self) -> usize {
        self.clients.values().filter(|client| client.is_silent()).count()
    }

    /// All leases.
    #[must_use]
    pub fn leases(&self) -> usize {
        self.clients.values().map(|client| client.leases.len()).sum()
    }
}
