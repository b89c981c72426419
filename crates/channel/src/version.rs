//! Which versions of a channel a program speaks.
//!
//! Keeper and daemon of one pond may be of different programs after an upgrade. So a program says the
//! range that it speaks, and the newest that both sides have is used.

use std::fmt;

use crate::ChannelError;

/// A range of versions, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    pub oldest: u32,
    pub newest: u32,
}

impl Versions {
    #[must_use]
    pub const fn only(version: u32) -> Versions {
        Versions { oldest: version, newest: version }
    }

    /// The newest version that both ranges have.
    #[must_use]
    pub fn common(self, other: Versions) -> Option<u32> {
        let newest = self.newest.min(other.newest);
        (newest >= self.oldest && newest >= other.oldest).then_some(newest)
    }

    /// The version that a peer has named, if it is one of these.
    ///
    /// # Errors
    /// [`ChannelError::Version`].
    pub fn check(self, theirs: u32) -> Result<u32, ChannelError> {
        let known = (self.oldest..=self.newest).contains(&theirs);
        if known { Ok(theirs) } else { Err(ChannelError::Version { theirs, ours: self }) }
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.oldest == self.newest {
            write!(f, "{}", self.newest)
        } else {
            write!(f, "{} to {}", self.oldest, self.newest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_both_is_spoken() {
        let range = |oldest, newest| Versions { oldest, newest };
        assert_eq!(range(1, 3).common(range(2, 5)), Some(3));
        assert_eq!(range(2, 5).common(range(1, 3)), Some(3));
        assert_eq!(range(1, 1).common(range(1, 2)), Some(1));
        assert_eq!(range(1, 2).common(range(3, 4)), None);
        assert_eq!(range(3, 4).common(range(1, 2)), None);
    }

    #[test]
    fn another_version_is_refused_with_both_numbers() {
        let ours = Versions { oldest: 1, newest: 2 };
        assert_eq!(ours.check(2).unwrap(), 2);
        let said = ours.check(3).unwrap_err().to_string();
        assert_eq!(said, "the other end speaks version 3 of the channel, this program 1 to 2");
        assert!(Versions::only(4).check(3).unwrap_err().to_string().ends_with("this program 4"));
    }
}
