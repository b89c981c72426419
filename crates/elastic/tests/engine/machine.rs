//! Any sequence of calls, with failures of the driver and work that ends late: after each step
//! everything must be in order.

use crate::model::{Card, GRANULE, MIB, ModelCache, cache};
use millpond_elastic::{BlockTable, Geometry, Marks, Mutation, Prepared};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

/// One call, or one event on the card.
#[derive(Clone, Debug)]
pub enum Step {
    Commit(u64),
    CommitRange(u64, u64),
    Uncommit(u64, u64, End),
    Prepare(u64, u64),
    FinishPrepared { commit: bool },
    Trim(u64),
    TrimAll,
    Refill,
    Take(usize),
    Give(Vec<Index>, End),
    FinishWork,
    FailIn(u64),
}

/// How the use of blocks ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// Work runs on, and a fence says until when.
    Fenced,
    /// Work runs on, and nothing says so.
    Unfenced,
    Quiet,
}

const SEGMENTS: u64 = 2;
const BLOCKS: u64 = 120;

pub fn geometry() -> Geometry {
    // Three blocks in two granules, so that blocks straddle rows: 81 rows, more than two of the
    // largest extents.
    Geometry::new(BLOCKS, 4 * MIB / 3 + 4096, SEGMENTS, GRANULE).unwrap()
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Fenced), Just(End::Unfenced), Just(End::Quiet)]
}

fn common() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..40 * MIB).prop_map(Step::Trim),
        1 => Just(Step::TrimAll),
        1 => Just(Step::Refill),
        2 => Just(Step::FinishWork),
        1 => (0_u64..20).prop_map(Step::FailIn),
    ]
}

pub fn range_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (0..=BLOCKS).prop_map(Step::Commit),
        3 => (0..BLOCKS, 0_u64..70).prop_map(|(at, len)| Step::CommitRange(at, len)),
        4 => (0..BLOCKS, 0_u64..50, end()).prop_map(|(at, len, end)| Step::Uncommit(at, len, end)),
        1 => (0..BLOCKS, 0_u64..50).prop_map(|(at, len)| Step::Prepare(at, len)),
        1 => any::<bool>().prop_map(|commit| Step::FinishPrepared { commit }),
        4 => common(),
    ];
    prop::collection::vec(step, 1..40)
}

pub fn table_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_usize..60).prop_map(Step::Take),
        4 => (prop::collection::vec(any::<Index>(), 1..40), end()).prop_map(|(which, end)| Step::Give(which, end)),
        3 => common(),
    ];
    prop::collection::vec(step, 1..40)
}

/// A cache, its card, and what must be true of both.
pub struct Machine {
    pub card: Card,
    pub cache: ModelCache,
    geometry: Geometry,
    table: Option<BlockTable<Card, Card>>,
    prepared: Vec<Prepared<Card, Card>>,
    committed: BTreeSet<u64>,
    /// What was written into rows in use.
    contents: BTreeMap<u64, u8>,
    counter: u8,
}

type Checked = Result<(), String>;

fn ensure(condition: bool, what: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(what()) }
}

impl Machine {
    pub fn new(with_table: bool, mutation: Option<Mutation>) -> Self {
        // Neither card nor credit have room for everything.
        let card = Card::with_room(280 * MIB, 260 * MIB);
        let geometry = geometry();
        let marks = Marks { low: 3, high: 9, residency: Duration::ZERO };
        let cache = cache(&card, geometry.clone(), marks);
        let table = with_table.then(|| cache.blocks().unwrap());
        cache.break_rule(mutation);
        let (prepared, committed) = (Vec::new(), BTreeSet::new());
        Self {
            card,
            cache,
            geometry,
            table,
            prepared,
            committed,
            contents: BTreeMap::new(),
            counter: 0,
        }
    }

    pub fn run(mut self, steps: &[Step]) -> Checked {
        for (number, step) in steps.iter().enumerate() {
            let done = self.step(step).and_then(|()| self.check());
            done.map_err(|what| format!("step {number}, {step:?}: {what}"))?;
        }
        self.finish()
    }

