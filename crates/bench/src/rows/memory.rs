//! What an idle pond needs.

use super::Rows;
use crate::ground::Bench;
use crate::json::{RowJson, Unit};
use crate::row::Goal;
use millpond_console::error::wrong;
use millpond_trial::process;

pub const NAMES: &[&str] = &["memory/daemon", "memory/keeper", "memory/gpu"];

/// Of the daemon in main memory and on the card, and of the keeper.
pub fn run(bench: &mut Bench) -> Rows {
    let resident = |pid| {
        let bytes = process::resident_bytes(pid);
        bytes.map(as_value).ok_or_else(|| wrong("a process of the pond is gone"))
    };
    let soft = bench.ground.card.soft;
    let at_most = |bytes: u64| Goal { value: Some(as_value(bytes)), ..Goal::default() };
    let pid = bench.status.daemon_pid;
    let mut rows = vec![
        RowJson::value(NAMES[0], "daemon, resident", Unit::Bytes, resident(pid)?)
            .goal(at_most(30 << 20), soft),
        RowJson::value(
            NAMES[1],
            "keeper, resident",
            Unit::Bytes,
            resident(bench.status.keeper_pid)?,
        ),
    ];
    let gpu = match (bench.meter.process_bytes(pid)?, bench.used_before) {
        (Some(bytes), _) => Some((bytes, "by process")),
        (None, Some(before)) => {
            let slabs: u64 = bench.pond.status()?.devices.iter().map(|it| it.slab_bytes).sum();
            let used = bench.meter.used_bytes()?.saturating_sub(before).saturating_sub(slabs);
            Some((used, "before and after"))
        }
        (None, None) => None,
    };
    if let Some((bytes, how)) = gpu {
        let what = format!("daemon, on the GPU ({}, {how})", bench.ground.card.reading);
        rows.push(
            RowJson::value(NAMES[2], what, Unit::Bytes, as_value(bytes))
                .goal(at_most(10 << 20), soft),
        );
    }
    Ok(rows)
}

/// Bytes as a row's number.
#[expect(clippy::cast_precision_loss, reason = "2^53 bytes are more than any machine has")]
pub fn as_value(bytes: u64) -> f64 {
    bytes as f64
}
