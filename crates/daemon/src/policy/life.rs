//! Lives of tensors: a time, a time without a lease, a number of gets.
//!
//! Every end is a delete with a reason: it stops new leases and takes nothing from anybody. All
//! times are on the clock that counts from the machine's start, which never jumps and which every
//! daemon of the pond shares.

use std::collections::BTreeSet;

use millpond_wire::message::Life;
use millpond_wire::record::{CountedLease, Record};
use millpond_wire::{ErrorKind, Failure, TensorId};

use super::catalog::Tensor;
use super::clients::Lease;
use super::owner::Caller;
use super::pond::{Pond, from_port};
use super::ports::Ports;
use super::words::span;

/// When an end is tried again that could not be recorded.
const AGAIN_MS: u64 = 1000;

/// Which tensors end when.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The earliest end of each tensor that has one, soonest first.
    by_time: BTreeSet<(u64, TensorId)>,
    /// Nobody is known to have leased these for long enough, but a client that has not claimed yet
    /// may hold them.
    held_back: BTreeSet<TensorId>,
    /// Who has said, or can no longer say, what it held from before this daemon, and when.
    settled: Vec<(Caller, u64)>,
}

impl Ends {
    fn set(&mut self, id: TensorId, before: Option<u64>, after: Option<u64>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, id));
        }
        if let Some(after) = after {
            self.by_time.insert((after, id));
        }
    }

    fn next(&self) -> Option<u64> {
        self.by_time.first().map(|(at, _)| *at)
    }
}

/// Refuses lives that end before they begin.
pub(super) fn check(life: &Life) -> Result<(), Failure> {
    let invalid = |message: &str| Err(Failure::new(ErrorKind::Invalid, message));
    match life {
        Life { ttl_ms: Some(0), .. } => invalid("a tensor that lives for 0 ms is none"),
        Life { accesses: Some(0), .. } => invalid("a tensor of which 0 gets are answered is none"),
        _ => Ok(()),
    }
}

/// What is left of a tensor's life.
pub(super) fn left(tensor: &Tensor, now: u64) -> Life {
    let until = |at: u64| at.saturating_sub(now);
    Life {
        ttl_ms: tensor.expires_ms.map(until),
        linger_ms: tensor.linger_ms.map(|linger| match tensor.leases.is_empty() {
            true => until(tensor.unleased_ms.saturating_add(linger)),
            false => linger,
        }),
        accesses: tensor.accesses_left,
    }
}

/// When a tensor ends, as far as is known.
fn end_of(tensor: &Tensor) -> Option<u64> {
    if tensor.deleted {
        return None;
    }
    let unleased = tensor.linger_ms.filter(|_| tensor.leases.is_empty());
    let linger = unleased.map(|linger| tensor.unleased_ms.saturating_add(linger));
    tensor.expires_ms.into_iter().chain(linger).min()
}

impl<P: Ports> Pond<P> {
    /// Brings a tensor's end up to date, after anything that moves it.
    pub(super) fn schedule(&mut self, id: TensorId) {
        let Some(tensor) = self.catalog.get_mut(id) else { return };
        let before = tensor.ends_ms;
        tensor.ends_ms = end_of(tensor);
        self.ends.set(id, before, tensor.ends_ms);
    }

    /// The tensor is taken out of the books.
    pub(super) fn unschedule(&mut self, id: TensorId) {
        let Some(tensor) = self.catalog.get_mut(id) else { return };
        let before = tensor.ends_ms.take();
        self.ends.set(id, before, None);
        self.ends.held_back.remove(&id);
    }

    /// The last lease on a tensor may just have ended.
    pub(super) fn unleased(&mut self, ports: &P, id: TensorId) {
        if let Some(tensor) = self.catalog.get_mut(id)
            && tensor.leases.is_empty()
        {
            tensor.unleased_ms = ports.monotonic_ms();
            self.schedule(id);
        }
    }

    /// Tensors of an earlier daemon: their times go on, and what is counted from the end of a lease
    /// begins now, because nobody knows their leases yet.
    pub(super) fn resume_lives(&mut self, ports: &mut P) {
        let now = ports.monotonic_ms();
        let all: Vec<TensorId> = self.catalog.iter().map(|(id, _)| id).collect();
        for id in all {
            let Some(tensor) = self.catalog.get_mut(id) else { continue };
            tensor.unleased_ms = now;
            if tensor.accesses_left == Some(0) && !tensor.deleted {
                self.end(ports, id, "all its gets were answered");
            }
            self.schedule(id);
        }
    }

    /// A client has said what it held from before, or is gone without having said it. Only now does
    /// anybody know whether its tensors were leased until now.
    pub(super) fn claims_settled(&mut self, ports: &P, caller: &Caller) {
        let now = ports.monotonic_ms();
        match self.ends.settled.iter_mut().find(|(known, _)| known == caller) {
            Some((_, at)) => *at = now,
            None => self.ends.settled.push((caller.clone(), now)),
        }
        for id in std::mem::take(&mut self.ends.held_back) {
            self.schedule(id);
        }
    }

    /// Ends what has come to its end. Returns when to come again.
    pub(super) fn end_lives(&mut self, ports: &mut P) -> Option<u64> {
        let next = self.ends.next()?;
        let now = ports.monotonic_ms();
        if next > now {
            return Some(next);
        }
        while let Some((at, id)) = self.ends.by_time.first().copied().filter(|(at, _)| *at <= now) {
            self.ends.by_time.remove(&(at, id));
            let Some(tensor) = self.catalog.get_mut(id) else { continue };
            tensor.ends_ms = None;
            if tensor.deleted {
                continue;
            }
            if tensor.expires_ms.is_some_and(|at| at <= now) {
                let lived = match tensor.ttl_ms {
                    Some(ttl) => format!("its time to live of {} was over", span(ttl)),
                    None => "its time to live was over".to_owned(),
                };
                self.end(ports, id, &lived);
            } else {
                self.end_lingering(ports, id, now);
            }
        }
        self.ends.next()
    }

