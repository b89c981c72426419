//! Listings of many tensors: a slice at a time, so that nobody waits for what another wants to see.
//!
//! A long listing has every tensor that was there when it began, once and under the name that it
//! had then, whatever happens meanwhile; the rest is as it was when its slice came.

use std::collections::BTreeSet;

use millpond_wire::TensorId;
use millpond_wire::message::{ReplyBody, TensorInfo};

use super::answer::{Answer, Answered, now};
use super::owner::Caller;
use super::parked::{Parked, RequestId, Ticket, Until, Wish};
use super::pond::Pond;
use super::ports::{ConnId, Ports};

/// Tensors that are looked at in one go: some two milliseconds.
const SLICE: usize = 2048;
/// Entries of long listings that may wait for one user to read: some 150 MB.
const UNREAD: usize = 1_000_000;

/// How long listings are made; those that wait for their turn are parked.
#[derive(Debug)]
pub(super) struct Listings {
    slice: usize,
    unread: usize,
    /// The one that is being made: one is enough to keep in memory.
    current: Option<Listing>,
    /// Long ones that may not be sent yet: where, whose, and how many entries they have.
    sent: Vec<(ConnId, u32, usize)>,
    last_user: Option<u32>,
}

#[derive(Debug)]
struct Listing {
    ticket: Ticket,
    conn: ConnId,
    caller: Caller,
    prefix: String,
    /// The last tensor that was looked at.
    at: Option<TensorId>,
    found: Vec<TensorInfo>,
    /// Tensors further on that are done with: they are in it already, or came later.
    passed: BTreeSet<TensorId>,
}

impl Default for Listings {
    fn default() -> Self {
        Self { slice: SLICE, unread: UNREAD, current: None, sent: Vec::new(), last_user: None }
    }
}

impl Listings {
    /// Nobody reads there any more.
    pub(super) fn forget(&mut self, conn: ConnId) {
        self.current.take_if(|listing| listing.conn == conn);
        self.sent.retain(|(to, _, _)| *to != conn);
    }

    /// Who is next: nobody where an earlier one is not sent yet, or replies that are not read pile
    /// up, and no user with too many such connections or with too much that is sent and not read, but
    /// for the operator; and others before the user who had the last one.
    fn next<'a, P: Ports>(
        &mut self,
        ports: &P,
        is_full: impl Fn(ConnId) -> bool,
        waiting: impl Iterator<Item = (Ticket, &'a Parked)>,
    ) -> Option<Ticket> {
        self.sent.retain(|(conn, _, _)| ports.backlog(*conn) > 0);
        let mut of_last_user = None;
        for (ticket, parked) in waiting {
            let Wish::List { caller, .. } = &parked.wish else { continue };
            let user = caller.owner.user;
            let theirs = self.sent.iter().filter(|(_, to, _)| *to == user);
            let unread: usize = theirs.map(|(_, _, entries)| entries).sum();
            let reads = self.sent.iter().all(|(conn, _, _)| *conn != parked.by.conn);
            let may = caller.admin || (unread < self.unread && !is_full(parked.by.conn));
            if !reads || !may {
                continue;
            }
            if Some(user) != self.last_user {
                return Some(ticket);
            }
            of_last_user = of_last_user.or(Some(ticket));
        }
        of_last_user
    }

    #[cfg(test)]
    pub(super) fn set_caps(&mut self, slice: Option<usize>, unread: Option<usize>) {
        self.slice = slice.unwrap_or(self.slice);
        self.unread = unread.unwrap_or(self.unread);
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
        by: RequestId,
        caller: Caller,
        prefix: String,
    ) -> Answer<P::Fd> {
        if self.catalog.len() <= self.listings.slice {
            return now(ReplyBody::Tensors(self.tensor_list(ports, &caller, &prefix)));
        }
        self.park(by, Wish::List { caller, prefix }, None);
        Ok(Answered::Parked)
    }

    /// The one whose turn it is.
    fn next_listing(&mut self, ports: &P) -> Option<Ticket> {
        let Self { clients, parked, listings, .. } = self;
        let is_full = |conn| clients.connection(conn).is_some_and(|it| it.account.is_full());
        listings.next(ports, is_full, parked.waiting(Until::Listing))
    }

    fn begin_listing(&mut self, ports: &P) -> Option<Listing> {
        let ticket = self.next_listing(ports)?;
        let Parked { by, wish: Wish::List { caller, prefix }, .. } = self.parked.get(ticket)?
        else {
            return None;
        };
        let (caller, prefix) = (caller.clone(), prefix.clone());
        let (at, found, passed) = (None, Vec::new(), BTreeSet::new());
        Some(Listing { ticket, conn: by.conn, caller, prefix, at, found, passed })
    }

    /// Goes on with a long listing. Returns when to come again.
    pub(super) fn list_on(&mut self, ports: &mut P) -> Option<u64> {
        let current = self.listings.current.take();
        if current.is_none() && !self.parked.is_awaited(Until::Listing) {
            return None;
        }
        let mut listing = match current {
            Some(listing) => listing,
            None => self.begin_listing(ports)?,
        };
        let now_ms = ports.monotonic_ms();
        let mut looked = 0;
        for (id, tensor) in self.catalog.after(listing.at).take(self.listings.slice) {
            (looked, listing.at) = (looked + 1, Some(id));
            if !listing.passed.remove(&id) {
                let Listing { caller, prefix, .. } = &listing;
                let listed = self.listed(caller, prefix, (id, tensor), now_ms);
                listing.found.extend(listed);
            }
        }
        if looked == self.listings.slice {
            self.listings.current = Some(listing);
            return Some(now_ms);
        }
        let Listing { ticket, conn, caller, found, .. } = listing;
        let user = caller.owner.user;
        self.listings.sent.push((conn, user, found.len()));
        self.listings.last_user = Some(user);
        self.answer_parked(ports, Some(ticket), now(ReplyBody::Tensors(found)));
        self.next_listing(ports).map(|_| now_ms)
    }

    /// A tensor is about to be deleted or named: a listing that began before has it as it is.
    pub(super) fn list_before_change(&mut self, ports: &P, id: TensorId) {
        let Some(listing) = self.listings.before(id) else { return };
        listing.passed.insert(id);
        let Some(tensor) = self.catalog.get(id) else { return };
        let Some(Listing { caller, prefix, .. }) = &self.listings.current else { return };
        let info = self.listed(caller, prefix, (id, tensor), ports.monotonic_ms());
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
