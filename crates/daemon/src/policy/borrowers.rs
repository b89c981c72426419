//! Users other than the owner who have had a lease on a slab or a version.
//!
//! The journal has each of them before the first grant is answered. So the next daemon knows what a
//! client may hold that says nothing: what its user owns or has borrowed, and not all that was ever
//! shared with it. Leases on what is one's own need no record.

use std::collections::BTreeSet;

use millpond_wire::{Audience, ClientId, Failure, LeaseTarget};

use super::answer::from_port;
use super::owner::{Caller, Owner};
use super::pond::Pond;
use super::ports::Ports;

/// The borrowers of one slab or version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Borrowers {
    /// False for what a daemon made that recorded no borrowers: anybody may have been one.
    recorded: bool,
    /// Those to whom an earlier daemon gave leases. Only they may hold what they do not claim.
    earlier: BTreeSet<u32>,
    /// The others, who got theirs from this daemon.
    later: BTreeSet<u32>,
}

impl Borrowers {
    /// Of something that has just been made, or that the journal says has been.
    pub(super) fn none(recorded: bool) -> Self {
        Self { recorded, earlier: BTreeSet::new(), later: BTreeSet::new() }
    }

    pub(super) fn are_recorded(&self) -> bool {
        self.recorded
    }

    /// Whether the journal has to say that this user gets a lease.
    pub(super) fn lacks(&self, user: u32) -> bool {
        self.recorded && !self.earlier.contains(&user) && !self.later.contains(&user)
    }

    /// The journal says it now.
    pub(super) fn add(&mut self, user: u32) {
        self.later.insert(user);
    }

    /// The journal said it to an earlier daemon.
    pub(super) fn replay(&mut self, user: u32) {
        self.earlier.insert(user);
    }

    /// Nothing is left that anybody could hold.
    pub(super) fn forget(&mut self) {
        self.earlier.clear();
        self.later.clear();
    }

    /// All that the journal has.
    pub(super) fn users(&self) -> impl Iterator<Item = u32> {
        self.earlier.union(&self.later).copied()
    }

    /// The same as far as clients matter that have not claimed yet, which changes no more.
    pub(super) fn of_earlier_daemons(&self) -> Self {
        Self { later: BTreeSet::new(), ..self.clone() }
    }

    /// Whether a client of an earlier daemon may hold it, as long as it has not said what it holds.
    pub(super) fn may_hold(&self, caller: &Caller, owner: &Owner, audience: Audience) -> bool {
        caller.may_use(owner, audience)
            // A mover maps for everybody, and nobody records for whom.
            && (caller.is_admin()
                || caller.owner.is_user(owner)
                || !self.recorded
                || self.earlier.contains(&caller.owner.user))
    }
}

impl<P: Ports> Pond<P> {
    /// A client is about to get a lease: the journal has its user first.
    pub(super) fn record_borrower(
        &mut self,
        ports: &mut P,
        client: ClientId,
        target: LeaseTarget,
    ) -> Result<(), Failure> {
        let Some(client) = self.clients.get(client) else { return Ok(()) };
        let user = client.owner();
        let recorded = match target {
            LeaseTarget::Tensor(id) => match self.catalog.get(id) {
                Some(tensor) => self.slabs.lend(ports, tensor.slab, user),
                None => Ok(()),
            },
            LeaseTarget::Version(id) => self.models.lend(ports, id, user),
        };
        recorded.map_err(from_port)
    }
}

#[cfg(test)]
mod tests {
    use super::super::owner::Door;
    use super::*;

    fn owner(user: u32) -> Owner {
        Owner { tenant: "local".into(), user, group: user }
    }

    fn caller(user: u32, admin: bool) -> Caller {
        let door = if admin { Door::Operator } else { Door::Users };
        Caller { owner: owner(user), groups: [].into(), door }
    }

    #[test]
    fn who_may_hold_something_owns_it_or_has_borrowed_it_from_an_earlier_daemon() {
        let mut borrowers = Borrowers::none(true);
        borrowers.replay(2);
        borrowers.add(3);
        let may = |user, audience| borrowers.may_hold(&caller(user, false), &owner(1), audience);
        assert!(may(1, Audience::Everybody) && may(2, Audience::Everybody));
        assert!(!may(3, Audience::Everybody), "its leases are in the table of this daemon");
        assert!(!may(4, Audience::Everybody), "never had it");
        assert!(!may(2, Audience::User), "it was not shared with this user");
        assert!(borrowers.may_hold(&caller(9, true), &owner(1), Audience::User), "a mover");
        assert_eq!(borrowers.users().collect::<Vec<_>>(), [2, 3]);
        assert!(!borrowers.lacks(2) && !borrowers.lacks(3) && borrowers.lacks(4));
        borrowers.forget();
        assert!(borrowers.lacks(2) && borrowers.users().next().is_none());
    }

    #[test]
    fn anybody_may_hold_what_a_daemon_made_that_recorded_nobody() {
        let borrowers = Borrowers::none(false);
        assert!(borrowers.may_hold(&caller(2, false), &owner(1), Audience::Everybody));
        assert!(!borrowers.may_hold(&caller(2, false), &owner(1), Audience::User));
        assert!(!borrowers.lacks(2), "a record would say nothing");
    }
}
