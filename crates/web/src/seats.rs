//! Seats for connections: shares that one source cannot exceed, so that none keeps the others out.
//!
//! A connection of root's or the runner's has a seat of its own kind. Every other one begins in a small lot, as one
//! that asks, and counts for its source: the user on this machine, else the remote address. Where the lot is full, the
//! oldest connection of the source that has most is closed for the new one; a source with a few short requests always
//! gets in. A right token moves a connection to the guests, where nothing closes it; only a guest may read for long.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::live::READERS;

/// Connections of our own user's programs: all readers, and some more that only ask.
const OURS: usize = READERS + 100;
/// Connections that have shown no right token, in all and of one source.
const ASKING: usize = 512;
const ASKING_OF_ONE: usize = 64;
/// Connections that have shown one. A quarter of all readers is left to our own.
const GUESTS: usize = READERS / 4 * 3;
const GUESTS_OF_ONE: usize = READERS / 4;

/// Where a connection of others comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    User(u32),
    /// An address, or the first half of an IPv6 one: the other half is the host's to choose.
    Network(IpAddr),
}

impl Source {
    pub fn of(user: Option<u32>, address: IpAddr) -> Self {
        match (user, address.to_canonical()) {
            (Some(user), _) => Self::User(user),
            (None, IpAddr::V6(ip)) => {
                let network = Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64);
                Self::Network(network.into())
            }
            (None, ip) => Self::Network(ip),
        }
    }
}

/// Closes one connection, from anywhere and at once: what it has not sent is dropped.
#[derive(Clone, Debug, Default)]
pub struct Closer(Arc<Notify>);

impl Closer {
    pub fn close(&self) {
        self.0.notify_one();
    }

    pub async fn closed(&self) {
        self.0.notified().await;
    }
}

#[derive(Debug, Default)]
struct State {
    ours: usize,
    /// Rises with each connection: the oldest has the smallest.
    next: u64,
    asking: BTreeMap<u64, (Source, Closer)>,
    guests: BTreeMap<u64, Source>,
}

/// All seats of a server. Copies are the same seats.
#[derive(Clone, Debug, Default)]
pub struct Seats(Arc<Mutex<State>>);

impl Seats {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for a connection: without a source it is one of our own.
    pub fn enter(&self, source: Option<Source>) -> Option<Seat> {
        let mut state = self.lock();
        let (number, closer) = (state.next, Closer::default());
        state.next += 1;
        match source {
            None if state.ours >= OURS => return None,
            None => state.ours += 1,
            Some(source) => {
                state.make_room(source);
                state.asking.insert(number, (source, closer.clone()));
            }
        }
        Some(Seat { number, source, closer, seats: self.clone() })
    }
}

impl State {
    /// Closes the connection that has to go for another one of this source, if one has to.
    fn make_room(&mut self, source: Source) {
        let mut counts = BTreeMap::<Source, usize>::new();
        for (source, _) in self.asking.values() {
            *counts.entry(*source).or_default() += 1;
        }
        let of_one = counts.get(&source).copied().unwrap_or(0);
        let pays = if of_one >= ASKING_OF_ONE {
            Some(source)
        } else if self.asking.len() >= ASKING {
            counts.into_iter().max_by_key(|(_, count)| *count).map(|(source, _)| source)
        } else {
            None
        };
        let oldest = self.asking.iter().find(|(_, (source, _))| Some(*source) == pays);
        let Some(number) = oldest.map(|(number, _)| *number) else { return };
        if let Some((_, closer)) = self.asking.remove(&number) {
            closer.close();
        }
    }
}

/// The seat of one connection, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    number: u64,
    source: Option<Source>,
    pub closer: Closer,
    seats: Seats,
}

