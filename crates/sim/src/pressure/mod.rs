//! The simulated book thread's side of caches: the real rules of pressure over the groups' files.

mod files;
mod observer;

use std::cell::RefCell;
use std::rc::Rc;

use millpond_daemon::budget::pressure::{Account, Opened, Pressure, Say};
use millpond_daemon::policy::{ConnId, GroupCaller, GroupWork};
use millpond_ledger::{SlotKind, UNIT};
use millpond_wire::message::{CacheInfo, CacheOpen, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GroupName};

use crate::book::BookTold;
use crate::ledger::Slot;
use crate::mutation::Mutation;
use crate::ports::SimPorts;
use crate::world::GPU;

use files::Files;
pub use observer::Caches;
use observer::place;

impl SimPorts {
    /// The rules run on files that the ports have, so they are taken out of them meanwhile.
    fn with_files<T>(&mut self, work: impl FnOnce(&mut Pressure, &Files<'_>) -> T) -> T {
        let mut pressure = std::mem::take(&mut self.book.caches.pressure);
        let files = Files(RefCell::new(self));
        let result = work(&mut pressure, &files);
        self.book.caches.pressure = pressure;
        result
    }

    /// Requests about caches; `None` if there is no answer yet, or nobody waits for one.
    pub(crate) fn cache_work(
        &mut self,
        (conn, number): (ConnId, u64),
        by: GroupCaller,
        work: GroupWork,
    ) -> Option<Result<ReplyBody, Failure>> {
        let now_ms = self.clock.get();
        let answer = match work {
            GroupWork::OpenCache(open, program) => Some(self.open_cache(conn, by, *open, program)),
            GroupWork::CloseCache(cache) => {
                self.book.caches.pressure.close(conn, cache);
                Some(Ok(()))
            }
            GroupWork::Caches(group) => {
                return Some(Ok(ReplyBody::Caches(self.cache_infos(group.as_ref()))));
            }
            GroupWork::Want(cache, bytes, ms) => {
                self.queue(conn, number, cache, bytes.div_ceil(UNIT));
                let wanted = self.with_files(|pressure, files| {
                    pressure.want((conn, number), (cache, bytes, ms), now_ms, files)
                });
                if wanted.is_err() {
                    self.book.caches.line.retain(|it| (it.conn, it.number) != (conn, number));
                }
                wanted.err().map(Err)
            }
            GroupWork::Gave(gave) => {
                Some(self.with_files(|pressure, files| pressure.gave(conn, gave, now_ms, files)))
            }
            GroupWork::HungUp => {
                self.book.caches.line.retain(|it| it.conn != conn);
                self.book.caches.keeps_wants = self.mutation == Some(Mutation::HangUpKeepsWant);
                self.with_files(|pressure, files| pressure.hung_up(conn, now_ms, files));
                self.book.caches.keeps_wants = false;
                None
            }
            GroupWork::Press(device, bytes) => {
                let groups = Rc::clone(&self.groups);
                let groups = groups.borrow();
                let payer = groups.iter().find(|(_, file)| file.users.contains(&by.user));
                let accounts = match payer.map(|(name, _)| name.clone()) {
                    Some(group) => vec![Account { group, device }],
                    None => self.book.caches.pressure.accounts_on(device),
                };
                drop(groups);
                for account in accounts {
                    self.with_files(|pressure, files| {
                        pressure.for_pond(&account, bytes, now_ms, files);
                    });
                }
                None
            }
            _ => None,
        };
        self.say();
        answer.map(|answer| answer.map(|()| ReplyBody::Done))
    }

    /// Waits and requests whose time has come.
    pub(crate) fn look_at_pressure(&mut self) {
        let now_ms = self.clock.get();
        self.with_files(|pressure, files| pressure.tick(now_ms, files));
        self.say();
    }

    /// A group holds so many units more than its limit.
    pub(crate) fn press_over(&mut self, group: &GroupName, units: u64) {
        if units == 0 || self.book.caches.pressure.is_empty() {
            return;
        }
        let account = Account { group: group.clone(), device: GPU };
        let now_ms = self.clock.get();
        self.with_files(|pressure, files| pressure.over(&account, units, now_ms, files));
        self.say();
    }

    /// What is shown of caches.
    pub(crate) fn cache_infos(&mut self, group: Option<&GroupName>) -> Vec<CacheInfo> {
        self.with_files(|pressure, files| pressure.list(group, files))
    }

    fn open_cache(
        &mut self,
        conn: ConnId,
        by: GroupCaller,
        open: CacheOpen,
        program: String,
    ) -> Result<(), Failure> {
        let groups = Rc::clone(&self.groups);
        let groups = groups.borrow();
        let slots = groups.get(&open.group).map(|file| file.slots.as_slice()).unwrap_or_default();
        let is_meant = |slot: &&Slot| match open.slot {
            Some(named) => {
                slot.kind == SlotKind::Cache
                    && u32::try_from(slot.place.get()) == Ok(named.index)
                    && slot.place.serial() == named.serial
            }
            None => slot.kind == SlotKind::Process,
        };
        let mut of_process = slots.iter().filter(|it| it.pid == by.pid && it.ended_ms.is_none());
        let Some(slot) = of_process.find(is_meant).map(|slot| slot.place) else {
            let message = format!("process {} has no slot in '{}'", by.pid, open.group);
            return Err(Failure::new(ErrorKind::NotFound, message));
        };
        self.book.caches.slots.insert(open.cache, place(&open.group, slot));
        let opened = Opened { conn, user: by.user, pid: by.pid, program, slot, open };
        self.book.caches.pressure.open(opened)
    }

    fn say(&mut self) {
        for say in self.book.caches.pressure.take_said() {
            let told = match say {
                Say::Ask { conn, request } => BookTold::Press(conn, Box::new(request)),
                Say::Answer { conn, number, answer } => {
                    self.check_answer(conn, number, answer.is_ok());
                    if self.mutation == Some(Mutation::WaiterNotAnswered) {
                        continue;
                    }
                    BookTold::Answer(conn, number, answer.map(|()| ReplyBody::Done))
                }
                Say::Event { kind, group, user, text } => {
                    BookTold::Event { kind, group, user, text }
                }
                Say::End { conn } => BookTold::EndSilent(conn),
            };
            self.book.told.push_back(told);
        }
        self.check_owed();
    }
}
