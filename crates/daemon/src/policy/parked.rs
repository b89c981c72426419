//! Requests that are not answered yet: one table, whatever they wait for.
//!
//! A request is in it from the moment in which its handler parks it until it is answered or its
//! connection is gone. What comes for a request that is not there any more is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_wire::message::{RequestBody, Target, TensorCreate, TensorGet, VersionGet};
use millpond_wire::{SlabId, TensorId, VersionId, VersionTarget};

use super::catalog::NameKey;
use super::models::MakingKey;
use super::owner::Caller;
use super::ports::ConnId;
use crate::accounts::{Account, Charge, Resource};

/// A request: where it came from, and the number that its answer carries. A careless client may
/// use a number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestId {
    pub conn: ConnId,
    pub number: u64,
}

/// The place of one request in the table; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// What a parked request waits for, with everything that is needed to go on with it.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    /// The tensor is there and published.
    Get(TensorGet),
    /// The version is there and ready.
    Attach(VersionGet),
    /// Fresh readings of the card.
    Status,
    /// The driver has reported its GPUs.
    Gpus(Box<RequestBody>),
    /// The driver has made this slab.
    CreateIn(SlabId, TensorCreate),
    /// Memory of another program is charged and proved.
    Adopt(SlabId),
    /// The turns in which an answer is made.
    Answer,
    /// The slabs of a version.
    Slabs(MakingKey),
    /// A move has landed.
    Move(u64),
    /// Whoever keeps the groups' files.
    Group,
    /// The keeper has room for what this request has it hold.
    Again(Box<RequestBody>),
}

/// What wakes a parked request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Until {
    Tensor,
    Version,
    Reading,
    Gpus,
    Slab(SlabId),
    Turn,
    Slabs(MakingKey),
    Moved(u64),
    Group,
    Keeper,
}

/// What a get waits for: an object that comes looks only for those who mean it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WaitKey {
    Tensor(TensorId),
    TensorName(NameKey),
    Version(VersionId),
    Model(NameKey),
}

impl Wish {
    /// Whether it is a status, which is answered with what is known when its time is over.
    pub(super) fn is_status(&self) -> bool {
        match self {
            Wish::Status => true,
            Wish::Gpus(body) => matches!(**body, RequestBody::PondStatus),
            _ => false,
        }
    }

    /// What wakes a get of this caller.
    pub(super) fn key(&self, caller: &Caller) -> Option<WaitKey> {
        Some(match self {
            Wish::Get(get) => match &get.target {
                Target::Id(id) => WaitKey::Tensor(*id),
                Target::Name(name) => WaitKey::TensorName(NameKey::meant(caller, name)),
            },
            Wish::Attach(get) => match &get.target {
                VersionTarget::Id(id) => WaitKey::Version(*id),
                VersionTarget::Name(name) => WaitKey::Model(NameKey::meant(caller, &name.model)),
            },
            _ => return None,
        })
    }

    fn until(&self) -> Until {
        match self {
            Wish::Get(_) => Until::Tensor,
            Wish::Attach(_) => Until::Version,
            Wish::Status => Until::Reading,
            Wish::Gpus(_) => Until::Gpus,
            Wish::CreateIn(slab, _) | Wish::Adopt(slab) => Until::Slab(*slab),
            Wish::Answer => Until::Turn,
            Wish::Slabs(key) => Until::Slabs(*key),
            Wish::Move(job) => Until::Moved(*job),
            Wish::Group => Until::Group,
            Wish::Again(_) => Until::Keeper,
        }
    }
}

#[derive(Debug)]
pub(super) struct Parked {
    pub by: RequestId,
    pub wish: Wish,
    /// On the clock that never jumps.
    deadline_ms: Option<u64>,
    key: Option<WaitKey>,
    _charge: Charge,
}

#[derive(Debug, Default)]
pub(super) struct ParkedRequests {
    requests: BTreeMap<Ticket, Parked>,
    by_until: BTreeSet<(Until, Ticket)>,
    by_deadline: BTreeSet<(u64, Ticket)>,
    by_conn: BTreeMap<ConnId, BTreeSet<Ticket>>,
    by_key: BTreeMap<WaitKey, BTreeSet<Ticket>>,
    last: u64,
    /// How many were looked at because something came.
    #[cfg(test)]
    pub looked_at: std::cell::Cell<usize>,
}

