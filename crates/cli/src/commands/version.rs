//! `millpond version`.

use crate::error::Outcome;
use crate::json::VersionJson;
use crate::printer::Printer;

/// Prints the version.
pub fn run(printer: &Printer) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    if printer.is_json() {
        return printer.json(&VersionJson { version, protocol: millpond_wire::message::VERSION });
    }
    printer.line(format_args!("millpond {version}"))
}
