//! Users see what they have and may have; the operator and who watches see everybody.

use millpond_wire::message::{ReplyBody, ResourceUse, UserAccount};

use super::owner::Caller;
use super::pond::Pond;
use super::ports::Ports;
use crate::accounts::{Account, Resource};

fn one(resource: Resource, key: &str, has: u64, cap: u64) -> ResourceUse {
    ResourceUse {
        name: resource.name().to_owned(),
        key: key.to_owned(),
        has,
        cap: Some(cap).filter(|cap| *cap != u64::MAX),
        is_bytes: resource.is_bytes(),
    }
}

fn of_user(account: &Account) -> UserAccount {
    let uses = Resource::ALL.map(|resource| {
        one(resource, resource.key(), account.has(resource), account.cap(resource))
    });
    UserAccount { user: account.user(), resources: uses.to_vec() }
}

impl<P: Ports> Pond<P> {
    pub(super) fn account_list(&mut self, ports: &mut P, caller: &Caller) -> ReplyBody {
        ports.look_for_unread();
        if !(caller.sees_everything() || self.is_operator(caller)) {
            let own = self.account(&caller.owner);
            return ReplyBody::Accounts { users: vec![of_user(&own)], all: Vec::new() };
        }
        let all = Resource::ALL.map(|resource| {
            let key = resource.key_in_all().unwrap_or("");
            let (has, cap) = (self.accounts.in_all(resource), self.accounts.terms(resource).in_all);
            one(resource, key, has, cap)
        });
        let users = self.accounts.all().iter().map(|account| of_user(account)).collect();
        ReplyBody::Accounts { users, all: all.to_vec() }
    }
}
