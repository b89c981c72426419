//! `millpond bench`: every number beside its limit, measured in the same run.

mod goal;
mod measure;
mod samples;
mod socket;

use std::path::Path;
use std::time::Duration;

use millpond::Pond;
use millpond_wire::message::Status;

use crate::args::BenchArgs;
use crate::error::{CommandError, Outcome};
use crate::json::{BenchJson, MemoryJson};
use crate::printer::{Printer, Tone};
use crate::scene::protocol::Card;
use crate::scene::{Stage, Worker, process};
use crate::table::{Side, Table};
use crate::units;

use measure::Rounds;
pub use socket::echo;

/// 15 GB, a model of 7 billion parameters, in whole pages.
const LARGE_BYTES: u64 = 15_000_000_000 / PAGE_BYTES * PAGE_BYTES;
const SMALL_BYTES: u64 = 256 << 20;
const PAGE_BYTES: u64 = 2 << 20;

const FULL: Rounds = Rounds { messages: 20_000, attaches: 200, kills: 9 };
const QUICK: Rounds = Rounds { messages: 2_000, attaches: 20, kills: 3 };

/// What is measured, and with what.
struct Bench {
    pond: Pond,
    status: Status,
    card: Card,
    meter: Worker,
    worker: Worker,
    /// The card's used bytes before the pond was started, where it was started here.
    used_before: Option<u64>,
    /// Dropped last, and with it the pond.
    stage: Option<Stage>,
}

/// Measures and prints.
pub fn run(args: &BenchArgs, printer: &Printer) -> Outcome {
    let rounds = if args.quick { QUICK } else { FULL };
    let mut bench = match &args.attach_to {
        Some(folder) => Bench::on(folder)?,
        None => Bench::on_its_own(args.size.map_or(SMALL_BYTES, |size| size.0))?,
    };
    printer.note("measuring; nothing else should run on this machine meanwhile");
    let bytes = bench.attach_bytes(args.size.map(|size| size.0))?;
    let memory = bench.memory()?;
    let mut timings = Vec::from(measure::requests(&bench.pond, rounds)?);
    timings.push(measure::attach(&bench.pond, &mut bench.worker, &bench.card, bytes, rounds)?);
    let card = bench.end()?;
    if args.attach_to.is_none() {
        timings.push(measure::restart(&card, rounds)?);
    }
    let result = BenchJson {
        driver: card.driver,
        software_driver: card.soft,
        device: card.device,
        device_name: card.name,
        quick: args.quick,
        attach_bytes: bytes,
        ok: timings.iter().all(|timing| timing.ok) && memory.iter().all(|size| size.ok),
        timings,
        memory,
    };
    if printer.is_json() {
        return printer.json(&result);
    }
    print(&result, printer)
}

impl Bench {
    fn on_its_own(bytes: u64) -> Result<Self, CommandError> {
        let mut stage = Stage::prepare(bytes)?;
        let mut meter = stage.worker("bench meter")?;
        let card = meter.open_card()?;
        let used_before = Some(meter.used_bytes()?);
        let (status, _) = stage.serve(&card.device, &[])?;
        let pond = stage.connect("bench")?;
        let worker = stage.worker("bench worker")?;
        Ok(Self { pond, status, card, meter, worker, used_before, stage: Some(stage) })
    }

    fn on(folder: &Path) -> Result<Self, CommandError> {
        let pond = Pond::builder().runtime_dir(folder).program("bench").connect()?;
        let status = pond.status()?;
        let mut meter = Worker::attached("bench meter", folder)?;
        let card = meter.open_card()?;
        let worker = Worker::attached("bench worker", folder)?;
        Ok(Self { pond, status, card, meter, worker, used_before: None, stage: None })
    }

    /// What was asked for, or what fits.
    fn attach_bytes(&mut self, wanted: Option<u64>) -> Result<u64, CommandError> {
        if let Some(wanted) = wanted {
            return Ok(wanted.div_ceil(PAGE_BYTES).max(1) * PAGE_BYTES);
        }
        let free = self.card.total_bytes.saturating_sub(self.meter.used_bytes()?);
        let large = !self.card.soft && free > LARGE_BYTES + LARGE_BYTES / 5;
        Ok(if large { LARGE_BYTES } else { SMALL_BYTES })
    }

    fn memory(&mut self) -> Result<Vec<MemoryJson>, CommandError> {
        let pid = self.status.daemon_pid;
        let (gpu, reading) = match (self.meter.process_bytes(pid)?, self.used_before) {
            (Some(bytes), _) => (Some(bytes), format!("{}, by process", self.card.reading)),
            (None, Some(before)) => {
                let used = self.meter.used_bytes()?;
                let reading = format!("{}, before and after its start", self.card.reading);
                (Some(used.saturating_sub(before)), reading)
            }
            (None, None) => (None, "nobody says".to_owned()),
        };
        let resident = |pid| process::resident_bytes(pid);
        let size = |name, what: String, bytes: Option<u64>, goal_bytes: Option<u64>| MemoryJson {
            name,
            what,
            bytes,
            goal_bytes,
            ok: goal_bytes.is_none_or(|goal| bytes.is_some_and(|bytes| bytes <= goal)),
        };
        let keeper = resident(self.status.keeper_pid);
        let what = format!("daemon, GPU ({reading})");
        Ok(vec![
            size("daemon_resident", "daemon, resident".to_owned(), resident(pid), Some(30 << 20)),
            size("keeper_resident", "keeper, resident".to_owned(), keeper, None),
            size("daemon_gpu", what, gpu, Some(10 << 20)),
        ])
    }

    fn end(self) -> Result<Card, CommandError> {
        self.worker.end()?;
        self.meter.end()?;
        self.pond.close()?;
        drop(self.stage);
        Ok(self.card)
    }
}

fn print(result: &BenchJson, printer: &Printer) -> Outcome {
    printer.line(format_args!("{}, {}\n", result.device_name, result.driver))?;
    let left = |name| (name, Side::Left);
    let right = |name| (name, Side::Right);
    let mut table = Table::new(&[
        left("WHAT"),
        right("MILLPOND"),
        right("RAW"),
        right("RATIO"),
        left("GOAL"),
        left(""),
    ])
    .no_trunc(true);
    let none = || "-".to_owned();
    for timing in &result.timings {
        table.row(vec![
            timing.what.clone(),
            micros(timing.median_us),
            timing.raw_median_us.map_or_else(none, micros),
            timing.ratio.map_or_else(none, |ratio| format!("{ratio:.2}")),
            timing.goal.clone(),
            verdict(timing.ok).to_owned(),
        ]);
    }
    for memory in &result.memory {
        let bytes = memory.bytes.map_or_else(none, units::bytes);
        let goal =
            memory.goal_bytes.map_or_else(none, |goal| format!("at most {}", units::bytes(goal)));
        let verdict = memory.goal_bytes.map_or("", |_| verdict(memory.ok));
        table.row(vec![memory.what.clone(), bytes, none(), none(), goal, verdict.to_owned()]);
    }
    printer.line(table.render())?;
    if !result.ok {
        printer.note(printer.paint(Tone::Careful, "\nsome goals are missed"));
    }
    Ok(())
}

fn verdict(ok: bool) -> &'static str {
    if ok { "ok" } else { "over" }
}

fn micros(micros: f64) -> String {
    units::time(Duration::from_secs_f64(micros / 1e6))
}
