//! `millpond tensor inspect`.

use millpond::Pond;
use millpond_view as view;
use millpond_wire::message::{LeaseInfo, Life, TensorInfo};

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
    vec![
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
        ("leases", info.leases.to_string()),
    ]
}

/// Everything that ends it.
fn life(info: &TensorInfo) -> String {
    let first = if info.ephemeral { "until its creator's process ends" } else { "until deleted" };
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
            lease.pid.to_string(),
            lease.program.clone(),
            lease.mode.to_string(),
            units::age(lease.since_unix_ms),
            lease.client.to_string(),
        ]);
    }
    table
}
