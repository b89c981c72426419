//! What happens in a pond, as it happens.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use millpond_client_core::{Dial, Identity};
use millpond_wire::message::{Event, EventKind, ReplyBody, Request, RequestBody};
use millpond_wire::{ClientId, Epoch};
use rustix::event::PollFlags;

use crate::answer::not_an_answer;
use crate::connection::{Buffer, Connection, Deadline, Trouble, buffer, ready, remaining};
use crate::establish::{Caller, establish};
use crate::link::LinkConfig;
use crate::{Error, Result, cancel, process};

/// The number of all requests of such a connection: there is never more than one under way.
const NUMBER: u64 = 1 << 20;
/// Before a daemon is asked again that hung up at once.
const PAUSE: Duration = Duration::from_millis(20);

/// A subscription from [`Pond::events`](crate::Pond::events), with a connection of its own. It
/// survives restarts of the daemon: numbers go on rising, and an [`EventKind::Gap`](crate::EventKind)
/// says that what happened in between may be missing.
///
/// As an iterator it waits for ever and ends with the first error.
#[derive(Debug)]
pub struct Events {
    config: LinkConfig,
    identity: Identity,
    connection: Option<Connection>,
    buffer: Buffer,
    /// Came before the subscription was confirmed.
    early: VecDeque<Event>,
    /// The next sequence number wanted.
    from: u64,
    epoch: Option<Epoch>,
    /// When the connection was lost.
    down_since: Option<Instant>,
    failed: bool,
    owner: u32,
}

impl Events {
    pub(crate) fn subscribe(config: LinkConfig, from: u64) -> Result<Self> {
        let mut events = Self {
            config,
            // Not the process's: the daemon would take it for a reconnection.
            identity: Identity::new(ClientId::random()),
            connection: None,
            buffer: buffer(),
            early: VecDeque::new(),
            from,
            epoch: None,
            down_since: None,
            failed: false,
            owner: process::current(),
        };
        events.connect(None)?;
        Ok(events)
    }

