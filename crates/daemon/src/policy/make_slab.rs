//! Slabs are asked of the driver, and asked again where memory is about to come back.

use millpond_wire::{Failure, HostId, SlabId, TransportKind};

use super::answer::from_hold;
use super::hosts::HostClass;
use super::parked::Until;
use super::pond::Pond;
use super::ports::{DriverFailure, HoldError, Ports};
use super::slabs::{Made, PendingSlab, SlabClass, SlabSize};

/// How often a slab is tried that the card had no memory for, with pauses that double.
const SLAB_TRIES: u32 = 6;
const FIRST_PAUSE_MS: u64 = 10;
/// A card frees what was given back within about 80 ms.
const FREED_WITHIN_MS: u64 = 1000;
/// How often a slab is tried that its owner may have in a moment: a process that has ended counts for
/// up to 100 ms, and one with a context takes as long to end.
const SOON_TRIES: u32 = 50;
const SOON_PAUSE_MS: u64 = 10;
/// The same where caches were asked for idle pages: those are free within a few milliseconds, or not
/// at all. Another slab may take what was meant for this one, so they are asked twice.
const PRESSED_TRIES: u32 = 20;
const PRESSED_SLAB_TRIES: u32 = 4;

impl<P: Ports> Pond<P> {
    /// Asks the driver for a slab, unless it makes one already that has room for such tensors.
    pub(super) fn request_slab(
        &mut self,
        ports: &mut P,
        class: SlabClass,
        tensor_bytes: u64,
    ) -> Result<SlabId, Failure> {
        if class.size != SlabSize::Own
            && let Some(making) = self.pending_slabs.shared_by(&class)
        {
            return Ok(making);
        }
        let bytes = class.slab_bytes(tensor_bytes);
        let host = host_class(&class);
        if let Some(host) = &host {
            self.may_have_host(ports, host)?;
        }
        self.make_room(ports, class.device, bytes, host.as_ref())?;
        let slab = SlabId(ports.random_id());
        self.pending_slabs.insert(slab, PendingSlab::new(class.clone(), bytes, None));
        self.ask_for(ports, slab, &class, bytes);
        Ok(slab)
    }

    /// The driver made a slab, or did not.
    pub fn slab_made(&mut self, ports: &mut P, id: SlabId, result: Result<P::Fd, DriverFailure>) {
        self.slab_done(ports, id, result.map(Made::of_descriptor));
    }

    /// The owner of a slab was charged for it, or may not have it: now somebody makes it, or proves
    /// that it is there.
    pub fn slab_charged(&mut self, ports: &mut P, id: SlabId, result: Result<(), DriverFailure>) {
        if self.hosts.knows(HostId(id.0)) {
            return self.host_charged(ports, HostId(id.0), result);
        }
        if self.adoptions.knows(id) {
            return self.adoption_charged(ports, id, result);
        }
        let transport = self.pending_slabs.class_of(id).map(|class| class.transport);
        match (result, transport) {
            (Err(failure), _) => self.slab_done(ports, id, Err(failure)),
            (Ok(()), Some(TransportKind::Ipc)) => self.allocate_in_host(ports, id),
            (Ok(()), Some(TransportKind::Mempool)) => self.make_pool(ports, id),
            // Nobody wants it any more.
            (Ok(()), _) => ports.uncharge_slab(id),
        }
    }

    /// The memory of a slab is there, or is not.
    pub(super) fn slab_done(
        &mut self,
        ports: &mut P,
        id: SlabId,
        result: Result<Made<P::Fd>, DriverFailure>,
    ) {
        let Some(pending) = self.pending_slabs.take(id) else { return };
        let again = match &result {
            Err(DriverFailure { over_limit: Some(over), .. }) => {
                self.try_slab_in_group(ports, id, &pending, over.soon)
            }
            Err(failure) if failure.out_of_memory => self.try_slab_again(ports, id, &pending),
            _ => false,
        };
        if again {
            return;
        }
        let failure = match result {
            Ok(memory) => {
                let made = (pending.class.clone(), pending.bytes);
                match self.slabs.commit(ports, id, made, memory.clone()) {
                    Ok(()) => None,
                    Err(HoldError::Full) => {
                        // Whoever waits for it waits on.
                        self.pending_slabs.insert(id, pending);
                        self.unheld_slabs.push_back((id, memory));
                        return;
                    }
                    Err(error) => Some(from_hold(error)),
                }
            }
            Err(failure) => Some(self.slab_failure(&pending.class, pending.bytes, &failure)),
        };
        self.end_slab(ports, id, &pending, failure);
    }

    /// There will be no memory for a slab, and no other memory would change that. Nobody pays for it.
    pub(super) fn refuse_slab(&mut self, ports: &mut P, id: SlabId, answer: Failure) {
        ports.uncharge_slab(id);
        if let Some(pending) = self.pending_slabs.take(id) {
            self.end_slab(ports, id, &pending, Some(answer));
        }
    }

