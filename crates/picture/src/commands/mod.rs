//! `millpond map` and `millpond history`, which the program `millpond-web` runs.

mod map;
mod output;

use std::ffi::OsString;

use millpond_console::args::Global;
use millpond_console::companions::{self, MapArgs};
use millpond_console::error::Outcome;
use millpond_console::exit::Code;
use millpond_console::printer::{self, Printer};
use millpond_console::usage;

/// Runs the command that a companion program was started for, if it is one of these: see
/// [`companions::started_for`].
#[must_use]
pub fn run(command: &str, words: &[OsString]) -> Option<Code> {
    match command {
        "map" => Some(with(command, words, |args: &MapArgs| args.json.json, map::run)),
        _ => None,
    }
}

fn with<A: clap::Args>(
    command: &str,
    words: &[OsString],
    is_json: impl Fn(&A) -> bool,
    run: impl Fn(&A, &Global, &Printer) -> Outcome,
) -> Code {
    let (global, args) = match companions::parse::<A>(command, words) {
        Ok(parsed) => parsed,
        Err(error) => return usage::print(&error, &format!("millpond help {command}")),
    };
    let printer = Printer::new(&global, is_json(&args));
    let outcome = run(&args, &global, &printer);
    printer::finish(&printer, outcome)
}
