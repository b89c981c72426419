//! `millpond bench`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArg;

/// Measure the pond beside the raw limits of this machine
///
/// Every number stands beside its limit, measured in the same run: the request beside a bare
/// socket between two processes, the attach beside the bare driver calls.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Starts ponds of its own in temporary folders, unless `--pond` says to measure the one that is
there. Exits with 0 also where a goal was missed: the numbers are the answer.

Examples:
  millpond bench
  millpond bench --quick --json
  millpond bench --svg bench.svg
  millpond bench --only '^(attach|get)/'
  millpond bench --pond --runtime-dir /run/millpond")]
pub struct BenchArgs {
    /// Fewer rounds, and fewer tensors and clients where there are many
    #[arg(long)]
    pub quick: bool,
    /// Only rows whose name has a match of this regular expression
    #[arg(long, value_name = "REGEX")]
    pub only: Option<String>,
    /// Draw the numbers into this file as well
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure the pond that is there; nothing is killed then
    #[arg(long)]
    pub pond: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
