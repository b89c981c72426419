//! Clients and their connections.
//!
//! A client is a process. It outlives its connections: a hang-up makes it silent, and only its
//! goodbye or the end of its process ends its leases.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::rc::Rc;

use millpond_wire::{ClientId, TensorId};

use super::owner::{Caller, Owner};
use super::ports::ConnId;
use super::process::Process;
use crate::accounts::{Account, Resource};

#[derive(Clone, Debug)]
pub(super) struct Client<F> {
    /// User and groups, never admin: that is a property of a connection.
    pub caller: Caller,
    pub process: Process,
    /// What it calls itself.
    pub program: String,
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
    /// A mover, of this daemon or an earlier one.
    pub mover: bool,
    /// Pays for the client and its leases.
    pub account: Rc<Account>,
}

impl<F> Client<F> {
    /// Lives, but has no connection. A mover needs none.
    pub(super) fn is_silent(&self) -> bool {
        self.conn.is_none() && !self.mover
    }

    fn payer(&self) -> (u32, Process) {
        (self.caller.owner.user, self.process)
    }

    /// Program and process, for people.
    pub(super) fn label(&self) -> String {
        format!("{} ({})", self.program, self.process)
    }

    /// The owner of what this client makes.
    pub(super) fn owner(&self) -> &Owner {
        &self.caller.owner
    }
}

/// One connection, with or without its hello.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub caller: Caller,
    pub process: Process,
    pub client: Option<ClientId>,
    /// Pays for what is asked here.
    pub account: Rc<Account>,
    /// Has broken the protocol before: once is enough for the log.
    blamed: bool,
    /// Its hello is not answered yet, and what is said unasked comes after that.
    freed_before_welcome: Option<Vec<TensorId>>,
}

/// All clients and connections.
#[derive(Debug)]
pub(super) struct Clients<F> {
    clients: BTreeMap<ClientId, Client<F>>,
    conns: BTreeMap<ConnId, Connection>,
    /// How many clients have not claimed yet.
    unclaimed: usize,
    /// How many each process of a user has.
    by_process: HashMap<(u32, Process), usize>,
    tenants: HashMap<String, Rc<str>>,
}

impl<F> Default for Clients<F> {
    fn default() -> Self {
        Self {
            clients: BTreeMap::new(),
            conns: BTreeMap::new(),
            unclaimed: 0,
            by_process: HashMap::new(),
            tenants: HashMap::new(),
        }
    }
}

impl<F> Clients<F> {
    /// One shared text for each tenant.
    pub(super) fn tenant(&mut self, name: &str) -> Rc<str> {
        if let Some(tenant) = self.tenants.get(name) {
            return Rc::clone(tenant);
        }
        let tenant: Rc<str> = name.into();
        self.tenants.insert(name.to_owned(), Rc::clone(&tenant));
        tenant
    }

    pub(super) fn insert(&mut self, id: ClientId, client: Client<F>) {
        // Said twice by a damaged journal, it counts once.
        self.remove(id);
        self.unclaimed += usize::from(client.unclaimed);
        client.account.add(Resource::Clients, 1);
        *self.by_process.entry(client.payer()).or_default() += 1;
        self.clients.insert(id, client);
    }

