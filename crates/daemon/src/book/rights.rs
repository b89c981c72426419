//! Who may do what to a group: the operator everything, and who made one by running a program in it
//! may change its limit and remove it, until the operator sets it.

use millpond_wire::message::{GroupLimit, GroupSet};
use millpond_wire::{ErrorKind, Failure, GroupName};

use super::Told;
use super::shelf::{Group, Shelf};
use crate::accounts::{Refused, Resource};
use crate::policy::{GroupCaller, OwnedGroups};

/// How many groups there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCaps {
    /// In the pond.
    pub all: usize,
    /// With a name, of one user who is not the operator: they stay when their programs have ended.
    pub named_per_user: usize,
    /// Without a name, of one user who is not the operator.
    pub unnamed_per_user: usize,
}

impl GroupCaps {
    /// The last places are for what the operator makes.
    pub(super) const fn for_users(self) -> usize {
        self.all - self.all / 10
    }

    /// Whether a user with so many groups may have another, of so many in all: nobody has more than
    /// half as many as are left for others, so that who comes later finds a place too.
    pub(super) const fn leaves_room(self, own: usize, all: usize) -> bool {
        own < self.for_users().saturating_sub(all) / 2
    }

    const fn per_user(self, named: bool) -> usize {
        if named { self.named_per_user } else { self.unnamed_per_user }
    }
}

const fn resource(named: bool) -> Resource {
    if named { Resource::Groups } else { Resource::Runs }
}

impl Shelf {
    /// The group that a name means to somebody. A bare name is the operator's group where the caller
    /// may run programs in it, and else the caller's own, so that no user's name is in the way of
    /// another's.
    pub fn meant(&self, by: GroupCaller, name: &GroupName) -> GroupName {
        let operators = name.of(None);
        match name.user() {
            Some(user) if user == self.folders.user() => return operators,
            Some(_) => return name.clone(),
            None if by.operator => return operators,
            None => {}
        }
        match self.groups.get(&operators) {
            Some(group) if self.may_use(by, &operators, group) => operators,
            // Who has none of that name is told whose the other one is.
            Some(_) if !self.groups.contains_key(&name.of(Some(by.user))) => operators,
            _ => name.of(Some(by.user)),
        }
    }

    /// Whether somebody may run programs in a group and see those that run there.
    pub fn may_use(&self, by: GroupCaller, name: &GroupName, group: &Group) -> bool {
        let made = group.maker.is_some_and(|maker| maker.user == by.user);
        by.operator
            || made
            || group.users.contains(&by.user)
            || self.folders.owner(name) == Some(by.user)
    }

    /// Whose a group is, as it is shown. A ledger that the operator gave to a user does not make the
    /// group that user's.
    pub fn owner(&self, name: &GroupName, group: &Group) -> Option<u32> {
        match group.maker {
            Some(maker) => Some(maker.user),
            None if group.anonymous || !self.folders.has_many_users() => self.folders.owner(name),
            None => None,
        }
    }

    /// The operator's, or made by who asks and not set by the operator since.
    pub fn check_is_theirs(
        &self,
        by: GroupCaller,
        doing: &str,
        name: &GroupName,
    ) -> Result<(), Failure> {
        let maker = self.groups.get(name).and_then(|group| group.maker);
        let maker = maker.filter(|maker| maker.user == by.user);
        if by.operator || maker.is_some_and(|maker| !maker.taken_over) {
            return Ok(());
        }
        let user = self.folders.user();
        let mut message = format!(
            "only the operator and user {user}, who runs the pond, may {doing} group '{name}'"
        );
        if maker.is_some() {
            message.push_str(", which the operator has set");
        }
        Err(Failure::new(ErrorKind::Denied, message)
            .hint("`millpond run --limit ... -- PROGRAM` runs a program under a limit of its own"))
    }

    pub fn check_may_set(&self, by: GroupCaller, set: &GroupSet) -> Result<(), Failure> {
        self.check_is_theirs(by, "change", &set.group)?;
        let other = set.min_bytes.is_some()
            || set.weight.is_some()
            || set.users.is_some()
            || set.ends_silent.is_some();
        // As much as `run` gives, which always has a limit.
        if by.operator || !(other || set.limit == Some(GroupLimit::Unlimited)) {
            return Ok(());
        }
        let message = format!(
            "user {} made group '{}' and may change only its limit, and not to `none`",
            by.user, set.group
        );
        let hint = format!("`millpond group set {} --limit 10G`", set.group);
        Err(Failure::new(ErrorKind::Denied, message).hint(hint))
    }

