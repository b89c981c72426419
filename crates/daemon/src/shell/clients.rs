//! Clients connect, ask and go.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_wire::message::{Reply, ReplyBody, Request, RequestBody};
use millpond_wire::socket::{self, SocketError};
use millpond_wire::{ClientId, ErrorKind, Failure, HostId, fd, process, runtime_dir};

use super::conn::Conn;
use super::ready::Work;
use super::{HELLO_WITHIN, Listener, ROUND, Server};
use crate::accounts::Resource;
use crate::descriptors;
use crate::policy::{ConnId, Door, LOCAL_TENANT, Owner, Ports, Process};

/// How long one round accepts. Whoever connects waits for everybody who came before, whatever the user;
/// so this is more than the turn of one user.
const ACCEPTING: Duration = Duration::from_millis(5);
/// Before a connection is looked at again that there is no descriptor for.
const SHORT_PAUSE: Duration = Duration::from_millis(5);

impl Server {
    /// Reads one message, and more up to this time.
    pub(super) fn conn_event(&mut self, id: ConnId, until: Instant) {
        if self.world.has_to_flush(id) {
            self.world.flush(id);
        }
        for round in 0..ROUND {
            if (round > 0 && Instant::now() >= until) || !self.world.may_read(id) {
                return;
            }
            let Some(conn) = self.world.conns.get(&id) else { return };
            match socket::receive(conn, &mut self.buffer, false) {
                Ok(Some(mut received)) if received.fds.len() <= RequestBody::MOST_DESCRIPTORS => {
                    let read = Instant::now();
                    let request = Request::decode(&self.buffer[..received.bytes]);
                    if let (Ok(request), Some(conn)) = (&request, self.world.conns.get_mut(&id)) {
                        conn.unanswered.add(request, read);
                    }
                    let fd = received.fds.pop().map(Arc::new);
                    self.pond.message(&mut self.world, id, request, fd);
                }
                Ok(None) => return,
                Ok(Some(_)) => {
                    self.blame(id, "sent unexpected descriptors");
                    self.world.ended.push(id);
                    return;
                }
                Err(SocketError::HungUp) => {
                    self.world.ended.push(id);
                    return;
                }
                Err(SocketError::OutOfDescriptors) => {
                    self.blame(id, "sent a file for which no descriptor is left");
                    self.world.ended.push(id);
                    return;
                }
                Err(error) => {
                    self.blame(id, &format!("broke the protocol: {error}"));
                    self.world.ended.push(id);
                    return;
                }
            }
        }
    }

    /// Says why a client is ended, unless too much was said about its user already.
    fn blame(&mut self, id: ConnId, what: &str) {
        if self.pond.may_complain_of(&self.world, id) {
            tracing::warn!("a client {what}; ending it");
        }
    }

    pub(super) fn accept(&mut self, index: usize) {
        let until = Instant::now() + ACCEPTING;
        while Instant::now() < until {
            let Some(Listener { fd: listener, door, .. }) = self.listeners.get(index) else {
                return;
            };
            let door = *door;
            match socket::accept(listener) {
                Ok(Some(socket)) => self.accepted(socket, door),
                Ok(None) => return,
                Err(error) => {
                    // Out of descriptors: refuse the next in line rather than spin on it. Said
                    // once: whoever tries for ever must not fill the disk.
                    if !std::mem::replace(&mut self.refusing, true)
                        && self.pond.may_complain(&self.world, fd::OVERFLOW_USER)
                    {
                        tracing::error!("{error}; refusing connections");
                    }
                    let had_spare = self.spare.take().is_some();
                    let refused = socket::accept(listener);
                    let is_refused = matches!(refused, Ok(Some(_)));
                    self.world.meter.connections_refused += u64::from(is_refused);
                    if !had_spare || refused.is_err() {
                        // Nobody can be refused either: the others must not wait for a busy loop.
                        std::thread::sleep(SHORT_PAUSE);
                    }
                    drop(refused);
                    self.spare = spare_fd();
                    return;
                }
            }
        }
    }

