//! Clients come, come back, and go.

use std::rc::Rc;

use millpond_view::units::count;
use millpond_wire::message::{Claim, EventKind, Hello, ReplyBody, VERSION, Welcome};
use millpond_wire::record::{ClientRecord, Record};
use millpond_wire::{Backing, ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, caps};

use super::answer::{Answer, Answered, from_hold, from_port, now};
use super::clients::Client;
use super::identity::Identity;
use super::leases::Lease;
use super::owner::{Caller, Door};
use super::parked::Wish;
use super::pond::Pond;
use super::ports::{ConnId, Held, Ports};
use super::release::Ending;
use super::slabs::Home;
use super::tokens::TokenKey;
use crate::accounts::Resource;

impl<P: Ports> Pond<P> {
    pub(super) fn hello(&mut self, ports: &mut P, conn: ConnId, hello: Hello) -> Answer<P::Fd> {
        if hello.version != VERSION {
            ports.close(conn);
            return Err(Failure::new(
                ErrorKind::Protocol,
                format!(
                    "protocol version {} is not supported; this pond speaks version {VERSION}",
                    hello.version
                ),
            )
            .hint("install the same version of Millpond on both sides"));
        }
        self.check_draining()?;
        let Some(connection) = self.clients.connection(conn) else { return Ok(Answered::Sent) };
        if connection.client.is_some_and(|client| client != hello.client) {
            return Err(Failure::new(ErrorKind::Protocol, "this connection already has a client"));
        }
        let (caller, process) = (connection.caller.clone(), connection.process);
        let token = self.leases.client_token(hello.client, &caller.owner, process);
        self.may_watch_as(&caller, &hello)?;
        match self.identify(&caller, process, &hello, &token)? {
            Identity::Known => {}
            Identity::Unknown { proven } => self.new_client(ports, conn, &hello, proven)?,
            Identity::Taken(by) => {
                self.end_client(ports, hello.client, Ending::Released, "its identity is another's");
                if let Some(by) = by {
                    ports.close(by);
                }
                self.new_client(ports, conn, &hello, true)?;
            }
        }
        if let Some(before) = self.clients.greet(conn, hello.client) {
            ports.close(before);
        }
        if !hello.claims {
            self.claims_complete(ports, hello.client);
        }
        let page = ports.page(conn);
        let slots = if page.is_some() { caps::PAGE_SLOTS } else { 0 };
        let welcome = ReplyBody::Welcome(Welcome {
            version: VERSION,
            capabilities: 0,
            pond: self.identity.pond,
            epoch: self.identity.epoch,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            tenant: caller.owner.tenant.to_string(),
            user: caller.owner.user,
            admin: caller.is_admin(),
            watch: caller.only_watches(),
            page_slots: u32::try_from(slots).unwrap_or(0),
            token: Some(token),
        });
        Ok(Answered::Now(welcome, page.into_iter().collect()))
    }

    /// Who holds something goes on with it where it was got: who watches holds nothing.
    fn may_watch_as(&self, caller: &Caller, hello: &Hello) -> Result<(), Failure> {
        let holds = || self.clients.get(hello.client).is_some_and(|client| client.recorded);
        if caller.only_watches() && (hello.claims || holds()) {
            let message = format!("client {} holds something, and cannot watch", hello.client);
            return Err(Failure::new(ErrorKind::Denied, message).hint(
                "say hello as a new client at `watch.sock`; what it holds is claimed at `sock`",
            ));
        }
        Ok(())
    }

    fn new_client(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        hello: &Hello,
        proven: bool,
    ) -> Result<(), Failure> {
        let Some(connection) = self.clients.connection(conn) else { return Ok(()) };
        // The operator can always look.
        if !connection.caller.is_admin() {
            let (owner, process) = (&connection.caller.owner, connection.process);
            let most = self.caps.clients_per_process;
            let has_reserve = connection.account.has_reserve();
            if !has_reserve && self.clients.count_of_process(owner.user, process) >= most {
                let message = format!("the process ({process}) is {most} clients, the maximum");
                return Err(Failure::new(ErrorKind::TooMany, message)
                    .limit("limits.clients_per_process", most as u64, most as u64)
                    .hint("use one connection for what belongs together, or say goodbye on some"));
            }
            if let Err(refused) = connection.account.check(Resource::Clients, 1) {
                let account = Rc::clone(&connection.account);
                return Err(self.cap_reached(ports, &account, refused));
            }
        }
        let mut caller = connection.caller.clone();
        caller.door = Door::Users;
        let client = Client {
            process: connection.process,
            program: hello.program.clone(),
            since_ms: ports.now_ms(),
            pidfd: None,
            conn: Some(conn),
            // Nothing waits for one that this pond has never seen.
            unclaimed: hello.claims && proven,
            recorded: false,
            announced: false,
            mover: false,
            account: Rc::clone(&connection.account),
            caller,
        };
        self.clients.insert(hello.client, client);
        self.counts.clients_came += 1;
        Ok(())
    }

