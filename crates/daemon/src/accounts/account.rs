//! One user's account.

use std::cell::Cell;
use std::rc::Rc;

use super::{Resource, Shared, Terms};

/// Why a user gets no more of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub resource: Resource,
    /// What the user has, or all users together.
    pub has: u64,
    pub cap: u64,
    /// The cap is the one for all users together.
    pub in_all: bool,
}

impl Refused {
    /// The setting that says how much.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self.resource.key_in_all() {
            Some(key) if self.in_all => key,
            _ => self.resource.key(),
        }
    }
}

#[derive(Debug)]
pub struct Account {
    shared: Rc<Shared>,
    tenant: Rc<str>,
    user: u32,
    /// Root's, or of the user who runs the pond: a part of what all may have is kept for them,
    /// whichever socket they use. This gives no right over what others have.
    has_reserve: bool,
    has: [Cell<u64>; Resource::COUNT],
    /// Too many replies are not read, until half of them are: between two marks nobody is woken for
    /// every message.
    is_full: Cell<bool>,
}

impl Account {
    pub(super) fn new(shared: Rc<Shared>, who: (Rc<str>, u32), has_reserve: bool) -> Self {
        let ((tenant, user), has) = (who, Default::default());
        Self { shared, tenant, user, has_reserve, has, is_full: Cell::new(false) }
    }

    #[must_use]
    pub fn tenant(&self) -> &Rc<str> {
        &self.tenant
    }

    /// Whether a part of what all may have is kept for this user.
    #[must_use]
    pub fn has_reserve(&self) -> bool {
        self.has_reserve
    }

    /// Whether so many replies are not read that nothing more is done for the user.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.why_full().is_some()
    }

    /// Too many replies are not read: the user's own, or those of all users together, unless the user
    /// has none.
    #[must_use]
    pub fn why_full(&self) -> Option<Refused> {
        let resource = Resource::ReplyBytes;
        if self.is_full.get() {
            let (has, cap) = (self.has(resource), self.cap(resource));
            return Some(Refused { resource, has, cap, in_all: false });
        }
        self.check_or_first(resource, 1).err()
    }

    #[must_use]
    pub fn user(&self) -> u32 {
        self.user
    }

    #[must_use]
    pub fn has(&self, resource: Resource) -> u64 {
        self.has[resource.index()].get()
    }

    /// What the user may have.
    #[must_use]
    pub fn cap(&self, resource: Resource) -> u64 {
        let terms = self.shared.terms.get().of(resource);
        if self.has_reserve { terms.with_reserve } else { terms.per_user }
    }

    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.has.iter().all(|has| has.get() == 0)
    }

    /// Whether the user may have so much more.
    ///
    /// # Errors
    /// [`Refused`], with the cap that is in the way.
    pub fn check(&self, resource: Resource, more: u64) -> Result<(), Refused> {
        let terms = self.shared.terms.get().of(resource);
        let (has, cap) = (self.has(resource), self.cap(resource));
        if has.saturating_add(more) > cap {
            return Err(Refused { resource, has, cap, in_all: false });
        }
        let (has, cap) = (self.shared.in_all[resource.index()].get(), self.cap_in_all(terms));
        if has.saturating_add(more) > cap {
            return Err(Refused { resource, has, cap, in_all: true });
        }
        Ok(())
    }

    /// The same for what is given back by itself: whoever has none of it may have some, so that
    /// nobody waits for others for ever.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_or_first(&self, resource: Resource, more: u64) -> Result<(), Refused> {
        let checked = self.check(resource, more);
        let terms = self.shared.terms.get().of(resource);
        let twice = self.cap_in_all(terms).saturating_mul(2);
        let in_all = self.shared.in_all[resource.index()].get();
        if self.has(resource) == 0 && in_all.saturating_add(more) <= twice {
            return Ok(());
        }
        checked
    }

    /// What all users may have together before this one gets no more.
    fn cap_in_all(&self, terms: Terms) -> u64 {
        if self.has_reserve { terms.in_all } else { terms.for_users() }
    }

    /// The user has so much more, whatever the caps are: it was there before, or was checked.
    pub fn add(&self, resource: Resource, more: u64) {
        for count in self.counts(resource) {
            count.set(count.get().saturating_add(more));
        }
        self.mark(resource);
    }

    /// The user has so much less.
    pub fn give(&self, resource: Resource, back: u64) {
        for count in self.counts(resource) {
            debug_assert!(count.get() >= back, "{} given back twice", resource.name());
            count.set(count.get().saturating_sub(back));
        }
        self.mark(resource);
    }

    /// The user has so much now, instead of so much before.
    pub fn change(&self, resource: Resource, before: u64, after: u64) {
        if after > before {
            self.add(resource, after - before);
        } else if before > after {
            self.give(resource, before - after);
        }
    }

    fn mark(&self, resource: Resource) {
        if resource == Resource::ReplyBytes {
            let (has, cap) = (self.has(resource), self.cap(resource));
            if has >= cap {
                self.is_full.set(true);
            } else if has <= cap / 2 {
                self.is_full.set(false);
            }
        }
    }

    fn counts(&self, resource: Resource) -> [&Cell<u64>; 2] {
        let at = resource.index();
        [&self.has[at], &self.shared.in_all[at]]
    }
}

/// So much of something, given back when this is dropped.
#[derive(Debug)]
pub struct Charge {
    account: Rc<Account>,
    resource: Resource,
    amount: u64,
}

impl Charge {
    #[must_use]
    pub fn new(account: &Rc<Account>, resource: Resource, amount: u64) -> Self {
        account.add(resource, amount);
        Self { account: Rc::clone(account), resource, amount }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.give(self.resource, self.amount);
    }
}
