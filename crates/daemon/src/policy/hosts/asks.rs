//! Slabs are asked of hosts, and hosts answer.

use std::collections::BTreeSet;

use millpond_host::channel::{FromHost, NO_EVENT, ToHost, Why};
use millpond_wire::message::HostInfo;
use millpond_wire::{Backing, Epoch, ErrorKind, Failure, HostId, SlabId, Transport};

use super::{HOSTS_PER_USER, Host, HostClass, Phase};
use crate::policy::pond::Pond;
use crate::policy::ports::{DriverFailure, Ports};
use crate::policy::slabs::{Home, Made, SlabClass};

impl<P: Ports> Pond<P> {
    /// Has a slab made by a host; its owner was charged for it.
    pub(in crate::policy) fn allocate_in_host(&mut self, ports: &mut P, slab: SlabId) {
        let Some(class) = self.pending_slabs.class_of(slab).map(HostClass::from) else {
            return ports.uncharge_slab(slab);
        };
        let found = self.hosts.hosts.iter().find(|(_, host)| host.takes(&class));
        let id = match found.map(|(id, _)| *id) {
            Some(id) => id,
            None => self.start_host(ports, class),
        };
        if let Some(host) = self.hosts.hosts.get_mut(&id) {
            host.waiting.push_back(slab);
        }
        self.feed_host(ports, id);
    }

    /// Whether a user may have memory of this class: hosts are few, because each takes a context.
    pub(in crate::policy) fn may_have_host(&self, class: &SlabClass) -> Result<(), Failure> {
        let (user, class) = (class.owner.user, HostClass::from(class));
        let is_there = self.hosts.hosts.values().any(|host| host.takes(&class));
        if is_there || self.hosts.of_user(user) < HOSTS_PER_USER {
            return Ok(());
        }
        let message = format!(
            "user {user} has {HOSTS_PER_USER} hosts already; each keeps memory of transport 'ipc' \
             that is still in use"
        );
        Err(Failure::new(ErrorKind::TooMany, message)
            .hint("`millpond status` shows them: delete such tensors, or use the transport 'vmm'"))
    }

