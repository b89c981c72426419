//! `millpond events` and `millpond gc`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use millpond::EventKind;
use millpond_wire::TensorName;

use super::JsonArg;
use crate::span::Span;

/// Show what has happened in the pond
///
/// Prints the events that the pond has kept, one line each, in local time. With `--follow` it
/// continues with new ones, also when the daemon is replaced, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A line has the time, the kind, the tensor, model or group, its user, and the reason. A `gap` says
that events before the next one are missing; it passes every filter. With `--json` every line is an
object; its `sequence` is what `--from` takes, and `unix_ms` counts from 1970 in UTC.

A program appears when it first holds something. Commands that only look make no events.

Examples:
  millpond events
  millpond events --follow
  millpond events --kind tensor_created,tensor_deleted
  millpond events --model llama       loads, swaps and ends of its versions
  millpond events --follow --json | jq -r 'select(.kind == \"mover_lost\") | .text'")]
pub struct EventsArgs {
    /// Continue with new events
    #[arg(short, long)]
    pub follow: bool,
    /// Begin at this sequence number
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub from: Option<u64>,
    /// Show only these kinds; a wrong one lists them all
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', hide_possible_values = true, value_parser = kinds())]
    pub kind: Vec<EventKind>,
    /// Show only events of this model
    #[arg(long, value_name = "NAME")]
    pub model: Option<TensorName>,
    /// Show long lines and identities whole
    #[arg(long)]
    pub no_trunc: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Free memory that nobody uses
///
/// Returns empty slabs, which are kept for their owner, to the GPU. With `--unleased-for`, deletes your
/// own tensors that nobody has leased for that long first.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  millpond gc --dry-run
  millpond gc --unleased-for 1h")]
pub struct GcArgs {
    /// Also delete your tensors that nobody has leased for this long, as in `1h`
    #[arg(long, value_name = "TIME")]
    pub unleased_for: Option<Span>,
    /// Print what would be freed, and free nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// The kinds by their names, from the one list of them.
fn kinds() -> impl TypedValueParser<Value = EventKind> {
    let names = EventKind::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<EventKind>())
}
