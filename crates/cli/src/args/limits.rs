//! `millpond run`, `millpond group …` and `millpond coverage`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use millpond_wire::GroupName;

use super::{JsonArg, Watch};
use crate::size::{Size, SizeError};

/// Run a program under a GPU memory limit
///
/// The program needs no change: a preloaded library counts what it allocates and answers "out of
/// memory" at the limit. The program sees the limit as the size of the card. Its child processes
/// count too. Exit code and signals are the program's own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Without `--group` the limit covers this program and its children; with it, everything in the group.
A new group needs `--limit`. An existing one keeps its limit; `millpond group set` changes it, even
while programs run.

The limit also holds without a pond: for your programs in the same group, or with the same limit if
no group is named. `--min` and `--weight` need a pond. A CUDA context alone takes about half a GiB.

Setuid and static programs do not load the library and escape the limit: `run` warns about them, and
`--strict` refuses them. The page docs/limits.md lists everything that can escape.

Like a shell, exits with 127 if the program does not exist and 126 if it cannot be executed.

Examples:
  millpond run --limit 10G -- python train.py
  millpond run --limit 50% --device 0 -- ./serve --port 8000
  millpond run --limit 20G --group team-a -- bash
  millpond run --group team-a -- python eval.py")]
pub struct RunArgs {
    /// Limit on each GPU, as in `2G`, `10G` or `50%` of the card
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub limit: Option<Size>,
    /// The group that shares the limit [default: one that ends with the program]
    #[arg(short, long, value_name = "NAME", value_parser = group_name)]
    pub group: Option<GroupName>,
    /// Show the program only this GPU: its index in `millpond status`, or its UUID
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Keep this much free for the group
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub min: Option<Size>,
    /// Groups with a smaller weight give way first when not all limits fit [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub weight: Option<u32>,
    /// Refuse a program that would escape the limit
    #[arg(long)]
    pub strict: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Manage groups of programs and their limits
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

/// List groups with their limits and what they use
#[derive(Debug, Args)]
#[command(after_long_help = "\
LIMIT is what was set. EFFECTIVE is what holds now: less, if other programs hold the memory or were
promised it. USED is what the group's programs have, including their contexts; POND is what the pond
holds for the group's users.

Examples:
  millpond group ls
  millpond group ls --json | jq '.groups[] | {name, devices}'")]
pub struct GroupLsArgs {
    /// List only these groups
    #[arg(value_name = "NAME", value_parser = group_name)]
    pub names: Vec<GroupName>,
    /// Show every column, and names and GPUs whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten)]
    pub watch: Watch,
}

/// Create a group, or change its limit, even while programs run
///
/// A change holds from the next allocation on. A smaller limit takes nothing away: programs that have
/// more keep it, and get no more until they are below the limit.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Options that are not given leave their settings as they are.

Examples:
  millpond group set team-a --limit 12G
  millpond group set team-a --min 2G --weight 2
  millpond group set team-a --limit none --device 1
  millpond group set team-a --user alice --user bob
  millpond group set serving --end-silent yes")]
pub struct GroupSetArgs {
    /// The group: letters, digits, `.`, `_` and `-`
    #[arg(value_parser = group_name)]
    pub name: GroupName,
    /// Limit on each GPU, as in `12G` or `50%`; `none` removes it
    #[arg(short, long, value_name = "SIZE", allow_hyphen_values = true)]
    pub limit: Option<LimitArg>,
    /// Keep this much free for the group; `0` for nothing
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub min: Option<MinArg>,
    /// Groups with a smaller weight give way first when not all limits fit [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub weight: Option<u32>,
    /// User who may run programs in the group and whose memory in the pond counts for it
    ///
    /// A name or a number; repeat the option for more users. The list replaces the earlier one;
    /// `none` empties it.
    #[arg(long = "user", value_name = "USER")]
    pub users: Vec<UserArg>,
    /// End a process that does not answer when pages are asked of it
    ///
    /// Pages are asked of the elastic caches of a group when another cache, a smaller limit or the pond
    /// needs the memory. A process that does not answer in time keeps its pages, unless this is `yes`.
    #[arg(long, value_name = "yes|no", hide_possible_values = true, value_parser = yes_or_no())]
    pub end_silent: Option<bool>,
    /// Only on this GPU: its index in `millpond status`, or its UUID [default: all]
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Remove groups without programs
#[derive(Debug, Args)]
#[command(after_long_help = "\
A group with programs is not removed. `millpond ps --group NAME` lists them.

Examples:
  millpond group rm team-a")]
pub struct GroupRmArgs {
    /// The groups
    #[arg(required = true, value_name = "NAME", value_parser = group_name)]
    pub names: Vec<GroupName>,
}

/// Print a line for every change of a group, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_long_help = "\
A line has the time, the group, the GPU, the memory in use, the effective limit and the one that was
set, and the number of processes. Events of the group appear between these lines. With `--json` every
line is an object.

Examples:
  millpond group watch team-a
  millpond group watch --json | jq -r 'select(.kind == \"account\") | .used_bytes'")]
pub struct GroupWatchArgs {
    /// Watch only these groups [default: all]
    #[arg(value_name = "NAME", value_parser = group_name)]
    pub names: Vec<GroupName>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Show which driver functions the limits cover
///
/// Lists the exports of the driver's library: those that are hooked, those that pass through because
/// they take no GPU memory, those that are watched on the card because no argument tells how much they
/// take, and those of a newer driver that this program does not know.
#[derive(Debug, Args)]
#[command(after_long_help = "\
MILLPOND_DRIVER chooses the library, as for every command; by default it is the system's
libcuda.so.1. Exits with 1 if an unknown function looks as if it could take memory.

Examples:
  millpond coverage
  millpond coverage --all
  millpond coverage --library /usr/lib/x86_64-linux-gnu/libcuda.so.1 --json")]
pub struct CoverageArgs {
    /// Look at this libcuda instead
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// List every function with its class, not only the unknown ones
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
            text => text.parse().map(Self::Size).map_err(|error: SizeError| error.to_string()),
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
            text => text.parse().map(Self::Size).map_err(|error: SizeError| error.to_string()),
        }
    }
}

/// A group as people write it: of another user as `~alice/NAME` or `~1000/NAME`.
pub(super) fn group_name(text: &str) -> Result<GroupName, String> {
    let owned = text.strip_prefix('~').and_then(|rest| rest.split_once('/'));
    let user = |user: &str| user.parse().ok().or_else(|| millpond_view::users::user_id(user));
    let name = match owned {
        Some((who, name)) => match user(who) {
            Some(user) => format!("~{user}/{name}"),
            None => return Err(format!("no user '{}' in /etc/passwd", who.escape_debug())),
        },
        None => text.to_owned(),
    };
    name.parse().map_err(|error: millpond_wire::GroupNameError| error.to_string())
}

fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|word| word == "yes")
}

