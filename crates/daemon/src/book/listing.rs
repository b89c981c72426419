//! Groups as they are shown.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use millpond_ledger::{MemberReading, SlotKind};
use millpond_wire::message::{
    GroupDetails, GroupDevice, GroupInfo, MemberDevice, MemberInfo, ReplyBody,
};
use millpond_wire::{ErrorKind, Failure, GpuUuid, GroupName};

use super::account::{Account, bytes, limit_bytes};
use super::processes::started_unix_ms;
use super::set::entries;
use super::shelf::{Group, Shelf};
use crate::policy::GroupCaller;

impl Shelf {
    pub fn list(&self) -> Vec<GroupInfo> {
        self.groups.iter().map(|(name, group)| self.details(name, group).info).collect()
    }

    pub fn inspect(&self, by: GroupCaller, name: &GroupName) -> Result<ReplyBody, Failure> {
        let group = self.groups.get(name).ok_or_else(|| self.no_such(name))?;
        if !self.may_use(by, name, group) {
            let message = format!("the processes of group '{name}' are not user {}'s", by.user);
            return Err(Failure::new(ErrorKind::Denied, message)
                .hint("`millpond group ls` shows what each group holds"));
        }
        let mut details = self.details(name, group);
        self.find_pids(group, &mut details.members);
        Ok(ReplyBody::GroupDetails(Box::new(details)))
    }

    /// The pids of members in other pid namespaces that the card has not told, as it does not for
    /// one without memory.
    fn find_pids(&self, group: &Group, shown: &mut [MemberInfo]) {
        let Ok(account) = &group.account else { return };
        let mut unknown = Vec::new();
        let _ = account.book.members(|member| {
            let slot = count(member.slot.get());
            if shown.iter().any(|it| it.slot == slot && it.alive && it.host_pid.is_none()) {
                unknown.push(member);
            }
        });
        if unknown.is_empty() {
            return;
        }
        for (slot, pid) in self.processes.find(&unknown) {
            let slot = count(slot.get());
            let member = shown.iter_mut().find(|it| it.slot == slot);
            if let Some(member) = member {
                member.host_pid = Some(pid);
            }
        }
    }

    pub fn details(&self, name: &GroupName, group: &Group) -> GroupDetails {
        let members: Vec<MemberReading> = match &group.account {
            Ok(account) => {
                let mut members = Vec::new();
                // Who cannot be read is not shown; the group is shown as broken then.
                let _ = account.book.members(|member| members.push(member));
                members
            }
            Err(_) => Vec::new(),
        };
        let shown: Vec<MemberInfo> = match &group.account {
            Ok(account) => members.iter().map(|member| self.member(account, member)).collect(),
            Err(_) => Vec::new(),
        };
        let known = group.account.as_ref().map(|account| self.devices_of(account));
        let devices = known.unwrap_or_default().into_iter().filter_map(|device| {
            let account = group.account.as_ref().ok()?;
            self.device(account, device, &shown)
        });
        let info = GroupInfo {
            name: name.clone(),
            folder: self.folders.of(name).display().to_string(),
            anonymous: group.anonymous,
            owner: self.owner(name, group),
            users: group.users.clone(),
            processes: living_processes(members.iter()),
            lying: group.lying,
            stuck: group.account.as_ref().is_ok_and(|account| account.is_stuck()),
            broken: group.account.is_err(),
            devices: devices.collect(),
            ends_silent: group.account.as_ref().is_ok_and(|account| account.ends_silent()),
        };
        GroupDetails { info, members: shown }
    }

    /// The cards, and those that the group's files know while the driver has not answered.
    fn devices_of(&self, account: &Account) -> Vec<GpuUuid> {
        let mut devices: Vec<GpuUuid> = self.cards.iter().map(|card| card.uuid).collect();
        for device in entries(account).into_iter().filter_map(|(device, _)| device) {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        devices
    }

    fn device(
        &self,
        account: &Account,
        device: GpuUuid,
        members: &[MemberInfo],
    ) -> Option<GroupDevice> {
        let budget = account.budget(device).ok()?;
        let totals = account.book.totals(device.0).ok()?;
        let on = || {
            members.iter().filter_map(|member| member.devices.iter().find(|it| it.device == device))
        };
        // A process may have several slots, each for a cache.
        let living: BTreeSet<(u32, Option<u32>, Option<u32>)> = members
            .iter()
            .filter(|member| member.alive && member.devices.iter().any(|it| it.device == device))
            .map(|member| {
                (member.pid, member.host_pid, member.cache.is_none().then_some(member.slot))
            })
            .collect();
        let sum = |of: fn(&MemberDevice) -> u64| on().map(of).fold(0, u64::saturating_add);
        Some(GroupDevice {
            device,
            limit_bytes: limit_bytes(budget.asked),
            effective_bytes: limit_bytes(budget.effective),
            min_bytes: bytes(budget.min),
            weight: budget.weight,
            process_bytes: bytes(totals.used),
            pond_bytes: bytes(totals.pond),
            context_bytes: sum(|it| it.context_bytes),
            folded_bytes: sum(|it| it.folded_bytes),
            shared_bytes: sum(|it| it.shared_bytes),
            processes: count(living.len()),
        })
    }

    fn member(&self, account: &Account, member: &MemberReading) -> MemberInfo {
        let on = |device: GpuUuid| {
            let reading = account.book.reading(member.slot, device.0).ok()?;
            // What the card says is of the whole process.
            let whole = member.kind == SlotKind::Process;
            let physical = whole.then(|| self.physical(device, member)).flatten();
            let physical = physical.map(|(_, units)| bytes(units));
            let is_there = reading.credit > 0 || reading.used > 0;
            let is_there = is_there || reading.folded > 0 || reading.shared > 0;
            (is_there || physical.is_some()).then(|| MemberDevice {
                device,
                charged_bytes: bytes(reading.used.saturating_add(reading.folded)),
                credit_bytes: bytes(reading.credit.saturating_add(reading.folded)),
                context_bytes: bytes(reading.contexts),
                shared_bytes: bytes(reading.shared),
                folded_bytes: bytes(reading.folded),
                physical_bytes: physical,
                idle_bytes: bytes(reading.idle.min(reading.used)),
            })
        };
        let host_pid = match member.same_namespace {
            true => u32::try_from(member.pid).ok(),
            false => self.cards.iter().find_map(|card| Some(self.physical(card.uuid, member)?.0)),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        MemberInfo {
            slot: count(member.slot.get()),
            pid: u32::try_from(member.pid).unwrap_or(0),
            host_pid,
            program: program(member),
            started_unix_ms: started_unix_ms(member.start_ticks, now_ms),
            alive: member.alive,
            devices: self.devices_of(account).into_iter().filter_map(on).collect(),
            cache: (member.kind == SlotKind::Cache)
                .then(|| self.cache_name(&account.name, member.slot)),
        }
    }
}

/// Living processes: one may have several slots, each for a cache.
pub(super) fn living_processes<'a>(members: impl Iterator<Item = &'a MemberReading>) -> u32 {
    let living = members.filter(|member| member.alive);
    let one = |member: &MemberReading| match member.kind {
        SlotKind::Process => (member.pid, member.pid_namespace, Some(member.slot.get())),
        SlotKind::Cache => (member.pid, member.pid_namespace, None),
    };
    count(living.map(one).collect::<BTreeSet<_>>().len())
}

/// The program's name as it can be printed: the member wrote it.
pub(super) fn program(member: &MemberReading) -> String {
    MemberInfo::program_of(&member.program)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
