//! The group that a program will be in: of the pond, or, without one, of its own making.

use std::path::PathBuf;

use millpond::{GroupName, GroupSet, Pond};
use millpond_ledger::{UNIT, context_bytes};
use millpond_wire::{ErrorKind, GpuUuid};

use crate::args::{Global, RunArgs};
use crate::commands::group::{Alone, nothing_runs};
use crate::error::{CommandError, Report};
use crate::exit::Code;
use crate::pond;
use crate::preload;
use crate::printer::Printer;
use crate::size::Size;

/// Where a program is counted, and what it sees.
#[derive(Debug)]
pub struct Membership {
    /// Where it is counted.
    pub account: Account,
    /// The GPUs that it sees; all by default.
    pub visible: Option<String>,
    /// What counts inside of it.
    pub library: PathBuf,
}

/// Where a program is counted.
#[derive(Debug)]
pub enum Account {
    /// In a group that is there: of the pond, or of this user's programs without one.
    Folder { folder: PathBuf },
    /// In a group that the first process with the same limit makes.
    Alone { limit: Size, group: Option<GroupName> },
}

/// Joins the group that the command line means.
pub fn join(
    args: &RunArgs,
    global: &Global,
    printer: &Printer,
) -> Result<Membership, CommandError> {
    if args.limit.is_none() && args.group.is_none() {
        return Err(usage(
            "no limit given",
            "give `--limit 10G`, or `--group NAME` of a group that has one (`millpond group ls`)",
        ));
    }
    match pond::connect(global) {
        Ok(pond) => of_pond(&pond, args, printer),
        Err(CommandError::Failed(report)) if report.code == Code::Kind(ErrorKind::NoPond) => {
            alone(args, &report, printer)
        }
        Err(error) => Err(error),
    }
}

fn of_pond(pond: &Pond, args: &RunArgs, printer: &Printer) -> Result<Membership, CommandError> {
    let device = args.device.as_deref().map(|text| pond::device(pond, text)).transpose()?;
    if let Some(limit) = args.limit {
        pond::warn_if_larger(pond, limit, device, printer)?;
        let cards = pond.status()?.devices.into_iter();
        let cards = cards.filter(|card| device.is_none_or(|device| card.device == device));
        warn_if_nothing_starts(limit, cards.map(|card| card.total_bytes).min(), printer);
    }
    let limit = args.limit.map(Size::limit);
    let min_bytes = args.min.map(|min| pond::bytes_on_cards(pond, min, device)).transpose()?;
    let budget = |name: &GroupName| {
        let set = GroupSet::of(name.clone());
        GroupSet { device, min_bytes, weight: args.weight, ..set }
    };
    let has_budget = min_bytes.is_some() || args.weight.is_some();
    let is_new = |name: &GroupName| {
        pond.group(name.clone()).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    };
    if let Some(name) = args.group.as_ref().filter(|name| has_budget && is_new(name))
        && limit.is_some()
    {
        // All at once: a promise that cannot be made leaves no group behind.
        pond.set_group(GroupSet { limit, create: true, ..budget(name) })?;
    }
    let library = preload::choose(Some(&pond.status()?))?;
    if let Some(why) = &library.refused {
        printer.note(format_args!("warning: {why}; using '{}' instead", library.file.display()));
    }
    printer.detail(format_args!("library {}, {}", library.file.display(), library.source));
    let seat = pond.join_group(args.group.clone(), limit, device)?;
    if has_budget {
        pond.set_group(budget(&seat.name))?;
    }
    printer.detail(format_args!("group {} in {}", seat.name, seat.folder.display()));
    let visible = device.map(|device| device.to_string());
    let account = Account::Folder { folder: seat.folder };
    Ok(Membership { account, visible, library: library.file })
}

