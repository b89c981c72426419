//! Flags of every command.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use millpond_wire::runtime_dir;

/// What holds for every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The pond's folder
    ///
    /// Without it, `serve` takes `$XDG_RUNTIME_DIR/millpond` if the variable is set, else
    /// `/run/millpond` as root and `/dev/shm/millpond-UID/pond` as another user. Other commands take
    /// the first of the three that has a pond.
    #[arg(long, global = true, value_name = "DIR", env = runtime_dir::ENVIRONMENT, hide_env_values = true, hide_long_help = true, value_parser = path_or_nothing())]
    runtime_dir: Option<PathBuf>,
    /// More output; `-vv` for everything
    #[arg(short, long, global = true, hide_long_help = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Only the bare answer: names in listings
    #[arg(short, long, global = true, hide_long_help = true)]
    pub quiet: bool,
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_long_help = true,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub color: ColorChoice,
}

impl Global {
    /// The folder that was named.
    pub fn runtime_dir(&self) -> Option<PathBuf> {
        named(self.runtime_dir.as_ref())
    }
}

/// A path that may be empty, because a variable that is set to nothing must not be an error.
pub fn path_or_nothing() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The path that was named; a variable that is set to nothing names none.
pub fn named(path: Option<&PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty()).cloned()
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// For commands that read.
#[derive(Clone, Copy, Debug, Args)]
pub struct JsonArg {
    /// Print JSON; bytes are integers, errors are JSON on standard error
    #[arg(long)]
    pub json: bool,
}
