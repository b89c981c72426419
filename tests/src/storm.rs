//! Tenants that take, give back and die at random, and what the driver saw of it.

use std::time::Duration;

use crate::budget::uuid;
use crate::chance::Chance;
use crate::{Budget, Preload, Tenant, eventually, eventually_equal};

/// Every kind of memory that a tenant can take.
pub const KINDS: &str = "linear,pitch,managed,async,pool,vmm,handle,array,mipmap,graph,context";
/// Those that are charged by what the driver takes, to the byte. Of managed memory and arrays the
/// most that a card could take is charged, which may be more.
pub const EXACT: &str = "linear,pitch,async,pool,vmm,handle,graph,context";

const MIB: u64 = 1 << 20;
/// What the tenants share.
const LIMIT: u64 = 64 * MIB;
/// The most that one request asks for.
const REQUEST: u64 = 8 * MIB;
const TENANTS: u64 = 6;
const ROUNDS: u64 = 6;
const STEPS: u64 = 60;
/// A context's bytes: they count too.
const CONTEXT: &str = "2M";

/// What one storm came to.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// What the tenants were allowed together.
    pub limit: u64,
    /// The most that the driver held at any instant.
    pub peak: u64,
    /// Memory that tenants got, and what was refused them as by a full card.
    pub taken: u64,
    pub refused: u64,
    /// Tenants that were killed.
    pub killed: u64,
}

/// Runs a storm. With the right library ledger and driver agree to the byte whenever nobody works,
/// and at the end; a broken one is only measured.
///
/// # Panics
/// If a call fails otherwise than by being refused, or the right library's books do not agree.
#[must_use]
pub fn storm(seed: u64, preload: &Preload, kinds: &str) -> Outcome {
    let is_right = matches!(preload, Preload::Right);
    let budget = Budget::with(LIMIT, preload, &[("MILLPOND_SOFT_CONTEXT_BYTES", CONTEXT)]);
    let mut chance = Chance(seed);
    let mut tenants: Vec<Tenant> = (0..TENANTS).map(|_| budget.tenant()).collect();
    let device = uuid(&mut tenants[0]);
    let meter = budget.meter(0);
    let mut outcome = Outcome { limit: LIMIT, peak: 0, taken: 0, refused: 0, killed: 0 };
    for _ in 0..ROUNDS {
        for tenant in &mut tenants {
            let seed = chance.below(u64::MAX);
            tenant.tell(&format!("churn {seed} {STEPS} {REQUEST} {kinds}"));
        }
        // One dies at some instant of its work, and another takes its place at once.
        let victim = usize::try_from(chance.below(TENANTS)).unwrap();
        std::thread::sleep(Duration::from_micros(chance.below(20_000)));
        drop(tenants.swap_remove(victim));
        outcome.killed += 1;
        let heir = Tenant::spawn(budget.command(&[]));
        for tenant in &mut tenants {
            let answer = tenant.answer();
            let answer = answer.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let (taken, refused) = answer.split_once(' ').unwrap();
            outcome.taken += taken.parse::<u64>().unwrap();
            outcome.refused += refused.parse::<u64>().unwrap();
        }
        if let Err(error) = heir.ready() {
            // A context is memory too, and may be refused.
            assert!(error.starts_with("error 2 "), "seed {seed}: {error}");
            for tenant in &mut tenants {
                tenant.ask("free all");
                tenant.ask("trim");
            }
            tenants.push(budget.tenant());
        } else {
            tenants.push(heir);
        }
        for tenant in &mut tenants {
            tenant.ask("sync");
        }
        if is_right && kinds == EXACT {
            let what = format!("seed {seed}: what the driver holds while nobody works");
            eventually_equal(&what, &meter.used().unwrap(), || budget.charged(device));
        } else if is_right {
            eventually("a ledger that has all", || {
                (budget.charged(device) >= meter.used().unwrap()).then_some(())
            });
        }
    }
    drop(tenants);
    outcome.peak = meter.peak().unwrap();
    eventually_equal(&format!("seed {seed}: the driver"), &0, || meter.used().unwrap());
    if is_right {
        eventually_equal(&format!("seed {seed}: the ledger"), &0, || budget.charged(device));
    }
    outcome
}
