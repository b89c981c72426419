//! What must be true when everything has come to rest.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_daemon::journal::read_frames;
use millpond_daemon::policy::Pond;
use millpond_keeper::channel::{HoldKey, KeyView};
use millpond_wire::record::Record;
use millpond_wire::{LeaseTarget, Mode, SlabId, TensorId, TensorState};

use crate::card::Fd;
use crate::daemon::{Daemon, Running, objects};
use crate::homes::is_there;
use crate::hosts::HostEnd;
use crate::oracle::{Violation, ensure};
use crate::ports::{Around, SimPorts};
use crate::rng::Rng;
use crate::settle::Books;
use crate::socket::Channel;
use crate::trace::Trace;
use crate::world::World;

impl World {
    /// Every invariant, after [`World::settle`].
    ///
    /// # Errors
    /// The one that is broken.
    pub fn check(&mut self) -> Result<(), Violation> {
        let books = self.books()?;
        self.settle()?;
        self.check_leases(&books)?;
        self.check_tensors(&books)?;
        self.check_versions(&books)?;
        self.check_accounts(&books)?;
        self.check_homes(&books)?;
        self.check_holds(&books)?;
        self.check_groups()?;
        self.check_caches()?;
        self.check_bytes(&books)?;
        self.check_replay()
    }

    /// The daemon's leases are those that living clients hold.
    fn check_leases(&self, books: &Books) -> Result<(), Violation> {
        for info in &books.clients {
            if info.mover {
                ensure(info.leases.is_empty(), "a mover without work holds nothing", || {
                    format!("{info:?}")
                })?;
                continue;
            }
            let lives =
                self.clients.iter().any(|client| client.alive && Some(client.id) == info.client)
                    || self.caches.iter().any(|it| it.alive && Some(it.client()) == info.client);
            ensure(lives, "who is gone holds nothing", || format!("{info:?}"))?;
        }
        // What was granted to a client that fell asleep before it read the answer is not known.
        for client in self.clients.iter().filter(|client| client.alive && !client.is_asleep()) {
            let info = books.clients.iter().find(|info| info.client == Some(client.id));
            let mut known: Vec<(LeaseTarget, Mode)> = info
                .into_iter()
                .flat_map(|info| &info.leases)
                .map(|lease| (lease.target, lease.mode))
                .collect();
            let held = client.held().map(|claim| (claim.target, claim.mode));
            let mut held: Vec<_> = held.collect();
            let order = |lease: &(LeaseTarget, Mode)| (lease.0, lease.1.code());
            known.sort_by_key(order);
            held.sort_by_key(order);
            ensure(known == held, "leases are what living clients hold", || {
                format!("pid {} holds {held:?}, the daemon knows {known:?}", client.pid)
            })?;
            let mapped = client.held().map(|claim| claim.lease).eq(client.mappings.keys().copied());
            ensure(mapped, "what is held is mapped", || format!("{client:?}"))?;
        }
        Ok(())
    }

    /// What was answered is so.
    fn check_tensors(&self, books: &Books) -> Result<(), Violation> {
        let listed: BTreeMap<TensorId, _> =
            books.tensors.iter().map(|info| (info.tensor, info)).collect();
        for known in &self.oracle.tensors {
            let creator = self.client_at(known.creator);
            let lives = creator.is_some_and(|it| it.alive && !it.is_closed());
            let info = listed.get(&known.id);
            let state = info.map(|info| info.state);
            let there = state.is_some_and(is_there);
            let detail = || format!("{known:?} is {info:?}");
            if self.oracle.must_exist(known, lives) {
                ensure(there, "what was made is there", detail)?;
                let ready = state == Some(TensorState::Ready);
                ensure(
                    ready || !(known.published || known.zero),
                    "what was published is ready",
                    detail,
                )?;
            }
            ensure(!(there && known.deleted), "what was deleted is gone", detail)?;
            // Of several renames nobody knows which came last.
            if let (Some(name), 1, Some(info)) = (&known.renamed, known.renames, info) {
                let has = info.name.as_ref().is_some_and(|it| it.as_str() == name);
                ensure(has, "what was renamed has its new name", detail)?;
            }
            let orphan = known.ephemeral && !known.named_later && !lives;
            ensure(
                !(there && orphan) || self.faulted,
                "what is ephemeral ends with its creator",
                detail,
            )?;
            let refused = known.sends == 1 && known.refusals == 1 && !known.created;
            ensure(!(there && refused), "what was refused is not made", detail)?;
        }
        for info in &books.tensors {
            // A record of its end that was refused is written by the next daemon.
            let kept = self.faulted
                || is_there(info.state)
                || info.leases > 0
                || info.holds.is_some_and(|holds| holds > 0)
                || self.sleeper_may_hold(info.user, info.slab.0);
            ensure(kept, "memory goes with its last lease", || format!("{info:?}"))?;
        }
        Ok(())
    }