    /// Takes a client out; its connection stays, without a hello.
    pub(super) fn remove(&mut self, id: ClientId) -> Option<Client<F>> {
        let client = self.clients.remove(&id)?;
        self.unclaimed -= usize::from(client.unclaimed);
        client.account.give(Resource::Clients, 1);
        if let Some(count) = self.by_process.get_mut(&client.payer()) {
            *count -= 1;
            if *count == 0 {
                self.by_process.remove(&client.payer());
            }
        }
        if let Some(connection) = client.conn.and_then(|conn| self.conns.get_mut(&conn)) {
            connection.client = None;
        }
        Some(client)
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&Client<F>> {
        self.clients.get(&id)
    }

    pub(super) fn knows(&self, id: ClientId) -> bool {
        self.clients.contains_key(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientId, &Client<F>)> {
        self.clients.iter().map(|(id, client)| (*id, client))
    }

    /// Those that come after one in their order.
    pub(super) fn after(
        &self,
        id: Option<ClientId>,
    ) -> impl Iterator<Item = (ClientId, &Client<F>)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.clients.range((from, Bound::Unbounded)).map(|(id, client)| (*id, client))
    }

    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    /// The client has said all that it holds.
    pub(super) fn claimed(&mut self, id: ClientId) {
        if let Some(client) = self.clients.get_mut(&id)
            && std::mem::replace(&mut client.unclaimed, false)
        {
            self.unclaimed -= 1;
        }
    }

    /// Its process is watched through this pidfd from now on.
    pub(super) fn watched(&mut self, id: ClientId, pidfd: F) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.pidfd = Some(pidfd);
        }
    }

    /// Whether the next daemon will know the client.
    pub(super) fn set_recorded(&mut self, id: ClientId, recorded: bool) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.recorded = recorded;
        }
    }

    /// The client is told of; true if that is the first time.
    pub(super) fn announce(&mut self, id: ClientId) -> bool {
        let client = self.clients.get_mut(&id);
        client.is_some_and(|client| !std::mem::replace(&mut client.announced, true))
    }

    /// Whether a client has not claimed yet of which `may_hold` is true.
    pub(super) fn may_be_held(&self, may_hold: impl Fn(&Caller) -> bool) -> bool {
        self.unclaimed > 0
            && self.clients.values().any(|client| client.unclaimed && may_hold(&client.caller))
    }

    /// Clients without a connection.
    pub(super) fn silent(&self) -> usize {
        self.clients.values().filter(|client| client.is_silent()).count()
    }

    /// How many clients a process of a user is; zero for one that cannot be told from others.
    pub(super) fn count_of_process(&self, user: u32, process: Process) -> usize {
        let known = self.by_process.get(&(user, process)).filter(|_| process.is_known());
        known.copied().unwrap_or(0)
    }

    pub(super) fn connect(
        &mut self,
        conn: ConnId,
        caller: Caller,
        process: Process,
        account: Rc<Account>,
    ) {
        let connection = Connection {
            caller,
            process,
            client: None,
            account,
            blamed: false,
            freed_before_welcome: Some(Vec::new()),
        };
        self.conns.insert(conn, connection);
    }

    /// Keeps back that adopted memory is free until the hello is answered; false if it is.
    pub(super) fn keep_back(&mut self, conn: ConnId, freed: TensorId) -> bool {
        let connection = self.conns.get_mut(&conn);
        let kept = connection.and_then(|connection| connection.freed_before_welcome.as_mut());
        kept.map(|kept| kept.push(freed)).is_some()
    }

    /// The hello is answered. Returns what was kept back.
    pub(super) fn welcomed(&mut self, conn: ConnId) -> Vec<TensorId> {
        let connection = self.conns.get_mut(&conn);
        connection.and_then(|it| it.freed_before_welcome.take()).unwrap_or_default()
    }

    pub(super) fn connection(&self, conn: ConnId) -> Option<&Connection> {
        self.conns.get(&conn)
    }

    /// A connection is this client's from now on. Returns the one that it had before.
    pub(super) fn greet(&mut self, conn: ConnId, id: ClientId) -> Option<ConnId> {
        let connection = self.conns.get_mut(&conn)?;
        let client = self.clients.get_mut(&id)?;
        connection.client = Some(id);
        client.conn.replace(conn).filter(|before| *before != conn)
    }

    /// A connection is over. Returns its client, if that is without one now.
    pub(super) fn disconnect(&mut self, conn: ConnId) -> Option<ClientId> {
        let id = self.conns.remove(&conn)?.client?;
        let client = self.clients.get_mut(&id)?;
        client.conn.take_if(|its| *its == conn).map(|_| id)
    }

    /// Somebody broke the protocol. Returns user and process, the first time on this connection.
    pub(super) fn blame(&mut self, conn: ConnId) -> Option<(u32, Process)> {
        let connection = self.conns.get_mut(&conn)?;
        let first = !std::mem::replace(&mut connection.blamed, true);
        first.then_some((connection.caller.owner.user, connection.process))
    }

    #[cfg(test)]
    pub(super) fn connection_mut(&mut self, conn: ConnId) -> Option<&mut Connection> {
        self.conns.get_mut(&conn)
    }
}
