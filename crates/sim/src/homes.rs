//! What must be true of memory that lives no longer than a process, and of memory that others made.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_ledger::UNIT;
use millpond_wire::message::{ReplyBody, TensorGrant, TensorInfo};
use millpond_wire::record::{Record, SlabRecord};
use millpond_wire::{HostId, SlabId, TensorId, TensorState, Transport};

use crate::card::{Fd, Memory};
use crate::daemon::Daemon;
use crate::hosts::event_of;
use crate::legacy::{home_of, pool_data};
use crate::oracle::{Violation, ensure};
use crate::rng::Rng;
use crate::settle::Books;
use crate::world::{GPU, World};

/// Whether a schedule has tensors of every transport, hosts and adopted memory: one of two. Drawn apart
/// from everything else, so the others are the same with and without them.
pub fn drawn(seed: u64) -> Option<Rng> {
    let mut rng = Rng::new(seed ^ 0x7472_616e_7370_6f72);
    rng.once_in(2).then_some(rng)
}

/// Whether a tensor can be had: nobody has deleted it, and whoever keeps its memory is there.
#[must_use]
pub fn is_there(state: TensorState) -> bool {
    !matches!(state, TensorState::Deleted | TensorState::Orphan)
}

impl World {
    /// The memory that an answer hands out, as whoever reads it at this moment would find it.
    pub(crate) fn handed_out(&self, body: &ReplyBody, fds: &[Fd]) -> Option<Rc<Memory>> {
        match (fds.first(), body) {
            (Some(Fd::Memory(memory)), _) => Some(Rc::clone(memory)),
            (None, ReplyBody::Tensor(grant)) => match &grant.backing.transport {
                Transport::Ipc(handle) => self.legacy.borrow().open(handle),
                _ => None,
            },
            _ => None,
        }
    }

    /// A lease was granted: what comes with it is what the grant says, and its home is not known to be
    /// gone, unless the lease is older than that.
    pub(crate) fn check_granted(
        &mut self,
        pid: u32,
        grant: &TensorGrant,
        memory: Option<&Memory>,
    ) -> Result<(), Violation> {
        let Some((lease, _, _)) = grant.lease else { return Ok(()) };
        let is_new = self.granted.insert((pid, lease));
        let detail = || format!("{grant:?} with {memory:?}");
        let fits = match (&grant.backing.transport, memory) {
            (transport, Some(memory)) => {
                let kind = transport.kind();
                let pool = !matches!(transport, Transport::Mempool(it) if *it != pool_data(memory));
                (kind, kind) == (memory.kind, grant.info.transport) && pool
            }
            (Transport::Ipc(_), None) => true,
            _ => false,
        };
        ensure(fits, "a grant says what its memory is", detail)?;
        let Transport::Ipc(handle) = &grant.backing.transport else { return Ok(()) };
        let event = Some(event_of(handle)).filter(|event| *event != [0; 64]);
        ensure(
            grant.backing.adopted || grant.event == event,
            "a grant comes with its event",
            detail,
        )?;
        if !grant.backing.adopted {
            self.legacy.borrow_mut().grant(handle, grant.info.tensor)?;
        }
        let home = home_of(handle);
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let is_known_to_be_gone = self.gone.borrow().contains(&home)
            && !running.ports.watched.values().any(|watched| *watched == home);
        // A counted lease may be in the journal, and its answer lost.
        let is_first = is_new && grant.info.life.accesses.is_none();
        ensure(!(is_first && is_known_to_be_gone), "nobody is granted what is gone", detail)
    }

    /// Whoever lent its memory is told that it is free: nobody may still use it.
    pub(crate) fn check_lent_is_free(&self, tensor: TensorId) -> Result<(), Violation> {
        let Some(&tensor) = self.oracle.index.get(&tensor) else { return Ok(()) };
        let clients = self.clients.iter().filter(|client| client.alive);
        let mut ranges =
            clients.flat_map(|client| client.mappings.values()).flat_map(|it| &it.ranges);
        let mut movers = self.movers.iter().filter(|mover| mover.alive);
        let place = self.oracle.tensors[tensor].place;
        let used = ranges.any(|(used, _)| *used == tensor)
            || movers.any(|mover| {
                mover.jobs.iter().any(|job| job.tensor == tensor)
                    || place.is_some_and(|place| mover.mapped.contains_key(&place.slab))
            });
        ensure(!used, "what was lent comes back when nobody uses it", || {
            format!("{:?}", self.oracle.tensors[tensor])
        })
    }

    /// The memory of a tensor that is in the books, if it is there.
    #[must_use]
    pub fn memory_of(&self, info: &TensorInfo) -> Option<Rc<Memory>> {
        let slab = info.slab;
        let held = self.keeper.as_ref().and_then(|keeper| {
            match keeper.holds.get(&millpond_keeper::channel::HoldKey::slab(slab)) {
                Some(Fd::Memory(memory)) => Some(Rc::clone(memory)),
                _ => None,
            }
        });
        let hosts = || self.hosts.iter().find_map(|host| host.slabs.get(&slab));
        let lent = || {
            let tensor = self.oracle.index.get(&info.tensor)?;
            let owner = self.client_at(self.oracle.tensors[*tensor].creator)?;
            owner.lent.get(tensor).map(|lent| Rc::clone(&lent.memory))
        };
        held.or_else(|| hosts().map(|(_, memory)| Rc::clone(memory))).or_else(lent)
    }

