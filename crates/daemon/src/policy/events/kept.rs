//! The events that are kept, in the order of their numbers.
//!
//! Every create, delete and end makes one, so keeping one more of a user who has as many as may be
//! kept is two steps at the ends of two queues: no tree is searched, and nothing is hashed but the
//! user.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use millpond_wire::Epoch;
use millpond_wire::message::Event;

use super::Public;
use crate::accounts::{Account, Accounts, Resource};
use crate::policy::owner::{Caller, LOCAL_TENANT};

/// Events that a late subscriber can still have, about all users.
const KEPT: usize = 16_384;
/// Kinds of audiences that are told apart among those that went.
const GONE: usize = 1024;
/// Empty places that are not worth closing up.
const FEW: usize = 256;

#[derive(Debug)]
pub(super) struct Kept {
    accounts: Accounts,
    tenant: Rc<str>,
    /// The first number of this daemon.
    begun: u64,
    next: u64,
    /// By number. One that goes before its neighbours leaves its place empty for a while.
    places: VecDeque<(u64, Option<(Event, Public)>)>,
    /// Places that are not empty.
    len: usize,
    /// The numbers of those about each user, and about nobody.
    by_user: HashMap<Option<u32>, Ring>,
    /// Who has how many.
    by_count: BTreeSet<(usize, Option<u32>)>,
    gone: Gone,
}

#[derive(Debug)]
struct Ring {
    numbers: VecDeque<u64>,
    account: Rc<Account>,
}

impl Kept {
    /// Numbers go on rising from one daemon to the next.
    pub(super) fn new(epoch: Epoch, accounts: Accounts) -> Self {
        let begun = (epoch.0 << 32) + 1;
        Self {
            accounts,
            tenant: LOCAL_TENANT.into(),
            begun,
            next: begun,
            places: VecDeque::new(),
            len: 0,
            by_user: HashMap::new(),
            by_count: BTreeSet::new(),
            gone: Gone::default(),
        }
    }

    /// The first number of this daemon.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// The number of the next one.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The last one that went.
    pub(super) fn last_gone(&self) -> u64 {
        self.gone.last
    }

    /// The last one that went and that a caller may know of.
    pub(super) fn last_gone_for(&self, caller: &Caller) -> u64 {
        self.gone.last_for(caller)
    }

    /// Those from a number on.
    pub(super) fn from(&self, number: u64) -> impl Iterator<Item = &(Event, Public)> {
        let first = match self.places.front() {
            Some((front, _)) if *front < number => {
                self.places.partition_point(|(at, _)| *at < number)
            }
            _ => 0,
        };
        self.places.range(first..).filter_map(|(_, kept)| kept.as_ref())
    }

    /// Numbers and keeps an event.
    pub(super) fn push(&mut self, mut event: Event, public: Public) {
        let (number, user) = (self.next, event.user);
        event.sequence = number;
        self.next += 1;
        self.places.push_back((number, Some((event, public))));
        self.len += 1;
        let Self { accounts, tenant, by_user, .. } = self;
        let ring = by_user.entry(user).or_insert_with(|| Ring {
            numbers: VecDeque::new(),
            account: match user {
                Some(user) => accounts.of(tenant, user),
                None => accounts.of_the_pond(),
            },
        });
        let most = accounts.terms(Resource::Events).per_user;
        let is_full = ring.numbers.len() as u64 >= most;
        if is_full && let Some(oldest) = ring.numbers.pop_front() {
            // As many as before.
            ring.numbers.push_back(number);
            self.drop_number(oldest);
            return;
        }
        self.count(user, |numbers| numbers.push_back(number));
        if is_full {
            self.drop_oldest_of(user);
        } else if self.len > KEPT
            && let Some((_, most)) = self.by_count.last().copied()
        {
            self.drop_oldest_of(most);
        }
    }

    /// Changes the numbers that are kept about a user.
    fn count<T>(
        &mut self,
        user: Option<u32>,
        change: impl FnOnce(&mut VecDeque<u64>) -> T,
    ) -> Option<T> {
        let ring = self.by_user.get_mut(&user)?;
        let before = ring.numbers.len();
        let result = change(&mut ring.numbers);
        let after = ring.numbers.len();
        ring.account.change(Resource::Events, before as u64, after as u64);
        self.by_count.remove(&(before, user));
        if after == 0 {
            self.by_user.remove(&user);
        } else {
            self.by_count.insert((after, user));
        }
        Some(result)
    }

    fn drop_oldest_of(&mut self, user: Option<u32>) {
        if let Some(oldest) = self.count(user, VecDeque::pop_front).flatten() {
            self.drop_number(oldest);
        }
    }

