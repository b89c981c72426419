//! Clients end. What those held who had very much ends in steps, so that nobody waits for all of it.
//!
//! Until its last step such a client is known, with what it still holds: a daemon that dies between
//! two steps leaves the rest to the next, which finds the process gone.

use std::collections::VecDeque;

use millpond_wire::{ClientId, ErrorKind, Failure, HostId, LeaseId};

use super::answer::{Answer, Answered, done};
use super::parked::RequestId;
use super::pond::Pond;
use super::ports::Ports;
use super::release::Ending;

/// Leases and tensors that end in one step; and what a client may hold that ends in one.
const STEP: usize = 256;

#[derive(Debug)]
struct Leaver {
    client: ClientId,
    ending: Ending,
    why: &'static str,
    /// The goodbye, answered at the end.
    by: Option<RequestId>,
}

/// Those who are about to end, each a step in its turn.
#[derive(Debug, Default)]
pub(super) struct Leavers {
    queue: VecDeque<Leaver>,
}

impl Leavers {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Refuses whatever a client asks for that is about to end: it would not keep it.
    pub(super) fn refuse(&self, id: ClientId) -> Result<(), Failure> {
        if self.queue.iter().any(|leaver| leaver.client == id) {
            let message = format!("client {id} is ending; what it held is being given back");
            let hint = "say hello as a new client";
            return Err(Failure::new(ErrorKind::Later, message).hint(hint));
        }
        Ok(())
    }
}

impl<P: Ports> Pond<P> {
    /// The process behind a client is gone: whatever it held has ended, by death.
    pub fn process_gone(&mut self, ports: &mut P, id: ClientId) {
        if self.hosts.knows(HostId(id.0)) {
            return self.host_gone(ports, HostId(id.0));
        }
        self.leave(ports, id, Ending::Died, "its process is gone", None);
    }

    pub(super) fn goodbye(&mut self, ports: &mut P, by: RequestId, id: ClientId) -> Answer<P::Fd> {
        match self.leave(ports, id, Ending::Released, "said goodbye", Some(by)) {
            true => done(),
            false => Ok(Answered::Sent),
        }
    }

    /// Whether that was all of it.
    fn leave(
        &mut self,
        ports: &mut P,
        id: ClientId,
        ending: Ending,
        why: &'static str,
        by: Option<RequestId>,
    ) -> bool {
        let mut leavers = self.leavers.queue.iter_mut();
        if let Some(leaver) = leavers.find(|leaver| leaver.client == id) {
            if ending == Ending::Died {
                leaver.ending = ending;
            }
            return true;
        }
        // What one holds that has not claimed is not known, and ends as a whole.
        let in_steps = self.clients.get(id).is_some_and(|client| !client.unclaimed);
        let held = self.leases.count_of(id) + self.catalog.ephemeral_of(id).take(STEP + 1).count();
        if !in_steps || held <= STEP {
            self.end_client(ports, id, ending, why);
            return true;
        }
        self.leavers.queue.push_back(Leaver { client: id, ending, why, by });
        false
    }

    /// A step of the next one's end. Returns when to come again.
    pub(super) fn end_some(&mut self, ports: &mut P) -> Option<u64> {
        let leaver = self.leavers.queue.pop_front()?;
        let Leaver { client, ending, why, by } = leaver;
        if self.end_some_of(ports, client, ending) {
            self.leavers.queue.push_back(leaver);
        } else {
            self.end_client(ports, client, ending, why);
            if let Some(by) = by {
                self.respond(ports, by, done());
            }
        }
        (!self.leavers.is_empty()).then(|| ports.monotonic_ms())
    }

    /// Whether there is more of it.
    fn end_some_of(&mut self, ports: &mut P, client: ClientId, ending: Ending) -> bool {
        let leases: Vec<LeaseId> =
            self.leases.of(client).map(|(lease, _)| lease).take(STEP).collect();
        for lease in &leases {
            self.end_lease_of(ports, client, *lease, ending);
        }
        let tensors: Vec<_> = self.catalog.ephemeral_of(client).take(STEP - leases.len()).collect();
        // One that cannot be recorded is not tried for ever.
        let recorded = tensors.iter().all(|id| self.delete_ephemeral(ports, *id));
        recorded && leases.len() + tensors.len() == STEP
    }
}
