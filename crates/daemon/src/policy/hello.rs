//! Clients come, come back, and go.

use millpond_wire::message::{Claim, EventKind, Hello, ReplyBody, VERSION, Welcome};
use millpond_wire::record::{ClientRecord, Record};
use millpond_wire::{ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, limits};

use super::clients::{Client, Lease};
use super::pond::{Answer, Pond, from_port, now};
use super::ports::{ConnId, Held, Ports};
use super::release::Ending;
use super::tokens::TokenKey;
use super::words::count;

impl<P: Ports> Pond<P> {
    pub(super) fn hello(&mut self, ports: &mut P, conn: ConnId, hello: Hello) -> Answer<P::Fd> {
        if hello.version != VERSION {
            ports.close(conn);
            return Err(Failure::new(
                ErrorKind::Protocol,
                format!("protocol version {} is not spoken here, only {VERSION}", hello.version),
            )
            .hint("install the same version of Millpond on both sides"));
        }
        self.check_draining()?;
        let Some(connection) = self.clients.conns.get(&conn) else { return Ok(None) };
        if connection.client.is_some_and(|client| client != hello.client) {
            return Err(Failure::new(ErrorKind::Protocol, "a connection has one client"));
        }
        let (caller, pid) = (connection.caller.clone(), connection.pid);
        match self.clients.clients.get_mut(&hello.client) {
            Some(known) => {
                // The identity is a secret of one process; the kernel says which process this is.
                if known.pid != pid || known.caller.owner.user != caller.owner.user {
                    return Err(Failure::new(
                        ErrorKind::Denied,
                        format!("client {} is another process", hello.client),
                    ));
                }
                let before = known.conn.replace(conn);
                if let Some(before) = before.filter(|before| *before != conn) {
                    ports.close(before);
                }
            }
            None => self.new_client(ports, conn, &hello)?,
        }
        if let Some(connection) = self.clients.conns.get_mut(&conn) {
            connection.client = Some(hello.client);
        }
        if !hello.claims {
            self.claims_complete(ports, hello.client);
        }
        let page = ports.page();
        let slots = if page.is_some() { limits::PAGE_SLOTS } else { 0 };
        let welcome = ReplyBody::Welcome(Welcome {
            version: VERSION,
            capabilities: 0,
            pond: self.id,
            epoch: self.epoch,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            tenant: caller.owner.tenant.to_string(),
            user: caller.owner.user,
            admin: caller.admin,
            page_slots: u32::try_from(slots).unwrap_or(0),
        });
        Ok(Some((welcome, page.into_iter().collect())))
    }

    fn new_client(&mut self, ports: &mut P, conn: ConnId, hello: &Hello) -> Result<(), Failure> {
        let Some(connection) = self.clients.conns.get(&conn) else { return Ok(()) };
        // The operator can always look.
        if self.clients.clients.len() >= self.limits.clients && !connection.caller.admin {
            return Err(Failure::new(
                ErrorKind::TooMany,
                format!("{} clients are the limit", self.limits.clients),
            )
            .hint("raise `limits.clients` in the configuration, or end some: `millpond ps`"));
        }
        let mut caller = connection.caller.clone();
        caller.admin = false;
        let client = Client {
            pid: connection.pid,
            program: hello.program.clone(),
            since_ms: ports.now_ms(),
            pidfd: None,
            conn: Some(conn),
            unclaimed: hello.claims,
            recorded: false,
            announced: false,
            leases: std::collections::BTreeMap::new(),
            mover: false,
            caller,
        };
        self.clients.insert(hello.client, client);
        Ok(())
    }

