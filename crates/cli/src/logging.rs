//! Logs of the keeper and the daemon, on standard error.

use millpond_keeper::config::LogFormat;
use tracing_subscriber::EnvFilter;

use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;

/// Starts logging: of the long-running processes, and of a command that is to say everything.
pub fn start(filter: &str, format: LogFormat) -> Outcome {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        CommandError::from(
            Report::new(Code::Usage, format!("log filter '{filter}': {error}"))
                .hint("`--log info`, or `--log info,millpond_daemon=debug`"),
        )
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| crate::error::failed("starting the log", error))
}
