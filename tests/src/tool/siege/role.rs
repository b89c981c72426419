//! Who is killed, and how often.

use std::fmt;

use super::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Worker,
    Daemon,
    Keeper,
    Mover,
}

impl Role {
    pub(super) const ALL: [Role; 4] = [Role::Worker, Role::Daemon, Role::Keeper, Role::Mover];

    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Daemon => "daemon",
            Role::Keeper => "keeper",
            Role::Mover => "mover",
        }
    }

    /// Its part of all kills.
    fn weight(self) -> usize {
        match self {
            Role::Worker => 40,
            Role::Daemon => 24,
            Role::Keeper => 16,
            Role::Mover => 20,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// So many kills of these roles, in random order.
pub(super) fn bag(roles: &[Role], kills: usize, rng: &mut Rng) -> Vec<Role> {
    let all: usize = roles.iter().map(|role| role.weight()).sum();
    let mut bag: Vec<Role> = roles
        .iter()
        .flat_map(|role| std::iter::repeat_n(*role, kills * role.weight() / all.max(1)))
        .collect();
    while bag.len() < kills {
        bag.push(roles[bag.len() % roles.len()]);
    }
    for index in (1..bag.len()).rev() {
        bag.swap(index, rng.index(index + 1));
    }
    bag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_has_as_many_as_were_asked_for() {
        let mut rng = Rng::new(1);
        for kills in [1, 7, 300] {
            assert_eq!(bag(&Role::ALL, kills, &mut rng).len(), kills);
        }
        let bag = bag(&[Role::Worker, Role::Daemon], 80, &mut rng);
        assert_eq!(bag.iter().filter(|role| **role == Role::Daemon).count(), 30);
    }
}
