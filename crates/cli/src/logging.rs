//! Logs of the keeper and the daemon, on standard error.

use millpond_keeper::config::LogFormat;
use tracing_subscriber::EnvFilter;

use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;

/// Starts logging: of the long-running processes, and of a command that is to say everything.
pub fn start(filter: &str, format: LogFormat) -> Outcome {
    let refused = |why: String| {
        CommandError::from(
            Report::new(Code::Usage, format!("log filter '{filter}': {why}"))
                .hint("`--log info`, or `--log info,millpond_daemon=debug`"),
        )
    };
    if let Some(word) = mistyped(filter) {
        return Err(refused(format!("'{word}' is neither a level nor a part of Millpond")));
    }
    let filter = EnvFilter::try_new(filter).map_err(|error| refused(error.to_string()))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| crate::error::failed("starting the log", error))
}

/// A word of a filter that would log nothing at all: the library takes every one that it does not
/// know for the name of a part, and `inof` for a part called so.
fn mistyped(filter: &str) -> Option<&str> {
    filter.split(',').map(str::trim).find(|word| {
        let is_level = word.parse::<tracing_subscriber::filter::LevelFilter>().is_ok();
        !is_level && !word.is_empty() && !word.contains(['=', '[']) && !word.starts_with("millpond")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_level_is_found_and_a_filter_is_not() {
        for right in ["info", "WARN", "off", "", "info,millpond_daemon=debug", "millpond_keeper"] {
            assert_eq!(mistyped(right), None, "{right}");
        }
        assert_eq!(mistyped("inof"), Some("inof"));
        assert_eq!(mistyped("millpond_daemon=debug, verbose"), Some("verbose"));
    }
}
