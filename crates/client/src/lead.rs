//! Waiting for an answer: reading the socket for everybody, or sleeping until somebody else has.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use millpond_wire::message::Reply;

use crate::connection::{Connection, Deadline, Trouble, buffer, remaining};
use crate::demux::{Answer, State};
use crate::link::Link;
use crate::{Result, cancel};

/// An answer, or why there will never be one; or else what to do about it.
pub(crate) type Outcome = Result<Result<Answer>, Unanswered>;

/// Why a wait ended without an answer.
pub(crate) enum Unanswered {
    /// The deadline has passed.
    Late,
    /// The caller wants it no more.
    Cancelled,
    /// The connection is over: repeat on the next one.
    HungUp,
}

impl Link {
    /// Waits for the answer to a request that was sent, leading if nobody else does.
    pub(crate) fn wait(
        self: &Arc<Self>,
        number: u64,
        generation: u64,
        connection: &Connection,
        deadline: Deadline,
    ) -> Outcome {
        let mut cancelled = false;
        let mut state = self.lock();
        loop {
            if let Some(answer) = state.collect(number) {
                return Ok(answer);
            }
            if !state.is_current(generation) {
                state.forget(number);
                return Err(Unanswered::HungUp);
            }
            let left = remaining(deadline);
            let late = left.is_some_and(|left| left.is_zero());
            if late || cancelled {
                state.give_up(number);
                if !state.late.is_empty() {
                    self.watch_if_possible(&mut state);
                }
                return Err(if late { Unanswered::Late } else { Unanswered::Cancelled });
            }
            if state.leading {
                state.sleeps(number);
                drop(state);
                match cancel::slice(left) {
                    Some(left) => thread::park_timeout(left),
                    None => thread::park(),
                }
                // Without the lock: whoever is asked may take its time.
                cancelled = cancel::check().is_err();
                state = self.lock();
            } else {
                state.leading = true;
                let mut space = state.buffer.take().unwrap_or_else(buffer);
                drop(state);
                let received = connection.receive(&mut space, deadline);
                cancelled = matches!(received, Ok(None)) && cancel::check().is_err();
                state = self.lock();
                state.buffer = Some(space);
                self.received(&mut state, generation, received);
            }
        }
    }

    /// What the leader does with what it read; it does not lead any longer.
    fn received(
        self: &Arc<Self>,
        state: &mut State,
        generation: u64,
        received: Result<Option<(Reply, Vec<OwnedFd>)>, Trouble>,
    ) {
        if state.generation == generation {
            state.leading = false;
        }
        match received {
            Ok(Some((reply, fds))) => {
                state.dispatch(generation, reply, fds);
                if !state.strays.is_empty() {
                    self.watch_if_possible(state);
                }
            }
            Ok(None) | Err(Trouble::Late | Trouble::Cancelled) => {}
            Err(Trouble::HungUp) => state.hang_up(generation),
            Err(Trouble::Violation(error)) => {
                tracing::warn!(%error, "the connection to the pond is given up");
                state.fail(generation, &error);
            }
        }
    }

    /// A request that could not be sent.
    pub(crate) fn unsent(&self, number: u64, generation: u64, trouble: Trouble) -> Outcome {
        let mut state = self.lock();
        state.forget(number);
        match trouble {
            Trouble::HungUp => {
                state.hang_up(generation);
                Err(Unanswered::HungUp)
            }
            Trouble::Late => Err(Unanswered::Late),
            Trouble::Cancelled => Err(Unanswered::Cancelled),
            Trouble::Violation(error) => Ok(Err(error)),
        }
    }

    /// Reads what has come if nobody else does, so that a pond that waits for its replies to be
    /// read takes requests again.
    pub(crate) fn drain(self: &Arc<Self>, connection: &Connection, generation: u64) {
        loop {
            let mut state = self.lock();
            if state.leading || !state.is_current(generation) {
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
