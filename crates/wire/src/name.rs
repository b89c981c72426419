//! Tensor names: path-like, one's own unless they say otherwise.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use crate::{caps, characters};

/// The scope that belongs to everybody of a tenant.
pub const PUBLIC_PREFIX: &str = "public/";

/// A checked name such as `acts/x` or `public/llama/wte`, without an owner.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorName(String);

/// A name as a person writes it: bare, or with its owner as in `~1000/acts/x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorRef {
    /// The owner's user id; `None` means one's own, and everybody's where the name says `public/`.
    pub user: Option<u32>,
    /// The name inside the owner's scope.
    pub name: TensorName,
}

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a tensor name cannot be empty")]
    Empty,
    #[error("a tensor name of {0} bytes is too long; at most {max}", max = caps::NAME_BYTES)]
    TooLong(usize),
    /// A character that nobody sees, or that changes how others are seen.
    #[error("tensor name '{name}': {what} is not allowed: U+{code:04X} at character {place}")]
    Character {
        /// The name, made printable.
        name: String,
        what: &'static str,
        code: u32,
        /// From 1 on.
        place: usize,
    },
    /// The same letters can be written in another way, which would be another name.
    #[error("tensor name '{name}' is not in Unicode's normal form NFC, which is '{normal}'")]
    NotNormal { name: String, normal: String },
    /// Something that would not be safe or readable in a path, a shell or a log.
    #[error("tensor name '{name}': {reason}")]
    Malformed {
        /// The name, made printable.
        name: String,
        reason: &'static str,
    },
}

impl TensorName {
    /// Checks a new name: parts between slashes are not empty, not `.` or `..`, and in NFC, without
    /// white space and without [characters](crate::characters) that nobody sees.
    ///
    /// # Errors
    /// [`NameError`] that says what is wrong.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let name = Self::known(text)?;
        let text = name.as_str();
        if text.is_ascii() {
            return Ok(name);
        }
        let flaws = text.chars().enumerate();
        let mut flaws = flaws.filter_map(|(at, it)| Some((at, it, characters::flaw(it)?)));
        if let Some((at, character, what)) = flaws.next() {
            return Err(not_allowed(text, at, character, what));
        }
        if !unicode_normalization::is_nfc(text) {
            let name = text.chars().flat_map(char::escape_debug).collect();
            return Err(NameError::NotNormal { name, normal: text.nfc().collect() });
        }
        Ok(name)
    }

    /// Checks a name that may be older than the rules for new ones: of something that is there, or
    /// is looked for.
    ///
    /// # Errors
    /// [`NameError`] that says what is wrong.
    pub fn known(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > caps::NAME_BYTES {
            return Err(NameError::TooLong(text.len()));
        }
        let malformed =
            |reason| Err(NameError::Malformed { name: text.escape_debug().collect(), reason });
        let is_bad = |character: char| character.is_control() || character.is_whitespace();
        if let Some((at, bad)) = text.chars().enumerate().find(|(_, it)| is_bad(*it)) {
            let what = characters::flaw(bad).unwrap_or("white space");
            return Err(not_allowed(&text, at, bad, what));
        }
        if text.starts_with(['~', '-']) {
            return malformed("it cannot begin with '~' or '-'");
        }
        if text.starts_with('/') {
            return malformed("it must not begin with '/'");
        }
        if text.ends_with('/') {
            return malformed("it must not end with '/'");
        }
        if text.split('/').any(str::is_empty) {
            return malformed("there is nothing between two slashes");
        }
        if text.split('/').any(|part| part == "." || part == "..") {
            return malformed("'.' and '..' are not allowed as parts of a name");
        }
        Ok(Self(text))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it lies in the scope that belongs to everybody.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.0.starts_with(PUBLIC_PREFIX)
    }

    /// The same name under `public/`, where it fits: another name, for hints.
    #[must_use]
    pub fn in_public(&self) -> Option<TensorName> {
        (!self.is_public())
            .then(|| TensorName::known(format!("{PUBLIC_PREFIX}{}", self.0)).ok())
            .flatten()
    }
}

fn not_allowed(text: &str, at: usize, character: char, what: &'static str) -> NameError {
    let name = characters::shown(text).into_owned();
    NameError::Character { name, what, code: character.into(), place: at + 1 }
}

impl fmt::Display for TensorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for TensorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", characters::shown(&self.0))
    }
}