    /// Makes a client known to the next daemon. One that never held anything needs not be: nothing
    /// would have to wait for it.
    pub(super) fn record_client(&mut self, ports: &mut P, id: ClientId) -> Result<(), Failure> {
        let Some(client) = self.clients.clients.get_mut(&id) else { return Ok(()) };
        if client.recorded {
            return Ok(());
        }
        let pidfd = match (&client.pidfd, client.conn) {
            (Some(pidfd), _) => pidfd.clone(),
            (None, conn) => {
                let Some(pidfd) = conn.and_then(|conn| ports.peer_pidfd(conn)) else {
                    if let Some(conn) = conn {
                        ports.close(conn);
                    }
                    let message = "the end of your process cannot be watched: the one that \
                                   connected is gone, or descriptors are short";
                    return Err(Failure::new(ErrorKind::Internal, message));
                };
                ports.watch(id, &pidfd);
                client.pidfd = Some(pidfd.clone());
                pidfd
            }
        };
        ports.hold(Held::Client(id), &pidfd).map_err(from_port)?;
        if let Err(error) = ports.journal(&client_record(id, client)) {
            ports.let_go(Held::Client(id), Some(pidfd));
            return Err(from_port(error));
        }
        client.recorded = true;
        if !std::mem::replace(&mut client.announced, true) {
            let text = format!("{} (pid {})", client.program, client.pid);
            let user = client.owner().user;
            self.happened(ports, EventKind::ClientConnected, None, None, Some(user), text);
        }
        Ok(())
    }

    /// The next daemon needs not wait for it any more: it holds nothing.
    pub(super) fn forget_client(&mut self, ports: &mut P, id: ClientId) {
        let Some(client) = self.clients.clients.get_mut(&id) else { return };
        if !client.recorded {
            return;
        }
        match ports.journal(&Record::ClientGone(id)) {
            Ok(()) => {
                client.recorded = false;
                ports.let_go(Held::Client(id), None);
            }
            // The next daemon waits for its end then, which comes anyway.
            Err(error) => tracing::warn!(client = %id, "could not record its rest: {error}"),
        }
    }

    /// Leases that were granted by an earlier daemon, or by this one on an earlier connection.
    pub(super) fn claim(&mut self, ports: &mut P, id: ClientId, claim: &Claim) -> Answer<P::Fd> {
        if !claim.leases.is_empty() {
            self.record_client(ports, id)?;
        }
        let mut refused: Vec<LeaseId> = Vec::new();
        let since_ms = ports.now_ms();
        let most = self.limits.leases_per_client;
        for claimed in &claim.leases {
            let Some(client) = self.clients.clients.get_mut(&id) else { return Ok(None) };
            let user = client.owner().user;
            let lease =
                Lease { target: claimed.target, mode: claimed.mode, since_ms, counted: false };
            let known = client.leases.get(&claimed.lease);
            if known.is_some_and(|known| known.target == lease.target && known.mode == lease.mode) {
                continue;
            }
            let token = self.key.token(id, claimed.lease, claimed.target, claimed.mode, user);
            let leases = match claimed.target {
                LeaseTarget::Tensor(id) => self.catalog.get_mut(id).map(|it| &mut it.leases),
                LeaseTarget::Version(id) => {
                    self.models.versions.get_mut(&id).map(|it| &mut it.leases)
                }
            };
            match leases {
                Some(leases)
                    if known.is_none()
                        && client.leases.len() < most
                        && TokenKey::matches(&token, &claimed.token) =>
                {
                    leases.insert((id, claimed.lease));
                    client.leases.insert(claimed.lease, lease);
                    if let LeaseTarget::Tensor(id) = claimed.target {
                        self.schedule(id);
                        self.is_held(id);
                    }
                }
                _ => refused.push(claimed.lease),
            }
        }
        let user = self.clients.clients.get(&id).map(|client| client.owner().user);
        if !refused.is_empty() && user.is_some_and(|user| self.may_complain(ports, user)) {
            tracing::warn!(client = %id, count = refused.len(), "refused claims of leases");
        }
        if claim.last {
            self.claims_complete(ports, id);
        }
        now(ReplyBody::Claimed { refused })
    }

    fn claims_complete(&mut self, ports: &mut P, id: ClientId) {
        let client = self.clients.clients.get(&id).filter(|client| client.unclaimed);
        if let Some(caller) = client.map(|client| client.caller.clone()) {
            self.clients.claimed(id);
            self.claims_settled(ports, &caller);
        }
        self.free_deleted(ports);
    }

