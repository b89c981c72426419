//! Caps: who reaches one is told which, and everybody is told who.

use std::collections::BTreeMap;
use std::rc::Rc;

use millpond_wire::message::EventKind;
use millpond_wire::{ErrorKind, Failure};

use super::movers::MoverLimits;
use super::parked::{RequestId, Ticket, Wish};
use super::pond::Pond;
use super::ports::{ConnId, Ports};
use crate::accounts::{Account, AllTerms, Refused, Resource};

/// One event for each user and cap in so long: whoever reaches a cap often reaches it very often.
const TOLD_EVERY_MS: u64 = 60_000;
/// Users that are remembered for that before the old ones are looked through.
const REMEMBERED: usize = 1024;

/// Fixed bounds on how much there may be of something.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// What one user may have, and all of them together.
    pub terms: AllTerms,
    /// The user who runs the pond; from here on the accounts know.
    pub own_user: u32,
    /// Tensors in the pond, with the slabs of versions.
    pub tensors: usize,
    /// Clients that one process is, connected or silent.
    pub clients_per_process: usize,
    /// Versions that were current before and are kept for a rollback.
    pub keep_previous: usize,
    pub leases_per_client: usize,
    /// Bytes of empty slabs that are kept on each GPU.
    pub recycle_bytes: u64,
    pub movers: MoverLimits,
}

/// When a user who reached a cap was last told of.
#[derive(Debug, Default)]
pub(super) struct CapsTold {
    users: BTreeMap<(Rc<str>, u32, Resource), u64>,
}

impl CapsTold {
    /// Whether it is time to tell of this user.
    fn is_news(&mut self, account: &Account, resource: Resource, now_ms: u64) -> bool {
        let is_old = |at: u64| now_ms.saturating_sub(at) >= TOLD_EVERY_MS;
        if self.users.len() >= REMEMBERED {
            self.users.retain(|_, at| !is_old(*at));
        }
        let who = (Rc::clone(account.tenant()), account.user(), resource);
        let is_news = self.users.get(&who).is_none_or(|at| is_old(*at));
        if is_news {
            self.users.insert(who, now_ms);
        }
        is_news
    }
}

fn in_words(account: &Account, refused: Refused) -> String {
    let Refused { resource, has, cap, in_all } = refused;
    let amount = resource.amount(has);
    let whose = match in_all {
        true => "all users have".to_owned(),
        false => format!("user {} has", account.user()),
    };
    if has >= cap {
        format!("{whose} {amount}, the maximum")
    } else {
        format!("{whose} {amount}; the maximum is {}", resource.amount(cap))
    }
}

impl<P: Ports> Pond<P> {
    /// The answer to a user who has reached a cap; the event is told at most once in a minute.
    pub fn cap_reached(&mut self, ports: &mut P, account: &Account, refused: Refused) -> Failure {
        self.tell_of_cap(ports, account, refused);
        let (key, way_out) = (refused.key(), refused.resource.way_out());
        Failure::new(ErrorKind::TooMany, in_words(account, refused))
            .limit(key, refused.has, refused.cap)
            .hint(format!("{way_out}, or ask the operator to raise `{key}`"))
    }

    /// Tells everybody who has reached a cap, at most once in a minute.
    pub(super) fn tell_of_cap(&mut self, ports: &mut P, account: &Account, refused: Refused) {
        if self.caps_told.is_news(account, refused.resource, ports.monotonic_ms()) {
            let key = refused.key();
            tracing::warn!("{} (`{key}`)", in_words(account, refused));
            let told = format!("{}: `{key}`", refused.resource.amount(refused.has));
            self.happened(ports, EventKind::LimitReached, None, None, Some(account.user()), told);
        }
    }

    /// Whether one more request of a connection's user may wait. The operator's always may.
    pub(super) fn room_for_wait(&mut self, ports: &mut P, conn: ConnId) -> Result<(), Failure> {
        let Some(connection) = self.clients.connection(conn) else { return Ok(()) };
        match connection.account.check(Resource::Waits, 1) {
            Err(refused) if !connection.caller.is_admin() => {
                let account = Rc::clone(&connection.account);
                Err(self.cap_reached(ports, &account, refused))
            }
            _ => Ok(()),
        }
    }

    /// Parks a request, for ever or until its deadline, on the account of whoever asked.
    /// `None` if nobody is there any more.
    pub(super) fn park(
        &mut self,
        by: RequestId,
        wish: Wish,
        deadline_ms: Option<u64>,
    ) -> Option<Ticket> {
        let connection = self.clients.connection(by.conn)?;
        let account = Rc::clone(&connection.account);
        let key = wish.key(&connection.caller);
        Some(self.parked.park(by, wish, deadline_ms, key, &account))
    }
}
