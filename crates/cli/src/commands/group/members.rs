//! `millpond ps --group`.

use std::collections::BTreeSet;

use millpond::GroupName;
use millpond_view as view;
use millpond_wire::message::{GroupDetails, GroupDevice, MemberDevice, MemberInfo};

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
        return pids(details).into_iter().try_for_each(|pid| printer.line(pid));
    }
    printer.table(&table(details, no_trunc))
}

/// What can be handed to `kill`: neither a pid of another namespace, nor that of a process which has
/// ended, because somebody else may have it by now. A process with several caches is one.
fn pids(details: &GroupDetails) -> BTreeSet<u32> {
    let living = details.members.iter().filter(|member| member.alive);
    living.filter_map(|member| member.host_pid).collect()
}

/// The columns that go where room is short. Those of caches and of the card's readings go only where
/// nobody has any.
fn dispensable(details: &GroupDetails) -> Vec<&'static str> {
    let mut columns = vec!["SHARED", "CONTEXTS", "SINCE", "NVML"];
    if details.members.iter().all(|member| member.cache.is_none()) {
        columns.extend(["CACHE", "IDLE"]);
    }
    let mut devices = details.members.iter().flat_map(|member| &member.devices);
    if devices.all(|device| device.physical_bytes.is_none()) {
        columns.push("DRIFT");
    }
    columns
}

fn table(details: &GroupDetails, no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("PID", Side::Right),
        ("PROGRAM", Side::Left),
        ("CACHE", Side::Left),
        ("SINCE", Side::Left),
        ("GPU", Side::Left),
        ("CHARGED", Side::Right),
        ("IDLE", Side::Right),
        ("CONTEXTS", Side::Right),
        ("SHARED", Side::Right),
        ("NVML", Side::Right),
        ("DRIFT", Side::Right),
    ])
    .dispensable(&dispensable(details))
    .no_trunc(no_trunc);
    for member in &details.members {
        let alive = if member.alive { "" } else { " (ended)" };
        let program = format!("{}{alive}", member.program);
        let since = member.started_unix_ms.map_or("-".to_owned(), units::age);
        let pid = member.host_pid.map_or("-".to_owned(), |pid| pid.to_string());
        let first = vec![pid, program, cache(member), since];
        if member.devices.is_empty() {
            // It has joined, and has no memory yet.
            table.row([first, vec!["-".to_owned(); 7]].concat());
            continue;
        }
        for device in &member.devices {
            table.row([first.clone(), of_device(member, device, no_trunc)].concat());
        }
    }
    for device in &details.info.devices {
        if device.pond_bytes > 0 {
            let first = ["-", "(pond)", "-", "-"].map(str::to_owned).to_vec();
            let charged = vec![short(device.device, no_trunc), units::bytes(device.pond_bytes)];
            table.row([first, charged, vec!["-".to_owned(); 5]].concat());
        }
        table.row(total(details, device, no_trunc));
    }
    table
}

/// The cache that a slot counts, if it does not count the whole process. Only its own process knows the
/// name, and tells it to the daemon.
fn cache(member: &MemberInfo) -> String {
    match member.cache.as_deref() {
        None => "-".to_owned(),
        Some("") => "(not named)".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn of_device(member: &MemberInfo, device: &MemberDevice, no_trunc: bool) -> Vec<String> {
    let idle = member.cache.as_ref().map(|_| device.idle_bytes);
    vec![
        short(device.device, no_trunc),
        units::bytes(device.charged_bytes),
        idle.map_or("-".to_owned(), units::bytes),
        units::bytes(device.context_bytes),
        units::bytes(device.shared_bytes),
        device.physical_bytes.map_or("-".to_owned(), units::bytes),
        device.drift_bytes().map_or("-".to_owned(), units::difference),
    ]
}

/// What the group has on one GPU, beside what it may have.
fn total(details: &GroupDetails, device: &GroupDevice, no_trunc: bool) -> Vec<String> {
    let here = |found: &&MemberDevice| found.device == device.device;
    let of_members = || details.members.iter().flat_map(|member| &member.devices).filter(here);
    let caches = details.members.iter().filter(|member| member.cache.is_some());
    let idle: Vec<u64> = caches
        .flat_map(|member| member.devices.iter().filter(here))
        .map(|found| found.idle_bytes)
        .collect();
    let idle = Some(idle).filter(|idle| !idle.is_empty());
    let readings: Vec<u64> = of_members().filter_map(|found| found.physical_bytes).collect();
    let drifts: Vec<i64> = of_members().filter_map(MemberDevice::drift_bytes).collect();
    let known = |text: String| if readings.is_empty() { "-".to_owned() } else { text };
    vec![
        "-".to_owned(),
        format!("total of {}", list::limit(device.effective_bytes)),
        "-".to_owned(),
        "-".to_owned(),
        short(device.device, no_trunc),
        units::bytes(view::used_bytes(device)),
        idle.map_or("-".to_owned(), |idle| units::bytes(idle.iter().sum())),
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

    /// A slot for the pages of a cache, which the card does not read.
    fn cache_of(pid: u32, name: &str, charged: u64, idle: u64) -> MemberInfo {
        let mut member = member(pid, &[(1, charged, None)]);
        member.cache = Some(name.to_owned());
        member.devices[0].idle_bytes = idle;
        member
    }

    #[test]
    fn a_cache_is_a_line_of_its_own_with_what_it_can_give_back() {
        let members = vec![
            cache_of(7, "llama-7b/kv", 3 << 30, 1 << 30),
            cache_of(7, "llama-7b/state", 1 << 30, 256 << 20),
            cache_of(8, "", 1 << 30, 0),
        ];
        let info = group("serving", vec![device(1, Some(10 << 30), 5 << 30)]);
        let details = GroupDetails { info, members };
        assert_eq!(pids(&details), BTreeSet::from([7, 8]), "each process once");
        let text = table(&details, false).render_within(80);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert!(lines[0].contains("CACHE") && lines[0].contains("IDLE"), "{text}");
        assert!(!lines[0].contains("DRIFT"), "nothing is read: {text}");
        assert!(lines[1].contains("llama-7b/kv") && lines[1].contains("  1 GiB"), "{text}");
        assert!(lines[3].contains("(not named)") && lines[3].contains("  0 B"), "{text}");
        assert!(lines[4].contains("total of 10 GiB") && lines[4].contains("1.3 GiB"), "{text}");
    }

    #[test]
    fn without_caches_a_narrow_table_has_no_columns_of_theirs() {
        let info = group("team-a", vec![device(1, Some(10 << 30), 1 << 30)]);
        let members = vec![member(7, &[(1, 1 << 30, Some(1 << 30))])];
        let details = GroupDetails { info, members };
        let (narrow, wide) =
            (table(&details, false).render_within(80), table(&details, false).render());
        assert!(!narrow.contains("CACHE") && !narrow.contains("IDLE"), "{narrow}");
        assert!(narrow.contains("DRIFT") && wide.contains("CACHE"), "{narrow}");
    }

    #[test]
    fn only_who_lives_here_has_a_pid_to_kill() {
        let mut members = vec![member(7, &[]), member(8, &[]), member(9, &[])];
        members[0].alive = false;
        members[1].host_pid = None;
        let details = GroupDetails { info: group("team-a", Vec::new()), members };
        assert_eq!(pids(&details), BTreeSet::from([9]));
        assert!(table(&details, false).render().contains("python (ended)"));
    }
}
