//! What the program does.

use crate::args::{MakeArgs, ReplayArgs, ShowArgs, SimulateArgs};
use crate::arrivals::{Plan, generate, kv_bytes};
use crate::cell::{Cell, Place, Row};
use crate::error::TraceError;
use crate::report::{Kind, Report, Timeline};
use crate::sweep::{PATIENCE, Sweep, of_trace, place_of};
use crate::trace::Trace;
use crate::{picture, replay, timeline};
use millpond::{GroupLimit, GroupName, GroupSet, Pond};
use millpond_console::args::Global;
use millpond_console::error::{CommandError, Outcome, Report as Failed, failed};
use millpond_console::exit::Code;
use millpond_console::printer::Printer;
use millpond_trial::TrialPond;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What simulated times are of.
const MODELLED: &str = "a modelled H200";

/// Names the `millpond` that serves, as it does for companions.
const BIN: &str = "MILLPOND_BIN";

/// Prints a trace.
///
/// # Errors
/// Models that are not there.
pub fn make(args: &MakeArgs, printer: &Printer) -> Outcome {
    let plan = Plan {
        pattern: args.pattern,
        seconds: args.seconds,
        ..Plan::new(args.models, args.load, args.seed)
    };
    let mut text = Vec::new();
    generate(&plan)?.write(&mut text)?;
    printer.raw(&text)
}

/// Plays traces on a modelled card.
///
/// # Errors
/// Models that are not there, a file that cannot be read or written.
pub fn simulate(args: &SimulateArgs, printer: &Printer) -> Outcome {
    let (cells, seed, seeds, seconds) = match &args.trace {
        Some(file) => {
            let trace = read(file)?;
            let bytes = kv_bytes(&trace.models)?;
            (of_trace(&trace, bytes, place_of(&trace, bytes), 0)?, None, 1, trace.end().as_secs())
        }
        None => {
            let sweep = Sweep {
                models: args.models.clone(),
                loads: args.load.clone(),
                patterns: args.pattern.clone(),
                seed: args.seed,
                seeds: args.seeds,
                seconds: args.seconds,
            };
            (sweep.run()?, Some(args.seed), args.seeds, args.seconds)
        }
    };
    let report = Report {
        kind: Kind::Simulation,
        device: MODELLED.to_owned(),
        seed,
        seeds,
        seconds,
        patience_us: u64::try_from(PATIENCE.as_micros()).unwrap_or(u64::MAX),
        rows: Row::of(&cells),
        timelines: Vec::new(),
    };
    write(args.json.as_deref(), || report.json())?;
    present(&report, args.svg.as_deref(), args.markdown, printer)
}

/// Shows what was written before.
///
/// # Errors
/// A file that cannot be read, or has something else.
pub fn show(args: &ShowArgs, printer: &Printer) -> Outcome {
    let named = |error: TraceError| failed(format!("'{}'", args.file.display()), error);
    let text = std::fs::read_to_string(&args.file).map_err(|error| named(error.into()))?;
    let report = Report::read(&text).map_err(named)?;
    present(&report, args.svg.as_deref(), args.markdown, printer)
}

fn present(report: &Report, svg: Option<&Path>, markdown: bool, printer: &Printer) -> Outcome {
    write(svg, || {
        Ok(match report.kind {
            Kind::Simulation => picture::draw(report),
            Kind::Replay => timeline::draw(report),
        })
    })?;
    match markdown {
        true => printer.line(report.markdown().trim_end()),
        false => printer.line(report.table().render()),
    }
}

/// Plays a trace with real memory, in a pond of its own or in the running one.
///
/// # Errors
/// What the pond and its driver answer, a file that cannot be read or written.
pub fn replay(args: &ReplayArgs, global: &Global, printer: &Printer) -> Outcome {
    if !args.pond {
        return in_own_pond(args);
    }
    let (trace, place) = trace_of(args)?;
    let pond = millpond_console::connect(global)?;
    let status = pond.status()?;
    let name = status.devices.first().map_or("no GPU", |device| device.name.as_str());
    let (device, bytes) = (format!("{name}, {}", status.driver), args.limit.0);
    let patience = PATIENCE / u32::try_from(args.speed).unwrap_or(u32::MAX);
    let group = Group::make(&pond, bytes)?;
    let (mut cells, mut timelines) = (Vec::new(), Vec::new());
    for way in &args.ways {
        printer.note(format_args!("{} ...", way.title()));
        let run = replay::replay(&trace, &pond, &group.name, bytes, *way, patience)?;
        let names = trace.models.iter().map(|model| model.name.clone()).collect();
        timelines.push(Timeline::new(*way, bytes, names, &run.samples));
        cells.push(Cell::new(place, args.seed, *way, &trace, &run, patience));
    }
    group.end()?;
    let report = Report {
        kind: Kind::Replay,
        device,
        seed: args.trace.is_none().then_some(args.seed),
        seeds: 1,
        seconds: trace.end().as_secs(),
        patience_us: u64::try_from(patience.as_micros()).unwrap_or(u64::MAX),
        rows: Row::of(&cells),
        timelines,
    };
    write(args.json.as_deref(), || report.json())?;
    present(&report, args.svg.as_deref(), false, printer)
}

