//! Many clients and many tensors: what the daemon needs for them, and how fast it is back.

use super::memory::as_value;
use super::recovery::{self, kill, process_start};
use super::{Rows, reserve_many};
use crate::ground::Ground;
use crate::json::{RowJson, Unit};
use crate::measure::Measure;
use crate::row::Goal;
use crate::samples::Samples;
use millpond_console::error::{CommandError, wrong};
use millpond_trial::process;
use millpond_trial::protocol::Order;
use millpond_view::units;

pub const NAMES: &[&str] =
    &["crowd/resident", "crowd/per-tensor", "crowd/journal", "crowd/recovery"];

const PROCESSES: u32 = 4;

/// 1,000 clients that are connected and 100,000 tensors.
pub fn run(ground: &Ground) -> Rows {
    let clients = ground.count(1_000, 40);
    let tensors = ground.count(100_000, 2_000);
    let (trial, mut status) = ground.pond()?;
    let resident = |pid| process::resident_bytes(pid).ok_or_else(|| wrong("the daemon is gone"));
    let idle = resident(status.daemon_pid)?;
    let mut workers = Vec::new();
    for _ in 0..PROCESSES {
        let mut worker = trial.worker("bench crowd")?;
        let connect = Measure::Connect { connections: clients / PROCESSES };
        worker.times(&Order::from(connect))?;
        workers.push(worker);
    }
    let connected = resident(status.daemon_pid)?;
    let pond = trial.connect("bench")?;
    let journal_before = pond.status()?.journal_bytes;
    reserve_many(&pond, "millpond-bench/crowd", tensors)?;
    let full = resident(status.daemon_pid)?;
    let journal = pond.status()?.journal_bytes.saturating_sub(journal_before);
    pond.close()?;
    let kills = ground.count(5, 2);
    let recovered: Result<Vec<_>, CommandError> = (0..kills)
        .map(|_| {
            let (time, _, next) = kill(&trial, &status)?;
            status = next;
            Ok(time)
        })
        .collect();
    let recovered = Samples::new(recovered?);
    drop((workers, trial));

    let goal = Goal { value: (!ground.quick).then_some(as_value(100 << 20)), ..Goal::default() };
    let each = |bytes: u64| as_value(bytes) / f64::from(tensors);
    let (clients, tensors) =
        (units::thousands(u64::from(clients)), units::thousands(u64::from(tensors)));
    let what = format!("daemon with {clients} clients, {tensors} tensors");
    Ok(vec![
        RowJson::value(NAMES[0], what, Unit::Bytes, as_value(full))
            .beside_value("the daemon when it was idle", as_value(idle))
            .goal(goal, ground.card.soft),
        RowJson::value(
            NAMES[1],
            "the same for each tensor",
            Unit::Bytes,
            each(full.saturating_sub(connected)),
        ),
        RowJson::value(NAMES[2], "journal for each tensor", Unit::Bytes, each(journal)),
        RowJson::times(NAMES[3], format!("daemon killed -9, {tensors} tensors"), &recovered)
            .beside(recovery::FLOOR, &process_start(kills)?),
    ])
}
