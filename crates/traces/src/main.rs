//! `millpond-traces`: what elastic caches are worth, simulated and replayed.

#![forbid(unsafe_code)]

use clap::{CommandFactory, FromArgMatches};
use millpond_console::printer::{self, Printer};
use millpond_console::{layout, usage};
use millpond_traces::args::{Cli, Command};
use millpond_traces::commands;
use std::process::ExitCode;

const HELP: &str = "millpond-traces --help";

fn main() -> ExitCode {
    let parsed = layout::laid_out(Cli::command())
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage::print(&error, HELP).number()),
    };
    let printer = Printer::new(&cli.global, false);
    let outcome = match &cli.command {
        Command::Simulate(args) => commands::simulate(args, &printer),
        Command::Replay(args) => commands::replay(args, &cli.global, &printer),
        Command::Show(args) => commands::show(args, &printer),
        Command::Make(args) => commands::make(args, &printer),
        Command::Janitor { folder } => millpond_trial::janitor::run(folder),
    };
    ExitCode::from(printer::finish(&printer, outcome).number())
}
