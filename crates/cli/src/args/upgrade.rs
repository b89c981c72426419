//! `millpond upgrade`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArg;

/// Go on with another version of the program; clients do not notice
///
/// The keeper asks the program what it is, the daemon hands over, and a daemon of the program takes
/// its place with everything that is held. What clients have asked for in between, they ask again
/// by themselves. If the new one does not serve, the old one comes back.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The keeper stays as it is. It is replaced by one of the daemon's version when it ends.

Exits with 1 if the old version is back.

Examples:
  millpond upgrade                    after an update of the package
  millpond upgrade --program ./target/release/millpond")]
pub struct UpgradeArgs {
    /// The program [default: the file that the keeper was started from, as it is now]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}
