//! Listings of many tensors: a slice at a time, so that nobody waits for what another wants to see.
//!
//! A long listing has every tensor that was there when it began, once and under the name that it
//! had then, whatever happens meanwhile; the rest is as it was when its slice came.

use std::collections::{BTreeSet, VecDeque};

use millpond_wire::TensorId;
use millpond_wire::message::{ReplyBody, TensorInfo};

use super::owner::Caller;
use super::pond::{Answer, Pond, now};
use super::ports::{ConnId, Ports};

/// Tensors that are looked at in one go: some two milliseconds.
const SLICE: usize = 2048;
/// Entries of long listings that may wait for one user to read: some 150 MB.
const UNREAD: usize = 1_000_000;

/// Listings that are not answered yet.
#[derive(Debug)]
pub(super) struct Listings {
    pub(super) slice: usize,
    pub(super) unread: usize,
    waiting: VecDeque<Ask>,
    /// The one that is being made: one is enough to keep in memory.
    current: Option<Listing>,
    /// Long ones that may not be sent yet: where, whose, and how many entries they have.
    sent: Vec<(ConnId, u32, usize)>,
    /// Who had the last one.
    last_user: Option<u32>,
}

#[derive(Debug)]
struct Ask {
    conn: ConnId,
    number: u64,
    caller: Caller,
    prefix: String,
}

#[derive(Debug)]
struct Listing {
    ask: Ask,
    /// The last tensor that was looked at.
    at: Option<TensorId>,
    found: Vec<TensorInfo>,
    /// Tensors further on that are done with: they are in it already, or came later.
    passed: BTreeSet<TensorId>,
}

impl Default for Listings {
    fn default() -> Self {
        let (waiting, sent) = (VecDeque::new(), Vec::new());
        Self { slice: SLICE, unread: UNREAD, waiting, current: None, sent, last_user: None }
    }
}

impl Listings {
    /// Nobody reads there any more.
    pub fn forget(&mut self, conn: ConnId) {
        self.waiting.retain(|ask| ask.conn != conn);
        self.current.take_if(|listing| listing.ask.conn == conn);
        self.sent.retain(|(to, _, _)| *to != conn);
    }

    /// Whether all are answered.
    pub fn are_done(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }

    /// Who is next: nobody where an earlier one is not sent yet, or replies that are not read pile
    /// up, and no user with too many such connections, but for the operator; and others before the
    /// user who had the last one.
    fn next<P: Ports>(&mut self, ports: &P) -> Option<usize> {
        self.sent.retain(|(conn, _, _)| ports.backlog(*conn) > 0);
        let may_begin = |ask: &Ask| {
            let theirs = self.sent.iter().filter(|(_, to, _)| *to == ask.caller.owner.user);
            let unread: usize = theirs.map(|(_, _, entries)| entries).sum();
            let reads = self.sent.iter().all(|(conn, _, _)| *conn != ask.conn);
            reads && (ask.caller.admin || unread < self.unread)
        };
        let is_other = |ask: &Ask| Some(ask.caller.owner.user) != self.last_user;
        let other = self.waiting.iter().position(|ask| is_other(ask) && may_begin(ask));
        other.or_else(|| self.waiting.iter().position(may_begin))
    }

    /// The listing that still has this tensor before it.
    fn before(&mut self, id: TensorId) -> Option<&mut Listing> {
        let listing = self.current.as_mut()?;
        let ahead = listing.at.is_none_or(|at| id > at) && !listing.passed.contains(&id);
        ahead.then_some(listing)
    }
}

impl<P: Ports> Pond<P> {
    /// Whether a long listing is being made: each [`Pond::tick`] goes on with it.
    pub fn is_listing(&self) -> bool {
        self.listings.current.is_some()
    }

    pub(super) fn list(
        &mut self,
        ports: &P,
        (conn, number): (ConnId, u64),
        caller: Caller,
        prefix: String,
    ) -> Answer<P::Fd> {
        if self.catalog.len() <= self.listings.slice {
            return now(ReplyBody::Tensors(self.tensor_list(ports, &caller, &prefix)));
        }
        self.listings.waiting.push_back(Ask { conn, number, caller, prefix });
        Ok(None)
    }

    /// Goes on with a long listing. Returns when to come again.
    pub(super) fn list_on(&mut self, ports: &mut P) -> Option<u64> {
        if self.listings.are_done() {
            return None;
        }
        if self.listings.current.is_none() {
            let ask = self.listings.next(ports).and_then(|at| self.listings.waiting.remove(at))?;
            let (found, passed) = (Vec::new(), BTreeSet::new());
            self.listings.current = Some(Listing { ask, at: None, found, passed });
        }
        let now_ms = ports.monotonic_ms();
        let mut listing = self.listings.current.take()?;
        let mut looked = 0;
        for (id, tensor) in self.catalog.after(listing.at).take(self.listings.slice) {
            (looked, listing.at) = (looked + 1, Some(id));
            if !listing.passed.remove(&id) {
                let Ask { caller, prefix, .. } = &listing.ask;
                listing.found.extend(self.listed(caller, prefix, (id, tensor), now_ms));
            }
        }
        if looked == self.listings.slice {
            self.listings.current = Some(listing);
            return Some(now_ms);
        }
        let Listing { ask: Ask { conn, number, caller, .. }, found, .. } = listing;
        let user = caller.owner.user;
        self.listings.sent.push((conn, user, found.len()));
        self.listings.last_user = Some(user);
        self.answer_later(ports, conn, number, ReplyBody::Tensors(found), Vec::new());
        self.listings.next(ports).map(|_| now_ms)
    }

    /// A tensor is about to be deleted or named: a listing that began before has it as it is.
    pub(super) fn list_before_change(&mut self, ports: &P, id: TensorId) {
        let Some(listing) = self.listings.before(id) else { return };
        listing.passed.insert(id);
        let Some(tensor) = self.catalog.get(id) else { return };
        let Some(Listing { ask, .. }) = &self.listings.current else { return };
        let now_ms = ports.monotonic_ms();
        let info = self.listed(&ask.caller, &ask.prefix, (id, tensor), now_ms);
        if let Some(listing) = &mut self.listings.current {
            listing.found.extend(info);
        }
    }

    /// A tensor was made: a listing that began before does not have it.
    pub(super) fn list_without(&mut self, id: TensorId) {
        if let Some(listing) = self.listings.before(id) {
            listing.passed.insert(id);
        }
    }
}
