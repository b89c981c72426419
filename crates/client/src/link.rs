//! Calls to the pond, over whichever connection there is.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millpond_wire::message::{ReplyBody, Request, RequestBody};
use millpond_wire::{ClientId, ErrorKind, LeaseId, limits};

use crate::answer::{not_an_answer, unwrap};
use crate::connection::{Connection, Deadline, lock, remaining};
use crate::demux::{Answer, Line, State};
use crate::establish::{Caller, Down, establish};
use crate::lead::Unanswered;
use crate::spec::wait_ms;
use crate::{Error, Result, cancel};

/// A connection that breaks this often in a row while one request is under way is not the
/// request's bad luck: the daemon may die of it, and should not for ever.
const REPEATS: u32 = 20;
/// What a daemon dies of, it dies of soon: a connection that lasted this long is not counted.
const LASTED: Duration = Duration::from_millis(200);
/// Pauses before a request is repeated that the pond wants again later.
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(128);
/// Requests are numbered from here on; the handshake has the numbers below.
const FIRST_NUMBER: u64 = 1 << 20;

/// Where the pond is and how it is talked to.
#[derive(Clone, Debug)]
pub(crate) struct LinkConfig {
    pub(crate) socket: PathBuf,
    pub(crate) program: String,
    pub(crate) reconnect_timeout: Duration,
    pub(crate) request_timeout: Duration,
}

/// One request, and how long it may take.
#[derive(Debug)]
pub(crate) struct Ask {
    /// For the error that says it took too long.
    pub(crate) what: &'static str,
    pub(crate) body: RequestBody,
    /// The lease that it asks for.
    pub(crate) lease: Option<LeaseId>,
    pub(crate) deadline: Deadline,
    /// Until when the pond itself may wait before it answers.
    pub(crate) waits_until: Deadline,
}

/// The process's connection to one pond, across the restarts of its daemon.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) config: LinkConfig,
    pub(crate) client: ClientId,
    state: Mutex<State>,
    /// The line came up, or could not be made.
    changed: Condvar,
    next_number: AtomicU64,
    next_lease: AtomicU64,
}