    pub(super) fn feed_host(&mut self, ports: &mut P, id: HostId) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        let rested = host.phase == Phase::Ready && host.asked.is_empty();
        if host.phase == Phase::Ready {
            while let Some(slab) = host.waiting.pop_front() {
                let Some(bytes) = self.pending_slabs.bytes_of(slab) else {
                    ports.uncharge_slab(slab);
                    continue;
                };
                host.asked.insert(slab);
                // What a host allocates is new to its process, and so the driver's zeroes.
                ports.tell_host(id, ToHost::Allocate { slab, bytes, zero: false });
            }
        }
        // Of one that is at work, more work is no sign of life.
        if rested {
            self.await_host(ports, id);
        }
    }

    /// A host has said something.
    pub fn host_said(&mut self, ports: &mut P, id: HostId, said: FromHost) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        match said {
            FromHost::Ready { context_bytes } if host.phase == Phase::Starting => {
                host.phase = Phase::Charging;
                self.charge_context(ports, id, context_bytes);
            }
            FromHost::Ready { .. } => {}
            FromHost::Failed { text } => self.host_failed(ports, id, &text),
            FromHost::Holds { epoch, held } => {
                if epoch == self.identity.epoch {
                    host.reported.extend(held.into_iter().map(|held| held.slab));
                }
            }
            FromHost::HoldsEnd { epoch, sealed, context_bytes } => {
                self.host_reported(ports, id, epoch, sealed, context_bytes);
            }
            FromHost::Allocated { slab, memory, event } => {
                let wanted =
                    host.asked.remove(&slab) && self.pending_slabs.class_of(slab).is_some();
                if wanted {
                    let backing = Backing { transport: Transport::Ipc(memory), adopted: false };
                    let event = Some(event).filter(|event| *event != NO_EVENT);
                    let home = Some(Home::Host(id));
                    self.slab_done(ports, slab, Ok(Made { backing, fd: None, home, event }));
                } else if self.slabs.get(slab).is_none() {
                    self.free_in_host(ports, id, slab);
                }
            }
            FromHost::NotAllocated { slab, why, text } => {
                if !host.asked.remove(&slab) {
                    return;
                }
                if why == Why::Sealed {
                    host.sealed = true;
                    self.allocate_in_host(ports, slab);
                } else {
                    let out_of_memory = why == Why::OutOfMemory;
                    let failure = DriverFailure { out_of_memory, text, over_limit: None };
                    self.no_memory(ports, slab, failure);
                }
            }
            FromHost::Freed { slab } => {
                if host.freeing.remove(&slab) {
                    ports.uncharge_slab(slab);
                }
            }
        }
        self.await_host(ports, id);
    }

    /// What a host of an earlier daemon has is compared with the books: what they lack, it frees, and
    /// what it lacks, is lost.
    fn host_reported(
        &mut self,
        ports: &mut P,
        id: HostId,
        epoch: Epoch,
        sealed: bool,
        context_bytes: u64,
    ) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        if epoch != self.identity.epoch || host.phase != Phase::Recovering {
            return;
        }
        let reported = std::mem::take(&mut host.reported);
        host.phase = Phase::Ready;
        host.sealed = sealed;
        if context_bytes > 0 {
            // It is there, whether its owner may have it or not.
            host.context_bytes = context_bytes;
            let (device, user) = (host.class.device, host.class.owner.user);
            ports.count_slab(SlabId(id.0), device, context_bytes, user);
        }
        let kept: BTreeSet<SlabId> =
            self.slabs.kept_by(Home::Host(id)).map(|(slab, _)| slab).collect();
        let lost = kept.difference(&reported).copied().collect();
        self.orphan(ports, lost, "its host does not have its memory any more");
        for slab in reported.difference(&kept) {
            self.free_in_host(ports, id, *slab);
        }
        self.feed_host(ports, id);
        self.end_if_empty(ports, id);
    }

    /// The owner pays for the context as well.
    fn charge_context(&mut self, ports: &mut P, id: HostId, context_bytes: u64) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        host.context_bytes = context_bytes;
        let (device, user) = (host.class.device, host.class.owner.user);
        let charged =
            context_bytes == 0 || ports.charge_slab(SlabId(id.0), device, context_bytes, user);
        if charged {
            self.host_charged(ports, id, Ok(()));
        }
    }

    /// The owner of a host was charged for its context, or may not have it.
    pub(in crate::policy) fn host_charged(
        &mut self,
        ports: &mut P,
        id: HostId,
        result: Result<(), DriverFailure>,
    ) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else {
            if result.is_ok() {
                ports.uncharge_slab(SlabId(id.0));
            }
            return;
        };
        match result {
            Ok(()) => {
                if host.phase == Phase::Charging {
                    host.phase = Phase::Ready;
                    self.feed_host(ports, id);
                }
            }
            Err(failure) => {
                host.context_bytes = 0;
                if host.phase == Phase::Charging {
                    host.phase = Phase::Ending;
                    let waiting = std::mem::take(&mut host.waiting);
                    ports.tell_host(id, ToHost::Stop);
                    for slab in waiting {
                        self.no_memory(ports, slab, failure.clone());
                    }
                    self.await_host(ports, id);
                }
            }
        }
    }

    /// The memory for a slab could not be made, and nobody pays for it.
    pub(in crate::policy) fn no_memory(
        &mut self,
        ports: &mut P,
        slab: SlabId,
        failure: DriverFailure,
    ) {
        ports.uncharge_slab(slab);
        self.slab_done(ports, slab, Err(failure));
    }

    /// Has hosts free what nobody has any more, and tells owners of what they lent. The last memory of a
    /// host goes with its process. What is freed under a mapping the driver promises nothing about, so a
    /// mover has to unmap it first.
    pub(in crate::policy) fn free_in_hosts(&mut self, ports: &mut P) {
        for (id, slab) in self.slabs.take_unkept() {
            match self.movers.have_mapped(slab) {
                true => self.slabs.keep_unkept(id, slab),
                false => self.free_in_host(ports, id, slab),
            }
        }
        for lent in self.adoptions.take_lent() {
            match self.movers.have_mapped(lent.slab) {
                true => self.adoptions.keep_lent(lent),
                false => self.tell_adopter(ports, &lent),
            }
        }
    }

    fn free_in_host(&mut self, ports: &mut P, id: HostId, slab: SlabId) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else {
            return ports.uncharge_slab(slab);
        };
        host.sealed = true;
        host.freeing.insert(slab);
        if host.phase == Phase::Ready {
            if self.end_if_empty(ports, id) {
                return;
            }
            ports.tell_host(id, ToHost::Free { slab });
        } else if self.slabs.kept_by(Home::Host(id)).next().is_none() {
            // One that nobody can speak to is not needed any more either.
            self.await_host(ports, id);
        }
    }

    /// Ends a host that makes no more memory and has none; true if it ends.
    fn end_if_empty(&mut self, ports: &mut P, id: HostId) -> bool {
        let is_empty = self.slabs.kept_by(Home::Host(id)).next().is_none();
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return false };
        if !is_empty || !host.sealed || host.is_wanted() || host.phase != Phase::Ready {
            return false;
        }
        host.phase = Phase::Ending;
        ports.tell_host(id, ToHost::Stop);
        self.await_host(ports, id);
        true
    }

    /// Hosts that run, for `status`.
    pub(in crate::policy) fn host_list(&self) -> Vec<HostInfo> {
        let info = |(id, host): (&HostId, &Host<P::Fd>)| {
            let (mut tensors, mut bytes) = (0, 0);
            for (_, slab) in self.slabs.kept_by(Home::Host(*id)) {
                tensors += slab.tensors;
                bytes += slab.bytes;
            }
            HostInfo {
                host: *id,
                device: host.class.device,
                user: host.class.owner.user,
                audience: host.class.audience,
                pid: host.pid,
                tensors,
                bytes,
                context_bytes: host.context_bytes,
                sealed: host.sealed,
            }
        };
        self.hosts.hosts.iter().map(info).collect()
    }
}
