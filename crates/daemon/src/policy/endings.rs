//! Clients with very many leases end in turns, as long answers are made: nobody waits for it.
//!
//! What is left of such a client is a client with fewer leases, as if its end were noticed later, and
//! that may always be: the next daemon finds its process dead. One that said goodbye and lives is for
//! the next daemon a silent client, until its process ends. Whoever hears of it again before its end,
//! by a message or a hello, ends it at once.

use std::collections::VecDeque;

use millpond_wire::{ClientId, LeaseId};

use super::pond::Pond;
use super::ports::Ports;
use super::release::Ending;

/// One lease weighs as much as so many entries of a listing: with it a tensor may be freed.
const LEASE: usize = 4;

/// Clients whose end has begun, in their order.
#[derive(Debug, Default)]
pub(super) struct Endings {
    clients: VecDeque<(ClientId, Ending, &'static str)>,
}

impl Endings {
    pub(super) fn are_none(&self) -> bool {
        self.clients.is_empty()
    }

    fn remove(&mut self, id: ClientId) -> Option<(ClientId, Ending, &'static str)> {
        let place = self.clients.iter().position(|(other, ..)| *other == id)?;
        self.clients.remove(place)
    }
}

impl<P: Ports> Pond<P> {
    /// Ends a client, now if that is short.
    pub(super) fn end_in_turns(
        &mut self,
        ports: &mut P,
        id: ClientId,
        ending: Ending,
        why: &'static str,
    ) {
        let leases = self.leases.count_of(id);
        if leases <= self.turns.slice() / LEASE {
            self.endings.remove(id);
            self.end_client(ports, id, ending, why);
            return;
        }
        match self.endings.clients.iter_mut().find(|(other, ..)| *other == id) {
            // It died before all that it had given back was taken.
            Some(begun) => (begun.1, begun.2) = (ending, why),
            None => self.endings.clients.push_back((id, ending, why)),
        }
    }

    /// Ends a client at once whose end has begun.
    pub(super) fn end_now_if_ending(&mut self, ports: &mut P, id: ClientId) {
        if !self.endings.are_none()
            && let Some((id, ending, why)) = self.endings.remove(id)
        {
            self.end_client(ports, id, ending, why);
        }
    }

    /// One turn of the clients that end. Returns when to come again.
    pub(super) fn end_more(&mut self, ports: &mut P) -> Option<u64> {
        let mut left = (self.turns.slice() / LEASE).max(1);
        while left > 0
            && let Some((id, ending, why)) = self.endings.clients.front().copied()
        {
            let leases: Vec<LeaseId> = self.leases.of(id).map(|it| it.0).take(left).collect();
            left -= leases.len();
            self.end_leases(ports, id, &leases, ending);
            if left > 0 {
                left -= 1;
                self.endings.clients.pop_front();
                self.end_client(ports, id, ending, why);
            }
        }
        (!self.endings.are_none()).then(|| ports.monotonic_ms())
    }

    pub(super) fn end_leases(
        &mut self,
        ports: &mut P,
        id: ClientId,
        leases: &[LeaseId],
        ending: Ending,
    ) {
        for lease in leases {
            if ending == Ending::Released
                && let Err(error) = self.record_release(ports, id, *lease)
            {
                // The next daemon does not know the client any more, and so no lease of its.
                tracing::error!(client = %id, "could not record the end of a lease: {error}");
            }
            self.end_lease(ports, id, *lease, ending);
        }
    }
}
