//! What must be true of groups: at every charge, and when everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};

use millpond_daemon::budget::Payer;
use millpond_keeper::channel::KeyView;
use millpond_ledger::UNIT;
use millpond_wire::message::{GroupInfo, GroupLimit};
use millpond_wire::record::Record;
use millpond_wire::{GroupName, SlabId};

use crate::card::Fd;
use crate::daemon::Daemon;
use crate::driver_thread::Told;
use crate::oracle::{Violation, ensure};
use crate::world::{GPU, World};

/// What answers have said about a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its limit, if it was set.
    pub limit: Option<GroupLimit>,
    /// Whom it pays for, if that was set.
    pub users: Option<Vec<u32>>,
}

impl Expected {
    /// Whether a group is as was answered.
    #[must_use]
    pub fn is(&self, info: &GroupInfo) -> bool {
        let limit = info.devices.first().and_then(|device| device.limit_bytes);
        let has = limit.map_or(GroupLimit::Unlimited, GroupLimit::Bytes);
        self.limit.is_none_or(|limit| limit == has)
            && self.users.as_ref().is_none_or(|users| *users == info.users)
    }
}

impl World {
    /// Somebody was just given memory on a group's account: all that there is of the group must be
    /// within its limit. What was there before the limit was lowered, or the user came, leaves no
    /// room for more.
    ///
    /// # Errors
    /// By how much it is not.
    pub(crate) fn check_limit(&self, name: &GroupName) -> Result<(), Violation> {
        let groups = self.groups.borrow();
        let Some(file) = groups.get(name) else { return Ok(()) };
        let mut slabs = BTreeMap::new();
        if let Daemon::Running(running) = &self.daemon {
            for (key, fd) in &running.ports.held {
                if let (KeyView::Slab(slab), Fd::Memory(memory)) = (key.view(), fd) {
                    slabs.insert(slab, memory.bytes);
                }
            }
            for told in &running.ports.told {
                if let Told::Made(slab, Ok(Fd::Memory(memory))) = told {
                    slabs.insert(*slab, memory.bytes);
                }
            }
            // Neither contexts, which are there before anybody can be charged for them, nor what an
            // earlier daemon has asked a host for and never heard of.
            let known = running.pond.slab_charges().into_iter();
            let known: BTreeSet<SlabId> = known.map(|(slab, ..)| slab).collect();
            for (slab, (_, memory)) in self.hosts.iter().flat_map(|host| &host.slabs) {
                if known.contains(slab) {
                    slabs.insert(*slab, memory.bytes);
                }
            }
        }
        let theirs = |slab| self.slab_users.get(slab).is_some_and(|it| file.users.contains(it));
        let slabs = slabs.iter().filter(|(slab, _)| theirs(*slab));
        let pond: u64 = slabs.map(|(_, bytes)| bytes.div_ceil(UNIT)).sum();
        let (used, limit) = (file.used_by_living(), file.budget.effective);
        ensure(pond + used <= limit, "a group stays within its limit", || {
            format!("{name} may hold {limit} units; its processes have {used}, its users {pond}")
        })
    }

    /// Charges, limits and answers agree.
    pub(crate) fn check_groups(&self) -> Result<(), Violation> {
        let Daemon::Running(running) = &self.daemon else { return Ok(()) };
        let mut held: BTreeMap<u32, u64> = BTreeMap::new();
        for record in running.pond.snapshot() {
            let (user, bytes) = match record {
                Record::SlabMade(made) => (made.user, made.bytes),
                Record::HostMade(made) => {
                    let host = self.hosts.iter().find(|host| host.id == made.host);
                    let context = host.and_then(|host| host.context.as_ref());
                    (made.user, context.map_or(0, |context| context.bytes))
                }
                _ => continue,
            };
            *held.entry(user).or_default() += bytes.div_ceil(UNIT);
        }
        let groups = self.groups.borrow();
        for (name, file) in &*groups {
            let slabs: u64 = file.users.iter().filter_map(|user| held.get(user)).sum();
            let charge = file.budget.pond;
            ensure(charge == slabs, "a group is charged with its users' slabs", || {
                format!("{name} is charged with {charge} units and has {slabs}")
            })?;
            let known = running.ports.charges.held_by(&Payer::Group(name.clone()), GPU);
            ensure(known == slabs, "a group is charged with its users' slabs", || {
                format!("the daemon counts {known} units of {name}, which has {slabs}")
            })?;
            let ended = file.runner.filter(|_| !file.has_members());
            let ended = ended.is_some_and(|(_, pid)| self.gone.borrow().contains(&pid));
            ensure(!ended, "a group ends with its last process", || name.to_string())?;
        }
        for (name, expected) in &self.expected {
            let info = running.ports.group_info(name);
            ensure(
                info.as_ref().is_some_and(|it| expected.is(it)),
                "a group is as it was set",
                || format!("{name} is {info:?}, not {expected:?}"),
            )?;
        }
        let waits = self.tools.iter().find(|tool| tool.alive && tool.call.is_some());
        ensure(waits.is_none(), "every request is answered", || format!("{waits:?}"))
    }

    /// Nothing is left that could be charged.
    pub(crate) fn check_nothing_charged(&self) -> Result<(), Violation> {
        let groups = self.groups.borrow();
        let charged = groups.iter().find(|(_, file)| file.budget.pond > 0);
        ensure(charged.is_none(), "no charge leaks", || format!("{charged:?}"))?;
        let held = groups.iter().find(|(_, file)| file.claims() > 0);
        ensure(held.is_none(), "no charge leaks", || format!("{held:?}"))
    }
}
