//! The connection of a process that has a cache: the client's core over simulated sockets.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use millpond_client_core::{Answer, Ask, Call, Ended, Handshake, Next, Received, Session, Verdict};
use millpond_daemon::policy::Door;
use millpond_wire::message::{Reply, ReplyBody, Request, RequestBody};
use millpond_wire::{ClientId, ErrorKind};

use super::USER;
use crate::daemon::Daemon;
use crate::oracle::{Violation, ensure};
use crate::socket::{SharedSocket, Socket};
use crate::world::World;

/// A pond that is gone is waited for as long as a schedule lasts.
const PATIENCE: Duration = Duration::from_secs(1 << 20);

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Open,
    Want,
    Gave,
    Close,
}

/// Everything between a process and the pond.
#[derive(Debug)]
pub(super) struct Line {
    session: Session<(), ()>,
    socket: Option<SharedSocket>,
    greeting: Option<Handshake>,
    calls: BTreeMap<u64, (What, Call)>,
    /// Over which connection the daemon was told of the cache.
    opened: Option<u64>,
    /// Requests that may still be answered, and nobody waits.
    given_up: BTreeSet<u64>,
    /// The daemon was told that the cache is closed.
    closed: bool,
    clock: Rc<Cell<u64>>,
    origin: Instant,
}

impl Line {
    pub fn new(client: ClientId, clock: Rc<Cell<u64>>) -> Self {
        Self {
            session: Session::new(client, PATIENCE),
            socket: None,
            greeting: None,
            calls: BTreeMap::new(),
            opened: None,
            given_up: BTreeSet::new(),
            closed: false,
            clock,
            // Only what has passed since then counts.
            origin: Instant::now(),
        }
    }

    pub fn client(&self) -> ClientId {
        self.session.client()
    }

    fn now(&self) -> Instant {
        self.origin + Duration::from_millis(self.clock.get())
    }

    /// A request that is sent as soon as there is a connection, and again over the next.
    pub fn ask(&mut self, body: RequestBody, what: What) -> u64 {
        self.closed |= what == What::Close;
        let now = self.now();
        let call = Call::new(&mut self.session, Ask::new(body), now);
        let number = call.number();
        self.calls.insert(number, (what, call));
        number
    }

    /// Whether the end of the cache was said, or is about to be.
    pub fn closes(&self) -> bool {
        self.closed
    }

    pub fn give_up(&mut self, number: u64) {
        if let Some((_, mut call)) = self.calls.remove(&number) {
            call.give_up(&mut self.session);
            call.end(&mut self.session, Ended::Badly);
            self.given_up.insert(number);
        }
    }

    pub fn is_down(&self) -> bool {
        self.session.is_down()
    }

    pub fn may_read(&self) -> bool {
        let Some(socket) = &self.socket else { return false };
        let socket = socket.borrow();
        !socket.to_client.is_empty() || !socket.daemon_open
    }

    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether the daemon does not know of the cache, as far as the process knows.
    fn must_open(&self) -> bool {
        self.opened != Some(self.session.generation()) && !self.closed
    }

    fn unsent(&self) -> Option<u64> {
        let now = self.now();
        let unsent = |call: &Call| call.wants_sending(&self.session, now);
        self.calls.iter().find(|(_, (_, call))| unsent(call)).map(|(number, _)| *number)
    }

    pub fn may_send(&self) -> bool {
        self.session.is_up() && (self.must_open() || self.unsent().is_some())
    }

    fn put(&self, request: &Request) {
        let Some(socket) = &self.socket else { return };
        let mut socket = socket.borrow_mut();
        if socket.daemon_open {
            let bytes = request.encode(&mut planus::Builder::new()).to_vec();
            socket.to_daemon.push_back((bytes, None));
        }
    }

    fn connect(&mut self, pid: u32) -> SharedSocket {
        let claims = self.session.connecting();
        let mut handshake = Handshake::new(self.session.identity(), "engine", claims);
        let socket = Socket::connected(pid);
        self.socket = Some(Rc::clone(&socket));
        if let Some(hello) = handshake.ask() {
            self.put(&hello);
        }
        self.greeting = Some(handshake);
        socket
    }

    pub fn hang_up(&mut self) {
        let Some(socket) = self.socket.take() else { return };
        socket.borrow_mut().close_client();
        // The next daemon is told anew.
        self.calls.retain(|_, (what, _)| *what != What::Open);
        if self.greeting.take().is_some() {
            self.session.not_connected();
        } else {
            let (generation, now) = (self.session.generation(), self.now());
            self.session.hung_up(generation, now);
        }
    }

    pub fn close(&mut self) {
        self.hang_up();
        self.calls.clear();
    }

