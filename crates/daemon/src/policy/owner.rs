//! Who owns an object, and who may have it.

use std::rc::Rc;

use millpond_wire::{Audience, ErrorKind, Failure};

/// The tenant of the machine's own users.
pub const LOCAL_TENANT: &str = "local";

/// A user of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Which socket the user came through.
    pub tenant: Rc<str>,
    /// User inside the tenant.
    pub user: u32,
    /// The user's primary group.
    pub group: u32,
}

impl Owner {
    /// Whether both are one user, who may have changed groups.
    #[must_use]
    pub fn is_user(&self, other: &Owner) -> bool {
        self.tenant == other.tenant && self.user == other.user
    }
}

/// Which of a pond's sockets somebody came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The one of the machine's users.
    Users,
    /// The one at which everything is seen and nothing is changed.
    Watch,
    /// The operator's.
    Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// As the kernel says.
    pub owner: Owner,
    /// Other groups of the user.
    pub groups: Rc<[u32]>,
    pub door: Door,
}

impl Caller {
    /// Whether the caller is an operator, who may rename and delete everything.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.door == Door::Operator
    }

    /// Whether the caller only watches: whatever would change something is refused before it comes
    /// to a handler.
    #[must_use]
    pub fn only_watches(&self) -> bool {
        self.door == Door::Watch
    }

    /// Whether everything is shown to the caller.
    #[must_use]
    pub fn sees_everything(&self) -> bool {
        match self.door {
            Door::Watch | Door::Operator => true,
            Door::Users => false,
        }
    }

    /// Whether an object of `owner` is shared with the caller.
    #[must_use]
    pub fn may_use(&self, owner: &Owner, audience: Audience) -> bool {
        if self.sees_everything() {
            return true;
        }
        self.owner.tenant == owner.tenant
            && match audience {
                Audience::Everybody => true,
                _ if self.owner.user == owner.user => true,
                Audience::Group => {
                    self.owner.group == owner.group || self.groups.contains(&owner.group)
                }
                Audience::User => false,
            }
    }

    /// The same user without the rights of another socket, which are to look and to delete.
    #[must_use]
    pub fn as_user(&self) -> Caller {
        Caller { door: Door::Users, ..self.clone() }
    }

    /// Whether the caller may delete it. Publishing is for everybody who may write, which is
    /// everybody who may use it: the driver cannot tell them apart.
    #[must_use]
    pub fn may_change(&self, owner: &Owner) -> bool {
        self.is_admin() || self.owner.is_user(owner)
    }
}

/// What is said to a caller who may use something, but not change it.
pub fn not_yours(what: &str, owner: &Owner) -> Failure {
    let message = format!("{what} belongs to user {}", owner.user);
    Failure::new(ErrorKind::Denied, message).hint("only that user or the operator can change it")
}

/// What is said to an operator who may look at something and delete it, and wants its bytes.
pub fn not_shared(what: &str, owner: Option<&Owner>) -> Failure {
    let message = format!("{what} is not shared with you");
    let user = owner.map_or_else(|| "its owner".to_owned(), |owner| format!("user {}", owner.user));
    Failure::new(ErrorKind::Denied, message).hint(format!(
        "the admin socket lists and deletes; to read, write or publish, run the command as {user}, \
         for example with `setpriv` or `sudo -u`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(tenant: &str, user: u32, group: u32, groups: &[u32]) -> Caller {
        let owner = Owner { tenant: tenant.into(), user, group };
        Caller { owner, groups: groups.into(), door: Door::Users }
    }

    #[test]
    fn who_watches_sees_everything_and_may_change_what_is_theirs_at_the_other_socket() {
        let owner = Owner { tenant: "local".into(), user: 1000, group: 100 };
        let watcher = Caller { door: Door::Watch, ..caller("local", 1001, 5, &[]) };
        assert!(watcher.may_use(&owner, Audience::User));
        assert!(!watcher.as_user().may_use(&owner, Audience::User));
        assert!(!watcher.may_change(&owner) && !watcher.is_admin());
    }

    #[test]
    fn root_is_nobody_special_and_tenants_are_apart() {
        let owner = Owner { tenant: "local".into(), user: 1000, group: 100 };
        assert!(caller("local", 1000, 5, &[]).may_use(&owner, Audience::User));
        assert!(!caller("local", 0, 0, &[]).may_use(&owner, Audience::User));
        assert!(!caller("local", 1001, 5, &[]).may_use(&owner, Audience::Group));
        assert!(caller("local", 1001, 5, &[7, 100]).may_use(&owner, Audience::Group));
        assert!(caller("local", 1001, 5, &[]).may_use(&owner, Audience::Everybody));
        assert!(!caller("other", 1000, 100, &[]).may_use(&owner, Audience::Everybody));
        assert!(!caller("local", 1001, 100, &[]).may_change(&owner));
    }
}