    fn accepted(&mut self, socket: OwnedFd, door: Door) {
        // It fails if it hung up before it was looked at.
        let Ok(peer) = fd::peer_credentials(&socket) else { return };
        if peer.user == fd::OVERFLOW_USER {
            if self.pond.may_complain(&self.world, fd::OVERFLOW_USER) {
                tracing::warn!(pid = peer.pid, "refused a user without a number in this namespace");
            }
            return self.refuse(&socket, no_number());
        }
        // The operator can always look: for that some are left. Who watches pays as users do.
        let admin = door == Door::Operator;
        let short = descriptors::may_serve(&socket, self.world.descriptors()).err();
        if let Some(short) = short.filter(|_| !admin) {
            if !std::mem::replace(&mut self.refusing, true)
                && self.pond.may_complain(&self.world, peer.user)
            {
                tracing::error!("{short}; refusing connections");
            }
            return self.refuse(&socket, Failure::new(ErrorKind::TooMany, short.to_string()));
        }
        self.refusing = false;
        let id = ConnId(self.next_conn);
        self.next_conn += 1;
        let tenant = self.pond.tenant(LOCAL_TENANT);
        let owner = Owner { tenant, user: peer.user, group: peer.group };
        let account = (!admin).then(|| self.pond.account(&owner));
        if let Some(account) = &account
            && let Err(refused) = account.check(Resource::Connections, 1)
        {
            let failure = self.pond.cap_reached(&mut self.world, account, refused);
            return self.refuse(&socket, failure);
        }
        let inode = if peer.pid == 0 { inode_of_peer(&socket) } else { 0 };
        let process = Process { pid: peer.pid, inode };
        match self.world.add_conn(id, Conn::new(socket, account)) {
            Ok(()) => {
                self.world.meter.connections_accepted += 1;
                self.pond.connected(id, owner, &peer.groups, door, process);
                self.ungreeted.push_back((Instant::now(), id));
                // By now its hello is there, mostly: it does not wait for another round.
                self.ready.add((!admin).then_some(peer.user), Work::Conn(id));
            }
            Err(error) => tracing::error!("a connection cannot be watched: {error}"),
        }
    }

    /// Nobody waits for a client that is refused; if it cannot be told, it sees the end.
    fn refuse(&mut self, socket: &OwnedFd, failure: Failure) {
        self.world.meter.connections_refused += 1;
        let reply = Reply { number: 0, body: ReplyBody::Failure(failure) };
        let _ = socket::send(socket, reply.encode(&mut planus::Builder::new()), &[], false);
    }

    /// Ends connections that have not said in time who they are.
    pub(super) fn end_ungreeted(&mut self) {
        while let Some((since, id)) = self.ungreeted.front().copied()
            && (since.elapsed() >= HELLO_WITHIN || self.pond.is_greeted(id))
        {
            self.ungreeted.pop_front();
            if !self.pond.is_greeted(id) {
                self.world.ended.push(id);
            }
        }
    }

    pub(super) fn client_gone(&mut self, client: ClientId) {
        tracing::debug!(%client, "its process is gone");
        self.hear_movers();
        self.host_event(HostId(client.0));
        self.world.unwatch(client);
        self.pond.process_gone(&mut self.world, client);
    }
}

/// Tells processes outside this pid namespace apart, which all have the number 0.
fn inode_of_peer(socket: &OwnedFd) -> u64 {
    fd::peer_pidfd(socket).map_or(0, |pidfd| process::inode(&pidfd))
}

fn no_number() -> Failure {
    let user = fd::OVERFLOW_USER;
    let message =
        format!("the pond sees you as user {user}, as it does every user without a number");
    Failure::new(ErrorKind::Denied, message).hint(
        "run as another user: one that has a number in the user namespace of the pond, \
         in which /proc/self/uid_map shows the numbers",
    )
}

/// Whom one of the pond's sockets is for; nobody, if this version knows no such socket.
pub(super) fn door_of(socket: &str) -> Option<Door> {
    match socket {
        runtime_dir::SOCKET => Some(Door::Users),
        runtime_dir::WATCH_SOCKET => Some(Door::Watch),
        runtime_dir::ADMIN_SOCKET => Some(Door::Operator),
        _ => None,
    }
}

/// Given up when there are no descriptors left, to refuse a connection in an orderly way.
pub(super) fn spare_fd() -> Option<OwnedFd> {
    std::fs::File::open("/dev/null").ok().map(OwnedFd::from)
}
