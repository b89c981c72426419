//! The simulated book thread: it answers requests about groups, and counts charges anew. The
//! arithmetic is the real budget; each write of a group's files is a call in which the daemon dies.

use std::collections::VecDeque;
use std::rc::Rc;

use millpond_daemon::budget::{Card, Holding, Ledgers, Payer, Payers, Refusal, Refused, Share};
use millpond_daemon::policy::{ConnId, DriverFailure, GroupAsk, GroupWork, OverLimit};
use millpond_ledger::{NO_LIMIT, UNIT};
use millpond_wire::message::{EventKind, Pressure as Request, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName, SlabId};

use crate::ledger::GroupFile;
use crate::mutation::Mutation;
use crate::ports::SimPorts;
use crate::pressure::Caches;
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

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "few of them live at once")]
pub enum BookTold {
    Answer(ConnId, u64, Result<ReplyBody, Failure>),
    /// Which group pays for whom.
    Payers(Payers),
    /// Whoever is at this connection is to give pages back.
    Press(ConnId, Box<Request>),
    Event {
        kind: EventKind,
        group: GroupName,
        user: u32,
        text: String,
    },
    /// Whoever is at this connection did not answer in time.
    EndSilent(ConnId),
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
    /// The GPU is known.
    pub knows_card: bool,
    /// Caches, and who waits for pages.
    pub caches: Caches,
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
    pub(crate) fn write_group<T>(
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
    pub(crate) fn charge_now(
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
                    work => match self.cache_work((conn, number), by, work) {
                        Some(answer) => answer,
                        None => return,
                    },
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

    pub(crate) fn names(&self) -> Vec<GroupName> {
        self.groups.borrow().keys().cloned().collect()
    }

    /// Says who pays for whom, after groups or their users have changed.
    pub(crate) fn payers_changed(&mut self) {
        let groups = Rc::clone(&self.groups);
        let groups = groups.borrow();
        let users = groups
            .iter()
            .flat_map(|(name, file)| file.users.iter().map(move |user| (*user, name.clone())));
        let payers: Payers = users.collect();
        self.charges.set_payers(payers.clone());
        self.book.told.push_back(BookTold::Payers(payers));
    }

    pub(crate) fn recount(&mut self) {
        if !self.book.knows_card {
            return;
        }
        for name in self.names() {
            let pays = self.groups.borrow().get(&name).is_some_and(|file| !file.users.is_empty());
            if self.mutation == Some(Mutation::ChargeNotMoved) && !pays {
                continue;
            }
            let mut charges = std::mem::take(&mut self.charges);
            let _ = charges.recount(self, &name, &[GPU]);
            self.charges = charges;
        }
    }

    pub(crate) fn rebalance(&mut self, used_bytes: Option<u64>) {
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
            let held = shares.get(index).map_or(0, |share| share.held);
            self.press_over(name, held.saturating_sub(limit));
        }
    }

    /// Whether the payer of a user has room at this moment, which says nothing about the next.
    pub(crate) fn has_room_now(&self, user: u32, bytes: u64) -> bool {
        let Payer::Group(group) = self.charges.payer_of(user) else { return false };
        let groups = self.groups.borrow();
        groups.get(&group).is_some_and(|file| file.has_room(bytes.div_ceil(UNIT)))
    }
}
