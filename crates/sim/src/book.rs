//! The simulated book thread: it answers requests about groups, and counts charges anew. The
//! arithmetic is the real budget; each write of a group's files is a call in which the daemon dies.

use std::collections::VecDeque;
use std::rc::Rc;

use millpond_daemon::budget::{
    Card, Holding, Ledgers, Payer, Payers, Refusal, Refused, Share, fits,
};
use millpond_daemon::policy::{ConnId, DriverFailure, GroupAsk, GroupWork, OverLimit};
use millpond_ledger::{NO_LIMIT, UNIT};
use millpond_wire::message::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, ReplyBody,
};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName, SlabId};

use crate::ledger::GroupFile;
use crate::mutation::Mutation;
use crate::ports::SimPorts;
use crate::world::{CARD_BYTES, GPU};

/// How often everything is looked after.
const LOOK_EVERY_MS: u64 = 1000;

/// What the thread is asked.
#[derive(Debug)]
pub enum BookAsk {
    /// The GPU is there, as the journal or the driver says.
    Known,
    /// Something that a client wants.
    Group(Box<GroupAsk>),
}

/// What it says.
#[derive(Debug)]
pub enum BookTold {
    /// To a client.
    Answer(ConnId, u64, Result<ReplyBody, Failure>),
    /// Which group pays for whom.
    Payers(Payers),
}

/// The thread; it goes with its daemon.
#[derive(Debug, Default)]
pub struct Book {
    /// It has read the groups' files.
    pub open: bool,
    /// What it is to do.
    pub asks: VecDeque<BookAsk>,
    /// What it has said.
    pub told: VecDeque<BookTold>,
    knows_card: bool,
    looked_ms: u64,
}

/// Why the files of a group were not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The daemon is dead.
    Dead,
    /// A process keeps the lock.
    Busy,
    /// There is no such group.
    Gone,
}

impl Ledgers for SimPorts {
    type Error = Trouble;

