//! Time passes, and the pond comes to its end.

use millpond_wire::Failure;
use millpond_wire::message::EventKind;

use super::answer::draining;
use super::parked::{Parked, Until, Wish};
use super::pond::Pond;
use super::ports::Ports;

impl<P: Ports> Pond<P> {
    /// Requests that wait and whose time is over are answered. Returns when to come again.
    pub fn tick(&mut self, ports: &mut P) -> Option<u64> {
        let now = ports.monotonic_ms();
        self.now_ms = now;
        let late = self.parked.take_late(now);
        let (statuses, others): (Vec<Parked>, Vec<Parked>) =
            late.into_iter().partition(|parked| parked.wish.is_status());
        for Parked { by, wish, .. } in others {
            let failure = match &wish {
                Wish::Get(get) => self.not_yet(by.conn, get),
                Wish::Attach(get) => self.no_version_yet(by.conn, get),
                Wish::Gpus(_) => Failure::driver_starting(),
                // Nothing else has a deadline.
                _ => continue,
            };
            self.respond(ports, by, Err(failure));
        }
        self.answer_status(ports, &statuses);
        let soonest = self.parked.soonest();
        let more = [
            self.retry_slabs(ports),
            self.care_for_movers(ports),
            self.end_lives(ports),
            self.take_turns(ports),
            self.end_some(ports),
            self.end_some_holds(ports),
            // After all that ends tensors: what was in hosts is freed now, or when somebody comes.
            self.care_for_hosts(ports),
            self.complaints.say_left_out(now),
        ];
        soonest.into_iter().chain(more.into_iter().flatten()).min()
    }

    /// No new work from now on.
    pub fn drain(&mut self, ports: &mut P) {
        self.draining = true;
        self.happened(ports, EventKind::Draining, None, None, None, "the pond shuts down");
        self.refuse_all(ports, Until::Tensor);
        self.refuse_moves(ports, &draining());
        for until in [Until::Gpus, Until::Version, Until::Keeper] {
            self.refuse_all(ports, until);
        }
    }

    fn refuse_all(&mut self, ports: &mut P, until: Until) {
        for parked in self.parked.take_all(until) {
            self.respond(ports, parked.by, Err(draining()));
        }
    }

    /// Whether anything that was asked is still to be answered.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let starts = [Until::Gpus, Until::Turn];
        self.pending_slabs.is_empty()
            && self.leavers.is_empty()
            && self.adoptions.is_empty()
            && !starts.into_iter().any(|until| self.parked.is_awaited(until))
            && self.movers.are_idle()
    }
}
