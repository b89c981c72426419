//! Each rule is broken once, and the checks must notice: a check that never fails proves nothing.

use crate::machine::{Machine, Step, range_steps, table_steps};
use crate::model::{Card, GRANULE, cache};
use millpond_elastic::{Geometry, Marks, Mutation};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::panic::{AssertUnwindSafe, catch_unwind};

const TRIES: usize = 300;

/// Runs sequences until one is found out; the same sequences every time.
fn is_noticed(
    mutation: Mutation,
    with_table: bool,
    steps: impl Strategy<Value = Vec<Step>>,
) -> bool {
    let mut runner = TestRunner::deterministic();
    (0..TRIES).any(|_| {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let run = || Machine::new(with_table, Some(mutation)).run(&steps);
        catch_unwind(AssertUnwindSafe(run)).map_or(true, |checked| checked.is_err())
    })
}

#[test]
fn broken_rules_are_noticed() {
    for mutation in [
        Mutation::NoFenceBeforeUnmap,
        Mutation::CreditAfterMap,
        Mutation::CreditBeforeRelease,
        Mutation::NothingUndone,
        Mutation::TrimInUse,
    ] {
        assert!(is_noticed(mutation, false, range_steps()), "{mutation:?} with ranges");
        assert!(is_noticed(mutation, true, table_steps()), "{mutation:?} with a table");
    }
    assert!(is_noticed(Mutation::BlockTwice, true, table_steps()));
}

/// Two threads need one row; the first stands before its create.
fn two_in_one_row(mutation: Option<Mutation>) -> Vec<String> {
    let card = Card::new();
    let geometry = Geometry::new(8, GRANULE / 4, 1, GRANULE).unwrap();
    let one = cache(&card, geometry, Marks::NONE);
    one.break_rule(mutation);
    card.close_gate();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| one.commit_range(0..1));
        card.wait_at_gate();
        let second = scope.spawn(|| one.commit_range(1..2));
        if mutation.is_some() {
            drop(second.join());
        }
        card.open_gate();
        drop(first.join());
    });
    let faults = card.faults();
    if mutation.is_some() {
        std::mem::forget(one);
    }
    faults
}

#[test]
fn a_row_that_is_mapped_by_two_threads_is_noticed() {
    assert_eq!(two_in_one_row(None), Vec::<String>::new());
    assert!(!two_in_one_row(Some(Mutation::RowTwice)).is_empty());
}
