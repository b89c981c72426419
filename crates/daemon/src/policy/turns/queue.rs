//! Whose turn it is: users one after the other, and the connections of a user likewise.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use super::{Job, TensorListing};
use crate::policy::models::ModelListing;
use crate::policy::parked::Ticket;
use crate::policy::ports::ConnId;

/// Entries that are looked at in one turn: some two milliseconds.
const SLICE: usize = 2048;
/// Long answers that are in memory at the same time, unfinished.
const LONG_AT_ONCE: usize = 4;

#[derive(Debug)]
pub(in crate::policy) struct Turns {
    slice: usize,
    /// What this turn may still look at.
    left: usize,
    users: BTreeMap<u32, User>,
    /// Where an answer could not be sent yet. Its bytes are in the account of its user.
    kept: BTreeSet<ConnId>,
    /// The user who had the last slice.
    last: Option<u32>,
    has_more: bool,
}

#[derive(Debug, Default)]
struct User {
    /// What is not begun, by connection; none is empty.
    waiting: BTreeMap<ConnId, VecDeque<Waiting>>,
    /// Begun, and not finished.
    begun: VecDeque<Waiting>,
    /// The connection whose answer was begun last.
    last: Option<ConnId>,
}

/// A parked request with its answer, as far as that is.
#[derive(Debug)]
pub(super) struct Waiting {
    pub ticket: Ticket,
    pub conn: ConnId,
    /// It needs more than one turn.
    pub is_long: bool,
    pub admin: bool,
    pub job: Job,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            slice: SLICE,
            left: SLICE,
            users: BTreeMap::new(),
            kept: BTreeSet::new(),
            last: None,
            has_more: false,
        }
    }
}

impl Turns {
    pub(in crate::policy) fn slice(&self) -> usize {
        self.slice
    }

    pub(super) fn left(&self) -> usize {
        self.left
    }

    pub(super) fn set_left(&mut self, left: usize) {
        self.left = left;
    }

    /// The entries of a turn are there again; who has read since the last one may have more.
    pub(super) fn begin_turn(&mut self, is_behind: impl Fn(ConnId) -> bool) {
        self.left = self.slice;
        self.kept.retain(|conn| is_behind(*conn));
    }

    /// Whether something waits that the last turn had no room for.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether nothing of the user waits, and everything for the connection is sent.
    pub(super) fn is_free(&self, user: u32, conn: ConnId) -> bool {
        !self.users.contains_key(&user) && !self.kept.contains(&conn)
    }

    pub(super) fn add(&mut self, user: u32, waiting: Waiting, is_begun: bool) {
        self.has_more = true;
        let user = self.users.entry(user).or_default();
        if is_begun {
            user.begun.push_back(waiting);
        } else {
            user.waiting.entry(waiting.conn).or_default().push_back(waiting);
        }
    }

    /// Nobody reads there any more.
    pub(in crate::policy) fn forget(&mut self, conn: ConnId) {
        self.kept.remove(&conn);
        for user in self.users.values_mut() {
            user.waiting.remove(&conn);
            user.begun.retain(|waiting| waiting.conn != conn);
        }
        self.users.retain(|_, user| !user.is_empty());
        self.has_more &= !self.users.is_empty();
    }

    /// Takes out all that is not begun.
    pub(super) fn take_waiting(&mut self) -> Vec<Waiting> {
        let waiting = self.users.values_mut().flat_map(|user| std::mem::take(&mut user.waiting));
        let taken = waiting.flat_map(|(_, waiting)| waiting).collect();
        self.users.retain(|_, user| !user.is_empty());
        taken
    }

    /// An answer could not be sent yet.
    pub(super) fn is_unread(&mut self, conn: ConnId) {
        self.kept.insert(conn);
    }

    /// Takes out what is next, if the turn has room for it: what was begun before what was not, and
    /// others before the user who had the last slice. Nothing is begun for a connection that has not
    /// read its last answer, nor for a user whose account says that too much is not read, but for the
    /// operator.
    pub(super) fn next(&mut self, is_full: impl Fn(ConnId) -> bool) -> Option<(u32, Waiting)> {
        self.has_more = false;
        let begun = self.users.values().flat_map(|user| &user.begun);
        let may_be_long = begun.filter(|begun| begun.is_long).count() < LONG_AT_ONCE;
        let kept = &self.kept;
        let found = after(&self.users, self.last.as_ref()).find_map(|(id, user)| {
            let may = |waiting: &Waiting| {
                !kept.contains(&waiting.conn)
                    && (waiting.admin || !is_full(waiting.conn))
                    && (may_be_long || !waiting.is_long)
            };
            let conn = match user.begun.is_empty() {
                true => Some(user.ready(may)?),
                false => None,
            };
            Some((*id, conn))
        });
        let (id, conn) = found?;
        if self.left == 0 {
            self.has_more = true;
            return None;
        }
        self.last = Some(id);
        let user = self.users.get_mut(&id)?;
        let waiting = match conn {
            Some(conn) => user.take(conn),
            None => user.begun.pop_front(),
        };
        if user.is_empty() {
            self.users.remove(&id);
        }
        waiting.map(|waiting| (id, waiting))
    }

    fn begun(&mut self) -> impl Iterator<Item = &mut Job> {
        self.users.values_mut().flat_map(|user| &mut user.begun).map(|begun| &mut begun.job)
    }

    /// Listings of tensors that are begun.
    pub(super) fn listings(&mut self) -> impl Iterator<Item = &mut TensorListing> {
        self.begun().filter_map(|job| match job {
            Job::Tensors(listing) => Some(listing),
            _ => None,
        })
    }

    /// Listings of models that are begun.
    pub(in crate::policy) fn model_listings(&mut self) -> impl Iterator<Item = &mut ModelListing> {
        self.begun().filter_map(|job| match job {
            Job::Models(listing) => Some(listing),
            _ => None,
        })
    }

    #[cfg(test)]
    pub(in crate::policy) fn set_slice(&mut self, slice: usize) {
        self.slice = slice;
        self.left = self.left.min(slice);
    }
}

impl User {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty()
    }

    /// The connection whose first request may be begun, others before the one of last time.
    fn ready(&self, may: impl Fn(&Waiting) -> bool) -> Option<ConnId> {
        let mut conns = after(&self.waiting, self.last.as_ref());
        conns.find(|(_, queue)| queue.front().is_some_and(&may)).map(|(conn, _)| *conn)
    }

    fn take(&mut self, conn: ConnId) -> Option<Waiting> {
        self.last = Some(conn);
        let queue = self.waiting.get_mut(&conn)?;
        let waiting = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&conn);
        }
        waiting
    }
}

/// All entries once, beginning after a key.
fn after<'a, K: Ord, V>(
    map: &'a BTreeMap<K, V>,
    key: Option<&'a K>,
) -> impl Iterator<Item = (&'a K, &'a V)> {
    let from = key.map_or(Bound::Unbounded, Bound::Excluded);
    let wrapped = key.map(|key| map.range((Bound::Unbounded, Bound::Included(key))));
    map.range((from, Bound::Unbounded)).chain(wrapped.into_iter().flatten())
}
