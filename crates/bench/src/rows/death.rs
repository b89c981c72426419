//! A worker with a lease is killed with -9.

use std::time::{Duration, Instant};

use super::{Rows, ready};
use crate::ground::Bench;
use crate::json::RowJson;
use crate::row::Goal;
use crate::samples::Samples;
use crate::socket::Floor;
use millpond_console::error::{CommandError, failed, wrong};
use millpond_trial::PATIENCE;
use millpond_trial::process::Process;
use millpond_trial::protocol::Order;

pub const NAMES: &[&str] = &["death/noticed", "death/leases"];

/// After so long the driver's own threads have nothing left to do.
const SETTLED: Duration = Duration::from_millis(200);
const NAME: &str = "millpond-bench/death";

/// Until `ps` shows that nobody answers there, and until its lease has ended.
pub fn run(bench: &mut Bench) -> Rows {
    let rounds = bench.ground.count(20, 3);
    let (mut raw, mut noticed, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        raw.push(Floor::start()?.kill()?);
        let made = bench.pond.reserve(ready(NAME, 4096))?;
        let seen = kill_one(bench);
        bench.pond.delete(made.tensor)?;
        let (first, second) = seen?;
        noticed.push(first);
        ended.push(second);
    }
    let goal = Goal { value: Some(10_000.0), ..Goal::default() };
    let raw = Samples::new(raw);
    let row = |name, what, times| {
        RowJson::times(name, what, &Samples::new(times))
            .beside("a bare socket's end after a kill -9", &raw)
    };
    Ok(vec![
        row(NAMES[0], "worker killed -9: noticed", noticed).goal(goal, bench.ground.card.soft),
        row(NAMES[1], "worker killed -9: its lease has ended", ended),
    ])
}

fn kill_one(bench: &Bench) -> Result<(Duration, Duration), CommandError> {
    let mut worker = bench.another_worker("bench victim")?;
    worker.times(&Order::Map { names: vec![NAME.to_owned()] })?;
    let pid = worker.pid();
    let process = Process::open(pid).map_err(|error| failed("finding a worker", error))?;
    // A worker at work, not one that is still starting.
    std::thread::sleep(SETTLED);
    let start = Instant::now();
    process.kill().map_err(|error| failed("killing a worker", error))?;
    let mut noticed = None;
    loop {
        let clients = bench.pond.clients()?;
        let found = clients.iter().find(|client| client.pid == pid);
        if found.is_none_or(|client| client.silent) {
            noticed.get_or_insert_with(|| start.elapsed());
        }
        if let (Some(noticed), true) = (noticed, found.is_none_or(|it| it.leases.is_empty())) {
            let ended = start.elapsed();
            worker.bury();
            return Ok((noticed, ended));
        }
        if start.elapsed() > PATIENCE {
            return Err(wrong("the death of a worker was not noticed"));
        }
    }
}
