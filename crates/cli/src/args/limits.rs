//! `millpond run`, `millpond group …` and `millpond coverage`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use millpond_wire::GroupName;

use super::JsonArg;
use crate::size::Size;

/// Run a program under a limit of GPU memory
///
/// The program is not changed: a library that is loaded before its own counts what it takes, and
/// answers out of memory where the limit is. Inside, the limit is the size of the card. Processes
/// that the program starts count too. Exit code and signals are the program's own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Without `--group` the limit is for this program and what it starts. With it, for everything in the
group; a new one needs `--limit`, and one that is there keeps its own: `millpond group set` changes
it, also under running programs.

A pond is used if one answers. Without one the limit holds too, for this user's programs in the
same group, or with the same limit where no group is named; `--min` and `--weight` need a pond.

A program that is setuid or static is not limited: it does not load the library. That is said, and
refused with `--strict`. The page docs/limits.md lists everything that can escape.

Exits with 127 if there is no such program, with 126 if it cannot be executed, like a shell.

Examples:
  millpond run --limit 10G -- python train.py
  millpond run --limit 50% --device 0 -- ./serve --port 8000
  millpond run --limit 20G --group team-a -- bash
  millpond run --group team-a -- python eval.py")]
pub struct RunArgs {
    /// At most so much on each GPU, as in `10G`, `512M` or `50%` of the card
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub limit: Option<Size>,
    /// Who shares the limit [default: a group of its own, which ends with its last process]
    #[arg(short, long, value_name = "NAME")]
    pub group: Option<GroupName>,
    /// Only this GPU: its place in `millpond status`, or its UUID; the others are not seen
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// So much is kept free for the group, whatever others want
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub min: Option<Size>,
    /// Who gives way first where not everybody's limit fits: groups with a smaller number [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub weight: Option<u32>,
    /// Refuse a program that would escape the limit
    #[arg(long)]
    pub strict: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Groups of programs and their limits
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    #[command(visible_alias = "list")]
    Ls(GroupLsArgs),
    Set(GroupSetArgs),
    Rm(GroupRmArgs),
    Watch(GroupWatchArgs),
}

impl GroupCommand {
    /// Whether JSON is wanted.
    pub fn is_json(&self) -> bool {
        match self {
            GroupCommand::Ls(args) => args.json.json,
            GroupCommand::Set(args) => args.json.json,
            GroupCommand::Rm(_) => false,
            GroupCommand::Watch(args) => args.json.json,
        }
    }
}

/// List groups: their limits, what they use, who is in them
#[derive(Debug, Args)]
#[command(after_long_help = "\
LIMIT is what was set, EFFECTIVE what holds now: less where the card has no room for it because of
what others hold or were promised. USED is what the group's programs were given, with their
contexts; POND is what the pond holds for the group's users.

Examples:
  millpond group ls
  millpond group ls --json | jq '.groups[] | {name, devices}'")]
