//! Names of users, remembered: each would be another look into a file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use millpond_view::users;

/// A user who is added or renamed shows after this time.
const KEPT: Duration = Duration::from_secs(60);
/// Beyond so many users names are looked up again: nobody's memory grows with the machine's users.
const MOST: usize = 4096;

/// Names of users.
#[derive(Debug)]
pub struct Names {
    known: BTreeMap<u32, Option<String>>,
    since: Instant,
}

impl Default for Names {
    fn default() -> Self {
        Self { known: BTreeMap::new(), since: Instant::now() }
    }
}

impl Names {
    /// The name of a user, if the machine knows one.
    pub fn of(&mut self, user: u32) -> Option<String> {
        self.of_by(user, users::user_name)
    }

    /// Forgets what was looked up too long ago.
    pub(crate) fn refresh(&mut self) {
        if self.since.elapsed() > KEPT || self.known.len() > MOST {
            *self = Self::default();
        }
    }

    fn of_by(&mut self, user: u32, find: impl FnOnce(u32) -> Option<String>) -> Option<String> {
        match self.known.entry(user) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(free) => free.insert(find(user)).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_once() {
        let mut names = Names::default();
        assert_eq!(names.of_by(7, |_| Some("alice".into())).as_deref(), Some("alice"));
        assert_eq!(names.of_by(7, |_| panic!("a second look")).as_deref(), Some("alice"));
        assert_eq!(names.of_by(8, |_| None), None);
        assert_eq!(names.of_by(8, |_| panic!("a second look")), None);
    }
}
