//! Slabs are asked of hosts, and hosts answer.

use std::collections::BTreeSet;

use millpond_host::channel::{FromHost, NO_EVENT, ToHost, Why};
use millpond_view::units::{bytes as format_bytes, count};
use millpond_wire::message::HostInfo;
use millpond_wire::{Backing, Epoch, Failure, HostId, SlabId, Transport, caps};

use super::{Host, HostClass, Phase};
use crate::accounts::Resource;
use crate::policy::pond::Pond;
use crate::policy::ports::{DriverFailure, Ports};
use crate::policy::slabs::{Home, Made};

impl<P: Ports> Pond<P> {
    /// Has a slab made by a host; its owner was charged for it.
    pub(in crate::policy) fn allocate_in_host(&mut self, ports: &mut P, slab: SlabId) {
        let Some(class) = self.pending_slabs.class_of(slab).map(HostClass::from) else {
            return ports.uncharge_slab(slab);
        };
        let found = self.hosts.hosts.iter().find(|(_, host)| host.takes(&class));
        let id = match found.map(|(id, _)| *id) {
            Some(id) => id,
            None => {
                let account = self.account(&class.owner);
                if account.check(Resource::Hosts, 1).is_err() && self.end_one_of(ports, &class) {
                    return self.hosts.after_an_end.push(slab);
                }
                match self.start_host(ports, class) {
                    Ok(id) => id,
                    Err(failure) => return self.refuse_slab(ports, slab, failure),
                }
            }
        };
        if let Some(host) = self.hosts.hosts.get_mut(&id) {
            host.waiting.push_back(slab);
        }
        self.feed_host(ports, id);
    }

    /// Whether a user may have memory of this class, now or when a host has ended.
    pub(in crate::policy) fn may_have_host(
        &mut self,
        ports: &mut P,
        class: &HostClass,
    ) -> Result<(), Failure> {
        if self.hosts.hosts.values().any(|host| host.takes(class)) || self.has_end(class) {
            return Ok(());
        }
        self.room_for_host(ports, class)
    }

    /// Whether a user may have one host more: hosts are few, because each takes a context.
    pub(super) fn room_for_host(
        &mut self,
        ports: &mut P,
        class: &HostClass,
    ) -> Result<(), Failure> {
        let account = self.account(&class.owner);
        let Err(refused) = account.check(Resource::Hosts, 1) else { return Ok(()) };
        let mut failure = self.cap_reached(ports, &account, refused);
        let keeps: Vec<String> = self
            .host_list()
            .iter()
            .filter(|host| host.user == class.owner.user)
            .take(caps::FAILURE_LIST)
            .map(|host| {
                let tensors = count(host.tensors.into(), "tensor");
                format!("pid {} keeps {tensors}, {}", host.pid, format_bytes(host.bytes))
            })
            .collect();
        failure.message = format!("{}: {}", failure.message, keeps.join("; "));
        Err(failure)
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
                host.phase = Phase::Ready;
                self.context_measured(ports, id, context_bytes);
                self.feed_host(ports, id);
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
                    self.seal_host(ports, id);
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
        self.context_measured(ports, id, context_bytes);
        let kept: BTreeSet<SlabId> =
            self.slabs.kept_by(Home::Host(id)).map(|(slab, _)| slab).collect();
        let lost = kept.difference(&reported).copied().collect();
        self.orphan(ports, lost, "its host does not have its memory any more");
        for slab in reported.difference(&kept) {
            self.free_in_host(ports, id, *slab);
        }
        if sealed {
            self.seal_host(ports, id);
        }
        self.feed_host(ports, id);
        self.end_if_empty(ports, id);
    }

    /// The owner pays for the context as well, before there is one.
    pub(super) fn charge_context(&mut self, ports: &mut P, id: HostId) {
        let Some(host) = self.hosts.hosts.get(&id) else { return };
        let (device, user, bytes) = (host.class.device, host.class.owner.user, host.context_bytes);
        if bytes == 0 || ports.charge_slab(SlabId(id.0), device, bytes, user) {
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
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        match result {
            Ok(()) => {
                host.phase = Phase::Starting;
                self.await_host(ports, id);
                ports.start_host(id);
            }
            Err(failure) => {
                let waiting = std::mem::take(&mut host.waiting);
                self.hosts.hosts.remove(&id);
                for slab in waiting {
                    self.no_memory(ports, slab, failure.clone());
                }
            }
        }
    }

    /// What a host says of its context is what its owner pays for: it is there, whether the owner may
    /// have it or not.
    fn context_measured(&mut self, ports: &mut P, id: HostId, bytes: u64) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        let (device, user) = (host.class.device, host.class.owner.user);
        self.hosts.measured.insert(device, bytes);
        match std::mem::replace(&mut host.context_bytes, bytes) {
            before if before == bytes => {}
            _ if bytes == 0 => ports.uncharge_slab(SlabId(id.0)),
            _ => ports.count_slab(SlabId(id.0), device, bytes, user),
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
        let mut mapped = Vec::new();
        // What is freed seals its host, and then what is idle there is to be freed as well.
        while let unkept = self.slabs.take_unkept()
            && !unkept.is_empty()
        {
            for (id, slab) in unkept {
                match self.movers.have_mapped(slab) {
                    true => mapped.push((id, slab)),
                    false => self.free_in_host(ports, id, slab),
                }
            }
        }
        mapped.into_iter().for_each(|(id, slab)| self.slabs.keep_unkept(id, slab));
        for lent in self.adoptions.take_lent() {
            match self.movers.have_mapped(lent.slab) {
                true => self.adoptions.keep_lent(lent),
                false => self.tell_adopter(ports, &lent),
            }
        }
    }

    fn free_in_host(&mut self, ports: &mut P, id: HostId, slab: SlabId) {
        self.seal_host(ports, id);
        let Some(host) = self.hosts.hosts.get_mut(&id) else {
            return ports.uncharge_slab(slab);
        };
        host.freeing.insert(slab);
        if host.phase == Phase::Ready {
            if self.end_if_empty(ports, id) {
                return;
            }
            ports.tell_host(id, ToHost::Free { slab });
        } else if !self.slabs.has_tensors_in(Home::Host(id)) {
            // One that nobody can speak to is not needed any more either.
            self.await_host(ports, id);
        }
    }

    /// Ends a host that makes no more memory and has none; true if it ends.
    fn end_if_empty(&mut self, ports: &mut P, id: HostId) -> bool {
        let is_empty = self.slabs.kept_by(Home::Host(id)).next().is_none();
        let Some(host) = self.hosts.hosts.get(&id) else { return false };
        let ends = is_empty && host.sealed && !host.is_wanted() && host.phase == Phase::Ready;
        if ends {
            self.end_host(ports, id);
        }
        ends
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
