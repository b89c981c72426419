//! Mapping by size and by count of handles, beside the bare driver calls on the same slabs.

use std::collections::BTreeSet;

use millpond_wire::TensorId;

use super::{Rows, TURNS, fresh, ready};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::Samples;
use millpond_console::error::CommandError;
use millpond_trial::protocol::Order;
use millpond_view::units;

pub const NAMES: &[&str] = &[
    "attach/2m",
    "attach/64m",
    "attach/1g",
    "attach/15g",
    "attach/handles-1",
    "attach/handles-8",
    "attach/handles-64",
    "attach/handles-148",
    fresh::FIRST,
    fresh::LAZY,
    fresh::CONNECT,
    fresh::PROCESSOR,
];

const FLOOR: &str = "bare import, reserve, map and set access";
const PAGE: u64 = 2 << 20;
/// 15 GB, a model of 7 billion parameters, in whole pages.
const LARGE: u64 = 15_000_000_000 / PAGE * PAGE;
const SIZES: [u64; 4] = [PAGE, 64 << 20, 1 << 30, LARGE];
const HANDLES: [u64; 4] = [1, 8, 64, 148];
/// What is cut into handles where there is no room for more.
const LITTLE: u64 = 256 << 20;
/// A tensor from here on has a slab of its own.
const OWN_SLAB: u64 = 32 << 20;
/// Two of these fill a slab of one page.
const HALF_PAGE: u64 = PAGE / 2 - 1;

/// As far as there is room.
pub fn run(bench: &mut Bench) -> Rows {
    let (room, _) = bench.room()?;
    let fits = |bytes: u64| bytes + bytes / 5 <= room;
    // The software driver's large slabs only cost time: its calls do not depend on the size.
    let most = if bench.ground.card.soft && bench.ground.quick { 64 << 20 } else { u64::MAX };
    let mut rows = Vec::new();
    for (name, bytes) in NAMES.iter().zip(SIZES) {
        if fits(bytes) && bytes <= most {
            let under = (bytes == LARGE).then_some(2000.0);
            rows.push(measure(bench, name, bytes, 1, under)?);
        }
    }
    let total = if fits(LARGE) && !bench.ground.card.soft { LARGE } else { LITTLE };
    for (name, handles) in NAMES.iter().skip(SIZES.len()).zip(HANDLES) {
        rows.push(measure(bench, name, total / handles / PAGE * PAGE, handles, None)?);
    }
    rows.extend(fresh::run(bench)?);
    Ok(rows)
}

fn measure(
    bench: &mut Bench,
    name: &'static str,
    bytes: u64,
    handles: u64,
    under: Option<f64>,
) -> Result<RowJson, CommandError> {
    let rounds = bench.ground.count(200, 20) / u32::try_from(handles / 8).unwrap_or(1).clamp(1, 8);
    let device = bench.ground.card.device.clone();
    let attached = Slabs::make(bench, bytes, handles)?;
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    let turn = (rounds / TURNS).max(1);
    for _ in 0..rounds / turn {
        let (names, device) = (attached.names.clone(), device.clone());
        let floor = Measure::AttachRaw { device, names: names.clone(), rounds: turn };
        raw.extend(bench.worker.times(&Order::from(floor))?);
        let attach = Measure::Attach { names, beside: None, rounds: turn };
        own.extend(bench.worker.times(&Order::from(attach))?);
    }
    let what = match handles {
        1 => format!("attach of {} in 1 handle", units::bytes(attached.slab_bytes)),
        _ => format!("attach of {} in {handles} handles", units::bytes(attached.slab_bytes)),
    };
    attached.delete(bench)?;
    // Of little memory the message takes as long as the driver.
    let ratio = (is_large(bytes, handles)).then_some(1.5);
    let goal = Goal { ratio, value: under, gpu_only: true };
    let row = RowJson::times(name, what, &Samples::new(own)).beside(FLOOR, &Samples::new(raw));
    Ok(row.goal(goal, bench.ground.card.soft))
}

/// Whether it is a model that is attached.
fn is_large(bytes: u64, handles: u64) -> bool {
    bytes.saturating_mul(handles) >= LARGE / 100 * 99
}

/// Tensors in as many slabs.
struct Slabs {
    names: Vec<String>,
    made: Vec<TensorId>,
    slab_bytes: u64,
}

impl Slabs {
    /// Each of these bytes; where they would share slabs, as many slabs of one page.
    fn make(bench: &Bench, bytes: u64, handles: u64) -> Result<Self, CommandError> {
        let bytes = if bytes >= OWN_SLAB { bytes } else { HALF_PAGE };
        let mut attached = Self { names: Vec::new(), made: Vec::new(), slab_bytes: 0 };
        let mut slabs = BTreeSet::new();
        while (slabs.len() as u64) < handles {
            let name = format!("millpond-bench/attach/{}", attached.made.len());
            let made = bench.pond.reserve(ready(&name, bytes))?;
            attached.made.push(made.tensor);
            if slabs.insert(made.slab) {
                attached.names.push(name);
                attached.slab_bytes += made.slab_bytes;
            }
        }
        Ok(attached)
    }

    fn delete(self, bench: &Bench) -> Result<(), CommandError> {
        for tensor in self.made {
            bench.pond.delete(tensor)?;
        }
        Ok(())
    }
}
