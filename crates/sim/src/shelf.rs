//! What the simulated book thread does to groups when it is asked.

use millpond_daemon::budget::fits;
use millpond_ledger::{Budget, NO_LIMIT, UNIT};
use millpond_wire::message::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, ReplyBody,
};
use millpond_wire::{ErrorKind, Failure, GroupName, Token};

use crate::book::Trouble;
use crate::ledger::GroupFile;
use crate::mutation::Mutation;
use crate::ports::SimPorts;
use crate::world::{CARD_BYTES, GPU};

impl SimPorts {
    pub(crate) fn set_group(
        &mut self,
        set: &GroupSet,
        used_bytes: Option<u64>,
    ) -> Result<ReplyBody, Failure> {
        let name = &set.group;
        let exists = self.groups.borrow().contains_key(name);
        if !exists && !set.create {
            return Err(no_such(name));
        }
        self.check_set(set)?;
        if set.min_bytes.is_some_and(|min| min > 0) {
            self.charges.promised_elsewhere(true);
        }
        self.make_group(set, None);
        self.limit_group(set)?;
        if let Some(users) = &set.users {
            let held = self.charges.held_by_users(users, GPU);
            let raise = |budget: &mut Budget| budget.pond = budget.pond.max(held);
            self.write_group(name, |file| file.change(raise)).map_err(not_written)?;
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

    /// A folder is there whole, with its limit, or not at all.
    fn make_group(&mut self, set: &GroupSet, runner: Option<(Token, u32)>) {
        if !self.groups.borrow().contains_key(&set.group) && self.lives() {
            let mut file = GroupFile::made_for(runner);
            file.overtakes = self.mutation == Some(Mutation::WaiterOvertaken);
            file.change(|budget| *budget = after(set, *budget, false));
            self.groups.borrow_mut().insert(set.group.clone(), file);
        }
    }

    fn limit_group(&mut self, set: &GroupSet) -> Result<(), Failure> {
        let knows_card = self.book.knows_card;
        let changed = self.write_group(&set.group, |file| {
            file.change(|budget| *budget = after(set, *budget, knows_card));
        });
        changed.map_err(not_written)?;
        if let Some(ends_silent) = set.ends_silent {
            let mark = |file: &mut GroupFile| file.ends_silent = ends_silent;
            self.write_group(&set.group, mark).map_err(not_written)?;
        }
        Ok(())
    }

    pub(crate) fn join_group(
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
                let asked = self.groups.borrow().get(name).map(|file| file.budget.asked);
                if join.limit.is_some_and(|limit| Some(units(limit)) != asked) {
                    return Err(Failure::new(ErrorKind::Exists, "it has another limit"));
                }
                return Ok(seat(name.clone(), false));
            }
            (Some(name), _) if join.limit.is_some() => (name.clone(), None),
            (Some(name), _) => return Err(no_such(name)),
        };
        let set = GroupSet { limit: join.limit, ..GroupSet::of(name.clone()) };
        self.make_group(&set, runner);
        let limited = self.limit_group(&set);
        if limited.is_err() && self.lives() {
            self.groups.borrow_mut().remove(&name);
        }
        limited?;
        self.rebalance(used_bytes);
        Ok(seat(name, runner.is_some()))
    }

    pub(crate) fn remove_group(
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

    pub(crate) fn shown(&self, name: &GroupName) -> Result<ReplyBody, Failure> {
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
            ends_silent: file.ends_silent,
        };
        Some(GroupDetails { info, members: Vec::new() })
    }
}

/// What a set makes of an entry. On a card that is known what others hold is looked at afterwards,
/// and until then nobody gets more.
fn after(set: &GroupSet, before: Budget, knows_card: bool) -> Budget {
    let asked = set.limit.map_or(before.asked, units);
    Budget {
        asked,
        min: set.min_bytes.map_or(before.min, |min| min.div_ceil(UNIT)),
        weight: set.weight.unwrap_or(before.weight),
        effective: if knows_card { before.effective.min(asked) } else { asked },
        ..before
    }
}

/// A limit in units.
pub fn units(limit: GroupLimit) -> u64 {
    match limit {
        GroupLimit::Bytes(bytes) => bytes / UNIT,
        GroupLimit::Permille(part) => CARD_BYTES / UNIT * u64::from(part) / 1000,
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
