//! What `-vv` shows.

use tracing_subscriber::EnvFilter;

use crate::error::{Outcome, failed};

/// What a command logs that is to say everything.
const FILTER: &str = "warn,millpond=debug";

/// Has a command say everything that it does, on standard error.
pub fn log_everything() -> Outcome {
    // Errors of the log are nobody's: the library would print them where the log goes, and panic.
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(FILTER))
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .with_ansi(false)
        .try_init()
        .map_err(|error| failed("starting the log", error))
}
