//! Limits of single users: who reaches one is told which, and everybody is told who.

use millpond_wire::message::EventKind;
use millpond_wire::{ErrorKind, Failure};

use super::owner::Owner;
use super::pond::Pond;
use super::ports::Ports;

/// One event for each user in so long: whoever reaches a limit often reaches it very often.
const TOLD_EVERY_MS: u64 = 60_000;
/// Users that are remembered for that before the old ones are looked through.
const REMEMBERED: usize = 1024;

impl<P: Ports> Pond<P> {
    /// The answer to a user who has reached a limit; the event is told at most once in a minute.
    /// `what` has the number in it, `key` is the setting.
    pub fn limit_reached(
        &mut self,
        ports: &mut P,
        owner: &Owner,
        what: &str,
        key: &str,
    ) -> Failure {
        let now = ports.monotonic_ms();
        let user = owner.user;
        let is_old = |at: u64| now.saturating_sub(at) >= TOLD_EVERY_MS;
        let told = &mut self.limits_told;
        if told.len() >= REMEMBERED {
            told.retain(|_, at| !is_old(*at));
        }
        let text = format!("user {user} has {what}, the limit");
        let who = (owner.tenant.clone(), user);
        if told.get(&who).is_none_or(|at| is_old(*at)) {
            told.insert(who, now);
            tracing::warn!("{text} (`{key}`)");
            let told = format!("{what}: `{key}`");
            self.happened(ports, EventKind::LimitReached, None, None, Some(user), told);
        }
        Failure::new(ErrorKind::TooMany, text).hint(format!("the operator can raise `{key}`"))
    }
}