impl FromStr for TensorName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl fmt::Display for TensorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.user {
            Some(user) => f.pad(&format!("~{user}/{}", self.name)),
            None => self.name.fmt(f),
        }
    }
}

impl FromStr for TensorRef {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let Some(rest) = text.strip_prefix('~') else {
            return Ok(Self { user: None, name: TensorName::known(text)? });
        };
        let malformed =
            |reason| NameError::Malformed { name: text.escape_debug().collect(), reason };
        let (user, name) =
            rest.split_once('/').ok_or_else(|| malformed("after '~user' comes '/name'"))?;
        let user = user.parse().map_err(|_| malformed("the part after '~' is not a user id"))?;
        Ok(Self { user: Some(user), name: TensorName::known(name)? })
    }
}

impl From<TensorName> for TensorRef {
    fn from(name: TensorName) -> Self {
        Self { user: None, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_of_printable_segments() {
        for good in ["x", "acts/x", "public/a.b-c_d", "модель/слой"] {
            assert_eq!(TensorName::new(good).unwrap().as_str(), good);
        }
        for bad in [
            "", "/x", "x/", "a//b", "a b", "a\nb", "a\u{7}b", ".", "..", "a/./b", "a/../b", "~x",
            "-x",
        ] {
            assert!(TensorName::new(bad).is_err(), "{bad:?}");
        }
        assert!(TensorName::new("x".repeat(255)).is_ok());
        assert!(matches!(TensorName::new("x".repeat(256)), Err(NameError::TooLong(256))));
    }

    #[test]
    fn what_is_not_seen_is_in_no_new_name_and_is_named_by_its_number() {
        for (text, part) in [
            ("abc\u{202e}d", "a formatting character is not allowed: U+202E at character 4"),
            ("x\u{200b}", "U+200B at character 2"),
            ("\u{feff}x", "U+FEFF at character 1"),
            ("llama\u{ad}", "U+00AD at character 6"),
            ("a/\u{e0041}", "U+E0041 at character 3"),
            ("слой\u{fe0f}", "a character that is not seen is not allowed: U+FE0F at character 5"),
            ("a\u{9b}", "a control character is not allowed: U+009B at character 2"),
            ("a b", "white space is not allowed: U+0020 at character 2"),
            ("e\u{301}t", "not in Unicode's normal form NFC, which is '\u{e9}t'"),
        ] {
            let error = TensorName::new(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
            assert!(!error.chars().any(|it| characters::flaw(it).is_some()), "{error:?}");
        }
        // What older daemons let through can be found, and deleted.
        assert!(TensorName::known("x\u{200b}").is_ok() && TensorName::known("a b").is_err());
        assert!("~1/x\u{200b}".parse::<TensorRef>().is_ok());
    }

    proptest::proptest! {
        #[test]
        fn two_new_names_that_look_alike_are_one(text in "\\PC{0,12}|.{0,12}") {
            if let Ok(name) = TensorName::new(text.as_str()) {
                proptest::prop_assert!(TensorName::known(text.as_str()).is_ok());
                let text = name.as_str();
                proptest::prop_assert!(text.chars().all(|it| characters::flaw(it).is_none()));
                proptest::prop_assert_eq!(text.nfc().collect::<String>(), text);
                // Whatever is added that nobody sees makes no other name.
                for unseen in ['\u{200b}', '\u{ad}', '\u{202e}', '\u{e0020}', '\u{fe0f}'] {
                    for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                        let mut other = text.to_owned();
                        other.insert(at, unseen);
                        proptest::prop_assert!(TensorName::new(other).is_err());
                    }
                }
            }
        }
    }

    #[test]
    fn an_owner_may_be_named() {
        let reference: TensorRef = "~1000/acts/x".parse().unwrap();
        assert_eq!((reference.user, reference.name.as_str()), (Some(1000), "acts/x"));
        assert_eq!(reference.to_string(), "~1000/acts/x");
        assert!("~alice/x".parse::<TensorRef>().is_err());
        assert!("~1000".parse::<TensorRef>().is_err());
        assert_eq!("x".parse::<TensorRef>().unwrap().user, None);
    }

    #[test]
    fn public_names() {
        assert_eq!(TensorName::new("x").unwrap().in_public().unwrap().as_str(), "public/x");
        assert!(TensorName::new("public/x").unwrap().in_public().is_none());
    }
}
