//! `millpond ls`.

use std::cmp::Reverse;

use millpond_console::args::ColorChoice;
use millpond_view as view;
use millpond_wire::TensorState;

use super::find::{Inventory, glob};
use super::object::{Object, census, total_bytes};
use crate::args::{Global, ListArgs, Sort};
use crate::companion::{self, Call};
use crate::error::{Outcome, Report};
use crate::printer::Printer;
use crate::table::{Side, Table};
use crate::{pond, units};

/// The companion that lists the tensors of all machines.
const REDIS: &str = "redis";

pub fn list(args: &ListArgs, global: &Global, printer: &Printer) -> Outcome {
    if args.all_nodes {
        return all_nodes(args, global);
    }
    let pattern = glob(&args.pattern)?;
    let mut objects = Inventory::read(&pond::connect(global)?)?.objects();
    objects.retain(|object| {
        let deleted = matches!(object, Object::Tensor(info) if info.state == TensorState::Deleted);
        let bare = object.bare_name();
        let matches = match (&pattern, bare) {
            (Some(glob), Some(bare)) => glob.matches(&bare) || glob.matches(&object.name()),
            (Some(_), None) => false,
            (None, Some(bare)) => {
                bare.starts_with(&args.pattern) || object.name().starts_with(&args.pattern)
            }
            (None, None) => args.pattern.is_empty(),
        };
        matches && (args.all || !deleted)
    });
    sort(&mut objects, args.sort);
    if printer.is_json() {
        return printer.json(&view::Objects {
            objects: objects.iter().map(Object::view).collect(),
            bytes: total_bytes(&objects),
        });
    }
    if printer.is_quiet() {
        return objects.iter().try_for_each(|object| printer.line(object.name()));
    }
    printer.line(table(&objects, args.no_trunc).render())?;
    let size = units::bytes(total_bytes(&objects));
    printer.line(format_args!("\n{}, {size}", census(&objects)))
}

/// The companion knows Redis; this program does not.
fn all_nodes(args: &ListArgs, global: &Global) -> Outcome {
    let found = companion::find(REDIS).map_err(Report::from)?;
    let Some(found) = found else { return Err(companion::missing(REDIS).into()) };
    let flags = [
        ("--json", args.json.json),
        ("--quiet", global.quiet),
        ("--color=always", global.color == ColorChoice::Always),
        ("--color=never", global.color == ColorChoice::Never),
    ];
    let flags = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag);
    let words = std::iter::once("ls").chain(flags).map(Into::into).collect();
    Err(Call { name: REDIS.to_owned(), words }.run(&found))
}

fn sort(objects: &mut [Object], by: Sort) {
    // The pond sends them by name, models first; versions stay in the order of their loads.
    let order = |object: &Object| object.bare_name().unwrap_or_else(|| object.name());
    match by {
        Sort::Name => objects.sort_by_cached_key(order),
        Sort::Size => objects.sort_by_key(|object| Reverse(object.bytes())),
        Sort::Age => objects.sort_by_key(|object| Reverse(object.created_unix_ms())),
    }
}

fn table(objects: &[Object], no_trunc: bool) -> Table {
    let mut table = Table::new(&[
        ("KIND", Side::Left),
        ("NAME", Side::Left),
        ("SIZE", Side::Right),
        ("STATE", Side::Left),
        ("USERS", Side::Right),
        ("AGE", Side::Left),
    ])
    .no_trunc(no_trunc);
    for object in objects {
        table.row(vec![
            object.kind().name().to_owned(),
            object.name(),
            units::bytes(object.bytes()),
            object.state().to_owned(),
            object.users().to_string(),
            units::age(object.created_unix_ms()),
        ]);
    }
    table
}
