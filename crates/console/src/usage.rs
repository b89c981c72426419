//! A command line that was not understood, and help that was asked for.

use clap::error::ErrorKind;

use crate::error::Report;
use crate::exit::Code;
use crate::printer::Printer;

/// Prints what the parser says: help to standard output, an error to standard error, as JSON
/// where the command line has `--json`. `help` is the command that lists what there is.
pub fn print(error: &clap::Error, help: &str) -> Code {
    if !error.use_stderr() {
        let printed = error.print();
        // A closed pipe is success, as everywhere.
        return match printed {
            Err(broken) if broken.kind() != std::io::ErrorKind::BrokenPipe => Code::Failed,
            _ => Code::Ok,
        };
    }
    if wants_json() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        Printer::plain(true).error(&report(error, help));
    } else {
        // Nobody can be told that standard error is gone.
        let _ = error.print();
    }
    Code::Usage
}

/// Whether the command line of this process has `--json`, whatever else it says.
pub fn wants_json() -> bool {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.any(|word| word == "--json")
}

/// The first paragraph is what is wrong; the rest is usage.
pub fn report(error: &clap::Error, help: &str) -> Report {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first).trim();
    Report::new(Code::Usage, message).hint(format!("`{help}` lists the commands"))
}
