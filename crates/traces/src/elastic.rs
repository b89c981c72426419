//! Memory as elastic caches have it: the real caches, tables and credit of `millpond-elastic`, on a
//! modelled card.

use crate::card::Card;
use crate::error::TraceError;
use crate::memory::{Closed, Memory, Taken};
use crate::model::{GRANULE, Model};
use crate::trace::Trace;
use millpond_elastic::{BlockTable, Cache, ElasticError, Geometry, LocalCredit, Marks, Refilled};
use std::time::Duration;

/// From a refused commit until a neighbour in another process begins to give: 2.7 ms for a gigabyte
/// that moves, less 1.3 ms for ending and making it in one process, on an H200.
const ASK: Duration = Duration::from_micros(1400);

/// After pages were asked for nothing is made ahead for so long, as in the client.
const RESIDENCY: Duration = Duration::from_millis(500);

/// Rows that are made ahead: with fewer than the first, until there are as many as the second.
const AHEAD: (u64, u64) = (1, 2);

/// Whoever is short asks so often for what neighbours keep idle; each time something must come.
const TRIES: u32 = 16;

/// How the caches of a run are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Making {
    /// Two rows of pages are made ahead.
    pub is_ahead: bool,
    /// All layers of a block lie side by side, in two segments, so that a row is small; without it, keys
    /// and values of each layer are a segment.
    pub is_fine: bool,
}

/// Caches of several models under one limit. All calls of the driver come one after the other,
/// because the driver lets no two happen at once.
pub struct Elastic {
    card: Card,
    credit: LocalCredit,
    tables: Vec<BlockTable<Card, LocalCredit>>,
    making: Making,
    /// When the driver is done with what it was asked for.
    driver_free_at: Duration,
    /// When pages of a model that are made ahead are there.
    ready_at: Vec<Duration>,
    /// When a model's pages were asked for last.
    trimmed_at: Vec<Option<Duration>>,
    driver: Duration,
    /// Breaks the rule that blocks are given back, for the test that must notice.
    #[cfg(test)]
    pub forgets: bool,
}

impl Elastic {
    /// One cache for each model, all under one limit.
    ///
    /// # Errors
    /// A model of which not even a row fits.
    pub fn new(trace: &Trace, bytes: u64, making: Making, card: Card) -> Result<Self, TraceError> {
        let credit = LocalCredit::new(bytes, "all models");
        let (low, high) = if making.is_ahead { AHEAD } else { (0, 0) };
        // The client's own residency is on a real clock; here it is on that of the trace.
        let marks = Marks { low, high, residency: Duration::ZERO };
        let mut tables = Vec::new();
        for model in &trace.models {
            let holder = credit.holder(&model.name);
            let geometry = geometry(model, bytes, making.is_fine)?;
            tables.push(Cache::new(card.range(), holder, geometry, marks).blocks()?);
        }
        let count = tables.len();
        Ok(Self {
            card,
            credit,
            tables,
            making,
            driver_free_at: Duration::ZERO,
            ready_at: vec![Duration::ZERO; count],
            trimmed_at: vec![None; count],
            driver: Duration::ZERO,
            #[cfg(test)]
            forgets: false,
        })
    }

    /// What was spent just now, on the driver's own row of time: when it is over.
    fn spend(&mut self, now: Duration) -> Duration {
        let spent = self.card.spent();
        if spent.is_zero() {
            return now;
        }
        self.driver += spent;
        self.driver_free_at = self.driver_free_at.max(now) + spent;
        self.driver_free_at
    }

    /// Has neighbours give idle pages back, if all of them together have so much. Who has most gives
    /// first.
    fn ask_neighbours(
        &mut self,
        now: Duration,
        model: usize,
        lacking: u64,
    ) -> Result<bool, TraceError> {
        let idle = |other: &usize| self.tables[*other].cache().idle_bytes();
        let mut others: Vec<(u64, usize)> = (0..self.tables.len())
            .filter(|other| *other != model)
            .map(|other| (idle(&other), other))
            .filter(|(bytes, _)| *bytes > 0)
            .collect();
        if others.iter().map(|(bytes, _)| bytes).sum::<u64>() < lacking {
            return Ok(false);
        }
        others.sort_by_key(|(bytes, other)| (u64::MAX - bytes, *other));
        let mut left = lacking;
        for (_, other) in others {
            if left == 0 {
                break;
            }
            self.card.spend(ASK);
            let trimmed = self.tables[other].cache().trim(left)?;
            self.trimmed_at[other] = Some(now);
            left = left.saturating_sub(trimmed.bytes);
        }
        Ok(left == 0)
    }

