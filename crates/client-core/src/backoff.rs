//! Pauses that double.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// The pause that comes next, without taking it.
    #[must_use]
    pub fn peek(&self) -> Duration {
        self.next
    }

    /// Takes a pause; the one after it is twice as long.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    pub fn reset(&mut self) {
        self.next = self.first;
    }
}
