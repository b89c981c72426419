//! `millpond group …` and `millpond ps --group`.

mod alone;
mod change;
mod list;
mod members;
mod watch;

use millpond::{GroupDetails, GroupInfo, GroupName, GroupSet, Pond};
use millpond_view as view;
use millpond_wire::{ErrorKind, GpuUuid};

use crate::args::{Global, GroupCommand};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::pond;
use crate::printer::Printer;
use crate::size::Size;

pub use alone::{Alone, nothing_runs};

pub use members::run as members;

/// Groups that are named where one is not there.
const SHOWN: usize = 12;

/// Does what the command line says.
pub fn run(command: &GroupCommand, global: &Global, printer: &Printer) -> Outcome {
    match command {
        GroupCommand::Ls(args) => list::run(args, global, printer),
        GroupCommand::Set(args) => change::set(args, global, printer),
        GroupCommand::Rm(args) => change::remove(args, global, printer),
        GroupCommand::Watch(args) => watch::run(args, global, printer),
    }
}

/// The groups that can be seen: those of the pond, and those of this user without one.
#[derive(Debug)]
struct Groups {
    pond: Option<Pond>,
    alone: Alone,
}

/// The group that a name means, as the daemon has it: the operator's, where the caller is in it, and
/// else the caller's own.
fn meant(mut groups: Vec<GroupInfo>, name: &GroupName) -> Option<GroupInfo> {
    let me = crate::users::me();
    let at = |name: &GroupName| groups.iter().position(|group| group.name == *name);
    let is_in = |group: &GroupInfo| group.users.contains(&me) || group.owner == Some(me);
    let exact = at(name);
    let own = at(&name.of(Some(me))).filter(|_| name.user().is_none());
    let found = match exact.and_then(|at| groups.get(at)) {
        Some(group) if is_in(group) => exact,
        _ => own.or(exact),
    };
    found.map(|at| groups.swap_remove(at))
}

