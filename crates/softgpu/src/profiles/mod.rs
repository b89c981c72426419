//! What a device claims to be. One file per model; all of it is data.

mod a100;
mod h200;
mod small;

use crate::readings::Readings;

/// What the name of every device ends with: nobody shall take it for a card.
pub const MARK: &str = " (software)";

/// Whether a device of this name is one of the software driver, linked in or as a library.
#[must_use]
pub fn is_software(name: &str) -> bool {
    name.ends_with(MARK)
}

/// The description of one GPU model.
#[derive(Debug)]
pub struct Profile {
    /// How the environment names it.
    pub key: &'static str,
    pub name: &'static str,
    /// Bytes on the real card: the most that a device of this model can have.
    pub total_bytes: u64,
    /// What an idle card of this model says.
    pub readings: Readings,
    /// `(attribute, value)` pairs, sorted by attribute.
    pub attributes: &'static [(u32, i32)],
}

/// Every profile there is; the first is the default.
pub const PROFILES: &[&Profile] = &[&h200::PROFILE, &a100::PROFILE, &small::PROFILE];

impl Profile {
    /// The profile with this key.
    #[must_use]
    pub fn find(key: &str) -> Option<&'static Profile> {
        PROFILES.iter().copied().find(|profile| profile.key == key)
    }

    /// The value of a device attribute, `None` for a number that the driver does not know.
    #[must_use]
    pub fn attribute(&self, attribute: u32) -> Option<i32> {
        self.attributes
            .binary_search_by_key(&attribute, |entry| entry.0)
            .ok()
            .and_then(|index| self.attributes.get(index))
            .map(|entry| entry.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_says_that_it_is_software() {
        for profile in PROFILES {
            assert!(profile.name.ends_with(MARK), "{}", profile.name);
        }
    }

    #[test]
    fn attributes_are_sorted_and_the_needed_ones_are_there() {
        for profile in PROFILES {
            assert!(
                profile.attributes.windows(2).all(|pair| pair[0].0 < pair[1].0),
                "{}",
                profile.key
            );
            for (attribute, value) in [(102, 1), (103, 1), (41, 1)] {
                assert_eq!(
                    profile.attribute(attribute),
                    Some(value),
                    "{} {attribute}",
                    profile.key
                );
            }
            assert!(profile.attribute(75).is_some() && profile.attribute(16).is_some());
            assert_eq!(profile.attribute(0), None);
            assert_eq!(profile.attribute(9999), None);
        }
    }
}
