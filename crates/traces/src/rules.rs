//! What must hold for every trace, tried with traces of many seeds.
//!
//! More memory, or memory that is shared, is not better for every single request: whoever is let in
//! earlier is in somebody's way later. What does hold is about the first shortage of a run, because until
//! then all ways do the same: a split is short before or when the ideal is, since its parts add up to
//! the whole; and caches whose calls cost nothing are too, since rows hold at least their blocks.

use crate::arrivals::{Pattern, Plan, generate};
use crate::card::Card;
use crate::counted::{Counted, equal_shares, shares_by_load};
use crate::elastic::{Elastic, Making};
use crate::engine::play;
use crate::error::TraceError;
use crate::memory::{Closed, Memory, Taken};
use crate::outcome::{Outcome, Run};
use crate::pace::Pace;
use crate::sweep::PATIENCE;
use crate::trace::Trace;
use crate::way::Way;
use proptest::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const GIB: u64 = 1 << 30;

/// Memory whose first shortage is written down, and which is never more than there is.
struct Watched<M> {
    memory: M,
    models: usize,
    first_short: Rc<Cell<Option<Duration>>>,
}

impl<M: Memory> Memory for Watched<M> {
    fn fits(&self, model: usize, blocks: u64) -> bool {
        self.memory.fits(model, blocks)
    }

    fn budget_of(&self, model: usize) -> usize {
        self.memory.budget_of(model)
    }

    fn take(
        &mut self,
        now: Duration,
        model: usize,
        count: u64,
        blocks: &mut Vec<u32>,
    ) -> Result<Taken, TraceError> {
        let taken = self.memory.take(now, model, count, blocks)?;
        if taken == Taken::Short && self.first_short.get().is_none() {
            self.first_short.set(Some(now));
        }
        let held: u64 = (0..self.models).map(|model| self.memory.held_bytes(model)).sum();
        assert!(held <= self.memory.limit_bytes(), "{held} bytes are held");
        Ok(taken)
    }

    fn give(&mut self, now: Duration, model: usize, blocks: &[u32]) -> Result<(), TraceError> {
        self.memory.give(now, model, blocks)
    }

    fn held_bytes(&self, model: usize) -> u64 {
        self.memory.held_bytes(model)
    }

    fn limit_bytes(&self) -> u64 {
        self.memory.limit_bytes()
    }

    fn close(&mut self) -> Result<Closed, TraceError> {
        self.memory.close()
    }
}

/// A run, and when it was short first; the end of all time if never.
fn watched(trace: &Trace, memory: impl Memory) -> (Run, Duration) {
    let first_short = Rc::new(Cell::new(None));
    let models = trace.models.len();
    let memory = Watched { memory, models, first_short: Rc::clone(&first_short) };
    let run = play(trace, memory, PATIENCE, Pace::Virtual).unwrap();
    (run, first_short.get().unwrap_or(Duration::MAX))
}

fn free_calls(trace: &Trace, bytes: u64, is_fine: bool) -> Elastic {
    let making = Making { is_ahead: false, is_fine };
    Elastic::new(trace, bytes, making, Card::without_costs(bytes)).unwrap()
}