    /// Makes a client known to the next daemon. One that never held anything needs not be: nothing
    /// would have to wait for it.
    pub(super) fn record_client(&mut self, ports: &mut P, id: ClientId) -> Result<(), Failure> {
        let Some(client) = self.clients.get(id).filter(|client| !client.recorded) else {
            return Ok(());
        };
        let (known, conn) = (client.pidfd.clone(), client.conn);
        let pidfd = match known {
            Some(pidfd) => pidfd,
            None => self.watch_process(ports, id, conn)?,
        };
        let Some(client) = self.clients.get(id) else { return Ok(()) };
        ports.hold(Held::Client(id), Backing::default(), &pidfd).map_err(from_hold)?;
        if let Err(error) = ports.journal(&client_record(id, client)) {
            ports.let_go(Held::Client(id), Some(pidfd));
            return Err(from_port(error));
        }
        let text = client.label();
        let user = client.owner().user;
        self.clients.set_recorded(id, true);
        if self.clients.announce(id) {
            self.happened(ports, EventKind::ClientConnected, None, None, Some(user), text);
        }
        Ok(())
    }

    /// The end of a client's process is noticed from now on, also without a connection.
    pub(super) fn watch_client(&mut self, ports: &mut P, id: ClientId) -> Result<(), Failure> {
        let Some(client) = self.clients.get(id) else { return Ok(()) };
        let (is_watched, conn) = (client.pidfd.is_some(), client.conn);
        if is_watched { Ok(()) } else { self.watch_process(ports, id, conn).map(drop) }
    }

    fn watch_process(
        &mut self,
        ports: &mut P,
        id: ClientId,
        conn: Option<ConnId>,
    ) -> Result<P::Fd, Failure> {
        let Some(pidfd) = conn.and_then(|conn| ports.peer_pidfd(conn)) else {
            if let Some(conn) = conn {
                ports.close(conn);
            }
            let seen = self.clients.get(id).and_then(|client| client.process.number());
            let message = match seen {
                Some(_) => {
                    "your process cannot be watched: it has ended, or the daemon has no \
                     descriptors left"
                }
                None => {
                    "your process cannot be watched: it has ended, the daemon has no descriptors \
                     left, or the kernel is older than Linux 6.5 and does not show the end of \
                     processes in other pid namespaces"
                }
            };
            return Err(Failure::new(ErrorKind::Internal, message));
        };
        ports.watch(id, &pidfd);
        self.clients.watched(id, pidfd.clone());
        Ok(pidfd)
    }

    /// Ends a client without a connection that holds nothing and has no move under way.
    pub(super) fn end_if_idle(&mut self, ports: &mut P, id: ClientId, why: &str) {
        let is_idle = |client: &Client<P::Fd>| client.is_silent() && !client.recorded;
        if self.clients.get(id).is_some_and(is_idle) && !self.movers.run_for(id) {
            self.end_client(ports, id, Ending::Released, why);
        }
    }

    /// The next daemon needs not wait for it any more: it holds nothing.
    pub(super) fn forget_client(&mut self, ports: &mut P, id: ClientId) {
        if !self.clients.get(id).is_some_and(|client| client.recorded) {
            return;
        }
        match ports.journal(&Record::ClientGone(id)) {
            Ok(()) => {
                self.clients.set_recorded(id, false);
                ports.let_go(Held::Client(id), None);
            }
            // The next daemon waits for its end then, which comes anyway.
            Err(error) => tracing::warn!(client = %id, "could not record its rest: {error}"),
        }
    }

