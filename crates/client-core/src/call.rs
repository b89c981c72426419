//! One request, from the question to its answer, over as many connections as it takes.

use std::time::{Duration, Instant};

use millpond_wire::message::{Request, RequestBody, TensorGet, VersionGet, WAIT_FOREVER};
use millpond_wire::{ErrorKind, LeaseId, TensorId};

use crate::backoff::Backoff;
use crate::mutation::Mutation;
use crate::session::{Answer, Session, Way};

/// A connection that breaks this often in a row while one request is under way is not the
/// request's bad luck: the daemon may die of it, and should not for ever.
const REPEATS: u32 = 20;
/// A daemon that dies of a request dies soon: a connection that lasted this long is not counted.
const LASTED: Duration = Duration::from_millis(200);
/// Pauses before a request is repeated that the pond wants again later.
const LATER: Backoff = Backoff::new(Duration::from_millis(1), Duration::from_millis(128));

/// A wait as it travels; what is left of it is rounded up, so that the pond is not early.
#[must_use]
pub fn wait_ms(wait: Duration) -> u64 {
    if wait == Duration::MAX {
        return WAIT_FOREVER;
    }
    u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(WAIT_FOREVER - 1)
}

/// A request, and how long it may take.
#[derive(Clone, Debug)]
pub struct Ask {
    pub body: RequestBody,
    pub lease: Option<LeaseId>,
    pub deadline: Option<Instant>,
    /// Until when the pond itself may wait before it answers.
    pub waits_until: Option<Instant>,
}

impl Ask {
    #[must_use]
    pub fn new(body: RequestBody) -> Self {
        Self { body, lease: None, deadline: None, waits_until: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Unsent,
    /// Over the connection of this generation.
    Sent(u64),
    /// The pond wants it again, but not before.
    Paused(Instant),
    /// Answered, or given up.
    Over,
}

/// What the caller does next.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it lives for one step; a box would be an allocation for each call"
)]
pub enum Next<F, E> {
    /// Make a connection, and try until then.
    Connect { until: Instant },
    /// Wait for the connection that another caller makes.
    Await,
    /// Send [`Call::request`] over the connection of this generation.
    Send(u64),
    /// Wait for a reply on the connection of this generation.
    Read(u64),
    /// Ask again at this time.
    Pause(Instant),
    /// Look at the answer, and say with [`Call::judge`] what it was.
    Answered(Result<Answer<F>, E>),
    /// There will be no answer.
    Failed(End),
}

/// Why there will be no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The session was closed.
    Closed,
    /// No connection could be made.
    Gone,
    /// The deadline has passed.
    Late { after: Duration },
    /// So many connections broke in a row.
    Restless { times: u32 },
}

/// What an answer turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// The pond said no.
    Refused(ErrorKind),
    /// It cannot be understood.
    Bad,
}

/// How a call came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Well,
    /// The pond said no.
    Refused,
    /// No answer, or none that can be understood.
    Badly,
}

/// A request under way. Its caller owns it.
#[derive(Debug)]
pub struct Call {
    request: Request,
    lease: Option<LeaseId>,
    deadline: Option<Instant>,
    waits_until: Option<Instant>,
    asked: Instant,
    phase: Phase,
    /// When this round of connecting, sending and waiting began.
    begun: Instant,
    /// Since when no connection has lasted.
    without: Option<Instant>,
    /// The caller has tried to connect in this round.
    tried: bool,
    /// When the connection of this round was there.
    up: Instant,
    sends: u32,
    broken: u32,
    pause: Backoff,
    /// It was sent last, and its answer has not been looked at.
    is_out: bool,
    /// An answer that was lost, or cannot be understood, may have been a grant.
    may_be_granted: bool,
}

impl Call {
    pub fn new<F, E: Clone>(session: &mut Session<F, E>, ask: Ask, now: Instant) -> Self {
        let Ask { body, lease, deadline, waits_until } = ask;
        if let (RequestBody::TensorCreate(create), Some(lease)) = (&body, lease)
            && create.name.is_none()
        {
            // Before it is sent: once it is given up, its lease may come back at any time.
            session.abandon(lease, create.tensor);
        }
        Self {
            request: Request { number: session.new_number(), body },
            lease,
            deadline,
            waits_until,
            asked: now,
            phase: Phase::Unsent,
            begun: now,
            without: None,
            tried: false,
            up: now,
            sends: 0,
            broken: 0,
            pause: LATER,
            is_out: false,
            may_be_granted: false,
        }
    }

    #[must_use]
    pub fn number(&self) -> u64 {
        self.request.number
    }

    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Since it was asked.
    #[must_use]
    pub fn waited(&self, now: Instant) -> Duration {
        now.duration_since(self.asked)
    }

    /// How often it was to be sent.
    #[must_use]
    pub fn sends(&self) -> u32 {
        self.sends
    }

    /// Whether [`Call::next`] would have it sent now.
    #[must_use]
    pub fn wants_sending<F, E: Clone>(&self, session: &Session<F, E>, now: Instant) -> bool {
        session.is_up()
            && match self.phase {
                Phase::Unsent => true,
                Phase::Sent(generation) => !session.is_current(generation),
                Phase::Paused(until) => until <= now,
                Phase::Over => false,
            }
    }

