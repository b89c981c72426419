//! `millpond load`.

use std::path::Path;

use millpond::{Like, LoadPhase, LoadProgress, LoadSpec, Loaded, Plan, Progress};
use millpond_view as view;
use millpond_wire::{ErrorKind, VersionTag};

use super::shown;
use crate::args::{Global, LoadArgs};
use crate::error::{CommandError, Outcome, Report};
use crate::exit::Code;
use crate::printer::Printer;
use crate::progress::Bar;
use crate::shown::printable;
use crate::{pond, units};

/// Loads a checkpoint.
///
/// A signal that ends this process ends the load with it: the pond gives a version up whose loader
/// is gone.
pub fn load(args: &LoadArgs, global: &Global, printer: &Printer) -> Outcome {
    let version = version(args)?;
    let mut spec = LoadSpec::new(args.model.name.as_str())
        .paths(&args.paths)
        .audience(args.audience.into())
        .activate(args.activate)
        .like(like(args.like.as_deref())?);
    if let Some(tag) = version {
        spec = spec.tag(tag);
    }
    if let Some(path) = &args.plan {
        spec = spec.plan(plan(path)?);
    }
    if let Some(bytes) = args.slab_bytes {
        spec = spec.slab_bytes(bytes.0);
    }
    let pond = pond::connect(global)?;
    if let Some(device) = &args.device {
        spec = spec.device(pond::device(&pond, device)?);
    }
    let mut shown =
        Shown { printer, model: args.model.name.as_str(), phase: LoadPhase::Checking, bar: None };
    let loaded = pond.load(spec, |progress| shown.at(progress))?;
    drop(shown);
    say(&loaded, printer)
}

/// The tag, said once: `llama@v2`, or `llama --version v2`.
fn version(args: &LoadArgs) -> Result<Option<VersionTag>, CommandError> {
    match (&args.model.tag, &args.version) {
        (Some(tag), Some(version)) if tag != version => {
            let message = format!("'{}@{tag}' and `--version {version}` differ", args.model.name);
            Err(Report::new(Code::Usage, message).hint("name the version once").into())
        }
        (tag, version) => Ok(tag.clone().or_else(|| version.clone())),
    }
}

fn like(text: Option<&str>) -> Result<Like, CommandError> {
    Ok(match text {
        None => Like::Current,
        Some("none") => Like::Nothing,
        Some(tag) => {
            let tag = VersionTag::new(tag).map_err(|error| {
                let report = Report::new(Code::Usage, error.to_string());
                CommandError::from(report.hint("write `--like v1` or `--like none`"))
            })?;
            Like::Version(tag)
        }
    })
}

fn plan(path: &Path) -> Result<Plan, CommandError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("reading '{shown}': {error}");
        CommandError::from(Report::new(Code::Kind(ErrorKind::File), message))
    })?;
    Plan::parse(&text).map_err(|error| {
        let report = Report::new(Code::Kind(ErrorKind::Invalid), format!("'{shown}': {error}"));
        report.hint("`millpond help load` shows an example").into()
    })
}

/// One bar for each phase.
struct Shown<'a> {
    printer: &'a Printer,
    model: &'a str,
    phase: LoadPhase,
    bar: Option<Bar>,
}

impl Shown<'_> {
    fn at(&mut self, progress: LoadProgress) {
        if self.phase != progress.phase {
            self.bar = None;
            self.phase = progress.phase;
        }
        if progress.total > 0 {
            let what = format!("{} {}", progress.phase.name(), self.model);
            let bar = self.bar.get_or_insert_with(|| Bar::new(self.printer, what));
            bar.at(Progress { done: progress.done, total: progress.total });
        }
    }
}

fn say(loaded: &Loaded, printer: &Printer) -> Outcome {
    if printer.is_json() {
        return printer.json(&view::Loaded { version: (&loaded.info).into(), load: loaded.into() });
    }
    let info = &loaded.info;
    let name = shown(info);
    printer.line(&name)?;
    let tensors = units::count(info.tensors.into(), "tensor");
    let (size, time) = (units::bytes(info.bytes), units::time(loaded.elapsed));
    let rate = units::rate(info.bytes, loaded.elapsed);
    let shared = match loaded.bytes_shared {
        0 => String::new(),
        bytes => format!(", {} of it shared", units::bytes(bytes)),
    };
    let tied = match loaded.bytes_tied {
        0 => String::new(),
        bytes => format!(", {} saved by tied tensors", units::bytes(bytes)),
    };
    let cold = if loaded.cold { ", from disk" } else { "" };
    printer.note(format_args!("{tensors}, {size} in {time} ({rate}{cold}){shared}{tied}"));
    for (name, to) in &loaded.tied {
        let (name, to) = (printable(name), printable(to));
        printer.note(format_args!("{name} is tied to {to}: the same bytes, stored once"));
    }
    if let Some(unshared) = loaded.unshared.as_ref().filter(|_| !printer.is_quiet()) {
        let (tag, why) = (&unshared.with, unshared.why.reason());
        printer.note(format_args!("no memory is shared with {tag}: {why}"));
    }
    if info.current {
        printer.note("it is the current version");
    } else {
        let model = super::shown_model(&info.model, info.user);
        printer.note(format_args!(
            "it is not current; `millpond swap {model} {}` makes it so",
            info.tag
        ));
    }
    Ok(())
}
