//! `millpond serve --detach`: the pond in a process of its own, which outlives this one.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use millpond::{Pond, Status};
use millpond_keeper::config::Config;
use rustix::fs::MemfdFlags;

use super::opener::cards;
use crate::error::{CommandError, Outcome, Report, failed};
use crate::exit::Code;
use crate::pond::command_for;
use crate::printer::Printer;

/// How long the pond may take to serve: a machine with eight cards needs some seconds.
const SERVES_WITHIN: Duration = Duration::from_secs(120);
/// How long one look at it may take.
const LOOK: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(20);
/// The most that is repeated of what a pond said that did not start.
const SAID_BYTES: u64 = 16 << 10;

/// Starts the pond and waits until it serves.
pub fn run(config: &Config, printer: &Printer) -> Outcome {
    let folder = config.folder();
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let log = config.log_file.clone().unwrap_or_else(|| usable_log_file(&folder));
    let starting = |error| failed("starting the pond", error);
    let said = rustix::fs::memfd_create("millpond-start", MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|error| starting(error.into()))?;
    let stderr = said.try_clone().map_err(starting)?;
    let mut command = Command::new(std::env::current_exe().map_err(starting)?);
    command.args(std::env::args_os().skip(1)).arg("--detached");
    if config.log_file.is_none() {
        command.arg("--log-file").arg(&log);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = command.spawn().map_err(starting)?;
    let status = until_it_serves(&mut child, &folder, &said, printer)?;
    if printer.is_quiet() {
        return printer.line(folder.display());
    }
    printer.line(format_args!("serving {}", cards(&status)))?;
    printer.line(format_args!("folder  {}", folder.display()))?;
    printer.line(format_args!("pid     {}", status.keeper_pid))?;
    printer.line(format_args!("log     {} ({})", log.display(), command_for(&folder, "logs")))?;
    printer.line(format_args!("stop    {}", command_for(&folder, "stop")))
}

fn until_it_serves(
    child: &mut Child,
    folder: &Path,
    said: &File,
    printer: &Printer,
) -> Result<Status, CommandError> {
    let deadline = Instant::now() + SERVES_WITHIN;
    loop {
        if let Ok(Some(ended)) = child.try_wait() {
            printer.error_text(&text(said));
            let code = ended.code().and_then(|code| u8::try_from(code).ok());
            return Err(CommandError::Said(match code {
                Some(2) => Code::Usage,
                _ => Code::Failed,
            }));
        }
        let look = Pond::builder()
            .runtime_dir(folder)
            .program("millpond serve")
            .reconnect_timeout(LOOK)
            .request_timeout(LOOK * 10)
            .connect()
            .and_then(|pond| pond.status());
        match look {
            // Another pond may answer until this one has seen that it is not needed.
            Ok(status) if status.driver_ready && status.keeper_pid == child.id() => {
                return Ok(status);
            }
            _ if Instant::now() > deadline => {
                let seconds = SERVES_WITHIN.as_secs();
                let message = format!("the pond does not serve after {seconds} s; it goes on");
                let hint = "`millpond logs` shows what it does, `millpond stop` ends it";
                return Err(Report::new(Code::Failed, message).hint(hint).into());
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}

/// The end of what the pond said before it ended.
fn text(said: &File) -> String {
    let bytes = said.metadata().map_or(0, |found| found.len());
    let mut end = vec![0; usize::try_from(bytes.min(SAID_BYTES)).unwrap_or(0)];
    let read = said.read_at(&mut end, bytes.saturating_sub(SAID_BYTES)).unwrap_or(0);
    end.truncate(read);
    String::from_utf8_lossy(&end).into_owned()
}

/// Where the log of a pond in this folder goes if nobody names a file; see [`usable_log_file`].
pub fn default_log_file(folder: &Path) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let state = if rustix::process::geteuid().is_root() {
        Some(PathBuf::from("/var/log"))
    } else {
        let set = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let home = || variable("HOME").filter(|path| path.is_absolute());
        set.or_else(|| home().map(|home| home.join(".local/state")))
    };
    Some(state?.join("millpond").join(file_name(folder)))
}

/// One file for each folder, named after it.
fn file_name(folder: &Path) -> String {
    if millpond_wire::runtime_dir::unnamed().iter().any(|place| place == folder) {
        return "millpond.log".to_owned();
    }
    let name = folder.to_string_lossy().trim_matches('/').replace('/', "-");
    // A file's name has 255 bytes at most, and rotated ones have an ending.
    let start = name.len().saturating_sub(200);
    let start = (start..=name.len()).find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("millpond-{}.log", name.get(start..).unwrap_or_default())
}

/// The same, or a file in the runtime folder where that cannot be written.
fn usable_log_file(folder: &Path) -> PathBuf {
    let make = |path: &PathBuf| {
        let parent = path.parent()?;
        DirBuilder::new().recursive(true).mode(0o700).create(parent).ok()?;
        millpond_log::check_file(path).ok()
    };
    let usual = default_log_file(folder).filter(|path| make(path).is_some());
    usual.unwrap_or_else(|| in_folder(folder))
}

/// The log file of a user without a place for it.
pub fn in_folder(folder: &Path) -> PathBuf {
    folder.join("millpond.log")
}

/// A session of its own: the terminal's signals are for others.
pub fn leave_the_terminal() {
    // Refused only to the leader of a process group, who has none of a terminal's.
    let _ = rustix::process::setsid();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_has_a_log_file_of_its_own() {
        assert_eq!(file_name(Path::new("/run/millpond")), "millpond.log");
        assert_eq!(file_name(Path::new("/tmp/a/pond")), "millpond-tmp-a-pond.log");
        let long = PathBuf::from(format!("/{}", "ä".repeat(300)));
        assert!(file_name(&long).len() < 250);
    }
}
