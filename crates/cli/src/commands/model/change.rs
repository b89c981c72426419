//! `millpond swap`, `rollback` and `retire`.

use millpond::Swap;
use millpond_view as view;
use millpond_wire::{ErrorKind, Failure};

use super::{named, shown};
use crate::args::{Global, RetireArgs, RollbackArgs, SwapArgs};
use crate::error::Outcome;
use crate::printer::Printer;
use crate::{pond, units};

/// Makes another version current.
pub fn swap(args: &SwapArgs, global: &Global, printer: &Printer) -> Outcome {
    let (model, version) = named(&args.model, args.version.as_deref())?;
    let swapped = pond::connect(global)?.swap(&model, &version)?;
    say(&swapped, printer)
}

/// Makes the one before current again.
pub fn rollback(args: &RollbackArgs, global: &Global, printer: &Printer) -> Outcome {
    let swapped = pond::connect(global)?.rollback(&args.model)?;
    say(&swapped, printer)
}

fn say(swapped: &Swap, printer: &Printer) -> Outcome {
    let replaced = swapped.previous.as_ref().map(ToString::to_string);
    if printer.is_json() {
        let current = view::Version::from(&swapped.current);
        return printer.json(&view::Swapped { current, replaced });
    }
    printer.line(shown(&swapped.current))?;
    if let Some(replaced) = replaced.filter(|tag| *tag != swapped.current.tag.to_string()) {
        printer.detail(format_args!("it replaces {replaced}"));
    }
    Ok(())
}

/// Gives a version up.
pub fn retire(args: &RetireArgs, global: &Global, printer: &Printer) -> Outcome {
    let (model, version) = named(&args.model, args.version.as_deref())?;
    let pond = pond::connect(global)?;
    let info = pond.version(format!("{model}@{version}"))?.info;
    pond.retire(info.version)?;
    let mut gone = None;
    if let Some(wait) = args.wait {
        let time = wait.map(|span| span.0);
        if !pond.wait_gone(info.version, time)? {
            let left = pond.version(info.version).map_or(0, |left| left.info.readers);
            let readers = units::count(left.into(), "reader");
            let time = units::span(wait.map_or(0, crate::span::Span::ms));
            let name = shown(&info);
            let message = format!("{name} drains, but still has {readers} after {time}");
            return Err(Failure::new(ErrorKind::Timeout, message)
                .hint(format!("`millpond inspect {name}` shows who they are"))
                .into());
        }
        gone = Some(true);
    }
    if printer.is_json() {
        return printer.json(&view::Retired { version: view::Version::from(&info), gone });
    }
    printer.line(shown(&info))?;
    if gone.is_none() && info.readers > 0 {
        let readers = units::count(info.readers.into(), "reader");
        printer.note(format_args!("note: its memory is freed when the last of {readers} lets go"));
    }
    Ok(())
}
