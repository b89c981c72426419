//! `millpond verify`.

use millpond_view as view;

use super::shown;
use crate::args::{Global, VerifyArgs};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::printer::Printer;
use crate::progress::Bar;
use crate::{pond, units};

/// How many tensors an error names.
const NAMED: usize = 10;

/// Compares a version's bytes with its hashes.
pub fn verify(args: &VerifyArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    let mut bar = Bar::new(printer, format!("hashing {}", args.name));
    let verified = pond.verify(args.name.as_str(), |progress| bar.at(progress))?;
    drop(bar);
    let (info, differing) = (&verified.info, &verified.differing);
    if printer.is_json() {
        printer.json(&view::Verified { version: info.into(), verify: (&verified).into() })?;
        let code = CommandError::Said(Code::Failed);
        return if differing.is_empty() { Ok(()) } else { Err(code) };
    }
    let name = shown(info);
    if differing.is_empty() {
        printer.line(&name)?;
        let tensors = units::count(info.tensors.into(), "tensor");
        let (size, time) = (units::bytes(verified.bytes), units::time(verified.elapsed));
        let rate = units::rate(verified.bytes, verified.elapsed);
        printer.note(format_args!("{tensors} unchanged, {size} in {time} ({rate})"));
        return Ok(());
    }
    let mut names: Vec<String> =
        differing.iter().take(NAMED).map(|name| format!("'{}'", name.escape_debug())).collect();
    if differing.len() > NAMED {
        names.push(format!("and {} more", differing.len() - NAMED));
    }
    let count = units::count(differing.len() as u64, "tensor");
    let message = format!("{count} of {name} not as loaded: {}", names.join(", "));
    Err(Report::new(Code::Failed, message).hint("load it again; `--json` lists all of them").into())
}
