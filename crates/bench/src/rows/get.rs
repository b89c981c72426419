//! A small tensor is got: with all that it takes, with its slab mapped, and once more.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use super::{Rows, ready};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::{self, Samples};
use crate::socket::Floor;
use millpond_console::error::wrong;
use millpond_trial::protocol::Order;

pub const NAMES: &[&str] = &["get/first", "get/mapped", "get/again"];

const ONE: &str = "millpond-bench/get/one";
const TWO: &str = "millpond-bench/get/two";

/// Each by a worker with a context.
pub fn run(bench: &mut Bench) -> Rows {
    let rounds = bench.ground.count(2_000, 100);
    let (soft, device) = (bench.ground.card.soft, bench.ground.card.device.clone());
    let one = bench.pond.reserve(ready(ONE, 4096))?;
    let two = bench.pond.reserve(ready(TWO, 4096))?;
    if one.slab != two.slab {
        return Err(wrong("two small tensors do not share a slab"));
    }
    let attach = |name: &str, beside: Option<&str>| {
        let beside = beside.map(str::to_owned);
        Order::from(Measure::Attach { names: vec![name.to_owned()], beside, rounds })
    };
    let floor = Floor::start()?;
    let socket = Samples::new(samples::measure(rounds, || floor.round_trip())?);
    let raw = Measure::AttachRaw { device, names: vec![ONE.to_owned()], rounds };
    let driver = Samples::new(bench.worker.times(&Order::from(raw))?);
    let first = Samples::new(bench.worker.times(&attach(ONE, None))?);
    let mapped = Samples::new(bench.worker.times(&attach(TWO, Some(ONE)))?);
    let again = Samples::new(bench.worker.times(&attach(ONE, Some(ONE)))?);
    for made in [one, two] {
        bench.pond.delete(made.tensor)?;
    }
    let both = Samples::new(vec![socket.median() + driver.median()]);
    let goal = Goal { value: Some(1.0), ..Goal::default() };
    Ok(vec![
        RowJson::times(NAMES[0], "get: a message, and the slab is mapped", &first)
            .beside("bare round trip and bare driver calls", &both),
        RowJson::times(NAMES[1], "get where the slab is mapped", &mapped)
            .beside("bare round trip", &socket),
        RowJson::times(NAMES[2], "get again what is held", &again)
            .beside("a look into a hash table", &lookup(rounds))
            .goal(goal, soft),
    ])
}

/// What no get can be faster than: a name is looked up, and a reference counted.
fn lookup(rounds: u32) -> Samples {
    let table: HashMap<String, Arc<u64>> =
        (0..100).map(|number| (format!("millpond-bench/get/{number}"), Arc::new(number))).collect();
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        black_box(table.get(black_box("millpond-bench/get/42")).map(Arc::clone));
        taken.push(start.elapsed());
    }
    Samples::new(taken)
}
