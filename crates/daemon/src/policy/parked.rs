//! Requests that are not answered yet: one table, whatever they wait for.
//!
//! A request is in it from the moment in which its handler parks it until it is answered or its
//! connection is gone. What comes for a request that is not there any more is dropped.

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::SlabId;
use millpond_wire::message::{TensorCreate, TensorGet, VersionGet, VersionStage};

use super::models::MakingKey;
use super::ports::ConnId;

/// Requests of one connection that may wait at the same time.
pub(super) const PENDING: usize = 1024;

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
    /// The driver has said which GPUs there are.
    Create(TensorCreate),
    /// The same, for a version.
    Stage(VersionStage),
    /// The driver has made this slab.
    CreateIn(SlabId, TensorCreate),
    /// The turns in which an answer is made.
    Answer,
    /// The slabs of a version.
    Slabs(MakingKey),
    /// A move has landed.
    Move(u64),
    /// Whoever keeps the groups' files.
    Group,
}

/// What wakes a parked request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Until {
    Tensor,
    Version,
    Reading,
    DriverForCreate,
    DriverForStage,
    Slab(SlabId),
    Turn,
    Slabs(MakingKey),
    Moved(u64),
    Group,
}

impl Wish {
    fn until(&self) -> Until {
        match self {
            Wish::Get(_) => Until::Tensor,
            Wish::Attach(_) => Until::Version,
            Wish::Status => Until::Reading,
            Wish::Create(_) => Until::DriverForCreate,
            Wish::Stage(_) => Until::DriverForStage,
            Wish::CreateIn(slab, _) => Until::Slab(*slab),
            Wish::Answer => Until::Turn,
            Wish::Slabs(key) => Until::Slabs(*key),
            Wish::Move(job) => Until::Moved(*job),
            Wish::Group => Until::Group,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Parked {
    pub by: RequestId,
    pub wish: Wish,
    /// On the clock that never jumps.
    deadline_ms: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct ParkedRequests {
    requests: BTreeMap<Ticket, Parked>,
    by_until: BTreeSet<(Until, Ticket)>,
    by_deadline: BTreeSet<(u64, Ticket)>,
    by_conn: BTreeMap<ConnId, BTreeSet<Ticket>>,
    last: u64,
}

impl ParkedRequests {
    /// Parks a request, for ever or until its deadline.
    pub(super) fn park(&mut self, by: RequestId, wish: Wish, deadline_ms: Option<u64>) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        self.by_until.insert((wish.until(), ticket));
        self.by_deadline.extend(deadline_ms.map(|at| (at, ticket)));
        self.by_conn.entry(by.conn).or_default().insert(ticket);
        self.requests.insert(ticket, Parked { by, wish, deadline_ms });
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
        Some(parked)
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Parked> {
        self.requests.get(&ticket)
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
            table.park(by(conn, number), Wish::Move(job), None);
        }
        assert_eq!(numbers(&table.take_all(Until::Moved(7))), [1, 2, 4]);
        assert!(table.take_all(Until::Moved(7)).is_empty());
        assert!(table.is_awaited(Until::Moved(8)) && !table.is_awaited(Until::Group));
    }

    #[test]
    fn what_is_late_is_taken_out_and_the_rest_says_when_to_come_again() {
        let mut table = ParkedRequests::default();
        table.park(by(1, 1), Wish::Group, Some(50));
        table.park(by(1, 2), Wish::Status, Some(20));
        table.park(by(1, 3), Wish::Status, Some(10));
        table.park(by(1, 4), Wish::Status, Some(60));
        table.park(by(1, 5), Wish::Status, None);
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
            table.park(by(1, 9), Wish::Status, Some(10));
        }
        table.park(by(2, 1), Wish::Group, None);
        assert_eq!(table.count_of(ConnId(1)), 2);
        assert_eq!(table.hang_up(ConnId(1)).len(), 2);
        assert_eq!((table.count_of(ConnId(1)), table.soonest()), (0, None));
        assert!(!table.is_awaited(Until::Reading) && table.is_awaited(Until::Group));
    }
}
