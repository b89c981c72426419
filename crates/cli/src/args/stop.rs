//! `millpond stop` and `millpond logs`.

use clap::Args;

use super::JsonArg;
use crate::span::Span;

/// Stop the pond and give its memory back
///
/// Asks the pond to stop, as Ctrl-C in the terminal of `millpond serve` does, and waits until it has
/// ended. Tensors and models are gone afterwards. Running transfers get `drain_seconds` to finish.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Only the user who runs the pond and root can stop it. A pond that systemd runs is stopped with
`systemctl stop millpond`. To stop without waiting for running transfers, run `millpond stop` again.

Examples:
  millpond stop
  millpond stop --runtime-dir /tmp/pond --timeout 5m")]
pub struct StopArgs {
    /// How long to wait for the end, as in `90s`
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub timeout: Span,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Show the log of a pond
///
/// Prints the log file of the pond in the runtime folder, or of the last one there. With `--follow`
/// it goes on until Ctrl-C, also when the file is rotated.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A pond that was started with `--detach` or `--log-file` has a log file. Any other pond logs to its
standard error; then this command says where that leads.

Examples:
  millpond logs -n 20
  millpond logs -f")]
pub struct LogsArgs {
    /// Keep printing as the log grows
    #[arg(short, long)]
    pub follow: bool,
    /// Print only the last N lines
    #[arg(short = 'n', long, value_name = "N")]
    pub lines: Option<u64>,
}
