//! One account for each user: how much of everything that is scarce the user has, and may have.
//!
//! Pure: no I/O and no clock. An [`Account`] is shared by everything that a user has, and finding it
//! costs one look for each connection; taking and giving are additions.
//!
//! Ordinary users leave a part of what there is for all to root and to the user who runs the pond,
//! so that an operator gets in when others have taken the rest.

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
    in_all: [Cell<u64>; Resource::COUNT],
}

impl Shared {
    fn new(terms: AllTerms) -> Rc<Self> {
        Rc::new(Self { terms: Cell::new(terms), in_all: Default::default() })
    }
}

/// By tenant and user.
type ByUser = HashMap<(Rc<str>, u32), Rc<Account>>;

/// The accounts of all users. A copy is the same accounts.
#[derive(Clone, Debug)]
pub struct Accounts {
    shared: Rc<Shared>,
    /// The user who runs the pond.
    own_user: u32,
    users: Rc<RefCell<Users>>,
}

#[derive(Debug, Default)]
struct Users {
    by_user: ByUser,
    /// The one that was asked for last: most often it is asked for again.
    latest: Option<Rc<Account>>,
}

impl Accounts {
    #[must_use]
    pub fn new(terms: AllTerms, own_user: u32) -> Self {
        Self { shared: Shared::new(terms), own_user, users: Rc::default() }
    }

    /// The account of a user.
    #[must_use]
    pub fn of(&self, tenant: &Rc<str>, user: u32) -> Rc<Account> {
        let mut all = self.users.borrow_mut();
        if let Some(latest) = &all.latest
            && latest.user() == user
            && Rc::ptr_eq(latest.tenant(), tenant)
        {
            return Rc::clone(latest);
        }
        let Users { by_user: users, latest } = &mut *all;
        let who = (Rc::clone(tenant), user);
        if let Some(account) = users.get(&who) {
            *latest = Some(Rc::clone(account));
            return Rc::clone(account);
        }
        if users.len() >= KEPT && users.len().is_power_of_two() {
            users.retain(|_, account| Rc::strong_count(account) > 1 || !account.is_empty());
        }
        let is_operator = user == 0 || user == self.own_user;
        let account = Rc::new(Account::new(Rc::clone(&self.shared), who.clone(), is_operator));
        users.insert(who, Rc::clone(&account));
        account
    }

    /// An account of nobody: the pond's own processes are not limited, and count for no user.
    #[must_use]
    pub fn of_the_pond(&self) -> Rc<Account> {
        Rc::new(Account::new(Shared::new(AllTerms::NONE), ("".into(), self.own_user), true))
    }

    /// Every user who has anything, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<Account>> {
        let users = self.users.borrow();
        let having = users.by_user.values().filter(|account| !account.is_empty());
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

    #[cfg(test)]
    pub fn set_terms(&self, change: impl FnOnce(AllTerms) -> AllTerms) {
        self.shared.terms.set(change(self.shared.terms.get()));
    }
}
