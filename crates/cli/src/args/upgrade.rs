//! `millpond upgrade`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArg;

/// Replace the running version; clients do not notice
///
/// The keeper checks the new program, the old daemon hands over, and a new daemon takes its place with
/// all memory. Clients repeat the requests that were not answered. If the new daemon does not serve,
/// the old version returns.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The keeper keeps running. When it ends, one of the new version replaces it.

Exits with 1 if the old version is back.

Examples:
  millpond upgrade                    after an update of the package
  millpond upgrade --program ./target/release/millpond")]
pub struct UpgradeArgs {
    /// The new program [default: the file that the keeper was started from]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}
