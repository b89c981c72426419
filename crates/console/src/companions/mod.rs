//! Command lines of the companion programs that Millpond ships. They are defined here because both
//! sides need them: the companion parses, and `millpond` has them in its man pages and completions.

mod bench;
mod redis;
mod top;

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches};

use crate::STYLES;
use crate::args::Global;
use crate::layout;

pub use bench::BenchArgs;
pub use redis::{PREFIX_VARIABLE, RedisArgs, RedisCommand, ServerArgs, URL_VARIABLE};
pub use top::TopArgs;

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
        RedisArgs::augment_args(Command::new("redis")),
        TopArgs::augment_args(Command::new("top")),
    ]
}
