//! Who waits for which answer, and what arrives for whom.
//!
//! There is no reader thread. Of the threads that wait for an answer one is the *leader*: it reads
//! the socket, hands each answer to the thread that waits for it, and when its own answer has come
//! it gives the lead to another waiting thread. A thread alone is always the leader, so its round
//! trip is one send and one receive.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::Thread;
use std::time::Instant;

use millpond_wire::message::{LeaseClaim, Reply, ReplyBody};
use millpond_wire::{LeaseId, PondId, TensorId};

use crate::connection::Connection;
use crate::establish::Established;
use crate::leases::{Leases, Lost};
use crate::memo::Page;
use crate::{Error, Result};

/// The connection, as it is now.
#[derive(Debug)]
pub(crate) enum Line {
    /// There is none; the next call makes one.
    Down,
    /// Some thread is making one.
    Connecting,
    /// There is one.
    Up(Arc<Connection>),
    /// There will never be one again.
    Closed,
}

/// An answer, with what came along.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: ReplyBody,
    pub(crate) fds: Vec<OwnedFd>,
    /// Of the lease that was granted.
    pub(crate) lost: Option<Lost>,
}

/// One thread that waits.
#[derive(Debug, Default)]
struct Slot {
    /// The lease that was asked for.
    lease: Option<LeaseId>,
    /// Whom to wake; absent while the thread is not asleep.
    sleeper: Option<Thread>,
    outcome: Option<Result<Answer>>,
}

