//! Caps: who reaches one is told which, and everybody is told who.

use std::collections::BTreeMap;
use std::rc::Rc;

use millpond_wire::message::EventKind;
use millpond_wire::{ErrorKind, Failure};

use super::movers::MoverLimits;
use super::owner::Owner;
use super::pond::Pond;
use super::ports::Ports;

/// One event for each user in so long: whoever reaches a cap often reaches it very often.
const TOLD_EVERY_MS: u64 = 60_000;
/// Users that are remembered for that before the old ones are looked through.
const REMEMBERED: usize = 1024;

/// Fixed bounds on how much there may be of something.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Connected or silent processes.
    pub clients: usize,
    pub tensors: usize,
    pub tensors_per_user: usize,
    /// Versions of one user's models.
    pub versions_per_user: usize,
    /// Versions that were current before and are kept for a rollback.
    pub keep_previous: usize,
    pub leases_per_client: usize,
    /// Bytes of empty slabs that are kept on each GPU.
    pub recycle_bytes: u64,
    /// Moves of one user that may wait or run.
    pub moves_per_user: usize,
    pub move_bytes_per_user: u64,
    pub movers: MoverLimits,
}

/// When a user who reached a cap was last told of.
#[derive(Debug, Default)]
pub(super) struct CapsTold {
    users: BTreeMap<(Rc<str>, u32), u64>,
}

impl CapsTold {
    /// Whether it is time to tell of this user.
    fn is_news(&mut self, owner: &Owner, now_ms: u64) -> bool {
        let is_old = |at: u64| now_ms.saturating_sub(at) >= TOLD_EVERY_MS;
        if self.users.len() >= REMEMBERED {
            self.users.retain(|_, at| !is_old(*at));
        }
        let who = (Rc::clone(&owner.tenant), owner.user);
        let is_news = self.users.get(&who).is_none_or(|at| is_old(*at));
        if is_news {
            self.users.insert(who, now_ms);
        }
        is_news
    }
}

impl<P: Ports> Pond<P> {
    /// The answer to a user who has reached a cap; the event is told at most once in a minute.
    /// `what` has the number in it, `key` is the setting.
    pub fn cap_reached(&mut self, ports: &mut P, owner: &Owner, what: &str, key: &str) -> Failure {
        let user = owner.user;
        let text = format!("user {user} has {what}, the maximum");
        if self.caps_told.is_news(owner, ports.monotonic_ms()) {
            tracing::warn!("{text} (`{key}`)");
            let told = format!("{what}: `{key}`");
            self.happened(ports, EventKind::LimitReached, None, None, Some(user), told);
        }
        Failure::new(ErrorKind::TooMany, text).hint(format!("the operator can raise `{key}`"))
    }
}