    /// Nobody makes a group in another user's name; the operator makes the operator's.
    pub fn check_is_own(&self, by: GroupCaller, name: &GroupName) -> Result<(), Failure> {
        match name.user() {
            Some(user) if user != by.user => {
                let message = format!("only user {user} can make group '{name}'");
                Err(Failure::new(ErrorKind::Denied, message)
                    .hint(format!("write `{}` without a user", name.bare())))
            }
            _ => Ok(()),
        }
    }

    /// What the operator has set stays so.
    pub fn take_over(&mut self, by: GroupCaller, name: &GroupName) {
        let Some(group) = self.groups.get_mut(name) else { return };
        let Some(maker) = group.maker.filter(|maker| !maker.taken_over) else { return };
        if maker.user == by.user {
            return;
        }
        match self.folders.take_over(name, maker) {
            Ok(maker) => group.maker = Some(maker),
            Err(error) => tracing::error!(group = %name, "its owner stays the same: {error}"),
        }
    }

    /// A pond that does not run as root cannot give a ledger to anybody else; and one user must not
    /// use up what there is for all.
    pub fn check_may_make(&mut self, by: GroupCaller, named: bool) -> Result<(), Failure> {
        if !by.operator {
            self.check_leaves_room(by.user, named)?;
        }
        self.folders.can_give_to(by.user).map_err(|reason| {
            Failure::new(
                ErrorKind::Denied,
                format!("user {} cannot have a group here: {reason}", by.user),
            )
            .hint("start the program with `MILLPOND_MEMORY_LIMIT` and the preload library instead")
        })
    }

    /// Those with a name are counted apart, so that there is always a way to put programs together.
    fn check_leaves_room(&mut self, user: u32, named: bool) -> Result<(), Failure> {
        let kind = resource(named);
        let own = self.groups_of_users().get(&(user, kind)).copied().unwrap_or(0);
        let (caps, all) = (self.caps, self.groups.len());
        let (for_users, most) = (caps.for_users(), caps.per_user(named));
        if caps.leaves_room(own, all) && own < most {
            return Ok(());
        }
        let count = |number: usize| number as u64;
        let in_all = own < most;
        let (has, cap) = if in_all { (all, for_users) } else { (own, most) };
        let refused = Refused { resource: kind, has: count(has), cap: count(cap), in_all };
        self.told.push(Told::CapReached { user, refused });
        let kind_of_groups = if named { "named" } else { "unnamed" };
        let message = if all >= for_users {
            format!(
                "there are {all} groups, and the remaining places are reserved for the operator"
            )
        } else if in_all {
            format!(
                "user {user} already has {own} {kind_of_groups} groups: {} places are left, and one \
                 user may have half that number",
                for_users - all
            )
        } else if named {
            format!("user {user} has already made {own} named groups, the maximum")
        } else {
            format!("user {user} already has {own} unnamed groups, the maximum")
        };
        let way_out = match all >= for_users {
            true => "run the program in an existing group: `millpond group ls` lists them",
            false => kind.way_out(),
        };
        let key = refused.key();
        Err(Failure::new(ErrorKind::TooMany, message)
            .limit(key, refused.has, refused.cap)
            .hint(format!("{way_out}, or ask the operator to raise `{key}`")))
    }

    /// How many groups each user has made, by kind. What the operator has taken over, and whatever
    /// has no maker, is the pond's own user's.
    pub fn groups_of_users(&self) -> OwnedGroups {
        let mut owned = OwnedGroups::new();
        for group in self.groups.values() {
            let maker = group.maker.filter(|maker| !maker.taken_over);
            let user = maker.map_or(self.folders.user(), |maker| maker.user);
            *owned.entry((user, resource(!group.anonymous))).or_default() += 1;
        }
        owned
    }

    /// Says how many groups users have, if that has changed: before anybody hears of a new one.
    pub fn tell_owned(&mut self) {
        let owned = self.groups_of_users();
        if owned != self.last_owned {
            self.last_owned.clone_from(&owned);
            self.told.insert(0, Told::Owned(owned));
        }
    }
}
