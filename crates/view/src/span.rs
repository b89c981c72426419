//! Times as people write them.

use std::str::FromStr;
use std::time::Duration;

/// A time, written as `90s`, `10m`, `1h30m`, `250ms` or `2d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl Span {
    /// In milliseconds, as it travels.
    #[must_use]
    pub fn ms(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

const FORMS: &str = "write 90s, 10m, 1h30m or 250ms";

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a time; {FORMS}");
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("'{text}' has no unit; write {text}s for seconds"));
        }
        let (mut rest, mut total, mut last) = (text, 0u64, u64::MAX);
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, after) = after.split_at(letters);
            let unit = match unit {
                "ms" => 1,
                "s" => 1000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(wrong()),
            };
            // From large to small, each once.
            if unit >= last {
                return Err(wrong());
            }
            let number: u64 = number.parse().map_err(|_| wrong())?;
            let more = number.checked_mul(unit).and_then(|more| total.checked_add(more));
            total = more.ok_or_else(|| format!("'{text}' is too long a time"))?;
            (rest, last) = (after, unit);
        }
        if last == u64::MAX {
            return Err(wrong());
        }
        Ok(Self(Duration::from_millis(total)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_from_large_to_small() {
        let ms = |text: &str| text.parse::<Span>().map(Span::ms);
        let texts = ["90s", "10m", "1h30m", "250ms", "2d", "1m500ms", "0s"];
        let expected = [90_000, 600_000, 5_400_000, 250, 172_800_000, 60_500, 0];
        for (text, expected) in texts.into_iter().zip(expected) {
            assert_eq!(ms(text), Ok(expected));
            let canonical = crate::units::span(expected);
            assert_eq!(ms(&canonical), Ok(expected), "{canonical}");
        }
        assert_eq!(ms("10").unwrap_err(), "'10' has no unit; write 10s for seconds");
        for text in ["", "s", "10x", "1m1h", "1s1s", "-1s", "1.5h", "1h30", "99999999999999999999s"]
        {
            assert!(ms(text).is_err(), "{text}");
        }
    }
}
