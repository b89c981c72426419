//! `millpond ps --group`.

use millpond::GroupName;
use millpond_view as view;
use millpond_wire::message::{GroupDetails, GroupDevice, MemberDevice};

use super::{Groups, list, short};
use crate::args::{Global, PsArgs};
use crate::commands::watch;
use crate::error::Outcome;
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::units;

/// Prints the processes of a group and what they are charged with.
pub fn run(name: &GroupName, args: &PsArgs, global: &Global, printer: &Printer) -> Outcome {
    let groups = Groups::open(global)?;
    watch::run(args.watch, printer, |printer| show(&groups.inspect(name)?, args.no_trunc, printer))
}

fn show(details: &GroupDetails, no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::GroupDetails::from(details));
    }
    if printer.is_quiet() {
        return pids(details).try_for_each(|pid| printer.line(pid));
    }
    printer.table(&table(details, no_trunc))
}

/// What can be handed to `kill`: neither a pid of another namespace, nor that of a process which has
/// ended, because somebody else may have it by now.
fn pids(details: &GroupDetails) -> impl Iterator<Item = u32> {
    details.members.iter().filter(|member| member.alive).filter_map(|member| member.host_pid)
}

fn table(details: &GroupDetails, no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("PID", Side::Right),
        ("PROGRAM", Side::Left),
        ("SINCE", Side::Left),
        ("GPU", Side::Left),
        ("CHARGED", Side::Right),
        ("CONTEXTS", Side::Right),
        ("SHARED", Side::Right),
        ("NVML", Side::Right),
        ("DRIFT", Side::Right),
    ])
    .dispensable(&["SHARED", "CONTEXTS", "SINCE", "NVML"])
    .no_trunc(no_trunc);
    for member in &details.members {
        let alive = if member.alive { "" } else { " (ended)" };
        let program = format!("{}{alive}", member.program);
        let since = member.started_unix_ms.map_or("-".to_owned(), units::age);
        let pid = member.host_pid.map_or("-".to_owned(), |pid| pid.to_string());
        let first = vec![pid, program, since];
        if member.devices.is_empty() {
            // It has joined, and has no memory yet.
            table.row([first, vec!["-".to_owned(); 6]].concat());
            continue;
        }
        for device in &member.devices {
            table.row([first.clone(), of_device(device, no_trunc)].concat());
        }
    }
    for device in &details.info.devices {
        if device.pond_bytes > 0 {
            let first = ["-", "(pond)", "-"].map(str::to_owned).to_vec();
            let bytes = units::bytes(device.pond_bytes);
            let gpu = short(device.device, no_trunc);
            let rest = [gpu, bytes, "-".into(), "-".into(), "-".into(), "-".into()];
            table.row([first, rest.to_vec()].concat());
        }
        table.row(total(details, device, no_trunc));
    }
    table
}

fn of_device(device: &MemberDevice, no_trunc: bool) -> Vec<String> {
    vec![
        short(device.device, no_trunc),
        units::bytes(device.charged_bytes),
        units::bytes(device.context_bytes),
        units::bytes(device.shared_bytes),
        device.physical_bytes.map_or("-".to_owned(), units::bytes),
        device.drift_bytes().map_or("-".to_owned(), units::difference),
    ]
}

/// What the group has on one GPU, beside what it may have.
fn total(details: &GroupDetails, device: &GroupDevice, no_trunc: bool) -> Vec<String> {
    let of_members = || {
        let devices = details.members.iter().flat_map(|member| &member.devices);
        devices.filter(|found| found.device == device.device)
    };
    let readings: Vec<u64> = of_members().filter_map(|found| found.physical_bytes).collect();
    let drifts: Vec<i64> = of_members().filter_map(MemberDevice::drift_bytes).collect();
    let known = |text: String| if readings.is_empty() { "-".to_owned() } else { text };
    vec![
        "-".to_owned(),
        format!("total of {}", list::limit(device.effective_bytes)),
        "-".to_owned(),
        short(device.device, no_trunc),
        units::bytes(view::used_bytes(device)),
        units::bytes(device.context_bytes),
        units::bytes(device.shared_bytes),
        known(units::bytes(readings.iter().sum())),
        known(units::difference(drifts.iter().sum())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::group::tests::{device, group, member};

    #[test]
    fn processes_add_up_to_their_group() {
        let mut account = device(1, Some(10 << 30), 3 << 30);
        account.pond_bytes = 1 << 30;
        let details = GroupDetails {
            info: group("team-a", vec![account]),
            members: vec![
                member(7, &[(1, 1 << 30, Some((1 << 30) + (2 << 20)))]),
                member(8, &[(1, 2 << 30, Some(2 << 30))]),
                member(9, &[]),
            ],
        };
        let text = table(&details, false).render();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(lines[1].ends_with("+2 MiB") && lines[2].ends_with("0 B"), "{text}");
        assert!(lines[4].contains("(pond)") && lines[4].contains("1 GiB"), "{text}");
        assert!(lines[5].contains("total of 10 GiB") && lines[5].contains("4 GiB"), "{text}");
        assert!(lines[5].ends_with("+2 MiB"), "{text}");
    }

    #[test]
    fn only_who_lives_here_has_a_pid_to_kill() {
        let mut members = vec![member(7, &[]), member(8, &[]), member(9, &[])];
        members[0].alive = false;
        members[1].host_pid = None;
        let details = GroupDetails { info: group("team-a", Vec::new()), members };
        assert_eq!(pids(&details).collect::<Vec<_>>(), [9]);
        assert!(table(&details, false).render().contains("python (ended)"));
    }
}
