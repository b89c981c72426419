//! `millpond status`.

use millpond_view as view;
use millpond_wire::GpuUuid;
use millpond_wire::message::{DeviceInfo, HostInfo, MoverInfo, ResourceUse, Status, UserAccount};

use crate::args::{Global, StatusArgs};
use crate::error::Outcome;
use crate::printer::{Printer, Tone};
use crate::table::{Side, Table};
use crate::{pond, units, users};

pub fn run(args: &StatusArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    if args.users {
        return super::watch::run(args.watch, printer, |printer| {
            let (users, all) = pond.accounts()?;
            show_users(&users, &all, args.no_trunc, printer)
        });
    }
    super::watch::run(args.watch, printer, |printer| show(&pond.status()?, args.no_trunc, printer))
}

fn show(status: &Status, no_trunc: bool, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::Status::new(status, millpond_softgpu::is_software));
    }
    if printer.is_quiet() {
        return printer.line(status.pond);
    }
    for (name, value) in facts(status) {
        let name = format!("{} ", printer.paint(Tone::Dim, format!("{name:<10}")));
        printer.hanging(&name, 11, &value, None)?;
    }
    printer.line("")?;
    printer.table(&devices(status, no_trunc))?;
    if status.lost_tensors > 0 {
        let lost = units::count(u64::from(status.lost_tensors), "tensor");
        printer.note(format_args!("\nwarning: {lost} lost at the last recovery; see the log"));
    }
    Ok(())
}

fn show_users(
    users: &[UserAccount],
    all: &[ResourceUse],
    no_trunc: bool,
    printer: &Printer,
) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::Users::new(users, all));
    }
    let mut table = Table::new(&[
        ("USER", Side::Left),
        ("RESOURCE", Side::Left),
        ("HAS", Side::Right),
        ("LIMIT", Side::Right),
        ("SETTING", Side::Left),
    ])
    .dispensable(&["SETTING"])
    .no_trunc(no_trunc);
    let mut row = |user: &str, one: &ResourceUse| {
        let amount = |number: u64| match one.is_bytes {
            true => units::bytes(number),
            false => number.to_string(),
        };
        let cap = one.cap.map_or("-".to_owned(), amount);
        table.row(vec![user.to_owned(), one.name.clone(), amount(one.has), cap, one.key.clone()]);
    };
    for account in users {
        let user = view::users::user_name(account.user);
        let user = user.unwrap_or_else(|| account.user.to_string());
        account.resources.iter().for_each(|one| row(&user, one));
    }
    all.iter().for_each(|one| row("all", one));
    printer.table(&table)
}

fn facts(status: &Status) -> Vec<(&'static str, String)> {
    let driver = if status.driver_ready { "" } else { " (not ready yet)" };
    let silent = match status.silent_clients {
        0 => String::new(),
        silent => format!(", {silent} silent"),
    };
    let clients = units::count(u64::from(status.clients), "client");
    let leases = units::count(u64::from(status.leases), "lease");
    let sum = |of: fn(&DeviceInfo) -> u32| status.devices.iter().map(of).map(u64::from).sum();
    let tensors = units::count(sum(|device| device.tensors), "tensor");
    let slabs = units::count(sum(|device| device.slabs), "slab");
    let mut facts = vec![
        ("pond", status.pond.to_string()),
        ("folder", status.runtime_dir.clone()),
        (
            "daemon",
            format!(
                "pid {}, version {}, epoch {}, up {}",
                status.daemon_pid,
                status.daemon_version,
                status.epoch,
                units::age(status.started_unix_ms)
            ),
        ),
        ("program", status.program.clone()),
        ("keeper", keeper(status)),
        ("driver", format!("{}{driver}", driver_name(status))),
        ("in use by", format!("{clients}{silent}, {leases}")),
        ("holds", format!("{tensors} in {slabs}")),
        ("movers", movers(status)),
        ("journal", units::bytes(status.journal_bytes)),
    ];
    if !status.hosts.is_empty() {
        let movers = facts.iter().position(|(name, _)| *name == "movers").unwrap_or(0);
        facts.insert(movers + 1, ("hosts", hosts(&status.hosts, |device| place(status, device))));
    }
    if !status.loading.is_empty() {
        facts.push(("loading", format!("{} (from the configuration)", status.loading)));
    }
    if !status.log_file.is_empty() {
        facts.push(("log", status.log_file.clone()));
    }
    facts
}

