//! Command lines of the companion programs that Millpond ships. They are defined here because both
//! sides need them: the companion parses, and `millpond` has them in its man pages and completions.

mod bench;
mod redis;

use clap::{Args, Command};

use crate::STYLES;
use crate::args::Global;

pub use bench::BenchArgs;
pub use redis::{PREFIX_VARIABLE, RedisArgs, RedisCommand, ServerArgs, URL_VARIABLE};

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

/// The companions as commands of `millpond`.
pub fn shipped() -> Vec<Command> {
    vec![
        BenchArgs::augment_args(Command::new("bench")),
        RedisArgs::augment_args(Command::new("redis")),
    ]
}
