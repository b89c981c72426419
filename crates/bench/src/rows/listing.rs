//! A listing of many tensors, decoded, beside reading as many bytes.

use std::time::Instant;

use millpond_wire::memfd;
use millpond_wire::message::{Reply, ReplyBody};

use super::{Rows, reserve_many};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::row::Goal;
use crate::samples::{self, Samples};
use millpond_console::error::failed;
use millpond_view::units;

pub const NAMES: &[&str] = &["list/many"];

const FOLDER: &str = "millpond-bench/list";

/// The floor is a read of the same bytes from a memfd.
pub fn run(bench: &mut Bench) -> Rows {
    let count = bench.ground.count(10_000, 1_000);
    let rounds = bench.ground.count(50, 10);
    reserve_many(&bench.pond, FOLDER, count)?;
    let list = || bench.pond.list(FOLDER);
    let listed = list()?;
    let tensors: Vec<_> = listed.iter().map(|info| info.tensor).collect();
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let seen = list()?;
        taken.push(start.elapsed());
        drop(seen);
    }
    let mut builder = planus::Builder::new();
    let reply = Reply { number: 1, body: ReplyBody::Tensors(listed) };
    let encoded = reply.encode(&mut builder);
    let bytes = encoded.len() as u64;
    let refused = |error| failed("a memfd", error);
    let file = memfd::sealed("bench", encoded).map_err(refused)?;
    let raw = samples::measure(rounds, || {
        memfd::read_sealed(&file, bytes, bytes).map(drop).map_err(refused)
    })?;
    for tensor in tensors {
        bench.pond.delete(tensor)?;
    }
    let what = format!("listing of {} tensors, decoded", units::thousands(u64::from(count)));
    let goal = Goal { value: (count == 10_000).then_some(50_000.0), ..Goal::default() };
    Ok(vec![
        RowJson::times(NAMES[0], what, &Samples::new(taken))
            .beside("the same bytes read from a memfd", &Samples::new(raw))
            .goal(goal, bench.ground.card.soft),
    ])
}
