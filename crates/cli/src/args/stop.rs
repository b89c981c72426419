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
