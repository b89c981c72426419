//! A host is started, hangs, dies, and is found again by the next daemon.

use std::collections::{BTreeSet, HashMap};

use millpond_host::channel::ToHost;
use millpond_wire::message::EventKind;
use millpond_wire::record::{HostRecord, Record};
use millpond_wire::{Backing, ClientId, ErrorKind, Failure, HostId, SlabId};

use super::{Host, HostClass, Phase};
use crate::policy::owner::Owner;
use crate::policy::pond::Pond;
use crate::policy::ports::{Held, HoldError, Ports};
use crate::policy::slabs::Home;

/// How often a slab is tried whose host died while it was made.
const HOST_TRIES: u32 = 2;

impl<P: Ports> Pond<P> {
    /// Starts a host, once its owner is charged for its context.
    pub(super) fn start_host(
        &mut self,
        ports: &mut P,
        class: HostClass,
    ) -> Result<HostId, Failure> {
        self.room_for_host(ports, &class)?;
        let device = class.device;
        let card_bytes = self.gpus.get(device).map_or(0, |known| known.total_bytes);
        let measured = self.hosts.measured.get(&device).copied();
        let context_bytes = measured.unwrap_or_else(|| millpond_ledger::context_bytes(card_bytes));
        self.make_room(ports, device, context_bytes, None).map_err(|mut failure| {
            failure.message =
                format!("a host of `ipc` tensors needs a CUDA context: {}", failure.message);
            failure
        })?;
        let id = HostId(ports.random_id());
        let account = self.account(&class.owner);
        let mut host = Host::new(class, Phase::Charging, ports.now_ms(), &account);
        host.context_bytes = context_bytes;
        self.hosts.hosts.insert(id, host);
        self.charge_context(ports, id);
        Ok(id)
    }