    fn greeted(&mut self, reply: Reply) -> Result<(), Violation> {
        let Some(mut handshake) = self.greeting.take() else { return Ok(()) };
        if let Err(refusal) = handshake.received(reply) {
            let detail = format!("{refusal:?}");
            return Err(Violation::new("a living client is welcome", detail));
        }
        if let Some((welcome, refused)) = handshake.finish() {
            self.given_up.clear();
            self.session.connected(self.client(), &welcome, &refused);
        }
        Ok(())
    }

    /// The answer to a request; nothing if the pond wants it again later.
    fn answer(&mut self, number: u64) -> Option<(What, ReplyBody)> {
        let now = self.now();
        let (_, call) = self.calls.get_mut(&number)?;
        let Next::Answered(Ok(Answer { body, .. })) = call.next(&mut self.session, now) else {
            return None;
        };
        let (verdict, ended) = match &body {
            ReplyBody::Failure(failure) => (Verdict::Refused(failure.kind), Ended::Refused),
            _ => (Verdict::Good, Ended::Well),
        };
        if !call.judge(verdict, now) {
            return None;
        }
        let (what, call) = self.calls.remove(&number)?;
        call.end(&mut self.session, ended);
        Some((what, body))
    }
}

impl World {
    pub(crate) fn cache_connects(&mut self, at: usize) -> Result<(), Violation> {
        let pid = self.caches[at].pid;
        let socket = self.caches[at].line.connect(pid);
        self.accepted(socket, pid, USER, Door::Users).map(|_| ())
    }

    /// Says that there is a cache, or else what is to be said next.
    pub(crate) fn cache_sends(&mut self, at: usize) {
        let process = &mut self.caches[at];
        let mut number = process.line.unsent();
        if process.line.must_open()
            && let Some(open) = process.opening()
        {
            process.line.opened = Some(process.line.session.generation());
            number = Some(process.line.ask(RequestBody::CacheOpen(Box::new(open)), What::Open));
        }
        let Some(number) = number else { return };
        let line = &mut process.line;
        let now = line.now();
        let Some((_, call)) = line.calls.get_mut(&number) else { return };
        if let Next::Send(_) = call.next(&mut line.session, now) {
            let request = call.request().clone();
            line.put(&request);
        }
    }

    pub(super) fn cache_hangs_up(&mut self, at: usize) {
        // What the last daemon has asked for, the next one asks again.
        self.caches[at].asks.clear();
        self.caches[at].line.hang_up();
    }

    /// Reads one reply, or notices the end of the connection.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(crate) fn cache_reads(&mut self, at: usize) -> Result<(), Violation> {
        let process = &mut self.caches[at];
        let Some(socket) = process.line.socket.clone() else { return Ok(()) };
        let next = socket.borrow_mut().to_client.pop_front();
        let Some((bytes, _)) = next else {
            self.cache_hangs_up(at);
            return Ok(());
        };
        let reply = Reply::decode(&bytes)
            .map_err(|error| Violation::new("replies can be read", error.to_string()))?;
        if process.line.greeting.is_some() {
            return process.line.greeted(reply);
        }
        let (number, said) = (reply.number, format!("{:?}", reply.body));
        let generation = process.line.session.generation();
        match process.line.session.received(generation, reply, Vec::new()) {
            Received::Answer(number) => match process.line.answer(number) {
                Some((what, body)) => self.cache_answered(at, number, what, body),
                None => Ok(()),
            },
            Received::Unasked(ReplyBody::Pressure(request), _) => {
                process.asked(&request, &mut self.rng, self.busy);
                Ok(())
            }
            Received::Late => {
                let known = process.line.given_up.remove(&number);
                ensure(known, "one answer for each request", || said)
            }
            _ => Err(Violation::new("replies can be read", said)),
        }
    }

    fn cache_answered(
        &mut self,
        at: usize,
        number: u64,
        what: What,
        body: ReplyBody,
    ) -> Result<(), Violation> {
        let refused = match &body {
            ReplyBody::Done => None,
            ReplyBody::Failure(failure) => Some(failure.kind),
            _ => return Err(Violation::new("an answer fits its request", format!("{body:?}"))),
        };
        // Who falls short is told why; nothing else has a reason to fail.
        let fits = match (what, refused) {
            (_, None) | (What::Want, Some(ErrorKind::GpuFull)) => true,
            // It was asked just before it closed.
            (What::Gave, Some(ErrorKind::NotFound)) => self.caches[at].line.closed,
            _ => false,
        };
        ensure(fits, "no reason to fail", || format!("{what:?}: {body:?}"))?;
        if what == What::Want {
            self.caches[at].told(number, refused.is_none());
            if refused.is_some() {
                self.has_waited(at);
            }
        }
        Ok(())
    }

    /// Whether a daemon is there to connect to.
    pub(crate) fn serves(&self) -> bool {
        matches!(self.daemon, Daemon::Running(_))
    }
}
