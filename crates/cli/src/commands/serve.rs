//! `millpond serve`: this process is the keeper.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use millpond_cuda::DriverChoice;
use millpond_keeper::config::{Config, ConfigError, LogFormat};
use millpond_keeper::{ExitReason, KeeperError, KeeperStart, Launch};
use millpond_wire::trust;

use super::detach;
use crate::args::{Global, ServeArgs};
use crate::endure;
use crate::error::{CommandError, Outcome, Report, failed};
use crate::exit::Code;
use crate::logging::ProcessLog;
use crate::printer::Printer;

/// Serves until a signal.
pub fn run(args: &ServeArgs, global: &Global, printer: &Printer) -> Outcome {
    endure::meaningless_signals();
    millpond_keeper::lay_down_other_users();
    let overrides = args.overrides(global.runtime_dir());
    let mut config = Config::load(args.config().as_deref(), &overrides).map_err(wrong_setting)?;
    config.log_file = config.log_file.as_deref().map(log_file).transpose()?;
    config.driver = driver(config.driver)?;
    if args.detach && !args.detached {
        return detach::run(&config, printer);
    }
    if args.detached {
        detach::leave_the_terminal();
    }
    for model in &mut config.load {
        if let Ok(absolute) = std::path::absolute(&model.path) {
            model.path = absolute;
        }
    }
    ProcessLog {
        filter: &config.log,
        format: config.log_format,
        file: config.log_file.clone(),
        file_bytes: config.log_file_bytes.0,
    }
    .start()?;
    let folder = config.folder();
    printer.detail(format_args!("serving `{}`", folder.display()));
    let daemon = Launch::this_program("daemon")
        .map_err(|error| failed("finding this program's file", error))?
        .with_log(&config);
    let quiet = printer.is_quiet() || args.detached;
    let opener = opener(&config, quiet)?;
    ended(millpond_keeper::run(KeeperStart { config, daemon, opener }))
}

/// Who greets and loads; nobody where there is nothing to do.
fn opener(config: &Config, quiet: bool) -> Result<Option<Launch>, CommandError> {
    if config.load.is_empty() && (quiet || config.log_format == LogFormat::Json) {
        return Ok(None);
    }
    let mut opener = Launch::this_program("opener")
        .map_err(|error| failed("finding this program's file", error))?
        .with_log(config);
    if quiet {
        opener.arguments.push("--quiet".into());
    }
    Ok(Some(opener))
}

/// The log file, absolute for the processes that are told of it. Whoever named one that cannot be
/// written is told now; later only lines are lost.
fn log_file(path: &Path) -> Result<PathBuf, CommandError> {
    let absolute = std::path::absolute(path);
    let checked = absolute.and_then(|path| millpond_log::check_file(&path).map(|()| path));
    checked.map_err(|error| {
        if let Some(why) = millpond_log::distrust(&error) {
            return Report::from(why).into();
        }
        let report = Report::new(Code::Failed, format!("log file '{}': {error}", path.display()));
        report
            .hint("`--log-file` names a file in a folder that exists and that you can write to")
            .into()
    })
}

/// The driver, absolute where it is a library: each process of the pond loads the one that is checked here.
fn driver(named: String) -> Result<String, CommandError> {
    let choice = DriverChoice::from(OsString::from(&named));
    let Some(path) = choice.path().filter(|_| named.contains('/')) else { return Ok(named) };
    trust::library(path).map_err(|error| Report::from(&error))?;
    let absolute = std::path::absolute(path).ok();
    Ok(absolute.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(named))
}

/// How a keeper ended, for the shell.
pub fn ended(result: Result<ExitReason, KeeperError>) -> Outcome {
    match result.map_err(keeper_failed)? {
        ExitReason::Stopped => Ok(()),
        ExitReason::Killed => Err(CommandError::Said(Code::Failed)),
    }
}

fn wrong_setting(error: ConfigError) -> CommandError {
    if let ConfigError::Untrusted(error) = &error {
        return Report::from(error).into();
    }
    let report = Report::new(Code::Usage, chain(&error));
    hinted(report, error.hint())
}

/// What kept a keeper from its work.
fn keeper_failed(error: KeeperError) -> CommandError {
    let report = Report::new(Code::Failed, chain(&error));
    hinted(report, error.hint())
}

fn hinted(report: Report, hint: Option<impl Into<String>>) -> CommandError {
    match hint {
        Some(hint) => report.hint(hint).into(),
        None => report.into(),
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
