//! What only Millpond itself starts.

use std::path::PathBuf;

use clap::Args;

use super::LogArgs;

/// The daemon of a keeper
#[derive(Debug, Args)]
pub struct DaemonArgs {
    #[command(flatten)]
    pub log: LogArgs,
    /// Print what this program is, and end
    #[arg(long)]
    pub check: bool,
}

/// A process of the demo: reads orders, one on a line, and answers each
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// What `ps` shows
    #[arg(long, default_value = "millpond worker")]
    pub label: String,
}

/// Waits until its standard input ends, then stops the pond in a folder and removes the folder
#[derive(Debug, Args)]
pub struct JanitorArgs {
    /// The temporary folder
    pub folder: PathBuf,
}