    /// A connection ended. Its client lives on, silently, until its process is gone.
    pub fn hung_up(&mut self, ports: &mut P, conn: ConnId) {
        let Some(connection) = self.clients.conns.remove(&conn) else { return };
        self.events.unsubscribe(conn);
        self.waiters.retain(|waiter| waiter.conn != conn);
        self.status_waiters.retain(|waiter| waiter.conn != conn);
        self.before_driver.retain(|pending| pending.conn != conn);
        self.models.before_driver.retain(|pending| pending.conn != conn);
        self.models.waiters.retain(|waiter| waiter.conn != conn);
        self.listings.forget(conn);
        self.forget_moves(ports, conn);
        let Some(client) =
            connection.client.and_then(|client| self.clients.clients.get_mut(&client))
        else {
            return;
        };
        if client.conn == Some(conn) {
            client.conn = None;
            if !client.recorded {
                // It never held anything: there is nothing to wait for.
                if let Some(id) = connection.client {
                    self.end_client(ports, id, Ending::Released, "hung up and held nothing");
                }
                return;
            }
            let (program, pid) = (&client.program, client.pid);
            let kept = match client.leases.len() {
                0 => "holds nothing".to_owned(),
                leases => format!("keeps its {}", count(leases as u64, "lease")),
            };
            let text = format!("{program} (pid {pid}) hung up and {kept}");
            let user = client.owner().user;
            self.happened(ports, EventKind::ClientSilent, None, None, Some(user), text);
        }
    }

    /// The process behind a client is gone: whatever it held has ended, by death.
    pub fn process_gone(&mut self, ports: &mut P, id: ClientId) {
        self.end_client(ports, id, Ending::Died, "its process is gone");
    }

    pub(super) fn goodbye(&mut self, ports: &mut P, id: ClientId) {
        self.end_client(ports, id, Ending::Released, "said goodbye");
    }

    fn end_client(&mut self, ports: &mut P, id: ClientId, ending: Ending, why: &str) {
        let Some(client) = self.clients.clients.get(&id) else { return };
        let (unclaimed, caller) = (client.unclaimed, client.caller.clone());
        let leases: Vec<LeaseId> = client.leases.keys().copied().collect();
        if ending == Ending::Died && unclaimed {
            // What it held is not known, so nothing that it could have held is recycled.
            self.taint_recovered(ports, &caller);
        }
        for lease in leases {
            self.end_lease(ports, id, lease, ending);
        }
        let Some(client) = self.clients.remove(id) else { return };
        if let Some(connection) = client.conn.and_then(|conn| self.clients.conns.get_mut(&conn)) {
            connection.client = None;
        }
        if unclaimed {
            self.claims_settled(ports, &caller);
        }
        self.delete_ephemeral(ports, id);
        self.unmake_of(ports, id);
        self.give_up_staged(ports, id);
        ports.unwatch(id);
        // If the journal does not say what it may still write to, the next daemon must find it dead.
        let untold = ending == Ending::Died && !self.slabs.untold.is_empty();
        if client.recorded && !untold {
            if let Err(error) = ports.journal(&Record::ClientGone(id)) {
                // Recovery finds its pidfd fired and comes to the same end.
                tracing::error!(client = %id, "could not record the end of a client: {error}");
            }
            ports.let_go(Held::Client(id), client.pidfd);
        }
        if client.announced {
            let text = format!("{} (pid {}): {why}", client.program, client.pid);
            let user = client.caller.owner.user;
            self.happened(ports, EventKind::ClientGone, None, None, Some(user), text);
        }
        self.free_deleted(ports);
        if client.mover {
            self.mover_gone(ports, id);
        }
    }
}

pub(super) fn client_record<F>(id: ClientId, client: &Client<F>) -> Record {
    Record::ClientSeen(ClientRecord {
        client: id,
        pid: client.pid,
        user: client.caller.owner.user,
        group: client.caller.owner.group,
        groups: client.caller.groups.to_vec(),
        tenant: client.caller.owner.tenant.to_string(),
        program: client.program.clone(),
        since_unix_ms: client.since_ms,
        mover: client.mover,
    })
}
