//! The first attach of a process, beside the first bare driver calls of another one.

use std::time::Duration;

use millpond_console::error::{CommandError, wrong};
use millpond_trial::protocol::Order;

use super::Rows;
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::Samples;

pub const FIRST: &str = "attach/first";
pub const LAZY: &str = "attach/first-lazy";
pub const CONNECT: &str = "attach/connect";
pub const PROCESSOR: &str = "attach/first-cpu";

const FLOOR: &str = "bare import, reserve, map and set access, first in a process";
const MODEL: &str = "millpond-bench/first";
const PARTS: u32 = 8;
const PART_BYTES: u64 = 2 << 20;

/// Each round has two processes of its own, each of which has a context already.
pub fn run(bench: &mut Bench) -> Rows {
    let rounds = bench.ground.count(40, 5);
    let stage = Measure::Stage { model: MODEL.to_owned(), parts: PARTS, part_bytes: PART_BYTES };
    bench.worker.times(&Order::from(stage))?;
    let measured = measure(bench, rounds);
    bench.pond.remove_version(MODEL)?;
    let [first, lazy, connect, raw] = measured?;
    let goal = Goal { ratio: Some(1.5), value: Some(2000.0), gpu_only: true };
    let what = format!("first attach of a process, {PARTS} handles, with its connection");
    let row = RowJson::times(FIRST, what, &first.taken).beside(FLOOR, &raw.taken);
    let processor = "of it, processor time of the process: the rest is waiting";
    let what = format!("the same of a lazy pond, {PARTS} handles");
    let lazy = RowJson::times(LAZY, what, &lazy.taken).beside(FLOOR, &raw.taken);
    Ok(vec![
        row.goal(goal, bench.ground.card.soft),
        lazy,
        RowJson::times(CONNECT, "a connection before the first attach", &connect.taken),
        RowJson::times(PROCESSOR, processor, &first.processor).beside(FLOOR, &raw.processor),
    ])
}

/// What the same thing took in all processes.
struct Took {
    taken: Samples,
    processor: Samples,
}

fn measure(bench: &Bench, rounds: u32) -> Result<[Took; 4], CommandError> {
    let mut took: [Vec<[Duration; 2]>; 4] = Default::default();
    for _ in 0..rounds {
        let one = |what: fn(String, String) -> Measure| -> Result<[Duration; 2], CommandError> {
            let mut worker = bench.another_worker("bench first")?;
            let order = what(bench.ground.card.device.clone(), MODEL.to_owned());
            let times = worker.times(&Order::from(order))?;
            worker.end()?;
            match times[..] {
                [taken, processor] => Ok([taken, processor]),
                _ => Err(wrong("nothing was measured")),
            }
        };
        let orders: [fn(String, String) -> Measure; 4] = [
            |device, model| Measure::First { device, model, lazy: false },
            |device, model| Measure::First { device, model, lazy: true },
            |device, _| Measure::FirstConnect { device },
            |device, model| Measure::FirstRaw { device, model },
        ];
        for (order, took) in orders.into_iter().zip(&mut took) {
            took.push(one(order)?);
        }
    }
    Ok(took.map(|took| {
        let [taken, processor] = [0, 1].map(|which| took.iter().map(|it| it[which]).collect());
        Took { taken: Samples::new(taken), processor: Samples::new(processor) }
    }))
}
