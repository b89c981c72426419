//! `millpond serve`: this process is the keeper.

use millpond_keeper::config::{Config, ConfigError};
use millpond_keeper::{ExitReason, KeeperError, KeeperStart, Launch};

use crate::args::{Global, ServeArgs};
use crate::error::{CommandError, Outcome, Report, failed};
use crate::exit::Code;
use crate::logging;
use crate::printer::Printer;

/// Serves until a signal.
pub fn run(args: &ServeArgs, global: &Global, printer: &Printer) -> Outcome {
    let overrides = args.overrides(global.runtime_dir());
    let config = Config::load(args.config().as_deref(), &overrides)?;
    logging::start(&config.log, config.log_format)?;
    let folder = config.folder();
    printer.detail(format_args!("serving `{}`", folder.display()));
    let daemon = Launch::this_program("daemon")
        .map_err(|error| failed("finding this program's file", error))?
        .with_log(&config);
    ended(millpond_keeper::run(KeeperStart { config, daemon }))
}

/// How a keeper ended, for the shell.
pub fn ended(result: Result<ExitReason, KeeperError>) -> Outcome {
    match result? {
        ExitReason::Stopped => Ok(()),
        ExitReason::Killed => Err(CommandError::Said(Code::Failed)),
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        let report = Report::new(Code::Usage, chain(&error));
        match error.hint() {
            Some(hint) => report.hint(hint).into(),
            None => report.into(),
        }
    }
}

impl From<KeeperError> for CommandError {
    fn from(error: KeeperError) -> Self {
        let report = Report::new(Code::Failed, chain(&error));
        match error.hint() {
            Some(hint) => report.hint(hint).into(),
            None => report.into(),
        }
    }
}

/// An error with its causes.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
