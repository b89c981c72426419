//! `millpond demo`.

use clap::Args;

use super::JsonArg;
use crate::size::ByteSize;

/// Show what Millpond does, with or without a GPU
///
/// Starts a pond in a temporary folder, puts tensors into it, lets worker processes map them, kills a
/// worker, the daemon and the keeper with `kill -9`, and measures each time that no byte is lost, none
/// is leaked and the others carry on. It disturbs no other pond and leaves nothing behind.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exits with 0 if every claim was true, otherwise with 1.

Examples:
  millpond demo
  millpond demo --workers 8 --size 16G
  millpond demo --json | jq '{copies, lost_bytes, leaked_bytes}'
  MILLPOND_DRIVER=soft millpond demo  on the software driver, even with a GPU")]
pub struct DemoArgs {
    /// Number of worker processes, 2 to 64
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=64))]
    pub workers: u8,
    /// Size of all tensors together [default: 4G on a GPU, 256M on the software driver]
    #[arg(long, value_name = "BYTES")]
    pub size: Option<ByteSize>,
    /// Leave the pond and its tensors running at the end
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub json: JsonArg,
}