/// Everything about a connection that threads share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) line: Line,
    /// Since when there is none, where there was one before.
    pub(crate) down_since: Option<Instant>,
    /// Counts connections: what belongs to an earlier one is not mixed up with this one's.
    pub(crate) generation: u64,
    /// Whether a thread reads the socket.
    pub(crate) leading: bool,
    /// For the leader to read into.
    pub(crate) buffer: Option<Box<[u8]>>,
    pub(crate) leases: Leases,
    /// Leases whose callers have given up, while the pond may still grant them; with the numbers of
    /// their requests, because a refusal names no lease.
    pub(crate) late: Vec<(u64, LeaseId)>,
    /// Leases that were granted to nobody, or may have been; to be released.
    pub(crate) strays: Vec<LeaseId>,
    /// The counters of the pond that is connected, where it has any.
    pub(crate) page: Option<Arc<Page>>,
    /// Tensors without a name that were asked for together with a lease and then given up: when the
    /// lease goes back, nobody could find them.
    pub(crate) made: HashMap<LeaseId, TensorId>,
    /// The pond of the last welcome.
    pub(crate) pond: Option<PondId>,
    /// How the last attempt to connect failed.
    pub(crate) last_failure: Option<Error>,
    /// The pond has granted a lease: from then on it remembers this process through restarts, and
    /// holds back what the process might still hold until it has come back.
    pub(crate) remembered: bool,
    /// No handle is left: when the last lease has ended the connection goes.
    pub(crate) ending: bool,
    /// Wakes the watching thread, once there is one.
    pub(crate) watch: Option<Arc<OwnedFd>>,
    slots: HashMap<u64, Slot>,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            line: Line::Down,
            down_since: None,
            generation: 0,
            leading: false,
            buffer: None,
            leases: Leases::default(),
            late: Vec::new(),
            strays: Vec::new(),
            page: None,
            made: HashMap::new(),
            pond: None,
            last_failure: None,
            remembered: false,
            ending: false,
            watch: None,
            slots: HashMap::new(),
        }
    }

    /// Whether `generation` is the connection in use.
    pub(crate) fn is_current(&self, generation: u64) -> bool {
        self.generation == generation && matches!(self.line, Line::Up(_))
    }

    /// Whether the pond must still be told something about leases.
    pub(crate) fn has_duties(&self) -> bool {
        !(self.leases.is_empty() && self.strays.is_empty() && self.late.is_empty())
    }

    /// A thread will wait for the answer to `number`.
    pub(crate) fn expect(&mut self, number: u64, lease: Option<LeaseId>) {
        self.slots.insert(number, Slot { lease, ..Slot::default() });
    }

    /// The thread sleeps until it is woken.
    pub(crate) fn sleeps(&mut self, number: u64) {
        if let Some(slot) = self.slots.get_mut(&number) {
            slot.sleeper = Some(std::thread::current());
        }
    }

    /// The answer, if it has come; the thread does not wait any longer then.
    pub(crate) fn collect(&mut self, number: u64) -> Option<Result<Answer>> {
        let slot = self.slots.get_mut(&number)?;
        slot.sleeper = None;
        let outcome = slot.outcome.take()?;
        self.forget(number);
        Some(outcome)
    }

    /// The thread does not wait any longer. If nobody leads now, another one is woken to do so.
    pub(crate) fn forget(&mut self, number: u64) {
        self.slots.remove(&number);
        if !self.leading {
            // A thread that is not asleep looks for itself.
            let waiting = self.slots.values().filter(|slot| slot.outcome.is_none());
            if let Some(sleeper) = waiting.filter_map(|slot| slot.sleeper.as_ref()).next() {
                sleeper.unpark();
            } else if !self.late.is_empty() {
                self.wake_watch();
            }
        }
    }

    /// The thread gives up. The lease that it asked for may still be granted, and must go back.
    pub(crate) fn give_up(&mut self, number: u64) {
        let lease = self.slots.get(&number).and_then(|slot| slot.lease);
        self.late.extend(lease.map(|lease| (number, lease)));
        self.forget(number);
    }

    /// Hands a reply to whom it is for. A lease is remembered in the same moment: whoever makes
    /// the next connection must claim it.
    pub(crate) fn dispatch(&mut self, generation: u64, reply: Reply, fds: Vec<OwnedFd>) {
        if !self.is_current(generation) {
            // Its request is repeated on the new connection, which knows nothing of this reply.
            return;
        }
        let granted = match &reply.body {
            ReplyBody::Tensor(grant) => {
                grant.lease.map(|lease| (grant.info.tensor.into(), grant.info.bytes, lease))
            }
            ReplyBody::Version(grant) => {
                let info = &grant.info;
                grant.lease.map(|lease| (info.version.into(), info.slab_bytes, lease))
            }
            _ => None,
        };
        let granted = granted.map(|(target, bytes, (lease, mode, token))| {
            (LeaseClaim { lease, target, mode, token }, bytes)
        });
        match self.slots.get_mut(&reply.number) {
            Some(slot) => {
                let claim = granted.filter(|(claim, _)| slot.lease == Some(claim.lease));
                self.remembered |= claim.is_some();
                let lost = claim.map(|(claim, bytes)| self.leases.insert(claim, bytes));
                slot.outcome = Some(Ok(Answer { body: reply.body, fds, lost }));
                if let Some(sleeper) = &slot.sleeper {
                    sleeper.unpark();
                }
            }
            None => {
                let answered = self.late.extract_if(.., |(number, _)| *number == reply.number);
                let refused: Vec<LeaseId> = answered.map(|(_, lease)| lease).collect();
                match granted {
                    Some((claim, _)) => self.strays.push(claim.lease),
                    None => self.made.retain(|lease, _| !refused.contains(lease)),
                }
            }
        }
    }

    /// The connection is over. Everybody who waits wakes, and repeats.
    pub(crate) fn hang_up(&mut self, generation: u64) {
        if self.is_current(generation)
            && let Line::Up(connection) = std::mem::replace(&mut self.line, Line::Down)
        {
            connection.shut_down();
            self.down_since = Some(Instant::now());
            self.wake_all();
        }
    }

    /// The peer cannot be understood: everybody who waits is told so, and nothing is repeated.
    pub(crate) fn fail(&mut self, generation: u64, error: &Error) {
        if self.is_current(generation) {
            for slot in self.slots.values_mut().filter(|slot| slot.outcome.is_none()) {
                slot.outcome = Some(Err(error.clone()));
            }
            self.hang_up(generation);
        }
    }

    /// A new connection is there.
    pub(crate) fn install(&mut self, established: Established) {
        let Established { connection, welcome, page, refused } = established;
        if self.pond.is_some_and(|pond| pond != welcome.pond) {
            tracing::warn!(pond = %welcome.pond, "another pond answers now; what the old one held is lost");
            self.leases.refuse_all();
        }
        self.leases.refuse(&refused);
        // What the old connection still had to say is not known.
        self.strays.extend(self.late.drain(..).map(|(_, lease)| lease));
        self.pond = Some(welcome.pond);
        self.page = page.map(Arc::new);
        self.generation += 1;
        self.leading = false;
        self.line = Line::Up(Arc::new(connection));
        self.down_since = None;
    }

    /// There will be no connection again; the last one is handed out.
    pub(crate) fn close(&mut self) -> Option<Arc<Connection>> {
        let line = std::mem::replace(&mut self.line, Line::Closed);
        self.wake_all();
        match line {
            Line::Up(connection) => Some(connection),
            _ => None,
        }
    }

    /// Wakes the thread that watches the connection, if there is one.
    pub(crate) fn wake_watch(&self) {
        if let Some(watch) = &self.watch {
            // It fails only if it is woken already, more often than a counter can hold.
            let _ = rustix::io::write(watch, &1u64.to_ne_bytes());
        }
    }

    fn wake_all(&self) {
        for sleeper in self.slots.values().filter_map(|slot| slot.sleeper.as_ref()) {
            sleeper.unpark();
        }
    }
}
