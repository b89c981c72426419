//! `millpond stop`.

use std::io::ErrorKind as IoKind;
use std::path::Path;
use std::time::{Duration, Instant};

use millpond_keeper::Running;
use millpond_view as view;
use millpond_wire::message::Service;
use millpond_wire::{ErrorKind, runtime_dir, socket};

use crate::args::{Global, StopArgs};
use crate::error::{CommandError, Outcome, Report, failed, wrong};
use crate::exit::Code;
use crate::printer::Printer;
use crate::users;

/// How long a pond may be without a keeper: its daemon starts the next one at once.
const BETWEEN_KEEPERS: Duration = Duration::from_secs(5);
/// How often it is looked for.
const PAUSE: Duration = Duration::from_millis(20);

/// Stops the pond and waits for its end.
pub fn run(args: &StopArgs, global: &Global, printer: &Printer) -> Outcome {
    let folder = global.runtime_dir().unwrap_or_else(runtime_dir::for_client);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let (began, timeout) = (Instant::now(), args.timeout.0);
    let mut keeper = keeper(&folder)?.ok_or_else(|| no_pond(&folder))?;
    if let Some(service) = &keeper.holder.service {
        return Err(of_a_service(&folder, service));
    }
    loop {
        ask(&keeper, &folder)?;
        let left = timeout.saturating_sub(began.elapsed());
        if !keeper.wait(left).map_err(|error| failed("waiting for the pond's end", error))? {
            return Err(too_slow(&folder, timeout));
        }
        // One that was killed meanwhile is replaced by its daemon.
        match self::keeper(&folder)? {
            Some(next) => keeper = next,
            None => break,
        }
    }
    let (pid, seconds) = (keeper.holder.pid, began.elapsed().as_secs_f64());
    let runtime_dir = folder.display().to_string();
    if printer.is_json() {
        return printer.json(&view::Stopped { runtime_dir, keeper_pid: pid, seconds });
    }
    if printer.is_quiet() {
        return Ok(());
    }
    printer.line(format_args!("stopped the pond in '{runtime_dir}' (pid {pid}) in {seconds:.1} s"))
}

/// The keeper, also if it is just being replaced.
fn keeper(folder: &Path) -> Result<Option<Running>, CommandError> {
    let deadline = Instant::now() + BETWEEN_KEEPERS;
    loop {
        match Running::find(folder) {
            Ok(Some(running)) => return Ok(Some(running)),
            Err(error) if error.kind() == IoKind::PermissionDenied => {
                return Err(not_yours(folder));
            }
            Err(error) => {
                return Err(failed(format!("looking into '{}'", folder.display()), error));
            }
            Ok(None) if socket::connect(&runtime_dir::socket(folder)).is_err() => return Ok(None),
            Ok(None) if Instant::now() > deadline => return Err(unseen(folder)),
            Ok(None) => std::thread::sleep(PAUSE),
        }
    }
}

fn ask(keeper: &Running, folder: &Path) -> Outcome {
    match keeper.stop() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == IoKind::PermissionDenied => Err(not_yours(folder)),
        // Gone since it was found.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            Ok(())
        }
        Err(error) => Err(failed("asking the pond to stop", error)),
    }
}

fn no_pond(folder: &Path) -> CommandError {
    let message = format!("no pond runs in '{}'", folder.display());
    let hint =
        format!("{} or `--runtime-dir` names the folder of another one", runtime_dir::ENVIRONMENT);
    Report::new(Code::Kind(ErrorKind::NoPond), message).hint(hint).into()
}

fn not_yours(folder: &Path) -> CommandError {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(folder).map(|found| users::name(found.uid()));
    let owner = owner.unwrap_or_else(|_| "another user".to_owned());
    let message = format!("the pond in '{}' belongs to {owner}", folder.display());
    let hint = format!("only {owner} and root can stop it");
    Report::new(Code::Kind(ErrorKind::Denied), message).hint(hint).into()
}

fn of_a_service(folder: &Path, service: &Service) -> CommandError {
    let Service { unit, user } = service;
    let user = if *user { " --user" } else { "" };
    let message = format!(
        "systemd runs the pond in '{}' as {unit} and would start it again",
        folder.display()
    );
    Report::new(Code::Failed, message).hint(format!("`systemctl{user} stop {unit}`")).into()
}

fn too_slow(folder: &Path, timeout: Duration) -> CommandError {
    let time = crate::units::span(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let message =
        format!("the pond in '{}' has not ended after {time}; it is stopping", folder.display());
    let hint =
        "wait longer with `--timeout`, or run `millpond stop` again, which waits for nothing";
    Report::new(Code::Failed, message).hint(hint).into()
}

fn unseen(folder: &Path) -> CommandError {
    wrong(format!(
        "a process listens in '{}', but no keeper is visible from here: it may run in \
         another container",
        folder.display()
    ))
}
