//! What a daemon has counted since its start.

use millpond_wire::message::{self, LENGTHS_NANOSECONDS};

const MILLISECONDS: f64 = 1e3;
const NANOSECONDS: f64 = 1e9;

/// A time as people and exporters have it. What is lost is far below a millisecond.
#[expect(clippy::cast_precision_loss, reason = "2^53 nanoseconds are a hundred days of waiting")]
fn seconds(time: u64, in_a_second: f64) -> f64 {
    time as f64 / in_a_second
}

macro_rules! counters_data {
    (
        $dollar:tt
        numbers { $($number:ident $number_doc:literal;)* }
        bytes { $($bytes:ident $bytes_doc:literal;)* }
        seconds { $($shown:ident from $time:ident $time_doc:literal;)* }
    ) => {
        data! { $dollar
            /// What a daemon has counted since its start: the next one, which has another epoch, begins
            /// with zero.
            pub struct Counters as counters_fields {
                $(#[doc = $number_doc] $number: u64,)*
                $(#[doc = $bytes_doc] $bytes: u64,)*
                $(#[doc = $time_doc] $shown: f64,)*
                /// Kinds of requests that have come.
                requests: Vec<RequestCount>,
                /// How often a request was refused, by error kind.
                refusals: Vec<RefusalCount>,
                /// The longest times of all classes of `by_length` but the last, which has no end.
                lengths_seconds: Vec<f64>,
            }
        }

        impl From<&message::Counters> for Counters {
            fn from(counters: &message::Counters) -> Self {
                let counts = &counters.counts;
                Self {
                    $($number: counts.$number,)*
                    $($bytes: counts.$bytes,)*
                    $($shown: seconds(counts.$time, MILLISECONDS),)*
                    requests: counters.requests.iter().map(RequestCount::from).collect(),
                    refusals: counters.refusals.iter().map(RefusalCount::from).collect(),
                    lengths_seconds: LENGTHS_NANOSECONDS.map(|it| seconds(it, NANOSECONDS)).into(),
                }
            }
        }
    };
}
millpond_wire::counters!(counters_data $);

data! { $
    /// What one kind of request has come to.
    pub struct RequestCount as request_count_fields {
        /// The word for its kind.
        kind: String,
        /// How many were answered.
        answered: u64,
        /// How many were refused.
        refused: u64,
        /// From the reading of a request until its answer was on its way, all of them together.
        seconds: f64,
        /// How many took up to each of `lengths_seconds`, and how many took longer.
        by_length: Vec<u64>,
    }
}

impl From<&message::RequestCount> for RequestCount {
    fn from(request: &message::RequestCount) -> Self {
        Self {
            kind: request.kind.clone(),
            answered: request.answered,
            refused: request.refused,
            seconds: seconds(request.nanoseconds, NANOSECONDS),
            by_length: request.by_length.into(),
        }
    }
}

data! { $
    /// How often requests were refused for one reason.
    pub struct RefusalCount as refusal_count_fields {
        /// The error kind.
        kind: &'static str,
        /// How often.
        count: u64,
    }
}

impl From<&message::RefusalCount> for RefusalCount {
    fn from(refusal: &message::RefusalCount) -> Self {
        Self { kind: refusal.kind.name(), count: refusal.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fields;

    #[test]
    fn the_operators_guide_has_the_table() {
        let page = include_str!("../../../docs/operations.md");
        let table = page.split("| counter | counts |").nth(1).unwrap_or_default();
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let expected =
            message::Counts::ALL.iter().map(|it| format!("| `{}` | {} |", it.name, it.describe));
        assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_the_table_counts_is_shown_under_its_name() {
        let mut number = 0;
        let counts = message::Counts::of(|_| {
            number += 1;
            number
        });
        let counters = message::Counters { counts, ..message::Counters::default() };
        let shown = serde_json::to_value(Counters::from(&counters)).unwrap();
        for (counter, value) in counts.values() {
            let shown = shown[counter.name].as_f64().unwrap();
            let is = match counter.unit {
                message::CounterUnit::Milliseconds => seconds(value, MILLISECONDS),
                _ => seconds(value, 1.0),
            };
            assert!((shown - is).abs() < 1e-12, "{}", counter.name);
        }
        assert_eq!(Counters::FIELDS.len(), message::Counts::ALL.len() + 3);
        let lengths = Counters::from(&counters).lengths_seconds;
        let words: Vec<String> = lengths.iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(words, ["1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1", "1.0", "10.0"]);
    }
}
