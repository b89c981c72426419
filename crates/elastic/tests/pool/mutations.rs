//! Each rule is broken once, and the checks must notice: a check that never fails proves nothing.

use crate::machine::{run, steps};
use crate::schedules::{lanes_change_hands, lives, two_who_free};
use millpond_elastic::PoolMutation;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::panic::{AssertUnwindSafe, catch_unwind};

const TRIES: usize = 300;
const SCHEDULES: usize = 20_000;

/// Takes sequences of steps until a broken rule is found out; the same sequences every time.
fn is_found_out(mutation: PoolMutation) -> bool {
    let mut runner = TestRunner::deterministic();
    (0..TRIES).any(|_| {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let run = || run(true, steps, Some(mutation));
        catch_unwind(AssertUnwindSafe(run)).map_or(true, |checked| checked.is_err())
    })
}

/// Whether an order of threads is found in which a broken rule shows.
fn is_noticed(mutation: PoolMutation, body: fn(Option<PoolMutation>)) -> bool {
    let random = || shuttle::check_random(move || body(Some(mutation)), SCHEDULES);
    catch_unwind(AssertUnwindSafe(random)).is_err()
}

#[test]
fn broken_rules_are_noticed_by_sequences_of_steps() {
    for mutation in [
        PoolMutation::ForeignWithoutWait,
        PoolMutation::OthersForgotten,
        PoolMutation::GraphForAll,
        PoolMutation::ShedUnclean,
    ] {
        assert!(is_found_out(mutation), "{mutation:?}");
    }
}

#[test]
fn broken_rules_are_noticed_by_orders_of_threads() {
    for mutation in
        [PoolMutation::ForeignWithoutWait, PoolMutation::OthersForgotten, PoolMutation::ShedUnclean]
    {
        assert!(is_noticed(mutation, lives), "{mutation:?}");
    }
}

#[test]
fn a_mark_that_is_recorded_before_its_number_is_noticed() {
    assert!(is_noticed(PoolMutation::MarkBeforeNumber, two_who_free));
}

#[test]
fn a_lane_that_is_known_by_its_place_is_noticed() {
    assert!(is_noticed(PoolMutation::LaneByPlace, lanes_change_hands));
}
