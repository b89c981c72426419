//! Attempts to connect, and how long they go on.

use std::time::{Duration, Instant};

use crate::backoff::Backoff;

/// Pause after the first failed attempt; it doubles up to the second one.
const PAUSE: Backoff = Backoff::new(Duration::from_millis(5), Duration::from_secs(1));
/// How long a pond that was stopped in order is waited for. A pond takes its sockets away only when
/// it stops in order; restarts and upgrades leave them. Who restarts a pond by a stop and a start
/// has the socket back within this time.
const STOPPED: Duration = Duration::from_secs(1);

/// How an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Nobody is at the socket; or, if not `no_pond`, this user may not look.
    Absent { no_pond: bool },
    /// A daemon was, and went: it is being replaced.
    HungUp,
    /// The answer is no, at least for the moment.
    Refused { passing: bool },
}

/// Whether there is another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    After(Duration),
    No,
    /// No: the pond was stopped.
    Stopped,
}

/// Attempts to make one connection. A daemon that restarts meanwhile is waited for. That nobody is
/// there at all is waited for only where there was a connection before, and once: the time counts
/// from its loss, not from the call.
#[derive(Clone, Copy, Debug)]
pub struct Dial {
    deadline: Instant,
    /// Since when a connection is lost, and from when on nobody at the socket means that nobody
    /// will come.
    down: Option<(Instant, Instant)>,
    pause: Backoff,
}

impl Dial {
    #[must_use]
    pub fn new(deadline: Instant, down: Option<(Instant, Instant)>) -> Self {
        Self { deadline, down, pause: PAUSE }
    }

    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// An attempt failed; `is_removed` says whether the pond has taken its socket away.
    pub fn failed(
        &mut self,
        attempt: Attempt,
        now: Instant,
        is_removed: impl FnOnce() -> bool,
    ) -> Retry {
        let next = now + self.pause.peek();
        let patient = self.down.is_some();
        match attempt {
            Attempt::Refused { passing } if !(patient && passing) => return Retry::No,
            Attempt::Absent { no_pond } => {
                if self.down.is_some_and(|(_, until)| until <= next) {
                    return Retry::No;
                }
                let stopped = |(since, _)| now.duration_since(since) >= STOPPED;
                if self.down.is_some_and(stopped) && is_removed() {
                    return Retry::Stopped;
                }
                if !(patient && no_pond) {
                    return Retry::No;
                }
            }
            Attempt::Refused { .. } | Attempt::HungUp => {}
        }
        if next >= self.deadline {
            return Retry::No;
        }
        Retry::After(self.pause.pause())
    }
}
