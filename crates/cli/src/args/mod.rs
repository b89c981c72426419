//! The command line: one definition for `-h`, `--help`, man pages and completions.

mod bench;
mod demo;
#[cfg(test)]
mod docs;
mod hidden;
mod life;
mod limits;
mod model;
mod objects;
mod serve;
mod stop;
mod styles;
mod tensor;
mod transfer;
mod upgrade;
mod watch;
mod weights;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub use bench::BenchArgs;
pub use demo::DemoArgs;
pub use hidden::{DaemonArgs, JanitorArgs, WorkerArgs};
pub use life::LifeArgs;
pub use limits::{
    CoverageArgs, GroupCommand, GroupLsArgs, GroupRmArgs, GroupSetArgs, GroupWatchArgs, LimitArg,
    MinArg, RunArgs,
};
pub use model::{InspectAnyArgs, ModelsArgs, RetireArgs, RollbackArgs, SwapArgs, VerifyArgs};
pub use objects::{ConsentArgs, ListArgs, MoveArgs, RemoveArgs, Sort};
pub use serve::{LogArgs, ServeArgs};
pub use stop::{LogsArgs, StopArgs};
pub use tensor::{CreateArgs, InspectArgs, LsArgs, RmArgs, TensorCommand};
pub use transfer::{CopyArgs, Format, GetArgs, PutArgs, ZeroArgs};
pub use upgrade::UpgradeArgs;
pub use watch::{EventsArgs, GcArgs};
pub use weights::{LoadArgs, SaveArgs};

use millpond_wire::GroupName;

use crate::env_vars;

/// GPU memory that belongs to no process
///
/// Millpond keeps GPU memory outside the processes that use it: a tensor is loaded once, every
/// worker maps it in about a millisecond, and nothing is lost when anything dies. Without a GPU
/// it runs on its own software driver.
#[derive(Debug, Parser)]
#[command(
    name = "millpond",
    version,
    styles = styles::STYLES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Run `millpond demo` to see what it does, `millpond help <COMMAND>` for more.",
    after_long_help = "\
Examples:
  millpond demo                       see it work, with or without a GPU
  millpond serve                      start a pond and stay in the foreground
  millpond tensor create acts/x --dtype bf16 --shape 4096,4096
  millpond tensor put weights/w0 w0.npy
  millpond tensor ls                  what there is
  millpond load llama ./checkpoint    a model's weights, once for all programs
  millpond run --limit 10G -- python train.py
  millpond ps                         who holds what

See `millpond help exit-codes` and `millpond help environment`."
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The pond's folder
    ///
    /// Without it, `serve` takes `$XDG_RUNTIME_DIR/millpond` if the variable is set, else
    /// `/run/millpond` as root and `/dev/shm/millpond-UID/pond` as another user. Other commands take
    /// the first of the three that has a pond.
    #[arg(long, global = true, value_name = "DIR", env = env_vars::RUNTIME_DIR, hide_env_values = true, value_parser = path_or_nothing())]
    runtime_dir: Option<PathBuf>,
    /// Say more, on standard error; twice: everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Print only the bare answer: names in listings, no remarks
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
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

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(DemoArgs),
    Serve(Box<ServeArgs>),
    Stop(StopArgs),
    Logs(LogsArgs),
    Doctor(DoctorArgs),
    #[command(visible_alias = "list")]
    Ls(ListArgs),
    #[command(visible_aliases = ["delete", "unload"], alias = "remove")]
    Rm(RemoveArgs),
    #[command(visible_alias = "rename", alias = "move")]
    Mv(MoveArgs),
    #[command(subcommand)]
    Tensor(TensorCommand),
    Load(Box<LoadArgs>),
    Models(ModelsArgs),
    Inspect(InspectAnyArgs),
    Swap(SwapArgs),
    Rollback(RollbackArgs),
    Retire(RetireArgs),
    Verify(VerifyArgs),
    Save(SaveArgs),
    Run(Box<RunArgs>),
    #[command(subcommand)]
    Group(GroupCommand),
    Coverage(CoverageArgs),
    Ps(PsArgs),
    Status(StatusArgs),
    Upgrade(UpgradeArgs),
    Events(EventsArgs),
    Gc(GcArgs),
    Bench(BenchArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Version(VersionArgs),
    Help(HelpArgs),
    #[command(hide = true)]
    Daemon(DaemonArgs),
    #[command(hide = true)]
    Keeper(LogArgs),
    #[command(hide = true)]
    Mover(LogArgs),
    #[command(hide = true)]
    Opener(LogArgs),
    #[command(hide = true)]
    Worker(WorkerArgs),
    #[command(hide = true)]
    Echo,
    #[command(hide = true)]
    Janitor(JanitorArgs),
}