/// Says so where a limit leaves no room for a CUDA context. A card that has not been read, or that
/// nobody knows, is taken for a large one.
fn warn_if_nothing_starts(limit: Size, card_bytes: Option<u64>, printer: &Printer) {
    let card = card_bytes.filter(|bytes| *bytes > 0).unwrap_or(u64::MAX);
    let least = context_bytes(card);
    if limit.on_card(card) < least {
        let least = crate::units::bytes(least);
        printer.note(format_args!(
            "warning: a limit of {limit} has no room for a CUDA context, which takes up to {least}: \
             most CUDA programs will not start; try `--limit 2G`"
        ));
    }
}

/// Without a pond the first process makes the group, and the files of the group are the limit.
fn alone(args: &RunArgs, why: &Report, printer: &Printer) -> Result<Membership, CommandError> {
    if args.min.is_some() || args.weight.is_some() {
        let message = "`--min` and `--weight` need a pond, which keeps room between groups";
        return Err(Report::new(why.code, message).hint("start one with `millpond serve`").into());
    }
    let library = preload::choose(None)?.file;
    let groups = Alone::new();
    let Some(limit) = args.limit else {
        let group = args.group.as_ref();
        if let Some(folder) = group.and_then(|group| groups.folder(group)) {
            printer.note("no pond: the group's own limit holds for this user's programs in it");
            let visible = args.device.as_deref().map(visible).transpose()?;
            return Ok(Membership { account: Account::Folder { folder }, visible, library });
        }
        let group = group.map(ToString::to_string).unwrap_or_default();
        let message = format!("group '{group}' needs a limit: {}", why.failure.message);
        let hint = "give `--limit 10G`, or start a pond, which knows its groups: `millpond serve`";
        return Err(Report::new(why.code, message).hint(hint).into());
    };
    if limit.on_card(u64::MAX) < UNIT {
        return Err(nothing_runs().into());
    }
    if let Some(group) = &args.group {
        groups.agree(group, limit)?;
    }
    warn_if_nothing_starts(limit, None, printer);
    printer.note(format_args!(
        "no pond: the limit of {limit} holds for this user's programs with the same {}",
        if args.group.is_some() { "group" } else { "limit" }
    ));
    let visible = args.device.as_deref().map(visible).transpose()?;
    let account = Account::Alone { limit, group: args.group.clone() };
    Ok(Membership { account, visible, library })
}

/// A GPU as `CUDA_VISIBLE_DEVICES` takes it. A number counts what this process may see itself.
fn visible(text: &str) -> Result<String, CommandError> {
    if text.parse::<GpuUuid>().is_ok() {
        return Ok(text.to_owned());
    }
    let Ok(index) = text.strip_prefix("cuda:").unwrap_or(text).parse::<usize>() else {
        let message = format!("'{text}' is neither the index nor the UUID of a GPU");
        return Err(usage(message, "`nvidia-smi -L` lists both"));
    };
    let seen = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    nth_visible(index, seen.as_deref()).ok_or_else(|| {
        let seen = seen.unwrap_or_default();
        usage(
            format!("no GPU {index}: CUDA_VISIBLE_DEVICES is '{seen}'"),
            "`nvidia-smi -L` lists the GPUs",
        )
    })
}

fn nth_visible(index: usize, seen: Option<&str>) -> Option<String> {
    match seen {
        None => Some(index.to_string()),
        Some(seen) => seen
            .split(',')
            .map(str::trim)
            .filter(|gpu| !gpu.is_empty())
            .nth(index)
            .map(str::to_owned),
    }
}

fn usage(message: impl Into<String>, hint: &str) -> CommandError {
    Report::new(Code::Usage, message).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_what_is_visible() {
        let nth = |index, seen| nth_visible(index, seen);
        assert_eq!(nth(1, None).as_deref(), Some("1"));
        assert_eq!(nth(1, Some("3, 2")).as_deref(), Some("2"));
        assert_eq!(nth(0, Some("GPU-aa,GPU-bb")).as_deref(), Some("GPU-aa"));
        assert_eq!([nth(0, Some("")), nth(2, Some("3,2"))], [None, None]);
        let uuid = "GPU-01010101-0101-0101-0101-010101010101";
        assert_eq!(visible(uuid).unwrap(), uuid);
        assert!(visible("first").is_err());
    }
}
