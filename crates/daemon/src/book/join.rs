//! A program is about to run in a group.

use millpond_keeper::bytes::format_bytes;
use millpond_ledger::Memory;
use millpond_wire::message::{EventKind, GroupJoin, ReplyBody};
use millpond_wire::{ANONYMOUS_PREFIX, ErrorKind, Failure, GroupName};

use super::account::{bytes, limit_bytes};
use super::folders::Runner;
use super::shelf::Shelf;
use crate::policy::GroupCaller;

/// Groups of one user who is not the operator: more programs at once than one card has room for.
pub(super) const MOST_OWNED: usize = 500;

impl Shelf {
    pub fn join(&mut self, by: GroupCaller, join: GroupJoin) -> Result<ReplyBody, Failure> {
        match &join.group {
            None => self.join_anonymous(by, &join),
            Some(name) if self.groups.contains_key(name) => {
                self.join_existing(by, name, &join)?;
                Ok(self.seat(name))
            }
            Some(name) if join.limit.is_some() => {
                self.check_rights(by)?;
                // Others than this user may be let in later.
                let shared = self.folders.has_many_users();
                let memory = if shared { Memory::File } else { self.memory_for(by) };
                self.make(name, Some(by.user), None, memory)?;
                self.limit_new(name, join.limit, join.device)?;
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
            let wanted = self.units(limit, join.device)?;
            let budget = match join.device {
                Some(device) => account.budget(device).ok(),
                None => account.book.entry(None).ok().flatten(),
            };
            let has = budget.unwrap_or_default().asked;
            if has != wanted {
                let words = |units| match limit_bytes(units) {
                    Some(limit) => format!("a limit of {}", format_bytes(limit)),
                    None => "no limit".to_owned(),
                };
                let message = format!(
                    "group '{name}' has {}, not {}",
                    words(has),
                    format_bytes(bytes(wanted))
                );
                return Err(Failure::new(ErrorKind::Exists, message).hint(format!(
                    "leave the limit away to join it, or change it for all with `millpond group \
                     set {name} --limit ...`"
                )));
            }
        }
        self.folders.let_in(name, by.user, &group.users).map_err(|reason| {
            Failure::new(
                ErrorKind::Denied,
                format!("user {} cannot be a member of group '{name}': {reason}", by.user),
            )
        })
    }

    fn join_anonymous(&mut self, by: GroupCaller, join: &GroupJoin) -> Result<ReplyBody, Failure> {
        let same = self
            .groups
            .iter()
            .find(|(_, group)| group.runner.is_some_and(|runner| runner.token == join.token));
        if let Some((name, _)) = same {
            return Ok(self.seat(&name.clone()));
        }
        self.check_rights(by)?;
        let name = self.free_name();
        // One that is gone already has no start; its group ends by itself.
        let start_ticks = self.processes.identity(by.pid).map_or(0, |it| it.start_ticks);
        let runner = Runner { token: join.token, pid: by.pid, start_ticks };
        let memory = self.memory_for(by);
        self.make(&name, Some(by.user), Some(runner), memory)?;
        self.limit_new(&name, join.limit, join.device)?;
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

    /// A pond that does not run as root cannot give a ledger to anybody else; and one user must not
    /// use up what there is for all.
    fn check_rights(&self, by: GroupCaller) -> Result<(), Failure> {
        let owned = || self.groups.keys().filter(|name| self.folders.owner(name) == Some(by.user));
        if !by.operator && owned().count() >= MOST_OWNED {
            let message = format!("user {} has {MOST_OWNED} groups already", by.user);
            return Err(Failure::new(ErrorKind::TooMany, message)
                .hint("give programs one group together: `millpond run --group NAME ...`"));
        }
        self.folders.can_give_to(by.user).map_err(|reason| {
            Failure::new(
                ErrorKind::Denied,
                format!("user {} cannot have a group here: {reason}", by.user),
            )
            .hint("start the program with `MILLPOND_MEMORY_LIMIT` and the preload library instead")
        })
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
