//! `millpond bench`.

use std::path::PathBuf;

use clap::Args;

use crate::args::JsonArg;

/// Measure the pond against the raw limits of this machine
///
/// Every number comes with its limit, measured in the same run: a request with a bare socket between
/// two processes, an attach with the bare driver calls.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Starts its own ponds in temporary folders; `--pond` measures the running one instead. Exits with 0
even if a goal was missed: the numbers are the answer.

Examples:
  millpond bench
  millpond bench --quick --json
  millpond bench --svg bench.svg
  millpond bench --only '^(attach|get)/'
  millpond bench --pond --runtime-dir /run/millpond")]
pub struct BenchArgs {
    /// Run fewer rounds, with fewer tensors and clients
    #[arg(long)]
    pub quick: bool,
    /// Run only benchmarks whose names match this regular expression
    #[arg(long, value_name = "REGEX")]
    pub only: Option<String>,
    /// Also draw the numbers to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure the running pond; nothing is killed
    #[arg(long)]
    pub pond: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
