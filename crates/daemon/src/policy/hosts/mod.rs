//! Memory with legacy handles: one host for each GPU, owner and audience.
//!
//! Such memory lives no longer than the process that made it, so a host is the one process whose
//! death loses something. Keeper and daemon both have its channel: it ends when neither is left, and
//! goes on under the next daemon, which asks it for what it has. An old handle opens whatever its
//! process allocates next, so a host that has freed something makes no more memory: it is sealed, and
//! ended when nothing is left in it. Each host has a context, which its owner pays for; so memory that
//! nobody uses stays in its host for a while ([`idle`]), and the host stays of use.

mod asks;
mod idle;
mod life;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_wire::record::{HostRecord, Record};
use millpond_wire::{Audience, GpuUuid, HostId, SlabId};

use super::owner::Owner;
use super::slabs::SlabClass;
use crate::accounts::{Account, Charge, Resource};

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
    /// Its owner is being charged for its context; there is no process yet.
    Charging,
    /// It was asked for, or makes its context.
    Starting,
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
    /// What its owner is charged with for its context: an estimate until the host has measured it.
    context_bytes: u64,
    /// Its place among those that its owner may have.
    place: Charge,
    /// Memory that no tensor has, and that was not freed.
    idle: BTreeSet<SlabId>,
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
    fn new(class: HostClass, phase: Phase, since_ms: u64, account: &Rc<Account>) -> Self {
        Self {
            class,
            phase,
            pid: 0,
            since_ms,
            pidfd: None,
            recorded: false,
            sealed: false,
            context_bytes: 0,
            place: Charge::new(account, Resource::Hosts, 1),
            idle: BTreeSet::new(),
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
    /// Slabs whose host is started when another one of their owner has ended.
    after_an_end: Vec<SlabId>,
    /// What the last context on each GPU took.
    measured: BTreeMap<GpuUuid, u64>,
}

impl<F> Default for Hosts<F> {
    fn default() -> Self {
        Self { hosts: BTreeMap::new(), after_an_end: Vec::new(), measured: BTreeMap::new() }
    }
}

impl<F> Hosts<F> {
    pub(super) fn knows(&self, id: HostId) -> bool {
        self.hosts.contains_key(&id)
    }

    pub(super) fn pid_of(&self, id: HostId) -> Option<u32> {
        self.hosts.get(&id).map(|host| host.pid)
    }

    /// The user of each host.
    pub(super) fn users(&self) -> impl Iterator<Item = u32> {
        self.hosts.values().map(|host| host.class.owner.user)
    }

    /// User and context of each host that has memory of a GPU. What ends gives its own back.
    pub(super) fn contexts_on(&self, device: GpuUuid) -> impl Iterator<Item = (u32, u64)> {
        let on = self.hosts.values().filter(move |host| host.class.device == device);
        let on = on.filter(|host| host.phase != Phase::Ending);
        on.map(|host| (host.class.owner.user, host.context_bytes))
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
