//! Memory that is only counted: a static split with a budget for each model, and the ideal, one
//! budget for all. Blocks cost no time, in a split because it was made before the first request, and in
//! the ideal because it is one.

use crate::error::TraceError;
use crate::memory::{Closed, Memory, Taken};
use crate::model::{GRANULE, Model, blocks_for};
use crate::trace::Trace;
use std::time::Duration;

/// Budgets of bytes.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Size of a block of each model.
    block_bytes: Vec<u64>,
    /// Each model's budget.
    budget_of: Vec<usize>,
    budgets: Vec<Budget>,
    used: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Budget {
    limit: u64,
    used: u64,
}

impl Counted {
    /// One budget for all.
    #[must_use]
    pub fn ideal(trace: &Trace, bytes: u64) -> Self {
        Self::new(trace, vec![0; trace.models.len()], &[bytes])
    }

    /// A budget for each model.
    #[must_use]
    pub fn split(trace: &Trace, shares: &[u64]) -> Self {
        Self::new(trace, (0..trace.models.len()).collect(), shares)
    }

    fn new(trace: &Trace, budget_of: Vec<usize>, limits: &[u64]) -> Self {
        let budgets = limits.iter().map(|limit| Budget { limit: *limit, used: 0 }).collect();
        let block_bytes = trace.models.iter().map(|model| model.whole_block_bytes()).collect();
        Self { block_bytes, budget_of, budgets, used: vec![0; trace.models.len()] }
    }
}

impl Memory for Counted {
    fn fits(&self, model: usize, blocks: u64) -> bool {
        blocks * self.block_bytes[model] <= self.budgets[self.budget_of[model]].limit
    }

    fn budget_of(&self, model: usize) -> usize {
        self.budget_of[model]
    }

    fn take(
        &mut self,
        now: Duration,
        model: usize,
        count: u64,
        blocks: &mut Vec<u32>,
    ) -> Result<Taken, TraceError> {
        let bytes = count * self.block_bytes[model];
        let budget = &mut self.budgets[self.budget_of[model]];
        if budget.used + bytes > budget.limit {
            return Ok(Taken::Short);
        }
        budget.used += bytes;
        self.used[model] += bytes;
        blocks.extend((0..count).map(|_| 0));
        Ok(Taken::At(now))
    }

    fn give(&mut self, _now: Duration, model: usize, blocks: &[u32]) -> Result<(), TraceError> {
        let bytes = blocks.len() as u64 * self.block_bytes[model];
        self.budgets[self.budget_of[model]].used -= bytes;
        self.used[model] -= bytes;
        Ok(())
    }

    /// A model's whole share is its own; of a budget for all only what is in use.
    fn held_bytes(&self, model: usize) -> u64 {
        match self.budgets.len() == self.budget_of.len() {
            true => self.budgets[model].limit,
            false => self.used[model],
        }
    }

    fn limit_bytes(&self) -> u64 {
        self.budgets.iter().map(|budget| budget.limit).sum()
    }

    fn close(&mut self) -> Result<Closed, TraceError> {
        let left_bytes = self.used.iter().sum();
        Ok(Closed { driver: Duration::ZERO, left_bytes })
    }
}

/// The same for every model.
#[must_use]
pub fn equal_shares(trace: &Trace, bytes: u64) -> Vec<u64> {
    let count = trace.models.len().max(1);
    vec![bytes / count as u64; trace.models.len()]
}

/// In proportion to what the requests of each model hold over the whole trace, which nobody knows
/// before: the best that a split by load can be. Every model gets at least a row of its cache, and what its
/// largest request needs, where that is possible.
#[must_use]
pub fn shares_by_load(trace: &Trace, bytes: u64) -> Vec<u64> {
    let row = |model: &Model| model.segments() * GRANULE;
    let mut least: Vec<u64> = trace.models.iter().map(row).collect();
    for one in &trace.requests {
        let model = &trace.models[one.model];
        let needed = blocks_for(one.prompt_tokens + one.output_tokens) * model.whole_block_bytes();
        least[one.model] = least[one.model].max(needed);
    }
    let (demands, reserved) = (trace.demands(), least.iter().sum::<u64>());
    let all: f64 = demands.iter().sum();
    let Some(rest) = bytes.checked_sub(reserved).filter(|_| all > 0.0) else {
        return equal_shares(trace, bytes);
    };
    let part = |demand: f64| crate::chance::whole((rest as f64 * demand / all).floor());
    least.iter().zip(&demands).map(|(least, demand)| least + part(*demand)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Plan, generate};

    #[test]
    fn shares_are_never_more_than_there_is() {
        for seed in 0..20 {
            let plan = Plan::new(8, 75, seed);
            let (trace, bytes) = (generate(&plan).unwrap(), plan.kv_bytes().unwrap());
            for shares in [equal_shares(&trace, bytes), shares_by_load(&trace, bytes)] {
                let sum: u64 = shares.iter().sum();
                assert!(sum <= bytes && sum > bytes - (1 << 20), "{shares:?} of {bytes}");
            }
        }
    }

    #[test]
    fn a_budget_ends_where_it_ends() {
        let trace = generate(&Plan::new(2, 10, 1)).unwrap();
        let block = trace.models[0].whole_block_bytes();
        let (now, mut blocks) = (Duration::ZERO, Vec::new());
        let mut split = Counted::split(&trace, &[4 * block, 0]);
        assert_eq!(split.take(now, 0, 5, &mut blocks).unwrap(), Taken::Short);
        assert_eq!(split.take(now, 0, 4, &mut blocks).unwrap(), Taken::At(now));
        assert_eq!(split.take(now, 0, 1, &mut blocks).unwrap(), Taken::Short);
        assert!(split.fits(0, 4) && !split.fits(0, 5) && !split.fits(1, 1));
        assert_eq!(split.close().unwrap().left_bytes, 4 * block);
        split.give(now, 0, &blocks).unwrap();
        assert_eq!(split.close().unwrap().left_bytes, 0);
    }
}
