//! Sizes as people write them. What a size is, is the ledger's to say: the preloaded library reads
//! the same texts, and is the one that can use nothing else.

use std::fmt;
use std::str::FromStr;

use millpond_ledger::{BadSize, parse_bytes, parse_size};
use millpond_wire::message::GroupLimit;
use serde::{Deserialize, Serialize};

use crate::units;

/// Why a text is no size; it names the text and what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is {why}")]
pub struct SizeError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub why: BadSize,
}

/// A number of bytes, written as `1073741824`, `1G`, `1 GiB` or `1.5GB`; zero is one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        match parse_bytes(text.as_bytes()) {
            Ok(bytes) => Ok(Self(bytes)),
            Err(BadSize::Zero) => Ok(Self(0)),
            Err(why) => Err(SizeError { text: text.to_owned(), why }),
        }
    }
}

impl TryFrom<String> for ByteSize {
    type Error = SizeError;

    fn try_from(text: String) -> Result<Self, SizeError> {
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
    /// For people: see [`units::bytes`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&units::bytes(self.0))
    }
}

/// A limit: `10G`, `2G`, or `50%` of a card; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(millpond_ledger::Size);

impl Size {
    /// As a limit of a group.
    #[must_use]
    pub fn limit(self) -> GroupLimit {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => GroupLimit::Bytes(bytes),
            millpond_ledger::Size::Permille(thousandths) => GroupLimit::Permille(thousandths),
        }
    }

    /// On a card of that size.
    #[must_use]
    pub fn on_card(self, card_bytes: u64) -> u64 {
        self.0.of(card_bytes)
    }

    /// As the preloaded library reads it.
    #[must_use]
    pub fn text(self) -> String {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => bytes.to_string(),
            millpond_ledger::Size::Permille(thousandths) => {
                format!("{}.{}%", thousandths / 10, thousandths % 10)
            }
        }
    }
}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let size = parse_size(text.as_bytes());
        size.map(Self).map_err(|why| SizeError { text: text.to_owned(), why })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            millpond_ledger::Size::Bytes(bytes) => f.pad(&units::bytes(bytes)),
            millpond_ledger::Size::Permille(_) => f.pad(self.text().replace(".0%", "%").as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_has_one_meaning_in_every_spelling() {
        for text in ["10G", "10g", "10GB", "10GiB", "10gb", "10240M", "10737418240"] {
            let size: Size = text.parse().unwrap();
            assert_eq!(size.limit(), GroupLimit::Bytes(10 << 30), "{text}");
            assert_eq!(size.text(), "10737418240", "{text}");
        }
        let half: Size = "50%".parse().unwrap();
        assert_eq!(half.limit(), GroupLimit::Permille(500));
        assert_eq!((half.on_card(141 << 30), half.to_string()), (141 << 29, "50%".to_owned()));
        assert_eq!(half.text().parse(), Ok(half));
        let odd: Size = "12.5%".parse().unwrap();
        assert_eq!((odd.to_string(), odd.text().parse()), ("12.5%".to_owned(), Ok(odd)));
    }

    #[test]
    fn what_is_no_limit_says_why() {
        let why = |text: &str| text.parse::<Size>().unwrap_err().to_string();
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
            let said = why(text);
            assert!(said.starts_with(&format!("'{text}' is ")) && said.contains(part), "{said}");
        }
        let percent = "50%".parse::<ByteSize>().unwrap_err().to_string();
        assert!(percent.starts_with("'50%' is ") && percent.contains("only bytes"), "{percent}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9.]{0,30}[ -~]{0,5}|\\PC{0,20}") {
            let _ = text.parse::<ByteSize>();
            let _ = text.parse::<Size>();
        }

        #[test]
        fn saved_sizes_are_exact(bytes: u64) {
            prop_assert_eq!(String::from(ByteSize(bytes)).parse(), Ok(ByteSize(bytes)));
        }

        #[test]
        fn shown_sizes_are_near(bytes: u64, shift in 1u32..64) {
            let bytes = bytes >> shift;
            let shown = units::bytes(bytes);
            let read = shown.parse::<ByteSize>().unwrap().0;
            prop_assert!(read.abs_diff(bytes) <= bytes / 20 + 1, "{} {}", shown, bytes);
        }
    }
}
