//! Many processes and one limit, on the software driver, which knows the most that it ever held.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_tests::storm::{EXACT, KINDS, Outcome, storm};
use millpond_tests::{Preload, say};

fn note(name: &str, seed: u64, outcome: Outcome) {
    let Outcome { limit, peak, taken, refused, killed } = outcome;
    say(&format!(
        "seed {seed}, {name}: peak {peak} of {limit}, {taken} taken, {refused} refused, {killed} killed"
    ));
}

fn never_over(kinds: &str) {
    let base = std::env::var("MILLPOND_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in base.map_or(1..=3, |seed: u64| seed..=seed) {
        let outcome = storm(seed, &Preload::Right, kinds);
        note("the right library", seed, outcome);
        assert!(outcome.peak <= outcome.limit, "seed {seed}: {outcome:?}");
        assert!(outcome.taken > 0 && outcome.refused > 0, "seed {seed} tests nothing: {outcome:?}");
    }
}

#[test]
fn no_interleaving_with_kills_passes_the_limit() {
    never_over(KINDS);
}

#[test]
fn ledger_and_driver_agree_to_the_byte() {
    never_over(EXACT);
}

/// The same storm finds a rule that is broken.
fn is_found_out(feature: &str) {
    let found = (1..=20).find(|seed| {
        let outcome = storm(*seed, &Preload::Broken(feature.to_owned()), "linear,handle");
        note(feature, *seed, outcome);
        outcome.peak > outcome.limit
    });
    assert!(found.is_some(), "nothing was seen of {feature}");
}

#[test]
fn a_ledger_without_the_kernel_lock_is_found_out() {
    is_found_out("broken-no-lock");
}

#[test]
fn a_ledger_that_checks_and_then_adds_is_found_out() {
    is_found_out("broken-check-then-add");
}