    /// Books, held descriptors and physical memory agree.
    fn check_accounts(&self, books: &Books) -> Result<(), Violation> {
        let (Daemon::Running(running), Some(keeper)) = (&self.daemon, &self.keeper) else {
            return Err(Violation::new("keeper and daemon live", "one is dead"));
        };
        let accounts = running.pond.check_accounts();
        ensure(accounts.is_ok(), "users' accounts say what there is", || format!("{accounts:?}"))?;
        let kept: BTreeSet<&HoldKey> = keeper.holds.keys().collect();
        let held: BTreeSet<&HoldKey> = running.ports.held.keys().collect();
        ensure(kept == held, "keeper and daemon hold the same", || {
            format!("keeper {kept:?}, daemon {held:?}")
        })?;
        let mut recorded = BTreeSet::new();
        let mut unheld_bytes = 0;
        for record in running.pond.snapshot() {
            match record {
                Record::SlabMade(made) if !made.backing.transport.has_descriptor() => {
                    unheld_bytes += made.bytes;
                    false
                }
                Record::HostMade(made) => {
                    recorded.insert(HoldKey::host_channel(made.host));
                    recorded.insert(HoldKey::host_process(made.host))
                }
                Record::SlabMade(made) => recorded.insert(HoldKey::slab(made.slab)),
                Record::ClientSeen(seen) => recorded.insert(HoldKey::client(seen.client)),
                Record::VersionReady(ready) => recorded.insert(HoldKey::manifest(ready.version)),
                _ => false,
            };
        }
        let object = |key: &&HoldKey| {
            matches!(
                key.view(),
                KeyView::Slab(_)
                    | KeyView::Client(_)
                    | KeyView::Manifest(_)
                    | KeyView::HostChannel(_)
                    | KeyView::HostProcess(_)
            )
        };
        let held: BTreeSet<HoldKey> = held.into_iter().filter(object).cloned().collect();
        // Who died while nothing could be recorded stays held for the next daemon.
        let fits = recorded == held || (self.faulted && recorded.is_subset(&held));
        ensure(fits, "what is in the books is held", || {
            format!("books {recorded:?}, held {held:?}")
        })?;
        let mut slabs = BTreeMap::new();
        for fd in keeper.holds.values() {
            if let Fd::Memory(memory) = fd {
                slabs.insert(memory.serial, memory.bytes);
            }
        }
        let held_bytes: u64 = slabs.values().sum();
        let booked: u64 = books.status.devices.iter().map(|device| device.slab_bytes).sum();
        ensure(held_bytes + unheld_bytes == booked, "accounts are what is held", || {
            format!("{booked} in the books, {held_bytes} held, {unheld_bytes} kept by processes")
        })?;
        let mut mapped: BTreeSet<usize> = BTreeSet::new();
        for client in self.clients.iter().filter(|client| client.alive) {
            let ranges = client.mappings.values().flat_map(|mapping| &mapping.ranges);
            mapped.extend(ranges.map(|(_, memory)| memory.serial));
            mapped.extend(client.kernels.iter().map(|kernel| kernel.memory.serial));
            mapped.extend(client.lent.values().map(|lent| lent.memory.serial));
        }
        for mover in self.movers.iter().filter(|mover| mover.alive) {
            mapped.extend(mover.mapped.values().map(|memory| memory.serial));
            mapped.extend(mover.jobs.iter().map(|job| job.memory.serial));
        }
        for host in &self.hosts {
            mapped.extend(host.slabs.values().map(|(_, memory)| memory.serial));
            mapped.extend(host.context.iter().map(|context| context.serial));
        }
        for ghost in &self.ghosts {
            mapped.extend(ghost.mapped.iter().chain(&ghost.writes).map(|(_, it)| it.serial));
        }
        for memory in self.card.alive() {
            let known = slabs.contains_key(&memory.serial) || mapped.contains(&memory.serial);
            ensure(known, "no byte leaks", || format!("memory {} is nobody's", memory.serial))?;
        }
        Ok(())
    }

