//! Connections: how fast they are made, and what many idle ones cost a request.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::process::{Resource, getrlimit};

use super::Rows;
use crate::ground::Ground;
use crate::json::RowJson;
use crate::measure::Measure;
use crate::samples::{self, Samples};
use crate::socket::{self, Floor, Listener};
use millpond_console::error::CommandError;
use millpond_trial::protocol::Order;
use millpond_trial::{TrialPond, Worker};
use millpond_view::units;

pub const NAMES: &[&str] = &["connections/accept", "connections/many", "connections/most"];

/// Descriptors of the daemon that are not for connections, each of which takes two.
const OTHERS: u64 = 1_200;
const PROCESSES: u32 = 4;

/// 1,000, then 10,000 or as many as the limit of open files allows.
pub fn run(ground: &Ground) -> Rows {
    let rounds = ground.count(10_000, 200);
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let allowed = u32::try_from(limit.saturating_sub(OTHERS) / 2).unwrap_or(u32::MAX);
    let many = ground.count(1_000, 40).min(allowed);
    let most = ground.count(10_000, 200).min(allowed);
    let (trial, _) = ground.pond()?;
    let raw_connect = bare_connects(&trial, many)?;
    let mut workers: Vec<Worker> =
        (0..PROCESSES).map(|_| trial.worker("bench crowd")).collect::<Result<_, _>>()?;
    let connect = Samples::new(connect(&mut workers, many)?);
    let pond = trial.connect("bench")?;
    let floor = Floor::start()?;
    let beside = |name, connections: u32| {
        let raw = Samples::new(samples::measure(rounds, || floor.round_trip())?);
        let ping = Samples::new(samples::measure(rounds, || pond.ping())?);
        let connections = units::thousands(u64::from(connections));
        let what = format!("round trip beside {connections} connections");
        Ok::<_, CommandError>(RowJson::times(name, what, &ping).beside(socket::WHAT, &raw))
    };
    let with_many = beside(NAMES[1], many)?;
    self::connect(&mut workers, most.saturating_sub(many))?;
    let with_most = beside(NAMES[2], most)?;
    pond.close()?;
    drop((workers, trial));
    Ok(vec![
        RowJson::rates(NAMES[0], "connect and hello", &connect)
            .beside(socket::CONNECT_WHAT, &raw_connect),
        with_many,
        with_most,
    ])
}

fn connect(
    workers: &mut [Worker],
    connections: u32,
) -> Result<Vec<std::time::Duration>, CommandError> {
    let mut taken = Vec::new();
    for worker in workers {
        let connections = connections / PROCESSES;
        taken.extend(worker.times(&Order::from(Measure::Connect { connections }))?);
    }
    Ok(taken)
}

fn bare_connects(trial: &TrialPond, rounds: u32) -> Result<Samples, CommandError> {
    let listener = Listener::start(trial.folder())?;
    // Kept open as the others are, but few enough for any limit of open files.
    let rounds = rounds.min(500);
    let mut connections: Vec<OwnedFd> = Vec::new();
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        connections.push(listener.connect()?);
        taken.push(start.elapsed());
    }
    Ok(Samples::new(taken))
}
