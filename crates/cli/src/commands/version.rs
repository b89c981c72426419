//! `millpond version`.

use millpond_view as view;

use crate::error::Outcome;
use crate::printer::Printer;

pub fn run(printer: &Printer) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    if printer.is_json() {
        return printer.json(&view::Program { version, protocol: millpond_wire::message::VERSION });
    }
    printer.line(format_args!("millpond {version}"))
}