fn keeper(status: &Status) -> String {
    match &status.service {
        Some(service) => format!("pid {}, {} of systemd", status.keeper_pid, service.unit),
        None => format!("pid {}", status.keeper_pid),
    }
}

fn driver_name(status: &Status) -> String {
    match is_software(status) {
        true => format!("software driver: host memory, no GPU ({})", status.driver),
        false => status.driver.clone(),
    }
}

/// Whether its GPUs are those of the software driver, linked in or as a library.
pub fn is_software(status: &Status) -> bool {
    status.devices.iter().any(|device| millpond_softgpu::is_software(&device.name))
}

/// A GPU by its place in the pond's list.
fn place(status: &Status, device: GpuUuid) -> String {
    let found = status.devices.iter().find(|one| one.device == device);
    found.map_or_else(|| device.to_string(), |found| format!("GPU {}", found.index))
}

fn hosts(hosts: &[HostInfo], place: impl Fn(GpuUuid) -> String) -> String {
    let one = |host: &HostInfo| {
        let (gpu, user) = (place(host.device), users::name(host.user));
        let tensors = units::count(u64::from(host.tensors), "tensor");
        let (bytes, context) = (units::bytes(host.bytes), units::bytes(host.context_bytes));
        let sealed = if host.sealed { ", sealed" } else { "" };
        format!(
            "pid {} on {gpu} for {user}: {tensors}, {bytes}, and {context} for its context{sealed}",
            host.pid
        )
    };
    hosts.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn movers(status: &Status) -> String {
    let one = |mover: &MoverInfo| {
        let moves = units::count(u64::from(mover.moves), "move");
        let moved = units::bytes(mover.moved_bytes);
        format!(
            "pid {} on {}: {moves} under way, {moved} moved",
            mover.pid,
            place(status, mover.device)
        )
    };
    let movers: Vec<String> = status.movers.iter().map(one).collect();
    if movers.is_empty() { "none".to_owned() } else { movers.join("; ") }
}

fn devices(status: &Status, no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("GPU", Side::Right),
        ("NAME", Side::Left),
        ("UUID", Side::Left),
        ("TOTAL", Side::Right),
        ("CAPACITY", Side::Right),
        ("SLABS", Side::Right),
        ("TENSORS", Side::Right),
        ("RECYCLED", Side::Right),
        ("GROUPS", Side::Right),
        ("OTHERS", Side::Right),
        ("USED", Side::Right),
    ])
    .dispensable(&["UUID", "RECYCLED", "GROUPS", "OTHERS", "TOTAL", "TENSORS"])
    .no_trunc(no_trunc);
    for device in &status.devices {
        table.row(vec![
            device.index.to_string(),
            device.name.clone(),
            device.device.to_string(),
            units::bytes(device.total_bytes),
            units::bytes(device.capacity_bytes),
            units::bytes(device.slab_bytes),
            units::bytes(device.tensor_bytes),
            units::bytes(device.recycled_bytes),
            device.charged_bytes.map_or("-".to_owned(), units::bytes),
            device.other_bytes.map_or("-".to_owned(), units::bytes),
            device.physical_used_bytes.map_or("-".to_owned(), units::bytes),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use millpond_wire::{Audience, HostId};

    use super::*;

    #[test]
    fn a_host_is_told_with_whom_it_serves_and_what_it_costs() {
        let device = GpuUuid([1; 16]);
        let host = HostInfo {
            host: HostId::random(),
            device,
            user: 4_000_000_000,
            audience: Audience::User,
            pid: 77,
            tensors: 2,
            bytes: 4 << 20,
            context_bytes: 500 << 20,
            sealed: true,
        };
        let open = HostInfo { pid: 78, tensors: 1, sealed: false, ..host.clone() };
        let text = hosts(&[host, open], |_| "GPU 0".to_owned());
        assert_eq!(
            text,
            "pid 77 on GPU 0 for 4000000000: 2 tensors, 4 MiB, and 500 MiB for its context, sealed; \
             pid 78 on GPU 0 for 4000000000: 1 tensor, 4 MiB, and 500 MiB for its context"
        );
    }
}