    fn finish(mut self) -> Checked {
        self.card.state().fail_in = None;
        self.prepared.clear();
        self.table = None;
        let quarantined = self.cache.stats().quarantined_bytes;
        let card = self.card.clone();
        drop(self);
        let state = card.state();
        ensure(state.faults.is_empty(), || format!("at the end: {:?}", state.faults))?;
        ensure(state.used == quarantined && state.paid == quarantined, || {
            format!("{} held and {} paid at the end, {quarantined} lost", state.used, state.paid)
        })
    }

    fn rows(&self) -> BTreeSet<u64> {
        let bytes = self.geometry.block_bytes();
        let rows = |block: &u64| block * bytes / GRANULE..=((block + 1) * bytes - 1) / GRANULE;
        self.committed.iter().flat_map(rows).collect()
    }

    fn places(&self, row: u64) -> [u64; 2] {
        [0, 1].map(|segment| segment * self.geometry.segment_bytes() + row * GRANULE)
    }

    fn step(&mut self, step: &Step) -> Checked {
        let inside = |at: u64, len: u64| at..(at + len).min(BLOCKS);
        match step {
            Step::Commit(end) => {
                if self.cache.commit(*end).is_ok() {
                    self.add(0..*end);
                }
            }
            Step::CommitRange(at, len) => {
                let range = inside(*at, *len);
                let was = range.clone().any(|block| self.committed.contains(&block));
                let answer = self.cache.commit_range(range.clone());
                ensure(answer.is_err() || !was, || "committed twice".into())?;
                if answer.is_ok() {
                    self.add(range);
                }
            }
            Step::Uncommit(at, len, end) => {
                let range = inside(*at, *len);
                let all = range.clone().all(|block| self.committed.contains(&block));
                let fence = if all { self.submit(range.clone(), *end) } else { None };
                let answer = self.cache.uncommit(range.clone(), fence);
                ensure(answer.is_ok() == all, || format!("{answer:?} for {range:?}"))?;
                if all {
                    self.remove(range);
                }
            }
            Step::Prepare(at, len) => self.prepared.extend(self.cache.prepare(inside(*at, *len))),
            Step::FinishPrepared { commit } => {
                if let Some(prepared) = self.prepared.pop() {
                    if *commit {
                        let blocks = prepared.blocks().to_vec();
                        prepared.commit();
                        blocks.into_iter().for_each(|range| self.add(range));
                    } else {
                        prepared.abort();
                    }
                }
            }
            Step::Trim(bytes) => {
                let idle = self.cache.idle_bytes();
                if let Ok(trimmed) = self.cache.trim(*bytes) {
                    let promised = trimmed.bytes + trimmed.deferred_bytes;
                    ensure(promised >= idle.min(*bytes), || format!("{trimmed:?} of {idle}"))?;
                }
            }
            Step::TrimAll => {
                let is_done = self.cache.trim_all().is_ok();
                let idle = self.cache.idle_bytes();
                ensure(!is_done || idle == 0, || format!("{idle} idle after trim_all"))?;
            }
            Step::Refill => drop(self.cache.refill()),
            Step::Take(count) => {
                let Some(table) = &self.table else { return Ok(()) };
                if let Ok(blocks) = table.take(*count) {
                    ensure(blocks.len() == *count, || format!("{} blocks", blocks.len()))?;
                    for block in blocks.into_iter().map(u64::from) {
                        ensure(!self.committed.contains(&block), || format!("{block} again"))?;
                        self.add(block..block + 1);
                    }
                }
            }
            Step::Give(which, end) => self.give(which, *end)?,
            Step::FinishWork => {
                if let Some(fence) = self.card.oldest() {
                    self.card.finish(fence);
                }
            }
            Step::FailIn(calls) => self.card.state().fail_in = Some(*calls),
        }
        Ok(())
    }

