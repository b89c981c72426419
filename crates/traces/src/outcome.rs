//! What a run has shown: of each request, and of memory over time.

use crate::memory::Memory;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a request ended. Times count from its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has not ended.
    Unknown,
    /// All of its tokens were written.
    Served {
        /// Until the blocks of its prompt were there.
        first_block: Duration,
        /// Until its first token was there.
        first_token: Duration,
    },
    /// It was never begun.
    Refused,
}

/// A trace that was played.
#[derive(Clone, Debug)]
pub struct Run {
    /// One for each request.
    pub outcomes: Vec<Outcome>,
    /// How often a running request had to begin anew.
    pub preemptions: u64,
    /// What the driver's calls took in all.
    pub driver: Duration,
    /// What all models may have together.
    pub limit_bytes: u64,
    /// Until when memory is watched: the last arrival.
    pub horizon: Duration,
    /// Bytes under blocks of requests.
    pub used: Usage,
    /// Bytes that only one model can have, in use or not.
    pub held: Usage,
    /// Whether changes are kept, for a picture.
    pub keeps_samples: bool,
    /// Both by model, where they changed.
    pub samples: Vec<Sample>,
}

impl Run {
    /// A run in which nothing has happened yet.
    pub(crate) fn new(trace: &Trace, limit_bytes: u64) -> Self {
        Self {
            outcomes: vec![Outcome::Unknown; trace.requests.len()],
            preemptions: 0,
            driver: Duration::ZERO,
            limit_bytes,
            horizon: trace.end(),
            used: Usage::default(),
            held: Usage::default(),
            keeps_samples: false,
            samples: Vec::new(),
        }
    }

    /// Notes what models use and hold from now on.
    pub(crate) fn note(&mut self, now: Duration, used_bytes: &[u64], memory: &impl Memory) {
        let held: Vec<u64> = (0..used_bytes.len()).map(|model| memory.held_bytes(model)).collect();
        let at = now.min(self.horizon);
        self.used.note(at, used_bytes.iter().sum());
        self.held.note(at, held.iter().sum());
        let same = |last: &Sample| last.held_bytes == held && last.used_bytes == used_bytes;
        if self.keeps_samples && !self.samples.last().is_some_and(same) {
            self.samples.push(Sample {
                at: now,
                used_bytes: used_bytes.to_vec(),
                held_bytes: held,
            });
        }
    }
}

/// Memory of each model from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// Under blocks of requests.
    pub used_bytes: Vec<u64>,
    /// Used or not.
    pub held_bytes: Vec<u64>,
}

/// Bytes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    at: Duration,
    bytes: u64,
    peak: u64,
    /// Bytes times nanoseconds.
    area: u128,
}

impl Usage {
    /// So many from this moment on.
    pub fn note(&mut self, at: Duration, bytes: u64) {
        let at = at.max(self.at);
        self.area += u128::from(self.bytes) * (at - self.at).as_nanos();
        (self.at, self.bytes, self.peak) = (at, bytes, self.peak.max(bytes));
    }

    /// The mean until the last note, and the most, in thousandths of a limit.
    #[must_use]
    pub fn permille(&self, limit: u64) -> Permille {
        let limit = u128::from(limit.max(1));
        let part = |bytes: u128| u64::try_from(bytes * 1000 / limit).unwrap_or(u64::MAX);
        let mean = self.area / self.at.as_nanos().max(1);
        Permille { mean: part(mean), peak: part(self.peak.into()) }
    }
}

/// Parts of the memory for blocks, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permille {
    /// Over time.
    pub mean: u64,
    /// At most.
    pub peak: u64,
}

/// Times of all requests, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Half of them were shorter.
    pub median: u64,
    /// All of them, divided by their number.
    pub mean: u64,
    /// 99 of 100 were shorter.
    pub p99: u64,
}

impl Times {
    /// Of a list in any order.
    #[must_use]
    pub fn of(mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        let count = micros.len();
        let at = |part: usize| micros.get((count * part / 100).min(count.saturating_sub(1)));
        let sum: u128 = micros.iter().map(|one| u128::from(*one)).sum();
        let mean = u64::try_from(sum / count.max(1) as u128).unwrap_or(u64::MAX);
        Self { median: at(50).copied().unwrap_or(0), mean, p99: at(99).copied().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_list() {
        let times = Times::of((1..=200).rev().collect());
        assert_eq!(times, Times { median: 101, mean: 100, p99: 199 });
        assert_eq!(Times::of(Vec::new()), Times::default());
        assert_eq!(Times::of(vec![7]), Times { median: 7, mean: 7, p99: 7 });
    }

    #[test]
    fn usage_is_weighted_by_time() {
        let mut usage = Usage::default();
        usage.note(Duration::from_secs(1), 100);
        usage.note(Duration::from_secs(2), 50);
        usage.note(Duration::from_secs(4), 0);
        assert_eq!(usage.permille(100), Permille { mean: 500, peak: 1000 });
    }
}
