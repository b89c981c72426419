//! The end of a pond as JSON.

use serde::Serialize;

/// `stop`.
#[derive(Debug, Serialize)]
pub struct StopJson {
    /// The pond's folder.
    pub runtime_dir: String,
    /// The keeper that has ended.
    pub keeper_pid: u32,
    /// How long it took.
    pub seconds: f64,
}
