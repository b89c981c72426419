//! `millpond elastic …`.

use clap::{Args, Subcommand};
use millpond_wire::GroupName;

use super::JsonArg;
use super::limits::group_name;

/// Show elastic caches and what they hold
#[derive(Debug, Subcommand)]
pub enum ElasticCommand {
    #[command(visible_alias = "list")]
    Ls(ElasticLsArgs),
    Inspect(ElasticInspectArgs),
}

impl ElasticCommand {
    /// Whether JSON is wanted.
    pub fn is_json(&self) -> bool {
        match self {
            ElasticCommand::Ls(args) => args.json.json,
            ElasticCommand::Inspect(args) => args.json.json,
        }
    }
}

/// List elastic caches with what they reserve and what they hold
///
/// A cache is a range of addresses in one process; its pages come and go, and its group pays for
/// them. Lists the caches of the groups that you may use.
#[derive(Debug, Args)]
#[command(after_long_help = "\
RESERVED is addresses and costs nothing. COMMITTED is pages in use, IDLE pages that the cache can give
back at once; both count against the limit of the group. MIN is what other caches leave it. WEIGHT is
its share of what is above every MIN. WAITS is what a commit waits for.

Examples:
  millpond elastic ls
  millpond elastic ls --group serving
  millpond elastic ls --json | jq '.caches[] | {name, pid, held_bytes}'")]
pub struct ElasticLsArgs {
    /// List only the caches of this group
    #[arg(short, long, value_name = "NAME", value_parser = group_name)]
    pub group: Option<GroupName>,
    /// Show every column, and names and GPUs whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Show everything about an elastic cache
#[derive(Debug, Args)]
#[command(after_long_help = "\
Two processes may have caches of the same name: `--group`, or the identity, says which one is meant.

Examples:
  millpond elastic inspect llama-7b/kv
  millpond elastic inspect llama-7b/kv --group serving --json")]
pub struct ElasticInspectArgs {
    /// The cache: its name, its identity, or at least four first digits of that
    #[arg(value_name = "NAME|ID")]
    pub cache: String,
    /// Look only in this group
    #[arg(short, long, value_name = "NAME", value_parser = group_name)]
    pub group: Option<GroupName>,
    #[command(flatten)]
    pub json: JsonArg,
}