/// Short traces, so that debug builds try many. Every request fits into an equal share.
fn trace(seed: u64, models: usize, load: u64, pattern: Pattern) -> (Trace, u64) {
    let bytes = 4 * GIB * models as u64;
    let kv_bytes = Some(bytes);
    let plan = Plan { pattern, seconds: 20, kv_bytes, ..Plan::new(models, load, seed) };
    (generate(&plan).unwrap(), bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_ends_and_all_memory_comes_back(
        seed in 0_u64..1_000_000,
        models in 1_usize..=5,
        load in 5_u64..200,
        is_steady: bool,
    ) {
        let pattern = if is_steady { Pattern::Steady } else { Pattern::Bursty };
        let (trace, bytes) = trace(seed, models, load, pattern);
        for way in Way::ALL {
            // A run that leaves a block, a byte or a request is an error.
            let run = way.simulate(&trace, bytes, PATIENCE).unwrap();
            prop_assert_eq!(run.outcomes.len(), trace.requests.len());
            for (request, outcome) in trace.requests.iter().zip(&run.outcomes) {
                if let Outcome::Served { first_block, first_token } = outcome {
                    let read = trace.models[request.model].prefill(request.prompt_tokens);
                    prop_assert!(*first_token >= *first_block + read);
                    prop_assert!(*first_block <= PATIENCE + Duration::from_secs(1));
                }
            }
        }
    }

    #[test]
    fn no_split_and_no_cache_lasts_longer_than_the_ideal(
        seed in 0_u64..1_000_000,
        models in 1_usize..=5,
        load in 5_u64..150,
        is_fine: bool,
    ) {
        let (trace, bytes) = trace(seed, models, load, Pattern::Bursty);
        let (ideal, ideal_short) = watched(&trace, Counted::ideal(&trace, bytes));
        for shares in [equal_shares(&trace, bytes), shares_by_load(&trace, bytes)] {
            let (run, short) = watched(&trace, Counted::split(&trace, &shares));
            prop_assert!(short <= ideal_short, "{short:?} and {ideal_short:?}");
            if short == Duration::MAX {
                prop_assert_eq!(&run.outcomes, &ideal.outcomes);
            }
        }
        let (run, short) = watched(&trace, free_calls(&trace, bytes, is_fine));
        prop_assert!(short <= ideal_short, "{short:?} and {ideal_short:?}");
        if short == Duration::MAX {
            prop_assert_eq!(&run.outcomes, &ideal.outcomes);
        }
    }

    #[test]
    fn with_room_for_all_a_cache_costs_the_calls_of_the_driver_and_no_more(
        seed in 0_u64..1_000_000,
        models in 1_usize..=4,
    ) {
        let (trace, _) = trace(seed, models, 50, Pattern::Bursty);
        let run = Way::Elastic.simulate(&trace, 1 << 40, PATIENCE).unwrap();
        for outcome in &run.outcomes {
            let Outcome::Served { first_block, .. } = outcome else { panic!("{outcome:?}") };
            prop_assert!(*first_block <= run.driver, "{first_block:?} of {:?}", run.driver);
        }
        prop_assert_eq!(run.preemptions, 0);
    }
}

#[test]
fn caches_that_forget_to_give_blocks_back_are_noticed() {
    let (trace, bytes) = trace(3, 2, 20, Pattern::Bursty);
    let mut memory = free_calls(&trace, bytes, false);
    memory.forgets = true;
    let error = play(&trace, memory, PATIENCE, Pace::Virtual).unwrap_err();
    let TraceError::Left { blocks: 0, bytes } = error else { panic!("{error}") };
    assert!(bytes > 0);
}

#[test]
fn a_request_that_is_larger_than_its_share_is_refused_by_a_split_alone() {
    let (mut trace, _) = trace(1, 2, 20, Pattern::Bursty);
    let model = trace.models[0].clone();
    trace.requests.truncate(1);
    trace.requests[0].model = 0;
    trace.requests[0].prompt_tokens = 1600;
    trace.requests[0].output_tokens = 1600;
    // Room for 250 blocks in all, and the request needs 200.
    let bytes = 250 * model.whole_block_bytes();
    let outcome = |way: Way| way.simulate(&trace, bytes, PATIENCE).unwrap().outcomes[0];
    assert_eq!(outcome(Way::StaticEqual), Outcome::Refused);
    assert!(matches!(outcome(Way::ElasticFine), Outcome::Served { .. }));
    let Outcome::Served { first_block, first_token } = outcome(Way::Oracle) else {
        panic!("the ideal refuses it")
    };
    assert_eq!((first_block, first_token), (Duration::ZERO, model.prefill(1600)));
}

#[test]
fn the_youngest_gives_way_and_begins_anew() {
    let (mut trace, _) = trace(1, 1, 20, Pattern::Bursty);
    trace.requests.truncate(2);
    for (number, request) in trace.requests.iter_mut().enumerate() {
        request.at = Duration::from_millis(number as u64);
        (request.prompt_tokens, request.output_tokens) = (160, 160);
    }
    // Both prompts fit, and not both answers.
    let bytes = 30 * trace.models[0].whole_block_bytes();
    let run = Way::Oracle.simulate(&trace, bytes, PATIENCE).unwrap();
    assert!(run.preemptions > 0);
    assert!(
        run.outcomes
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Served { first_block: Duration::ZERO, .. }))
    );
    assert_eq!(run.used.permille(bytes).peak, 1000);
}
