//! Replies go out, and who does not read them is not read from.

use std::rc::Rc;
use std::time::Instant;

use super::World;
use crate::accounts::{Account, Resource};
use crate::policy::{ConnId, Ports};
use crate::shell::conn::{Conn, Flushed};

impl World {
    pub fn remove_conn(&mut self, id: ConnId) {
        self.soon.remove(id);
        let (Some(mut conn), Some(token)) = (self.conns.remove(&id), self.conn_tokens.remove(&id))
        else {
            return;
        };
        self.watcher.remove(&conn, token);
        let Some(account) = conn.account().cloned() else { return };
        self.flights.remove(&account, id);
        if !conn.look() {
            conn.end();
            let now = Instant::now();
            self.flights.sent(&account, id, now);
            self.soon.add(id, now);
            self.lingering.insert(id, conn);
            return;
        }
        drop(conn);
        self.resume_if_free(&account);
    }

    /// Descriptors that connections and watched processes take.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        self.conns.len() + self.lingering.len() + self.client_tokens.len() + self.holders.len()
    }

    /// Whether there is anything that [`Self::flush`] would do.
    #[must_use]
    pub fn has_to_flush(&self, id: ConnId) -> bool {
        self.conns.get(&id).is_some_and(|conn| conn.closing || conn.backlog() > 0)
    }

    /// Sends what waits on a connection.
    pub fn flush(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let flushed = conn.flush();
        self.after_send(id, flushed);
    }

    /// The same on those whose time for another try has come.
    pub fn flush_soon(&mut self) {
        let now = Instant::now();
        for id in self.soon.due(now) {
            if self.lingering.contains_key(&id) {
                self.look_at_conn(id);
                self.soon.tried(id, false, now);
                continue;
            }
            let before = self.backlog(id);
            self.flush(id);
            let moved = self.backlog(id) < before;
            self.soon.tried(id, moved, now);
        }
        for account in self.flights.due(now) {
            self.look_at(&account, now);
        }
    }

    /// Looks what a user has read, unless that was done a moment ago; what waited for it goes on.
    pub(super) fn look_at(&mut self, account: &Rc<Account>, now: Instant) {
        let before = account.has(Resource::Descriptors);
        for id in self.flights.take_unread(account, now) {
            self.look_at_conn(id);
        }
        if account.has(Resource::Descriptors) < before {
            self.flights.moved(account, now);
            self.resume(account);
        } else {
            self.resume_if_free(account);
        }
    }

    pub(super) fn look_at_conn(&mut self, id: ConnId) {
        let conn = self.conns.get_mut(&id).or_else(|| self.lingering.get_mut(&id));
        let Some(conn) = conn else { return };
        if conn.look()
            && let Some(account) = conn.account()
        {
            self.flights.read(account, id);
            if self.lingering.remove(&id).is_some() {
                self.soon.remove(id);
            }
        }
    }

    /// Whether a user may have so many descriptors more in flight, after a look if need be.
    pub(super) fn has_room(&mut self, id: ConnId, more: usize) -> bool {
        let Some(account) = self.conns.get(&id).and_then(Conn::account).cloned() else {
            return true;
        };
        let check = || account.check_or_first(Resource::Descriptors, more as u64);
        if check().is_ok() {
            return true;
        }
        self.look_at(&account, Instant::now());
        match check() {
            Ok(()) => true,
            Err(refused) => {
                self.stopped.push((account, refused));
                false
            }
        }
    }

    pub(super) fn resume_if_free(&mut self, account: &Rc<Account>) {
        if self.flights.is_stopped_in_vain(account) {
            self.resume(account);
        }
    }

    /// Those of a user who waited until something is read go on.
    pub(super) fn resume(&mut self, account: &Rc<Account>) {
        for id in self.flights.take_waiting(account) {
            self.flush(id);
        }
    }

    pub(super) fn after_send(&mut self, id: ConnId, flushed: Flushed) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        match flushed {
            Flushed::Everything if conn.closing && conn.backlog() == 0 => self.ended.push(id),
            Flushed::Everything | Flushed::Full | Flushed::NoRoom => self.soon.remove(id),
            Flushed::Soon => self.soon.add(id, Instant::now()),
            Flushed::Gone => self.ended.push(id),
        }
        self.account(id);
    }

    /// Has the connection's user pay for what waits on it and for what is unread.
    pub(super) fn account(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let was_full = conn.is_full();
        conn.pay();
        let is_new = conn.has_unread() && !std::mem::replace(&mut conn.listed, true);
        if let Some(account) = conn.account() {
            if is_new {
                self.flights.sent(account, id, Instant::now());
            }
            if let Some(refused) = account.why_full().filter(|_| !was_full) {
                self.stopped.push((Rc::clone(account), refused));
            }
            let account = Rc::clone(account);
            self.resume_if_free(&account);
        }
        self.set_interest(id);
    }

    /// Sends the long replies that were made meanwhile.
    pub fn send_made(&mut self) {
        self.long_replies.clear();
        while let Some(made) = self.long_replies.next() {
            let Some(conn) = self.conns.get_mut(&made.conn) else { continue };
            match made.file {
                Ok(file) => {
                    let builder = &mut self.builder;
                    let flushed = conn.send_made(made.number, made.expected, file, builder);
                    self.after_send(made.conn, flushed);
                }
                Err(error) => self.cannot_reply(made.conn, &error),
            }
        }
    }

    pub(super) fn cannot_reply(&mut self, conn: ConnId, error: &std::io::Error) {
        tracing::error!("a reply could not be made: {error}");
        self.ended.push(conn);
    }

    /// Whether the next message of a connection is to be read. From a user who does not read,
    /// nothing is; but that the peer is gone can only be read.
    pub fn may_read(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(&id) else { return false };
        if !conn.wants().0 {
            if conn.has_promised() && conn.has_hung_up() {
                // Nobody would notice before the reply is made, and the event loop would spin.
                self.ended.push(id);
            }
            return false;
        }
        let may = !conn.is_full() || conn.has_hung_up();
        if !may {
            self.set_interest(id);
        }
        may
    }

    /// Has the event loop wait for what the connection can use.
    pub(super) fn set_interest(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let mut wants = conn.wants();
        if self.soon.contains(id) || conn.no_room {
            // The socket is writable, but that is not what is waited for.
            wants.1 = false;
        }
        let is_stopped = wants.0 && conn.is_full();
        if is_stopped {
            wants.0 = false;
        }
        match conn.account() {
            Some(account) if is_stopped => self.flights.stop(account, id, Instant::now()),
            Some(account) if conn.no_room => self.flights.wait(account, id, Instant::now()),
            _ => {}
        }
        if wants != conn.interest
            && let Some(token) = self.conn_tokens.get(&id)
        {
            conn.interest = wants;
            self.watcher.change(&*conn, *token, wants);
        }
    }
}
