//! `millpond group watch`.

use std::collections::HashMap;
use std::time::Duration;

use millpond::{EventKind, Events, GroupName};
use millpond_view as view;
use millpond_wire::GpuUuid;
use millpond_wire::message::{Event, GroupDevice, GroupInfo};

use super::{Groups, list, short};
use crate::args::{Global, GroupWatchArgs};
use crate::commands::events;
use crate::error::{CommandError, Outcome};
use crate::printer::{Printer, Tone};
use crate::{moment, units};

/// How often accounts are looked at; the daemon adds them up as often.
const LOOK: Duration = Duration::from_millis(100);

/// What was printed last of each account.
type Seen = HashMap<(GroupName, GpuUuid), (GroupDevice, &'static str)>;

/// Prints a line for each account that has changed, and each event of a group.
pub fn run(args: &GroupWatchArgs, global: &Global, printer: &Printer) -> Outcome {
    let known = Groups::open(global)?;
    let names = args.names.iter().map(|name| Ok(known.info(name)?.name));
    let names = names.collect::<Result<Vec<GroupName>, CommandError>>()?;
    let mut happened = known.pond.as_ref().map(|pond| pond.events(1)).transpose()?;
    if let Some(happened) = &mut happened {
        // What was before is in `millpond events`.
        happened.kept()?;
    }
    // The name of an event does not say whose the group is.
    let told = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted.bare() == name);
    let mut seen = Seen::new();
    loop {
        let groups = known.list()?;
        for group in groups.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
            changes(group, &mut seen, printer)?;
        }
        seen.retain(|(name, _), _| groups.iter().any(|group| group.name == *name));
        match &mut happened {
            Some(happened) => tell(happened, told, printer)?,
            None => std::thread::sleep(LOOK),
        }
        if events::nobody_reads() {
            return Err(CommandError::Closed);
        }
    }
}

/// Prints the events of groups that come until it is time to look again.
fn tell(happened: &mut Events, wanted: impl Fn(&str) -> bool, printer: &Printer) -> Outcome {
    let mut patience = LOOK;
    while let Some(event) = happened.next_timeout(patience)? {
        let name = event.name.as_ref().map(ToString::to_string).unwrap_or_default();
        if is_of_groups(&event) && (event.kind == EventKind::Gap || wanted(&name)) {
            events::print(&event, false, printer)?;
        }
        patience = Duration::ZERO;
    }
    Ok(())
}

fn is_of_groups(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::GroupSet
            | EventKind::GroupOver
            | EventKind::GroupLying
            | EventKind::GroupStuck
            | EventKind::GroupGone
            | EventKind::CacheOpened
            | EventKind::CacheClosed
            | EventKind::CachePressed
            | EventKind::CacheGave
            | EventKind::CacheGot
            | EventKind::CacheEnded
            | EventKind::Gap
    )
}

fn changes(group: &GroupInfo, seen: &mut Seen, printer: &Printer) -> Outcome {
    for device in &group.devices {
        let state = list::state(group, device);
        let key = (group.name.clone(), device.device);
        let now = (device.clone(), state);
        if seen.get(&key) == Some(&now) {
            continue;
        }
        seen.insert(key, now);
        if printer.is_json() {
            let json = view::Account::new(group.name.clone(), device, state, units::now_unix_ms());
            printer.json_line(&json)?;
        } else {
            let time = printer.paint(Tone::Dim, moment::plain(units::now_unix_ms()));
            printer.line(format_args!("{time}  {}", words(group, device, state)))?;
        }
    }
    Ok(())
}

fn words(group: &GroupInfo, device: &GroupDevice, state: &str) -> String {
    let (used, effective) =
        (units::bytes(view::used_bytes(device)), list::limit(device.effective_bytes));
    let set = if device.effective_bytes == device.limit_bytes {
        String::new()
    } else {
        format!(" (set to {})", list::limit(device.limit_bytes))
    };
    let processes = if device.processes == 1 { "process" } else { "processes" };
    let gpu = short(device.device, false);
    let state = if state == "ok" { String::new() } else { format!("  {state}") };
    let count = device.processes;
    format!("{}  {gpu}  {used} of {effective}{set}  {count} {processes}{state}", group.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::group::tests::{device, group};

    #[test]
    fn a_line_says_what_holds_and_what_was_set() {
        let mut account = device(1, Some(10 << 30), 4 << 30);
        let team = group("team-a", vec![account.clone()]);
        let line = words(&team, &account, "ok");
        assert_eq!(line, "team-a  GPU-01010101  4 GiB of 10 GiB  1 process");
        account.effective_bytes = Some(3 << 30);
        let line = words(&team, &account, "over");
        assert_eq!(line, "team-a  GPU-01010101  4 GiB of 3 GiB (set to 10 GiB)  1 process  over");
    }
}
