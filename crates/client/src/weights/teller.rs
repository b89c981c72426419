//! How far a load is, for whoever wants to know.

use std::time::Instant;

use super::{LoadPhase, LoadProgress};

/// Counts what is done of a phase, and how fast.
pub(super) struct Teller<'a> {
    tell: &'a mut dyn FnMut(LoadProgress),
    phase: LoadPhase,
    done: u64,
    total: u64,
    begun: Instant,
}

impl<'a> Teller<'a> {
    pub(super) fn new(tell: &'a mut dyn FnMut(LoadProgress)) -> Self {
        Self { tell, phase: LoadPhase::Checking, done: 0, total: 0, begun: Instant::now() }
    }

    pub(super) fn begin(&mut self, phase: LoadPhase, total: u64) {
        (self.phase, self.done, self.total) = (phase, 0, total);
        self.begun = Instant::now();
        self.add(0);
    }

    #[expect(clippy::cast_precision_loss, reason = "a speed for people")]
    pub(super) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        let seconds = self.begun.elapsed().as_secs_f64();
        let speed = if self.done == 0 { 0.0 } else { self.done as f64 / seconds.max(1e-9) / 1e9 };
        let (phase, done, total) = (self.phase, self.done, self.total);
        (self.tell)(LoadProgress { phase, done, total, gigabytes_per_second: speed });
    }
}
