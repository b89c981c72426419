//! A group is made or changed.

use std::sync::Arc;

use millpond_ledger::{Budget, Flags, LedgerError, Memory, NO_LIMIT, OWNERS, UNIT};
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{EventKind, GroupJoin, GroupLimit, GroupSet, ReplyBody};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName};

use super::account::{Account, bytes};
use super::folders::Runner;
use super::shelf::{Group, Shelf};
use crate::budget::fits;
use crate::policy::GroupCaller;

/// Weights beyond this say nothing more.
const MOST_WEIGHT: u32 = 10_000;

/// What a budget becomes. What is `None` stays as it is.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    asked: Option<u64>,
    min: Option<u64>,
    weight: Option<u32>,
    /// No card that this pond has: nobody looks at what others hold there.
    elsewhere: bool,
}

impl Change {
    fn of(&self, before: Budget) -> Budget {
        let asked = self.asked.unwrap_or(before.asked);
        Budget {
            asked,
            min: self.min.unwrap_or(before.min),
            weight: self.weight.unwrap_or(before.weight),
            // What others hold is looked at afterwards; until then nobody gets more.
            effective: if self.elsewhere { asked } else { before.effective.min(asked) },
            ..before
        }
    }
}

impl Shelf {
    pub fn set(&mut self, by: GroupCaller, set: GroupSet) -> Result<ReplyBody, Failure> {
        let name = set.group.clone();
        let exists = self.groups.contains_key(&name);
        if !exists && !set.create {
            return Err(self.no_such(&name));
        }
        self.check_may_set(by, &set)?;
        if !exists {
            self.check_is_own(by, &name)?;
        }
        self.check(&set)?;
        let changes = self.changes(&set)?;
        self.check_promises(&name, &changes)?;
        if set.min_bytes.is_some_and(|min| min > 0) {
            self.charges.promised_elsewhere(true);
        }
        if !exists {
            // Whoever will be in it, in whatever container.
            self.make(&name, (None, None, Memory::File), &changes)?;
        }
        let applied = self.apply(&name, &set, &changes);
        if applied.is_err() && !exists {
            let _ = self.folders.remove(&name);
            self.groups.remove(&name);
        }
        applied?;
        if by.operator {
            self.unmark(&name);
            self.take_over(by, &name);
        }
        self.rebalance();
        self.event(EventKind::GroupSet, &name, Some(by.user), words(&set));
        let group = self.groups.get(&name).ok_or_else(|| self.no_such(&name))?;
        Ok(ReplyBody::GroupDetails(Box::new(self.details(&name, group))))
    }

    fn check(&self, set: &GroupSet) -> Result<(), Failure> {
        let invalid = |message: String| Err(Failure::new(ErrorKind::Invalid, message));
        let name = &set.group;
        if let Some(weight) = set.weight
            && !(1..=MOST_WEIGHT).contains(&weight)
        {
            return invalid(format!("a weight of {weight} is not between 1 and {MOST_WEIGHT}"));
        }
        for user in set.users.iter().flatten() {
            let other = self
                .groups
                .iter()
                .find(|(other, group)| *other != name && group.users.contains(user));
            if let Some((other, _)) = other {
                return Err(Failure::new(
                    ErrorKind::Exists,
                    format!("the memory of user {user} is already charged to group '{other}'"),
                )
                .hint(format!(
                    "remove the user from it first: `millpond group set {other} --user ...` with the users \
                     who stay, or with `none`"
                )));
            }
        }
        if set.users.as_ref().is_some_and(|users| users.len() > OWNERS) {
            return invalid(format!("a group pays for at most {OWNERS} users"));
        }
        Ok(())
    }

    /// The entries that change: of one GPU, or of all and the one for those that come later.
    fn changes(&self, set: &GroupSet) -> Result<Vec<(Option<GpuUuid>, Change)>, Failure> {
        let mut targets = match set.device {
            Some(device) => {
                self.know(device)?;
                vec![Some(device)]
            }
            None => vec![None],
        };
        if set.device.is_none() {
            targets.extend(self.cards.iter().map(|card| Some(card.uuid)));
            if let Some(Group { account: Ok(account), .. }) = self.groups.get(&set.group) {
                targets.extend(entries(account).into_iter().map(|(device, _)| device));
            }
            targets.sort_unstable();
            targets.dedup();
        }
        let min = set.min_bytes.map(|min| min.div_ceil(UNIT));
        let mut changes = Vec::new();
        for device in targets {
            let asked = set.limit.map(|limit| self.units(limit, device)).transpose()?;
            let elsewhere = !self.cards.iter().any(|card| Some(card.uuid) == device);
            changes.push((device, Change { asked, min, weight: set.weight, elsewhere }));
        }
        Ok(changes)
    }

