//! `millpond group …` and `millpond ps --group`.

mod change;
mod list;
mod members;
mod watch;

use millpond::{GroupName, Pond};
use millpond_wire::message::GroupDetails;
use millpond_wire::{ErrorKind, GpuUuid};

use crate::args::{Global, GroupCommand};
use crate::error::{CommandError, Outcome};
use crate::printer::Printer;

pub use members::run as members;

/// Does what the command line says.
pub fn run(command: &GroupCommand, global: &Global, printer: &Printer) -> Outcome {
    match command {
        GroupCommand::Ls(args) => list::run(args, global, printer),
        GroupCommand::Set(args) => change::set(args, global, printer),
        GroupCommand::Rm(args) => change::remove(args, global, printer),
        GroupCommand::Watch(args) => watch::run(args, global, printer),
    }
}

/// Everything about a group.
fn inspect(pond: &Pond, name: &GroupName) -> Result<GroupDetails, CommandError> {
    pond.group(name.clone()).map_err(|error| with_known(pond, error))
}

/// An unknown name is answered with those that there are.
fn with_known(pond: &Pond, error: millpond::Error) -> CommandError {
    let unknown = error.kind() == ErrorKind::NotFound;
    let mut error = CommandError::from(error);
    if let (true, CommandError::Failed(report)) = (unknown, &mut error) {
        let known = pond.groups().unwrap_or_default();
        let names: Vec<String> = known.iter().map(|group| group.name.to_string()).collect();
        let text = match names.as_slice() {
            [] => "there is no group yet; `millpond group set NAME --limit SIZE` makes one".into(),
            names => format!("there are {}; `millpond group ls`", names.join(", ")),
        };
        report.failure.similar.clear();
        report.failure.hint = Some(text);
    }
    error
}

/// The first characters of a GPU's name say which it is.
fn short(device: GpuUuid, no_trunc: bool) -> String {
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
            };
        MemberInfo {
            slot: 0,
            pid,
            host_pid: Some(pid),
            program: "python".into(),
            started_unix_ms: None,
            alive: true,
            devices: devices.iter().map(device).collect(),
        }
    }

    #[test]
    fn gpus_are_short_unless_asked() {
        assert_eq!(short(GpuUuid([1; 16]), false), "GPU-01010101");
        assert_eq!(short(GpuUuid([1; 16]), true).len(), 40);
    }
}