/// A group for one replay.
struct Group<'a> {
    pond: &'a Pond,
    name: String,
}

impl<'a> Group<'a> {
    fn make(pond: &'a Pond, bytes: u64) -> Result<Self, CommandError> {
        let name = format!("traces-{}", std::process::id());
        let limit = Some(GroupLimit::Bytes(bytes));
        pond.set_group(GroupSet { limit, create: true, ..GroupSet::of(group_name(&name)?) })?;
        Ok(Self { pond, name })
    }

    fn end(self) -> Outcome {
        Ok(self.pond.remove_group(group_name(&self.name)?)?)
    }
}

fn group_name(name: &str) -> Result<GroupName, CommandError> {
    GroupName::new(name).map_err(|error| failed("naming a group", error))
}

/// This program once more, in the environment of a pond of its own: only a process that begins there
/// finds the devices of the software driver.
fn in_own_pond(args: &ReplayArgs) -> Outcome {
    let mut pond = TrialPond::prepare(&core()?, args.limit.0)?;
    pond.serve(&args.device, &[])?;
    let program = own()?;
    let mut command = Command::new(&program);
    // What was typed, and where. `--device` says where the pond is.
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        if word == "--device" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--device=") {
            command.arg(word);
        }
    }
    command.arg("--pond").arg("--runtime-dir").arg(pond.folder());
    millpond_trial::set_environment(&mut command, pond.folder());
    command.env(millpond::runtime_dir::ENVIRONMENT, pond.folder());
    let status = command.status().map_err(|error| failed(program.display(), error))?;
    match status.success() {
        true => Ok(()),
        // It has said why.
        false => Err(CommandError::Said(Code::Failed)),
    }
}

/// The `millpond` program: the one that is named, else the one beside this one.
fn core() -> Result<PathBuf, CommandError> {
    if let Some(named) = std::env::var_os(BIN).filter(|path| !path.is_empty()) {
        return Ok(named.into());
    }
    let beside = own()?.with_file_name("millpond");
    if beside.is_file() {
        return Ok(beside);
    }
    let message = format!("there is no '{}' to serve a pond", beside.display());
    let hint =
        format!("name the program: {BIN}=/path/to/millpond, or use the running pond: --pond");
    Err(Failed::new(Code::NoProgram, message).hint(hint).into())
}

fn own() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| failed("finding this program", error))
}

/// The trace of a replay, as small and fast as it was asked for.
fn trace_of(args: &ReplayArgs) -> Result<(Trace, Place), CommandError> {
    let bytes = args.limit.0;
    if let Some(file) = &args.trace {
        let trace = read(file)?.scaled(args.shrink, args.speed);
        let place = place_of(&trace, bytes);
        return Ok((trace, place));
    }
    let plan = Plan {
        pattern: args.pattern,
        seconds: args.seconds,
        // Models are shrunk afterwards, and the memory with them.
        kv_bytes: Some(bytes.saturating_mul(args.shrink)),
        ..Plan::new(args.models, args.load, args.seed)
    };
    let place = Place { models: args.models, load_percent: args.load, pattern: args.pattern };
    Ok((generate(&plan)?.scaled(args.shrink, args.speed), place))
}

fn read(file: &Path) -> Result<Trace, CommandError> {
    let named = |error: TraceError| failed(format!("'{}'", file.display()), error);
    let opened = File::open(file).map_err(|error| named(error.into()))?;
    Trace::read(BufReader::new(opened)).map_err(named)
}

fn write(file: Option<&Path>, text: impl FnOnce() -> Result<String, TraceError>) -> Outcome {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()?)
        .map_err(|error| failed(format!("writing '{}'", file.display()), error))
}

impl From<TraceError> for CommandError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Pond(error) => error.into(),
            TraceError::Cache(error) => millpond::Error::from(error).into(),
            TraceError::Models { .. } => {
                let hint =
                    "`millpond-traces make` shows what a trace looks like; `--trace` reads one";
                Failed::new(Code::Usage, error.to_string()).hint(hint).into()
            }
            TraceError::NoRoom { .. } => {
                let hint = "choose fewer models, or for a replay a larger `--limit` or `--shrink`";
                Failed::new(Code::Failed, error.to_string()).hint(hint).into()
            }
            error => Failed::new(Code::Failed, error.to_string()).into(),
        }
    }
}
