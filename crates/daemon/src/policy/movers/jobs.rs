//! Moves become jobs of a mover, with the leases and mappings that they need.

use std::rc::Rc;

use millpond_mover::channel::{Job, Pieces, ToMover, Work};
use millpond_wire::message::{MoveWork, TensorMove};
use millpond_wire::{ErrorKind, Failure, GpuUuid, LeaseId, Mode, SlabId, TensorId};

use super::Moving;
use crate::policy::leases::Lease;
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::release::Ending;

impl<P: Ports> Pond<P> {
    /// Sends the next job, with everything that it needs; false if there is none, or no room.
    pub(super) fn send_next(&mut self, ports: &mut P, device: GpuUuid) -> bool {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return false };
        let Some((job, mut moving)) = mover.take_next() else { return false };
        match self.lease_for_job(ports, device, &moving) {
            Ok(()) => {}
            Err(failure) => {
                self.end_move(ports, (job, &moving), Err(failure));
                self.movers.unmap_unwanted(ports, device);
                return true;
            }
        }
        let slabs = [Some(moving.slab), moving.from];
        for slab in slabs.into_iter().flatten() {
            self.map_for_job(ports, device, slab);
        }
        let work = self.work_of(&mut moving);
        let message =
            ToMover::Job(Job { job, epoch: self.identity.epoch, by: moving.by.clone(), work });
        ports.tell_mover(device, message, moving.file.take());
        moving.told_ms = ports.monotonic_ms();
        if let Some(mover) = self.movers.by_device.get_mut(&device) {
            mover.sent.insert(job, moving);
        }
        true
    }

    /// What the mover is to do. Pieces are given away: a move that fails is asked for again.
    fn work_of(&self, moving: &mut Moving<P::Fd>) -> Work {
        let at = |tensor: TensorId| self.catalog.get(tensor).map_or(0, |tensor| tensor.offset);
        let TensorMove { tensor, offset, bytes, ref mut work, .. } = moving.what;
        let (slab, base) = (moving.slab, at(tensor));
        let offset = base + offset;
        match *work {
            MoveWork::Put { file_offset } => Work::Put { slab, offset, bytes, file_offset },
            MoveWork::Get { file_offset } => Work::Get { slab, offset, bytes, file_offset },
            MoveWork::Pieces { kind, ref mut pieces, ref mut runs } => Work::Pieces(Pieces {
                kind,
                slab,
                base,
                pieces: std::mem::take(pieces),
                runs: std::mem::take(runs),
            }),
            MoveWork::Copy { from, from_offset } => Work::Copy {
                slab,
                offset,
                bytes,
                from: moving.from.unwrap_or(slab),
                from_offset: at(from) + from_offset,
            },
            MoveWork::Zero => Work::Zero { slab, offset, bytes },
        }
    }

    /// The tensors of a move: its own, and the one that it is copied from.
    fn tensors_of(what: &TensorMove) -> impl Iterator<Item = TensorId> {
        let from = match what.work {
            MoveWork::Copy { from, .. } if from != what.tensor => Some(from),
            _ => None,
        };
        std::iter::once(what.tensor).chain(from)
    }

    /// The mover's leases for a job: its tensors must not go while it works on them.
    fn lease_for_job(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        moving: &Moving<P::Fd>,
    ) -> Result<(), Failure> {
        let Some(mover) = self.movers.by_device.get(&device) else { return Ok(()) };
        let Some(client) = mover.client else { return Ok(()) };
        let gone = |tensor: &TensorId| self.catalog.get(*tensor).is_none();
        if let Some(tensor) = Self::tensors_of(&moving.what).find(gone) {
            let message = format!("tensor {tensor} was deleted");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        // The next daemon must know who may still write.
        self.record_client(ports, client)?;
        let Some(account) = self.clients.get(client).map(|it| Rc::clone(&it.account)) else {
            return Ok(());
        };
        let since_ms = ports.now_ms();
        for tensor in Self::tensors_of(&moving.what) {
            let Some(mover) = self.movers.by_device.get_mut(&device) else { return Ok(()) };
            let next = LeaseId(mover.next_lease);
            let (lease, uses) = mover.leases.entry(tensor).or_insert((next, 0));
            *uses += 1;
            if *uses == 1 {
                let lease = *lease;
                mover.next_lease += 1;
                let (target, mode) = (tensor.into(), Mode::ReadWrite);
                let begun = Lease { target, mode, since_ms, counted: false, asked: 0 };
                self.leases.begin(&account, client, lease, begun);
                self.schedule(tensor);
                self.is_held(tensor);
            }
        }
        Ok(())
    }

    fn map_for_job(&mut self, ports: &mut P, device: GpuUuid, slab: SlabId) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        let is_mapped = mover.slabs.contains_key(&slab);
        *mover.slabs.entry(slab).or_insert(0) += 1;
        if !is_mapped && let Some(found) = self.slabs.get(slab) {
            let map = ToMover::Map { slab, bytes: found.bytes, backing: found.backing };
            ports.tell_mover(device, map, found.fd.clone());
        }
    }

    /// A job that was sent needs its leases and mappings no more. Mapping a slab again for the next
    /// job would cost more than the job; but one that failed may have failed because of its mapping.
    pub(super) fn let_job_go(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        moving: &Moving<P::Fd>,
        is_done: bool,
    ) {
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        for slab in [Some(moving.slab), moving.from].into_iter().flatten() {
            if let Some(uses) = mover.slabs.get_mut(&slab) {
                *uses = uses.saturating_sub(1);
                if *uses == 0 && !is_done {
                    mover.slabs.remove(&slab);
                    *mover.unmapping.entry(slab).or_default() += 1;
                    ports.tell_mover(device, ToMover::Unmap { slab }, None);
                }
            }
        }
        self.movers.unmap_unwanted(ports, device);
        let Some(mover) = self.movers.by_device.get_mut(&device) else { return };
        let client = mover.client;
        let mut over = Vec::new();
        for tensor in Self::tensors_of(&moving.what) {
            if let Some((lease, uses)) = mover.leases.get_mut(&tensor) {
                *uses = uses.saturating_sub(1);
                if *uses == 0 {
                    over.push(*lease);
                    mover.leases.remove(&tensor);
                }
            }
        }
        let rests = mover.leases.is_empty();
        let Some(client) = client else { return };
        for lease in over {
            self.end_lease(ports, client, lease, Ending::Released);
        }
        if rests {
            self.forget_client(ports, client);
        }
    }
}
