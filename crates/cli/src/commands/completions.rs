//! `millpond completions`.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::error::Outcome;
use crate::printer::Printer;

/// Prints the script.
pub fn run(args: &CompletionsArgs, printer: &Printer) -> Outcome {
    // Into memory first: the generator panics where its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "millpond", &mut script);
    printer.raw(&script)
}