/// Whether it is a size, and one of nothing.
fn is_zero(text: &str) -> bool {
    text.parse::<Size>().is_err_and(|error| error.why == millpond_ledger::BadSize::Zero)
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
    fn another_users_group_is_written_with_its_owner() {
        assert_eq!(group_name("team-a").unwrap().as_str(), "team-a");
        assert_eq!(group_name("~root/team-a").unwrap().as_str(), "~0/team-a");
        assert_eq!(group_name("~1000/team-a").unwrap().user(), Some(1000));
        assert!(group_name("~no such/team-a").unwrap_err().contains("no user"));
        assert!(group_name("~1000").is_err() && group_name("a/b").is_err());
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
    fn whether_silent_processes_are_ended_is_said_with_yes_or_no() {
        let set = |word: &str| {
            let line = ["millpond", "group", "set", "serving", "--end-silent", word];
            match Cli::try_parse_from(line)?.command {
                Command::Group(GroupCommand::Set(args)) => Ok(args.end_silent),
                other => panic!("{other:?}"),
            }
        };
        let said = |word: &str| set(word).map_err(|error: clap::Error| error.to_string());
        assert_eq!((said("yes"), said("no")), (Ok(Some(true)), Ok(Some(false))));
        assert!(said("true").unwrap_err().contains("[possible values: yes, no]"));
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
