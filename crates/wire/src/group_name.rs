//! Names of groups, which are names of folders as well.

use std::fmt;
use std::str::FromStr;

use crate::{TensorName, caps};

/// What the names of groups that nobody named begin with.
pub const ANONYMOUS_PREFIX: &str = "run-";

/// The name of a group, such as `team-a`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(String);

/// Why this names no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "group '{0}': a name has 1 to {max} letters, digits, '.', '_' or '-', and does not begin with \
     '.' or '-'; 'pond' is reserved",
    max = caps::GROUP_NAME_BYTES
)]
pub struct GroupNameError(String);

impl GroupName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`GroupNameError`].
    pub fn new(text: impl Into<String>) -> Result<Self, GroupNameError> {
        let text = text.into();
        let fits = (1..=caps::GROUP_NAME_BYTES).contains(&text.len())
            && !text.starts_with(['.', '-'])
            && text != millpond_ledger::POND
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if fits {
            Ok(Self(text))
        } else {
            Err(GroupNameError(text.escape_debug().take(caps::GROUP_NAME_BYTES).collect()))
        }
    }

    /// The name of a group that nobody named.
    #[must_use]
    pub fn anonymous(number: u64) -> Self {
        Self(format!("{ANONYMOUS_PREFIX}{number}"))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As an event carries it: every name of a group is one of a tensor as well.
    #[must_use]
    pub fn for_event(&self) -> Option<TensorName> {
        TensorName::new(self.0.as_str()).ok()
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

impl FromStr for GroupName {
    type Err = GroupNameError;

    fn from_str(text: &str) -> Result<Self, GroupNameError> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_as_a_folder_an_argument_and_an_event() {
        for good in ["a", "team-a", "run-1", "2026.11_x", &"x".repeat(64)] {
            let name = GroupName::new(good).unwrap();
            assert_eq!(name.to_string(), good);
            assert_eq!(name.for_event().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".x", "-x", "a/b", "a b", "ä", "a\0", "pond", &"x".repeat(65)] {
            assert!(GroupName::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(GroupName::anonymous(7).as_str(), "run-7");
    }
}
