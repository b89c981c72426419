//! Calls to the pond, over whichever connection there is. The session decides what is done; threads,
//! sockets and clocks are here and in `lead.rs`, `establish.rs` and `watch.rs`.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use millpond_client_core::{self as core, Call, Dial, End, Ended, Next, Session, Verdict, Way};
use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{ClientId, LeaseId, TensorId, limits};

use crate::answer::{Answer, not_an_answer, unwrap};
use crate::connection::{Connection, Deadline, Trouble, lock, remaining};
use crate::establish::{Caller, Established, establish};
use crate::memo::Page;
use crate::{Error, Result, cancel};

/// Whoever waits for another thread's connection looks at least so long after it was due.
const OVERDUE: Duration = Duration::from_millis(200);

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
}

/// Everything that threads share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) session: Session<OwnedFd, Error>,
    /// There while the session is up.
    pub(crate) connection: Option<Arc<Connection>>,
    /// The counters of the pond that is connected, where it has any.
    pub(crate) page: Option<Arc<Page>>,
    /// How the last attempt to connect failed.
    last_failure: Option<Error>,
    /// Whether a thread reads the socket.
    pub(crate) leading: bool,
    /// For the leader to read into.
    pub(crate) buffer: Option<Box<[u8]>>,
    /// Threads that sleep until their answer has come, by the numbers of their requests.
    pub(crate) sleepers: HashMap<u64, Thread>,
    /// Wakes the watching thread, once there is one.
    pub(crate) watch: Option<Arc<OwnedFd>>,
}