    /// One step of making pages ahead, which nobody waits for unless it needs those pages.
    fn refill(&mut self, now: Duration, model: usize) -> Result<(), TraceError> {
        let rests = self.trimmed_at[model].is_some_and(|trimmed| now < trimmed + RESIDENCY);
        if !self.making.is_ahead || rests {
            return Ok(());
        }
        match self.tables[model].cache().refill() {
            Ok(Refilled::Mapped(_)) => self.ready_at[model] = self.spend(now),
            Ok(Refilled::Enough | Refilled::Suspended(_)) => {}
            // Without credit the next commit asks.
            Err(ElasticError::AfterFreeing { .. } | ElasticError::NeverFits { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// How the cache of a model is divided: so many whole rows as fit into a limit.
///
/// # Errors
/// Not even one does.
pub fn geometry(model: &Model, bytes: u64, is_fine: bool) -> Result<Geometry, TraceError> {
    let segments = if is_fine { 2 } else { model.segments() };
    let block_bytes = model.whole_block_bytes() / segments;
    let row_bytes = segments * GRANULE;
    let blocks = bytes / row_bytes * GRANULE / block_bytes;
    if blocks == 0 {
        let what = format!("a block of the cache of '{}'", model.name);
        let needed = row_bytes.max(model.whole_block_bytes());
        return Err(TraceError::NoRoom { what, needed, available: bytes });
    }
    Ok(Geometry::new(blocks, block_bytes, segments, GRANULE)?)
}

impl Memory for Elastic {
    fn fits(&self, model: usize, blocks: u64) -> bool {
        blocks <= self.tables[model].cache().geometry().blocks()
    }

    fn budget_of(&self, _model: usize) -> usize {
        0
    }

    fn take(
        &mut self,
        now: Duration,
        model: usize,
        count: u64,
        blocks: &mut Vec<u32>,
    ) -> Result<Taken, TraceError> {
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let mut is_taken = false;
        for _ in 0..TRIES {
            if self.tables[model].free_blocks() < count {
                break;
            }
            match self.tables[model].take_into(wanted, blocks) {
                Ok(()) => {
                    is_taken = true;
                    break;
                }
                Err(
                    ElasticError::AfterFreeing { asked, limit, used, .. }
                    | ElasticError::OverBudget { asked, limit, used, .. },
                ) => {
                    let lacking = used.saturating_add(asked).saturating_sub(limit);
                    if !self.ask_neighbours(now, model, lacking)? {
                        break;
                    }
                }
                Err(ElasticError::NeverFits { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let done = self.spend(now);
        if !is_taken {
            return Ok(Taken::Short);
        }
        let at = done.max(self.ready_at[model]);
        self.refill(at, model)?;
        Ok(Taken::At(at))
    }

    fn give(&mut self, _now: Duration, model: usize, blocks: &[u32]) -> Result<(), TraceError> {
        #[cfg(test)]
        if self.forgets {
            return Ok(());
        }
        Ok(self.tables[model].give(blocks, Some(()))?)
    }

    fn held_bytes(&self, model: usize) -> u64 {
        self.tables[model].cache().held_bytes()
    }

    fn limit_bytes(&self) -> u64 {
        self.credit.limit()
    }

    /// Pages that blocks use are not given back by a trim, so what is left was forgotten.
    fn close(&mut self) -> Result<Closed, TraceError> {
        for table in &self.tables {
            table.cache().trim_all()?;
        }
        let left_bytes = self.card.used_bytes().max(self.credit.used());
        Ok(Closed { driver: self.driver, left_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::{Plan, generate};

    #[test]
    fn idle_pages_of_a_neighbour_are_asked_for_and_cost_time() {
        let trace = generate(&Plan::new(2, 10, 1)).unwrap();
        let rows: Vec<u64> = trace.models.iter().map(|model| model.segments() * GRANULE).collect();
        let bytes = rows[0] + rows[1] / 2;
        let card = Card::new(bytes);
        assert!(Elastic::new(&trace, bytes / 4, Making::default(), card.clone()).is_err());
        let bytes = rows[0].max(rows[1]);
        let mut memory = Elastic::new(&trace, bytes, Making::default(), card).unwrap();
        let (now, mut blocks) = (Duration::from_secs(1), Vec::new());
        let Taken::At(first) = memory.take(now, 0, 1, &mut blocks).unwrap() else {
            panic!("short")
        };
        let cost = first - now;
        assert!((1_000..5_000).contains(&cost.as_micros()), "{cost:?} for a row");
        assert_eq!(memory.take(now, 1, 1, &mut Vec::new()).unwrap(), Taken::Short);
        memory.give(now, 0, &blocks).unwrap();
        let later = now * 2;
        let (mut others, before) = (Vec::new(), memory.driver);
        let Taken::At(at) = memory.take(later, 1, 1, &mut others).unwrap() else {
            panic!("idle pages were not given")
        };
        assert!(at - later > cost + ASK, "making, ending and asking: {:?}", at - later);
        assert_eq!(memory.driver, before + (at - later));
        assert_eq!((memory.held_bytes(0), memory.held_bytes(1)), (0, rows[1]));
        memory.give(later, 1, &others).unwrap();
        assert_eq!(memory.close().unwrap().left_bytes, 0);
    }

    #[test]
    fn pages_made_ahead_are_there_without_a_wait() {
        let trace = generate(&Plan::new(1, 10, 1)).unwrap();
        let making = Making { is_ahead: true, ..Making::default() };
        let mut memory = Elastic::new(&trace, 8 << 30, making, Card::new(8 << 30)).unwrap();
        let mut blocks = Vec::new();
        memory.take(Duration::ZERO, 0, 1, &mut blocks).unwrap();
        let now = Duration::from_secs(1);
        let per_row = GRANULE / trace.models[0].block_bytes();
        let taken = memory.take(now, 0, per_row, &mut blocks).unwrap();
        assert_eq!(taken, Taken::At(now));
        // Two rows more than there are cannot be.
        assert!(memory.fits(0, 64 * per_row) && !memory.fits(0, 65 * per_row));
    }
}
