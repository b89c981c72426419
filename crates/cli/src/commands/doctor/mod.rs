//! `millpond doctor`: can a pond run here, and what to do if not.

mod check;
mod driver;
mod files;
mod kernel;
mod limits;
mod place;
mod surroundings;

use millpond_view as view;

use crate::args::Global;
use crate::error::{CommandError, Outcome};
use crate::exit::Code;
use crate::printer::{Printer, Tone};
use crate::units;

use check::{Check, Verdict};

/// Checks everything and prints it.
pub fn run(global: &Global, printer: &Printer) -> Outcome {
    let mut checks = driver::checks();
    checks.extend(files::checks());
    checks.extend(kernel::checks());
    let (place, pond) = place::checks(global);
    checks.extend(place);
    checks.extend(surroundings::checks());
    checks.extend(limits::checks(pond.as_ref()));
    let ok = checks.iter().all(|check| check.verdict != Verdict::Fail);
    if printer.is_json() {
        let checks = checks.iter().map(view::Check::from).collect();
        printer.json(&view::Doctor { ok, checks })?;
    } else {
        print(&checks, printer)?;
    }
    if ok { Ok(()) } else { Err(CommandError::Said(Code::Failed)) }
}

fn print(checks: &[Check], printer: &Printer) -> Outcome {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in checks {
        if printer.is_quiet() && check.verdict == Verdict::Ok {
            continue;
        }
        // Padded before it is painted: colour has no width.
        let mark = printer.paint(check.verdict.tone(), format_args!("{:<4}", check.verdict.name()));
        let label = format!("{mark}  {:<width$}  ", check.name);
        printer.hanging(&label, width + 8, &check.found, None)?;
        if let Some(advice) = &check.advice {
            let label = format!("{}-> ", " ".repeat(width + 8));
            printer.hanging(&label, width + 11, advice, Some(Tone::Hint))?;
        }
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count() as u64;
    let (warn, fail) = (count(Verdict::Warn), count(Verdict::Fail));
    let text = match (fail, warn) {
        (0, 0) => "a pond can run here".to_owned(),
        (0, warn) => format!("a pond can run here; {}", units::count(warn, "warning")),
        (fail, _) => format!("{} to fix first", units::count(fail, "thing")),
    };
    printer.note(format_args!("\n{text}"));
    Ok(())
}