    /// The next event; `None` if none came within that time.
    ///
    /// # Errors
    /// [`Error::NoPond`] if the pond is gone and does not come back within the reconnection
    /// timeout; what breaks the protocol.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<Event>> {
        self.next_until(Instant::now().checked_add(timeout))
    }

    fn next_until(&mut self, deadline: Deadline) -> Result<Option<Event>> {
        if self.owner != process::current() {
            // A forked copy must not read what is the parent's.
            self.connection = None;
            self.identity = Identity::new(ClientId::random());
            self.owner = process::current();
        }
        loop {
            if let Some(event) = self.early.pop_front() {
                self.from = event.sequence.saturating_add(1);
                return Ok(Some(event));
            }
            let Some(connection) = &self.connection else {
                match self.connect(deadline) {
                    Ok(()) => continue,
                    Err(_) if has_passed(deadline) => return Ok(None),
                    Err(error) => return Err(error),
                }
            };
            // Not a blocking read, which looks at its deadline every second.
            ready(connection.as_fd(), PollFlags::IN, cancel::slice(remaining(deadline)));
            cancel::check()?;
            match connection.receive_now(&mut self.buffer) {
                Ok(Some((reply, _))) => {
                    if let ReplyBody::Event(event) = reply.body {
                        self.early.push_back(event);
                    }
                }
                Ok(None) | Err(Trouble::Late) if has_passed(deadline) => return Ok(None),
                Ok(None) | Err(Trouble::Late) => {}
                Err(Trouble::HungUp) => self.lost(),
                Err(Trouble::Cancelled) => return Err(Error::Cancelled),
                Err(Trouble::Violation(error)) => {
                    self.lost();
                    return Err(error);
                }
            }
        }
    }

    /// Everything that the pond has kept from the number on that was asked for, without waiting
    /// for more. A [`Gap`](crate::EventKind::Gap) at its beginning says that some before are gone.
    ///
    /// # Errors
    /// As for [`Events::next_timeout`].
    pub fn kept(&mut self) -> Result<Vec<Event>> {
        let mut kept: Vec<Event> = Vec::new();
        loop {
            let Some(connection) = self.connection.take() else {
                self.connect(None)?;
                continue;
            };
            let until = Instant::now() + self.config.reconnect_timeout;
            // The pond sends only so many at once: what is left is asked for in the next round.
            let again = if kept.is_empty() { Ok(()) } else { self.ask(&connection, until) };
            match again.and_then(|()| self.barrier(&connection, until)) {
                Ok(()) => self.connection = Some(connection),
                Err(Error::NoPond { .. }) => self.lost(),
                Err(error) => return Err(error),
            }
            let before = kept.len();
            for event in std::mem::take(&mut self.early) {
                // A gap may lead back to the beginning.
                if event.kind == EventKind::Gap || event.sequence >= self.from {
                    self.from = event.sequence.saturating_add(1);
                    kept.push(event);
                }
            }
            if kept.len() == before && self.connection.is_some() {
                return Ok(kept);
            }
        }
    }

    /// The connection is over.
    fn lost(&mut self) {
        self.connection = None;
        self.down_since.get_or_insert_with(Instant::now);
    }

    /// One round trip: what was sent before its answer has come then.
    fn barrier(&mut self, connection: &Connection, until: Instant) -> Result<()> {
        self.round_trip(connection, until, "a ping", RequestBody::Ping)
    }

    fn connect(&mut self, deadline: Deadline) -> Result<()> {
        let caller = Caller {
            socket: &self.config.socket,
            identity: self.identity,
            program: &self.config.program,
            claims: &[],
        };
        let patience = self.config.reconnect_timeout;
        let until = Instant::now() + patience;
        let until = deadline.map_or(until, |deadline| deadline.min(until));
        let down = self.down_since.map(|since| (since, since + patience));
        let established = establish(&caller, Dial::new(until, down), || ())?;
        let epoch = established.welcome.epoch;
        self.identity = established.identity;
        if self.from == 0 && self.epoch.is_some_and(|old| old != epoch) {
            // Everything that the new daemon has seen is news.
            self.from = 1;
        }
        self.epoch = Some(epoch);
        match self.ask(&established.connection, until) {
            Ok(()) => {
                self.connection = Some(established.connection);
                self.down_since = None;
                Ok(())
            }
            // It died in this moment; the next one is asked.
            Err(Error::NoPond { .. }) if Instant::now() + PAUSE < until => {
                self.lost();
                cancel::sleep(PAUSE)?;
                self.connect(Some(until))
            }
            Err(error) => Err(error),
        }
    }

    fn ask(&mut self, connection: &Connection, until: Instant) -> Result<()> {
        let body = RequestBody::Subscribe { from: self.from };
        self.round_trip(connection, until, "a subscription", body)
    }

    fn round_trip(
        &mut self,
        connection: &Connection,
        until: Instant,
        what: &'static str,
        body: RequestBody,
    ) -> Result<()> {
        let late = || Error::Timeout { what, after: self.config.reconnect_timeout };
        let gone = |trouble| match trouble {
            Trouble::Violation(error) => error,
            Trouble::Late => late(),
            Trouble::Cancelled => Error::Cancelled,
            Trouble::HungUp => {
                Error::NoPond { path: self.config.socket.clone(), reason: "it hung up".to_owned() }
            }
        };
        let request = Request { number: NUMBER, body };
        connection.send(&request, &[], Some(until), || {}).map_err(gone)?;
        loop {
            let received = connection.receive(&mut self.buffer, Some(until)).map_err(gone)?;
            match received.map(|(reply, _)| reply.body) {
                Some(ReplyBody::Event(event)) => self.early.push_back(event),
                Some(ReplyBody::Done) => return Ok(()),
                Some(ReplyBody::Failure(failure)) => return Err(failure.into()),
                Some(_) => return Err(not_an_answer(what)),
                None if Instant::now() >= until => return Err(late()),
                None => cancel::check()?,
            }
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection
            && self.owner == process::current()
        {
            connection.send_at_once(&Request { number: u64::MAX, body: RequestBody::Goodbye });
        }
    }
}

fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

impl Iterator for Events {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.next_until(None) {
            Ok(event) => event.map(Ok),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}
