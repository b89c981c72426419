//! The command line: one definition for `-h`, `--help`, man pages and completions.

mod again;
mod demo;
#[cfg(test)]
mod docs;
mod elastic;
mod groups;
mod hidden;
mod layout;
mod life;
mod limits;
mod model;
mod objects;
mod serve;
#[cfg(test)]
mod sizes;
mod stop;
mod tensor;
mod transfer;
mod upgrade;
mod watch;
mod weights;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use again::Watch;
pub use demo::DemoArgs;
pub use elastic::{ElasticCommand, ElasticInspectArgs, ElasticLsArgs};
pub use hidden::{DaemonArgs, JanitorArgs, WorkerArgs};
pub use layout::{command, companions, definition, parse};
pub use life::LifeArgs;
pub use limits::{
    CoverageArgs, GroupCommand, GroupLsArgs, GroupRmArgs, GroupSetArgs, GroupWatchArgs, LimitArg,
    MinArg, RunArgs,
};
pub use model::{InspectAnyArgs, ModelsArgs, RetireArgs, RollbackArgs, SwapArgs, VerifyArgs};
pub use objects::{ConsentArgs, ListArgs, MoveArgs, RemoveArgs, Sort};
pub use serve::{LogArgs, ServeArgs};
pub use stop::{LogsArgs, StopArgs};
pub use tensor::{CreateArgs, HandleArgs, InspectArgs, LsArgs, RmArgs, TensorCommand};
pub use transfer::{CopyArgs, Format, GetArgs, PutArgs, ZeroArgs};
pub use upgrade::UpgradeArgs;
pub use watch::{EventsArgs, GcArgs};
pub use weights::{LoadArgs, SaveArgs};

pub use millpond_console::args::{Global, JsonArg, named, path_or_nothing};
use millpond_wire::GroupName;

/// GPU memory that belongs to no process
///
/// Millpond keeps GPU memory outside the processes that use it: a tensor is loaded once, every
/// worker maps it in about a millisecond, and nothing is lost when anything dies. Without a GPU
/// it runs on its own software driver.
#[derive(Debug, Parser)]
#[command(
    name = "millpond",
    version,
    styles = millpond_console::STYLES,
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
  millpond tensor ls                  list the tensors
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
    #[command(subcommand)]
    Elastic(ElasticCommand),
    Coverage(CoverageArgs),
    Ps(PsArgs),
    Status(StatusArgs),
    Upgrade(UpgradeArgs),
    Events(EventsArgs),
    Gc(GcArgs),
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
    Host(LogArgs),
    #[command(hide = true)]
    Opener(LogArgs),
    #[command(hide = true)]
    Worker(WorkerArgs),
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
                | Command::Host(_)
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
            Command::Elastic(command) => command.is_json(),
            Command::Coverage(args) => args.json.json,
            Command::Ps(args) => args.json.json,
            Command::Status(args) => args.json.json,
            Command::Upgrade(args) => args.json.json,
            Command::Events(args) => args.json.json,
            Command::Gc(args) => args.json.json,
            Command::Version(args) => args.json.json,
            _ => false,
        }
    }
}

/// Check this machine: driver, GPUs, kernel, limits, folder
///
/// Each check says ok, warn or fail, what was found and what to do. Works without a GPU, with the
/// software driver.
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

/// List programs and what they hold
///
/// One line for each process. With `--group`, lists the processes of a group and what they are
/// charged with instead.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A program that is alive but has no connection is `silent`; it keeps what it holds. A `mover` belongs
to the pond: it copies bytes between files and a GPU, and ends when it has nothing to do.

With `--group`: CHARGED counts against the limit, CONTEXTS is the part of it that CUDA contexts take,
SHARED is mapped here and charged to others, NVML is what the card reports for the process, and DRIFT
is NVML less CHARGED. A line with a CACHE counts the pages of that elastic cache and nothing else; IDLE
is the part of them that the cache can give back at once.

Examples:
  millpond ps
  millpond ps -q                      only process ids
  millpond ps --watch 1               again every second, in place
  millpond ps --group team-a
  millpond ps --json")]
pub struct PsArgs {
    /// List the processes of this group
    #[arg(short, long, value_name = "NAME", value_parser = limits::group_name)]
    pub group: Option<GroupName>,
    #[command(flatten)]
    pub json: JsonArg,
    /// Show every column, and long cells whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub watch: Watch,
}

/// Show the pond, its GPUs and their memory
#[derive(Debug, Args)]
#[command(after_long_help = "\
SLABS is what the pond has taken, TENSORS what is in use of it. GROUPS is what programs with a limit
are charged with. USED is what the driver reports for the whole card, and OTHERS the part of it that
belongs to neither; it is measured only while there are groups.

Examples:
  millpond status
  millpond status --watch             again every 2 seconds, in place
  millpond status --json | jq .devices[0].slab_bytes
  millpond status --json --watch 10   a line of JSON every 10 seconds
  millpond status --users             what you have of everything that has a limit; root sees everybody")]
pub struct StatusArgs {
    /// Show what users have of everything that has a limit
    #[arg(long)]
    pub users: bool,
    #[command(flatten)]
    pub json: JsonArg,
    /// Show every column, and long cells whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub watch: Watch,
}

/// Print a completion script
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond completions bash > ~/.local/share/bash-completion/completions/millpond
  millpond completions zsh > ~/.zfunc/_millpond
  millpond completions fish > ~/.config/fish/completions/millpond.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print the man page, or write all pages to a folder
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond man | man -l -
  millpond man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for one page per command
    pub dir: Option<PathBuf>,
}

/// Print the version
#[derive(Debug, Args)]
pub struct VersionArgs {
    #[command(flatten)]
    pub json: JsonArg,
}

/// Print help for a command, or on `exit-codes` or `environment`
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