    /// Leases that were granted by an earlier daemon, or by this one on an earlier connection.
    pub(super) fn claim(&mut self, ports: &mut P, id: ClientId, claim: &Claim) -> Answer<P::Fd> {
        let Some(client) = self.clients.get(id) else { return Ok(Answered::Sent) };
        let (user, account) = (client.owner().user, Rc::clone(&client.account));
        let mut refused: Vec<LeaseId> = Vec::new();
        let since_ms = ports.now_ms();
        for claimed in &claim.leases {
            let (lease, target, mode) = (claimed.lease, claimed.target, claimed.mode);
            let known = self.leases.get(id, lease);
            if known.is_some_and(|known| known.target == target && known.mode == mode) {
                continue;
            }
            let is_there = match target {
                LeaseTarget::Tensor(id) => self.catalog.get(id).is_some(),
                LeaseTarget::Version(id) => self.models.get(id).is_some(),
            };
            let is_free = known.is_none() && self.leases.count_of(id) < self.caps.leases_per_client;
            let token = self.leases.token(id, lease, target, mode, user);
            if !is_there || !is_free || !TokenKey::matches(&token, &claimed.token) {
                refused.push(lease);
                continue;
            }
            // What an earlier daemon granted stays granted, whatever the caps are now.
            self.record_client(ports, id)?;
            self.record_borrower(ports, id, target)?;
            let begun = Lease { target, mode, since_ms, counted: false, asked: 0 };
            self.leases.begin(&account, id, lease, begun);
            self.counts.leases_claimed += 1;
            if let LeaseTarget::Tensor(tensor) = target {
                self.schedule(tensor);
                self.is_held(tensor);
            }
        }
        if !refused.is_empty() && self.may_complain(ports, user) {
            tracing::warn!(client = %id, count = refused.len(), "refused claims of leases");
        }
        if claim.last {
            self.claims_complete(ports, id);
        }
        now(ReplyBody::Claimed { refused })
    }

    fn claims_complete(&mut self, ports: &mut P, id: ClientId) {
        let client = self.clients.get(id).filter(|client| client.unclaimed);
        if let Some(caller) = client.map(|client| client.caller.clone()) {
            self.clients.claimed(id);
            self.claims_settled(ports, &caller);
        }
        self.free_deleted(ports);
    }

    /// A connection ended. Its client lives on, silently, until its process is gone.
    pub fn hung_up(&mut self, ports: &mut P, conn: ConnId) {
        if self.clients.connection(conn).is_none() {
            return;
        }
        let silent = self.clients.disconnect(conn);
        self.events.unsubscribe(conn);
        self.caches_hung_up(ports, conn);
        let dropped = self.parked.hang_up(conn);
        self.turns.forget(conn);
        let moves = dropped.iter().filter_map(|parked| match parked.wish {
            Wish::Move(job) => Some(job),
            _ => None,
        });
        self.forget_moves(ports, &moves.collect());
        let Some((id, client)) = silent.and_then(|id| Some((id, self.clients.get(id)?))) else {
            return;
        };
        if !client.recorded {
            // It never held anything: only a move that it may ask for again is waited for.
            self.end_if_idle(ports, id, "hung up and held nothing");
            return;
        }
        let kept = match self.leases.count_of(id) {
            0 => "holds nothing".to_owned(),
            leases => format!("keeps its {}", count(leases as u64, "lease")),
        };
        let text = format!("{} hung up and {kept}", client.label());
        let user = client.owner().user;
        self.happened(ports, EventKind::ClientSilent, None, None, Some(user), text);
    }

    pub(super) fn end_client(&mut self, ports: &mut P, id: ClientId, ending: Ending, why: &str) {
        let Some(client) = self.clients.get(id) else { return };
        let (unclaimed, caller) = (client.unclaimed, client.caller.clone());
        let leases: Vec<LeaseId> = self.leases.of(id).map(|(lease, _)| lease).collect();
        if ending == Ending::Died && unclaimed {
            // What it held is not known, so nothing that it could have held is recycled.
            self.slabs.taint_recovered(ports, &caller);
            self.taint_recovered_versions(ports, &caller);
        }
        for lease in leases {
            self.end_lease_of(ports, id, lease, ending);
        }
        let Some(client) = self.clients.remove(id) else { return };
        match ending {
            _ if client.mover => {}
            Ending::Released => self.counts.clients_left += 1,
            Ending::Died => self.counts.clients_died += 1,
        }
        if unclaimed {
            self.claims_settled(ports, &caller);
        }
        self.cancel_moves(ports, id);
        let text = format!("its owner, {}, {why}", client.label());
        self.orphan_kept_by(ports, Home::Owner(id), &text);
        self.delete_all_ephemeral(ports, id);
        self.unmake_of(ports, id);
        self.give_up_staged(ports, id);
        ports.unwatch(id);
        // If the journal does not say what it may still write to, the next daemon must find it dead.
        let untold = ending == Ending::Died && self.slabs.are_untold();
        let label = client.label();
        if client.recorded && !untold {
            if let Err(error) = ports.journal(&Record::ClientGone(id)) {
                // Recovery finds its pidfd fired and comes to the same end.
                tracing::error!(client = %id, "could not record the end of a client: {error}");
            }
            ports.let_go(Held::Client(id), client.pidfd);
        }
        if client.announced {
            let text = format!("{label}: {why}");
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
        pid: client.process.pid,
        user: client.caller.owner.user,
        group: client.caller.owner.group,
        groups: client.caller.groups.to_vec(),
        tenant: client.caller.owner.tenant.to_string(),
        program: client.program.clone(),
        since_unix_ms: client.since_ms,
        mover: client.mover,
    })
}
