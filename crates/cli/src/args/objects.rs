//! `millpond ls`, `rm` and `mv`: models and tensors alike.

use clap::{Args, ValueEnum};
use millpond_wire::TensorName;

use super::JsonArg;

/// List everything: models with their versions, and tensors
#[derive(Debug, Args)]
#[command(after_long_help = "\
A pattern is the beginning of names, or has `*`, `?` or `[a-z]`. USERS counts the leases of programs.
The last line has the totals; slabs that two versions share count for both.

Examples:
  millpond ls
  millpond ls acts/                   names with this prefix
  millpond ls 'llama*'                names that match
  millpond ls --sort size             largest first
  millpond ls -q                      only names, as `rm` takes them
  millpond ls --all-nodes             of all machines that share a Redis
  millpond ls --json | jq -r '.objects[] | select(.users == 0).name'")]
pub struct ListArgs {
    /// Only names with this prefix, or that match this pattern
    #[arg(default_value = "", hide_default_value = true, value_name = "PATTERN")]
    pub pattern: String,
    /// Order of the lines
    #[arg(long, value_name = "BY", value_enum, default_value_t)]
    pub sort: Sort,
    /// Also show deleted tensors that programs still hold
    #[arg(short, long)]
    pub all: bool,
    /// List the tensors of all machines that share the Redis of `MILLPOND_REDIS_URL`
    #[arg(long, conflicts_with_all = ["pattern", "sort", "all", "no_trunc"])]
    pub all_nodes: bool,
    /// Show long cells whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Order of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By name
    #[default]
    Name,
    /// Largest first
    Size,
    /// Newest first
    Age,
}

/// Remove models, versions and tensors
///
/// Nobody gets a removed object any more. Its memory comes back when the last program that holds it
/// lets go.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A name is a tensor, a version (`llama@v1`), or a model with all of its versions. A prefix ends in
`/`; a pattern has `*`, `?` or `[a-z]`. Where a model and a tensor have the same name, write
`model:NAME` or `tensor:NAME`. Prefixes and patterns mean only what is yours.

Where a name means more than one object, it asks first. Without a terminal it then needs `--yes`.

Examples:
  millpond rm llama                   the model with all versions
  millpond rm llama@v1                one version
  millpond rm acts/x acts/y
  millpond rm acts/ --dry-run         show what would go
  millpond rm 'acts/*' --yes
  millpond rm acts/x --unused         not while a program has it
  millpond rm model:net               where a tensor is called `net` too")]
pub struct RemoveArgs {
    /// Names, prefixes that end in `/`, or patterns such as `'acts/*'`
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub consent: ConsentArgs,
    #[command(flatten)]
    pub json: JsonArg,
}

/// What is done before many objects are removed.
#[derive(Clone, Copy, Debug, Args)]
pub struct ConsentArgs {
    /// Remove without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Only show what would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Only what nobody uses: refuse tensors that a program has a lease or a hold on
    #[arg(long)]
    pub unused: bool,
}

/// Rename a tensor or a model
///
/// Programs that hold it keep it; the old name is no longer found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A model keeps its versions, its current one and its readers. A name that is taken is refused with
exit code 4. Where a model and a tensor have the old name, write `model:NAME` or `tensor:NAME`.

Examples:
  millpond mv acts/x acts/old
  millpond mv llama llama-3
  millpond mv tensor:net net-weights")]
pub struct MoveArgs {
    /// The name that it has
    #[arg(value_name = "OLD")]
    pub from: String,
    /// The name that it gets
    #[arg(value_name = "NEW")]
    pub to: TensorName,
    #[command(flatten)]
    pub json: JsonArg,
}
