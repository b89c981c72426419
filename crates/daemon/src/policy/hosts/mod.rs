//! Memory with legacy handles: one host for each GPU, owner and audience.
//!
//! Such memory lives no longer than the process that made it, so a host is the one process whose
//! death loses something. Keeper and daemon both have its channel: it ends when neither is left, and
//! goes on under the next daemon, which asks it for what it has. An old handle opens whatever its
//! process allocates next, so a host that has freed something makes no more memory: it is sealed, and
//! ended when nothing is left in it.

mod asks;
mod life;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use millpond_wire::record::{HostRecord, Record};
use millpond_wire::{Audience, GpuUuid, HostId, SlabId};

use super::owner::Owner;
use super::slabs::SlabClass;

/// Hosts that a user may have at a time. Each is a process with a context, which the user pays for; a
/// user whose tensors come and go has many that are sealed, one for each that outlives its
/// neighbours.
const HOSTS_PER_USER: usize = 32;

/// What the memory of one host has in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostClass {
    pub device: GpuUuid,
    pub owner: Owner,
    pub audience: Audience,
}

impl From<&SlabClass> for HostClass {
    fn from(class: &SlabClass) -> Self {
        let SlabClass { device, owner, audience, .. } = class;
        Self { device: *device, owner: owner.clone(), audience: *audience }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It was asked for, or makes its context.
    Starting,
    /// Its context is there, and its owner is being charged for it.
    Charging,
    /// It came from an earlier daemon and has not said yet what it has.
    Recovering,
    Ready,
    /// It was told to stop, has hung up, or was killed; its pidfd says when it is gone.
    Ending,
}

#[derive(Debug)]
pub(super) struct Host<F> {
    class: HostClass,
    phase: Phase,
    pid: u32,
    since_ms: u64,
    pidfd: Option<F>,
    /// In the journal, with channel and pidfd held.
    recorded: bool,
    /// It has freed something.
    sealed: bool,
    context_bytes: u64,
    /// Slabs to be asked for.
    waiting: VecDeque<SlabId>,
    /// Slabs that it was asked for and has not answered.
    asked: BTreeSet<SlabId>,
    /// Slabs that it was told to free, or that end with it.
    freeing: BTreeSet<SlabId>,
    /// What it says that it has, after a restart of the daemon.
    reported: BTreeSet<SlabId>,
    /// When it counts as hung, or may go.
    deadline_ms: Option<u64>,
}

impl<F> Host<F> {
    fn new(class: HostClass, phase: Phase, since_ms: u64) -> Self {
        Self {
            class,
            phase,
            pid: 0,
            since_ms,
            pidfd: None,
            recorded: false,
            sealed: false,
            context_bytes: 0,
            waiting: VecDeque::new(),
            asked: BTreeSet::new(),
            freeing: BTreeSet::new(),
            reported: BTreeSet::new(),
            deadline_ms: None,
        }
    }

    fn record(&self, id: HostId) -> Record {
        Record::HostMade(HostRecord {
            host: id,
            device: self.class.device,
            tenant: self.class.owner.tenant.to_string(),
            user: self.class.owner.user,
            group: self.class.owner.group,
            audience: self.class.audience,
            pid: self.pid,
            since_unix_ms: self.since_ms,
        })
    }

    /// Whether new memory may be made in it, now or soon.
    fn takes(&self, class: &HostClass) -> bool {
        !self.sealed && self.phase != Phase::Ending && self.class == *class
    }

    /// Whether anybody waits for it.
    fn is_wanted(&self) -> bool {
        !self.waiting.is_empty() || !self.asked.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct Hosts<F> {
    hosts: BTreeMap<HostId, Host<F>>,
}

impl<F> Default for Hosts<F> {
    fn default() -> Self {
        Self { hosts: BTreeMap::new() }
    }
}

impl<F> Hosts<F> {
    pub(super) fn knows(&self, id: HostId) -> bool {
        self.hosts.contains_key(&id)
    }

    pub(super) fn pid_of(&self, id: HostId) -> Option<u32> {
        self.hosts.get(&id).map(|host| host.pid)
    }

    fn of_user(&self, user: u32) -> usize {
        self.hosts.values().filter(|host| host.class.owner.user == user).count()
    }

    /// The records of those that the next daemon must know.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        let recorded = self.hosts.iter().filter(|(_, host)| host.recorded);
        recorded.map(|(id, host)| host.record(*id))
    }

    /// Device, bytes and user of every context that is charged.
    pub(super) fn contexts(&self) -> impl Iterator<Item = (SlabId, GpuUuid, u64, u32)> {
        let charged = self.hosts.iter().filter(|(_, host)| host.context_bytes > 0);
        charged.map(|(id, host)| {
            (SlabId(id.0), host.class.device, host.context_bytes, host.class.owner.user)
        })
    }
}