    /// Answers everybody who waits for a slab.
    fn end_slab(
        &mut self,
        ports: &mut P,
        id: SlabId,
        pending: &PendingSlab,
        failure: Option<Failure>,
    ) {
        if let Some(key) = pending.version {
            self.slab_for_version(ports, key, id, failure.clone());
        }
        for waiting in self.parked.take_all(Until::Slab(id)) {
            match &failure {
                None => self.resume(ports, waiting),
                Some(failure) => self.respond(ports, waiting.by, Err(failure.clone())),
            }
        }
        // Nobody took it: its creator hung up meanwhile.
        let untaken = self.slabs.get(id).filter(|slab| slab.tensors == 0);
        let is_in_host = untaken.is_some_and(|slab| slab.class.transport == TransportKind::Ipc);
        match untaken.map(|slab| slab.class.size) {
            Some(SlabSize::Own) if !is_in_host => self.slabs.let_go(ports, id),
            Some(_) => self.recycle_or_drop(ports, id),
            None => {}
        }
    }

    /// What this pond has just given back, the card frees a moment later; and what it keeps for
    /// others to use again, it can give back now. True if the slab will be tried again.
    fn try_slab_again(&mut self, ports: &mut P, id: SlabId, pending: &PendingSlab) -> bool {
        let now = ports.monotonic_ms();
        let PendingSlab { class, bytes, .. } = pending;
        let host = host_class(class);
        let dropped = self.give_back_unused(ports, class.device, *bytes, None, host.as_ref());
        let recently =
            self.slabs.gave_back_ms().is_some_and(|at| now.saturating_sub(at) < FREED_WITHIN_MS);
        let now_due = pending.tries == 0 || pending.tries == PRESSED_SLAB_TRIES / 2;
        let pressed = self.press_caches(ports, pending, now_due);
        let hope = dropped > 0 || recently || pressed && pending.tries < PRESSED_SLAB_TRIES;
        if pending.tries >= SLAB_TRIES || !hope {
            return false;
        }
        let again_ms = now + (FIRST_PAUSE_MS << pending.tries);
        let tries = pending.tries + 1;
        self.pending_slabs
            .insert(id, PendingSlab { tries, again_ms: Some(again_ms), ..pending.clone() });
        true
    }

    /// What is kept for a user to use again is charged to the user's group as well; and what ended a
    /// moment ago has something that comes back. True if the slab is tried once more, at once or soon.
    fn try_slab_in_group(
        &mut self,
        ports: &mut P,
        id: SlabId,
        pending: &PendingSlab,
        soon: bool,
    ) -> bool {
        let (device, user) = (pending.class.device, pending.class.owner.user);
        let host = host_class(&pending.class);
        let dropped = match pending.waits {
            0 if self.payers.is_charged(user) => {
                self.give_back_unused(ports, device, u64::MAX, Some(user), host.as_ref())
            }
            // Others were promised what is kept for anybody whom no group pays for.
            0 => self.give_back_unused(ports, device, pending.bytes, None, host.as_ref()),
            _ => 0,
        };
        let dropped = dropped > 0;
        let now_due = pending.waits == 0 || pending.waits == PRESSED_TRIES / 2;
        let pressed = self.press_caches(ports, pending, now_due);
        let waits_on =
            soon && pending.waits < SOON_TRIES || pressed && pending.waits < PRESSED_TRIES;
        if !(dropped || waits_on) {
            return false;
        }
        let again_ms = (!dropped).then(|| ports.monotonic_ms() + SOON_PAUSE_MS);
        let waits = pending.waits + 1;
        self.pending_slabs.insert(id, PendingSlab { waits, again_ms, ..pending.clone() });
        if dropped {
            // Closing comes before this in the driver thread's queue.
            self.ask_for(ports, id, &pending.class, pending.bytes);
        }
        true
    }

    /// Asks the driver again for slabs whose time has come. Returns when to come again.
    pub(super) fn retry_slabs(&mut self, ports: &mut P) -> Option<u64> {
        for (id, PendingSlab { class, bytes, .. }) in
            self.pending_slabs.take_due(ports.monotonic_ms())
        {
            self.ask_for(ports, id, &class, bytes);
        }
        self.pending_slabs.next()
    }

    /// The driver thread makes memory with descriptors. For memory that somebody else makes, it only
    /// has the owner charged.
    fn ask_for(&mut self, ports: &mut P, slab: SlabId, class: &SlabClass, bytes: u64) {
        let (device, user) = (class.device, class.owner.user);
        match class.transport {
            TransportKind::Vmm => ports.make_slab(slab, device, bytes, user),
            TransportKind::Mempool | TransportKind::Ipc => {
                if ports.charge_slab(slab, device, bytes, user) {
                    self.slab_charged(ports, slab, Ok(()));
                }
            }
            TransportKind::Fabric => ports.try_fabric(slab, device),
        }
    }
}

/// The hosts that make such slabs.
fn host_class(class: &SlabClass) -> Option<HostClass> {
    (class.transport == TransportKind::Ipc).then(|| HostClass::from(class))
}
