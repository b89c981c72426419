//! `millpond save`.

use millpond::{SaveOptions, temporary_name};
use millpond_view as view;

use crate::args::{Global, SaveArgs};
use crate::error::{Outcome, failed};
use crate::printer::Printer;
use crate::progress::Bar;
use crate::{output, pond, units};

pub fn save(args: &SaveArgs, global: &Global, printer: &Printer) -> Outcome {
    let pond = pond::connect(global)?;
    let options =
        SaveOptions { shard_bytes: args.shard_bytes.map(|bytes| bytes.0), force: args.force };
    output::remove_on_signals(&temporary_name(&args.path))
        .map_err(|error| failed("waiting for signals", error))?;
    let mut bar = Bar::new(printer, format!("saving {}", args.name));
    let saved = pond.save(args.name.as_str(), &args.path, options, |progress| bar.at(progress))?;
    drop(bar);
    if printer.is_json() {
        return printer.json(&view::Saved {
            version: (&saved.info).into(),
            files: saved.files.iter().map(|path| path.display().to_string()).collect(),
            elapsed_ms: units::millis(saved.elapsed),
        });
    }
    saved.files.iter().try_for_each(|path| printer.line(path.display()))?;
    let (size, time) = (units::bytes(saved.bytes), units::time(saved.elapsed));
    let rate = units::rate(saved.bytes, saved.elapsed);
    printer.note(format_args!("{size} in {time} ({rate})"));
    Ok(())
}