    /// The process of a host runs; it has not been told anything yet.
    pub fn host_started(
        &mut self,
        ports: &mut P,
        id: HostId,
        pid: u32,
        pidfd: P::Fd,
        channel: &P::Fd,
    ) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else {
            // Nobody knows any more what it was for.
            ports.kill(&pidfd);
            return ports.close_host(id);
        };
        host.pid = pid;
        host.pidfd = Some(pidfd.clone());
        ports.watch(ClientId(id.0), &pidfd);
        // Hold, then journal, then tell: a host that the next daemon would not know of ends with the
        // last holder of its channel.
        let kept = keep(ports, id, &pidfd, channel, &host.record(id));
        if let Err(error) = kept {
            ports.kill(&pidfd);
            return self.host_failed(ports, id, &format!("the keeper does not hold it: {error}"));
        }
        host.recorded = true;
        let (device, user) = (host.class.device, host.class.owner.user);
        ports.tell_host(id, ToHost::Start { device });
        let text = format!("pid {pid} for user {user} on {device}");
        self.counts.hosts_started += 1;
        self.happened(ports, EventKind::HostStarted, None, None, Some(user), text);
        self.await_host(ports, id);
    }

    /// There is no host, and this is why.
    pub fn host_not_started(&mut self, ports: &mut P, id: HostId, text: &str) {
        self.host_failed(ports, id, text);
        if self.hosts.hosts.remove(&id).is_some_and(|host| host.context_bytes > 0) {
            ports.uncharge_slab(SlabId(id.0));
        }
        self.resume_after_an_end(ports);
    }

    /// There is room for another host.
    fn resume_after_an_end(&mut self, ports: &mut P) {
        for slab in std::mem::take(&mut self.hosts.after_an_end) {
            self.allocate_in_host(ports, slab);
        }
    }

    /// A host that cannot be used: nobody waits for it any more.
    pub(super) fn host_failed(&mut self, ports: &mut P, id: HostId, text: &str) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        host.phase = Phase::Ending;
        let message = format!("no host for memory of transport 'ipc': {text}");
        tracing::error!(host = %id, "{message}");
        let answer = Failure::new(ErrorKind::Driver, message).hint("run `millpond doctor`");
        let wanted: Vec<SlabId> =
            std::mem::take(&mut host.asked).into_iter().chain(host.waiting.drain(..)).collect();
        for slab in wanted {
            self.refuse_slab(ports, slab, answer.clone());
        }
        self.await_host(ports, id);
    }

    /// A host's channel has ended: it dies, and its pidfd says when it is gone.
    pub fn host_hung_up(&mut self, ports: &mut P, id: HostId) {
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        host.phase = Phase::Ending;
        if let Some(pidfd) = &host.pidfd {
            ports.kill(pidfd);
        }
        self.await_host(ports, id);
    }

    /// The process of a host is gone, and its memory is what readers still map.
    pub(in crate::policy) fn host_gone(&mut self, ports: &mut P, id: HostId) {
        let Some(host) = self.hosts.hosts.remove(&id) else { return };
        let slabs = self.slabs.kept_by(Home::Host(id));
        let lost = slabs.filter(|(_, slab)| slab.tensors > 0).count();
        self.orphan_kept_by(ports, Home::Host(id), &format!("its host (pid {}) died", host.pid));
        for slab in &host.freeing {
            ports.uncharge_slab(*slab);
        }
        if host.context_bytes > 0 {
            ports.uncharge_slab(SlabId(id.0));
        }
        ports.unwatch(ClientId(id.0));
        ports.close_host(id);
        if host.recorded {
            if let Err(error) = ports.journal(&Record::HostGone(id)) {
                // The next daemon finds its pidfd fired and comes to the same end.
                tracing::error!(host = %id, "could not record the end of a host: {error}");
            }
            ports.let_go(Held::HostChannel(id), None);
            ports.let_go(Held::HostProcess(id), host.pidfd);
        }
        let user = host.class.owner.user;
        let (kind, text) = match lost {
            0 if host.phase == Phase::Ending => {
                (EventKind::HostStopped, format!("pid {} had nothing left to keep", host.pid))
            }
            _ => {
                let text = format!("pid {} died with {lost} tensors", host.pid);
                tracing::warn!(host = %id, "a host: {text}");
                self.counts.hosts_lost += 1;
                (EventKind::HostLost, text)
            }
        };
        self.happened(ports, kind, None, None, Some(user), text);
        // The next host may take its place.
        drop(host.place);
        for slab in host.asked.into_iter().chain(host.waiting) {
            if self.pending_slabs.may_try_again(slab, HOST_TRIES) {
                self.allocate_in_host(ports, slab);
            } else {
                let answer =
                    Failure::new(ErrorKind::Driver, "the host died when it made the memory")
                        .hint("run `millpond doctor`");
                self.refuse_slab(ports, slab, answer);
            }
        }
        self.free_in_hosts(ports);
        self.resume_after_an_end(ports);
    }

    /// A process that kept slabs is gone.
    pub(in crate::policy) fn orphan_kept_by(&mut self, ports: &mut P, home: Home, why: &str) {
        let slabs = self.slabs.kept_by(home).map(|(slab, _)| slab).collect();
        self.orphan(ports, slabs, why);
    }

    /// The process that kept these slabs is gone: no new leases; readers keep what they have mapped.
    pub(super) fn orphan(&mut self, ports: &mut P, mut slabs: BTreeSet<SlabId>, why: &str) {
        slabs.retain(|slab| self.slabs.mark_orphan(*slab));
        if slabs.is_empty() {
            return;
        }
        // One whose end could not be recorded before.
        for slab in &slabs {
            if self.slabs.get(*slab).is_some_and(|slab| slab.tensors == 0) {
                self.slabs.let_go(ports, *slab);
            }
        }
        let inside = self.catalog.iter().filter(|(_, tensor)| slabs.contains(&tensor.slab));
        let inside: Vec<_> = inside.map(|(id, tensor)| (id, tensor.slab)).collect();
        for (id, slab) in inside {
            let Some(tensor) = self.catalog.get(id) else { continue };
            if tensor.is_deleted() {
                self.free_if_unused(ports, id);
                continue;
            }
            let name = tensor.name.clone();
            let user = self.slabs.get(slab).map(|slab| slab.class.owner.user);
            self.counts.tensors_orphaned += 1;
            self.happened(ports, EventKind::TensorOrphaned, Some(id.into()), name, user, why);
            if let Err(error) = self.delete_now(ports, id, why) {
                // The next daemon finds no host for it and comes to the same end.
                tracing::error!(tensor = %id, "could not record that a tensor is lost: {error}");
            }
        }
    }

    /// Sets when a host counts as hung, or may go.
    pub(super) fn await_host(&mut self, ports: &mut P, id: HostId) {
        let limits = self.caps.movers;
        let keeps = self.slabs.has_tensors_in(Home::Host(id));
        let Some(host) = self.hosts.hosts.get_mut(&id) else { return };
        let within = match host.phase {
            // The accounts always answer.
            Phase::Charging => None,
            Phase::Starting | Phase::Recovering | Phase::Ending => Some(limits.patience_ms),
            Phase::Ready if host.is_wanted() => Some(limits.patience_ms),
            Phase::Ready if !keeps => Some(limits.idle_ms),
            Phase::Ready => None,
        };
        let now = ports.monotonic_ms();
        host.deadline_ms = within.map(|within| now.saturating_add(within));
    }

    /// Ends hosts that hang or have nothing to keep. Returns when to come again.
    pub(in crate::policy) fn care_for_hosts(&mut self, ports: &mut P) -> Option<u64> {
        self.free_in_hosts(ports);
        let now = ports.monotonic_ms();
        let due = |(id, host): (&HostId, &Host<P::Fd>)| {
            host.deadline_ms.is_some_and(|at| at <= now).then_some(*id)
        };
        let due: Vec<HostId> = self.hosts.hosts.iter().filter_map(due).collect();
        for id in due {
            let keeps = self.slabs.has_tensors_in(Home::Host(id));
            let Some(host) = self.hosts.hosts.get_mut(&id) else { continue };
            match host.phase {
                Phase::Ready if !host.is_wanted() && keeps => host.deadline_ms = None,
                Phase::Ready if !host.is_wanted() => self.end_host(ports, id),
                _ => {
                    // What it keeps is worth more than an answer: only one without tensors is killed.
                    host.deadline_ms = None;
                    self.seal_host(ports, id);
                    let Some(host) = self.hosts.hosts.get_mut(&id) else { continue };
                    if let Some(pidfd) = host.pidfd.as_ref().filter(|_| !keeps) {
                        ports.kill(pidfd);
                    }
                    let phase = host.phase;
                    self.host_failed(ports, id, "it said nothing for too long");
                    if let Some(host) = self.hosts.hosts.get_mut(&id).filter(|_| keeps) {
                        host.phase = phase;
                        host.deadline_ms = None;
                    }
                }
            }
        }
        self.hosts.hosts.values().filter_map(|host| host.deadline_ms).min()
    }

    pub(in crate::policy) fn replay_host(
        &mut self,
        made: HostRecord,
        held: &mut HashMap<Held, P::Fd>,
    ) {
        let Some(pidfd) = held.remove(&Held::HostProcess(made.host)) else { return };
        let tenant = self.clients.tenant(&made.tenant);
        let owner = Owner { tenant, user: made.user, group: made.group };
        let class = HostClass { device: made.device, owner, audience: made.audience };
        let account = self.account(&class.owner);
        let mut host = Host::new(class, Phase::Recovering, made.since_unix_ms, &account);
        host.pid = made.pid;
        host.pidfd = Some(pidfd);
        host.recorded = true;
        self.hosts.hosts.insert(made.host, host);
    }

    pub(in crate::policy) fn replay_host_gone(
        &mut self,
        id: HostId,
        held: &mut HashMap<Held, P::Fd>,
    ) {
        if let Some(pidfd) = self.hosts.hosts.remove(&id).and_then(|host| host.pidfd) {
            held.insert(Held::HostProcess(id), pidfd);
        }
    }

    /// Speaks to the hosts of earlier daemons; what nobody keeps any more is lost.
    pub(in crate::policy) fn settle_hosts(
        &mut self,
        ports: &mut P,
        orphans: &mut HashMap<Held, P::Fd>,
    ) {
        let ids: Vec<HostId> = self.hosts.hosts.keys().copied().collect();
        for id in ids {
            let Some(host) = self.hosts.hosts.get(&id) else { continue };
            if let Some(pidfd) = &host.pidfd {
                ports.watch(ClientId(id.0), pidfd);
            }
            match orphans.remove(&Held::HostChannel(id)) {
                Some(channel) => {
                    ports.adopt_host(id, &channel);
                    ports.tell_host(id, ToHost::Hello { epoch: self.identity.epoch });
                    self.await_host(ports, id);
                }
                None => self.host_hung_up(ports, id),
            }
        }
        let is_there = |home: Home| match home {
            Home::Host(host) => self.hosts.knows(host),
            Home::Owner(client) => self.clients.knows(client),
        };
        let gone: Vec<Home> = self.slabs.homes().filter(|home| !is_there(*home)).collect();
        for home in gone {
            self.orphan_kept_by(ports, home, "the process that kept its memory is gone");
        }
    }
}

fn keep<P: Ports>(
    ports: &mut P,
    id: HostId,
    pidfd: &P::Fd,
    channel: &P::Fd,
    record: &Record,
) -> Result<(), HoldError> {
    ports.hold(Held::HostProcess(id), Backing::default(), pidfd)?;
    let held = ports.hold(Held::HostChannel(id), Backing::default(), channel);
    let kept = held.and_then(|()| Ok(ports.journal(record)?));
    if kept.is_err() {
        ports.let_go(Held::HostChannel(id), None);
        ports.let_go(Held::HostProcess(id), None);
    }
    kept
}
