//! The log of keeper, daemon, movers and hosts, through the writer that neither blocks nor fails.

use std::path::PathBuf;

use millpond_keeper::config::LogFormat;
use millpond_log::{Style, Target};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::printer::{self, Printer};

/// The log of a long-running process.
#[derive(Debug)]
pub struct ProcessLog<'a> {
    pub filter: &'a str,
    pub format: LogFormat,
    /// Absolute; standard error without one.
    pub file: Option<PathBuf>,
    /// When the file is rotated.
    pub file_bytes: u64,
}

impl ProcessLog<'_> {
    /// Starts it. From then on a panic in any thread ends the process.
    pub fn start(self) -> Outcome {
        let target = match self.file {
            Some(path) => Target::File { path, rotate_bytes: self.file_bytes },
            None => Target::StandardError,
        };
        let style = match self.format {
            LogFormat::Text => Style::Text,
            LogFormat::Json => Style::Json,
        };
        let filter = parse(self.filter)?;
        let log = millpond_log::install(target, style);
        millpond_log::end_on_panic();
        subscribe(filter, self.format, log.clone())
    }
}

/// Says what is left to say when a long-running process ends, and waits for it only so long: a
/// process that has to end must not hang on a standard error that nobody reads.
pub fn finish(printer: Printer, outcome: Outcome) -> Code {
    let code = printer::code(&outcome);
    if let Err(CommandError::Failed(report)) = &outcome {
        // Standard error has it from the printer, with its hint.
        millpond_log::error_in_file(&report.failure.message);
    }
    let (said, heard) = std::sync::mpsc::channel();
    let speaker = std::thread::Builder::new().spawn(move || {
        printer::finish(&printer, outcome);
        let _ = said.send(());
    });
    if speaker.is_ok() {
        let _ = heard.recv_timeout(millpond_log::FLUSH_WITHIN);
    }
    millpond_log::flush(millpond_log::FLUSH_WITHIN);
    code
}

fn subscribe<W>(filter: EnvFilter, format: LogFormat, writer: W) -> Outcome
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Errors of the log are nobody's: the library would print them where the log goes, and panic.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| crate::error::failed("starting the log", error))
}

fn parse(filter: &str) -> Result<EnvFilter, CommandError> {
    let refused = |why: String| {
        CommandError::from(
            Report::new(Code::Usage, format!("log filter '{filter}': {why}"))
                .hint("`--log info`, or `--log info,millpond_daemon=debug`"),
        )
    };
    if let Some(word) = mistyped(filter) {
        return Err(refused(format!("'{word}' is neither a level nor a part of Millpond")));
    }
    EnvFilter::try_new(filter).map_err(|error| refused(error.to_string()))
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
