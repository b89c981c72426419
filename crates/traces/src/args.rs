//! The command line.

use crate::arrivals::Pattern;
use crate::way::Way;
use clap::{Args, Parser, Subcommand, ValueEnum};
use millpond_console::args::Global;
use millpond_view::size::ByteSize;
use std::path::PathBuf;

/// What elastic caches are worth: traces of requests to several models, played with memory divided in
/// different ways
#[derive(Debug, Parser)]
#[command(name = "millpond-traces", styles = millpond_console::STYLES, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play traces on a modelled card, without a GPU
    ///
    /// Each trace is played with two static splits of the memory, with elastic caches (the real code, on
    /// a card whose calls cost what they cost on an H200; also with pages made ahead, and with all layers
    /// of a block side by side), and with an ideal budget whose blocks cost nothing.
    ///
    /// A refused request counts with the ten seconds that it waited at most. Equal arguments give equal
    /// results on every machine.
    #[command(after_long_help = "\
Examples:
  millpond-traces simulate
  millpond-traces simulate --models 4 --load 40,50,60 --seeds 3
  millpond-traces simulate --json worth.json --svg worth.svg
  millpond-traces simulate --trace mine.jsonl")]
    Simulate(SimulateArgs),
    /// Play one trace with real memory, in real time
    ///
    /// Elastic caches of a pond, one for each model, in the budget of one group; beside them static splits
    /// with the same caches. Nothing is computed: speeds of models are those of the trace.
    ///
    /// Starts a pond of its own in a temporary folder; `--pond` uses the running one. About two minutes.
    #[command(after_long_help = "\
Examples:
  millpond-traces replay --json traces.json --svg traces.svg
  millpond-traces replay --limit 16G --models 2 --load 60
  MILLPOND_DRIVER=soft millpond-traces replay --limit 256M --shrink 16 --speed 20")]
    Replay(ReplayArgs),
    /// Print a trace as JSON lines
    ///
    /// A line for each model, then a line for each request. `simulate --trace` and `replay --trace` read
    /// such lines, from whomever they are.
    #[command(after_long_help = "\
Examples:
  millpond-traces make --models 4 --load 50 --seed 1 >trace.jsonl")]
    Make(MakeArgs),
    /// Show the numbers of a file again
    ///
    /// The file is what `--json` of a simulation or a replay has written.
    #[command(after_long_help = "\
Examples:
  millpond-traces show worth.json --markdown
  millpond-traces show traces.json --svg traces.svg")]
    Show(ShowArgs),
    /// Cleans up after a replay
    #[command(hide = true)]
    Janitor {
        /// What is removed.
        folder: PathBuf,
    },
}

/// What is simulated.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Numbers of models, 1 to 8
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8])]
    pub models: Vec<usize>,
    /// Loads: what requests would hold if none had to wait, in percent of the memory for blocks
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = [10, 25, 40, 50, 60, 80, 100], value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load: Vec<u64>,
    /// How requests come
    #[arg(long, value_delimiter = ',', default_value = "bursty")]
    pub pattern: Vec<Pattern>,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How many seeds from there on; their mean is shown
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Length of each trace
    #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Play this trace instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["models", "load", "pattern", "seed", "seeds", "seconds"])]
    pub trace: Option<PathBuf>,
    /// Also write the numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also draw them to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print a table for a page instead of one for a terminal
    #[arg(long)]
    pub markdown: bool,
}

/// What is replayed.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// How many models, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub models: usize,
    /// The load, in percent of the limit
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load: u64,
    /// How requests come
    #[arg(long, default_value = "bursty")]
    pub pattern: Pattern,
    /// The seed of the trace
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Length of the trace, before it is sped up
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// Play it so many times as fast
    #[arg(long, value_name = "TIMES", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub speed: u64,
    /// Leave models a part of their layers, so that everything takes less memory
    #[arg(long, value_name = "PART", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub shrink: u64,
    /// Memory for all blocks together
    #[arg(long, value_name = "SIZE", default_value = "64G")]
    pub limit: ByteSize,
    /// How memory is divided, one after the other
    #[arg(long, value_delimiter = ',', default_value = "static-equal,static-by-load,elastic")]
    pub ways: Vec<Way>,
    /// Play this trace instead; `--speed` and `--shrink` hold for it too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["models", "load", "pattern", "seed", "seconds"])]
    pub trace: Option<PathBuf>,
    /// Use the running pond
    #[arg(long)]
    pub pond: bool,
    /// The GPU of a pond of its own, by its number
    #[arg(long, value_name = "GPU", default_value = "0", conflicts_with = "pond")]
    pub device: String,
    /// Also write the numbers to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also draw who held what to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// What is shown again.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The numbers
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also draw them to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print a table for a page instead of one for a terminal
    #[arg(long)]
    pub markdown: bool,
}

/// What is made.
#[derive(Debug, Args)]
pub struct MakeArgs {
    /// How many models, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub models: usize,
    /// The load, in percent of the memory for blocks
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub load: u64,
    /// How requests come
    #[arg(long, default_value = "bursty")]
    pub pattern: Pattern,
    /// The seed of the trace
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Its length
    #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
}

impl ValueEnum for Pattern {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bursty, Self::Steady]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(match self {
            Self::Bursty => clap::builder::PossibleValue::new("bursty")
                .help("In bursts; the second model is asked half as much as the first"),
            Self::Steady => clap::builder::PossibleValue::new("steady")
                .help("All models are equally busy all the time"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
