//! What a number should be, from the design's table.

use std::time::Duration;

use super::samples::Samples;
use crate::json::TimingJson;
use crate::units;

/// What a time should be.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// At most so many times the raw limit.
    pub times_raw: Option<f64>,
    /// Less than this.
    pub under: Option<Duration>,
}

impl Goal {
    fn describe(self) -> String {
        let raw = self.times_raw.map(|times| format!("at most {times}x raw"));
        let under = self.under.map(|time| format!("under {}", short(time)));
        raw.into_iter().chain(under).collect::<Vec<_>>().join(", ")
    }

    fn is_met(self, median: Duration, ratio: Option<f64>) -> bool {
        let within = self.times_raw.is_none_or(|times| ratio.is_none_or(|ratio| ratio <= times));
        within && self.under.is_none_or(|limit| median < limit)
    }

    /// A measurement beside its limit.
    pub fn judge(
        self,
        name: &'static str,
        what: impl Into<String>,
        samples: &Samples,
        raw: Option<&Samples>,
    ) -> TimingJson {
        let micros = |samples: &Samples| units::micros(samples.median());
        let ratio = raw
            .filter(|raw| !raw.median().is_zero())
            .map(|raw| units::round(samples.median().as_secs_f64() / raw.median().as_secs_f64()));
        TimingJson {
            name,
            what: what.into(),
            rounds: samples.count(),
            median_us: micros(samples),
            p90_us: units::micros(samples.p90()),
            raw_median_us: raw.map(micros),
            raw_p90_us: raw.map(|raw| units::micros(raw.p90())),
            ratio,
            goal: self.describe(),
            ok: self.is_met(samples.median(), ratio),
        }
    }
}

/// A whole number of milliseconds.
fn short(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_count() {
        let goal = Goal { times_raw: Some(1.5), under: Some(Duration::from_millis(2)) };
        let of = |micros| Samples::new(vec![Duration::from_micros(micros)]);
        let judged = |own, raw| goal.judge("attach", "attach", &of(own), Some(&of(raw)));
        assert_eq!(judged(150, 100).goal, "at most 1.5x raw, under 2 ms");
        assert!(judged(150, 100).ok);
        assert!(!judged(160, 100).ok);
        assert!(!judged(2500, 2400).ok);
        let alone = Goal { times_raw: None, under: Some(Duration::from_millis(2)) };
        assert!(alone.judge("x", "x", &of(5), None).ok);
    }
}
