//! Sizes as people write and read them.
//!
//! `K`, `M`, `G`, `T`, `P`, `E`, also written `KB` and `KiB` and so on, are powers of 1024, as GPU
//! tools count and as limits are read. Case does not matter.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes, written as `1073741824`, `1G`, `1 GiB` or `1.5GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ByteSize(pub u64);

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ByteSizeError {
    /// It does not start with a number.
    #[error("'{0}' is not a size; write it like `512MiB`, `10G` or a number of bytes")]
    NotANumber(String),
    /// The unit is unknown.
    #[error(
        "'{unit}' in '{text}' is not a unit; use K, M, G or T, also as KB or KiB: powers of 1024"
    )]
    Unit {
        /// The whole text.
        text: String,
        /// Its end.
        unit: String,
    },
    /// More than 64 bits can count.
    #[error("'{0}' is too large")]
    TooLarge(String),
}

/// Digits of a fraction that are looked at; more cannot change a 64-bit result.
const FRACTION_DIGITS: usize = 18;

fn unit_bytes(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let Some(prefix) = unit.chars().next().filter(|first| *first != 'b') else {
        return (unit.is_empty() || unit == "b").then_some(1);
    };
    let power = match prefix {
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        'e' => 6,
        _ => return None,
    };
    match &unit[1..] {
        "" | "b" | "i" | "ib" => Some(1024u64.pow(power)),
        _ => None,
    }
}

impl FromStr for ByteSize {
    type Err = ByteSizeError;

    fn from_str(text: &str) -> Result<ByteSize, ByteSizeError> {
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let not_a_number = || ByteSizeError::NotANumber(text.to_owned());
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err(not_a_number());
        }
        let unit = unit.trim_start();
        let unit_bytes = unit_bytes(unit)
            .ok_or_else(|| ByteSizeError::Unit { text: text.to_owned(), unit: unit.to_owned() })?;
        let too_large = || ByteSizeError::TooLarge(text.to_owned());
        let whole: u64 = whole.parse().map_err(|_| too_large())?;
        let fraction = &fraction[..fraction.len().min(FRACTION_DIGITS)];
        let parts: u128 = fraction.parse().map_err(|_| not_a_number())?;
        let scale = (0..fraction.len()).fold(1u128, |scale, _| scale * 10);
        let bytes =
            u128::from(whole) * u128::from(unit_bytes) + parts * u128::from(unit_bytes) / scale;
        u64::try_from(bytes).map(ByteSize).map_err(|_| too_large())
    }
}

impl TryFrom<String> for ByteSize {
    type Error = ByteSizeError;

    fn try_from(text: String) -> Result<ByteSize, ByteSizeError> {
        text.parse()
    }
}

impl From<ByteSize> for String {
    /// Exact: the plain number of bytes.
    fn from(size: ByteSize) -> String {
        size.0.to_string()
    }
}

impl fmt::Display for ByteSize {
    /// For people: see [`format_bytes`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_bytes(self.0))
    }
}

/// A size for people, with at most one decimal: `1.5 GiB`.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_are_read_as_documented() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("1K", 1024),
            ("512MiB", 512 << 20),
            ("10G", 10 << 30),
            ("10 gib", 10 << 30),
            ("1Gi", 1 << 30),
            ("1T", 1 << 40),
            ("1KB", 1024),
            ("2.5GB", 5 << 29),
            ("1.5G", 3 << 29),
            ("0.1K", 102),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_named() {
        for text in ["", "G", "-1", "x1", ".5G", "1.G", "1.2.3", "1 000", "1e9"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
        let unit = "10 Gigs".parse::<ByteSize>().unwrap_err().to_string();
        assert!(unit.starts_with("'Gigs' in '10 Gigs' is not a unit"), "{unit}");
        let large = "99999999T".parse::<ByteSize>().unwrap_err().to_string();
        assert_eq!(large, "'99999999T' is too large");
    }

    #[test]
    fn sizes_are_written_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1 MiB"),
            (3 << 29, "1.5 GiB"),
            (141 << 30, "141 GiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9.]{0,30}[ -~]{0,5}|\\PC{0,20}") {
            let _ = text.parse::<ByteSize>();
        }

        #[test]
        fn saved_sizes_are_exact(bytes: u64) {
            prop_assert_eq!(String::from(ByteSize(bytes)).parse(), Ok(ByteSize(bytes)));
        }

        #[test]
        fn shown_sizes_are_near(bytes: u64, shift in 1u32..64) {
            let bytes = bytes >> shift;
            let shown = format_bytes(bytes);
            let read = shown.parse::<ByteSize>().unwrap().0;
            prop_assert!(read.abs_diff(bytes) <= bytes / 20 + 1, "{} {}", shown, bytes);
        }
    }
}
