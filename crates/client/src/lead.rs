//! Waiting for an answer: reading the socket for everybody, or sleeping until another thread has.
//!
//! There is no reader thread. Of the threads that wait for an answer one is the *leader*: it reads
//! the socket, hands each answer to the thread that waits for it, and when its own answer has come
//! it gives the lead to another waiting thread. A thread alone is always the leader, so its round
//! trip is one send and one receive.

use std::os::fd::OwnedFd;
use std::sync::{Arc, MutexGuard};
use std::thread;

use millpond_client_core::Received;
use millpond_wire::message::{Reply, ReplyBody};

use crate::connection::{Connection, Deadline, Trouble, buffer, remaining};
use crate::line::{State, Unasked};
use crate::link::Link;
use crate::{Result, cancel};

impl Link {
    /// Leads, or sleeps while another thread leads, until something has come or the time is over.
    /// Says whether the call was cancelled meanwhile.
    pub(crate) fn wait<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        number: u64,
        connection: &Connection,
        generation: u64,
        deadline: Deadline,
    ) -> (MutexGuard<'a, State>, bool) {
        if state.leading {
            state.sleepers.insert(number, thread::current());
            drop(state);
            match cancel::slice(remaining(deadline)) {
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
            // Without the lock: whoever is asked may take its time.
            let cancelled = cancel::check().is_err();
            let mut state = self.lock();
            state.sleepers.remove(&number);
            return (state, cancelled);
        }
        state.leading = true;
        let mut space = state.buffer.take().unwrap_or_else(buffer);
        drop(state);
        let received = connection.receive(&mut space, deadline);
        let cancelled = matches!(received, Ok(None)) && cancel::check().is_err();
        let mut state = self.lock();
        state.buffer = Some(space);
        self.received(&mut state, generation, received);
        (state, cancelled)
    }

    /// What the leader does with what it read; it does not lead any longer.
    fn received(
        self: &Arc<Self>,
        state: &mut State,
        generation: u64,
        received: Result<Option<(Reply, Vec<OwnedFd>)>, Trouble>,
    ) {
        if state.session.generation() == generation {
            state.leading = false;
        }
        match received {
            Ok(Some((reply, fds))) => match state.session.received(generation, reply, fds) {
                Received::Answer(number) => {
                    if let Some(sleeper) = state.sleepers.get(&number) {
                        sleeper.unpark();
                    }
                }
                Received::Late if state.session.has_strays() => self.watch_if_possible(state),
                Received::Unasked(ReplyBody::Pressure(pressure), _) => {
                    state.tell(Unasked::Pressure(pressure));
                }
                Received::Unasked(ReplyBody::AdoptedFreed(tensor), _) => {
                    state.tell(Unasked::AdoptedFreed(tensor));
                }
                Received::Unasked(body, _) => {
                    tracing::debug!(?body, "an unexpected message");
                }
                Received::Unknown => {
                    let unknown = state.session.unknown();
                    tracing::debug!(unknown, "an unknown message");
                }
                Received::Late | Received::Stale => {}
            },
            Ok(None) | Err(Trouble::Late | Trouble::Cancelled) => {}
            Err(Trouble::HungUp) => state.hang_up(generation),
            Err(Trouble::Violation(error)) => {
                tracing::warn!(%error, "the connection to the pond is given up");
                state.fail(generation, &error);
            }
        }
    }

    /// Reads what has come if nobody else does, so that a pond that waits for its replies to be
    /// read takes requests again.
    pub(crate) fn drain(self: &Arc<Self>, connection: &Connection, generation: u64) {
        loop {
            let mut state = self.lock();
            if state.leading || !state.session.is_current(generation) {
                return;
            }
            let mut space = state.buffer.take().unwrap_or_else(buffer);
            // Not blocking, so the lock is kept and nobody needs to lead.
            let received = connection.receive_now(&mut space);
            state.buffer = Some(space);
            let more = matches!(received, Ok(Some(_)));
            self.received(&mut state, generation, received);
            if !more {
                return;
            }
        }
    }
}

impl State {
    /// A thread does not wait any longer. If nobody leads now, another one is woken to do so.
    pub(crate) fn pass_lead(&self) {
        if self.leading {
            return;
        }
        // A thread that is not asleep looks for itself.
        let waits = |number: &u64| self.session.awaits(*number);
        if let Some((_, sleeper)) = self.sleepers.iter().find(|(number, _)| waits(number)) {
            sleeper.unpark();
        } else if self.session.expects_late() || self.session.listens() {
            self.wake_watch();
        }
    }
}
