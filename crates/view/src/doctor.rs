//! What the doctor found.

use serde::Serialize;

/// `doctor`.
#[derive(Clone, Debug, Serialize)]
pub struct Doctor {
    /// Whether a pond can run here: no check says `fail`.
    pub ok: bool,
    /// Every check, in the order of the text.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub verdict: &'static str,
    /// What was found.
    pub found: String,
    /// What to do; `null` where there is nothing to do.
    pub advice: Option<String>,
}
