//! Names of groups, which are names of folders as well.

use std::fmt;
use std::str::FromStr;

use crate::{TensorName, caps};

/// What the names of groups that nobody named begin with.
pub const ANONYMOUS_PREFIX: &str = "run-";

/// What stands between the owner and the name in the name of a folder.
const OF: char = '~';

/// The name of a group: of the operator's, such as `team-a`, or of a user's, such as
/// `~1000/team-a`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupName(String);

/// Why this names no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "group '{0}': a name has 1 to {max} letters, digits, '.', '_' or '-', and does not begin with \
     '.' or '-'; 'pond' is reserved; another user's is written as `~1000/NAME`",
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
        let (user, bare) = split(&text, '/');
        let fits = (1..=caps::GROUP_NAME_BYTES).contains(&bare.len())
            && !bare.starts_with(['.', '-'])
            && bare != millpond_ledger::POND
            && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        // One user has one number.
        let is_user = |user: &str| user.parse::<u32>().is_ok_and(|it| it.to_string() == user);
        if fits && user.is_none_or(is_user) {
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

    /// The user whose it is; `None` for the operator's.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        split(&self.0, '/').0?.parse().ok()
    }

    /// The name without its owner.
    #[must_use]
    pub fn bare(&self) -> &str {
        split(&self.0, '/').1
    }

    /// The group of that name of a user, or of the operator.
    #[must_use]
    pub fn of(&self, user: Option<u32>) -> Self {
        let bare = self.bare();
        Self(user.map_or_else(|| bare.to_owned(), |user| format!("~{user}/{bare}")))
    }

    /// The name of its folder: `team-a` or `~1000~team-a`.
    #[must_use]
    pub fn folder(&self) -> String {
        match self.user() {
            Some(user) => format!("~{user}{OF}{}", self.bare()),
            None => self.0.clone(),
        }
    }

    /// The group that a folder of this name is.
    #[must_use]
    pub fn of_folder(folder: &str) -> Option<Self> {
        match split(folder, OF) {
            (Some(user), bare) => Self::new(format!("~{user}/{bare}")).ok(),
            (None, bare) => Self::new(bare).ok().filter(|name| name.user().is_none()),
        }
    }

    /// As an event carries it, without its owner: every such name is one of a tensor as well.
    #[must_use]
    pub fn for_event(&self) -> Option<TensorName> {
        TensorName::new(self.bare()).ok()
    }
}

/// The owner, where one is written, and the name.
fn split(text: &str, at: char) -> (Option<&str>, &str) {
    let owned = text.strip_prefix('~').and_then(|rest| rest.split_once(at));
    owned.map_or((None, text), |(user, name)| (Some(user), name))
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

    #[test]
    fn a_users_group_has_a_name_and_a_folder_of_its_own() {
        let bare = GroupName::new("team-a").unwrap();
        let theirs = GroupName::new("~1000/team-a").unwrap();
        assert_eq!((theirs.user(), theirs.bare()), (Some(1000), "team-a"));
        assert_eq!((bare.of(Some(1000)), theirs.of(None)), (theirs.clone(), bare.clone()));
        assert_eq!(theirs.for_event(), bare.for_event());
        for (name, folder) in [(bare, "team-a"), (theirs, "~1000~team-a")] {
            assert_eq!(name.folder(), folder);
            assert_eq!(GroupName::of_folder(folder), Some(name));
        }
        for bad in ["~1000", "~/a", "~x/a", "~01/a", "~+1/a", "~1/", "~1/.x", "~1/a/b", "~1/pond"] {
            assert!(GroupName::new(bad).is_err(), "{bad:?}");
        }
        for bad in ["~1000/a", "~1~a~b", "~1", "~~a", ".new-~1~a"] {
            assert_eq!(GroupName::of_folder(bad), None, "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_name_is_that_of_one_folder(text in "(~[0-9]{0,11}/)?[a-z~./-]{0,6}") {
            if let Ok(name) = GroupName::new(text) {
                proptest::prop_assert!(!name.folder().contains('/'));
                proptest::prop_assert_eq!(GroupName::of_folder(&name.folder()), Some(name));
            }
        }
    }
}
