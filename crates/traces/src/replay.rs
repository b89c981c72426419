//! A replay: the caches of a pond, the memory of its driver, and the clock on the wall.

use crate::counted::{equal_shares, shares_by_load};
use crate::elastic::geometry;
use crate::engine::play;
use crate::error::TraceError;
use crate::memory::{Closed, Memory, Taken};
use crate::model::GRANULE;
use crate::outcome::Run;
use crate::pace::Pace;
use crate::trace::Trace;
use crate::way::Way;
use millpond::{BlockTable, ElasticCache, ElasticError, Pond, ReserveSpec};
use millpond_cuda::{Event, Stream};
use std::time::{Duration, Instant};

/// How long a commit waits for idle neighbours. Longer than it takes to move gigabytes; nobody else is
/// served meanwhile.
const WAIT: Duration = Duration::from_millis(200);

/// Pages whose work is over are free a moment after it, without anybody giving anything.
const AGAIN: Duration = Duration::from_millis(20);

/// Real caches in one group's budget.
struct Real {
    begun: Instant,
    caches: Vec<RealCache>,
    limit_bytes: u64,
    /// Each model keeps to its own share, which is there from the beginning.
    is_split: bool,
    /// What calls took that needed the driver.
    driver: Duration,
}

struct RealCache {
    cache: ElasticCache,
    table: BlockTable,
    stream: Stream,
    event: Event,
}

/// Plays a trace with real memory, under the limit of a group.
///
/// # Errors
/// What the pond and its driver answer; a way that a replay does not have; memory that is left at the
/// end.
pub fn replay(
    trace: &Trace,
    pond: &Pond,
    group: &str,
    bytes: u64,
    way: Way,
    patience: Duration,
) -> Result<Run, TraceError> {
    let shares = match way {
        Way::StaticEqual => equal_shares(trace, bytes),
        Way::StaticByLoad => shares_by_load(trace, bytes),
        Way::Elastic | Way::ElasticAhead | Way::ElasticFine => vec![bytes; trace.models.len()],
        Way::Oracle => return Err(TraceError::NoReplay(way.title())),
    };
    let mut caches = Vec::new();
    for (model, share) in trace.models.iter().zip(shares) {
        let shape = geometry(model, share, way == Way::ElasticFine)?;
        let mut spec = ReserveSpec::of_blocks(shape.blocks(), shape.block_bytes())
            .segments(shape.segments())
            .granule(GRANULE)
            .wait(WAIT);
        if way == Way::ElasticAhead {
            spec = spec.ahead(shape.row_bytes(), 2 * shape.row_bytes());
        }
        let name = format!("traces/{}", model.name);
        let cache = pond.elastic(group)?.reserve(&name, spec)?;
        let (stream, event) = (Stream::new(cache.context())?, Event::new(cache.context())?);
        caches.push(RealCache { table: cache.blocks()?, cache, stream, event });
    }
    let is_split = matches!(way, Way::StaticEqual | Way::StaticByLoad);
    if is_split {
        for one in &caches {
            // All pages are made before the first request, and stay.
            let all = usize::try_from(one.cache.geometry().blocks()).unwrap_or(usize::MAX);
            one.table.give(&one.table.take(all)?, None)?;
        }
    }
    let begun = Instant::now();
    let memory = Real { begun, caches, limit_bytes: bytes, is_split, driver: Duration::ZERO };
    play(trace, memory, patience, Pace::Wall(begun))
}

impl Real {
    /// Whether blocks could be had by now: in rows that are there, or in new ones for which credit is
    /// free or idle with somebody. So nobody waits for what nobody has.
    fn may_have(&self, model: usize, count: u64) -> bool {
        let one = &self.caches[model];
        let missing = count.saturating_sub(one.table.ready_blocks());
        if missing == 0 {
            return true;
        }
        let shape = one.cache.geometry();
        let rows = (missing * shape.block_bytes()).div_ceil(shape.granule());
        let held: u64 = self.caches.iter().map(|one| one.cache.held_bytes()).sum();
        let others = self.caches.iter().enumerate().filter(|(other, _)| *other != model);
        let idle: u64 = others.map(|(_, one)| one.cache.idle_bytes()).sum();
        held - idle + rows * shape.row_bytes() <= self.limit_bytes
    }
}

impl Memory for Real {
    fn fits(&self, model: usize, blocks: u64) -> bool {
        blocks <= self.caches[model].cache.geometry().blocks()
    }

    fn budget_of(&self, model: usize) -> usize {
        if self.is_split { model } else { 0 }
    }

    fn take(
        &mut self,
        _now: Duration,
        model: usize,
        count: u64,
        blocks: &mut Vec<u32>,
    ) -> Result<Taken, TraceError> {
        if !self.may_have(model, count) {
            return Ok(Taken::Short);
        }
        let one = &self.caches[model];
        let (calls, start) = (one.cache.stats().calls, self.begun.elapsed());
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let answer = one.table.take_into(wanted, blocks);
        let at = self.begun.elapsed();
        if one.cache.stats().calls != calls {
            self.driver += at - start;
        }
        match answer {
            Ok(()) => Ok(Taken::At(at)),
            Err(
                ElasticError::AfterFreeing { .. }
                | ElasticError::OverBudget { .. }
                | ElasticError::NeverFits { .. },
            ) => Ok(Taken::Short),
            Err(error) => Err(error.into()),
        }
    }

    /// With a real event, as an engine has one at the end of each step.
    fn give(&mut self, _now: Duration, model: usize, blocks: &[u32]) -> Result<(), TraceError> {
        let one = &self.caches[model];
        one.event.record(&one.stream)?;
        Ok(one.table.give(blocks, Some(one.event.clone()))?)
    }

    fn ask_again_after(&self) -> Option<Duration> {
        Some(AGAIN)
    }

    fn held_bytes(&self, model: usize) -> u64 {
        self.caches[model].cache.held_bytes()
    }

    fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    fn close(&mut self) -> Result<Closed, TraceError> {
        let mut left_bytes = 0;
        for one in &self.caches {
            one.stream.synchronize()?;
            one.cache.trim(u64::MAX)?;
            left_bytes += one.cache.held_bytes();
        }
        Ok(Closed { driver: self.driver, left_bytes })
    }
}
