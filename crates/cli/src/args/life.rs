//! How long a tensor lives.

use clap::Args;
use millpond::Life;

use crate::span::Span;

/// How long a tensor lives, beside being deleted.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Life")]
pub struct LifeArgs {
    /// Delete it this long after creation, as in `90s`, `10m`, `1h30m`
    ///
    /// A deleted tensor takes no new readers; programs that hold it keep it.
    #[arg(long, value_name = "TIME")]
    ttl: Option<Span>,
    /// Delete it this long after its last lease has ended
    #[arg(long, value_name = "TIME")]
    linger: Option<Span>,
    /// Delete it after this many gets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_accesses: Option<u64>,
}

impl LifeArgs {
    /// The flags that were given.
    pub fn said(self) -> Vec<&'static str> {
        let given = [
            ("--ttl", self.ttl.is_some()),
            ("--linger", self.linger.is_some()),
            ("--max-accesses", self.max_accesses.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect()
    }

    /// As it travels.
    pub fn life(self) -> Life {
        Life {
            ttl_ms: self.ttl.map(Span::ms),
            linger_ms: self.linger.map(Span::ms),
            accesses: self.max_accesses,
        }
    }
}
