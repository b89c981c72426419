//! `millpond group set` and `millpond group rm`.

use millpond::{GroupLimit, GroupSet};
use millpond_view as view;

use super::{Groups, list};
use crate::args::{Global, GroupRmArgs, GroupSetArgs, LimitArg, MinArg};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::pond;
use crate::printer::Printer;

/// Makes or changes a group, and prints it.
pub fn set(args: &GroupSetArgs, global: &Global, printer: &Printer) -> Outcome {
    let nothing = args.limit.is_none() && args.min.is_none() && args.weight.is_none();
    if nothing && args.users.is_empty() && args.end_silent.is_none() {
        let report = Report::new(Code::Usage, "nothing to set");
        return Err(report
            .hint(
                "give `--limit`, `--min`, `--weight`, `--user` or `--end-silent`; see `millpond help \
                 group set`",
            )
            .into());
    }
    let known = Groups::open(global)?;
    let device = args.device.as_deref().map(|text| known.device(text)).transpose()?;
    let limit = args.limit.map(|limit| match limit {
        LimitArg::None => GroupLimit::Unlimited,
        LimitArg::Size(size) => size.limit(),
    });
    let min_bytes = match args.min {
        None => None,
        Some(MinArg::None) => Some(0),
        Some(MinArg::Size(size)) => Some(known.bytes_on_cards(size, device)?),
    };
    if let (Some(LimitArg::Size(size)), Some(pond)) = (args.limit, &known.pond) {
        pond::warn_if_larger(pond, size, device, printer)?;
    }
    let set = GroupSet {
        device,
        limit,
        min_bytes,
        weight: args.weight,
        users: (!args.users.is_empty())
            .then(|| args.users.iter().filter_map(|user| user.id()).collect()),
        ends_silent: args.end_silent,
        // Without a limit a new group would be a mistake in its name.
        create: limit.is_some(),
        ..GroupSet::of(args.name.clone())
    };
    let details = known.set(set)?;
    if printer.is_json() {
        return printer.json(&view::Group::from(&details.info));
    }
    list::show(&[details.info], false, printer)
}

/// Removes groups, each that can be, and prints their names.
pub fn remove(args: &GroupRmArgs, global: &Global, printer: &Printer) -> Outcome {
    let known = Groups::open(global)?;
    let mut failed = None;
    for name in &args.names {
        match known.remove(name) {
            Ok(()) => printer.line(name)?,
            Err(CommandError::Failed(report)) => {
                printer.error(&report);
                failed = Some(report.code);
            }
            Err(other) => return Err(other),
        }
    }
    failed.map_or(Ok(()), |code| Err(CommandError::Said(code)))
}
