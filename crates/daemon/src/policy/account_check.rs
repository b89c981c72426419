//! Whether the accounts say what there is, counted anew.

use std::collections::BTreeMap;

use super::pond::Pond;
use super::ports::Ports;
use crate::accounts::Resource;

impl<P: Ports> Pond<P> {
    /// The first account that says something else than there is: for tests, of this crate and
    /// others. What only the event loop counts is not looked at.
    ///
    /// # Errors
    /// Which one, in words.
    pub fn check_accounts(&self) -> Result<(), String> {
        if !self.slabs.totals_are_right() {
            return Err("the totals of slabs are not those of the slabs".to_owned());
        }
        let mut there: BTreeMap<(u32, Resource), u64> = BTreeMap::new();
        let mut count = |user: u32, resource| *there.entry((user, resource)).or_default() += 1;
        for (id, client) in self.clients.iter().filter(|(_, client)| !client.mover) {
            count(client.owner().user, Resource::Clients);
            self.leases.of(id).for_each(|_| count(client.owner().user, Resource::Leases));
        }
        for (_, tensor) in self.catalog.iter().filter(|(_, tensor)| !tensor.is_part()) {
            if let Some(slab) = self.slabs.get(tensor.slab) {
                count(slab.class.owner.user, Resource::Tensors);
            }
        }
        for (user, resource) in self.holds.users() {
            count(user, resource);
        }
        self.hosts.users().for_each(|user| count(user, Resource::Hosts));
        if !self.holds.are_consistent() {
            return Err("holds and holders do not say the same of each other".to_owned());
        }
        for user in self.models.version_users() {
            count(user, Resource::Versions);
        }
        for conn in self.parked.conns() {
            if let Some(connection) = self.clients.connection(conn) {
                count(connection.caller.owner.user, Resource::Waits);
            }
        }
        for (user, bytes) in self.movers.all_moves() {
            *there.entry((user, Resource::Moves)).or_default() += 1;
            *there.entry((user, Resource::MoveBytes)).or_default() += bytes;
        }
        for ((user, resource), number) in &self.owned_groups {
            *there.entry((*user, *resource)).or_default() += *number as u64;
        }
        let counted = [
            Resource::Clients,
            Resource::Leases,
            Resource::Tensors,
            Resource::Versions,
            Resource::Waits,
            Resource::Moves,
            Resource::MoveBytes,
            Resource::Groups,
            Resource::Runs,
            Resource::Holds,
            Resource::Holders,
            Resource::Hosts,
        ];
        let mut said: BTreeMap<(u32, Resource), u64> = BTreeMap::new();
        for account in self.accounts.all() {
            for resource in counted {
                *said.entry((account.user(), resource)).or_default() += account.has(resource);
            }
        }
        for resource in counted {
            let sum: u64 = said.iter().filter(|((_, of), _)| *of == resource).map(|(_, n)| n).sum();
            let all = self.accounts.in_all(resource);
            if sum != all {
                return Err(format!("users have {sum} {} and all {all}", resource.name()));
            }
        }
        said.retain(|_, number| *number > 0);
        for key in there.keys().chain(said.keys()) {
            let number = |map: &BTreeMap<_, u64>| map.get(key).copied().unwrap_or(0);
            if number(&there) != number(&said) {
                let (user, resource) = (key.0, key.1.name());
                let (there, said) = (number(&there), number(&said));
                return Err(format!("user {user} has {there} {resource}, the account says {said}"));
            }
        }
        Ok(())
    }
}
