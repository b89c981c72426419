//! `millpond gc`.

use crate::args::{GcArgs, Global};
use crate::commands::tensor::shown_name;
use crate::error::Outcome;
use crate::printer::Printer;
use crate::{pond, units};

/// Gives back what nobody uses, and says what.
pub fn run(args: &GcArgs, global: &Global, printer: &Printer) -> Outcome {
    let unleased_for = args.unleased_for.map(|span| span.0);
    let collected = pond::connect(global)?.collect(unleased_for, args.dry_run)?;
    if printer.is_json() {
        return printer.json(&collected.view(args.dry_run));
    }
    for info in &collected.tensors {
        printer.line(shown_name(info))?;
    }
    let tensors = units::count(collected.tensors.len() as u64, "tensor");
    let slabs = units::count(u64::from(collected.slabs), "empty slab");
    let bytes = units::bytes(collected.slab_bytes);
    let verb = if args.dry_run { "would be given back" } else { "given back" };
    printer.note(format_args!("{tensors} and {slabs} ({bytes}) {verb}"));
    Ok(())
}
