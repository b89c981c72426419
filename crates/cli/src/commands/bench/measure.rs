//! What is measured.

use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, TensorSpec};

use super::goal::Goal;
use super::samples::Samples;
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

/// A request that changes nothing.
pub fn ping(pond: &Pond, rounds: Rounds, floor: &Samples) -> Result<TimingJson, CommandError> {
    let samples = Samples::measure(rounds.messages, || pond.ping())?;
    Ok(REQUEST.judge("ping", "request round trip", &samples, Some(floor)))
}

/// Requests that are in the journal before they are answered: a tiny tensor is made and deleted.
pub fn journalled(
    pond: &Pond,
    rounds: Rounds,
    floor: &Samples,
) -> Result<TimingJson, CommandError> {
    let tiny = || TensorSpec::unnamed(Dtype::U8, [1]).zero(true);
    // Keeps the slab, so that no round waits for the driver.
    let anchor = pond.reserve(tiny())?;
    let samples = Samples::measure(rounds.messages, || {
        let made = pond.reserve(tiny())?;
        pond.delete(made.tensor)
    })?;
    pond.delete(anchor.tensor)?;
    let what = "journalled request (half of create + delete)";
    Ok(REQUEST.judge("journalled", what, &samples.divided(2), Some(floor)))
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
/// of its own, because a keeper whose daemons die again and again waits a little longer each time.
/// Nobody else uses the card then, so its driver shuts it down with the daemon and starts it anew:
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
