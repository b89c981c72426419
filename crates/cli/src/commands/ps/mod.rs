//! `millpond ps`.

use millpond_view::{Clients, Process, Tags, pid_text};
use millpond_wire::message::ClientInfo;

use crate::args::{Global, PsArgs};
use crate::error::Outcome;
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{pond, units, users};

/// Prints who is connected.
pub fn run(args: &PsArgs, global: &Global, printer: &Printer) -> Outcome {
    if let Some(name) = &args.group {
        return super::group::members(name, args, global, printer);
    }
    let pond = pond::connect(global)?;
    super::watch::run(args.watch, printer, |printer| {
        let clients = pond.clients()?;
        let tags = Tags::of_clients(&clients, || pond.models(""))?;
        show(&clients, &tags, args.no_trunc, printer)
    })
}

fn show(clients: &[ClientInfo], tags: &Tags, no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&Clients::new(clients, tags));
    }
    let processes = Process::all(clients, tags);
    if printer.is_quiet() {
        let mut pids = processes.iter().filter_map(|process| process.pid);
        return pids.try_for_each(|pid| printer.line(pid));
    }
    printer.table(&table(&processes, no_trunc))
}

fn table(processes: &[Process], no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("PID", Side::Right),
        ("USER", Side::Left),
        ("PROGRAM", Side::Left),
        ("STATE", Side::Left),
        ("SINCE", Side::Left),
        ("LEASES", Side::Right),
        ("HOLDS", Side::Right),
        ("TENSORS", Side::Left),
    ])
    .dispensable(&["LEASES", "USER"])
    .no_trunc(no_trunc);
    for process in processes {
        table.row(vec![
            pid_text(process.pid),
            users::name(process.user),
            process.program.clone(),
            process.state().to_owned(),
            units::age(process.since_unix_ms),
            process.lease_count.to_string(),
            units::bytes(process.held_bytes),
            names(process, no_trunc),
        ]);
    }
    table
}

/// The names of what a process holds; the first few, unless all are wanted.
fn names(process: &Process, all: bool) -> String {
    const SHOWN: usize = 3;
    let mut names = process.holds.clone();
    let more = names.len().saturating_sub(SHOWN);
    if !all && more > 0 {
        names.truncate(SHOWN);
        names.push(format!("+{more}"));
    }
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

#[cfg(test)]
mod tests {
    use millpond_wire::message::LeaseInfo;
    use millpond_wire::{ClientId, Mode, TensorId, TensorName};

    use super::*;

    fn client(names: &[&str]) -> ClientInfo {
        let id = ClientId::random();
        let lease = |name: &&str| LeaseInfo {
            target: TensorId::random().into(),
            name: Some(TensorName::new(*name).unwrap()),
            mode: Mode::ReadOnly,
            bytes: 1 << 20,
            since_unix_ms: 0,
            client: Some(id),
            pid: 7,
            program: "python".into(),
        };
        ClientInfo {
            client: Some(id),
            pid: 7,
            user: 4_000_000_000,
            program: "python".into(),
            since_unix_ms: units::now_unix_ms(),
            silent: true,
            leases: names.iter().map(lease).collect(),
            mover: false,
        }
    }

    fn shown(clients: &[ClientInfo], no_trunc: bool) -> String {
        table(&Process::all(clients, &Tags::default()), no_trunc).render()
    }

    #[test]
    fn a_process_is_one_line_with_what_it_holds() {
        let text = shown(&[client(&["a", "b", "c", "d", "e"])], false);
        assert_eq!(text.lines().count(), 2);
        for part in ["PROGRAM", "python", "silent", "4000000000", "a b c +2"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(shown(&[client(&["a", "b", "c", "d"])], true).ends_with("a b c d"));
        assert!(shown(&[client(&[])], false).ends_with('-'));
    }

    #[test]
    fn a_hostile_name_is_harmless() {
        let mut hostile = client(&[]);
        hostile.program = "x\u{1b}[2J.py".into();
        let text = shown(&[hostile], true);
        assert!(text.contains("x\\u{1b}[2J.py"), "{text}");
    }
}
