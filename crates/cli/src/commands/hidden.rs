//! The daemon, a keeper that a daemon starts, its movers and hosts: all get what they need through
//! their standard input, from whoever starts them.

use std::ffi::CStr;
use std::path::PathBuf;

use millpond_keeper::config::LogFormat;
use millpond_keeper::{About, Launch};

use super::serve;
use crate::args::{DaemonArgs, Global, LogArgs, WorkerArgs};
use crate::error::{CommandError, Outcome, Report, failed, wrong};
use crate::exit::Code;
use crate::logging::ProcessLog;
use crate::printer::Printer;
use crate::{endure, env_vars};

pub fn daemon(args: &DaemonArgs, printer: &Printer) -> Outcome {
    if args.check {
        return printer.line(about()?);
    }
    millpond_keeper::lay_down_other_users();
    begin(c"millpond-daemon", &args.log)?;
    millpond_daemon::run_from_stdin(crate::preload::to_name()).map_err(|error| {
        let report = Report::new(Code::Failed, serve::chain(&error));
        match error.hint() {
            Some(hint) => report.hint(hint).into(),
            None => report.into(),
        }
    })
}

/// What a keeper wants to know before it starts a daemon of this program.
fn about() -> Result<String, CommandError> {
    let channels = millpond_keeper::channel::VERSIONS;
    let about = About {
        program: millpond_keeper::PROGRAM.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: millpond_wire::message::VERSION,
        journal: millpond_wire::record::FORMAT.into(),
        channel: channels.oldest,
        channel_newest: Some(channels.newest),
    };
    serde_json::to_string(&about).map_err(|error| failed("writing JSON", error))
}

pub fn keeper(log: &LogArgs) -> Outcome {
    millpond_keeper::lay_down_other_users();
    begin(c"millpond-keeper", log)?;
    let mut daemon = Launch::this_program("daemon")
        .map_err(|error| failed("finding this program's file", error))?;
    for (flag, value) in [
        ("--log", &log.log),
        ("--log-format", &log.log_format),
        ("--log-file", &log.log_file),
        ("--log-file-bytes", &log.log_file_bytes),
    ] {
        daemon.arguments.extend(value.iter().flat_map(|value| [flag.into(), value.into()]));
    }
    serve::ended(millpond_keeper::adopt_stdin(daemon))
}

pub fn mover(log: &LogArgs) -> Outcome {
    // Rights are a thread's, and the log is written by another one.
    let wrong_mover = |error: millpond_mover::MoverError| wrong(serve::chain(&error));
    millpond_mover::give_up_rights().map_err(wrong_mover)?;
    begin(c"millpond-mover", log)?;
    millpond_mover::run_from_stdin().map_err(wrong_mover)
}

pub fn host(log: &LogArgs) -> Outcome {
    // As for a mover.
    let wrong_host = |error: millpond_host::HostError| wrong(serve::chain(&error));
    millpond_host::give_up_rights().map_err(wrong_host)?;
    begin(c"millpond-host", log)?;
    millpond_host::run_from_stdin().map_err(wrong_host)
}

/// `millpond worker`, for the demo.
pub fn worker(args: &WorkerArgs, global: &Global, printer: &Printer) -> Outcome {
    let nothing = &mut |_: &mut _, _| Err(wrong("the demo measures nothing"));
    millpond_trial::worker::run(&args.label, global.runtime_dir(), printer, nothing)
}

/// Names a process that another one of the pond has started, and starts its log. A program that was
/// started from a descriptor has the descriptor's number as its name.
pub fn begin(name: &CStr, log: &LogArgs) -> Outcome {
    rustix::thread::set_name(name).map_err(|error| failed("naming the process", error))?;
    endure::meaningless_signals();
    if let Err(error) = millpond_wire::fd::close_inherited() {
        return Err(failed("looking at inherited descriptors", error));
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let filter = log.log.clone().or_else(|| variable(env_vars::LOG));
    let format = log.log_format.clone().or_else(|| variable(env_vars::LOG_FORMAT));
    let format: Option<LogFormat> =
        format.map(|text| text.parse()).transpose().map_err(|text: String| wrong(text))?;
    // The keeper has checked it; whatever it is, it is no reason to end.
    let file_bytes = log.log_file_bytes.as_deref().and_then(|text| text.parse().ok());
    ProcessLog {
        filter: filter.as_deref().unwrap_or("info"),
        format: format.unwrap_or_default(),
        file: log.log_file.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from),
        file_bytes: file_bytes.unwrap_or(0),
    }
    .start()
}