impl Link {
    /// A link that connects with its first call.
    pub(crate) fn new(config: LinkConfig) -> Self {
        Self {
            config,
            client: ClientId::random(),
            state: Mutex::new(State::new()),
            changed: Condvar::new(),
            next_number: AtomicU64::new(FIRST_NUMBER),
            next_lease: AtomicU64::new(1),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The line has changed.
    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    pub(crate) fn new_lease(&self) -> LeaseId {
        LeaseId(self.next_lease.fetch_add(1, Ordering::Relaxed))
    }

    /// A request that is answered as soon as the pond gets to it.
    pub(crate) fn ask(self: &Arc<Self>, what: &'static str, body: RequestBody) -> Result<Answer> {
        let deadline = Instant::now().checked_add(self.config.request_timeout);
        self.call(Ask { what, body, lease: None, deadline, waits_until: None })
    }

    /// A request to which `Done` is the answer.
    pub(crate) fn ask_done(self: &Arc<Self>, what: &'static str, body: RequestBody) -> Result<()> {
        match self.ask(what, body)?.body {
            ReplyBody::Done => Ok(()),
            _ => Err(not_an_answer(what)),
        }
    }

    /// Sends a request and waits for its answer, repeating it over a new connection where the old
    /// one breaks.
    pub(crate) fn call(self: &Arc<Self>, ask: Ask) -> Result<Answer> {
        self.call_with(ask, None)
    }

    /// As [`Link::call`], with a descriptor that every repeat sends again.
    pub(crate) fn call_with(self: &Arc<Self>, ask: Ask, file: Option<&OwnedFd>) -> Result<Answer> {
        let (lease, mut may_be_granted) = (ask.lease, false);
        if let (RequestBody::TensorCreate(create), Some(lease)) = (&ask.body, lease)
            && create.name.is_none()
        {
            // Before it is sent: once it is given up, its lease may come back at any time.
            self.lock().made.insert(lease, create.tensor);
        }
        let fds: Vec<BorrowedFd<'_>> = file.iter().map(|file| file.as_fd()).collect();
        let answer = self.repeat(ask, &fds, &mut may_be_granted);
        if let (Err(_), true, Some(lease)) = (&answer, may_be_granted, lease) {
            let mut state = self.lock();
            state.strays.push(lease);
            self.watch_if_possible(&mut state);
        } else if let (Ok(_) | Err(Error::Refused(_)), Some(lease)) = (&answer, lease) {
            self.lock().made.remove(&lease);
        }
        answer
    }

    fn repeat(
        self: &Arc<Self>,
        ask: Ask,
        fds: &[BorrowedFd<'_>],
        may_be_granted: &mut bool,
    ) -> Result<Answer> {
        let Ask { what, body, lease, deadline, waits_until } = ask;
        let asked = Instant::now();
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let mut request = Request { number, body };
        let (mut broken, mut pause) = (0, PAUSE);
        // Since when no connection has lasted.
        let mut without = None;
        loop {
            let begun = Instant::now();
            let since = *without.get_or_insert(begun);
            let expect = Some((number, lease));
            let (connection, generation) = self.connected_since(since, what, deadline, expect)?;
            let up = Instant::now();
            let meanwhile = || self.drain(&connection, generation);
            let sent = connection.send_with(&request, fds, deadline, meanwhile);
            let outcome = match sent {
                Ok(()) => self.wait(number, generation, &connection, deadline),
                Err(trouble) => self.unsent(number, generation, trouble),
            };
            match outcome {
                Ok(answer) => {
                    let answer = answer.and_then(|answer| unwrap(what, answer));
                    // An earlier grant whose answer was lost stays a grant, also if the repeat is
                    // refused.
                    *may_be_granted |= !matches!(answer, Err(Error::Refused(_)));
                    if !is_later(&answer) || remaining(deadline).is_some_and(|left| left < pause) {
                        return answer;
                    }
                    cancel::sleep(pause)?;
                    without = None;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(Unanswered::Late) => {
                    // If it was sent, its answer is still looked out for.
                    return Err(Error::Timeout { what, after: asked.elapsed() });
                }
                Err(Unanswered::Cancelled) => return Err(Error::Cancelled),
                Err(Unanswered::HungUp) => {
                    *may_be_granted = true;
                    broken = if begun.elapsed() < LASTED { broken + 1 } else { 0 };
                    if up.elapsed() >= LASTED {
                        without = None;
                    }
                    if broken > REPEATS {
                        let reason = format!("it hung up {broken} times on the same request");
                        return Err(Error::NoPond { path: self.config.socket.clone(), reason });
                    }
                }
            }
            // A repeat waits only for what is left of the time.
            if let Some(until) = waits_until {
                let left = wait_ms(until.saturating_duration_since(Instant::now()));
                match &mut request.body {
                    RequestBody::TensorGet(get) => get.wait_ms = left,
                    RequestBody::VersionGet(get) => get.wait_ms = left,
                    _ => {}
                }
            }
        }
    }

    /// The connection, made where there is none; and a place for the answer to a request.
    pub(crate) fn connected(
        self: &Arc<Self>,
        what: &'static str,
        deadline: Deadline,
        expect: Option<(u64, Option<LeaseId>)>,
    ) -> Result<(Arc<Connection>, u64)> {
        self.connected_since(Instant::now(), what, deadline, expect)
    }

    /// As [`Link::connected`], for a call that has had no connection since then. However many
    /// threads, attempts and calls it takes, a pond that is gone is waited for once.
    fn connected_since(
        self: &Arc<Self>,
        since: Instant,
        what: &'static str,
        deadline: Deadline,
        expect: Option<(u64, Option<LeaseId>)>,
    ) -> Result<(Arc<Connection>, u64)> {
        let begun = Instant::now();
        let mut state = self.lock();
        let mut failure = None;
        loop {
            match &state.line {
                Line::Up(connection) => {
                    let found = (connection.clone(), state.generation);
                    if let Some((number, lease)) = expect {
                        state.expect(number, lease);
                    }
                    return Ok(found);
                }
                Line::Closed => return Err(Error::Closed),
                // What another thread met may be due to its deadline, so each tries once itself.
                Line::Down
                    if failure.is_some() || since.elapsed() > self.config.reconnect_timeout =>
                {
                    let path = self.config.socket.clone();
                    let unknown = Error::NoPond { path, reason: String::new() };
                    return Err(failure.or(state.last_failure.clone()).unwrap_or(unknown));
                }
                Line::Down => {
                    let until = since + self.config.reconnect_timeout;
                    let until = deadline.map_or(until, |own| own.min(until));
                    (state, failure) = self.connect(state, until);
                }
                Line::Connecting => {
                    let left = remaining(deadline).unwrap_or(Duration::MAX);
                    if left.is_zero() {
                        return Err(Error::Timeout { what, after: begun.elapsed() });
                    }
                    let left = left.min(self.config.reconnect_timeout + LASTED);
                    let slice = cancel::slice(Some(left)).unwrap_or(left);
                    let waited = self.changed.wait_timeout(state, slice);
                    drop(waited.unwrap_or_else(PoisonError::into_inner).0);
                    // Without the lock: whoever is asked may take its time.
                    cancel::check()?;
                    state = self.lock();
                }
            }
        }
    }

    /// Makes a connection, without the lock while it lasts. Returns why there is none.
    fn connect<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        until: Instant,
    ) -> (MutexGuard<'a, State>, Option<Error>) {
        state.line = Line::Connecting;
        let claims = state.leases.claims();
        let patience = self.config.reconnect_timeout;
        let down = state.down_since.map(|since| Down::new(since, patience));
        drop(state);
        let caller = Caller {
            socket: &self.config.socket,
            client: self.client,
            program: &self.config.program,
            claims: &claims,
        };
        let made = establish(&caller, until, down);
        let mut state = self.lock();
        let mut failure = None;
        match made {
            // Closed meanwhile.
            _ if matches!(state.line, Line::Closed) => {}
            Ok(established) => {
                tracing::debug!(epoch = %established.welcome.epoch, claims = claims.len(), "connected");
                state.install(established);
            }
            Err(error) => {
                state.line = Line::Down;
                // Somebody else's wish says nothing about the pond.
                if !matches!(error, Error::Cancelled) {
                    state.last_failure = Some(error.clone());
                }
                failure = Some(error);
            }
        }
        self.changed.notify_all();
        state.wake_watch();
        (state, failure)
    }

    /// Tells the pond that leases have ended. Those that it does not know any more are passed
    /// over; the rest is remembered until the pond has confirmed.
    pub(crate) fn release(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        for some in leases.chunks(limits::LEASES_PER_MESSAGE) {
            let known = self.lock().leases.known(some);
            if !known.is_empty() {
                self.release_even_unknown(&known)?;
            }
        }
        Ok(())
    }

    /// As [`Link::release`], for leases that were granted but never taken.
    pub(crate) fn release_even_unknown(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        for some in leases.chunks(limits::LEASES_PER_MESSAGE) {
            self.lock().leases.end(some);
            self.ask_done("a release", RequestBody::LeaseRelease { leases: some.to_vec() })?;
            let mut state = self.lock();
            state.leases.remove(some);
            state.wake_watch();
        }
        Ok(())
    }
}

/// The pond is busy with this very thing and wants the request again.
fn is_later(answer: &Result<Answer>) -> bool {
    matches!(answer, Err(error) if error.kind() == ErrorKind::Later)
}
