//! Times that were measured, and what they amount to.

use std::time::{Duration, Instant};

/// Measures something again and again, after a tenth as many rounds that do not count.
pub fn measure<E>(
    rounds: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Vec<Duration>, E> {
    for _ in 0..rounds / 10 {
        work()?;
    }
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

#[derive(Clone, Debug)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The one in the middle.
    pub fn median(&self) -> Duration {
        self.at(self.0.len() / 2)
    }

    /// The one that 9 of 10 are not slower than.
    pub fn p90(&self) -> Duration {
        self.part(90)
    }

    /// The one that 99 of 100 are not slower than.
    pub fn p99(&self) -> Duration {
        self.part(99)
    }

    fn part(&self, percent: usize) -> Duration {
        self.at((self.0.len() * percent).div_ceil(100).saturating_sub(1))
    }

    fn at(&self, index: usize) -> Duration {
        self.0.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_slowest_in_a_hundred() {
        let samples = Samples::new((1..=10).rev().map(Duration::from_micros).collect());
        assert_eq!(samples.median(), Duration::from_micros(6));
        assert_eq!(samples.p90(), Duration::from_micros(9));
        assert_eq!(samples.p99(), Duration::from_micros(10));
        let many = Samples::new((1..=200).map(Duration::from_micros).collect());
        assert_eq!(many.p99(), Duration::from_micros(198));
        assert_eq!(Samples::new(Vec::new()).median(), Duration::ZERO);
    }

    #[test]
    fn warm_up_rounds_do_not_count() {
        let mut calls = 0;
        let measured: Result<Vec<Duration>, ()> = measure(20, || {
            calls += 1;
            Ok(())
        });
        assert_eq!((measured.unwrap().len(), calls), (20, 22));
    }
}
