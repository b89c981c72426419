//! `millpond bench`, a companion program of `millpond`: every number beside its limit, measured in the
//! same run.
//!
//! It serves ponds with the `millpond` that started it, and measures from processes of its own.

mod bare;
mod caches;
mod ground;
mod json;
mod measure;
mod picture;
mod pools;
mod programs;
mod raw;
mod row;
mod rows;
mod run;
mod samples;
mod socket;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use millpond_console::companions::{self, BenchArgs};
use millpond_console::error::Outcome;
use millpond_console::printer::{self, Printer};
use millpond_console::usage;

use crate::measure::Kept;

/// Processes that the bench starts of itself.
#[derive(Debug, Parser)]
enum Role {
    Worker {
        #[arg(long)]
        label: String,
    },
    Echo,
    Janitor {
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let is_role = words
        .get(1)
        .and_then(|word| word.to_str())
        .is_some_and(|word| Role::command().find_subcommand(word).is_some());
    if is_role {
        return match Role::try_parse_from(&words) {
            Ok(role) => end(&Printer::plain(false), play(role)),
            Err(error) => ExitCode::from(usage::print(&error, HELP).number()),
        };
    }
    let (global, args) = match companions::parse::<BenchArgs>("bench", &words) {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(usage::print(&error, HELP).number()),
    };
    let printer = Printer::new(&global, args.json.json);
    let logs = if global.verbose > 1 { millpond_console::log_everything() } else { Ok(()) };
    end(&printer, logs.and_then(|()| run::run(&args, &global, &printer)))
}

/// What to type for help.
const HELP: &str = "millpond help bench";

fn play(role: Role) -> Outcome {
    match role {
        Role::Worker { label } => {
            let mut kept = Kept::default();
            let folder = std::env::var_os(millpond_wire::runtime_dir::ENVIRONMENT);
            let measure = &mut |tools: &mut _, what| kept.measure(tools, what);
            millpond_trial::worker::run(
                &label,
                folder.map(PathBuf::from),
                &Printer::plain(false),
                measure,
            )
        }
        Role::Echo => socket::echo(),
        Role::Janitor { folder } => millpond_trial::janitor::run(&folder),
    }
}

fn end(printer: &Printer, outcome: Outcome) -> ExitCode {
    ExitCode::from(printer::finish(printer, outcome).number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        companions::alone::<BenchArgs>("bench").debug_assert();
        Role::command().debug_assert();
    }
}
