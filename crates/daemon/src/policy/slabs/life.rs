//! Slabs come, are tainted, and go: each change is durable before it counts.

use millpond_mover::channel::ToMover;
use millpond_wire::record::Record;
use millpond_wire::{GpuUuid, SlabId, Transport};

use super::{Home, Made, Slab, SlabClass, Slabs};
use crate::policy::owner::{Caller, Owner};
use crate::policy::ports::{Held, HoldError, PortError, Ports};

impl<F: Clone> Slabs<F> {
    /// The driver has made a slab: hold, then journal. If the keeper is full, nothing was done.
    pub(in crate::policy) fn commit(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        id: SlabId,
        (class, bytes): (SlabClass, u64),
        made: Made<F>,
    ) -> Result<(), HoldError> {
        let slab = Slab::new(class, bytes, made);
        let held =
            slab.fd.as_ref().map_or(Ok(()), |fd| ports.hold(Held::Slab(id), slab.backing, fd));
        match held {
            Ok(()) => {}
            Err(HoldError::Full) => return Err(HoldError::Full),
            Err(error) => {
                self.give_up(ports, id, slab);
                return Err(error);
            }
        }
        if let Err(error) = ports.journal(&slab.record(id)) {
            self.give_up(ports, id, slab);
            return Err(error.into());
        }
        self.counts.made.add(bytes);
        self.insert(id, slab);
        Ok(())
    }

    /// Nothing new goes into this slab, and the next daemon knows.
    pub(in crate::policy) fn taint(&mut self, ports: &mut impl Ports<Fd = F>, slab: SlabId) {
        if self.mark_tainted(slab) || self.is_untold(slab) {
            self.record_taint(ports, slab);
        }
        self.let_go_if_useless(ports, slab);
    }

    /// Until it is recorded, nothing may make the next daemon use the slab again: no tensor in it
    /// is freed, and who died with it stays known.
    pub(in crate::policy) fn record_taint(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        slab: SlabId,
    ) -> bool {
        let recorded = ports.journal(&Record::SlabTainted(slab));
        self.taint_is_recorded(slab, recorded.is_ok());
        if let Err(error) = &recorded {
            tracing::error!(%slab, "could not record that a slab is not recycled: {error}");
        }
        recorded.is_ok()
    }

    /// A user gets a lease on a tensor of this slab. Another's slab is journalled as borrowed, once.
    pub(in crate::policy) fn lend(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        id: SlabId,
        user: &Owner,
    ) -> Result<(), PortError> {
        let Some(slab) = self.slabs.get_mut(&id) else { return Ok(()) };
        if slab.class.owner.is_user(user) || !slab.borrowers.lacks(user.user) {
            return Ok(());
        }
        ports.journal(&Record::SlabBorrowed { slab: id, user: user.user })?;
        slab.borrowers.add(user.user);
        Ok(())
    }

    /// Taints every slab that a client of an earlier daemon may have held.
    pub(in crate::policy) fn taint_recovered(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        caller: &Caller,
    ) {
        let slabs: Vec<SlabId> = self
            .iter()
            .filter(|(_, slab)| slab.recovered && slab.may_be_held_by(caller))
            .map(|(id, _)| id)
            .collect();
        for slab in slabs {
            self.taint(ports, slab);
        }
    }

    fn let_go_if_useless(&mut self, ports: &mut impl Ports<Fd = F>, id: SlabId) {
        // Idle memory of a host is never handed out, so a death does not taint it.
        let is_useless = |slab: &Slab<F>| slab.tensors == 0 && slab.tainted && slab.is_recyclable();
        if self.get(id).is_some_and(is_useless) {
            self.let_go(ports, id);
        }
    }

    /// Journal, then let go: the driver frees the memory when the last mapping is gone.
    pub(in crate::policy) fn let_go(&mut self, ports: &mut impl Ports<Fd = F>, id: SlabId) {
        if let Err(error) = ports.journal(&Record::SlabGone(id)) {
            tracing::error!(slab = %id, "could not record that a slab is gone: {error}");
            return;
        }
        if let Some(slab) = self.give_back(id, ports.monotonic_ms()) {
            self.give_up(ports, id, slab);
        }
    }

    /// Lets the memory of a slab go that is in no book any more.
    fn give_up(&mut self, ports: &mut impl Ports<Fd = F>, id: SlabId, slab: Slab<F>) {
        match (slab.home, slab.backing.transport) {
            // Its host frees it, and says when that has happened.
            (Some(Home::Host(host)), _) if !slab.orphan => self.unkept.push((host, id)),
            (Some(_), _) => ports.uncharge_slab(id),
            (None, transport) => {
                if matches!(transport, Transport::Mempool(_)) && !slab.backing.adopted {
                    ports.tell_mover(slab.class.device, ToMover::DropPool { slab: id }, None);
                }
                ports.let_go(Held::Slab(id), slab.fd);
            }
        }
    }

    /// Drops empty slabs, of anybody or of one user, until `bytes` more fit; returns what was dropped.
    /// Those that can be used again are one kind, idle memory of hosts is the other.
    pub(in crate::policy) fn drop_recycled(
        &mut self,
        ports: &mut impl Ports<Fd = F>,
        device: GpuUuid,
        bytes: u64,
        of: Option<u32>,
        recyclable: bool,
    ) -> u64 {
        let mut dropped = 0;
        let empty = self.recycled_on(device).filter(|(_, slab)| {
            slab.is_recyclable() == recyclable
                && of.is_none_or(|user| slab.class.owner.user == user)
        });
        let empty: Vec<(SlabId, u64)> = empty.map(|(id, slab)| (id, slab.bytes)).collect();
        for (id, slab_bytes) in empty {
            if dropped >= bytes {
                break;
            }
            // A silent client may still map it; then dropping frees nothing, but harms nothing.
            self.let_go(ports, id);
            // What could not be recorded as gone is still there.
            if self.get(id).is_none() {
                dropped += slab_bytes;
            }
        }
        dropped
    }
}