impl Groups {
    /// No pond is an error only where there is nothing else to look at.
    fn open(global: &Global) -> Result<Self, CommandError> {
        let alone = Alone::new();
        match pond::connect(global) {
            Ok(pond) => Ok(Self { pond: Some(pond), alone }),
            Err(CommandError::Failed(report))
                if report.code == Code::Kind(ErrorKind::NoPond) && !alone.names().is_empty() =>
            {
                Ok(Self { pond: None, alone })
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self) -> Result<Vec<GroupInfo>, CommandError> {
        let mut groups = self.pond.as_ref().map(Pond::groups).transpose()?.unwrap_or_default();
        groups.extend(self.alone.list());
        Ok(groups)
    }

    fn inspect(&self, name: &GroupName) -> Result<GroupDetails, CommandError> {
        let mut details =
            self.ask(name, |pond| pond.group(name.clone()), |alone| alone.inspect(name))?;
        if let Some(pond) = &self.pond {
            view::call_as_clients(&mut details.members, &pond.clients()?);
        }
        Ok(details)
    }

    /// What everybody may see of one: its processes are not everybody's to see.
    fn info(&self, name: &GroupName) -> Result<GroupInfo, CommandError> {
        match meant(self.list()?, name) {
            Some(info) => Ok(info),
            None => Ok(self.inspect(name)?.info),
        }
    }

    fn set(&self, set: GroupSet) -> Result<GroupDetails, CommandError> {
        let name = set.group.clone();
        self.ask(&name, |pond| pond.set_group(set.clone()), |alone| alone.set(&set))
    }

    fn remove(&self, name: &GroupName) -> Result<(), CommandError> {
        self.ask(name, |pond| pond.remove_group(name.clone()), |alone| alone.remove(name))
    }

    /// A GPU as people write it; without a pond only by its UUID, which is the same everywhere.
    fn device(&self, text: &str) -> Result<GpuUuid, CommandError> {
        match &self.pond {
            Some(pond) => pond::device(pond, text),
            None => text.parse().map_err(|_| {
                let message =
                    format!("'{text}' is not the UUID of a GPU; only a pond knows GPUs by index");
                Report::new(Code::Usage, message).hint("`nvidia-smi -L` shows UUIDs").into()
            }),
        }
    }

    fn bytes_on_cards(&self, size: Size, device: Option<GpuUuid>) -> Result<u64, CommandError> {
        // Without a pond a part of a card is refused with everything else about `min`.
        self.pond.as_ref().map_or(Ok(0), |pond| pond::bytes_on_cards(pond, size, device))
    }

    /// Asks whoever has the group; the pond, if both or neither.
    fn ask<T>(
        &self,
        name: &GroupName,
        pond: impl FnOnce(&Pond) -> millpond::Result<T>,
        alone: impl FnOnce(&Alone) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let answer = match &self.pond {
            Some(found) if !self.alone.is_left(name) || found.group(name.clone()).is_ok() => {
                pond(found).map_err(CommandError::from)
            }
            _ => alone(&self.alone),
        };
        answer.map_err(|error| self.with_known(error))
    }

    /// An unknown name is answered with those that there are.
    fn with_known(&self, mut error: CommandError) -> CommandError {
        let CommandError::Failed(report) = &mut error else { return error };
        if report.code == Code::Kind(ErrorKind::NotFound) {
            let known = self.list().unwrap_or_default();
            let names: Vec<String> = known.iter().map(|group| group.name.to_string()).collect();
            report.failure.similar.clear();
            report.failure.hint = Some(known_hint(&names, self.pond.is_some()));
        }
        error
    }
}

/// What there is instead of a group that is not there.
fn known_hint(names: &[String], has_pond: bool) -> String {
    match names {
        [] if has_pond => {
            "there are no groups yet; `millpond group set NAME --limit SIZE` creates one".to_owned()
        }
        // Without a pond a group is what its programs have made.
        [] => "there is no pond and no group; `millpond run --limit SIZE --group NAME` creates a \
               group, `millpond serve` starts a pond"
            .to_owned(),
        names => {
            let (shown, more) = names.split_at(names.len().min(SHOWN));
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let how = if has_pond {
                "`millpond group ls`"
            } else {
                "without a pond `millpond run --limit SIZE --group NAME` creates another"
            };
            format!("there are {}{more}; {how}", shown.join(", "))
        }
    }
}

/// The first characters of a GPU's name say which it is.
pub fn short(device: GpuUuid, no_trunc: bool) -> String {
    let name = device.to_string();
    if no_trunc { name } else { name.chars().take(12).collect() }
}

#[cfg(test)]
mod tests {
    use millpond_wire::message::{GroupDevice, GroupInfo, MemberDevice, MemberInfo};

    use super::*;

    pub fn device(gpu: u8, limit: Option<u64>, process_bytes: u64) -> GroupDevice {
        GroupDevice {
            device: GpuUuid([gpu; 16]),
            limit_bytes: limit,
            effective_bytes: limit,
            min_bytes: 0,
            weight: 1,
            process_bytes,
            pond_bytes: 0,
            context_bytes: 0,
            folded_bytes: 0,
            shared_bytes: 0,
            processes: 1,
        }
    }

    pub fn group(name: &str, devices: Vec<GroupDevice>) -> GroupInfo {
        GroupInfo {
            name: name.parse().unwrap(),
            folder: "/run/millpond/groups/x".into(),
            anonymous: false,
            owner: None,
            users: Vec::new(),
            processes: 1,
            lying: false,
            stuck: false,
            broken: false,
            devices,
            ends_silent: false,
        }
    }

    /// A process with, on each GPU, what it is charged with and what the card says.
    pub fn member(pid: u32, devices: &[(u8, u64, Option<u64>)]) -> MemberInfo {
        let device =
            |&(gpu, charged_bytes, physical_bytes): &(u8, u64, Option<u64>)| MemberDevice {
                device: GpuUuid([gpu; 16]),
                charged_bytes,
                credit_bytes: charged_bytes,
                context_bytes: 0,
                shared_bytes: 0,
                folded_bytes: 0,
                physical_bytes,
                idle_bytes: 0,
            };
        MemberInfo {
            slot: 0,
            pid,
            host_pid: Some(pid),
            program: "python".into(),
            started_unix_ms: None,
            alive: true,
            devices: devices.iter().map(device).collect(),
            cache: None,
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_can_be_done() {
        let names = |count: usize| (1..=count).map(|n| format!("g{n}")).collect::<Vec<_>>();
        assert!(known_hint(&[], true).contains("group set NAME --limit SIZE` creates one"));
        let alone = known_hint(&[], false);
        assert!(alone.contains("millpond run") && !alone.contains("group set"), "{alone}");
        assert_eq!(known_hint(&names(2), true), "there are g1, g2; `millpond group ls`");
        assert!(known_hint(&names(2), false).contains("g1, g2; without a pond `millpond run"));
        let many = known_hint(&names(500), true);
        assert!(many.contains("g12 and 488 more;") && !many.contains("g13"), "{many}");
    }

    #[test]
    fn gpus_are_short_unless_asked() {
        assert_eq!(short(GpuUuid([1; 16]), false), "GPU-01010101");
        assert_eq!(short(GpuUuid([1; 16]), true).len(), 40);
    }
}
