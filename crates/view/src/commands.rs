//! Commands that act on the pond as a whole.

use serde::Serialize;

/// `version`.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The program's version.
    pub version: &'static str,
    /// The version of the protocol that it speaks.
    pub protocol: u16,
}

/// `stop`.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// The pond's folder.
    pub runtime_dir: String,
    /// The keeper that has ended.
    pub keeper_pid: u32,
    /// How long it took.
    pub seconds: f64,
}

/// `upgrade`.
#[derive(Clone, Debug, Serialize)]
pub struct Upgraded {
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
