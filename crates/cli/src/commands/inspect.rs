//! `millpond tensor inspect`.

use millpond::Pond;
use millpond_view as view;
use millpond_wire::message::{LeaseInfo, Life, TensorInfo};
use millpond_wire::{Survives, TensorState};

use crate::args::{Global, InspectArgs};
use crate::error::Outcome;
use crate::printer::{Printer, Tone};
use crate::table::{Side, Table};
use crate::{moment, pond, units, users};

/// Prints everything about one tensor.
pub fn run(args: &InspectArgs, global: &Global, printer: &Printer) -> Outcome {
    show(&pond::connect(global)?, &args.name, printer)
}

/// Prints the tensor that this means.
pub fn show(pond: &Pond, name: &str, printer: &Printer) -> Outcome {
    let details = pond.inspect(pond::target(pond, name)?)?;
    let (info, leases) = (details.info, details.leases);
    if printer.is_json() {
        let tags = view::Tags::default();
        let leases = leases.iter().map(|lease| view::Lease::new(lease, &tags)).collect();
        return printer.json(&view::TensorDetails { tensor: (&info).into(), leases });
    }
    if printer.is_quiet() {
        return printer.line(info.tensor);
    }
    for (name, value) in facts(&info) {
        let name = printer.paint(Tone::Dim, format!("{name:<11}"));
        printer.line(format_args!("{name} {value}"))?;
    }
    show_holders(&leases, info.leases, printer)
}

/// A table of leases, if there are any, and how many are not in it.
pub fn show_holders(leases: &[LeaseInfo], all: u32, printer: &Printer) -> Outcome {
    if leases.is_empty() {
        return Ok(());
    }
    printer.line("")?;
    printer.table(&holders(leases))?;
    let (shown, all) = (leases.len() as u64, u64::from(all));
    if shown < all {
        let (shown, all) = (units::thousands(shown), units::thousands(all));
        printer.note(format_args!("{shown} of {all} leases are shown"));
    }
    Ok(())
}

fn facts(info: &TensorInfo) -> Vec<(&'static str, String)> {
    let exact = |bytes: u64| format!("{} ({} bytes)", units::bytes(bytes), units::thousands(bytes));
    let age = units::age(info.created_unix_ms);
    let holds = info.holds.map(|holds| ("holds", holds.to_string()));
    let mut facts = vec![
        ("name", info.name.as_ref().map_or("-".to_owned(), ToString::to_string)),
        ("id", info.tensor.to_string()),
        ("owner", format!("{} ({})", users::name(info.user), info.user)),
        ("shared with", info.audience.to_string()),
        ("dtype", info.dtype.to_string()),
        ("shape", info.shape.to_string()),
        ("size", exact(info.bytes)),
        ("device", info.device.to_string()),
        ("state", format!("{}, generation {}", info.state, info.generation)),
        ("life", life(info)),
        ("created", format!("{} ({age} ago)", moment::zoned(info.created_unix_ms))),
        ("slab", format!("{}, {} at offset {}", info.slab, exact(info.slab_bytes), info.offset)),
        ("transport", transport(info)),
        ("survives", survives(info)),
        ("leases", info.leases.to_string()),
    ];
    facts.extend(holds);
    facts
}

/// How its memory is shared, and whether another program made it.
fn transport(info: &TensorInfo) -> String {
    let adopted = if info.adopted { ", adopted" } else { "" };
    format!("{}{adopted}", info.transport)
}

/// What its memory survives, with the process that it depends on.
fn survives(info: &TensorInfo) -> String {
    let but = match info.survives {
        Survives::Everything => return info.survives.to_string(),
        Survives::Host => "its host",
        Survives::Owner => "its owner",
    };
    match (info.state, info.home_pid) {
        (TensorState::Orphan, _) => {
            format!("nothing: {but} has ended, and only who has it mapped still has it")
        }
        (_, 0) => format!("everything but the end of {but}"),
        (_, pid) => format!("everything but the end of {but} (pid {pid})"),
    }
}

/// Everything that ends it.
fn life(info: &TensorInfo) -> String {
    let first = match (info.ephemeral, info.holds) {
        (true, _) => "until its creator's process ends",
        (false, Some(_)) => "until its last hold ends",
        (false, None) => "until deleted",
    };
    let Life { ttl_ms, linger_ms, accesses } = info.life;
    // Milliseconds do not matter to who reads this.
    let span = |ms: u64| units::span(if ms < 10_000 { ms } else { ms / 1000 * 1000 });
    let ttl = ttl_ms.map(|ms| format!("for {}", span(ms)));
    let linger = linger_ms.map(|ms| format!("for {} without a lease", span(ms)));
    let accesses = accesses.map(|count| format!("for {}", units::count(count, "more get")));
    let ends = [ttl, linger, accesses].into_iter().flatten();
    std::iter::once(first.to_owned()).chain(ends).collect::<Vec<_>>().join(", or ")
}

fn holders(leases: &[LeaseInfo]) -> Table {
    let mut table = Table::new(&[
        ("PID", Side::Right),
        ("PROGRAM", Side::Left),
        ("MODE", Side::Left),
        ("SINCE", Side::Left),
        ("CLIENT", Side::Left),
    ])
    .dispensable(&["CLIENT"]);
    for lease in leases {
        table.row(vec![
            view::pid_text(view::visible(lease.pid)),
            lease.program.clone(),
            lease.mode.to_string(),
            units::age(lease.since_unix_ms),
            lease.client.map_or_else(|| "-".to_owned(), |client| client.to_string()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use millpond_wire::TransportKind;

    use super::*;
    use crate::commands::tensor::samples;

    #[test]
    fn holds_are_shown_where_a_tensor_lives_by_them() {
        let shown = |info: &TensorInfo| {
            let fact = facts(info).into_iter().find(|(name, _)| *name == "holds");
            (fact.map(|(_, value)| value), life(info))
        };
        let usual = samples::info(None, 7);
        assert_eq!(shown(&usual), (None, "until deleted".to_owned()));
        let held = TensorInfo { holds: Some(2), ..usual };
        assert_eq!(shown(&held), (Some("2".to_owned()), "until its last hold ends".to_owned()));
    }

    #[test]
    fn what_memory_survives_is_told_with_the_process_that_it_depends_on() {
        let mut info = TensorInfo {
            transport: TransportKind::Ipc,
            adopted: true,
            survives: Survives::Owner,
            home_pid: 77,
            ..samples::info(None, 7)
        };
        assert_eq!(transport(&info), "ipc, adopted");
        assert_eq!(survives(&info), "everything but the end of its owner (pid 77)");
        info.state = TensorState::Orphan;
        assert!(survives(&info).starts_with("nothing: its owner has ended"), "{}", survives(&info));
        info.survives = Survives::Everything;
        assert_eq!(survives(&info), "everything");
    }
}
