//! Bytes between the page cache and a tensor, through the mover, beside a bare pinned ring.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use super::memory::as_value;
use super::{Rows, ready};
use crate::ground::Bench;
use crate::json::{RowJson, Unit};
use crate::measure::{Measure, Move};
use crate::row::Goal;
use crate::samples::Samples;
use millpond_console::error::{CommandError, failed};
use millpond_trial::protocol::Order;
use millpond_view::units;

pub const NAMES: &[&str] = &["move/put", "move/get", "move/put-new"];

const NAME: &str = "millpond-bench/move";
const PAGE: u64 = 2 << 20;
/// 8 GB, in whole pages.
const LARGE: u64 = 8_000_000_000 / PAGE * PAGE;
/// A tensor from here on has a slab of its own.
const SMALLEST: u64 = 32 << 20;

/// In and out again, of the same file: what comes out is what went in.
pub fn run(bench: &mut Bench) -> Rows {
    let soft = bench.ground.card.soft;
    let rounds = bench.ground.count(5, 2);
    let folder = tempfile::tempdir_in(bench.files()).map_err(|error| failed("a folder", error))?;
    let bytes = size(bench, folder.path())?;
    let file = folder.path().join("bytes");
    fill(&file, bytes)?;
    let made = bench.pond.reserve(ready(NAME, bytes))?;
    let mut rows = Vec::new();
    let goal = Goal { ratio: Some(0.85), gpu_only: true, ..Goal::default() };
    for (name, verb, put) in [(NAMES[0], "put", true), (NAMES[1], "get", false)] {
        let what = |rounds| Move { name: NAME.to_owned(), file: file.clone(), bytes, put, rounds };
        let device = || bench.ground.card.device.clone();
        let own = |rounds| Order::from(Measure::Move(what(rounds)));
        let raw = |rounds| Order::from(Measure::MoveRaw { device: device(), what: what(rounds) });
        // A mover is started, and pages are made.
        bench.worker.times(&own(1))?;
        bench.worker.times(&raw(1))?;
        let (mut own_times, mut raw_times) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            raw_times.extend(bench.worker.times(&raw(1))?);
            own_times.extend(bench.worker.times(&own(1))?);
        }
        let own = Samples::new(own_times);
        let text = format!("{verb} of {}, page cache", units::bytes(bytes));
        let mut row =
            RowJson::value(name, text, Unit::GigabytesPerSecond, speed(bytes, own.median()));
        row.rounds = own.count();
        let floor = speed(bytes, Samples::new(raw_times).median());
        rows.push(row.beside_value("a bare pinned ring on the same slab", floor).goal(goal, soft));
    }
    bench.pond.delete(made.tensor)?;
    rows.push(into_new(bench, &file, bytes, rounds)?.goal(goal, soft));
    Ok(rows)
}

/// Each time into memory that the driver has just made, as a load does.
fn into_new(
    bench: &mut Bench,
    file: &std::path::Path,
    bytes: u64,
    rounds: u32,
) -> Result<RowJson, CommandError> {
    let what = || {
        let (name, file) = (NAME.to_owned(), file.to_owned());
        Move { name, file, bytes, put: true, rounds: 1 }
    };
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let device = bench.ground.card.device.clone();
        let orders = [Measure::MoveRaw { device, what: what() }, Measure::Move(what())];
        for (order, times) in orders.into_iter().zip([&mut raw, &mut own]) {
            // What was kept for the next one is not new.
            bench.pond.collect(None, false)?;
            let made = bench.pond.reserve(ready(NAME, bytes))?;
            times.extend(bench.worker.times(&Order::from(order))?);
            bench.pond.delete(made.tensor)?;
        }
    }
    let own = Samples::new(own);
    let text = format!("put of {} into a new tensor", units::bytes(bytes));
    let mut row =
        RowJson::value(NAMES[2], text, Unit::GigabytesPerSecond, speed(bytes, own.median()));
    row.rounds = own.count();
    let floor = speed(bytes, Samples::new(raw).median());
    Ok(row.beside_value("a bare pinned ring into a new slab", floor))
}

/// What it should be, or what there is room for: on the card, and three times among the files.
fn size(bench: &Bench, folder: &std::path::Path) -> Result<u64, CommandError> {
    let wanted = match (bench.ground.card.soft, bench.ground.quick) {
        (true, true) => 64 << 20,
        (true, false) | (false, true) => 1 << 30,
        (false, false) => LARGE,
    };
    let space = rustix::fs::statvfs(folder).map_err(|error| failed("a folder's space", error))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    let fits = wanted.min(free / 3).min(bench.room()?.0 / 2);
    Ok((fits / PAGE * PAGE).max(SMALLEST))
}

fn fill(path: &std::path::Path, bytes: u64) -> Result<(), CommandError> {
    let trouble = |error| failed("writing a file", error);
    let mut file = File::create(path).map_err(trouble)?;
    let page: Vec<u8> = (0..PAGE).map(|at| (at ^ (at >> 8)).to_le_bytes()[0]).collect();
    for _ in 0..bytes / PAGE {
        file.write_all(&page).map_err(trouble)?;
    }
    Ok(())
}

fn speed(bytes: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { as_value(bytes) / seconds / 1e9 } else { 0.0 }
}