impl Seat {
    /// Makes the connection a guest, which has shown a right token. Whether it is one, or one of our own.
    pub fn stay(&self) -> bool {
        let Some(source) = self.source else { return true };
        let mut state = self.seats.lock();
        if state.guests.contains_key(&self.number) {
            return true;
        }
        let of_one = state.guests.values().filter(|guest| **guest == source).count();
        let is_full = state.guests.len() >= GUESTS || of_one >= GUESTS_OF_ONE;
        // A missing seat belongs to a connection that is being closed.
        if is_full || state.asking.remove(&self.number).is_none() {
            return false;
        }
        state.guests.insert(self.number, source);
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.seats.lock();
        state.asking.remove(&self.number);
        state.guests.remove(&self.number);
        state.ours -= usize::from(self.source.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Option<Source> = Some(Source::User(2102));

    fn is_closed(seat: &Seat) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        std::pin::pin!(seat.closer.closed()).as_mut().poll(&mut context).is_ready()
    }

    fn remote(text: &str) -> Option<Source> {
        Some(Source::of(None, text.parse().unwrap()))
    }

    #[test]
    fn a_source_that_asks_too_often_closes_its_own_oldest_connection() {
        let seats = Seats::default();
        let other = seats.enter(remote("192.0.2.7")).unwrap();
        let of_b: Vec<_> = (0..ASKING_OF_ONE + 3).map(|_| seats.enter(B).unwrap()).collect();
        let closed: Vec<_> = of_b.iter().map(is_closed).collect();
        assert!(closed[..3].iter().all(|closed| *closed) && !closed[3..].contains(&true));
        assert!(!is_closed(&other));
        drop(of_b);
        assert_eq!(seats.lock().asking.len(), 1, "those that have ended make room");
    }

    #[test]
    fn where_the_lot_is_full_the_source_with_most_pays() {
        let seats = Seats::default();
        let of_b: Vec<_> = (0..ASKING_OF_ONE).map(|_| seats.enter(B).unwrap()).collect();
        let many: Vec<_> = (0..ASKING - ASKING_OF_ONE)
            .map(|n| seats.enter(remote(&format!("10.0.{}.{}", n / 250, n % 250))).unwrap())
            .collect();
        let new = seats.enter(remote("192.0.2.7")).unwrap();
        assert!(is_closed(&of_b[0]) && !is_closed(&of_b[1]) && !is_closed(&new));
        assert!(!many.iter().any(is_closed));
    }

    #[test]
    fn a_guest_is_never_closed_for_others_and_has_a_share() {
        let seats = Seats::default();
        let guests: Vec<_> = (0..GUESTS_OF_ONE)
            .map(|_| {
                let guest = seats.enter(B).unwrap();
                assert!(guest.stay() && guest.stay());
                guest
            })
            .collect();
        let over = seats.enter(B).unwrap();
        assert!(!over.stay(), "it asks, and does not stay");
        assert!(
            seats.enter(remote("192.0.2.7")).unwrap().stay(),
            "another source has its own share"
        );
        let flood: Vec<_> = (0..2 * ASKING_OF_ONE).map(|_| seats.enter(B).unwrap()).collect();
        assert!(is_closed(&over) && !over.stay() && !guests.iter().any(is_closed));
        drop(guests);
        assert!(flood.last().unwrap().stay());
    }

    #[test]
    fn our_own_have_places_whatever_others_do() {
        let seats = Seats::default();
        let _others: Vec<_> = (0..2 * GUESTS)
            .filter_map(|n| seats.enter(Some(Source::User(u32::try_from(n).unwrap()))))
            .inspect(|seat| _ = seat.stay())
            .collect();
        let ours: Vec<_> = (0..OURS).map(|_| seats.enter(None).unwrap()).collect();
        assert!(ours.iter().all(Seat::stay));
        assert!(seats.enter(None).is_none());
        drop(ours);
        assert!(seats.enter(None).is_some());
    }

    #[test]
    fn an_ipv6_network_is_one_source_and_a_mapped_address_is_ipv4() {
        assert_eq!(remote("2001:db8:1:2::5"), remote("2001:db8:1:2:ffff::9"));
        assert_ne!(remote("2001:db8:1:2::5"), remote("2001:db8:1:3::5"));
        assert_eq!(remote("::ffff:192.0.2.7"), remote("192.0.2.7"));
        assert_ne!(remote("192.0.2.8"), remote("192.0.2.7"));
    }
}