    fn know(&self, device: GpuUuid) -> Result<(), Failure> {
        if self.cards.is_empty() {
            return Err(no_driver_yet());
        }
        if self.cards.iter().any(|card| card.uuid == device) {
            return Ok(());
        }
        let known: Vec<String> = self.cards.iter().map(|card| card.uuid.to_string()).collect();
        Err(Failure::new(ErrorKind::NoDevice, format!("{device} is not in this pond"))
            .hint(format!("GPUs here: {}", known.join(", "))))
    }

    /// A limit in units; a part is one of the card, or of the smallest.
    pub fn units(&self, limit: GroupLimit, device: Option<GpuUuid>) -> Result<u64, Failure> {
        let units = match limit {
            GroupLimit::Unlimited => return Ok(NO_LIMIT),
            GroupLimit::Bytes(limit) => limit / UNIT,
            GroupLimit::Permille(part) => {
                let cards =
                    self.cards.iter().filter(|card| device.is_none_or(|it| it == card.uuid));
                let total = cards.map(|card| card.card.total).min().ok_or_else(no_driver_yet)?;
                total.saturating_mul(part.into()) / 1000
            }
        };
        if units == 0 {
            return Err(Failure::new(
                ErrorKind::Invalid,
                format!("a limit of less than {UNIT} bytes lets nothing run"),
            )
            .hint("write it as 10G, 2G or 50%"));
        }
        Ok(units)
    }

