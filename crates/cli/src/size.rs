//! Limits as people write them. What is a size is the ledger's to say, because the preloaded
//! library reads the same texts.

use std::fmt;
use std::str::FromStr;

use millpond_wire::message::GroupLimit;

use crate::units;

/// A size: `10G`, `2G`, or `50%` of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(millpond_ledger::Size);

impl Size {
    /// As a limit of a group.
    pub fn limit(self) -> GroupLimit {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => GroupLimit::Bytes(bytes),
            millpond_ledger::Size::Part(thousandths) => GroupLimit::Part(thousandths),
        }
    }

    /// On a card of that size.
    pub fn on_card(self, card_bytes: u64) -> u64 {
        self.0.of(card_bytes)
    }

    /// As the preloaded library reads it.
    pub fn text(self) -> String {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => bytes.to_string(),
            millpond_ledger::Size::Part(thousandths) => {
                format!("{}.{}%", thousandths / 10, thousandths % 10)
            }
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = millpond_ledger::parse_size(text.as_bytes());
        size.map(Self).map_err(|error| format!("'{text}' is {error}"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => f.pad(&units::bytes(bytes)),
            millpond_ledger::Size::Part(_) => f.pad(self.text().replace(".0%", "%").as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_one_meaning_in_every_spelling() {
        for text in ["10G", "10g", "10GB", "10GiB", "10gb", "10240M", "10737418240"] {
            let size: Size = text.parse().unwrap();
            assert_eq!(size.limit(), GroupLimit::Bytes(10 << 30), "{text}");
            assert_eq!(size.text(), "10737418240", "{text}");
        }
        let half: Size = "50%".parse().unwrap();
        assert_eq!(half.limit(), GroupLimit::Part(500));
        assert_eq!((half.on_card(141 << 30), half.to_string()), (141 << 29, "50%".to_owned()));
        assert_eq!(half.text().parse(), Ok(half));
        let odd: Size = "12.5%".parse().unwrap();
        assert_eq!((odd.to_string(), odd.text().parse()), ("12.5%".to_owned(), Ok(odd)));
    }

    #[test]
    fn what_is_no_limit_says_why() {
        let why = |text: &str| text.parse::<Size>().unwrap_err();
        for (text, part) in [
            ("0", "zero"),
            ("0G", "zero"),
            ("0%", "zero"),
            ("-1", "negative"),
            ("-10G", "negative"),
            ("0.5", "0.5G"),
            ("", "empty"),
            ("ten", "not a size"),
            ("10X", "unit"),
            ("10 Gigs", "unit"),
            ("101%", "over 100%"),
            ("99999999999999999999G", "larger"),
        ] {
            assert!(why(text).contains(part), "{text}: {}", why(text));
        }
    }

    /// Settings such as `capacity` are read by the keeper, which must not need the ledger.
    #[test]
    fn settings_and_limits_agree_about_sizes() {
        for text in ["17", "1K", "1kb", "512MiB", "2.5GB", "10 gib", "1Ti", "0.1K"] {
            let setting: u64 = text.parse::<units::ByteSize>().unwrap().0;
            assert_eq!(text.parse::<Size>().unwrap().on_card(0), setting, "{text}");
        }
    }
}
