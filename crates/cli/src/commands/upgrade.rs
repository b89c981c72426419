//! `millpond upgrade`.

use std::path::Path;
use std::time::{Duration, Instant};

use millpond::{EventKind, Events, Pond, Status};
use millpond_view as view;
use millpond_wire::{Epoch, caps};

use crate::args::{Global, UpgradeArgs};
use crate::error::{CommandError, Outcome, Report, failed, wrong};
use crate::exit::Code;
use crate::pond;
use crate::printer::Printer;

/// Longer than everything that the keeper waits for, one after the other.
const PATIENCE: Duration = Duration::from_secs(45);
/// How often the pond is asked how far it is.
const PAUSE: Duration = Duration::from_millis(1);

/// Has another program serve.
pub fn run(args: &UpgradeArgs, global: &Global, printer: &Printer) -> Outcome {
    let program = args.program.as_deref().map(absolute).transpose()?.unwrap_or_default();
    let pond = pond::connect(global)?;
    let before = pond.status()?;
    // From now on, so that what is heard is about this upgrade.
    let mut events = pond.events(0)?;
    let (from_version, from_epoch) = pond.upgrade(&program)?;
    let mut watch = Watch { pond: &pond, longest: Duration::ZERO };
    let asked = if program.is_empty() { before.program.clone() } else { real(&program) };
    let now = watch.until_served(&mut events, from_epoch, &before, &asked)?;
    let done = view::Upgraded {
        from_version,
        from_epoch: from_epoch.0,
        version: now.daemon_version,
        epoch: now.epoch.0,
        program: now.program,
        longest_wait_ms: watch.longest.as_secs_f64() * 1e3,
    };
    if printer.is_json() {
        return printer.json(&done);
    }
    printer.line(format_args!(
        "version {} (epoch {}) took over from {} (epoch {}); clients waited for {:.0} ms",
        done.version, done.epoch, done.from_version, done.from_epoch, done.longest_wait_ms
    ))?;
    printer.detail(format_args!("it runs `{}`", done.program));
    Ok(())
}

fn absolute(program: &Path) -> Result<String, CommandError> {
    let path = std::path::absolute(program)
        .map_err(|error| failed(format_args!("finding '{}'", program.display()), error))?;
    let text = path.to_str().filter(|text| text.len() <= caps::PATH_BYTES);
    let wanted = format!("'{}' is not a path of at most 4096 bytes of UTF-8", path.display());
    text.map(str::to_owned).ok_or_else(|| wrong(wanted))
}

/// As the kernel names it when it runs.
fn real(program: &str) -> String {
    let path = std::fs::canonicalize(program);
    path.map_or_else(|_| program.to_owned(), |path| path.display().to_string())
}

/// Looks at the pond all the time, and how long it does not answer.
struct Watch<'a> {
    pond: &'a Pond,
    longest: Duration,
}

impl Watch<'_> {
    fn until_served(
        &mut self,
        events: &mut Events,
        from: Epoch,
        before: &Status,
        asked: &str,
    ) -> Result<Status, CommandError> {
        let deadline = Instant::now() + PATIENCE;
        let mut answered = Instant::now();
        let (keeper, old) = (before.keeper_pid, before.program.as_str());
        while answered < deadline {
            let status = self.pond.status()?;
            self.longest = self.longest.max(answered.elapsed());
            answered = Instant::now();
            // A daemon of the old program may be there because the old one died by itself.
            if status.epoch > from && (status.program == asked || !is_file(&status.program, old)) {
                return Ok(status);
            }
            // Only the keeper that was asked knows of the order.
            if status.keeper_pid != keeper {
                return Err(lost(keeper));
            }
            if let Some(event) = events.next_timeout(PAUSE)?
                && event.kind == EventKind::Upgrading
                && event.user.is_none()
            {
                return Err(refused(&event.text));
            }
        }
        Err(refused(&format!("no other daemon took over within {} s", PATIENCE.as_secs())))
    }
}

/// The kernel marks a program whose file was replaced; then it is the old file that runs.
fn is_file(program: &str, path: &str) -> bool {
    program.strip_suffix(" (deleted)").unwrap_or(program) == path
}

fn lost(keeper: u32) -> CommandError {
    let message = format!("the upgrade failed: the keeper that was asked (pid {keeper}) has ended");
    let report = Report::new(Code::Failed, message);
    report.hint("the old version goes on; run `millpond upgrade` again").into()
}

fn refused(reason: &str) -> CommandError {
    let report = Report::new(Code::Failed, format!("the upgrade failed: {reason}"));
    report.hint("the old version goes on; the log of `millpond serve` says more").into()
}