    /// Every published byte is what was written, for whoever comes now.
    fn check_bytes(&self, books: &Books) -> Result<(), Violation> {
        for info in books.tensors.iter().filter(|info| info.state == TensorState::Ready) {
            let Some(memory) = self.memory_of(info) else {
                // Who keeps it is gone, and the journal does not take that.
                if info.home_pid != 0 && self.faulted {
                    continue;
                }
                return Err(Violation::new("nothing is lost", format!("{info:?}")));
            };
            if let Some(&tensor) = self.oracle.index.get(&info.tensor) {
                self.oracle.read(tensor, &memory, true, "a new reader")?;
            }
        }
        self.check_version_bytes(books)?;
        for client in self.clients.iter().filter(|client| client.alive) {
            client.look_at_all(&self.oracle)?;
        }
        Ok(())
    }

    /// The journal says what the daemon knows.
    fn check_replay(&self) -> Result<(), Violation> {
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let Running { pond, ports, epoch, .. } = running.as_ref();
        let (records, _) = read_frames(&ports.journal.borrow())
            .map_err(|error| Violation::new("the journal can be read", error.to_string()))?;
        // Nobody is told anything.
        let mut held = ports.held.clone();
        for fd in held.values_mut() {
            if let Fd::Host(end) = fd {
                *end = HostEnd::pair();
            }
        }
        let mut other = SimPorts::new(
            Around {
                mutation: None,
                trace: Trace::default(),
                holders: Rc::new(RefCell::new(self.holders.borrow().clone())),
                ..self.around()
            },
            Rng::new(0),
            Rc::default(),
            held.clone(),
            Channel::pair(),
        );
        let held = objects(&held);
        let records = self.as_read(records);
        let (again, _) = Pond::recover(&mut other, records, held, *epoch, self.caps())
            .map_err(|error| Violation::new("the journal can be read", error.to_string()))?;
        let (mut live, mut again) = (self.as_read(pond.snapshot()), self.as_read(again.snapshot()));
        if self.faulted {
            // What could not be recorded as gone, the next daemon gives back.
            let lost = |slab: SlabId| self.has_lost_home(slab);
            live.retain(|record| lasts(record, lost));
            again.retain(|record| lasts(record, lost));
        }
        // What a version had before is kept while anybody may have it mapped, who has not said so
        // yet when it is replayed.
        only_last_stage(&mut live);
        only_last_stage(&mut again);
        let mut builder = planus::Builder::new();
        let mut order = |records: &mut Vec<Record>| {
            records.sort_by_cached_key(|record| record.encode(&mut builder).to_vec());
        };
        order(&mut live);
        order(&mut again);
        let first = live.iter().zip(&again).find(|(live, again)| live != again);
        ensure(live == again, "the journal says what the daemon knows", || {
            format!("{} records, {} replayed; {first:?}", live.len(), again.len())
        })
    }
}

/// Tensors that nobody has asked to go, and whose memory is there.
fn lasts(record: &Record, lost: impl Fn(SlabId) -> bool) -> bool {
    let made = match record {
        Record::TensorMade(made) => made,
        _ => return false,
    };
    !made.deleted && !made.ephemeral && !made.part && !lost(made.slab)
}

/// Of several records of a version's parts, the last is what it has.
fn only_last_stage(records: &mut Vec<Record>) {
    let version = |record: &Record| match record {
        Record::VersionStaged(staged) => Some(staged.version),
        _ => None,
    };
    let mut seen = BTreeSet::new();
    records.reverse();
    records.retain(|record| version(record).is_none_or(|version| seen.insert(version)));
}
