//! `millpond completions`.

use clap::Command;

use crate::args::{CompletionsArgs, definition};
use crate::error::Outcome;
use crate::printer::Printer;

/// The command line without what only Millpond starts.
fn visible() -> Command {
    let root = definition();
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    let arguments = root.get_arguments().filter(|argument| !argument.is_hide_set());
    Command::new("millpond")
        .disable_help_subcommand(true)
        .version(env!("CARGO_PKG_VERSION"))
        .args(arguments.cloned())
        .subcommands(shown.cloned())
}

pub fn run(args: &CompletionsArgs, printer: &Printer) -> Outcome {
    // Into memory first: the generator panics where its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "millpond", &mut script);
    printer.raw(&script)
}
