//! Leases: who may use what.
//!
//! A lease is found by its client and by its target. Both sides are filled at one place and
//! emptied at one place, so that they never disagree.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::rc::Rc;

use millpond_wire::message::{ClientToken, LeaseToken, Target};
use millpond_wire::{
    ClientId, ErrorKind, Failure, LeaseId, LeaseTarget, Mode, TensorId, VersionTarget,
};

use super::owner::Owner;
use super::process::Process;
use super::tokens::TokenKey;
use crate::accounts::{Account, Resource};

/// The right of one client to use one tensor or version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub target: LeaseTarget,
    pub mode: Mode,
    pub since_ms: u64,
    /// It is in the journal, because it came with a get that counts.
    pub counted: bool,
    /// A hash of the request, where that does not name the target: a repeat of it is recognised
    /// whatever the name means since. Zero for no such request.
    pub asked: u64,
}

/// The lease that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub lease: LeaseId,
    pub mode: Mode,
    /// As in [`Lease`].
    pub asked: u64,
}

/// Under this number there is a lease already.
pub(super) fn number_in_use(lease: LeaseId) -> Failure {
    Failure::new(ErrorKind::Invalid, format!("lease {lease} is already on something else"))
        .hint("count lease numbers up, and use none twice")
}

/// The leases of one client, and who pays for them.
#[derive(Debug)]
struct ClientLeases {
    account: Rc<Account>,
    leases: BTreeMap<LeaseId, Lease>,
}

#[derive(Debug)]
pub(super) struct LeaseTable {
    key: TokenKey,
    by_client: BTreeMap<ClientId, ClientLeases>,
    by_target: BTreeMap<LeaseTarget, BTreeSet<(ClientId, LeaseId)>>,
}

