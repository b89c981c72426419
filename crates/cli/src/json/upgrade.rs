//! A change of programs as JSON.

use serde::Serialize;

/// `upgrade`.
#[derive(Debug, Serialize)]
pub struct UpgradeJson {
    /// Version of the daemon before.
    pub from_version: String,
    /// Its epoch.
    pub from_epoch: u64,
    /// Version of the daemon now.
    pub version: String,
    /// Its epoch.
    pub epoch: u64,
    /// The file that it runs.
    pub program: String,
    /// The longest time without an answer, as this client saw it.
    pub longest_wait_ms: f64,
}
