//! The `millpond` command: parse, call, print.
//!
//! Everything that can be done is a client of the pond's one protocol; the keeper and the daemon
//! are in this binary too, so that one file is the whole product and each can start the other
//! from wherever the binary lies.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod companion;
mod config_file;
mod elf;
mod endure;
mod env_vars;
mod json;
mod logging;
mod moment;
mod output;
mod pond;
mod preload;
mod progress;

use std::process::ExitCode;

use millpond_console::{error, exit, printer, shown, table, users};
use millpond_view::{size, span, units};

use crate::printer::Printer;

fn main() -> ExitCode {
    let cli = match args::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            let words: Vec<_> = std::env::args_os().collect();
            return ExitCode::from(commands::usage::not_a_command(error, &words).number());
        }
    };
    let printer = Printer::new(&cli.global, cli.command.is_json());
    let logs = if cli.global.verbose > 1 && !cli.command.logs_itself() {
        millpond_console::log_everything()
    } else {
        Ok(())
    };
    let outcome = logs.and_then(|()| commands::run(&cli, &printer));
    if cli.command.logs_itself() {
        return ExitCode::from(logging::finish(printer, outcome).number());
    }
    ExitCode::from(printer::finish(&printer, outcome).number())
}
