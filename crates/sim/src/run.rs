//! Schedules by seed: one, or many on all cores.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::trace::Trace;
use crate::world::World;

/// Lines of the trace that a failure shows.
const SHOWN: usize = 40;

/// A schedule that broke a rule.
#[derive(Clone, Debug)]
pub struct Failure {
    pub seed: u64,
    /// With which rule broken on purpose.
    pub mutation: Option<Mutation>,
    pub violation: Violation,
    /// The fewest steps after which it goes wrong.
    pub steps: u64,
    /// What happened in those.
    pub trace: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { seed, mutation, violation, steps, trace } = self;
        let from = trace.len().saturating_sub(SHOWN);
        for line in trace.iter().skip(from) {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "seed {seed} failed: {}: {}", violation.invariant, violation.detail)?;
        write!(f, "replay: cargo run -p millpond-sim -- --seed {seed} --steps {steps} --trace")?;
        match mutation {
            Some(mutation) => write!(f, " --mutation {}", mutation.name()),
            None => Ok(()),
        }
    }
}

/// Runs one schedule, all of it or its first steps.
///
/// # Errors
/// The rule that it broke.
pub fn schedule(
    seed: u64,
    mutation: Option<Mutation>,
    most_steps: u64,
    keep_trace: bool,
) -> (Result<(), Violation>, Vec<String>) {
    let trace = Trace::new(keep_trace);
    let mut world = World::new(seed, mutation, trace.clone());
    let result = play(&mut world, most_steps);
    (result, trace.lines())
}

fn play(world: &mut World, most_steps: u64) -> Result<(), Violation> {
    let steps = world.plan.steps.min(most_steps);
    for step in 0..steps {
        world.kill_due(step);
        world.sleep_due(step);
        world.step()?;
    }
    world.trace.say(|| "SETTLE".to_owned());
    world.settle()?;
    world.check()?;
    world.check_sleepers()?;
    world.trace.say(|| "DRAIN".to_owned());
    world.drain()
}

/// Finds how few steps of a failing schedule are enough.
fn shrink(seed: u64, mutation: Option<Mutation>, violation: Violation) -> Failure {
    let all = World::new(seed, mutation, Trace::default()).plan.steps;
    let fails = |steps: &u64| schedule(seed, mutation, *steps, false).0.is_err();
    let steps = (0..all).find(fails).unwrap_or(all);
    let (result, trace) = schedule(seed, mutation, steps, true);
    Failure { seed, mutation, violation: result.err().unwrap_or(violation), steps, trace }
}

/// Runs `count` schedules from a first seed on, over `threads`; stops at the first that fails.
///
/// # Errors
/// The failure with the lowest seed that was met.
pub fn schedules(
    first: u64,
    count: u64,
    mutation: Option<Mutation>,
    threads: usize,
) -> Result<(), Box<Failure>> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let failed: Mutex<Option<(u64, Violation)>> = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let seed = first.wrapping_add(at);
            if let Err(violation) = schedule(seed, mutation, u64::MAX, false).0 {
                stop.store(true, Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(other, _)| seed < *other) {
                    *failed = Some((seed, violation));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((seed, violation)) => Err(Box::new(shrink(seed, mutation, violation))),
        None => Ok(()),
    }
}