pub struct GroupLsArgs {
    /// Only these
    #[arg(value_name = "NAME")]
    pub names: Vec<GroupName>,
    /// Show names and GPUs whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Make a group, or change its limit; running programs notice at their next allocation
///
/// A larger limit can be used at once. A smaller one takes nothing away: programs that have more
/// than that keep it, are told that nothing is free, and get no more until they are below.
#[derive(Debug, Args)]
#[command(after_long_help = "\
What is not named stays as it is.

Examples:
  millpond group set team-a --limit 12G
  millpond group set team-a --min 2G --weight 2
  millpond group set team-a --limit none --device 1
  millpond group set team-a --user alice --user bob")]
pub struct GroupSetArgs {
    /// The group: letters, digits, `.`, `_` and `-`
    pub name: GroupName,
    /// At most so much on each GPU, as in `12G` or `50%`; `none` is no limit
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub limit: Option<LimitArg>,
    /// So much is kept free for the group, whatever others want; `0` is nothing
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub min: Option<MinArg>,
    /// Who gives way first where not everybody's limit fits: groups with a smaller number [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub weight: Option<u32>,
    /// Who may run programs in it, and whose memory in the pond counts for it: a name or a number;
    /// again for more. It replaces those of before; `none` is nobody
    #[arg(long = "user", value_name = "USER")]
    pub users: Vec<UserArg>,
    /// Only on this GPU: its place in `millpond status`, or its UUID [default: all]
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Remove groups that nobody is in
#[derive(Debug, Args)]
#[command(after_long_help = "\
A group with programs in it stays: end them first, `millpond ps --group NAME` shows them.

Examples:
  millpond group rm team-a")]
pub struct GroupRmArgs {
    /// The groups
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<GroupName>,
}

/// Print a line whenever something about a group changes, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_long_help = "\
A line has the time, the group, the GPU, what is used, the limit that holds and the one that was
set, and how many processes there are. Events of the group, such as a limit below what is used with
who holds most, come between. With `--json` every line is an object.

Examples:
  millpond group watch team-a
  millpond group watch --json | jq -r 'select(.kind == \"account\") | .used_bytes'")]
pub struct GroupWatchArgs {
    /// Only these [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<GroupName>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Show which functions of this driver are watched
///
/// Lists what the driver's library exports: what is hooked, what is let through because it takes no
/// memory of a GPU, what is watched on the card because no argument says how much it takes, and what
/// a driver newer than this program may have brought.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The library is the one that MILLPOND_DRIVER chooses, as for every command: the system's libcuda.so.1
unless said. Exits with 1 if an unknown function looks as if it could take memory.

Examples:
  millpond coverage
  millpond coverage --all
  millpond coverage --library /usr/lib/x86_64-linux-gnu/libcuda.so.1 --json")]
pub struct CoverageArgs {
    /// Another libcuda
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// Every function with its class, not only the unknown ones
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitArg {
    /// No limit.
    None,
    /// This one.
    Size(Size),
}

impl std::str::FromStr for LimitArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" | "unlimited" => Ok(Self::None),
            text if is_zero(text) => Err(format!("'{text}' lets nothing run; `none` is no limit")),
            text => text.parse().map(Self::Size),
        }
    }
}

/// A user, or nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserArg {
    /// Nobody.
    None,
    /// This one.
    Id(u32),
}

impl UserArg {
    /// The user, if there is one.
    pub fn id(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Id(user) => Some(user),
        }
    }
}

impl std::str::FromStr for UserArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            text => crate::users::id(text).map(Self::Id),
        }
    }
}

/// What is kept free, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinArg {
    /// Nothing.
    None,
    /// So much.
    Size(Size),
}

impl std::str::FromStr for MinArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            text if is_zero(text) => Ok(Self::None),
            text => text.parse().map(Self::Size),
        }
    }
}

/// Whether it is a size, and one of nothing.
fn is_zero(text: &str) -> bool {
    millpond_ledger::parse_size(text.as_bytes()) == Err(millpond_ledger::BadSize::Zero)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn run(words: &[&str]) -> Result<RunArgs, clap::Error> {
        match Cli::try_parse_from(["millpond", "run"].iter().chain(words))?.command {
            Command::Run(args) => Ok(*args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        let args = run(&["--limit", "10G", "--", "python", "-q", "--limit", "x"]).unwrap();
        assert_eq!(args.program, ["python", "-q", "--limit", "x"]);
        let args = run(&["-l", "10g", "-g", "team-a", "sh", "-c", "exit 3", "--json"]).unwrap();
        assert_eq!(args.program, ["sh", "-c", "exit 3", "--json"]);
        assert_eq!(args.group.map(|group| group.to_string()).as_deref(), Some("team-a"));
        let args = run(&["--", "--odd-name"]).unwrap();
        assert_eq!(args.program, ["--odd-name"]);
    }

    #[test]
    fn a_misspelt_flag_is_not_a_program() {
        assert!(run(&["--limt", "10G", "sh"]).is_err());
        assert!(run(&["--limit", "10G"]).is_err(), "no program");
        assert!(run(&["--limit", "10G", "--weight", "0", "sh"]).is_err());
    }

    #[test]
    fn no_limit_and_nothing_kept_are_words() {
        assert_eq!("none".parse(), Ok(LimitArg::None));
        for nothing in ["0", "0G", "0%", "none"] {
            assert_eq!(nothing.parse(), Ok(MinArg::None));
        }
        assert!("0".parse::<LimitArg>().unwrap_err().contains("`none` is no limit"));
        assert!("10G".parse::<MinArg>().is_ok());
        assert_eq!(("none".parse(), "7".parse()), (Ok(UserArg::None), Ok(UserArg::Id(7))));
        assert!("no such user".parse::<UserArg>().is_err());
    }
}
