//! A program is about to run in a group.

use millpond_ledger::Memory;
use millpond_view::units::bytes as format_bytes;
use millpond_wire::message::{EventKind, GroupJoin, GroupLimit, ReplyBody};
use millpond_wire::{ANONYMOUS_PREFIX, ErrorKind, Failure, GpuUuid, GroupName};

use super::account::{Account, limit_bytes};
use super::folders::Runner;
use super::shelf::Shelf;
use crate::policy::GroupCaller;

impl Shelf {
    pub fn join(&mut self, by: GroupCaller, mut join: GroupJoin) -> Result<ReplyBody, Failure> {
        // With a limit it may be a new one, whoever else has a group of that name.
        let others = |name: &GroupName| {
            let group = self.groups.get(name).filter(|_| name.user().is_none());
            group.is_some_and(|group| !self.may_use(by, name, group))
        };
        if let Some(name) = join.group.take_if(|name| join.limit.is_some() && others(name)) {
            join.group = Some(name.of(Some(by.user)));
        }
        match &join.group {
            None => self.join_anonymous(by, &join),
            Some(name) if self.groups.contains_key(name) => {
                self.join_existing(by, name, &join)?;
                Ok(self.seat(name))
            }
            Some(name) if join.limit.is_some() => {
                self.check_is_own(by, name)?;
                self.check_may_make(by, true)?;
                // Others than this user may be let in later.
                let shared = self.folders.has_many_users();
                let memory = if shared { Memory::File } else { self.memory_for(by) };
                self.make_for(name, (Some(by.user), None, memory), &join)?;
                self.rebalance();
                let text = format!("made by a program of user {}", by.user);
                self.event(EventKind::GroupSet, name, Some(by.user), text);
                Ok(self.seat(name))
            }
            Some(name) => Err(self.no_such(name)),
        }
    }

    fn join_existing(
        &self,
        by: GroupCaller,
        name: &GroupName,
        join: &GroupJoin,
    ) -> Result<(), Failure> {
        let account = self.account(name)?;
        let group = self.groups.get(name).ok_or_else(|| self.no_such(name))?;
        if !self.may_use(by, name, group) {
            let message = format!("user {} may not run programs in group '{name}'", by.user);
            return Err(Failure::new(ErrorKind::Denied, message).hint(format!(
                "the operator can let the user in: `millpond group set {name} --user {}`",
                by.user
            )));
        }
        if let Some(limit) = join.limit {
            self.check_same_limit(name, &account, limit, join.device)?;
        }
        self.folders.let_in(name, by.user, &group.users).map_err(|reason| {
            Failure::new(
                ErrorKind::Denied,
                format!("user {} cannot be a member of group '{name}': {reason}", by.user),
            )
        })
    }

    /// The limit is what the group has on every GPU that is meant.
    fn check_same_limit(
        &self,
        name: &GroupName,
        account: &Account,
        limit: GroupLimit,
        device: Option<GpuUuid>,
    ) -> Result<(), Failure> {
        let cards = self.cards.iter().map(|card| card.uuid);
        let mut meant: Vec<Option<GpuUuid>> = match device {
            Some(device) => vec![Some(device)],
            None => cards.map(Some).collect(),
        };
        if meant.is_empty() {
            // Nobody has said yet which there are.
            meant.push(None);
        }
        for device in meant {
            let wanted = self.units(limit, device)?;
            let budget = match device {
                Some(device) => account.budget(device).ok(),
                None => account.book.entry(None).ok().flatten(),
            };
            let has = budget.unwrap_or_default().asked;
            if has == wanted {
                continue;
            }
            let words = |units| match limit_bytes(units) {
                Some(limit) => format!("a limit of {}", format_bytes(limit)),
                None => "no limit".to_owned(),
            };
            let place = match device {
                Some(device) if self.cards.len() > 1 => format!(" on {device}"),
                _ => String::new(),
            };
            let message =
                format!("group '{name}' has {}{place}, not {}", words(has), words(wanted));
            return Err(Failure::new(ErrorKind::Exists, message).hint(format!(
                "leave out `--limit` to join it, or change it for all with `millpond group set \
                 {name} --limit ...`"
            )));
        }
        Ok(())
    }

    fn join_anonymous(&mut self, by: GroupCaller, join: &GroupJoin) -> Result<ReplyBody, Failure> {
        let same = self
            .groups
            .iter()
            .find(|(_, group)| group.runner.is_some_and(|runner| runner.token == join.token));
        if let Some((name, _)) = same {
            return Ok(self.seat(&name.clone()));
        }
        self.check_may_make(by, false)?;
        let name = self.free_name();
        // One that is gone already has no start; its group ends by itself.
        let start_ticks = self.processes.identity(by.pid).map_or(0, |it| it.start_ticks);
        let runner = Runner { token: join.token, pid: by.pid, start_ticks };
        let memory = self.memory_for(by);
        self.make_for(&name, (Some(by.user), Some(runner), memory), join)?;
        self.rebalance();
        Ok(self.seat(&name))
    }

    /// A segment cannot be truncated under a program, but is not to be seen from a container.
    fn memory_for(&self, by: GroupCaller) -> Memory {
        match self.processes.shares_ipc(by.pid) {
            true => Memory::Segment,
            false => Memory::File,
        }
    }

    /// A name that nobody has, nor had while this daemon lives: what an ended program left behind
    /// must not be counted in another's group. A number that somebody has chosen is only passed by.
    fn free_name(&mut self) -> GroupName {
        let number = |name: &GroupName| name.as_str().strip_prefix(ANONYMOUS_PREFIX)?.parse().ok();
        let anonymous = self.groups.iter().filter(|(_, group)| group.anonymous);
        let last = anonymous.filter_map(|(name, _)| number(name)).max().unwrap_or(0);
        self.last_run = self.last_run.max(last);
        loop {
            self.last_run = self.last_run.wrapping_add(1);
            let name = GroupName::anonymous(self.last_run);
            if !self.groups.contains_key(&name) {
                return name;
            }
        }
    }

    fn seat(&self, name: &GroupName) -> ReplyBody {
        ReplyBody::GroupJoined {
            name: name.clone(),
            folder: self.folders.of(name).display().to_string(),
            anonymous: self.groups.get(name).is_some_and(|group| group.anonymous),
        }
    }
}
