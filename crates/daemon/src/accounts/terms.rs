//! How much of everything a user may have, and all users together.

use super::Resource;

/// The part of a cap for all users that is kept for root and the user who runs the pond: one in so many.
const KEPT_PART: u64 = 16;

/// The caps of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub per_user: u64,
    /// For root, and for the user who runs the pond.
    pub with_reserve: u64,
    /// For all users together.
    pub in_all: u64,
}

impl Terms {
    pub(super) const NONE: Terms =
        Terms { per_user: u64::MAX, with_reserve: u64::MAX, in_all: u64::MAX };

    /// What ordinary users may have together: root and the pond's own user can have the rest.
    pub(super) const fn for_users(self) -> u64 {
        self.in_all - self.in_all / KEPT_PART
    }
}

/// The caps of all resources; where nothing was said there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllTerms([Terms; Resource::COUNT]);

impl AllTerms {
    pub const NONE: AllTerms = AllTerms([Terms::NONE; Resource::COUNT]);

    #[must_use]
    pub const fn with(mut self, resource: Resource, per_user: u64) -> Self {
        self.0[resource.index()].per_user = per_user;
        self.0[resource.index()].with_reserve = per_user;
        self
    }

    /// Root and the user who runs the pond are not among the users for this.
    #[must_use]
    pub const fn with_reserve(mut self, resource: Resource, most: u64) -> Self {
        self.0[resource.index()].with_reserve = most;
        self
    }

    /// Ordinary users get no more than this, whatever the setting is.
    #[must_use]
    pub fn with_share(mut self, resource: Resource, most: u64) -> Self {
        let terms = &mut self.0[resource.index()];
        terms.per_user = terms.per_user.min(most);
        self
    }

    #[must_use]
    pub const fn with_in_all(mut self, resource: Resource, in_all: u64) -> Self {
        self.0[resource.index()].in_all = in_all;
        self
    }

    #[must_use]
    pub const fn of(&self, resource: Resource) -> Terms {
        self.0[resource.index()]
    }
}