    fn charge(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Refusal<Trouble>> {
        let (now_ms, forced) = (self.clock.get(), self.charge_forced);
        let charged = self.write_group(group, |file| {
            if forced {
                file.change(|budget| budget.pond += units);
                return Ok(());
            }
            file.reserve_pond(units, now_ms)
        });
        match charged {
            Ok(Ok(())) => Ok(()),
            Ok(Err(soon)) => Err(Refusal::Limit { soon }),
            Err(trouble) => Err(Refusal::Broken(trouble)),
        }
    }

    fn give_back(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Trouble> {
        self.write_group(group, |file| {
            file.change(|budget| budget.pond = budget.pond.saturating_sub(units));
        })
    }

    fn charged(&mut self, group: &GroupName, _device: GpuUuid) -> Result<u64, Trouble> {
        self.groups.borrow().get(group).map(|file| file.budget.pond).ok_or(Trouble::Gone)
    }

    fn set_charged(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Trouble> {
        let adds = self.mutation == Some(Mutation::RecountAdds);
        self.write_group(group, |file| {
            file.change(|budget| budget.pond = if adds { budget.pond + units } else { units });
        })
    }
}

impl SimPorts {
    /// Writes a group's files under its lock.
    fn write_group<T>(
        &mut self,
        group: &GroupName,
        write: impl FnOnce(&mut GroupFile) -> T,
    ) -> Result<T, Trouble> {
        if !self.lives() {
            return Err(Trouble::Dead);
        }
        if self.stuck_locks && self.rng.once_in(25) {
            self.trace.say(|| format!("    the lock of {group} is KEPT"));
            return Err(Trouble::Busy);
        }
        let groups = Rc::clone(&self.groups);
        let mut groups = groups.borrow_mut();
        let file = groups.get_mut(group).ok_or(Trouble::Gone)?;
        let written = write(file);
        self.trace.say(|| format!("    group {group}: {:?}", file.budget));
        Ok(written)
    }

    /// The driver thread charges a slab before it is made.
    pub(crate) fn charge_slab(
        &mut self,
        slab: SlabId,
        bytes: u64,
        user: u32,
    ) -> Result<(), DriverFailure> {
        let (now_ms, holding) = (self.clock.get(), Holding::new(GPU, bytes, user));
        let mut charges = std::mem::take(&mut self.charges);
        let charged = charges.charge(self, now_ms, slab, holding);
        self.charges = charges;
        charged.map_err(|refused| {
            let (kind, soon) = match &refused {
                Refused::ByGroup(_, Refusal::Limit { soon }) | Refused::Promised { soon, .. } => {
                    (ErrorKind::GpuFull, *soon)
                }
                Refused::ByGroup(_, Refusal::Broken(Trouble::Busy)) => (ErrorKind::Later, false),
                Refused::ByGroup(_, Refusal::Broken(_)) => (ErrorKind::Internal, false),
                Refused::Unread => (ErrorKind::Later, true),
            };
            let answer = Failure::new(kind, format!("{refused:?}"));
            let text = answer.message.clone();
            let over_limit = Some(Box::new(OverLimit { answer, soon }));
            DriverFailure { out_of_memory: false, text, over_limit }
        })
    }

    /// The driver thread gives a slab back that is gone, or was not made.
    pub(crate) fn give_back_slab(&mut self, slab: SlabId) {
        if self.mutation == Some(Mutation::ChargeNotReturned) {
            return;
        }
        let now_ms = self.clock.get();
        let mut charges = std::mem::take(&mut self.charges);
        // What could not be written is counted anew.
        let _ = charges.give_back(self, now_ms, slab);
        self.charges = charges;
    }

    /// The thread begins, or takes one request. The card has so many bytes in use; `None` while
    /// nobody has read it.
    pub(crate) fn book_works(&mut self, used_bytes: Option<u64>) {
        if !self.book.open {
            self.book.open = true;
            let mins = self.groups.borrow().values().any(|file| file.budget.min > 0);
            self.charges.promised_elsewhere(mins);
            self.payers_changed();
            return;
        }
        let Some(ask) = self.book.asks.pop_front() else { return };
        match ask {
            BookAsk::Known => {
                self.book.knows_card = true;
                self.recount();
                self.rebalance(used_bytes);
            }
            BookAsk::Group(ask) => {
                let GroupAsk { conn, number, by, work } = *ask;
                let answer = match work {
                    GroupWork::Set(set) => self.set_group(&set, used_bytes),
                    GroupWork::Join(join) => self.join_group(by.pid, &join, used_bytes),
                    GroupWork::List => {
                        let names = self.names();
                        let infos = names.iter().filter_map(|name| self.group_info(name));
                        Ok(ReplyBody::Groups(infos.collect()))
                    }
                    GroupWork::Inspect(name) => self.shown(&name),
                    GroupWork::Remove(name) => self.remove_group(&name, used_bytes),
                };
                self.book.told.push_back(BookTold::Answer(conn, number, answer));
            }
        }
    }

    /// Once a second: charges, slots of the dead, groups that have ended, limits.
    pub(crate) fn book_looks(&mut self, used_bytes: Option<u64>) {
        let now_ms = self.clock.get();
        if !self.book.open || now_ms.saturating_sub(self.book.looked_ms) < LOOK_EVERY_MS {
            return;
        }
        self.book.looked_ms = now_ms;
        self.recount();
        for name in self.names() {
            let _ = self.write_group(&name, |file| file.reap(now_ms));
            let gone = Rc::clone(&self.gone);
            let groups = Rc::clone(&self.groups);
            let ended = groups.borrow().get(&name).is_some_and(|file| {
                let runner = file.runner.filter(|_| !file.has_members());
                runner.is_some_and(|(_, pid)| gone.borrow().contains(&pid))
            });
            if ended && self.lives() {
                self.groups.borrow_mut().remove(&name);
                self.payers_changed();
            }
        }
        self.rebalance(used_bytes);
    }

    fn names(&self) -> Vec<GroupName> {
        self.groups.borrow().keys().cloned().collect()
    }

    /// Says who pays for whom, after groups or their users have changed.
    fn payers_changed(&mut self) {
        let groups = Rc::clone(&self.groups);
        let groups = groups.borrow();
        let users = groups
            .iter()
            .flat_map(|(name, file)| file.users.iter().map(move |user| (*user, name.clone())));
        let payers: Payers = users.collect();
        self.charges.set_payers(payers.clone());
        self.book.told.push_back(BookTold::Payers(payers));
    }

    fn recount(&mut self) {
        if !self.book.knows_card {
            return;
        }
        for name in self.names() {
            let pays = self.groups.borrow().get(&name).is_some_and(|file| !file.users.is_empty());
            if self.mutation == Some(Mutation::ChargeNotMoved) && !pays {
                continue;
            }
            let charges = std::mem::take(&mut self.charges);
            let _ = charges.recount(self, &name, &[GPU]);
            self.charges = charges;
        }
    }

    fn rebalance(&mut self, used_bytes: Option<u64>) {
        if !self.book.knows_card {
            return;
        }
        let card = Card { total: CARD_BYTES / UNIT, used: used_bytes.map(|used| used / UNIT) };
        let read = used_bytes.is_some();
        let names = self.names();
        let share = |file: &GroupFile| Share {
            asked: file.budget.asked,
            min: file.budget.min,
            held: file.held(),
            weight: file.budget.weight,
        };
        let shares: Vec<Share> = self.groups.borrow().values().map(share).collect();
        let effective = self.charges.balance(GPU, &card, read, &shares);
        for index in Card::order(&shares) {
            let (Some(name), Some(limit)) = (names.get(index), effective.get(index)) else {
                continue;
            };
            let before = self.groups.borrow().get(name).map(|file| file.budget.effective);
            // Before the first reading nobody knows what strangers have.
            let most = if read { NO_LIMIT } else { before.unwrap_or(NO_LIMIT) };
            let limit = most.min(*limit);
            if before != Some(limit) {
                let _ = self.write_group(name, |file| file.change(|it| it.effective = limit));
            }
        }
    }

    fn set_group(&mut self, set: &GroupSet, used_bytes: Option<u64>) -> Result<ReplyBody, Failure> {
        let name = &set.group;
        let exists = self.groups.borrow().contains_key(name);
        if !exists && !set.create {
            return Err(no_such(name));
        }
        self.check_set(set)?;
        if set.min_bytes.is_some_and(|min| min > 0) {
            self.charges.promised_elsewhere(true);
        }
        self.make_group(name, None);
        self.limit_group(name, set)?;
        if let Some(users) = &set.users {
            self.write_group(name, |file| file.users.clone_from(users)).map_err(not_written)?;
            self.payers_changed();
            self.recount();
        }
        self.rebalance(used_bytes);
        self.shown(name)
    }

    fn check_set(&self, set: &GroupSet) -> Result<(), Failure> {
        let groups = self.groups.borrow();
        let others = || groups.iter().filter(|(name, _)| **name != set.group);
        let mut wanted = set.users.iter().flatten();
        if wanted.any(|user| others().any(|(_, file)| file.users.contains(user))) {
            return Err(Failure::new(ErrorKind::Exists, "another group pays for the user"));
        }
        let before = groups.get(&set.group).map(|file| file.budget).unwrap_or_default();
        let min = set.min_bytes.map_or(before.min, |min| min.div_ceil(UNIT));
        if min > set.limit.map_or(before.asked, units) {
            return Err(Failure::new(ErrorKind::Invalid, "a min is at most the limit"));
        }
        let mins = others().map(|(_, file)| file.budget.min);
        if set.min_bytes.is_some() && fits(CARD_BYTES / UNIT, min, mins).is_err() {
            return Err(Failure::new(ErrorKind::GpuFull, "too many promises"));
        }
        Ok(())
    }

    /// A folder is there whole or not at all.
    fn make_group(&mut self, name: &GroupName, runner: Option<(millpond_wire::Token, u32)>) {
        if !self.groups.borrow().contains_key(name) && self.lives() {
            self.groups.borrow_mut().insert(name.clone(), GroupFile::made_for(runner));
        }
    }

    fn limit_group(&mut self, name: &GroupName, set: &GroupSet) -> Result<(), Failure> {
        let knows_card = self.book.knows_card;
        let changed = self.write_group(name, |file| {
            file.change(|budget| {
                budget.asked = set.limit.map_or(budget.asked, units);
                budget.min = set.min_bytes.map_or(budget.min, |min| min.div_ceil(UNIT));
                budget.weight = set.weight.unwrap_or(budget.weight);
                let most = if knows_card { budget.effective } else { NO_LIMIT };
                budget.effective = most.min(budget.asked);
            });
        });
        changed.map_err(not_written)
    }

    fn join_group(
        &mut self,
        pid: u32,
        join: &GroupJoin,
        used_bytes: Option<u64>,
    ) -> Result<ReplyBody, Failure> {
        let same = |file: &GroupFile| file.runner.is_some_and(|(token, _)| token == join.token);
        let known = self.groups.borrow().iter().find(|(_, it)| same(it)).map(|(it, _)| it.clone());
        let (name, runner) = match (&join.group, known) {
            (None, Some(known)) => return Ok(seat(known, true)),
            (None, None) => (GroupName::anonymous(pid.into()), Some((join.token, pid))),
            (Some(name), _) if self.groups.borrow().contains_key(name) => {
                return Ok(seat(name.clone(), false));
            }
            (Some(name), _) if join.limit.is_some() => (name.clone(), None),
            (Some(name), _) => return Err(no_such(name)),
        };
        self.make_group(&name, runner);
        let set = GroupSet { limit: join.limit, ..GroupSet::of(name.clone()) };
        let limited = self.limit_group(&name, &set);
        if limited.is_err() && self.lives() {
            self.groups.borrow_mut().remove(&name);
        }
        limited?;
        self.rebalance(used_bytes);
        Ok(seat(name, runner.is_some()))
    }

    fn remove_group(
        &mut self,
        name: &GroupName,
        used_bytes: Option<u64>,
    ) -> Result<ReplyBody, Failure> {
        let members = self.groups.borrow().get(name).map(GroupFile::has_members);
        if members.ok_or_else(|| no_such(name))? {
            return Err(Failure::new(ErrorKind::InUse, "the group has processes"));
        }
        if self.lives() {
            self.groups.borrow_mut().remove(name);
        }
        if self.mutation != Some(Mutation::PayersKept) {
            self.payers_changed();
        }
        self.rebalance(used_bytes);
        Ok(ReplyBody::Done)
    }

    fn shown(&self, name: &GroupName) -> Result<ReplyBody, Failure> {
        let details = self.details(name).ok_or_else(|| no_such(name))?;
        Ok(ReplyBody::GroupDetails(Box::new(details)))
    }

    /// A group as it is shown.
    pub(crate) fn group_info(&self, name: &GroupName) -> Option<GroupInfo> {
        self.details(name).map(|details| details.info)
    }

    fn details(&self, name: &GroupName) -> Option<GroupDetails> {
        let groups = self.groups.borrow();
        let file = groups.get(name)?;
        let budget = file.budget;
        let limit = |units: u64| (units != NO_LIMIT).then(|| units * UNIT);
        let device = GroupDevice {
            device: GPU,
            limit_bytes: limit(budget.asked),
            effective_bytes: limit(budget.effective),
            min_bytes: budget.min * UNIT,
            weight: budget.weight,
            process_bytes: (file.held() - budget.pond) * UNIT,
            pond_bytes: budget.pond * UNIT,
            context_bytes: 0,
            folded_bytes: 0,
            shared_bytes: 0,
            processes: u32::from(file.has_members()),
        };
        let info = GroupInfo {
            name: name.clone(),
            folder: format!("groups/{name}"),
            anonymous: file.runner.is_some(),
            owner: None,
            users: file.users.clone(),
            processes: u32::from(file.has_members()),
            lying: false,
            stuck: false,
            broken: false,
            devices: vec![device],
        };
        Some(GroupDetails { info, members: Vec::new() })
    }

    /// Whether the payer of a user has room at this moment, which says nothing about the next.
    pub(crate) fn has_room_now(&self, user: u32, bytes: u64) -> bool {
        let Payer::Group(group) = self.charges.payer_of(user) else { return false };
        let groups = self.groups.borrow();
        groups.get(&group).is_some_and(|file| file.has_room(bytes.div_ceil(UNIT)))
    }
}

fn units(limit: GroupLimit) -> u64 {
    match limit {
        GroupLimit::Bytes(bytes) => bytes / UNIT,
        GroupLimit::Part(part) => CARD_BYTES / UNIT * u64::from(part) / 1000,
        GroupLimit::Unlimited => NO_LIMIT,
    }
}

fn seat(name: GroupName, anonymous: bool) -> ReplyBody {
    let folder = format!("groups/{name}");
    ReplyBody::GroupJoined { name, folder, anonymous }
}

fn no_such(name: &GroupName) -> Failure {
    Failure::new(ErrorKind::NotFound, format!("no group '{name}'"))
}

fn not_written(trouble: Trouble) -> Failure {
    let kind = if trouble == Trouble::Busy { ErrorKind::InUse } else { ErrorKind::Internal };
    Failure::new(kind, format!("{trouble:?}"))
}
