//! One account for each user: how much of everything that is scarce the user has, and may have.
//!
//! Pure: no I/O and no clock. An [`Account`] is shared by everything that a user has, and finding it
//! costs one look for each connection; taking and giving are additions.
//!
//! Ordinary users leave a part of what there is for all to root and to the user who runs the pond,
//! so that one who could help gets in when others have taken the rest.

mod account;
mod resource;
mod terms;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

pub use account::{Account, Charge, Refused};
pub use resource::Resource;
pub use terms::{AllTerms, Terms};

/// Accounts that are kept before those that are empty are looked for.
const KEPT: usize = 1024;

/// What all accounts share.
#[derive(Debug)]
struct Shared {
    terms: Cell<AllTerms>,
    own_user: Cell<u32>,
    in_all: [Cell<u64>; Resource::COUNT],
}

impl Shared {
    fn new(terms: AllTerms, own_user: u32) -> Rc<Self> {
        let (terms, own_user) = (Cell::new(terms), Cell::new(own_user));
        Rc::new(Self { terms, own_user, in_all: Default::default() })
    }
}

/// By tenant and user.
type ByUser = HashMap<(Rc<str>, u32), Rc<Account>>;

/// The accounts of all users. A copy is the same accounts.
#[derive(Clone, Debug)]
pub struct Accounts {
    shared: Rc<Shared>,
    users: Rc<RefCell<ByUser>>,
}

impl Accounts {
    #[must_use]
    pub fn new(terms: AllTerms, own_user: u32) -> Self {
        Self { shared: Shared::new(terms, own_user), users: Rc::default() }
    }

    /// The user who runs the pond.
    #[must_use]
    pub fn own_user(&self) -> u32 {
        self.shared.own_user.get()
    }

    /// The account of a user.
    #[must_use]
    pub fn of(&self, tenant: &Rc<str>, user: u32) -> Rc<Account> {
        let who = (Rc::clone(tenant), user);
        let mut users = self.users.borrow_mut();
        if let Some(account) = users.get(&who) {
            return Rc::clone(account);
        }
        if users.len() >= KEPT && users.len().is_power_of_two() {
            users.retain(|_, account| Rc::strong_count(account) > 1 || !account.is_empty());
        }
        let has_reserve = user == 0 || user == self.own_user();
        let account = Rc::new(Account::new(Rc::clone(&self.shared), who.clone(), has_reserve));
        users.insert(who, Rc::clone(&account));
        account
    }

    /// An account of nobody: the pond's own processes are not limited, and count for no user.
    #[must_use]
    pub fn of_the_pond(&self) -> Rc<Account> {
        let own_user = self.own_user();
        let shared = Shared::new(AllTerms::NONE, own_user);
        Rc::new(Account::new(shared, ("".into(), own_user), true))
    }

    /// Every user who has anything, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Account>> {
        let users = self.users.borrow();
        let having = users.values().filter(|account| !account.is_empty());
        let mut all: Vec<Rc<Account>> = having.map(Rc::clone).collect();
        all.sort_by(|a, b| (a.user(), a.tenant()).cmp(&(b.user(), b.tenant())));
        all
    }

    /// What all users have together.
    #[must_use]
    pub fn in_all(&self, resource: Resource) -> u64 {
        self.shared.in_all[resource.index()].get()
    }

    #[must_use]
    pub fn terms(&self, resource: Resource) -> Terms {
        self.shared.terms.get().of(resource)
    }

    /// Another user runs the pond. Accounts that are there keep what they may have.
    #[cfg(test)]
    pub fn set_own_user(&self, user: u32) {
        self.shared.own_user.set(user);
    }

    #[cfg(test)]
    pub fn set_terms(&self, change: impl FnOnce(AllTerms) -> AllTerms) {
        self.shared.terms.set(change(self.shared.terms.get()));
    }
}
