//! Elastic caches in the groups' ledgers: opened, listed, waited for, asked for pages.

use std::time::{Duration, Instant};

use millpond_ledger::{LedgerError, MemberReading, SlotIndex, SlotKind};
use millpond_wire::message::{CacheOpen, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName};

use super::Told;
use super::account::Account;
use super::shelf::Shelf;
use crate::budget::pressure::{
    self, Credits, GroupRules, Opened, Pressure, Say, SlotReading, Unassigned,
};
use crate::policy::{ConnId, GroupCaller, GroupWork};

/// The ledgers, as the rules of pressure see them.
struct Ledgers<'a>(&'a Shelf);

impl Ledgers<'_> {
    fn account(&self, account: &pressure::Account) -> Result<&Account, Unassigned> {
        let group = self.0.groups.get(&account.group).ok_or(Unassigned::Gone)?;
        group.account.as_deref().map_err(|_| Unassigned::Gone)
    }
}

fn unassigned(error: LedgerError) -> Unassigned {
    match error {
        LedgerError::Busy => Unassigned::Busy,
        _ => Unassigned::Gone,
    }
}

impl Credits for Ledgers<'_> {
    fn slot(&self, account: &pressure::Account, slot: SlotIndex) -> Option<SlotReading> {
        let reading = self.account(account).ok()?.book.reading(slot, account.device.0).ok()?;
        Some(SlotReading { held: reading.used, idle: reading.idle, wanted: reading.wanted })
    }

    fn rules(&self, account: &pressure::Account) -> GroupRules {
        let Ok(files) = self.account(account) else { return GroupRules::default() };
        let mut dying = false;
        let _ = files.book.members(|member| dying |= !member.alive);
        GroupRules {
            limit: files.budget(account.device).map_or(0, |budget| budget.for_members()),
            revision: files.book.generation().unwrap_or(0),
            ends_silent: files.ends_silent(),
            dying,
        }
    }

    fn want(
        &self,
        account: &pressure::Account,
        slot: SlotIndex,
        units: u64,
        ms: u64,
    ) -> Result<(), Unassigned> {
        let (files, time) = (self.account(account)?, Duration::from_millis(ms));
        files
            .locked(|book, patience| book.want(slot, account.device.0, units, time, patience))
            .map_err(unassigned)
    }

    fn assign(&self, account: &pressure::Account, slot: SlotIndex) -> Result<(), Unassigned> {
        let files = self.account(account)?;
        let missing = files
            .locked(|book, patience| book.assign(slot, account.device.0, patience))
            .map_err(unassigned)?;
        missing.map_or(Ok(()), |units| Err(Unassigned::Short(units)))
    }

    fn unwant(&self, account: &pressure::Account, slot: SlotIndex) {
        if let Ok(files) = self.account(account) {
            // Without the lock it ends by its time.
            let _ = files.locked(|book, patience| book.unwant(slot, account.device.0, patience));
        }
    }
}

impl Shelf {
    /// Requests about caches; `None` if there is no answer yet.
    pub fn cache_work(
        &mut self,
        conn: ConnId,
        number: u64,
        by: GroupCaller,
        work: GroupWork,
    ) -> Option<Result<ReplyBody, Failure>> {
        let now = self.pressure_ms();
        let answer = match work {
            GroupWork::OpenCache(open, program) => Some(self.open_cache(conn, by, *open, program)),
            GroupWork::CloseCache(cache) => {
                self.pressure.close(conn, cache);
                Some(Ok(()))
            }
            GroupWork::Caches(group) => return Some(self.list_caches(by, group)),
            GroupWork::Want(cache, bytes, ms) => {
                let wanted = self.with_ledgers(|pressure, ledgers| {
                    pressure.want((conn, number), (cache, bytes, ms), now, ledgers)
                });
                wanted.err().map(Err)
            }
            GroupWork::Gave(gave) => {
                Some(self.with_ledgers(|pressure, ledgers| pressure.gave(conn, gave, now, ledgers)))
            }
            GroupWork::HungUp => {
                self.with_ledgers(|pressure, ledgers| pressure.hung_up(conn, now, ledgers));
                None
            }
            GroupWork::Press(device, bytes) => {
                self.press_for_slab(by.user, device, bytes, now);
                None
            }
            GroupWork::Set(_)
            | GroupWork::Join(_)
            | GroupWork::List
            | GroupWork::Inspect(_)
            | GroupWork::Remove(_) => None,
        };
        self.say();
        answer.map(|answer| answer.map(|()| ReplyBody::Done))
    }

    fn open_cache(
        &mut self,
        conn: ConnId,
        by: GroupCaller,
        mut open: CacheOpen,
        program: String,
    ) -> Result<(), Failure> {
        open.group = self.meant(by, &open.group);
        let account = self.account(&open.group)?;
        let group = self.groups.get(&open.group).ok_or_else(|| self.no_such(&open.group))?;
        if !self.may_use(by, &open.group, group) {
            let message = format!("user {} may not have caches in group '{}'", by.user, open.group);
            return Err(Failure::new(ErrorKind::Denied, message).hint(format!(
                "the operator can let the user in: `millpond group set {} --user {}`",
                open.group, by.user
            )));
        }
        self.check_is_not_limited_elsewhere(by, &open.group)?;
        let slot = self.slot_of(&account, by, &open)?;
        self.has_members = true;
        self.pressure.open(Opened { conn, user: by.user, pid: by.pid, program, slot, open })
    }

