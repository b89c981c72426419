//! What the connections of each user cost: how many there are, and how much of what was said to
//! them is not read.
//!
//! One connection that does not read is not read from; a user with thousands of them is not read
//! from at all until they have taken what waits for them.

use std::collections::{BTreeSet, HashMap};

use crate::policy::ConnId;

/// All users with a connection.
#[derive(Debug)]
pub struct Users {
    users: HashMap<u32, User>,
    /// Whose each connection is, and the bytes that wait on it.
    conns: HashMap<ConnId, (u32, usize)>,
    most_conns: usize,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct User {
    conns: usize,
    bytes: usize,
    /// Until half of it has gone: between two marks nobody is woken for every message.
    is_full: bool,
    /// Connections that had something to say meanwhile.
    parked: BTreeSet<ConnId>,
}

impl Users {
    #[must_use]
    pub fn new(most_conns: usize, most_bytes: usize) -> Self {
        Self { users: HashMap::new(), conns: HashMap::new(), most_conns, most_bytes }
    }

    /// How many connections a user has, if one more is too many.
    #[must_use]
    pub fn too_many(&self, user: u32) -> Option<usize> {
        self.users.get(&user).map(|user| user.conns).filter(|conns| *conns >= self.most_conns)
    }

    pub fn add(&mut self, conn: ConnId, user: u32) {
        self.conns.insert(conn, (user, 0));
        self.users.entry(user).or_default().conns += 1;
    }

    /// The connection is over. Returns those that may be read from again.
    pub fn remove(&mut self, conn: ConnId) -> BTreeSet<ConnId> {
        let mut again = self.account(conn, 0);
        again.remove(&conn);
        if let Some((number, _)) = self.conns.remove(&conn)
            && let Some(user) = self.users.get_mut(&number)
        {
            user.conns -= 1;
            user.parked.remove(&conn);
            if user.conns == 0 {
                self.users.remove(&number);
            }
        }
        again
    }

    /// So much waits on a connection now. Returns those that may be read from again.
    pub fn account(&mut self, conn: ConnId, bytes: usize) -> BTreeSet<ConnId> {
        let Some((number, before)) = self.conns.get_mut(&conn) else { return BTreeSet::new() };
        let Some(user) = self.users.get_mut(number) else { return BTreeSet::new() };
        user.bytes = user.bytes - std::mem::replace(before, bytes) + bytes;
        if user.bytes >= self.most_bytes {
            user.is_full = true;
        } else if user.bytes <= self.most_bytes / 2 && std::mem::take(&mut user.is_full) {
            return std::mem::take(&mut user.parked);
        }
        BTreeSet::new()
    }

    /// Whether nothing is read from this connection because of its user.
    #[must_use]
    pub fn is_full(&self, conn: ConnId) -> bool {
        let user = self.conns.get(&conn).and_then(|(user, _)| self.users.get(user));
        user.is_some_and(|user| user.is_full)
    }

    /// It is to be read from again when its user has read.
    pub fn park(&mut self, conn: ConnId) {
        if let Some((user, _)) = self.conns.get(&conn)
            && let Some(user) = self.users.get_mut(user)
        {
            user.parked.insert(conn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_full_until_half_has_gone_and_others_are_not() {
        let mut users = Users::new(3, 100);
        for (conn, user) in [(1, 7), (2, 7), (3, 8)] {
            users.add(ConnId(conn), user);
        }
        assert!(users.account(ConnId(1), 60).is_empty());
        assert!(!users.is_full(ConnId(2)));
        users.account(ConnId(2), 40);
        assert!(users.is_full(ConnId(1)) && users.is_full(ConnId(2)));
        assert!(!users.is_full(ConnId(3)));
        users.park(ConnId(1));
        assert!(users.account(ConnId(2), 0).is_empty());
        assert!(users.is_full(ConnId(1)), "not yet half");
        assert_eq!(users.account(ConnId(1), 50), BTreeSet::from([ConnId(1)]));
        assert!(!users.is_full(ConnId(1)));
        // Who leaves takes what waited for it along.
        users.account(ConnId(1), 100);
        users.park(ConnId(2));
        users.park(ConnId(1));
        assert_eq!(users.remove(ConnId(1)), BTreeSet::from([ConnId(2)]));
    }

    #[test]
    fn connections_are_counted_by_user() {
        let mut users = Users::new(2, 100);
        users.add(ConnId(1), 7);
        assert_eq!(users.too_many(7), None);
        users.add(ConnId(2), 7);
        assert_eq!((users.too_many(7), users.too_many(8)), (Some(2), None));
        users.remove(ConnId(1));
        assert_eq!(users.too_many(7), None);
        users.remove(ConnId(2));
        assert!(users.users.is_empty() && users.conns.is_empty());
    }
}