impl Command {
    /// Whether it starts a log of its own.
    pub fn logs_itself(&self) -> bool {
        matches!(
            self,
            Command::Serve(_)
                | Command::Daemon(_)
                | Command::Keeper(_)
                | Command::Mover(_)
                | Command::Opener(_)
        )
    }

    /// Whether JSON is wanted.
    pub fn is_json(&self) -> bool {
        match self {
            Command::Demo(args) => args.json.json,
            Command::Stop(args) => args.json.json,
            Command::Doctor(args) => args.json.json,
            Command::Ls(args) => args.json.json,
            Command::Rm(args) => args.json.json,
            Command::Mv(args) => args.json.json,
            Command::Tensor(command) => command.is_json(),
            Command::Load(args) => args.json.json,
            Command::Models(args) => args.json.json,
            Command::Inspect(args) => args.json.json,
            Command::Swap(args) => args.json.json,
            Command::Rollback(args) => args.json.json,
            Command::Retire(args) => args.json.json,
            Command::Verify(args) => args.json.json,
            Command::Save(args) => args.json.json,
            Command::Group(command) => command.is_json(),
            Command::Coverage(args) => args.json.json,
            Command::Ps(args) => args.json.json,
            Command::Status(args) => args.json.json,
            Command::Upgrade(args) => args.json.json,
            Command::Events(args) => args.json.json,
            Command::Gc(args) => args.json.json,
            Command::Bench(args) => args.json.json,
            Command::Version(args) => args.json.json,
            _ => false,
        }
    }
}

/// Check this machine: driver, GPUs, kernel, limits, folder
///
/// Each check says ok, warn or fail, what was found and what to do. Works without a GPU: then the
/// software driver will be used.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exits with 0 if a pond can run here, with 1 if something fails.

Examples:
  millpond doctor
  millpond doctor --json | jq '.checks[] | select(.verdict != \"ok\")'")]
pub struct DoctorArgs {
    #[command(flatten)]
    pub json: JsonArg,
}

/// List the programs that are connected and what they hold
///
/// With `--group` the processes of a group instead: what each was given, and what the card says.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A program that lives but has lost its connection is silent: it keeps what it holds. A mover is the
pond's own: it carries bytes between files and a GPU, and goes when it has nothing to do.

Of a group: CHARGED is what counts against the limit, CONTEXTS the part of it that contexts take,
SHARED what is mapped and charged to others, NVML what the card says that the process has, DRIFT
how much that is more than what it is charged with.

Examples:
  millpond ps
  millpond ps -q                      only process ids
  millpond ps --group team-a
  millpond ps --json")]
pub struct PsArgs {
    /// The processes of this group
    #[arg(short, long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[command(flatten)]
    pub json: JsonArg,
    /// Show long cells whole
    #[arg(long)]
    pub no_trunc: bool,
}

/// Show the pond: its daemon, its driver, its GPUs and their accounts
#[derive(Debug, Args)]
#[command(after_long_help = "\
Accounted and physical are two numbers: SLABS is what the pond has taken, GROUPS what programs with
a limit are charged with; USED is what the driver says about the whole card, and OTHERS what of it
belongs to nobody whom the pond knows.

Examples:
  millpond status
  millpond status --json | jq .devices[0].slab_bytes")]
pub struct StatusArgs {
    #[command(flatten)]
    pub json: JsonArg,
}

/// Print a completion script
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond completions bash > ~/.local/share/bash-completion/completions/millpond
  millpond completions zsh > ~/.zfunc/_millpond
  millpond completions fish > ~/.config/fish/completions/millpond.fish")]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print the man page, or write all of them into a folder
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond man | man -l -
  millpond man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Where to write one page for each command
    pub dir: Option<PathBuf>,
}

/// Print the version
#[derive(Debug, Args)]
pub struct VersionArgs {
    #[command(flatten)]
    pub json: JsonArg,
}

/// Print help for a command, or about `exit-codes` or `environment`
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// A command such as `tensor ls`, `exit-codes` or `environment`
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_anywhere() {
        for line in [["millpond", "-q", "ps"], ["millpond", "ps", "-q"]] {
            assert!(Cli::try_parse_from(line).unwrap().global.quiet);
        }
        let cli = Cli::try_parse_from(["millpond", "tensor", "ls", "--json", "acts/"]).unwrap();
        assert!(cli.command.is_json());
    }
}