    /// The slot that pays for a cache: its own, or that of a program that is limited itself.
    fn slot_of(
        &self,
        account: &Account,
        by: GroupCaller,
        open: &CacheOpen,
    ) -> Result<SlotIndex, Failure> {
        let identity = self.processes.identity(by.pid);
        let owns = |member: &MemberReading| match (&identity, member.same_namespace) {
            (Some(identity), true) => identity.is(member),
            // A process of another namespace cannot be compared; its slot is in its own group.
            _ => true,
        };
        let is_meant = |member: &MemberReading| match open.slot {
            Some(slot) => {
                member.kind == SlotKind::Cache
                    && u32::try_from(member.slot.get()) == Ok(slot.index)
                    && member.slot.serial() == slot.serial
            }
            None => {
                let is = identity.as_ref().is_some_and(|identity| identity.is(member));
                member.kind == SlotKind::Process && is
            }
        };
        let mut found = None;
        let _ = account.book.members(|member| {
            if member.alive && is_meant(&member) && owns(&member) {
                found = Some(member.slot);
            }
        });
        found.ok_or_else(|| {
            let process = match by.pid {
                0 => "a process in another pid namespace".to_owned(),
                pid => format!("process {pid}"),
            };
            let message = format!("{process} has no slot of its own in group '{}'", open.group);
            Failure::new(ErrorKind::NotFound, message)
        })
    }

    /// A program that is limited by a group has its caches there, or they would be a way around the
    /// limit.
    fn check_is_not_limited_elsewhere(
        &self,
        by: GroupCaller,
        group: &GroupName,
    ) -> Result<(), Failure> {
        let Some(identity) = self.processes.identity(by.pid) else { return Ok(()) };
        for (name, other) in self.groups.iter().filter(|(name, _)| *name != group) {
            let Ok(account) = &other.account else { continue };
            let mut limited = false;
            let _ = account.book.members(|member| {
                limited |= member.kind == SlotKind::Process && identity.is(&member);
            });
            if limited {
                let message = format!(
                    "process {} runs in group '{name}', and has caches in that group only",
                    by.pid
                );
                return Err(Failure::new(ErrorKind::Denied, message)
                    .hint(format!("start it with `millpond run --group {group}`")));
            }
        }
        Ok(())
    }

    fn list_caches(&self, by: GroupCaller, group: Option<GroupName>) -> Result<ReplyBody, Failure> {
        let group = group.map(|name| self.meant(by, &name));
        if let Some(name) = &group
            && !self.groups.contains_key(name)
        {
            return Err(self.no_such(name));
        }
        let mut caches = self.pressure.list(group.as_ref(), &Ledgers(self));
        caches.retain(|cache| {
            let group = self.groups.get(&cache.group);
            group.is_some_and(|group| self.may_use(by, &cache.group, group))
        });
        Ok(ReplyBody::Caches(caches))
    }

    fn press_for_slab(&mut self, user: u32, device: GpuUuid, bytes: u64, now: u64) {
        // A group's own caches where a group pays, else whatever lies idle on the card.
        let payer = self.groups.iter().find(|(_, group)| group.users.contains(&user));
        let accounts = match payer.map(|(name, _)| name.clone()) {
            Some(group) => vec![pressure::Account { group, device }],
            None => self.pressure.accounts_on(device),
        };
        for account in accounts {
            self.with_ledgers(|pressure, ledgers| {
                pressure.for_pond(&account, bytes, now, ledgers);
            });
        }
    }

    /// A group holds so many units more than its limit on a GPU.
    pub fn press_over(&mut self, device: GpuUuid, group: &GroupName, units: u64) {
        if units == 0 || self.pressure.is_empty() {
            return;
        }
        let account = pressure::Account { group: group.clone(), device };
        let now = self.pressure_ms();
        self.with_ledgers(|pressure, ledgers| pressure.over(&account, units, now, ledgers));
        self.say();
    }

    /// Waits and requests whose time has come.
    pub fn look_at_pressure(&mut self) {
        let now = self.pressure_ms();
        if self.pressure.next_ms().is_some_and(|next| next <= now) {
            self.with_ledgers(|pressure, ledgers| pressure.tick(now, ledgers));
            self.say();
        }
    }

    /// When that is.
    pub fn pressure_due(&self) -> Option<Instant> {
        self.pressure.next_ms().map(|ms| self.began + Duration::from_millis(ms))
    }

    pub fn cache_name(&self, group: &GroupName, slot: SlotIndex) -> String {
        self.pressure.name_of(group, slot).unwrap_or_default()
    }

    fn pressure_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The rules run on the ledgers that the shelf has, so they are taken out of it meanwhile.
    fn with_ledgers<T>(&mut self, work: impl FnOnce(&mut Pressure, &Ledgers<'_>) -> T) -> T {
        let mut pressure = std::mem::take(&mut self.pressure);
        let result = work(&mut pressure, &Ledgers(self));
        self.pressure = pressure;
        result
    }

    fn say(&mut self) {
        for say in self.pressure.take_said() {
            self.told.push(match say {
                Say::Ask { conn, request } => Told::Press { conn, request: Box::new(request) },
                Say::Answer { conn, number, answer } => {
                    let answer = Box::new(answer.map(|()| ReplyBody::Done));
                    Told::Answer { conn, number, answer }
                }
                Say::Event { kind, group, user, text } => {
                    Told::Event { kind, group, user: Some(user), text }
                }
                Say::End { conn } => Told::EndSilent { conn },
            });
        }
    }
}