impl Link {
    /// A link that connects with its first call.
    pub(crate) fn new(config: LinkConfig) -> Self {
        let client = ClientId::random();
        let state = State {
            session: Session::new(client, config.reconnect_timeout),
            connection: None,
            page: None,
            last_failure: None,
            leading: false,
            buffer: None,
            sleepers: HashMap::new(),
            watch: None,
        };
        Self { config, client, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The line has changed.
    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    pub(crate) fn new_lease(&self) -> LeaseId {
        self.lock().session.new_lease()
    }

    /// Counts connections.
    pub(crate) fn generation(&self) -> u64 {
        self.lock().session.generation()
    }

    /// A request that is answered as soon as the pond gets to it.
    pub(crate) fn ask(self: &Arc<Self>, what: &'static str, body: RequestBody) -> Result<Answer> {
        let deadline = Instant::now().checked_add(self.config.request_timeout);
        self.call(Ask { what, body, lease: None, deadline, waits_until: None }, None)
    }

    /// A request to which `Done` is the answer.
    pub(crate) fn ask_done(self: &Arc<Self>, what: &'static str, body: RequestBody) -> Result<()> {
        match self.ask(what, body)?.body {
            ReplyBody::Done => Ok(()),
            _ => Err(not_an_answer(what)),
        }
    }

    /// Sends a request, with a file where it has one, and waits for its answer, repeating it over a
    /// new connection where the old one breaks.
    pub(crate) fn call(self: &Arc<Self>, ask: Ask, file: Option<&OwnedFd>) -> Result<Answer> {
        let Ask { what, body, lease, deadline, waits_until } = ask;
        let ask = core::Ask { body, lease, deadline, waits_until };
        let fds: Vec<BorrowedFd<'_>> = file.iter().map(|file| file.as_fd()).collect();
        let mut state = self.lock();
        let mut call = Call::new(&mut state.session, ask, Instant::now());
        let answer = self.drive(state, &mut call, what, deadline, &fds);
        if call.concerns_leases() {
            let ended = match &answer {
                Ok(_) => Ended::Well,
                Err(Error::Refused(_)) => Ended::Refused,
                Err(_) => Ended::Badly,
            };
            let mut state = self.lock();
            let nobodys = call.end(&mut state.session, ended);
            if ended != Ended::Well && state.session.has_strays() {
                self.watch_if_possible(&mut state);
            }
            drop(state);
            self.delete(nobodys);
        }
        answer
    }

    /// Does what the call says, until it is over.
    fn drive<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        call: &mut Call,
        what: &'static str,
        deadline: Deadline,
        fds: &[BorrowedFd<'_>],
    ) -> Result<Answer> {
        let (mut connection, mut failure, mut cancelled) = (None, None, false);
        loop {
            let now = Instant::now();
            match call.next(&mut state.session, now) {
                Next::Send(generation) => {
                    let used = connection.insert(state.connection.clone().ok_or(Error::Closed)?);
                    drop(state);
                    let meanwhile = || self.drain(used, generation);
                    let sent = used.send(call.request(), fds, deadline, meanwhile);
                    state = self.lock();
                    match sent {
                        Ok(()) => {}
                        Err(Trouble::HungUp) => state.hang_up(generation),
                        Err(trouble) => {
                            call.unsent(&mut state.session);
                            state.pass_lead();
                            return Err(match trouble {
                                Trouble::Violation(error) => {
                                    let _over = call.judge(Verdict::Bad, now);
                                    error
                                }
                                Trouble::Cancelled => Error::Cancelled,
                                Trouble::Late | Trouble::HungUp => {
                                    Error::Timeout { what, after: call.waited(Instant::now()) }
                                }
                            });
                        }
                    }
                }
                Next::Read(generation) => {
                    let Some(connection) = connection.as_deref().filter(|_| !cancelled) else {
                        call.give_up(&mut state.session);
                        self.leave(&mut state);
                        return Err(Error::Cancelled);
                    };
                    (state, cancelled) =
                        self.wait(state, call.number(), connection, generation, deadline);
                }
                Next::Answered(answer) => {
                    state.pass_lead();
                    drop(state);
                    let answer = answer.and_then(|answer| unwrap(what, answer));
                    if call.judge(verdict(&answer), now) {
                        return answer;
                    }
                    state = self.lock();
                }
                Next::Pause(until) => {
                    drop(state);
                    cancel::sleep(until.saturating_duration_since(now))?;
                    state = self.lock();
                }
                Next::Connect { until } => {
                    (state, failure) = self.connect(state, until);
                    if failure.is_some() {
                        call.tried();
                    }
                }
                Next::Await => state = self.wait_for_line(state, deadline)?,
                Next::Failed(end) => {
                    self.leave(&mut state);
                    return Err(match end {
                        End::Closed => Error::Closed,
                        End::Gone => self.gone(&state, failure),
                        End::Late { after } => Error::Timeout { what, after },
                        End::Restless { times } => {
                            let reason = format!("it hung up {times} times on the same request");
                            Error::NoPond { path: self.config.socket.clone(), reason }
                        }
                    });
                }
            }
        }
    }

    /// A caller goes without an answer: the grant that may still come is looked out for.
    fn leave(self: &Arc<Self>, state: &mut State) {
        state.pass_lead();
        if state.session.expects_late() {
            self.watch_if_possible(state);
        }
    }

    fn gone(&self, state: &State, failure: Option<Error>) -> Error {
        failure.or_else(|| state.last_failure.clone()).unwrap_or_else(|| Error::NoPond {
            path: self.config.socket.clone(),
            reason: String::new(),
        })
    }

    /// Makes a connection where there is none.
    pub(crate) fn connected(self: &Arc<Self>) -> Result<()> {
        let (since, mut failure) = (Instant::now(), None);
        let mut state = self.lock();
        loop {
            match state.session.way(since, failure.is_some(), None, Instant::now()) {
                Way::Up(_) => return Ok(()),
                Way::Closed => return Err(Error::Closed),
                Way::Gone => return Err(self.gone(&state, failure)),
                Way::Await => state = self.wait_for_line(state, None)?,
                Way::Connect { until } => (state, failure) = self.connect(state, until),
            }
        }
    }

    /// Waits for the connection that another thread makes.
    fn wait_for_line<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        deadline: Deadline,
    ) -> Result<MutexGuard<'a, State>> {
        let left = remaining(deadline).unwrap_or(Duration::MAX);
        let left = left.min(self.config.reconnect_timeout + OVERDUE);
        let slice = cancel::slice(Some(left)).unwrap_or(left);
        let waited = self.changed.wait_timeout(state, slice);
        drop(waited.unwrap_or_else(PoisonError::into_inner).0);
        // Without the lock: whoever is asked may take its time.
        cancel::check()?;
        Ok(self.lock())
    }

