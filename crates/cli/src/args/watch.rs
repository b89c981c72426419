//! `millpond events` and `millpond gc`.

use clap::Args;

use super::JsonArg;
use crate::span::Span;

/// Show what has happened in the pond, and what happens
///
/// Prints the events that the pond has kept, one line each. With `--follow` it goes on, also when
/// the daemon is replaced; Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A line has the time, what happened, to which tensor, whose, and why. A line with `gap` says that
events before the next one are missing. With `--json` every line is an object; its `sequence` is
what `--from` takes.

Examples:
  millpond events
  millpond events --follow
  millpond events --follow --json | jq -r 'select(.kind == \"mover_lost\") | .text'")]
pub struct EventsArgs {
    /// Go on when those that were kept are printed
    #[arg(short, long)]
    pub follow: bool,
    /// Only from this sequence number on
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub from: Option<u64>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Give back memory that nobody uses
///
/// Slabs without tensors that are kept for their owner go back to the GPU. With a time, your own
/// tensors that nobody has leased for so long are deleted too.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond gc --dry-run
  millpond gc --unleased-for 1h")]
pub struct GcArgs {
    /// Also delete your tensors that nobody has leased for so long, as in `1h`
    #[arg(long, value_name = "TIME")]
    pub unleased_for: Option<Span>,
    /// Only say what would be given back
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
