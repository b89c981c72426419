//! Lives of tensors: a time, a time without a lease, a number of gets.
//!
//! Every end is a delete with a reason: it stops new leases and takes nothing from anybody. All
//! times are on the clock that counts from the machine's start, which never jumps and which every
//! daemon of the pond shares.

use millpond_view::units::span;
use millpond_wire::message::Life;
use millpond_wire::record::{CountedLease, Record};
use millpond_wire::{ErrorKind, Failure, TensorId};

use super::answer::from_port;
use super::catalog::Tensor;
use super::leases::Lease;
use super::owner::Caller;
use super::pond::Pond;
use super::ports::{PortError, Ports};

/// When an end is tried again that could not be recorded.
const AGAIN_MS: u64 = 1000;

/// Refuses lives that end before they begin.
pub(super) fn check(life: &Life) -> Result<(), Failure> {
    let invalid = |message: &str| Err(Failure::new(ErrorKind::Invalid, message));
    match life {
        Life { ttl_ms: Some(0), .. } => invalid("a tensor cannot live for 0 ms"),
        Life { accesses: Some(0), .. } => invalid("a tensor cannot allow 0 gets"),
        _ => Ok(()),
    }
}

/// What is left of a tensor's life.
pub(super) fn left(tensor: &Tensor, leased: bool, now: u64) -> Life {
    let until = |at: u64| at.saturating_sub(now);
    let life = &tensor.life;
    Life {
        ttl_ms: life.expires_ms.map(until),
        linger_ms: life.linger_ms.map(|linger| match leased {
            false => until(life.unleased_ms.saturating_add(linger)),
            true => linger,
        }),
        accesses: life.accesses_left,
    }
}

impl<P: Ports> Pond<P> {
    /// Brings a tensor's end up to date, after anything that moves it.
    pub(super) fn schedule(&mut self, id: TensorId) {
        if self.is_unheld(id) {
            // Its delete could not be recorded, and is still to come.
            self.catalog.end_at(id, Some(self.now_ms.saturating_add(AGAIN_MS)));
        } else {
            self.catalog.schedule(id, self.is_in_use(id));
        }
    }

    /// The last lease on a tensor may just have ended.
    pub(super) fn unleased(&mut self, ports: &P, id: TensorId) {
        if !self.is_in_use(id) {
            self.catalog.unleased_since(id, ports.monotonic_ms());
            self.schedule(id);
        }
    }

    /// Tensors of an earlier daemon: their times go on, and what is counted from the end of a lease
    /// begins now, because nobody knows their leases yet.
    pub(super) fn resume_lives(&mut self, ports: &mut P) {
        let now = ports.monotonic_ms();
        let all: Vec<TensorId> = self.catalog.iter().map(|(id, _)| id).collect();
        for id in all {
            self.catalog.unleased_since(id, now);
            let Some(tensor) = self.catalog.get(id) else { continue };
            if tensor.life.accesses_left == Some(0) && !tensor.is_deleted() {
                let why = "all its gets were answered";
                self.counts.tensors_used_up += u64::from(self.end(ports, id, why));
            }
            self.schedule(id);
        }
    }

    /// A client has said what it held from before, or is gone without having said it. Only now does
    /// anybody know whether its tensors were leased until now.
    pub(super) fn claims_settled(&mut self, ports: &P, caller: &Caller) {
        for id in self.catalog.settled(caller, ports.monotonic_ms()) {
            self.schedule(id);
        }
    }

    /// Ends what has come to its end. Returns when to come again.
    pub(super) fn end_lives(&mut self, ports: &mut P) -> Option<u64> {
        let next = self.catalog.next_end()?;
        let now = ports.monotonic_ms();
        if next > now {
            return Some(next);
        }
        while let Some(id) = self.catalog.take_due(now) {
            let Some(tensor) = self.catalog.get(id).filter(|tensor| !tensor.is_deleted()) else {
                continue;
            };
            if self.is_unheld(id) {
                // Its delete could not be recorded before.
                self.end(ports, id, "its last hold has ended");
            } else if tensor.life.expires_ms.is_some_and(|at| at <= now) {
                let lived = match tensor.life.ttl_ms {
                    Some(ttl) => format!("its time to live of {} expired", span(ttl)),
                    None => "its time to live expired".to_owned(),
                };
                self.counts.tensors_expired += u64::from(self.end(ports, id, &lived));
            } else {
                self.end_lingering(ports, id, now);
            }
        }
        self.catalog.next_end()
    }