    fn end_lingering(&mut self, ports: &mut P, id: TensorId, now: u64) {
        let Some(tensor) = self.catalog.get(id) else { return };
        let (slab, recovered) = (tensor.slab, tensor.recovered);
        let Some(linger) = tensor.linger_ms else { return };
        if recovered && self.may_be_held(slab) {
            // The time that it lives in any case goes on.
            self.ends.held_back.insert(id);
            if let Some(tensor) = self.catalog.get_mut(id) {
                tensor.ends_ms = tensor.expires_ms;
                self.ends.set(id, None, tensor.expires_ms);
            }
            return;
        }
        let since = if recovered { self.settled_for(slab) } else { 0 };
        let Some(tensor) = self.catalog.get_mut(id) else { return };
        tensor.unleased_ms = tensor.unleased_ms.max(since);
        if tensor.unleased_ms.saturating_add(linger) > now {
            self.schedule(id);
        } else {
            self.end(ports, id, &format!("nobody had a lease on it for {}", span(linger)));
        }
    }

    /// When it was last learned what somebody held, or had held, of this slab.
    pub(super) fn settled_for(&self, slab: millpond_wire::SlabId) -> u64 {
        let Some(slab) = self.slabs.get(slab) else { return 0 };
        let could = |caller: &Caller| caller.may_use(&slab.pool.owner, slab.pool.audience);
        let settled = self.ends.settled.iter().filter(|(caller, _)| could(caller));
        settled.map(|(_, at)| *at).max().unwrap_or(0)
    }

    fn end(&mut self, ports: &mut P, id: TensorId, why: &str) {
        let Err(error) = self.delete_now(ports, id, why) else { return };
        tracing::error!(tensor = %id, "could not record the end of a tensor: {error}");
        let again = ports.monotonic_ms().saturating_add(AGAIN_MS);
        if let Some(tensor) = self.catalog.get_mut(id) {
            let before = tensor.ends_ms.replace(again);
            self.ends.set(id, before, Some(again));
        }
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
        let Some(tensor) = self.catalog.get_mut(id) else { return Ok(false) };
        let Some(left) = tensor.accesses_left else { return Ok(false) };
        let left = left.saturating_sub(1);
        let record = Record::TensorAccessed { tensor: id, accesses_left: left, lease: Some(lease) };
        ports.journal(&record).map_err(from_port)?;
        tensor.accesses_left = Some(left);
        tensor.accesses = tensor.accesses.saturating_add(1);
        Ok(true)
    }

    /// A counted lease was released. The next daemon must not take it for one whose answer was lost.
    pub(super) fn count_release(&self, ports: &mut P, id: TensorId, lease: CountedLease) {
        let Some(left) = self.catalog.get(id).and_then(|tensor| tensor.accesses_left) else {
            return;
        };
        let record = Record::TensorAccessed { tensor: id, accesses_left: left, lease: Some(lease) };
        if let Err(error) = ports.journal(&record) {
            // After a restart it would end with its client.
            tracing::error!(tensor = %id, "could not record the end of a lease: {error}");
        }
    }

    /// The counted leases on a tensor, for a new journal.
    pub(super) fn counted_leases(&self, id: TensorId, tensor: &Tensor) -> Vec<Record> {
        let Some(accesses_left) = tensor.accesses_left else { return Vec::new() };
        let known = tensor.leases.iter().filter_map(|(client, lease)| {
            let holder = self.clients.clients.get(client)?;
            let Lease { mode, .. } = *holder.leases.get(lease).filter(|lease| lease.counted)?;
            Some(CountedLease { client: *client, lease: *lease, mode, ended: false })
        });
        let record =
            |lease| Record::TensorAccessed { tensor: id, accesses_left, lease: Some(lease) };
        known.map(record).collect()
    }

    /// What the journal says about a counted lease.
    pub(super) fn replay_lease(&mut self, id: TensorId, counted: CountedLease) {
        let CountedLease { client, lease, mode, ended } = counted;
        let Some(tensor) = self.catalog.get_mut(id).filter(|tensor| !tensor.part) else { return };
        // One that is gone holds nothing, and a mover of an earlier daemon goes.
        let holder = self.clients.clients.get_mut(&client).filter(|holder| !holder.mover);
        let Some(holder) = holder else { return };
        let known = holder.leases.get(&lease);
        if ended {
            if known.is_some_and(|known| known.target == id.into()) {
                holder.leases.remove(&lease);
                tensor.leases.remove(&(client, lease));
            }
        } else if known.is_none() {
            let since_ms = self.started_ms;
            let target = id.into();
            holder.leases.insert(lease, Lease { target, mode, since_ms, counted: true });
            tensor.leases.insert((client, lease));
        }
    }

    /// The get is granted: was it the last one?
    pub(super) fn end_if_used_up(&mut self, ports: &mut P, id: TensorId) {
        let Some(tensor) = self.catalog.get(id) else { return };
        if tensor.accesses_left == Some(0) && !tensor.deleted {
            let why = match tensor.recovered {
                // Those that an earlier daemon answered are not known one by one.
                true => "all its gets were answered".to_owned(),
                false => match tensor.accesses {
                    1 => "its only get was answered".to_owned(),
                    gets => format!("its {gets} gets were answered"),
                },
            };
            self.end(ports, id, &why);
        }
    }
}
