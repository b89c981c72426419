//! Round trips, journalled or not, beside the bare socket.

use super::{Rows, TURNS};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::{self, Samples};
use crate::socket::{self, Floor};
use millpond_trial::protocol::Order;

pub const NAMES: &[&str] = &["request/ping", "request/publish"];

/// A request that changes nothing, and one that is in the journal before it is answered.
pub fn run(bench: &mut Bench) -> Rows {
    let soft = bench.ground.card.soft;
    let turn = bench.ground.count(20_000, 1_000) / TURNS;
    let floor = Floor::start()?;
    let (mut raw, mut ping, mut publish) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        raw.extend(samples::measure(turn, || floor.round_trip())?);
        ping.extend(samples::measure(turn, || bench.pond.ping())?);
        let order = Order::from(Measure::Publish { rounds: turn });
        publish.extend(bench.worker.times(&order)?);
    }
    let raw = Samples::new(raw);
    let goal = Goal { ratio: Some(2.0), ..Goal::default() };
    let row = |name, what, times| {
        RowJson::times(name, what, &Samples::new(times)).beside(socket::WHAT, &raw).goal(goal, soft)
    };
    Ok(vec![
        row(NAMES[0], "request round trip", ping),
        row(NAMES[1], "publish, journalled", publish),
    ])
}
