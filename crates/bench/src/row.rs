//! One number beside its limit and its goal.

use std::time::Duration;

use super::samples::Samples;
use crate::json::{RowJson, Unit};
use millpond_view::units;

/// Fewer samples say nothing about the slowest in ten.
const ENOUGH_FOR_P90: u64 = 10;
/// Fewer samples say nothing about the slowest in a hundred.
const ENOUGH_FOR_P99: u64 = 100;

/// What a number should be, from the design's table. For times and sizes it is an upper limit, for
/// rates and speeds a lower one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goal {
    /// So many times the floor.
    pub ratio: Option<f64>,
    /// In the row's own unit.
    pub value: Option<f64>,
    /// Whether only a real GPU can be judged by it.
    pub gpu_only: bool,
}

impl Unit {
    /// A value for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Microseconds if value < 1.0 => format!("{:.0} ns", value * 1e3),
            Unit::Microseconds => units::time(Duration::from_secs_f64(value.max(0.0) / 1e6)),
            Unit::PerSecond => format!("{}/s", units::thousands(whole(value))),
            Unit::GigabytesPerSecond => format!("{value:.2} GB/s"),
            Unit::Bytes => units::bytes(whole(value)),
        }
    }

    /// Whether a larger number is a better one.
    pub fn more_is_better(self) -> bool {
        matches!(self, Unit::PerSecond | Unit::GigabytesPerSecond)
    }

    /// A time in this unit: a rate is how often that time fits into a second.
    fn of(self, time: Duration) -> f64 {
        let seconds = time.as_secs_f64();
        match self {
            Unit::PerSecond if seconds > 0.0 => units::round(1.0 / seconds),
            _ => units::round(seconds * 1e6),
        }
    }
}

/// A small part keeps its digits: a thousandth may be what it is judged by.
fn round_ratio(ratio: f64) -> f64 {
    if ratio < 0.1 { units::round(ratio * 1e4) / 1e4 } else { units::round(ratio) }
}

/// Sizes and rates are far below what a float counts exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

impl RowJson {
    /// A number that was not taken from samples.
    pub fn value(name: &'static str, what: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self {
            name,
            what: what.into(),
            unit,
            rounds: 1,
            median: units::round(value),
            p90: None,
            p99: None,
            floor: None,
            floor_what: None,
            ratio: None,
            goal: None,
            goal_value: None,
            met: None,
        }
    }

    /// How long something took.
    pub fn times(name: &'static str, what: impl Into<String>, samples: &Samples) -> Self {
        Self::sampled(name, what, Unit::Microseconds, samples)
    }

    /// How often something can be done in a second, one after the other.
    pub fn rates(name: &'static str, what: impl Into<String>, samples: &Samples) -> Self {
        Self::sampled(name, what, Unit::PerSecond, samples)
    }

    fn sampled(name: &'static str, what: impl Into<String>, unit: Unit, samples: &Samples) -> Self {
        let p90 = (samples.count() >= ENOUGH_FOR_P90).then(|| unit.of(samples.p90()));
        let p99 = (samples.count() >= ENOUGH_FOR_P99).then(|| unit.of(samples.p99()));
        let row = Self::value(name, what, unit, unit.of(samples.median()));
        Self { rounds: samples.count(), p90, p99, ..row }
    }

    pub fn beside(self, what: &'static str, floor: &Samples) -> Self {
        let floor = self.unit.of(floor.median());
        self.beside_value(what, floor)
    }

    /// Beside its limit, which is not a time.
    pub fn beside_value(self, what: &'static str, floor: f64) -> Self {
        let ratio = (floor > 0.0).then(|| round_ratio(self.median / floor));
        Self { floor: Some(units::round(floor)), floor_what: Some(what), ratio, ..self }
    }

    /// Judged, on the software driver or on a real one.
    pub fn goal(self, goal: Goal, software: bool) -> Self {
        let most = !self.unit.more_is_better();
        let words = |few: &'static str, many: &'static str| if most { few } else { many };
        let ratio = goal.ratio.map(|ratio| format!("{} {ratio}x", words("at most", "at least")));
        let value = goal
            .value
            .map(|value| format!("{} {}", words("under", "at least"), self.unit.show(value)));
        let text: Vec<String> = ratio.into_iter().chain(value).collect();
        let by_ratio = goal.ratio.zip(self.floor).map(|(ratio, floor)| ratio * floor);
        let limits = by_ratio.into_iter().chain(goal.value);
        let limit = if most { limits.reduce(f64::min) } else { limits.reduce(f64::max) };
        let met = limit.map(|limit| if most { self.median <= limit } else { self.median >= limit });
        Self {
            goal: (!text.is_empty()).then(|| text.join(", ")),
            goal_value: limit.map(units::round),
            met: met.filter(|_| !(goal.gpu_only && software)),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: u64) -> Samples {
        Samples::new(vec![Duration::from_micros(micros); 3])
    }

    #[test]
    fn both_limits_count() {
        let goal = Goal { ratio: Some(1.5), value: Some(2000.0), gpu_only: false };
        let judged = |own, raw| {
            RowJson::times("attach/x", "attach", &of(own)).beside("raw", &of(raw)).goal(goal, true)
        };
        let row = judged(150, 100);
        assert_eq!(row.goal.as_deref(), Some("at most 1.5x, under 2.00 ms"));
        assert_eq!((row.ratio, row.goal_value, row.met), (Some(1.5), Some(150.0), Some(true)));
        assert_eq!(judged(160, 100).met, Some(false));
        assert_eq!(judged(2500, 2400).met, Some(false));
        assert_eq!((row.p90, row.p99), (None, None), "three samples are too few");
    }

    #[test]
    fn of_a_rate_more_is_better() {
        let goal = Goal { value: Some(20_000.0), ..Goal::default() };
        let rate = |micros| RowJson::rates("create/x", "create", &of(micros)).goal(goal, false);
        assert_eq!((rate(40).median, rate(40).met), (25_000.0, Some(true)));
        assert_eq!(rate(60).met, Some(false));
        assert_eq!(rate(40).goal.as_deref(), Some("at least 20,000/s"));
    }

    #[test]
    fn a_goal_for_a_gpu_does_not_judge_the_software_driver() {
        let goal = Goal { ratio: Some(0.85), gpu_only: true, ..Goal::default() };
        let row = RowJson::value("move/put", "put", Unit::GigabytesPerSecond, 1.0)
            .beside_value("ring", 2.0);
        let (software, real) = (row.clone().goal(goal, true), row.goal(goal, false));
        assert_eq!((software.met, real.met), (None, Some(false)));
        assert_eq!(software.goal.as_deref(), Some("at least 0.85x"));
    }

    #[test]
    fn values_for_people() {
        assert_eq!(Unit::Microseconds.show(0.25), "250 ns");
        assert_eq!(Unit::Microseconds.show(13.94), "13.9 us");
        assert_eq!(Unit::PerSecond.show(20_480.4), "20,480/s");
        assert_eq!(Unit::GigabytesPerSecond.show(51.7), "51.70 GB/s");
        assert_eq!(Unit::Bytes.show(1024.0 * 1024.0), "1 MiB");
    }
}
