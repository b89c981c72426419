//! `millpond bench`.

use clap::Args;

use super::JsonArg;
use crate::units::ByteSize;

/// Measure the pond beside the raw limits of this machine
///
/// Every number stands beside its limit, measured in the same run: the request beside a bare
/// socket between two processes, the attach beside the bare driver calls.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Starts a pond of its own in a temporary folder, unless `--attach-to` names one. Exits with 0 also
where a goal was missed: the numbers are the answer.

Examples:
  millpond bench
  millpond bench --quick --json
  millpond bench --attach-to /run/millpond")]
pub struct BenchArgs {
    /// Fewer rounds
    #[arg(long)]
    pub quick: bool,
    /// Bytes of the tensor that is attached [default: 15 GB on a GPU where it fits, else 256M]
    #[arg(long, value_name = "BYTES")]
    pub size: Option<ByteSize>,
    /// Measure the pond in this folder; nothing is killed then
    #[arg(long, value_name = "DIR")]
    pub attach_to: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}