    /// No promise beyond the group's own limit, and all together fit each card.
    fn check_promises(
        &self,
        name: &GroupName,
        changes: &[(Option<GpuUuid>, Change)],
    ) -> Result<(), Failure> {
        let own = self.groups.get(name).and_then(|group| group.account.as_ref().ok());
        for card in &self.cards {
            let before = own.and_then(|account| account.budget(card.uuid).ok());
            let change = changes.iter().find(|(device, _)| *device == Some(card.uuid));
            let Some((_, change)) = change else { continue };
            let after = change.of(before.unwrap_or_default());
            if after.min > after.asked {
                let message = format!(
                    "group '{name}' cannot be promised {} of {} and be limited to {}",
                    format_bytes(bytes(after.min)),
                    card.uuid,
                    format_bytes(bytes(after.asked))
                );
                return Err(
                    Failure::new(ErrorKind::Invalid, message).hint("a min is at most the limit")
                );
            }
            let others = self.groups.iter().filter(|(other, _)| *other != name);
            let others = others.filter_map(|(_, group)| {
                Some(group.account.as_ref().ok()?.budget(card.uuid).ok()?.min)
            });
            if change.min.is_some()
                && let Err(too_many) = fits(card.card.total, after.min, others)
            {
                let message = format!(
                    "group '{name}' cannot be promised {} of {}: the card has {}, and {} of it are \
                     promised to others",
                    format_bytes(bytes(after.min)),
                    card.uuid,
                    format_bytes(bytes(card.card.total)),
                    format_bytes(bytes(too_many.others))
                );
                let mut failure = Failure::new(ErrorKind::GpuFull, message).hint(
                    "lower a min with `millpond group set NAME --min ...`; `millpond group ls` \
                     shows all",
                );
                failure.requested_bytes = Some(bytes(after.min));
                failure.free_bytes = Some(bytes(too_many.left));
                failure.capacity_bytes = Some(bytes(card.card.total));
                return Err(failure);
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        name: &GroupName,
        set: &GroupSet,
        changes: &[(Option<GpuUuid>, Change)],
    ) -> Result<(), Failure> {
        let account = self.account(name)?;
        let refused = |error| not_written(name, error);
        for (device, change) in changes {
            if let Some(device) = device
                && let (Ok(budget), Some(group)) =
                    (account.budget(*device), self.groups.get_mut(name))
            {
                group.ceiling(*device).lowered_from(budget.effective);
                if change.asked.is_some() {
                    group.set_here.insert(*device);
                }
            }
            let uuid = device.map(|device| device.0);
            account
                .locked(|book, patience| {
                    book.change(uuid, patience, |budget| *budget = change.of(*budget))
                })
                .map_err(refused)?;
        }
        if let Some(ends_silent) = set.ends_silent {
            let mark = |flags: Flags| match ends_silent {
                true => Flags(flags.0 | Flags::ENDS_SILENT.0),
                false => Flags(flags.0 & !Flags::ENDS_SILENT.0),
            };
            account
                .locked(|book, patience| book.set_flags(mark(book.flags()?), patience))
                .map_err(refused)?;
        }
        if let Some(users) = &set.users {
            // Before they are its users: if the ledger is kept from us afterwards, its members find
            // no room that the users' memory has.
            for device in self.cards.iter().map(|card| card.uuid) {
                let held = self.charges.held_by_users(users, device);
                let raise = |budget: &mut Budget| budget.pond = budget.pond.max(held);
                account
                    .locked(|book, patience| book.change(Some(device.0), patience, raise))
                    .map_err(refused)?;
            }
            account.locked(|book, patience| book.set_owners(users, patience)).map_err(refused)?;
            if let Some(group) = self.groups.get_mut(name) {
                group.users.clone_from(users);
            }
            self.folders.let_all_in(name, users);
            self.payers_changed();
            self.recount();
        }
        Ok(())
    }

    /// An operator who sets a group has seen the mark; if it still lies, it is marked again.
    fn unmark(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get_mut(name) else { return };
        let Ok(account) = group.account.clone() else { return };
        if std::mem::take(&mut group.lying) {
            let unmarked = account.locked(|book, patience| {
                let flags = Flags(book.flags()?.0 & !Flags::LYING.0);
                book.set_flags(flags, patience)
            });
            group.note(&unmarked);
        }
    }

    /// Makes a group for somebody, or for the operator. Its limits are in its files from the
    /// beginning: a daemon that is killed leaves no group without.
    fn make(
        &mut self,
        name: &GroupName,
        (owner, runner, memory): (Option<u32>, Option<Runner>, Memory),
        changes: &[(Option<GpuUuid>, Change)],
    ) -> Result<(), Failure> {
        let (has, cap) = (self.groups.len(), self.caps.all);
        if has >= cap {
            let message = format!("there are {has} groups, which is the maximum");
            return Err(Failure::new(ErrorKind::TooMany, message)
                .limit("limits.groups", has as u64, cap as u64)
                .hint("`millpond group rm NAME` removes one that has no processes"));
        }
        let first = |(device, change): &(_, Change)| (*device, change.of(Budget::default()));
        let budgets: Vec<_> = changes.iter().map(first).collect();
        let made = self.folders.make(name, (owner, runner, memory), &budgets);
        let book = made.map_err(|error| {
            Failure::new(ErrorKind::Internal, format!("group '{name}' cannot be made: {error}"))
        })?;
        let account = Arc::new(Account::new(name.clone(), book));
        let mut group = Group::new(Ok(account), runner);
        group.maker = self.folders.maker(name);
        self.groups.insert(name.clone(), group);
        self.has_members = true;
        Ok(())
    }

    /// Makes a group for a program, with the limit that it asks for.
    pub fn make_for(
        &mut self,
        name: &GroupName,
        of: (Option<u32>, Option<Runner>, Memory),
        join: &GroupJoin,
    ) -> Result<(), Failure> {
        let set = GroupSet { limit: join.limit, device: join.device, ..GroupSet::of(name.clone()) };
        let changes = self.changes(&set)?;
        self.make(name, of, &changes)?;
        let limited = self.apply(name, &set, &changes);
        if limited.is_err() {
            let _ = self.folders.remove(name);
            self.groups.remove(name);
        }
        limited
    }
}

/// Every entry of a limits file.
pub(super) fn entries(account: &Account) -> Vec<(Option<GpuUuid>, Budget)> {
    let entry = |n| account.book.nth_entry(n).ok().flatten();
    (0..).map_while(entry).map(|(device, budget)| (device.map(GpuUuid), budget)).collect()
}

fn no_driver_yet() -> Failure {
    Failure::new(ErrorKind::Later, "the driver has not reported its GPUs yet")
        .hint("try again in a moment; `millpond status` says when it is ready")
}

pub(super) fn not_written(name: &GroupName, error: LedgerError) -> Failure {
    match error {
        LedgerError::Busy => Failure::new(
            ErrorKind::InUse,
            format!(
                "group '{name}' cannot be changed: one of its processes holds the ledger's lock"
            ),
        )
        .hint(format!("`millpond ps --group {name}` shows its processes; one may be stopped")),
        error => {
            Failure::new(ErrorKind::Internal, format!("group '{name}' cannot be changed: {error}"))
        }
    }
}

fn words(set: &GroupSet) -> String {
    let limit = set.limit.map(|limit| match limit {
        GroupLimit::Bytes(limit) => format!("limit {}", format_bytes(limit)),
        GroupLimit::Permille(part) => format!("limit {}.{} %", part / 10, part % 10),
        GroupLimit::Unlimited => "no limit".to_owned(),
    });
    let min = set.min_bytes.map(|min| format!("min {}", format_bytes(min)));
    let weight = set.weight.map(|weight| format!("weight {weight}"));
    let users = set.users.as_ref().map(|users| match users.len() {
        0 => "pays for nobody".to_owned(),
        1 => "pays for 1 user".to_owned(),
        count => format!("pays for {count} users"),
    });
    let silent = set.ends_silent.map(|ends| match ends {
        true => "a process that does not answer is ended".to_owned(),
        false => "no process is ended".to_owned(),
    });
    let words: Vec<String> = [limit, min, weight, users, silent].into_iter().flatten().collect();
    words.join(", ")
}
