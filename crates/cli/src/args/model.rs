//! `millpond models`, `inspect`, `swap`, `rollback`, `retire` and `verify`.

use clap::Args;

use super::{JsonArg, Watch};
use crate::span::Span;

/// List models and their versions
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each line is a version. `*` marks the current one, which new readers get, and `<` the one that
`rollback` returns to. SIZE is the size of its tensors, OWN the memory that no other version shares,
SHARED the rest.

Examples:
  millpond models
  millpond models team/               only names with this prefix
  millpond models --watch             again every 2 seconds, in place
  millpond models -q                  only names, as in llama@v1
  millpond models --json | jq '.models[].current'")]
pub struct ModelsArgs {
    /// List only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    pub prefix: String,
    /// Show every column, and long cells whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
    #[command(flatten)]
    pub watch: Watch,
}

/// Show all about a version or a tensor, and who holds it
///
/// A name means the model's current version; `llama@v1` names another one. If there is no such model,
/// the name means a tensor, as in `millpond tensor inspect`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond inspect llama              the current version
  millpond inspect llama@v1 --tensors  with every tensor, its slab and its hash
  millpond inspect acts/x             a tensor
  millpond inspect '~1001/acts/x'     of another user
  millpond inspect llama --json")]
pub struct InspectAnyArgs {
    /// A model, a version as in `llama@v1`, or a tensor's name or UUID
    pub name: String,
    /// List the version's tensors too
    #[arg(long)]
    pub tensors: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Make another version of a model current
///
/// New readers get it from then on; programs that have the old version keep it until they refresh. The
/// old version is kept for a rollback.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond swap llama v2
  millpond swap llama@v2")]
pub struct SwapArgs {
    /// The model, or the version as in `llama@v2`
    pub model: String,
    /// The version
    pub version: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Return to the version that was current before
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond rollback llama")]
pub struct RollbackArgs {
    /// The model
    pub model: String,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Retire a version; its memory is freed with its last reader
///
/// The version takes no new readers. The current version can be retired only if it is the model's only
/// one and nobody reads it; otherwise swap to another one first. A version that is still being loaded
/// is given up at once.
#[derive(Debug, Args)]
#[command(after_long_help = "\
With `--wait` the command returns when the memory is free, or with exit code 17 when the time is over.
A number without a unit means seconds.

Examples:
  millpond retire llama v1
  millpond retire llama@v1 --wait
  millpond retire llama v1 --wait 30s")]
pub struct RetireArgs {
    /// The model, or the version as in `llama@v1`
    pub model: String,
    /// The version
    pub version: Option<String>,
    /// Wait for the last reader, at most this long
    #[arg(long, value_name = "TIME", num_args = 0..=1, value_parser = wait)]
    pub wait: Option<Option<Span>>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Compare a version's bytes on the GPU with what was loaded
///
/// The pond's mover reads and hashes every tensor again and compares the hash with the one from the
/// load. Exits with 1 and names the tensors that differ.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond verify llama
  millpond verify llama@v2 --json | jq -r .differing[]")]
pub struct VerifyArgs {
    /// The model, or the version as in `llama@v2`
    pub name: String,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Seconds, or a time with its unit.
fn wait(text: &str) -> Result<Span, String> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Span(std::time::Duration::from_secs(seconds.into()))),
        Err(_) => text.parse(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn retire(line: &str) -> Option<Option<Span>> {
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Retire(args) => args.wait,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_wait_has_an_end_or_none() {
        let seconds = |seconds| Some(Some(Span(Duration::from_secs(seconds))));
        assert_eq!(retire("millpond retire llama v1"), None);
        assert_eq!(retire("millpond retire llama@v1 --wait"), Some(None));
        assert_eq!(retire("millpond retire llama v1 --wait 30"), seconds(30));
        assert_eq!(retire("millpond retire llama v1 --wait 2m"), seconds(120));
    }
}