    /// What the caller does next. After [`Next::Send`] the session expects the answer.
    pub fn next<F, E: Clone>(&mut self, session: &mut Session<F, E>, now: Instant) -> Next<F, E> {
        loop {
            match self.phase {
                Phase::Paused(until) if now < until => return Next::Pause(until),
                Phase::Paused(_) => self.again(now),
                Phase::Unsent => return self.unsent_next(session, now),
                Phase::Sent(generation) => {
                    if let Some(outcome) = session.collect(self.number()) {
                        self.phase = Phase::Over;
                        return Next::Answered(outcome);
                    }
                    if session.is_current(generation) {
                        if !self.is_late(now) {
                            return Next::Read(generation);
                        }
                        // Its answer is still looked out for.
                        self.is_out = session.give_up(self.number());
                        return self.fail(End::Late { after: self.waited(now) });
                    }
                    session.forget(self.number());
                    if let Some(end) = self.hung_up(now) {
                        return self.fail(end);
                    }
                }
                Phase::Over => return Next::Failed(End::Closed),
            }
        }
    }

    fn unsent_next<F, E: Clone>(
        &mut self,
        session: &mut Session<F, E>,
        now: Instant,
    ) -> Next<F, E> {
        let since = *self.without.get_or_insert(self.begun);
        match session.way(since, self.tried, self.deadline, now) {
            Way::Up(generation) => {
                session.expect(self.number(), self.lease);
                self.phase = Phase::Sent(generation);
                (self.up, self.tried) = (now, false);
                if self.sends > 0 {
                    self.shorten_wait(now);
                }
                self.sends += 1;
                self.is_out = true;
                Next::Send(generation)
            }
            Way::Await if self.is_late(now) => self.fail(End::Late { after: self.waited(now) }),
            Way::Await => Next::Await,
            Way::Connect { until } => Next::Connect { until },
            Way::Closed => self.fail(End::Closed),
            Way::Gone => self.fail(End::Gone),
        }
    }

    /// The caller could not connect.
    pub fn tried(&mut self) {
        self.tried = true;
    }

    /// It did not get out, over a connection that still stands.
    pub fn unsent<F, E: Clone>(&mut self, session: &mut Session<F, E>) {
        if let Phase::Sent(_) = self.phase {
            session.forget(self.number());
            self.phase = Phase::Unsent;
            self.is_out = false;
        }
    }

    /// The caller wants no answer any more.
    pub fn give_up<F, E: Clone>(&mut self, session: &mut Session<F, E>) {
        if let Phase::Sent(generation) = self.phase {
            if session.is_current(generation) {
                self.is_out = session.give_up(self.number());
            } else {
                session.forget(self.number());
                self.may_be_granted = true;
            }
        }
        self.phase = Phase::Over;
    }

    /// What the answer was. False if the pond wants the request again, and there is time for that.
    #[must_use]
    pub fn judge(&mut self, verdict: Verdict, now: Instant) -> bool {
        self.is_out = false;
        // An earlier grant whose answer was lost stays a grant, also if the repeat is refused.
        self.may_be_granted |= !matches!(verdict, Verdict::Refused(_));
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(now));
        let in_time = left.is_none_or(|left| left >= self.pause.peek());
        if verdict != Verdict::Refused(ErrorKind::Later) || !in_time {
            return true;
        }
        self.phase = Phase::Paused(now + self.pause.pause());
        false
    }

    /// Whether a lease is asked for.
    #[must_use]
    pub fn wants_lease(&self) -> bool {
        self.lease.is_some()
    }

    /// Whether its end concerns leases; else [`Call::end`] may be left out.
    #[must_use]
    pub fn concerns_leases(&self) -> bool {
        self.lease.is_some() || matches!(self.request.body, RequestBody::LeaseRelease { .. })
    }

    /// Draws the balance. Returns tensors that nobody could find any more: they are to be deleted.
    pub fn end<F, E: Clone>(self, session: &mut Session<F, E>, ended: Ended) -> Vec<TensorId> {
        if let Some(lease) = self.lease {
            if ended != Ended::Well && self.may_be_granted {
                if !session.breaks(Mutation::LostGrantForgotten) {
                    session.stray(&[lease]);
                }
            } else if ended != Ended::Badly || !self.is_out {
                session.kept(lease);
            }
        }
        match &self.request.body {
            RequestBody::LeaseRelease { leases } if ended == Ended::Well => {
                session.released(leases)
            }
            _ => Vec::new(),
        }
    }

    fn fail<F, E>(&mut self, end: End) -> Next<F, E> {
        self.phase = Phase::Over;
        Next::Failed(end)
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// The connection broke under it.
    fn hung_up(&mut self, now: Instant) -> Option<End> {
        self.may_be_granted = true;
        let at_once = now.duration_since(self.begun) < LASTED;
        self.broken = if at_once { self.broken + 1 } else { 0 };
        if now.duration_since(self.up) >= LASTED {
            self.without = None;
        }
        self.phase = Phase::Unsent;
        self.begun = now;
        (self.broken > REPEATS).then_some(End::Restless { times: self.broken })
    }

    fn again(&mut self, now: Instant) {
        self.without = None;
        self.phase = Phase::Unsent;
        self.begun = now;
    }

    /// A repeat waits only for what is left of the time. Where nothing is left it waits for a
    /// moment: the answer is that the time is over then, not that nobody has ever waited.
    fn shorten_wait(&mut self, now: Instant) {
        let Some(until) = self.waits_until else { return };
        let left = wait_ms(until.saturating_duration_since(now)).max(1);
        match &mut self.request.body {
            RequestBody::TensorGet(TensorGet { wait_ms, .. })
            | RequestBody::VersionGet(VersionGet { wait_ms, .. })
            | RequestBody::CacheWant { wait_ms, .. }
                if *wait_ms > 0 =>
            {
                *wait_ms = left;
            }
            _ => {}
        }
    }
}
