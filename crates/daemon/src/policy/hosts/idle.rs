//! Unused memory of hosts: memory whose tensors are gone, and contexts. It is given back when the room
//! is needed.
//!
//! A host that frees memory makes no more, and the next one takes another context. So memory that
//! is unused is not freed at once. It is never handed out again either: old handles open it.

use millpond_wire::{GpuUuid, HostId, SlabId};

use super::{Host, HostClass, Phase};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::slabs::Home;

/// Idle memory of one host: less than the context that another host would take.
const IDLE_BYTES: u64 = 256 << 20;

impl<P: Ports> Pond<P> {
    /// Leaves memory without a tensor in its host. Returns false if it must be freed now.
    pub(in crate::policy) fn keep_idle(&mut self, ports: &mut P, id: HostId, slab: SlabId) -> bool {
        let slabs = &self.slabs;
        let Some(of) = slabs.get(slab) else { return false };
        // A group's programs could not have it.
        let is_charged = self.payers.is_charged(of.class.owner.user);
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return false };
        if host.sealed || host.phase == Phase::Ending || of.orphan || is_charged {
            return false;
        }
        host.idle.insert(slab);
        host.idle.retain(|slab| slabs.get(*slab).is_some_and(|slab| slab.tensors == 0));
        let bytes: u64 =
            host.idle.iter().filter_map(|slab| slabs.get(*slab)).map(|it| it.bytes).sum();
        if bytes > self.caps.recycle_bytes.min(IDLE_BYTES) {
            host.idle.remove(&slab);
            return false;
        }
        self.await_host(ports, id);
        true
    }

    /// Nothing more is made in a host, so its idle memory is of no use.
    pub(super) fn seal_host(&mut self, ports: &mut P, id: HostId) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        host.sealed = true;
        for slab in std::mem::take(&mut host.idle) {
            if self.slabs.get(slab).is_some_and(|slab| slab.tensors == 0) {
                self.slabs.let_go(ports, slab);
            }
        }
    }

    /// Ends a host, with its idle memory.
    pub(super) fn end_host(&mut self, ports: &mut P, id: HostId) {
        self.seal_host(ports, id);
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        host.phase = Phase::Ending;
        ports.tell_host(id, millpond_host::channel::ToHost::Stop);
        self.slabs.gives_back(ports.monotonic_ms());
        self.await_host(ports, id);
    }

    fn is_idle_host(&self, id: HostId, host: &Host<P::Fd>) -> bool {
        let is_free = host.phase == Phase::Ready && !host.is_wanted();
        is_free && !self.slabs.has_tensors_in(Home::Host(id))
    }

    /// Hosts without a tensor.
    fn idle_hosts(&self) -> impl Iterator<Item = (HostId, &Host<P::Fd>)> {
        let all = self.hosts.hosts.iter().map(|(id, host)| (*id, host));
        all.filter(|(id, host)| self.is_idle_host(*id, host))
    }

    /// Those of a GPU that can be ended, but for the one that is to make memory of this class.
    fn ends_on<'a>(
        &'a self,
        device: GpuUuid,
        wanted: Option<&'a HostClass>,
    ) -> impl Iterator<Item = (HostId, &'a Host<P::Fd>)> {
        let on = self.idle_hosts().filter(move |(_, host)| host.class.device == device);
        on.filter(move |(_, host)| wanted.is_none_or(|class| !host.takes(class)))
    }

    /// Bytes of the contexts of hosts on a GPU, and of those that can be ended.
    pub(in crate::policy) fn host_contexts(
        &self,
        device: GpuUuid,
        wanted: Option<&HostClass>,
    ) -> (u64, u64) {
        let all = self.hosts.contexts_on(device).map(|(_, bytes)| bytes).sum();
        (all, self.ends_on(device, wanted).map(|(_, host)| host.context_bytes).sum())
    }

    /// Whether a host of this owner ends, or can be ended.
    pub(super) fn has_end(&self, class: &HostClass) -> bool {
        let is_owners = |host: &Host<P::Fd>| host.class.owner.is_user(&class.owner);
        self.hosts.hosts.values().any(|it| is_owners(it) && it.phase == Phase::Ending)
            || self.idle_hosts().any(|(_, host)| is_owners(host))
    }

    /// Ends a host of this owner that has no tensor, unless one ends already. Returns false if every host has
    /// tensors.
    pub(super) fn end_one_of(&mut self, ports: &mut P, class: &HostClass) -> bool {
        let is_owners = |host: &Host<P::Fd>| host.class.owner.is_user(&class.owner);
        if self.hosts.hosts.values().any(|it| is_owners(it) && it.phase == Phase::Ending) {
            return true;
        }
        let idle = self.idle_hosts().find(|(_, host)| is_owners(host)).map(|(id, _)| id);
        if let Some(id) = idle {
            self.end_host(ports, id);
        }
        idle.is_some()
    }

    /// Gives back unused memory on a GPU, of one user or of all users, until so many bytes more fit.
    /// Slabs that cost nothing come first, then hosts without a tensor, and last the idle memory of
    /// hosts that have some, which make no more tensors then. Returns what was given back.
    pub(in crate::policy) fn give_back_unused(
        &mut self,
        ports: &mut P,
        device: GpuUuid,
        bytes: u64,
        of: Option<u32>,
        wanted: Option<&HostClass>,
    ) -> u64 {
        let is_its = |user: u32| of.is_none_or(|of| of == user);
        let mut dropped = self.slabs.drop_recycled(ports, device, bytes, of, true);
        let hosts: Vec<HostId> = self
            .ends_on(device, wanted)
            .filter(|(_, host)| is_its(host.class.owner.user))
            .map(|(id, _)| id)
            .collect();
        for id in hosts {
            if dropped >= bytes {
                return dropped;
            }
            let Some(host) = self.hosts.hosts.get(&id) else { continue };
            let idle = host.idle.iter().filter_map(|slab| self.slabs.get(*slab));
            dropped += host.context_bytes + idle.map(|slab| slab.bytes).sum::<u64>();
            self.end_host(ports, id);
        }
        if dropped < bytes {
            dropped += self.slabs.drop_recycled(ports, device, bytes - dropped, of, false);
        }
        dropped
    }
}