    fn drop_number(&mut self, number: u64) {
        let index = match self.places.front() {
            Some((front, _)) if *front == number => Ok(0),
            _ => self.places.binary_search_by_key(&number, |(at, _)| *at),
        };
        let place = index.ok().and_then(|index| self.places.get_mut(index));
        let Some((_, public)) = place.and_then(|(_, kept)| kept.take()) else { return };
        self.len -= 1;
        self.gone.add(number, public);
        while let Some((_, None)) = self.places.front() {
            self.places.pop_front();
        }
        if self.places.len() > 2 * self.len + FEW {
            self.places.retain(|(_, kept)| kept.is_some());
        }
    }
}

/// The last one that went, for each audience.
#[derive(Debug, Default)]
struct Gone {
    by_public: HashMap<Public, u64>,
    /// Of the audience that lost one last, which most often is the one that loses the next.
    latest: Option<(Public, u64)>,
    last: u64,
}

impl Gone {
    fn add(&mut self, number: u64, public: Public) {
        match &mut self.latest {
            Some((known, last)) if *known == public => *last = number.max(*last),
            _ => self.add_other(number, public),
        }
        self.last = number.max(self.last);
    }

    fn add_other(&mut self, number: u64, public: Public) {
        if let Some((known, last)) = self.latest.take() {
            self.by_public.insert(known, last);
        }
        let before = self.by_public.remove(&public);
        if self.by_public.len() >= GONE {
            // Too many to tell apart: from here on somebody may be told of what is not theirs.
            self.by_public.clear();
            self.by_public.insert(Public::Everybody, self.last);
        }
        self.latest = Some((public, number.max(before.unwrap_or(0))));
    }

    fn last_for(&self, caller: &Caller) -> u64 {
        let latest = self.latest.iter().map(|(public, last)| (public, last));
        let gone = self.by_public.iter().chain(latest);
        let known = gone.filter(|(public, _)| public.includes(caller));
        known.map(|(_, last)| *last).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::Audience;
    use millpond_wire::message::EventKind;

    use super::*;
    use crate::accounts::AllTerms;
    use crate::policy::owner::{Door, Owner};

    fn owner(user: u32) -> Owner {
        Owner { tenant: "local".into(), user, group: user }
    }

    fn caller(user: u32) -> Caller {
        Caller { owner: owner(user), groups: [].into(), door: Door::Users }
    }

    fn push(kept: &mut Kept, user: u32) {
        let event = Event {
            sequence: 0,
            unix_ms: 0,
            kind: EventKind::TensorCreated,
            target: None,
            name: None,
            user: Some(user),
            text: String::new(),
        };
        kept.push(event, Public::Shared(owner(user), Audience::User));
    }

    fn numbers(kept: &Kept, from: u64) -> Vec<u64> {
        kept.from(from).map(|(event, _)| event.sequence - kept.begun()).collect()
    }

    #[test]
    fn a_user_with_many_pushes_out_its_own_and_leaves_no_place_behind() {
        let accounts = Accounts::new(AllTerms::NONE.with(Resource::Events, 3), 0);
        let mut kept = Kept::new(Epoch(1), accounts.clone());
        push(&mut kept, 1);
        for _ in 0..10_000 {
            push(&mut kept, 2);
        }
        push(&mut kept, 1);
        assert_eq!(numbers(&kept, 0), [0, 9998, 9999, 10_000, 10_001]);
        assert_eq!(numbers(&kept, kept.begun() + 1), [9998, 9999, 10_000, 10_001]);
        assert_eq!(numbers(&kept, kept.begun() + 9999), [9999, 10_000, 10_001]);
        assert!(kept.places.len() <= 2 * kept.len + FEW, "{}", kept.places.len());
        let has = |user| accounts.of(&"local".into(), user).has(Resource::Events);
        assert_eq!((kept.len, has(1), has(2)), (5, 2, 3));
        let gone = |user| kept.last_gone_for(&caller(user)).saturating_sub(kept.begun());
        assert_eq!((gone(1), gone(2)), (0, 9997));
        assert_eq!(kept.last_gone(), kept.begun() + 9997);
    }

    #[test]
    fn what_each_audience_lost_is_known_in_any_order() {
        let accounts = Accounts::new(AllTerms::NONE.with(Resource::Events, 1), 0);
        let mut kept = Kept::new(Epoch(1), accounts);
        for user in [1, 2, 1, 3, 2, 1, 1] {
            push(&mut kept, user);
        }
        let gone = |user| kept.last_gone_for(&caller(user)).checked_sub(kept.begun());
        assert_eq!([1, 2, 3].map(gone), [Some(5), Some(1), None]);
        assert_eq!(numbers(&kept, 0), [3, 4, 6]);
    }

    #[test]
    fn somebody_who_may_have_none_has_none() {
        let accounts = Accounts::new(AllTerms::NONE.with(Resource::Events, 0), 0);
        let mut kept = Kept::new(Epoch(1), accounts);
        push(&mut kept, 1);
        push(&mut kept, 1);
        assert!(numbers(&kept, 0).is_empty() && kept.by_user.is_empty());
        assert_eq!(kept.last_gone(), kept.begun() + 1);
    }
}
