//! `millpond group ls`.

use millpond_view as view;
use millpond_wire::message::{GroupDevice, GroupInfo};

use super::{Groups, short};
use crate::args::{Global, GroupLsArgs};
use crate::commands::watch;
use crate::error::Outcome;
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::units;

/// Prints groups and their accounts.
pub fn run(args: &GroupLsArgs, global: &Global, printer: &Printer) -> Outcome {
    let known = Groups::open(global)?;
    watch::run(args.watch, printer, |printer| once(args, &known, printer))
}

fn once(args: &GroupLsArgs, known: &Groups, printer: &Printer) -> Outcome {
    let groups = if args.names.is_empty() {
        known.list()?
    } else {
        let infos = args.names.iter().map(|name| known.info(name));
        infos.collect::<Result<_, crate::error::CommandError>>()?
    };
    if printer.is_json() {
        return printer
            .json(&view::Groups { groups: groups.iter().map(view::Group::from).collect() });
    }
    if known.pond.is_none() {
        printer.note("no pond: these are the groups of your own programs");
    }
    show(&groups, args.no_trunc, printer)
}

/// Prints groups as a table, or only their names.
pub fn show(groups: &[GroupInfo], no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_quiet() {
        return groups.iter().try_for_each(|group| printer.line(&group.name));
    }
    printer.table(&table(groups, no_trunc))
}

fn table(groups: &[GroupInfo], no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("GROUP", Side::Left),
        ("GPU", Side::Left),
        ("LIMIT", Side::Right),
        ("EFFECTIVE", Side::Right),
        ("USED", Side::Right),
        ("POND", Side::Right),
        ("MIN", Side::Right),
        ("WEIGHT", Side::Right),
        ("END-SILENT", Side::Left),
        ("PROCESSES", Side::Right),
        ("STATE", Side::Left),
    ])
    .dispensable(&["END-SILENT", "WEIGHT", "MIN", "POND", "GPU", "EFFECTIVE"])
    .no_trunc(no_trunc);
    for group in groups {
        if group.devices.is_empty() {
            // No driver has said yet which GPUs there are, or its files say nothing.
            let state = if group.broken { "broken" } else { "-" };
            let none = vec!["-".to_owned(); 7];
            let ends = [silent(group), group.processes.to_string(), state.to_owned()].to_vec();
            table.row([vec![group.name.to_string()], none, ends].concat());
        }
        for device in &group.devices {
            table.row(vec![
                group.name.to_string(),
                short(device.device, no_trunc),
                limit(device.limit_bytes),
                limit(device.effective_bytes),
                units::bytes(view::used_bytes(device)),
                units::bytes(device.pond_bytes),
                units::bytes(device.min_bytes),
                device.weight.to_string(),
                silent(group),
                device.processes.to_string(),
                state(group, device).to_owned(),
            ]);
        }
    }
    table
}

/// Whether silent processes are ended, as `group set --end-silent` takes it.
fn silent(group: &GroupInfo) -> String {
    if group.ends_silent { "yes" } else { "no" }.to_owned()
}

/// A limit, or the word for none.
pub fn limit(bytes: Option<u64>) -> String {
    bytes.map_or("none".to_owned(), units::bytes)
}

/// How a group is; the worst that there is to say.
pub fn state(group: &GroupInfo, device: &GroupDevice) -> &'static str {
    let over = device.effective_bytes.is_some_and(|limit| view::used_bytes(device) > limit);
    match group {
        GroupInfo { broken: true, .. } => "broken",
        GroupInfo { lying: true, .. } => "lying",
        GroupInfo { stuck: true, .. } => "stuck",
        _ if over => "over",
        _ => "ok",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::group::tests::{device, group};

    #[test]
    fn a_group_has_a_line_for_each_gpu_with_the_worst_that_there_is_to_say() {
        let full = device(1, Some(10 << 30), 11 << 30);
        let free = device(2, None, 0);
        let mut team = group("team-a", vec![full, free]);
        let text = table(std::slice::from_ref(&team), false).render();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains("10 GiB") && lines[1].ends_with("over"), "{text}");
        assert!(lines[2].contains("none") && lines[2].ends_with("ok"), "{text}");
        assert!(lines[0].contains("END-SILENT") && lines[1].contains("  no  "), "{text}");
        team.ends_silent = true;
        assert!(table(std::slice::from_ref(&team), false).render().contains("  yes  "));
        let mut bare = group("bare", Vec::new());
        bare.broken = true;
        assert!(table(&[bare], false).render().ends_with("broken"));
        team.lying = true;
        assert!(table(&[team], true).render().lines().nth(1).unwrap().ends_with("lying"));
    }
}
