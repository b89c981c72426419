//! The daemon is killed with -9: until the next one answers.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use millpond_wire::message::Status;

use super::{Rows, ready, reserve_many};
use crate::ground::Ground;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::programs;
use crate::row::Goal;
use crate::samples::Samples;
use millpond_console::error::{CommandError, failed};
use millpond_trial::process::Process;
use millpond_trial::protocol::Order;
use millpond_trial::{TrialPond, Worker, until};

pub const NAMES: &[&str] = &["recovery/empty", "recovery/clients", "recovery/claimed"];

/// What the floor is called.
pub const FLOOR: &str = "start and end of the same program";
const TENSORS: u32 = 1_000;
const CLIENTS: u32 = 100;
const HELD: &str = "millpond-bench/held";

/// An empty pond, and one with tensors and clients that claim.
pub fn run(ground: &Ground) -> Rows {
    let kills = ground.count(9, 3);
    let floor = process_start(kills)?;
    let empty = empty(ground, kills)?;
    let (trial, mut status) = ground.pond()?;
    let pond = trial.connect("bench")?;
    reserve_many(&pond, "millpond-bench/recovery", TENSORS)?;
    pond.reserve(ready(HELD, 4096))?;
    pond.close()?;
    let mut clients = trial.worker("bench clients")?;
    let hold = Measure::Hold { name: HELD.to_owned(), clients: CLIENTS };
    clients.times(&Order::from(hold))?;
    let (mut answered, mut claimed) = (Vec::new(), Vec::new());
    for _ in 0..kills {
        clients.tell(&Order::from(Measure::Claim))?;
        let (time, start, next) = kill(&trial, &status)?;
        answered.push(time);
        clients.heard_times()?;
        claimed.push(start.elapsed());
        status = next;
    }
    end(clients, trial)?;
    let goal = Goal { value: Some(200_000.0), ..Goal::default() };
    let row =
        |name, what, times| RowJson::times(name, what, &Samples::new(times)).beside(FLOOR, &floor);
    Ok(vec![
        row(NAMES[0], "daemon killed -9 to next answer", empty).goal(goal, ground.card.soft),
        row(NAMES[1], "the same with 1,000 tensors and 100 clients", answered)
            .goal(goal, ground.card.soft),
        row(NAMES[2], "the same until all 100 have claimed", claimed),
    ])
}

/// Nobody else uses the card then, so its driver shuts it down with the daemon and starts it anew:
/// beside running workers this is faster.
fn empty(ground: &Ground, kills: u32) -> Result<Vec<Duration>, CommandError> {
    let (trial, mut status) = ground.pond()?;
    let mut taken = Vec::new();
    for _ in 0..kills {
        let (time, _, next) = kill(&trial, &status)?;
        taken.push(time);
        status = next;
    }
    Ok(taken)
}

fn end(clients: Worker, trial: TrialPond) -> Result<(), CommandError> {
    clients.end()?;
    drop(trial);
    Ok(())
}

/// Kills the daemon: the time to the first answer of the next one, when it was killed, and the
/// next one once its driver is ready.
pub fn kill(
    trial: &TrialPond,
    status: &Status,
) -> Result<(Duration, Instant, Status), CommandError> {
    let process =
        Process::open(status.daemon_pid).map_err(|error| failed("finding the daemon", error))?;
    let start = Instant::now();
    process.kill().map_err(|error| failed("killing the daemon", error))?;
    let (time, _) = until("the next daemon", || {
        let answered = trial.connect("bench").and_then(|pond| Ok(pond.status()?));
        let next = answered.is_ok_and(|next| next.epoch > status.epoch);
        Ok(next.then(|| start.elapsed()))
    })?;
    let (next, _) = until("the next daemon's driver", || {
        let next = trial.connect("bench")?.status()?;
        Ok(Some(next).filter(|next| next.driver_ready))
    })?;
    Ok((time, start, next))
}

/// How long it takes to start a process of this program that does nothing.
pub fn process_start(rounds: u32) -> Result<Samples, CommandError> {
    let trouble = |error| failed("starting this program", error);
    let program = programs::core()?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let mut command = Command::new(&program);
        command.arg("version").stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        command.status().map_err(trouble)?;
        taken.push(start.elapsed());
    }
    Ok(Samples::new(taken))
}
