//! Elastic caches, on their way to whoever keeps the groups' files and back.
//!
//! The pond keeps nothing about a cache but the connections that have some: a cache lives in its
//! process, its charge in the ledger, and who waits for whom is decided beside the ledgers
//! ([`crate::budget::pressure`]).

use millpond_wire::message::{CacheGave, CacheOpen, Pressure, Reply, ReplyBody};

use super::answer::Answer;
use super::events::BACKLOG;
use super::groups::{GroupAsk, GroupCaller, GroupWork};
use super::owner::Caller;
use super::parked::RequestId;
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use super::slabs::PendingSlab;

/// Of what nobody asked for, and of what nobody waits for.
const UNASKED: u64 = 0;

impl<P: Ports> Pond<P> {
    pub(super) fn open_cache(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        open: Box<CacheOpen>,
    ) -> Answer<P::Fd> {
        let connection = self.clients.connection(by.conn);
        let client = connection.and_then(|connection| self.clients.get(connection.client?));
        let program = client.map_or_else(String::new, |client| client.program.to_string());
        self.cache_conns.insert(by.conn);
        self.ask_group(ports, by, caller, GroupWork::OpenCache(open, program))
    }

    /// A cache has answered; what it gave is in the ledger by then.
    pub(super) fn cache_gave(
        &mut self,
        ports: &mut P,
        by: RequestId,
        caller: &Caller,
        gave: CacheGave,
    ) -> Answer<P::Fd> {
        let given = &mut self.counts.pressure_given_bytes;
        *given = given.saturating_add(gave.bytes);
        self.ask_group(ports, by, caller, GroupWork::Gave(gave))
    }

    /// A connection is gone, and with it the caches of its process, until that has another one.
    pub(super) fn caches_hung_up(&mut self, ports: &mut P, conn: ConnId) {
        if self.cache_conns.remove(&conn) {
            let by = GroupCaller { user: u32::MAX, gid: u32::MAX, pid: 0, operator: false };
            ports.ask_group(GroupAsk { conn, number: UNASKED, by, work: GroupWork::HungUp });
        }
    }

    /// Has caches asked for what a slab needs, now and then while it finds no room: what they gave may
    /// have been taken by another one. True if there are caches that may give something.
    pub(super) fn press_caches(&mut self, ports: &mut P, pending: &PendingSlab, now: bool) -> bool {
        if self.cache_conns.is_empty() {
            return false;
        }
        if now {
            let user = pending.class.owner.user;
            let by = GroupCaller { user, gid: u32::MAX, pid: 0, operator: false };
            let work = GroupWork::Press(pending.class.device, pending.bytes);
            ports.ask_group(GroupAsk { conn: ConnId(u64::MAX), number: UNASKED, by, work });
        }
        true
    }

    /// Pages are wanted back from whoever is at this connection. A process that does not read is not
    /// told, and the request ends by its time.
    pub fn press(&mut self, ports: &mut P, conn: ConnId, request: Pressure) {
        if self.cache_conns.contains(&conn) && ports.backlog(conn) < BACKLOG {
            self.counts.pressure_requests += 1;
            let asked = &mut self.counts.pressure_asked_bytes;
            *asked = asked.saturating_add(request.bytes);
            let body = ReplyBody::Pressure(Box::new(request));
            ports.reply(conn, Reply { number: UNASKED, body }, Vec::new());
        }
    }

    /// The process at this connection has not answered in time, and the operator has it ended.
    pub fn end_silent(&mut self, ports: &mut P, conn: ConnId) {
        if !self.cache_conns.contains(&conn) {
            return;
        }
        if let Some(pidfd) = ports.peer_pidfd(conn) {
            ports.kill(&pidfd);
            self.counts.silent_caches_ended += 1;
        }
    }
}
