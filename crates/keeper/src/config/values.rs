//! The types of settings that are more than a number or a text.

use std::fmt;
use std::str::FromStr;

use millpond_view::size::{ByteSize, SizeError};
use millpond_wire::GpuUuid;
use serde::{Deserialize, Serialize};

/// How much of a GPU's memory the pond may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Capacity {
    /// So many bytes: `100G`.
    Bytes(u64),
    /// A share of the card: `0.9` or `90%`.
    Fraction(Share),
}

/// A share above 0 and up to 1, in millionths, so that it can be compared and saved exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

const WHOLE: u32 = 1_000_000;

impl Share {
    /// A share in percent, 1 to 100.
    #[must_use]
    pub const fn percent(percent: u8) -> Option<Share> {
        match percent {
            1..=100 => Some(Share(percent as u32 * (WHOLE / 100))),
            _ => None,
        }
    }

    /// In millionths, 1 to 1,000,000.
    #[must_use]
    pub fn millionths(self) -> u32 {
        self.0
    }
}

/// Why a text is no capacity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// A share that is none.
    #[error("'{0}' is not a share above 0 and up to 1 (or 100%)")]
    Share(String),
    #[error("a capacity must be more than 0 bytes")]
    Zero,
    #[error(transparent)]
    Size(#[from] SizeError),
}

impl Capacity {
    /// The capacity of a card with `total` bytes, never more than it has.
    #[must_use]
    pub fn of(self, total: u64) -> u64 {
        match self {
            Capacity::Bytes(bytes) => bytes.min(total),
            Capacity::Fraction(share) => {
                let bytes = u128::from(total) * u128::from(share.0) / u128::from(WHOLE);
                u64::try_from(bytes).unwrap_or(total)
            }
        }
    }
}

impl FromStr for Capacity {
    type Err = CapacityError;

    /// A percent sign, or a number with a point and no unit, is a share; the rest are bytes.
    fn from_str(text: &str) -> Result<Capacity, CapacityError> {
        let trimmed = text.trim();
        let bare_number = trimmed.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let (number, per) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100.0),
            None if bare_number && trimmed.contains('.') => (trimmed, 1.0),
            None => {
                return match trimmed.parse::<ByteSize>()? {
                    ByteSize(0) => Err(CapacityError::Zero),
                    ByteSize(bytes) => Ok(Capacity::Bytes(bytes)),
                };
            }
        };
        let refuse = || CapacityError::Share(text.to_owned());
        let share = number.parse::<f64>().map_err(|_| refuse())? / per;
        if !(share > 0.0 && share <= 1.0) {
            return Err(refuse());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..=1")]
        let millionths = (share * f64::from(WHOLE)).round() as u32;
        if millionths == 0 { Err(refuse()) } else { Ok(Capacity::Fraction(Share(millionths))) }
    }
}

impl fmt::Display for Capacity {
    /// Exact, so that it can be read back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Bytes(bytes) => write!(f, "{bytes}"),
            Capacity::Fraction(share) => {
                let (whole, rest) = (share.0 / (WHOLE / 100), share.0 % (WHOLE / 100));
                let decimals = format!(".{rest:04}");
                write!(f, "{whole}{}%", decimals.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

/// One GPU as an operator names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    Uuid(GpuUuid),
    /// By the driver's index at the time of the start.
    Index(u32),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        if let Ok(index) = text.parse() {
            return Ok(DeviceChoice::Index(index));
        }
        text.parse()
            .map(DeviceChoice::Uuid)
            .map_err(|_| format!("'{text}' is neither a GPU's UUID nor its index"))
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Uuid(uuid) => uuid.fmt(f),
            DeviceChoice::Index(index) => index.fmt(f),
        }
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<LogFormat, String> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            other => Err(format!("'{other}' is not a log format; use `text` or `json`")),
        }
    }
}

macro_rules! saved_as_text {
    ($($name:ident),*) => {$(
        impl TryFrom<String> for $name {
            type Error = <$name as FromStr>::Err;

            fn try_from(text: String) -> Result<$name, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    )*};
}
saved_as_text!(Capacity, DeviceChoice);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn capacities_are_shares_or_bytes() {
        let share = |millionths| Ok(Capacity::Fraction(Share(millionths)));
        assert_eq!("95%".parse(), share(950_000));
        assert_eq!("0.9".parse(), share(900_000));
        assert_eq!("33.3 %".parse(), share(333_000));
        assert_eq!("1.0".parse(), share(WHOLE));
        assert_eq!("100G".parse(), Ok(Capacity::Bytes(100 << 30)));
        assert_eq!("1.5G".parse(), Ok(Capacity::Bytes(3 << 29)));
        for text in ["0%", "101%", "1.1", "0.0", "0", "0.0000001", "-5%", "nan%", "%", "x", "."] {
            assert!(text.parse::<Capacity>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_capacity_is_never_more_than_the_card() {
        assert_eq!(Capacity::Bytes(7).of(5), 5);
        assert_eq!(Capacity::Fraction(Share(WHOLE)).of(u64::MAX), u64::MAX);
        assert_eq!("95%".parse::<Capacity>().unwrap().of(1000), 950);
        assert_eq!(Share::percent(95), Some(Share(950_000)));
        assert_eq!((Share::percent(0), Share::percent(101)), (None, None));
    }

    #[test]
    fn devices_are_uuids_or_indices() {
        assert_eq!("3".parse(), Ok(DeviceChoice::Index(3)));
        let uuid = GpuUuid([0x11; 16]);
        assert_eq!(uuid.to_string().parse(), Ok(DeviceChoice::Uuid(uuid)));
        assert!("GPU-1".parse::<DeviceChoice>().unwrap_err().contains("'GPU-1'"));
    }

    proptest! {
        #[test]
        fn saved_capacities_are_exact(bytes in 1u64.., millionths in 1..=WHOLE) {
            for value in [Capacity::Bytes(bytes), Capacity::Fraction(Share(millionths))] {
                prop_assert_eq!(value.to_string().parse(), Ok(value));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,20}") {
            let _ = text.parse::<Capacity>();
            let _ = text.parse::<DeviceChoice>();
        }
    }
}
