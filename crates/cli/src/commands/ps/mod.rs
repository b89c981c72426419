//! `millpond ps`.

mod process;

use millpond::Pond;
use millpond_wire::message::ClientInfo;

pub use self::process::{Process, Versions};

use crate::args::{Global, PsArgs};
use crate::error::{CommandError, Outcome};
use crate::json::{ClientJson, ClientsJson, ProcessJson};
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
        let versions = versions(&pond, &clients)?;
        show(&clients, &versions, args.no_trunc, printer)
    })
}

fn show(clients: &[ClientInfo], versions: &Versions, no_trunc: bool, printer: &Printer) -> Outcome {
    let processes = Process::all(clients, versions);
    if printer.is_json() {
        return printer.json(&ClientsJson {
            processes: processes.iter().map(ProcessJson::from).collect(),
            clients: clients.iter().map(|client| ClientJson::new(client, versions)).collect(),
        });
    }
    if printer.is_quiet() {
        return processes.iter().try_for_each(|process| printer.line(process.pid));
    }
    printer.table(&table(&processes, no_trunc))
}

/// The tags of the versions that somebody holds: a lease says only which model it is.
fn versions(pond: &Pond, clients: &[ClientInfo]) -> Result<Versions, CommandError> {
    if clients.iter().all(|client| client.leases.is_empty()) {
        return Ok(Versions::new());
    }
    let models = pond.models("")?;
    let versions = models.iter().flat_map(|model| &model.versions);
    Ok(versions.map(|info| (info.version.into(), info.tag.to_string())).collect())
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
            process.pid.to_string(),
            users::name(process.user),
            process.program.clone(),
            process.state().to_owned(),
            units::age(process.since_unix_ms),
            process.leases.to_string(),
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
            client: id,
            pid: 7,
            program: "python".into(),
        };
        ClientInfo {
            client: id,
            pid: 7,
            user: 4_000_000_000,
            program: "python".into(),
            since_unix_ms: units::now_unix_ms(),
            silent: true,
            leases: names.iter().map(lease).collect(),
            mover: false,
        }
    }

    fn shown(clients: &[ClientInfo], versions: &Versions, no_trunc: bool) -> String {
        table(&Process::all(clients, versions), no_trunc).render()
    }

    #[test]
    fn a_process_is_one_line_with_what_it_holds() {
        let none = Versions::new();
        let text = shown(&[client(&["a", "b", "c", "d", "e"])], &none, false);
        assert_eq!(text.lines().count(), 2);
        for part in ["PROGRAM", "python", "silent", "4000000000", "a b c +2"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(shown(&[client(&["a", "b", "c", "d"])], &none, true).ends_with("a b c d"));
        assert!(shown(&[client(&[])], &none, false).ends_with('-'));
    }

    #[test]
    fn several_connections_of_a_process_are_one_line() {
        let holds = client(&["net"]);
        let mut watches = client(&[]);
        (watches.silent, watches.since_unix_ms) = (false, 1);
        let mut both = client(&["x"]);
        both.leases.push(holds.leases[0].clone());
        let versions = Versions::from([(holds.leases[0].target, "v1".to_owned())]);
        let clients = [holds, watches, both];
        let processes = Process::all(&clients, &versions);
        assert_eq!(processes.len(), 1);
        let process = &processes[0];
        assert_eq!((process.connections, process.leases, process.since_unix_ms), (3, 3, 1));
        assert_eq!(process.held_bytes, 2 << 20, "a tensor counts once");
        assert_eq!((process.state(), names(process, false).as_str()), ("connected", "net@v1 x"));
        let mut other = client(&[]);
        other.pid = 8;
        assert_eq!(Process::all(&[clients[0].clone(), other], &versions).len(), 2);
    }

    #[test]
    fn a_hostile_name_is_harmless() {
        let mut hostile = client(&[]);
        hostile.program = "x\u{1b}[2J.py".into();
        let text = shown(&[hostile], &Versions::new(), true);
        assert!(text.contains("x\\u{1b}[2J.py"), "{text}");
    }
}
