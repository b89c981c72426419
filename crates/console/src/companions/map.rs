//! `millpond map`.

use std::path::PathBuf;

use clap::Args;

use crate::args::JsonArg;

/// Draw what is on a GPU, to scale
///
/// Every byte of the card has one place: versions and tensors in the pond's slabs, room beside them,
/// programs of groups with their caches, other programs, free memory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A GPU is its index (`0` or `gpu0`) or its UUID; without one all GPUs are drawn. The largest 1,000 tensors
are drawn one by one, all others by owner and first component of the name.

Whoever may open `watch.sock` sees everything, and everybody else what is shared with them.

Examples:
  millpond map
  millpond map gpu0 -o memory.svg
  millpond map --json | jq '.cards[0].segments'
  millpond map gpu0 -o - > memory.svg")]
pub struct MapArgs {
    /// The GPU; all of them if none is named
    #[arg(value_name = "GPU")]
    pub gpu: Option<String>,
    /// Write a picture (SVG) to this file; `-` is standard output
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["json", "text"])]
    pub output: Option<PathBuf>,
    /// Print the map as text, which is the default
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// How many tensors are shown one by one
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub tensors: u32,
    #[command(flatten)]
    pub json: JsonArg,
}
