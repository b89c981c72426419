//! `millpond ps`.

use millpond_wire::message::ClientInfo;

use crate::args::{Global, PsArgs};
use crate::error::Outcome;
use crate::json::{ClientJson, ClientsJson, held_bytes};
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{pond, units, users};

/// Prints who is connected.
pub fn run(args: &PsArgs, global: &Global, printer: &Printer) -> Outcome {
    if let Some(name) = &args.group {
        return super::group::members(name, args.no_trunc, global, printer);
    }
    let clients = pond::connect(global)?.clients()?;
    if printer.is_json() {
        let clients = clients.iter().map(ClientJson::from).collect();
        return printer.json(&ClientsJson { clients });
    }
    if printer.is_quiet() {
        return clients.iter().try_for_each(|client| printer.line(client.pid));
    }
    printer.line(table(&clients, args.no_trunc).render())
}

fn table(clients: &[ClientInfo], no_trunc: bool) -> Table {
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
    .no_trunc(no_trunc);
    for client in clients {
        table.row(vec![
            client.pid.to_string(),
            users::name(client.user),
            client.program.clone(),
            state(client).to_owned(),
            units::age(client.since_unix_ms),
            client.leases.len().to_string(),
            units::bytes(held_bytes(client)),
            names(client, no_trunc),
        ]);
    }
    table
}

fn state(client: &ClientInfo) -> &'static str {
    match (client.silent, client.mover) {
        (true, _) => "silent",
        (false, true) => "mover",
        (false, false) => "connected",
    }
}

/// The names of what a client holds; the first few, unless all are wanted.
fn names(client: &ClientInfo, all: bool) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = client
        .leases
        .iter()
        .map(|lease| {
            lease.name.as_ref().map_or_else(|| lease.tensor.to_string(), |n| n.to_string())
        })
        .collect();
    names.sort_unstable();
    names.dedup();
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
            tensor: TensorId::random(),
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

    #[test]
    fn a_client_is_one_line_with_what_it_holds() {
        let text = table(&[client(&["a", "b", "c", "d", "e"])], false).render();
        assert_eq!(text.lines().count(), 2);
        for part in ["PROGRAM", "python", "silent", "4000000000", "a b c +2"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(table(&[client(&["a", "b", "c", "d"])], true).render().ends_with("a b c d"));
        assert!(table(&[client(&[])], false).render().ends_with('-'));
    }

    #[test]
    fn a_tensor_with_two_leases_counts_once() {
        let mut twice = client(&["a"]);
        twice.leases.push(twice.leases[0].clone());
        assert_eq!(held_bytes(&twice), 1 << 20);
    }
}
