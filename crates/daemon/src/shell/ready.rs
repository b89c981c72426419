//! What clients have caused and is not done yet: messages that came, and processes that are gone.
//!
//! Users take turns, so that nobody waits for more than a turn of each of the others, however many
//! connections those have. Within a user the first that came is the first.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Bound;

use millpond_wire::ClientId;

use crate::policy::ConnId;

/// Who has caused it; nobody for the operator's connections.
pub type Causer = Option<u32>;

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A connection is readable, or writable.
    Conn(ConnId),
    /// The process of a client is gone.
    Gone(ClientId),
}

/// All of it, by user.
#[derive(Debug, Default)]
pub struct Ready {
    users: BTreeMap<Causer, VecDeque<Work>>,
    queued: HashSet<Work>,
}

impl Ready {
    /// One more, unless it waits already: a socket is reported until it is read.
    pub fn add(&mut self, by: Causer, work: Work) {
        if self.queued.insert(work) {
            self.users.entry(by).or_default().push_back(work);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// The first user after this one that has something, in an order that all rounds share; from the
    /// beginning without one.
    pub fn after(&self, last: Option<Causer>) -> Option<Causer> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.users.range((from, Bound::Unbounded)).next().map(|(by, _)| *by)
    }

    /// What this user has waited for the longest.
    pub fn take(&mut self, by: Causer) -> Option<Work> {
        let queue = self.users.get_mut(&by)?;
        let work = queue.pop_front();
        if queue.is_empty() {
            self.users.remove(&by);
        }
        if let Some(work) = work {
            self.queued.remove(&work);
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_has_a_turn_and_within_it_the_first_that_came_is_the_first() {
        let (mut ready, conn) = (Ready::default(), |number| Work::Conn(ConnId(number)));
        for number in 1..=1000 {
            ready.add(Some(7), conn(number));
        }
        ready.add(Some(7), conn(1));
        ready.add(Some(9), conn(2000));
        ready.add(None, conn(3000));
        let mut first = Vec::new();
        let mut last = None;
        while let Some(by) = ready.after(last) {
            first.push((by, ready.take(by).unwrap()));
            last = Some(by);
        }
        assert_eq!(first, [(None, conn(3000)), (Some(7), conn(1)), (Some(9), conn(2000))]);
        ready.add(Some(7), conn(1));
        let rest = std::iter::from_fn(|| ready.take(Some(7))).collect::<Vec<_>>();
        assert_eq!(rest, (2..=1000).chain([1]).map(conn).collect::<Vec<_>>());
        assert!(ready.is_empty() && ready.queued.is_empty());
    }
}
