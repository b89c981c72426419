//! What users have of everything that is counted, and may have.

use millpond_wire::message::{ResourceUse, UserAccount};
use serde::Serialize;

/// `status --users`.
#[derive(Clone, Debug, Serialize)]
pub struct Users {
    /// The caller; everybody for the operator.
    pub users: Vec<UserUse>,
    /// All users together; empty for ordinary users.
    pub all: Vec<Use>,
}

data! { $
    /// One user.
    pub struct UserUse as user_use_fields {
        /// User id.
        user: u32,
        /// One for each thing that is counted.
        resources: Vec<Use>,
    }
}

data! { $
    /// So much of one thing.
    pub struct Use as use_fields {
        /// The thing.
        name: String,
        /// The setting of its cap; empty if there is none.
        key: String,
        /// How much there is.
        has: u64,
        /// How much there may be; absent without a cap.
        cap: Option<u64>,
    }
}

impl From<&ResourceUse> for Use {
    fn from(one: &ResourceUse) -> Self {
        Self { name: one.name.clone(), key: one.key.clone(), has: one.has, cap: one.cap }
    }
}

impl Users {
    /// Accounts as the pond says them.
    #[must_use]
    pub fn new(users: &[UserAccount], all: &[ResourceUse]) -> Self {
        let user = |account: &UserAccount| UserUse {
            user: account.user,
            resources: account.resources.iter().map(Use::from).collect(),
        };
        Self { users: users.iter().map(user).collect(), all: all.iter().map(Use::from).collect() }
    }
}
