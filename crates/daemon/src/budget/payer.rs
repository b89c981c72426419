//! Who pays for a user's memory.

use std::collections::BTreeMap;

use millpond_wire::GroupName;

/// Who pays for memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Payer {
    /// A user for whom no group pays.
    User(u32),
    /// A group, out of the limit that it shares with its processes.
    Group(GroupName),
}

/// The group that pays for each user; all other users pay for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payers(BTreeMap<u32, GroupName>);

impl Payers {
    /// The payer of this user's memory.
    #[must_use]
    pub fn of(&self, user: u32) -> Payer {
        self.0.get(&user).map_or(Payer::User(user), |group| Payer::Group(group.clone()))
    }

    /// Whether a group pays for this user.
    #[must_use]
    pub fn is_charged(&self, user: u32) -> bool {
        self.0.contains_key(&user)
    }

    /// The users that a group pays for.
    pub fn users_of<'a>(&'a self, group: &'a GroupName) -> impl Iterator<Item = u32> + 'a {
        self.0.iter().filter(move |(_, payer)| *payer == group).map(|(user, _)| *user)
    }
}

impl FromIterator<(u32, GroupName)> for Payers {
    fn from_iter<T: IntoIterator<Item = (u32, GroupName)>>(payers: T) -> Self {
        Self(payers.into_iter().collect())
    }
}
