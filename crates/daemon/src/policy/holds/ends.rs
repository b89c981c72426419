//! Holds end: with their process, in steps where it had very many, and whichever daemon there is.

use millpond_view::units::count;
use millpond_wire::message::EventKind;
use millpond_wire::record::{HoldRecord, HolderProcess};
use millpond_wire::{Failure, TensorId};

use super::is_watched;
use crate::policy::pond::Pond;
use crate::policy::ports::{HolderSeen, Ports};

/// Holds that end in one step.
const STEP: usize = 256;
/// When an end is tried again that could not be recorded.
const AGAIN_MS: u64 = 1000;

impl<P: Ports> Pond<P> {
    /// A process that tensors are held for is gone.
    pub fn holder_gone(&mut self, ports: &mut P, process: HolderProcess) {
        ports.unwatch_holder(process);
        if self.holds.knows(process) && !self.holds.gone.contains(&process) {
            self.holds.gone.push_back(process);
        }
    }

    /// Ends some holds of processes that are gone. Returns when to come again.
    pub(in crate::policy) fn end_some_holds(&mut self, ports: &mut P) -> Option<u64> {
        let mut left = STEP;
        while let Some(process) = self.holds.gone.front().copied().filter(|_| left > 0) {
            let of = self.holds.processes.get(&process).into_iter().flatten();
            let of = of.flat_map(|(user, held)| held.tensors.iter().map(|tensor| (*tensor, *user)));
            let some: Vec<(TensorId, u32)> = of.take(left).collect();
            left -= some.len();
            for (tensor, user) in some {
                if let Err(failure) = self.end_hold_of(ports, process, tensor, user) {
                    tracing::error!(%tensor, "could not record the end of a hold: {failure}");
                    return Some(ports.monotonic_ms().saturating_add(AGAIN_MS));
                }
            }
            if !self.holds.knows(process) {
                self.holds.gone.pop_front();
            }
        }
        (!self.holds.gone.is_empty()).then(|| ports.monotonic_ms())
    }

    fn end_hold_of(
        &mut self,
        ports: &mut P,
        process: HolderProcess,
        id: TensorId,
        user: u32,
    ) -> Result<(), Failure> {
        let (holder, pid) = (Some(process), process.pid);
        let had = self.holds.count_of(id, holder, user);
        self.change(ports, id, (holder, user), 0, None)?;
        let Some(tensor) = self.catalog.get(id) else { return Ok(()) };
        let (name, slab) = (tensor.name.clone(), tensor.slab);
        // What it had given to the GPU nobody knows.
        self.slabs.taint(ports, slab);
        let owner = self.slabs.get(slab).map(|slab| slab.class.owner.user);
        let text = format!("process {pid} is gone; it had {}", count(had, "hold"));
        self.happened(ports, EventKind::HoldEnded, Some(id.into()), name, owner, text);
        if !self.holds.are_on(id) {
            self.last_hold_ended(ports, id, &format!("process {pid}, which held it last, is gone"));
        }
        Ok(())
    }

    /// Nobody holds a tensor any more that was made to be held.
    pub(super) fn last_hold_ended(&mut self, ports: &mut P, id: TensorId, why: &str) {
        let Some(tensor) = self.catalog.get(id) else { return };
        if tensor.is_deleted() {
            self.free_if_unused(ports, id);
        } else {
            self.end(ports, id, why);
        }
    }

    /// Whether a tensor has come to its end with its last hold, and is there still.
    pub(in crate::policy) fn is_unheld(&self, id: TensorId) -> bool {
        let tensor = self.catalog.get(id);
        tensor.is_some_and(|it| it.is_held() && !it.is_deleted()) && !self.holds.are_on(id)
    }

    /// Whether anybody has a lease or a hold on a tensor.
    pub(in crate::policy) fn is_in_use(&self, id: TensorId) -> bool {
        self.leases.are_on(id) || self.holds.are_on(id)
    }

    /// What a change of holds means for the books, now or when it is replayed.
    pub(in crate::policy) fn replay_hold(&mut self, record: HoldRecord) {
        let HoldRecord { tensor: id, process, user, count, told } = record;
        if let Some(told) = told {
            self.holds.told.remember(told);
        }
        let Some(tensor) = self.catalog.get(id).filter(|tensor| tensor.is_held()) else { return };
        // A delete has ended those, whatever a damaged journal says.
        let is_over = tensor.is_deleted() && !is_watched(process);
        if let Some(tenant) = self.tenant_of(id).filter(|_| !is_over) {
            self.holds.set(id, &tenant, (process, user), count);
        }
    }

    /// Processes of an earlier daemon are watched again. Those that are not there any more, and
    /// those whose number is another's now, are gone.
    pub(in crate::policy) fn settle_holds(&mut self, ports: &mut P) {
        let processes: Vec<HolderProcess> = self.holds.processes.keys().copied().collect();
        for process in processes {
            match ports.watch_holder(process.pid, process.started) {
                HolderSeen::Watched(_) => {}
                HolderSeen::NoSuch => self.holds.gone.push_back(process),
                HolderSeen::Short(why) => {
                    let pid = process.pid;
                    tracing::error!(pid, "the end of a holder goes unnoticed: {why}");
                }
            }
        }
        let over: Vec<TensorId> =
            self.catalog.iter().map(|(id, _)| id).filter(|id| self.is_unheld(*id)).collect();
        for id in over {
            self.end(ports, id, "its last hold has ended");
        }
    }
}
