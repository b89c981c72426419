//! What is measured.

use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, TensorSpec};

use super::goal::Goal;
use super::samples::{self, Samples};
use super::socket::Floor;
use crate::error::{CommandError, failed};
use crate::json::TimingJson;
use crate::scene::process::Process;
use crate::scene::protocol::{Card, Order};
use crate::scene::{Stage, Worker, until};
use crate::units;

/// How often each thing is done.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Round trips of a message.
    pub messages: u32,
    /// Attaches.
    pub attaches: u32,
    /// Daemons that are killed.
    pub kills: u32,
}

const REQUEST: Goal = Goal { times_raw: Some(2.0), under: None };

/// Turns that the things to be compared take: the machine may get faster or slower meanwhile.
const TURNS: u32 = 10;

/// A request that changes nothing, and requests that are in the journal before they are answered
/// (a tiny tensor is made and deleted), each beside the bare socket.
pub fn requests(pond: &Pond, rounds: Rounds) -> Result<[TimingJson; 2], CommandError> {
    let floor = Floor::start()?;
    let tiny = || TensorSpec::unnamed(Dtype::U8, [1]).zero(true);
    // Keeps the slab, so that no round waits for the driver.
    let anchor = pond.reserve(tiny())?;
    let (mut raw, mut ping, mut journalled) = (Vec::new(), Vec::new(), Vec::new());
    let turn = rounds.messages / TURNS;
    for _ in 0..TURNS {
        raw.extend(samples::measure(turn, || floor.round_trip())?);
        ping.extend(samples::measure(turn, || pond.ping())?);
        journalled.extend(samples::measure(turn, || {
            let made = pond.reserve(tiny())?;
            pond.delete(made.tensor)
        })?);
    }
    pond.delete(anchor.tensor)?;
    let raw = Samples::new(raw);
    let what = "journalled request (half of create + delete)";
    Ok([
        REQUEST.judge("ping", "request round trip", &Samples::new(ping), Some(&raw)),
        REQUEST.judge("journalled", what, &Samples::new(journalled).divided(2), Some(&raw)),
    ])
}

/// Mapping one large tensor, beside the bare driver calls on the same slab.
pub fn attach(
    pond: &Pond,
    worker: &mut Worker,
    card: &Card,
    bytes: u64,
    rounds: Rounds,
) -> Result<TimingJson, CommandError> {
    const NAME: &str = "millpond-bench/attach";
    let rounds = rounds.attaches;
    let made = pond.reserve(TensorSpec::new(NAME, Dtype::U8, [bytes]).zero(true))?;
    let (name, device) = (NAME.to_owned(), card.device.clone());
    let measured = worker.times(&Order::Attach { name: name.clone(), rounds });
    let raw = worker.times(&Order::AttachRaw { device, name, rounds });
    pond.delete(made.tensor)?;
    let (samples, raw) = (Samples::new(measured?), Samples::new(raw?));
    // The software driver's calls cost next to nothing: a ratio to them would judge the socket.
    let times_raw = (!card.soft).then_some(1.5);
    let goal = Goal { times_raw, under: Some(Duration::from_millis(2)) };
    let what = format!("attach of {}", units::bytes(bytes));
    Ok(goal.judge("attach", what, &samples, Some(&raw)))
}

/// A daemon that is killed with -9: until a new client has its first answer. Each time in a pond
/// of its own. Nobody else uses the card then, so its driver shuts it down with the daemon and starts it anew:
/// beside running workers this is faster.
pub fn restart(card: &Card, rounds: Rounds) -> Result<TimingJson, CommandError> {
    let mut times = Vec::new();
    for _ in 0..rounds.kills {
        let mut stage = Stage::prepare(0)?;
        // Devices of the software driver are named after the folder they are in.
        let device = if card.soft { "0" } else { &card.device };
        let (status, _) = stage.serve(device, &[])?;
        let process = Process::open(status.daemon_pid)
            .map_err(|error| failed("finding the daemon", error))?;
        let start = Instant::now();
        process.kill().map_err(|error| failed("killing the daemon", error))?;
        let (time, _) = until("the next daemon", || {
            let answered = stage.connect("bench").and_then(|pond| Ok(pond.status()?));
            let next = answered.is_ok_and(|next| next.epoch > status.epoch);
            Ok(next.then(|| start.elapsed()))
        })?;
        times.push(time);
    }
    let goal = Goal { times_raw: None, under: Some(Duration::from_millis(200)) };
    Ok(goal.judge("restart", "daemon killed -9 to next answer", &Samples::new(times), None))
}
