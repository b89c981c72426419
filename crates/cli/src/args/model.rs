//! `millpond models`, `inspect`, `swap`, `rollback`, `retire` and `verify`.

use clap::Args;

use super::JsonArg;
use crate::span::Span;

/// List models and their versions
#[derive(Debug, Args)]
#[command(after_long_help = "\
Each line is a version. `*` marks the current one, which readers get, and `<` the one that a
rollback leads to. SIZE is what its tensors take; OWN is the memory of its slabs that no other
version has, SHARED the rest.

Examples:
  millpond models
  millpond models team/               only names that begin so
  millpond models -q                  only names, as in llama@v1
  millpond models --json | jq '.models[].current'")]
pub struct ModelsArgs {
    /// Only names that begin so
    #[arg(default_value = "", hide_default_value = true)]
    pub prefix: String,
    /// Show long cells whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Show everything about a model's version, or about a tensor, and who holds it
///
/// A name means the model's current version, or with `@` the version of that tag. Where there is no
/// such model it means the tensor, as in `millpond tensor inspect`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond inspect llama              the current version
  millpond inspect llama@v1 --tensors  with every tensor, its place and its hash
  millpond inspect acts/x             a tensor
  millpond inspect '~1001/acts/x'     of another user
  millpond inspect llama --json")]
pub struct InspectAnyArgs {
    /// A model, a version as in `llama@v1`, a tensor's name or identity, or its first digits
    pub name: String,
    /// Also list the version's tensors
    #[arg(long)]
    pub tensors: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Make another version of a model the current one
///
/// It takes one step: whoever attaches from then on gets it, and whoever has the old one keeps it
/// until it refreshes. The old one is kept for a rollback.
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

/// Make the version that was current before the current one again
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

/// Give up a version: no new readers, and its memory goes with the last one
///
/// Of the current version only if it is the model's only one and nobody reads it; otherwise swap to
/// another one first. A version that is still being loaded is given up at once.
#[derive(Debug, Args)]
#[command(after_long_help = "\
With `--wait` the command ends when the memory is back, or with exit code 17 when the time is over
before. A number without a unit means seconds.

Examples:
  millpond retire llama v1
  millpond retire llama@v1 --wait
  millpond retire llama v1 --wait 30s")]
pub struct RetireArgs {
    /// The model, or the version as in `llama@v1`
    pub model: String,
    /// The version
    pub version: Option<String>,
    /// Wait until the last reader has gone, at most so long
    #[arg(long, value_name = "TIME", num_args = 0..=1, value_parser = wait)]
    pub wait: Option<Option<Span>>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Hash a version's bytes on the GPU and compare them with what was loaded
///
/// Every tensor is read back and hashed by the pond's mover, and compared with the hash that it got
/// when it was loaded. Exits with 1 if one differs, and names it.
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