impl ParkedRequests {
    /// Parks a request, for ever or until its deadline.
    pub(super) fn park(
        &mut self,
        by: RequestId,
        wish: Wish,
        deadline_ms: Option<u64>,
        key: Option<WaitKey>,
        account: &Rc<Account>,
    ) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        self.by_until.insert((wish.until(), ticket));
        self.by_deadline.extend(deadline_ms.map(|at| (at, ticket)));
        self.by_conn.entry(by.conn).or_default().insert(ticket);
        if let Some(key) = &key {
            self.by_key.entry(key.clone()).or_default().insert(ticket);
        }
        let charge = Charge::new(account, Resource::Waits, 1);
        self.requests.insert(ticket, Parked { by, wish, deadline_ms, key, _charge: charge });
        ticket
    }

    /// Takes a request out: it is about to be answered, or to be tried again.
    pub(super) fn take(&mut self, ticket: Ticket) -> Option<Parked> {
        let parked = self.requests.remove(&ticket)?;
        self.by_until.remove(&(parked.wish.until(), ticket));
        if let Some(at) = parked.deadline_ms {
            self.by_deadline.remove(&(at, ticket));
        }
        if let Some(tickets) = self.by_conn.get_mut(&parked.by.conn) {
            tickets.remove(&ticket);
            if tickets.is_empty() {
                self.by_conn.remove(&parked.by.conn);
            }
        }
        if let Some(key) = &parked.key
            && let Some(tickets) = self.by_key.get_mut(key)
        {
            tickets.remove(&ticket);
            if tickets.is_empty() {
                self.by_key.remove(key);
            }
        }
        Some(parked)
    }

    /// The gets that any of these would wake, oldest first.
    pub(super) fn for_keys(&self, keys: impl IntoIterator<Item = WaitKey>) -> BTreeSet<Ticket> {
        let found = keys.into_iter().filter_map(|key| self.by_key.get(&key));
        let found: BTreeSet<Ticket> = found.flatten().copied().collect();
        #[cfg(test)]
        self.looked_at.set(self.looked_at.get() + found.len());
        found
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Parked> {
        self.requests.get(&ticket)
    }

    /// The connection of each request that waits.
    pub(super) fn conns(&self) -> impl Iterator<Item = ConnId> {
        self.requests.values().map(|parked| parked.by.conn)
    }

    /// How many requests of a connection wait.
    pub(super) fn count_of(&self, conn: ConnId) -> usize {
        self.by_conn.get(&conn).map_or(0, BTreeSet::len)
    }

    /// Those who wait for this, oldest first.
    pub(super) fn waiting(&self, until: Until) -> impl Iterator<Item = (Ticket, &Parked)> {
        let tickets = self.by_until.range((until, Ticket(0))..=(until, Ticket(u64::MAX)));
        tickets.filter_map(|(_, ticket)| Some((*ticket, self.requests.get(ticket)?)))
    }

    pub(super) fn is_awaited(&self, until: Until) -> bool {
        self.waiting(until).next().is_some()
    }

    /// The first of a connection's requests with this number that waits for this.
    pub(super) fn find(&self, by: RequestId, until: Until) -> Option<Ticket> {
        let is_it = |parked: &Parked| parked.by == by && parked.wish.until() == until;
        let tickets = self.by_conn.get(&by.conn)?.iter().copied();
        let mut found = tickets.filter(|ticket| self.get(*ticket).is_some_and(is_it));
        found.next()
    }

    /// The one who has waited for this the longest.
    pub(super) fn first(&self, until: Until) -> Option<Ticket> {
        self.waiting(until).next().map(|(ticket, _)| ticket)
    }

    /// Takes everybody out who waits for this, oldest first.
    pub(super) fn take_all(&mut self, until: Until) -> Vec<Parked> {
        let tickets: Vec<Ticket> = self.waiting(until).map(|(ticket, _)| ticket).collect();
        tickets.into_iter().filter_map(|ticket| self.take(ticket)).collect()
    }

    /// Takes those out whose time is over: by what they wait for, and then oldest first.
    pub(super) fn take_late(&mut self, now_ms: u64) -> Vec<Parked> {
        let late = self.by_deadline.range(..=(now_ms, Ticket(u64::MAX)));
        let late = late.filter_map(|(_, ticket)| Some((self.get(*ticket)?.wish.until(), *ticket)));
        let mut late: Vec<(Until, Ticket)> = late.collect();
        late.sort_unstable();
        late.into_iter().filter_map(|(_, ticket)| self.take(ticket)).collect()
    }

    pub(super) fn soonest(&self) -> Option<u64> {
        self.by_deadline.first().map(|(at, _)| *at)
    }

    /// Takes out everything of a connection that is gone.
    pub(super) fn hang_up(&mut self, conn: ConnId) -> Vec<Parked> {
        let tickets = self.by_conn.get(&conn).cloned().unwrap_or_default();
        tickets.into_iter().filter_map(|ticket| self.take(ticket)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Accounts, AllTerms};

    fn account() -> Rc<Account> {
        Accounts::new(AllTerms::NONE, 0).of(&"local".into(), 1)
    }

    impl ParkedRequests {
        fn put(&mut self, by: RequestId, wish: Wish, deadline_ms: Option<u64>) {
            self.park(by, wish, deadline_ms, None, &account());
        }
    }

    fn by(conn: u64, number: u64) -> RequestId {
        RequestId { conn: ConnId(conn), number }
    }

    fn numbers(parked: &[Parked]) -> Vec<u64> {
        parked.iter().map(|parked| parked.by.number).collect()
    }

    #[test]
    fn whoever_waits_is_woken_once_and_in_the_order_of_arrival() {
        let mut table = ParkedRequests::default();
        for (conn, number, job) in [(2, 1, 7), (1, 2, 7), (1, 3, 8), (2, 4, 7)] {
            table.put(by(conn, number), Wish::Move(job), None);
        }
        assert_eq!(numbers(&table.take_all(Until::Moved(7))), [1, 2, 4]);
        assert!(table.take_all(Until::Moved(7)).is_empty());
        assert!(table.is_awaited(Until::Moved(8)) && !table.is_awaited(Until::Group));
    }

    #[test]
    fn what_is_late_is_taken_out_and_the_rest_says_when_to_come_again() {
        let mut table = ParkedRequests::default();
        table.put(by(1, 1), Wish::Group, Some(50));
        table.put(by(1, 2), Wish::Status, Some(20));
        table.put(by(1, 3), Wish::Status, Some(10));
        table.put(by(1, 4), Wish::Status, Some(60));
        table.put(by(1, 5), Wish::Status, None);
        assert_eq!(table.soonest(), Some(10));
        assert_eq!(numbers(&table.take_late(50)), [2, 3, 1]);
        assert_eq!(table.soonest(), Some(60));
        assert_eq!(table.count_of(ConnId(1)), 2);
    }

    #[test]
    fn nothing_is_left_of_a_connection_that_is_gone() {
        let mut table = ParkedRequests::default();
        // The same number twice is two requests.
        for _ in 0..2 {
            table.put(by(1, 9), Wish::Status, Some(10));
        }
        table.put(by(2, 1), Wish::Group, None);
        assert_eq!(table.count_of(ConnId(1)), 2);
        assert_eq!(table.hang_up(ConnId(1)).len(), 2);
        assert_eq!((table.count_of(ConnId(1)), table.soonest()), (0, None));
        assert!(!table.is_awaited(Until::Reading) && table.is_awaited(Until::Group));
    }

    #[test]
    fn only_those_who_mean_it_are_found_and_each_pays_until_it_is_taken_out() {
        let (mut table, account) = (ParkedRequests::default(), account());
        let key = |number: u8| WaitKey::Tensor(TensorId(uuid::Uuid::from_bytes([number; 16])));
        table.park(by(1, 1), Wish::Status, None, Some(key(1)), &account);
        table.park(by(1, 2), Wish::Status, None, Some(key(2)), &account);
        assert_eq!(account.has(Resource::Waits), 2);
        let found = table.for_keys([key(2), key(1), key(3)]);
        assert_eq!(found.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2]);
        assert!(table.for_keys([key(3)]).is_empty());
        for ticket in found {
            table.take(ticket);
        }
        assert!(table.by_key.is_empty() && table.by_until.is_empty());
        assert_eq!(account.has(Resource::Waits), 0);
    }
}