impl LeaseTable {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { key: TokenKey(key), by_client: BTreeMap::new(), by_target: BTreeMap::new() }
    }

    /// The key of the tokens, for the journal.
    pub(super) fn key(&self) -> [u8; 16] {
        self.key.0
    }

    /// How a lease proves itself to the next daemon.
    pub(super) fn token(
        &self,
        client: ClientId,
        lease: LeaseId,
        target: LeaseTarget,
        mode: Mode,
        user: u32,
    ) -> LeaseToken {
        self.key.token(client, lease, target, mode, user)
    }

    /// How a client proves that it is the one that it says.
    pub(super) fn client_token(
        &self,
        client: ClientId,
        owner: &Owner,
        process: Process,
    ) -> ClientToken {
        self.key.client_token(client, owner, process)
    }

    pub(super) fn asked_tensor(&self, target: &Target) -> u64 {
        match target {
            Target::Name(name) => self.key.short(name),
            Target::Id(_) => 0,
        }
    }

    pub(super) fn asked_version(&self, target: &VersionTarget) -> u64 {
        match target {
            VersionTarget::Name(name) => self.key.short(name),
            VersionTarget::Id(_) => 0,
        }
    }

    /// Of a create, which may find another tensor; no name has a space.
    pub(super) fn asked_create(&self, tensor: TensorId) -> u64 {
        self.key.short(format_args!("create {tensor}"))
    }

    pub(super) fn get(&self, client: ClientId, lease: LeaseId) -> Option<&Lease> {
        self.by_client.get(&client)?.leases.get(&lease)
    }

    /// The leases of a client, by their numbers.
    pub(super) fn of(&self, client: ClientId) -> impl Iterator<Item = (LeaseId, &Lease)> {
        let leases = self.by_client.get(&client).into_iter().flat_map(|held| &held.leases);
        leases.map(|(id, lease)| (*id, lease))
    }

    /// The same, those after one of them.
    pub(super) fn of_after(
        &self,
        client: ClientId,
        lease: Option<LeaseId>,
    ) -> impl Iterator<Item = (LeaseId, &Lease)> {
        let from = lease.map_or(Bound::Unbounded, Bound::Excluded);
        let leases = self.by_client.get(&client).into_iter();
        let leases = leases.flat_map(move |held| held.leases.range((from, Bound::Unbounded)));
        leases.map(|(id, lease)| (*id, lease))
    }

    pub(super) fn count_of(&self, client: ClientId) -> usize {
        self.by_client.get(&client).map_or(0, |held| held.leases.len())
    }

    /// Who has a lease on something.
    pub(super) fn on(
        &self,
        target: impl Into<LeaseTarget>,
    ) -> impl Iterator<Item = (ClientId, LeaseId)> {
        self.by_target.get(&target.into()).into_iter().flatten().copied()
    }

    /// The same, those after one of them.
    pub(super) fn on_after(
        &self,
        target: LeaseTarget,
        holder: Option<(ClientId, LeaseId)>,
    ) -> impl Iterator<Item = (ClientId, LeaseId)> {
        let from = holder.map_or(Bound::Unbounded, Bound::Excluded);
        let holders = self.by_target.get(&target).into_iter();
        holders.flat_map(move |holders| holders.range((from, Bound::Unbounded))).copied()
    }

    pub(super) fn count_on(&self, target: impl Into<LeaseTarget>) -> usize {
        self.by_target.get(&target.into()).map_or(0, BTreeSet::len)
    }

    pub(super) fn are_on(&self, target: impl Into<LeaseTarget>) -> bool {
        self.by_target.contains_key(&target.into())
    }

    /// Whether this client has a lease on it.
    pub(super) fn holds(&self, client: ClientId, target: impl Into<LeaseTarget>) -> bool {
        let theirs = (client, LeaseId(0))..=(client, LeaseId(u64::MAX));
        let holders = self.by_target.get(&target.into());
        holders.is_some_and(|holders| holders.range(theirs).next().is_some())
    }

    pub(super) fn len(&self) -> usize {
        self.by_client.values().map(|held| held.leases.len()).sum()
    }

    /// A lease begins, on this account; one that is there already stays as it is.
    pub(super) fn begin(
        &mut self,
        account: &Rc<Account>,
        client: ClientId,
        id: LeaseId,
        lease: Lease,
    ) {
        let held = self.by_client.entry(client).or_insert_with(|| ClientLeases {
            account: Rc::clone(account),
            leases: BTreeMap::new(),
        });
        let target = match held.leases.entry(id) {
            Entry::Occupied(known) => known.get().target,
            Entry::Vacant(place) => {
                held.account.add(Resource::Leases, 1);
                place.insert(lease).target
            }
        };
        self.by_target.entry(target).or_default().insert((client, id));
    }

    pub(super) fn end(&mut self, client: ClientId, id: LeaseId) -> Option<Lease> {
        let held = self.by_client.get_mut(&client)?;
        let lease = held.leases.remove(&id)?;
        held.account.give(Resource::Leases, 1);
        if held.leases.is_empty() {
            self.by_client.remove(&client);
        }
        if let Some(holders) = self.by_target.get_mut(&lease.target) {
            holders.remove(&(client, id));
            if holders.is_empty() {
                self.by_target.remove(&lease.target);
            }
        }
        Some(lease)
    }

    /// A client is gone, and with it its leases.
    pub(super) fn end_all_of(&mut self, client: ClientId) {
        let leases: Vec<LeaseId> = self.of(client).map(|(id, _)| id).collect();
        for id in leases {
            self.end(client, id);
        }
    }

    /// A target is gone, and with it the leases on it.
    pub(super) fn end_all_on(&mut self, target: impl Into<LeaseTarget>) {
        let holders: Vec<(ClientId, LeaseId)> = self.on(target).collect();
        for (client, id) in holders {
            self.end(client, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::{TensorId, VersionId};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::accounts::{Accounts, AllTerms};

    fn client(number: u8) -> ClientId {
        ClientId(Uuid::from_bytes([number; 16]))
    }

    fn target(number: u8) -> LeaseTarget {
        let id = Uuid::from_bytes([number; 16]);
        if number.is_multiple_of(2) { TensorId(id).into() } else { VersionId(id).into() }
    }

    fn account() -> Rc<Account> {
        Accounts::new(AllTerms::NONE, 0).of(&"local".into(), 1)
    }

    fn lease(on: u8) -> Lease {
        Lease { target: target(on), mode: Mode::ReadOnly, since_ms: 0, counted: false, asked: 0 }
    }

    #[test]
    fn a_lease_that_is_there_stays_as_it_is() {
        let (mut table, account) = (LeaseTable::new([0; 16]), account());
        table.begin(&account, client(1), LeaseId(1), lease(2));
        table.begin(&account, client(1), LeaseId(1), lease(4));
        assert_eq!(account.has(Resource::Leases), 1);
        assert_eq!(table.get(client(1), LeaseId(1)), Some(&lease(2)));
        assert!(table.are_on(target(2)) && !table.are_on(target(4)));
        assert_eq!(table.end(client(1), LeaseId(1)), Some(lease(2)));
        assert_eq!(table.end(client(1), LeaseId(1)), None);
        assert_eq!((table.len(), table.are_on(target(2))), (0, false));
        assert_eq!(account.has(Resource::Leases), 0);
    }

    proptest! {
        #[test]
        fn both_sides_say_the_same(
            steps in prop::collection::vec((0u8..5, 0u8..4, 1u64..5, 0u8..5), 0..60)
        ) {
            let (mut table, account) = (LeaseTable::new([0; 16]), account());
            for (what, by, id, on) in steps {
                match what {
                    0 | 1 => table.begin(&account, client(by), LeaseId(id), lease(on)),
                    2 => drop(table.end(client(by), LeaseId(id))),
                    3 => table.end_all_of(client(by)),
                    _ => table.end_all_on(target(on)),
                }
                let by_client: BTreeSet<_> = table
                    .by_client
                    .iter()
                    .flat_map(|(by, all)| all.leases.iter().map(|(id, it)| (it.target, *by, *id)))
                    .collect();
                let by_target: BTreeSet<_> = table
                    .by_target
                    .iter()
                    .flat_map(|(on, all)| all.iter().map(|(by, id)| (*on, *by, *id)))
                    .collect();
                prop_assert_eq!(by_client.len(), table.len());
                prop_assert_eq!(account.has(Resource::Leases), table.len() as u64);
                prop_assert_eq!(by_client, by_target);
                let empty = table.by_client.values().any(|held| held.leases.is_empty())
                    || table.by_target.values().any(BTreeSet::is_empty);
                prop_assert!(!empty);
            }
        }
    }
}
