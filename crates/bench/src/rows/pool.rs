//! Stream-ordered pools beside the driver's own.

use millpond_console::error::CommandError;
use millpond_view::units;

use super::elastic::{Card, ROOMY, apart, order};
use crate::caches::{BATCH, CacheWork, PoolWork};
use crate::json::RowJson;
use crate::row::Goal;

pub const NAMES: [&str; 4] =
    ["elastic/pool-64k", "elastic/pool-20m", "elastic/pool-mixed", "elastic/pool-two-streams"];

const RAW: &str = "cuMemAllocAsync and cuMemFreeAsync from a warm pool";
const RAW_ORDERED: &str = "the same on two streams, with an event between them";

/// All rows of pools.
pub fn run(card: &Card<'_>) -> Result<Vec<RowJson>, CommandError> {
    let (small, large) = (64 << 10, 20 << 20);
    Ok(vec![
        row(
            card,
            NAMES[0],
            "a block of 64 KiB is taken and freed",
            PoolWork::One { bytes: small },
            RAW,
        )?,
        row(
            card,
            NAMES[1],
            "a block of 20 MiB is taken and freed",
            PoolWork::One { bytes: large },
            RAW,
        )?,
        row(
            card,
            NAMES[2],
            "one of 1,000 blocks is freed, and one of another size taken",
            PoolWork::Mixed,
            RAW,
        )?,
        row(
            card,
            NAMES[3],
            "64 KiB on one stream, then on another",
            PoolWork::Two { bytes: small },
            RAW_ORDERED,
        )?,
    ])
}

fn row(
    card: &Card<'_>,
    name: &'static str,
    what: &str,
    work: PoolWork,
    beside: &'static str,
) -> Result<RowJson, CommandError> {
    let mut worker = card.worker()?;
    let (group, device) = (ROOMY.to_owned(), card.device.clone());
    let rounds = card.rounds(100);
    let work = CacheWork::Pool { group, device, work, rounds };
    let [own, raw] = apart(&worker.times(&order(work))?);
    worker.end()?;
    let what = format!("{what}, mean of {}", units::thousands(BATCH.into()));
    let goal = Goal { ratio: Some(2.0), ..Goal::default() };
    Ok(RowJson::times(name, what, &own).beside(beside, &raw).goal(goal, card.soft()))
}