    fn end_lingering(&mut self, ports: &mut P, id: TensorId, now: u64) {
        let Some(tensor) = self.catalog.get(id) else { return };
        let (slab, recovered) = (tensor.slab, tensor.recovered);
        let Some(linger) = tensor.life.linger_ms else { return };
        if recovered && self.may_be_held(slab) {
            self.catalog.hold_back(id);
            return;
        }
        if recovered {
            self.catalog.unleased_since(id, self.settled_for(slab));
        }
        let Some(tensor) = self.catalog.get(id) else { return };
        if tensor.life.unleased_ms.saturating_add(linger) > now {
            self.schedule(id);
        } else {
            let why = format!("it had no lease for {}", span(linger));
            self.counts.tensors_lingered_out += u64::from(self.end(ports, id, &why));
        }
    }

    /// When it was last learned what somebody held, or had held, of this slab.
    pub(super) fn settled_for(&self, slab: millpond_wire::SlabId) -> u64 {
        let Some(slab) = self.slabs.get(slab) else { return 0 };
        self.catalog.last_settled(|caller| slab.may_be_held_by(caller))
    }

    /// Whether that could be recorded; else it is tried again.
    pub(super) fn end(&mut self, ports: &mut P, id: TensorId, why: &str) -> bool {
        let Err(error) = self.delete_now(ports, id, why) else { return true };
        tracing::error!(tensor = %id, "could not record the end of a tensor: {error}");
        let again = ports.monotonic_ms().saturating_add(AGAIN_MS);
        self.catalog.end_at(id, Some(again));
        false
    }

    /// A get is about to be answered. If gets of this tensor are counted, it is durable first that
    /// this one was, and with which lease: if the answer is lost with this daemon, the next one
    /// finds the lease, and a repeat is the same get. Whether they are counted.
    pub(super) fn count_access(
        &mut self,
        ports: &mut P,
        id: TensorId,
        lease: CountedLease,
    ) -> Result<bool, Failure> {
        let Some(tensor) = self.catalog.get(id) else { return Ok(false) };
        let Some(left) = tensor.life.accesses_left else { return Ok(false) };
        let left = left.saturating_sub(1);
        let record = Record::TensorAccessed { tensor: id, accesses_left: left, lease: Some(lease) };
        ports.journal(&record).map_err(from_port)?;
        self.catalog.count_access(id, left);
        Ok(true)
    }

    /// A counted lease ends. The next daemon must not take it for one whose answer was lost.
    pub(super) fn count_release(
        &self,
        ports: &mut P,
        id: TensorId,
        lease: CountedLease,
    ) -> Result<(), PortError> {
        let Some(left) = self.catalog.get(id).and_then(|tensor| tensor.life.accesses_left) else {
            return Ok(());
        };
        let record = Record::TensorAccessed { tensor: id, accesses_left: left, lease: Some(lease) };
        ports.journal(&record)
    }

    /// The counted leases on a tensor, for a new journal.
    pub(super) fn counted_leases(&self, id: TensorId, tensor: &Tensor) -> Vec<Record> {
        let Some(accesses_left) = tensor.life.accesses_left else { return Vec::new() };
        let known = self.leases.on(id).filter_map(|(client, lease)| {
            let known = self.leases.get(client, lease).filter(|lease| lease.counted)?;
            let (mode, asked) = (known.mode, known.asked);
            Some(CountedLease { client, lease, mode, ended: false, asked })
        });
        let record =
            |lease| Record::TensorAccessed { tensor: id, accesses_left, lease: Some(lease) };
        known.map(record).collect()
    }

    /// What the journal says about a counted lease.
    pub(super) fn replay_lease(&mut self, id: TensorId, counted: CountedLease) {
        let CountedLease { client, lease, mode, ended, asked } = counted;
        if self.catalog.get(id).is_none_or(Tensor::is_part) {
            return;
        }
        // One that is gone holds nothing, and a mover of an earlier daemon goes.
        let Some(holder) = self.clients.get(client).filter(|holder| !holder.mover) else {
            return;
        };
        let known = self.leases.get(client, lease);
        if ended {
            if known.is_some_and(|known| known.target == id.into()) {
                self.leases.end(client, lease);
            }
        } else if known.is_none() {
            let since_ms = self.identity.started_ms;
            let held = Lease { target: id.into(), mode, since_ms, counted: true, asked };
            self.leases.begin(&holder.account, client, lease, held);
        }
    }

    /// The get is granted: was it the last one?
    pub(super) fn end_if_used_up(&mut self, ports: &mut P, id: TensorId) {
        let Some(tensor) = self.catalog.get(id) else { return };
        if tensor.life.accesses_left == Some(0) && !tensor.is_deleted() {
            let why = match tensor.recovered {
                // Those that an earlier daemon answered are not known one by one.
                true => "all its gets were answered".to_owned(),
                false => match tensor.life.accesses {
                    1 => "its only get was answered".to_owned(),
                    gets => format!("its {gets} gets were answered"),
                },
            };
            self.counts.tensors_used_up += u64::from(self.end(ports, id, &why));
        }
    }
}
