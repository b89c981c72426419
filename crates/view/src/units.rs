//! Numbers for people: sizes, times, counts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A size with at most one decimal: `1.5 GiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut unit = 1024u128;
    let mut name = UNITS[0];
    for next in &UNITS[1..] {
        // What would round to 1024 of a unit is 1 of the next.
        if tenths(bytes, unit) < 10_240 {
            break;
        }
        unit *= 1024;
        name = next;
    }
    match (tenths(bytes, unit) / 10, tenths(bytes, unit) % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}

fn tenths(bytes: u64, unit: u128) -> u128 {
    (u128::from(bytes) * 10 + unit / 2) / unit
}

/// A difference of two sizes, with its sign.
#[must_use]
pub fn difference(by: i64) -> String {
    let sign = match by {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", bytes(by.unsigned_abs()))
}

/// A count with its word: `1 tensor`, `3 tensors`, `2 processes`.
#[must_use]
pub fn count(number: u64, word: &str) -> String {
    let plural = match (number, word.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    let mut text = thousands(number);
    text.reserve_exact(1 + word.len() + plural.len());
    text.push(' ');
    text.push_str(word);
    text.push_str(plural);
    text
}

/// A number with its thousands apart: `12,345`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A short time with three digits: `13.9 us`, `1.24 ms`, `2.50 s`.
#[must_use]
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = if seconds < 1e-3 {
        (seconds * 1e6, "us")
    } else if seconds < 1.0 {
        (seconds * 1e3, "ms")
    } else {
        (seconds, "s")
    };
    three_digits(value, unit)
}

/// A time as it can be typed: `1h30m`, `250ms`. [`Span`](crate::span::Span) reads it.
#[must_use]
pub fn span(ms: u64) -> String {
    let parts = [
        (ms / 86_400_000, "d"),
        (ms / 3_600_000 % 24, "h"),
        (ms / 60_000 % 60, "m"),
        (ms / 1000 % 60, "s"),
        (ms % 1000, "ms"),
    ];
    let shown = parts.iter().filter(|(number, _)| *number > 0);
    let text: String = shown.map(|(number, unit)| format!("{number}{unit}")).collect();
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// A speed in the units of cards and buses: `51.7 GB/s`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub fn rate(bytes: u64, duration: Duration) -> String {
    let rate = bytes as f64 / duration.as_secs_f64().max(1e-9);
    let (value, unit) = if rate < 1e6 {
        (rate / 1e3, "kB/s")
    } else if rate < 1e9 {
        (rate / 1e6, "MB/s")
    } else {
        (rate / 1e9, "GB/s")
    };
    three_digits(value, unit)
}

fn three_digits(value: f64, unit: &str) -> String {
    let places = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.places$} {unit}")
}

/// The time since a moment, with one unit: `5 seconds`, `3 hours`.
#[must_use]
pub fn age(since_unix_ms: u64) -> String {
    long(now_unix_ms().saturating_sub(since_unix_ms))
}

/// A long time with one unit: `5 seconds`, `3 hours`.
#[must_use]
pub fn long(ms: u64) -> String {
    let seconds = ms / 1000;
    let (number, word) = match seconds {
        0..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    count(number, word)
}

/// Now.
#[must_use]
pub fn now_unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Microseconds with their fraction, as data.
#[must_use]
pub fn micros(duration: Duration) -> f64 {
    round(duration.as_secs_f64() * 1e6)
}

/// Milliseconds with their fraction, as data.
#[must_use]
pub fn millis(duration: Duration) -> f64 {
    round(duration.as_secs_f64() * 1e3)
}

/// A measured number to three places.
#[must_use]
pub fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// One number divided by another; nothing where that means nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| round(part as f64 / whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_for_people() {
        for (number, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1 MiB"),
            (3 << 29, "1.5 GiB"),
            (141 << 30, "141 GiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
        assert_eq!([-1536, 0, 2 << 20].map(difference), ["-1.5 KiB", "0 B", "+2 MiB"]);
    }

    #[test]
    fn times_have_three_digits() {
        let shown = [1, 13_900, 240_000, 1_240_000, 99_960_000, 2_500_000_000]
            .map(|nanos| time(Duration::from_nanos(nanos)));
        assert_eq!(shown, ["0.00 us", "13.9 us", "240 us", "1.24 ms", "100.0 ms", "2.50 s"]);
    }

    #[test]
    fn times_are_written_as_people_type_them() {
        assert_eq!([0, 250, 5_400_000].map(span), ["0s", "250ms", "1h30m"]);
    }

    #[test]
    fn ages_have_one_unit() {
        let shown =
            [0, 1, 119, 120, 7_199, 7_200, 172_800, 8_640_000].map(|seconds| long(seconds * 1000));
        let expected = [
            "0 seconds",
            "1 second",
            "119 seconds",
            "2 minutes",
            "119 minutes",
            "2 hours",
            "2 days",
            "100 days",
        ];
        assert_eq!(shown, expected);
        assert_eq!(long(900), "0 seconds");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "slab")), ["0 slabs", "1 slab", "2 slabs"]);
        assert_eq!([1, 2].map(|number| count(number, "process")), ["1 process", "2 processes"]);
        assert_eq!(count(12_345, "lease"), "12,345 leases");
        assert_eq!([thousands(0), thousands(1_000_000)], ["0", "1,000,000"]);
        assert_eq!((ratio(3, 2), ratio(1, 0)), (Some(1.5), None));
    }
}