    fn give(&mut self, which: &[Index], end: End) -> Checked {
        let taken: Vec<u64> = self.committed.iter().copied().collect();
        let Some(table) = self.table.as_ref().filter(|_| !taken.is_empty()) else { return Ok(()) };
        let chosen: Vec<u64> = which.iter().map(|index| *index.get(&taken)).collect();
        let distinct: BTreeSet<u64> = chosen.iter().copied().collect();
        let numbers = |blocks: &mut dyn Iterator<Item = &u64>| -> Vec<u32> {
            blocks.map(|block| u32::try_from(*block).unwrap()).collect()
        };
        if distinct.len() < chosen.len() {
            let twice = table.give(&numbers(&mut chosen.iter()), None);
            ensure(twice.is_err(), || "a block given twice in one call".into())?;
        }
        let all = numbers(&mut distinct.iter());
        let mut fence = None;
        for block in &distinct {
            fence = self.submit(*block..block + 1, end).or(fence);
        }
        // One fence stands for all of the work here: the oldest ends with it.
        let table = self.table.as_ref().unwrap();
        if let (End::Fenced, Some(last)) = (end, fence) {
            for earlier in last + 1 - distinct.len() as u64..last {
                self.card.finish(earlier);
            }
        }
        table.give(&all, fence).map_err(|error| error.to_string())?;
        let again = table.give(&all[..1], None);
        ensure(again.is_err(), || "a block given that was not taken".into())?;
        distinct.into_iter().for_each(|block| self.remove(block..block + 1));
        Ok(())
    }

    /// Starts the work that still runs when blocks are given up.
    fn submit(&self, blocks: Range<u64>, end: End) -> Option<u64> {
        if blocks.is_empty() || matches!(end, End::Quiet) {
            return None;
        }
        let bytes = self.geometry.block_bytes();
        let (first, last) = (blocks.start * bytes / GRANULE, (blocks.end * bytes - 1) / GRANULE);
        let at = |row| self.places(row).map(|offset| offset..offset + GRANULE);
        let fence = self.card.submit((first..=last).flat_map(at).collect());
        matches!(end, End::Fenced).then_some(fence)
    }

    fn add(&mut self, blocks: Range<u64>) {
        self.committed.extend(blocks);
        for row in self.rows() {
            if !self.contents.contains_key(&row) {
                self.counter = self.counter.wrapping_add(1);
                self.contents.insert(row, self.counter);
                self.places(row).iter().for_each(|offset| self.card.write(*offset, self.counter));
            }
        }
    }

    fn remove(&mut self, blocks: Range<u64>) {
        self.committed.retain(|block| !blocks.contains(block));
        let rows = self.rows();
        self.contents.retain(|row, _| rows.contains(row));
    }

    fn check(&self) -> Checked {
        let stats = self.cache.stats();
        let rows = self.rows();
        for (row, value) in &self.contents {
            for offset in self.places(*row) {
                let found = self.card.read(offset);
                ensure(found == Some(*value), || {
                    format!("row {row} holds {found:?} and not {value}")
                })?;
            }
        }
        let mapped = self.card.mapped_bytes();
        let state = self.card.state();
        ensure(state.faults.is_empty(), || format!("{:?}", state.faults))?;
        let (held, paid) = (stats.held_bytes, state.paid);
        ensure(held == state.used && paid == state.used, || {
            format!("the card has {}, the cache {held}, paid are {paid}", state.used)
        })?;
        ensure(state.idle == stats.idle_bytes, || {
            format!("{} idle, told were {}", stats.idle_bytes, state.idle)
        })?;
        let row_bytes = self.geometry.row_bytes();
        ensure(stats.committed_bytes == rows.len() as u64 * row_bytes, || {
            format!("{} rows in use: {stats:?}", rows.len())
        })?;
        let parts = [stats.committed_bytes, stats.prepared_bytes, stats.wasted_bytes];
        let sum = parts.iter().sum::<u64>() + stats.idle_bytes;
        ensure(sum == stats.mapped_rows * row_bytes, || format!("{sum}: {stats:?}"))?;
        ensure(sum + stats.quarantined_bytes == held, || format!("{sum}: {stats:?}"))?;
        ensure(mapped >= sum && mapped <= held, || format!("{mapped} mapped: {stats:?}"))?;
        let blocks = self.committed.len() as u64;
        ensure(stats.committed_blocks == blocks, || format!("{blocks} blocks: {stats:?}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn ranges_are_always_in_order(steps in range_steps()) {
        Machine::new(false, None).run(&steps).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_table_is_always_in_order(steps in table_steps()) {
        Machine::new(true, None).run(&steps).map_err(TestCaseError::fail)?;
    }
}
