//! Calls to the pond, over whichever connection there is. The session decides what is done; threads,
//! sockets and clocks are here and in `line.rs`, `lead.rs`, `establish.rs` and `watch.rs`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use millpond_client_core::{self as core, Call, End, Ended, Next, Session, Verdict};
use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{ClientId, LeaseId, TensorId, caps};

use crate::answer::{Answer, not_an_answer, unwrap};
use crate::connection::{Deadline, Trouble, lock};
use crate::line::State;
use crate::{Error, Result, cancel};

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
    state: Mutex<State>,
    /// The line came up, or could not be made.
    changed: Condvar,
}

impl Link {
    /// A link that connects with its first call.
    pub(crate) fn new(config: LinkConfig) -> Self {
        let session = Session::new(ClientId::random(), config.reconnect_timeout);
        let state = State::new(session);
        Self { config, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn client(&self) -> ClientId {
        self.lock().session.client()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Tells that the line came up, or could not be made.
    pub(crate) fn changed(&self) -> &Condvar {
        &self.changed
    }

    pub(crate) fn new_lease(&self) -> LeaseId {
        self.lock().session.new_lease()
    }

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
        self.call_while(ask, file, || ())
    }

    /// As [`Link::call`], with work of the caller that is done once, while the pond does its own.
    pub(crate) fn call_while(
        self: &Arc<Self>,
        ask: Ask,
        file: Option<&OwnedFd>,
        work: impl FnOnce(),
    ) -> Result<Answer> {
        let Ask { what, body, lease, deadline, waits_until } = ask;
        let ask = core::Ask { body, lease, deadline, waits_until };
        let fds: Vec<BorrowedFd<'_>> = file.iter().map(|file| file.as_fd()).collect();
        let mut state = self.lock();
        let mut call = Call::new(&mut state.session, ask, Instant::now());
        let answer = self.drive(state, &mut call, (what, deadline, &fds), work);
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
        (what, deadline, fds): (&'static str, Deadline, &[BorrowedFd<'_>]),
        work: impl FnOnce(),
    ) -> Result<Answer> {
        let (mut work, mut worked) = (Some(work), false);
        let (mut connection, mut failure, mut cancelled) = (None, None, false);
        loop {
            let now = Instant::now();
            match call.next(&mut state.session, now) {
                Next::Send(generation) => {
                    let used = connection.insert(state.connection.clone().ok_or(Error::Closed)?);
                    drop(state);
                    let meanwhile = || self.drain(used, generation);
                    let sent = used.send(call.request(), fds, deadline, meanwhile);
                    if sent.is_ok() && !std::mem::replace(&mut worked, true) {
                        // Who maps needs the thread. Where it cannot be started, that is said
                        // before anything is mapped.
                        let _started = call.wants_lease().then(|| self.start_watch());
                        if let Some(work) = work.take() {
                            work();
                        }
                    }
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
                    // The pond's answer to a hello may take as long as to the question.
                    let meanwhile = || work.take().into_iter().for_each(|work| work());
                    (state, failure) = self.connect(state, until, meanwhile);
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

    /// Tells the pond that leases have ended. Those that it does not know any more are passed
    /// over; the rest is remembered until the pond has confirmed.
    pub(crate) fn release(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        let known = self.lock().session.leases().known(leases);
        self.release_even_unknown(&known)
    }

    /// As [`Link::release`], for leases that were granted but never taken.
    pub(crate) fn release_even_unknown(self: &Arc<Self>, leases: &[LeaseId]) -> Result<()> {
        for some in leases.chunks(caps::LEASES_PER_MESSAGE) {
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
                tracing::debug!(%error, %tensor, "an unused tensor was not deleted");
            }
        }
    }
}

fn verdict(answer: &Result<Answer>) -> Verdict {
    match answer {
        Ok(_) => Verdict::Good,
        Err(Error::Refused(failure)) => Verdict::Refused(failure.kind),
        Err(_) => Verdict::Bad,
    }
}
