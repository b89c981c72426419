//! What a cell says.

use std::borrow::Cow;
use std::cmp::Ordering;

use millpond_view::units;

/// A cell; of two in one column one can be said to be larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none.
    None,
    Text(Cow<'a, str>),
    Bytes(u64),
    Count(u64),
    /// A number that counts nothing: that of a process.
    Number(u64),
    /// When something began.
    Since(u64),
    /// The time of day of something.
    At(u64),
    /// So much of so much.
    Bar {
        used: u64,
        limit: Option<u64>,
    },
}

impl<'a> Value<'a> {
    pub fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub fn owned(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }

    /// The number of a process, if it has one here.
    pub fn pid(pid: Option<u32>) -> Self {
        pid.map_or(Self::None, |pid| Self::Number(u64::from(pid)))
    }

    /// As people read it; a bar is drawn.
    pub fn shown(&self, now_unix_ms: u64) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed("-"),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Bytes(bytes) => Cow::Owned(units::bytes(*bytes)),
            Self::Count(count) => Cow::Owned(units::thousands(*count)),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Since(unix_ms) => Cow::Owned(short_age(now_unix_ms.saturating_sub(*unix_ms))),
            Self::At(unix_ms) => Cow::Owned(time_of_day(*unix_ms)),
            Self::Bar { used, limit } => Cow::Owned(match limit {
                Some(limit) => format!("{} of {}", units::bytes(*used), units::bytes(*limit)),
                None => units::bytes(*used),
            }),
        }
    }

    /// How they are sorted: what is not there is least.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Bytes(one), Self::Bytes(two))
            | (Self::Count(one), Self::Count(two))
            | (Self::Number(one), Self::Number(two))
            | (Self::At(one), Self::At(two)) => one.cmp(two),
            // What began last is the youngest.
            (Self::Since(one), Self::Since(two)) => two.cmp(one),
            (Self::Bar { used: one, limit: of_one }, Self::Bar { used: two, limit: of_two }) => {
                // Cross-wise, so that nothing is lost. One without a limit is not full at all.
                let full = |limit: Option<u64>| u128::from(limit.unwrap_or(1).max(1));
                let left = u128::from(*one) * full(*of_two);
                let by_part = left.cmp(&(u128::from(*two) * full(*of_one)));
                of_one.is_some().cmp(&of_two.is_some()).then(by_part).then(one.cmp(two))
            }
            (one, two) => one.place().cmp(&two.place()),
        }
    }

    /// The order of what cannot be compared.
    const fn place(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Text(_) => 1,
            Self::Bytes(_) | Self::Bar { .. } => 2,
            Self::Count(_) | Self::Number(_) => 3,
            Self::Since(_) | Self::At(_) => 4,
        }
    }
}

/// A time with one short unit: `59s`, `3h`.
pub fn short_age(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The time of day in UTC: what a machine's logs have.
fn time_of_day(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_for_people() {
        for (value, shown) in [
            (Value::None, "-"),
            (Value::Bytes(3 << 30), "3 GiB"),
            (Value::Count(12_345), "12,345"),
            (Value::Since(1_000), "59s"),
            (Value::At(86_400_000 + 3_661_000), "01:01:01"),
            (Value::Bar { used: 1 << 30, limit: Some(2 << 30) }, "1 GiB of 2 GiB"),
        ] {
            assert_eq!(value.shown(60_000), shown);
        }
        let ages = [0, 119_000, 120_000, 7_200_000, 172_800_000].map(short_age);
        assert_eq!(ages, ["0s", "119s", "2m", "2h", "2d"]);
    }

    #[test]
    fn the_fuller_bar_is_the_larger_one() {
        let bar = |used, limit| Value::Bar { used, limit };
        assert_eq!(bar(1, Some(2)).order(&bar(10, Some(100))), Ordering::Greater);
        assert_eq!(bar(u64::MAX, None).order(&bar(1, Some(1))), Ordering::Less);
        assert_eq!(bar(1, None).order(&bar(2, None)), Ordering::Less);
        assert_eq!(Value::None.order(&Value::Bytes(0)), Ordering::Less);
    }
}
