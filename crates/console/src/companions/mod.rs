//! Command lines of the companion programs that Millpond ships. They are defined here because both
//! sides need them: the companion parses, and `millpond` has them in its man pages and completions.

mod bench;
mod history;
mod map;
mod redis;
mod web;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Args, Command, FromArgMatches};

use crate::STYLES;
use crate::args::Global;
use crate::layout;

pub use bench::BenchArgs;
pub use history::HistoryArgs;
pub use map::MapArgs;
pub use redis::{PREFIX_VARIABLE, RedisArgs, RedisCommand, ServerArgs, URL_VARIABLE};
pub use web::WebArgs;

/// The command line of a companion in its own program, with the global flags that the core has for all.
pub fn alone<A: Args>(name: &str) -> Command {
    let command = A::augment_args(Command::new(name.to_owned()));
    let (short, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = Global::augment_args(command).styles(STYLES).max_term_width(100);
    command
        .bin_name(format!("millpond {name}"))
        .about(short.unwrap_or_default())
        .long_about(long.unwrap_or_default())
}

/// Reads the command line of a companion, program name included.
///
/// # Errors
/// What clap says: what is wrong with it, or the help that was asked for.
pub fn parse<A: Args>(name: &str, words: &[OsString]) -> Result<(Global, A), clap::Error> {
    let definition = || alone::<A>(name);
    // Usage lines name no flag whose variable is set.
    let plain = || definition().mut_arg("runtime_dir", |arg| arg.env(None));
    let matches = match layout::laid_out(definition()).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => {
            return Err(plain().try_get_matches_from(words).err().unwrap_or(error));
        }
        Err(help) => return Err(help),
    };
    Ok((Global::from_arg_matches(&matches)?, A::from_arg_matches(&matches)?))
}

/// The companions as commands of `millpond`.
pub fn shipped() -> Vec<Command> {
    vec![
        BenchArgs::augment_args(Command::new("bench")),
        HistoryArgs::augment_args(Command::new("history")),
        MapArgs::augment_args(Command::new("map")),
        RedisArgs::augment_args(Command::new("redis")),
        WebArgs::augment_args(Command::new("web")),
    ]
}

/// Commands whose companion program has another name than they. It is started under their name, as
/// `millpond-map`, and so knows which of them it is.
const SHARED: [(&str, &str); 2] = [("history", "web"), ("map", "web")];

/// The name behind `millpond-` of the program that runs a companion command.
#[must_use]
pub fn program_of(command: &str) -> &str {
    SHARED.iter().find(|(name, _)| *name == command).map_or(command, |(_, program)| program)
}

/// The commands that the program `millpond-NAME` runs beside the one that it is called after.
pub fn also_runs(program: &str) -> impl Iterator<Item = &'static str> {
    SHARED.iter().filter(move |(_, it)| *it == program).map(|(command, _)| *command)
}

/// Which of its commands a companion program was started for: that of the name that it was started
/// under, and else the one that it is called after.
#[must_use]
pub fn started_for<'a>(program: &'a str, words: &[OsString]) -> &'a str {
    let own = words.first().map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str);
    let command = own.and_then(|own| own.strip_prefix("millpond-")).unwrap_or(program);
    also_runs(program).find(|it| *it == command).unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_knows_for_which_command_it_was_started() {
        let started = |own: &str| started_for("web", &[own.into(), "map".into()]);
        assert_eq!(started("millpond-map"), "map");
        assert_eq!(started("/x/millpond-history"), "history");
        assert_eq!(
            [started("/x/millpond-web"), started("millpond-redis"), started("")],
            ["web"; 3]
        );
        assert_eq!(started_for("web", &[]), "web");
        assert_eq!([program_of("map"), program_of("redis")], ["web", "redis"]);
    }

    #[test]
    fn every_shared_program_and_every_command_of_it_are_shipped() {
        let names: Vec<_> = shipped().iter().map(|it| it.get_name().to_owned()).collect();
        for name in SHARED.iter().flat_map(|(command, program)| [command, program]) {
            assert!(names.iter().any(|it| it == name), "{name}");
        }
    }

    #[test]
    fn the_definitions_are_sound() {
        shipped().into_iter().for_each(Command::debug_assert);
    }
}
