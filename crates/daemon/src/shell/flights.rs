//! What was sent to clients and is not read: who pays for it, and who waits until it is.
//!
//! Nothing says that a peer has read. A connection is looked at before it is sent another
//! descriptor; all connections of a user are looked at when the user wants more than may be in
//! flight, and the longer nothing has moved, the later again.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::accounts::Account;
use crate::policy::ConnId;

/// How soon the connections of a user are looked at again.
const SOON: Duration = Duration::from_millis(1);
/// The longest pause between two looks.
const LONGEST: Duration = Duration::from_secs(1);

/// All users with something in flight, or with something to wait for.
#[derive(Debug, Default)]
pub struct Flights {
    users: HashMap<*const Account, User>,
}

#[derive(Debug)]
struct User {
    /// Kept, so that its address stays its own.
    account: Rc<Account>,
    /// Connections with something unread.
    unread: BTreeSet<ConnId>,
    /// Connections that may not be sent to, or not read from, until something is read.
    waiting: BTreeSet<ConnId>,
    /// Some of those are not read from: the user was full, and may not be any more because of what
    /// others have read.
    is_stopped: bool,
    /// When it may be looked at again, and the pause after that.
    again: (Instant, Duration),
}

impl User {
    /// Whether anything waits until something is read.
    fn wants(&self) -> bool {
        !self.waiting.is_empty() || self.account.is_full()
    }
}

impl Flights {
    fn user(&mut self, account: &Rc<Account>, now: Instant) -> &mut User {
        self.users.entry(Rc::as_ptr(account)).or_insert_with(|| User {
            account: Rc::clone(account),
            unread: BTreeSet::new(),
            waiting: BTreeSet::new(),
            is_stopped: false,
            again: (now, SOON),
        })
    }

    /// Something was sent that may be unread.
    pub fn sent(&mut self, account: &Rc<Account>, conn: ConnId, now: Instant) {
        self.user(account, now).unread.insert(conn);
    }

    /// All that was sent there is read.
    pub fn read(&mut self, account: &Rc<Account>, conn: ConnId) {
        if let Some(user) = self.users.get_mut(&Rc::as_ptr(account)) {
            user.unread.remove(&conn);
            self.forget_if_idle(account);
        }
    }

    /// The connection goes on when its user has read.
    pub fn wait(&mut self, account: &Rc<Account>, conn: ConnId, now: Instant) {
        self.user(account, now).waiting.insert(conn);
    }

    /// The same, and nothing is read from it because its user is full.
    pub fn stop(&mut self, account: &Rc<Account>, conn: ConnId, now: Instant) {
        self.wait(account, conn, now);
        self.user(account, now).is_stopped = true;
    }

    /// Whether connections of a user are not read from although they may be.
    #[must_use]
    pub fn is_stopped_in_vain(&self, account: &Rc<Account>) -> bool {
        let user = self.users.get(&Rc::as_ptr(account));
        user.is_some_and(|user| user.is_stopped) && !account.is_full()
    }

    /// Those who wait, to be tried again: something was read.
    pub fn take_waiting(&mut self, account: &Rc<Account>) -> BTreeSet<ConnId> {
        let Some(user) = self.users.get_mut(&Rc::as_ptr(account)) else { return BTreeSet::new() };
        let waiting = std::mem::take(&mut user.waiting);
        user.is_stopped = false;
        self.forget_if_idle(account);
        waiting
    }

    /// The connection is gone.
    pub fn remove(&mut self, account: &Rc<Account>, conn: ConnId) {
        if let Some(user) = self.users.get_mut(&Rc::as_ptr(account)) {
            user.unread.remove(&conn);
            user.waiting.remove(&conn);
            self.forget_if_idle(account);
        }
    }

    /// The connections of a user to look at, unless that was done a moment ago.
    pub fn take_unread(&mut self, account: &Rc<Account>, now: Instant) -> Vec<ConnId> {
        let Some(user) = self.users.get_mut(&Rc::as_ptr(account)) else { return Vec::new() };
        let (at, pause) = user.again;
        if now < at {
            return Vec::new();
        }
        user.again = (now + pause, (pause * 2).min(LONGEST));
        user.unread.iter().copied().collect()
    }

    /// Something of this user was read: more may be soon.
    pub fn moved(&mut self, account: &Rc<Account>, now: Instant) {
        if let Some(user) = self.users.get_mut(&Rc::as_ptr(account)) {
            user.again = (now + SOON, SOON * 2);
        }
    }

    /// Connections of everybody to look at.
    #[must_use]
    pub fn unread(&self) -> Vec<ConnId> {
        self.users.values().flat_map(|user| user.unread.iter().copied()).collect()
    }

    /// Users who wait and whose connections are to be looked at now.
    #[must_use]
    pub fn due(&self, now: Instant) -> Vec<Rc<Account>> {
        let wanting = self.users.values().filter(|user| user.wants());
        wanting.filter(|user| user.again.0 <= now).map(|user| Rc::clone(&user.account)).collect()
    }

    /// When the next one is due.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        let wanting = self.users.values().filter(|user| user.wants());
        wanting.map(|user| user.again.0).min()
    }

    fn forget_if_idle(&mut self, account: &Rc<Account>) {
        let key = Rc::as_ptr(account);
        if self.users.get(&key).is_some_and(|it| it.waiting.is_empty() && it.unread.is_empty()) {
            self.users.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Accounts, AllTerms};

    #[test]
    fn a_user_is_looked_at_while_somebody_waits_and_ever_later() {
        let accounts = Accounts::new(AllTerms::NONE, 0);
        let (one, other) = (accounts.of(&"local".into(), 1), accounts.of(&"local".into(), 2));
        let (mut flights, start) = (Flights::default(), Instant::now());
        flights.sent(&one, ConnId(1), start);
        flights.sent(&other, ConnId(9), start);
        assert!(flights.next().is_none(), "nobody waits for it");
        assert_eq!(flights.take_unread(&one, start), [ConnId(1)]);
        assert!(flights.take_unread(&one, start).is_empty(), "that was just done");
        flights.wait(&one, ConnId(2), start);
        let (mut now, mut pauses) = (start, Vec::new());
        for _ in 0..13 {
            let at = flights.next().unwrap();
            pauses.push((at - now).as_millis());
            assert!(flights.due(now).is_empty());
            now = at;
            let due = flights.due(now);
            assert!(due.len() == 1 && Rc::ptr_eq(&due[0], &one));
            assert_eq!(flights.take_unread(&one, now), [ConnId(1)]);
            // That it waits is no news.
            flights.wait(&one, ConnId(2), now);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000]);
        flights.moved(&one, now);
        assert_eq!(flights.next(), Some(now + SOON), "it reads");
        flights.read(&one, ConnId(1));
        assert_eq!(flights.take_waiting(&one), BTreeSet::from([ConnId(2)]));
        assert!(flights.next().is_none());
        flights.remove(&other, ConnId(9));
        assert!(flights.users.is_empty());
    }
}