    /// Makes a connection, without the lock while it lasts. Returns why there is none.
    fn connect<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        until: Instant,
    ) -> (MutexGuard<'a, State>, Option<Error>) {
        let claims = state.session.connecting();
        let dial = Dial::new(until, state.session.down());
        drop(state);
        let caller = Caller {
            socket: &self.config.socket,
            client: self.client,
            program: &self.config.program,
            claims: &claims,
        };
        let made = establish(&caller, dial);
        let mut state = self.lock();
        let failure = match made {
            Ok(established) => {
                tracing::debug!(epoch = %established.welcome.epoch, claims = claims.len(), "connected");
                state.install(established);
                None
            }
            Err(error) => {
                state.session.not_connected();
                // Somebody else's wish says nothing about the pond.
                if !matches!(error, Error::Cancelled) {
                    state.last_failure = Some(error.clone());
                }
                Some(error)
            }
        };
        self.notify();
        state.wake_watch();
        (state, failure)
    }

    /// Tells the pond that leases have ended. Those that it does not know any more are passed
    /// over; the rest is remembered until the pond has confirmed.
    pub(crate) fn release(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        let known = self.lock().session.leases().known(leases);
        self.release_even_unknown(&known)
    }

    /// As [`Link::release`], for leases that were granted but never taken.
    pub(crate) fn release_even_unknown(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        for some in leases.chunks(limits::LEASES_PER_MESSAGE) {
            let body = self.lock().session.release(some.to_vec());
            self.ask_done("a release", body)?;
            self.lock().wake_watch();
        }
        Ok(())
    }

    /// The tensor without a name that this lease came with is deleted when the lease goes back.
    pub(crate) fn abandon(&self, lease: LeaseId, tensor: TensorId) {
        self.lock().session.abandon(lease, tensor);
    }

    /// Deletes tensors that nobody could find. As good as can be: one that was never made is not
    /// there, and one that cannot be deleted now ends at the latest with the pond.
    fn delete(self: &Arc<Self>, tensors: Vec<TensorId>) {
        for tensor in tensors {
            let deleted = self.ask_done("a deletion", RequestBody::TensorDelete { tensor });
            if let Err(error) = deleted {
                tracing::debug!(%error, %tensor, "a tensor that nobody has was not deleted");
            }
        }
    }
}

impl State {
    /// A new connection is there.
    fn install(&mut self, established: Established) {
        let Established { connection, welcome, page, refused } = established;
        let Some(arrival) = self.session.connected(welcome.pond, &refused) else { return };
        if arrival.other_pond {
            tracing::warn!(pond = %welcome.pond, "another pond answers now; what the old one held is lost");
        }
        for claim in arrival.lost {
            tracing::warn!(lease = %claim.lease, tensor = %claim.tensor, "the pond does not know this lease any more");
        }
        self.page = page.map(Arc::new);
        self.leading = false;
        self.connection = Some(Arc::new(connection));
    }

    /// The connection is over. Everybody who waits wakes, and repeats.
    pub(crate) fn hang_up(&mut self, generation: u64) {
        if self.session.hung_up(generation, Instant::now()) {
            self.disconnect();
        }
    }

    /// The peer cannot be understood: everybody who waits is told so, and nothing is repeated.
    pub(crate) fn fail(&mut self, generation: u64, error: &Error) {
        if self.session.failed(generation, error, Instant::now()) {
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.shut_down();
        }
        self.wake_all();
    }

    /// Wakes the thread that watches the connection, if there is one.
    pub(crate) fn wake_watch(&self) {
        if let Some(watch) = &self.watch {
            // It fails only if it is woken already, more often than a counter can hold.
            let _ = rustix::io::write(watch, &1u64.to_ne_bytes());
        }
    }

    pub(crate) fn wake_all(&self) {
        self.sleepers.values().for_each(Thread::unpark);
    }
}

fn verdict(answer: &Result<Answer>) -> Verdict {
    match answer {
        Ok(_) => Verdict::Good,
        Err(Error::Refused(failure)) => Verdict::Refused(failure.kind),
        Err(_) => Verdict::Bad,
    }
}