    /// Whether the process that keeps a slab is gone.
    #[must_use]
    pub fn has_lost_home(&self, slab: SlabId) -> bool {
        let Daemon::Running(running) = &self.daemon else { return false };
        running.pond.snapshot().iter().any(|record| match record {
            Record::SlabMade(made) if made.slab == slab => {
                let handle = made.backing.transport.data().filter(|_| made.home.is_some());
                handle.is_some_and(|handle| self.gone.borrow().contains(&home_of(handle)))
            }
            _ => false,
        })
    }

    /// Slabs of the books, hosts, memory and charges agree.
    pub(crate) fn check_homes(&self, books: &Books) -> Result<(), Violation> {
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let mut slabs: BTreeMap<SlabId, SlabRecord> = BTreeMap::new();
        let mut hosts: BTreeMap<HostId, u32> = BTreeMap::new();
        for record in running.pond.snapshot() {
            match record {
                Record::SlabMade(made) => drop(slabs.insert(made.slab, made)),
                Record::HostMade(made) => drop(hosts.insert(made.host, made.user)),
                _ => {}
            }
        }
        for host in self.hosts.iter().filter(|host| host.alive) {
            let detail = || format!("{host:?}");
            ensure(hosts.contains_key(&host.id), "a host that runs is in the books", detail)?;
            ensure(!host.slabs.is_empty(), "a host that runs has memory", detail)?;
            let mut its = host.slabs.keys();
            let unknown =
                its.find(|slab| slabs.get(slab).is_none_or(|made| made.home != Some(host.id.0)));
            ensure(unknown.is_none(), "memory of a host is in the books", || {
                format!("slab {unknown:?} of {host:?}")
            })?;
        }
        for id in hosts.keys() {
            let runs = self.hosts.iter().any(|host| host.alive && host.id == *id);
            ensure(runs || self.faulted, "a host in the books runs", || id.to_string())?;
        }
        self.check_tensors_with_homes(books, &slabs)?;
        for user in [1, 2] {
            let its = slabs.values().filter(|made| made.user == user).map(|made| made.bytes);
            let living = self.hosts.iter().filter(|host| hosts.get(&host.id) == Some(&user));
            let contexts = living.filter_map(|host| host.context.as_ref()).map(|it| it.bytes);
            let there: u64 = its.chain(contexts).map(|bytes| bytes.div_ceil(UNIT)).sum();
            let charged = running.ports.charges.held_by_users(&[user], GPU);
            ensure(charged == there, "what is charged is what is there", || {
                format!("user {user} is charged with {charged} units and has {there}")
            })?;
        }
        Ok(())
    }

    /// Everything is deleted, and nobody has a lease: the pond keeps nothing that is not its own.
    pub(crate) fn check_adopted_gone(&self) -> Result<(), Violation> {
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let lent = self.oracle.tensors.iter().filter(|known| known.adopted);
        let lent: BTreeSet<SlabId> = lent.filter_map(|known| Some(known.place?.slab)).collect();
        let is_lent = |record: &Record| match record {
            Record::SlabMade(made) => made.backing.adopted || lent.contains(&made.slab),
            _ => false,
        };
        let kept = running.pond.snapshot().into_iter().find(is_lent).filter(|_| !self.faulted);
        ensure(kept.is_none(), "adopted memory goes with its tensor", || format!("{kept:?}"))
    }

    fn check_tensors_with_homes(
        &self,
        books: &Books,
        slabs: &BTreeMap<SlabId, SlabRecord>,
    ) -> Result<(), Violation> {
        let mut names = BTreeSet::new();
        let mut used = BTreeSet::new();
        for info in &books.tensors {
            used.insert(info.slab);
            let is_there = is_there(info.state);
            let detail = || format!("{info:?}");
            let Some(made) = slabs.get(&info.slab) else {
                return Err(Violation::new("a tensor has a slab", detail()));
            };
            let says = (info.transport, info.adopted);
            let is = (made.backing.transport.kind(), made.backing.adopted);
            ensure(says == is, "a tensor is where it says", detail)?;
            if let Transport::Ipc(handle) = &made.backing.transport {
                let is_gone = self.gone.borrow().contains(&home_of(handle));
                let ended = !is_there || self.faulted;
                ensure(!is_gone || ended, "what has lost its home is deleted", detail)?;
                let opens = self.legacy.borrow().open(handle).map(|memory| memory.serial);
                let is = self.memory_of(info).map(|memory| memory.serial);
                ensure(
                    is_gone || (is.is_some() && opens == is),
                    "a handle opens its memory",
                    detail,
                )?;
            }
            let owner = info.name.as_ref().map(|name| (!name.is_public()).then_some(info.user));
            let is_new = !is_there
                || info.name.as_ref().is_none_or(|name| names.insert((owner, name.as_str())));
            ensure(is_new, "a name is taken once", detail)?;
        }
        for made in slabs.values().filter(|made| made.backing.adopted) {
            let kept = used.contains(&made.slab) || self.faulted;
            ensure(kept, "adopted memory goes with its tensor", || format!("{made:?}"))?;
        }
        // Whatever the journal says it is.
        for (index, known) in self.oracle.tensors.iter().enumerate().filter(|(_, it)| it.adopted) {
            let Some(place) = known.place else { continue };
            let kept =
                !slabs.contains_key(&place.slab) || used.contains(&place.slab) || self.faulted;
            ensure(kept, "adopted memory goes with its tensor", || format!("{known:?}"))?;
            let mut others = self.oracle.tensors.iter().enumerate();
            let other = others.find(|(other, it)| {
                *other != index && it.place.is_some_and(|it| it.slab == place.slab)
            });
            ensure(other.is_none(), "adopted memory is used for nothing else", || {
                format!("{known:?} and {other:?}")
            })?;
        }
        Ok(())
    }
}
