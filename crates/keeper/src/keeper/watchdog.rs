//! Is the daemon there, and when may the next one be started?

use std::time::Duration;

/// How often the daemon is asked.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// Counts silent ticks instead of reading a clock: after a pause of the whole machine the daemon
/// gets its time to answer.
#[derive(Debug)]
pub(super) struct Watchdog {
    limit: u64,
    number: u64,
    answered: bool,
    silent: u64,
}

/// What a tick asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tick {
    /// Nothing: an answer is awaited.
    Wait,
    /// Ask with this number.
    Ping(u64),
    /// It was silent for too long.
    Kill,
}

impl Watchdog {
    pub(super) fn new(seconds: u64) -> Watchdog {
        Watchdog { limit: seconds.max(1), number: 0, answered: true, silent: 0 }
    }

    /// Once a second. A new question is only asked after the old one was answered, so that a
    /// hung daemon's queue does not fill.
    pub(super) fn tick(&mut self) -> Tick {
        if self.answered {
            self.number += 1;
            self.answered = false;
            self.silent = 0;
            return Tick::Ping(self.number);
        }
        self.silent += 1;
        if self.silent == self.limit { Tick::Kill } else { Tick::Wait }
    }

    /// Nobody has heard whether it answered: it gets its time again.
    pub(super) fn excuse(&mut self) {
        self.silent = 0;
    }

    pub(super) fn pong(&mut self, number: u64) {
        self.answered |= number == self.number;
    }
}

/// A daemon that lived so long did not die of its start.
const LONG_LIFE: Duration = Duration::from_secs(10);
/// Quick deaths in a row that are answered at once: whoever kills daemons for a test gets the next
/// one without waiting, and a daemon that cannot live is slowed down soon enough.
const AT_ONCE: u32 = 20;
const FIRST_DELAY: Duration = Duration::from_millis(10);
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// How long to wait before the next start: not at all, unless one after the other dies.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    delay: Duration,
    quick: u32,
}

impl Backoff {
    /// Quick deaths in a row.
    pub(super) fn quick(&self) -> u32 {
        self.quick
    }

    pub(super) fn after(&mut self, lived: Duration) -> Duration {
        if lived >= LONG_LIFE {
            *self = Backoff::default();
        }
        self.quick = self.quick.saturating_add(1);
        if self.quick < AT_ONCE {
            return Duration::ZERO;
        }
        let next = (self.delay * 2).clamp(FIRST_DELAY, LONGEST_DELAY);
        std::mem::replace(&mut self.delay, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_daemon_is_killed_once_after_its_seconds() {
        let mut watchdog = Watchdog::new(2);
        assert_eq!(watchdog.tick(), Tick::Ping(1));
        assert_eq!(watchdog.tick(), Tick::Wait);
        watchdog.pong(1);
        assert_eq!(watchdog.tick(), Tick::Ping(2));
        watchdog.pong(1);
        assert_eq!(watchdog.tick(), Tick::Wait, "an old answer is none");
        assert_eq!(watchdog.tick(), Tick::Kill);
        assert_eq!(watchdog.tick(), Tick::Wait);
    }

    #[test]
    fn some_restarts_are_immediate_and_more_quick_deaths_are_slowed_down() {
        let mut backoff = Backoff::default();
        let quick = Duration::from_millis(1);
        assert!((1..AT_ONCE).all(|_| backoff.after(quick).is_zero()));
        let millis: Vec<_> = (0..12).map(|_| backoff.after(quick).as_millis()).collect();
        assert_eq!(millis, [0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000]);
        assert_eq!(backoff.after(LONG_LIFE), Duration::ZERO);
        assert_eq!(backoff.after(quick), Duration::ZERO);
    }
}
