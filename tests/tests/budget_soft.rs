//! Limits on the software driver: it knows the most that it ever held, can be told to be slow, and has
//! as many devices as a test wants.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_ledger::NO_LIMIT;
use millpond_tests::storm::{EXACT, KINDS, Outcome, storm};
use millpond_tests::{Budget, Preload, eventually, say, uuid};

const CHUNK: u64 = 32 << 20;

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

/// The twins wait where they are wrong; one that waits there too and is right is not found out.
#[test]
fn a_ledger_as_slow_as_the_broken_ones_is_not_found_out() {
    for seed in 1..=2 {
        let outcome = storm(seed, &Preload::Broken("slow".to_owned()), "linear,handle");
        note("slow", seed, outcome);
        assert!(outcome.peak <= outcome.limit, "seed {seed}: {outcome:?}");
    }
}

#[test]
fn a_ledger_without_the_kernel_lock_is_found_out() {
    is_found_out("broken-no-lock");
}

#[test]
fn a_ledger_that_checks_and_then_adds_is_found_out() {
    is_found_out("broken-check-then-add");
}

/// Killed while the driver works on a request: reserved and not yet committed.
#[test]
fn a_kill_between_reserve_and_commit_leaves_nothing() {
    let slow = "cuMemAlloc:latency_us=3000000;cuMemCreate:latency_us=3000000;cuMemAllocAsync:latency_us=3000000;cuArray3DCreate:latency_us=3000000;cuMemAllocManaged:latency_us=3000000";
    let budget = Budget::with(10 * CHUNK, &Preload::Right, &[]);
    let mut other = budget.tenant();
    let device = uuid(&mut other);
    let alone = budget.charged(device);
    for kind in ["linear", "handle", "async", "array", "managed"] {
        let mut command = budget.command(&[]);
        command.env("MILLPOND_SOFT_FAULTS", slow);
        let mut tenant = Budget::spawn(command);
        tenant.ready().unwrap();
        tenant.tell(&format!("alloc {kind} {}", 5 * CHUNK));
        eventually("a reservation", || (budget.charged(device) >= alone + 5 * CHUNK).then_some(()));
        assert!(!other.takes("linear", 6 * CHUNK), "{kind}: it is promised");
        tenant.kill();
        assert!(other.takes("linear", 6 * CHUNK), "{kind}");
        other.ask("free all");
        assert_eq!(budget.charged(device), alone, "{kind}");
    }
}

/// The device's number in one program is not its number in another.
#[test]
fn devices_in_another_order_are_the_same_devices() {
    let budget = Budget::with(NO_LIMIT, &Preload::Right, &[("MILLPOND_SOFT_DEVICES", "2")]);
    let mut first = budget.tenant_with(&["--device", "0"]);
    let mut second = budget.tenant_with(&["--device", "1"]);
    let (one, two) = (uuid(&mut first), uuid(&mut second));
    assert_ne!(one, two);
    budget.set_limit(Some(one), 4 * CHUNK);
    budget.set_limit(Some(two), 2 * CHUNK);
    let mut command = budget.command(&["--device", "0"]);
    command.env("CUDA_VISIBLE_DEVICES", "1,0");
    let mut turned = Budget::spawn(command);
    turned.ready().unwrap();
    assert_eq!(uuid(&mut turned), two);
    assert_eq!(turned.numbers("total"), [2 * CHUNK]);
    assert_eq!(turned.numbers("nvml")[0], 2 * CHUNK);
    assert_eq!(first.numbers("total"), [4 * CHUNK]);
    assert!(turned.takes("linear", CHUNK));
    assert!(!turned.takes("linear", 2 * CHUNK));
    assert!(!second.takes("linear", 2 * CHUNK), "the same device");
    assert!(first.takes("linear", 3 * CHUNK), "another one");
    assert_eq!((budget.charged(one), budget.charged(two)), (3 * CHUNK, CHUNK));
}
