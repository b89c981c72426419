//! Requests that find the keeper's channel full wait until it has room; nobody else does.
//!
//! A handler that may not have something held has changed nothing, so the same request can be tried
//! again from the start, as a client would.

use millpond_wire::ErrorKind;
use millpond_wire::message::RequestBody;

use super::answer::{Answer, Answered};
use super::parked::{RequestId, Until, Wish};
use super::pond::Pond;
use super::ports::{KeeperRoom, Ports};

/// How many requests are tried again at once, so that nobody else waits for them.
const AT_ONCE: usize = 64;

/// The request to repeat, if the keeper may have no room for what it needs.
pub(super) fn ask_again<P: Ports>(
    ports: &P,
    body: impl FnOnce() -> RequestBody,
) -> Option<RequestBody> {
    (ports.keeper_room() != KeeperRoom::Plenty).then(body)
}

impl<P: Ports> Pond<P> {
    /// Has a request handled, or parked if the keeper has no room for it.
    pub(super) fn attempt(
        &mut self,
        ports: &mut P,
        by: RequestId,
        body: RequestBody,
        fd: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        let may_wait = body.may_wait() && fd.is_none();
        let again = if may_wait { ask_again(ports, || body.clone()) } else { None };
        let answer = self.dispatch(ports, by, body, fd);
        self.or_wait_for_keeper(ports, by, again, answer)
    }

    /// Parks a request that was refused because the keeper is full, if it can be repeated.
    pub(super) fn or_wait_for_keeper(
        &mut self,
        ports: &mut P,
        by: RequestId,
        again: Option<RequestBody>,
        answer: Answer<P::Fd>,
    ) -> Answer<P::Fd> {
        let Some(body) = again else { return answer };
        match answer {
            Err(failure)
                if failure.kind == ErrorKind::Later && ports.keeper_room() == KeeperRoom::None =>
            {
                self.room_for_wait(ports, by.conn)?;
                self.park(by, Wish::Again(Box::new(body)), None);
                Ok(Answered::Parked)
            }
            answer => answer,
        }
    }

    /// Whether anything waits until the keeper has room.
    #[must_use]
    pub fn awaits_keeper(&self) -> bool {
        !self.unheld_slabs.is_empty() || self.parked.is_awaited(Until::Keeper)
    }

    /// The keeper can be told something again: what waited for that goes on, in the order in which
    /// it came, as far as the room goes.
    pub fn keeper_has_room(&mut self, ports: &mut P) {
        for _ in 0..AT_ONCE {
            if ports.keeper_room() == KeeperRoom::None {
                return;
            }
            if let Some((slab, memory)) = self.unheld_slabs.pop_front() {
                self.slab_done(ports, slab, Ok(memory));
                continue;
            }
            let first = self.parked.first(Until::Keeper);
            let Some(parked) = first.and_then(|ticket| self.parked.take(ticket)) else { return };
            self.resume(ports, parked);
        }
    }
}
