//! Simulations over numbers of models, loads and seeds.

use crate::arrivals::{Pattern, Plan, generate};
use crate::cell::{Cell, Place};
use crate::error::TraceError;
use crate::trace::Trace;
use crate::way::Way;
use std::time::Duration;

/// Who has no block after so long is refused. A client that waits longer has gone.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Numbers of models.
    pub models: Vec<usize>,
    /// Loads in percent.
    pub loads: Vec<u64>,
    /// How requests come.
    pub patterns: Vec<Pattern>,
    /// The first seed.
    pub seed: u64,
    /// How many seeds from there on.
    pub seeds: u64,
    /// Length of each trace.
    pub seconds: u64,
}

impl Sweep {
    /// Plays every trace in every way.
    ///
    /// # Errors
    /// Models that are not there; a fault of this program.
    pub fn run(&self) -> Result<Vec<Cell>, TraceError> {
        let mut plans = Vec::new();
        for pattern in &self.patterns {
            for models in &self.models {
                for load in &self.loads {
                    let seeds = self.seed..self.seed + self.seeds;
                    plans.extend(seeds.map(|seed| Plan {
                        pattern: *pattern,
                        seconds: self.seconds,
                        ..Plan::new(*models, *load, seed)
                    }));
                }
            }
        }
        let cells = side_by_side(&plans, of_plan)?;
        Ok(cells.into_iter().flatten().collect())
    }
}

/// All ways of one plan.
///
/// # Errors
/// As for [`Sweep::run`].
pub fn of_plan(plan: &Plan) -> Result<Vec<Cell>, TraceError> {
    let trace = generate(plan)?;
    let place =
        Place { models: plan.models, load_percent: plan.load_percent, pattern: plan.pattern };
    of_trace(&trace, plan.kv_bytes()?, place, plan.seed)
}

/// All ways of one trace.
///
/// # Errors
/// As for [`Sweep::run`].
pub fn of_trace(
    trace: &Trace,
    bytes: u64,
    place: Place,
    seed: u64,
) -> Result<Vec<Cell>, TraceError> {
    let cell = |way: Way| {
        let run = way.simulate(trace, bytes, PATIENCE)?;
        Ok(Cell::new(place, seed, way, trace, &run, PATIENCE))
    };
    Way::ALL.into_iter().map(cell).collect()
}

/// Where a trace of somebody else's belongs, with so much memory for blocks.
#[must_use]
pub fn place_of(trace: &Trace, bytes: u64) -> Place {
    let seconds = trace.end().as_secs_f64().max(1.0);
    let load = trace.demands().iter().sum::<f64>() / seconds / bytes as f64;
    let load_percent = crate::chance::whole(load * 100.0);
    Place { models: trace.models.len(), load_percent, pattern: Pattern::Bursty }
}

/// Answers in the order of the questions, worked out on all cores.
fn side_by_side<T: Sync, R: Send>(
    questions: &[T],
    answer: impl Fn(&T) -> Result<R, TraceError> + Sync,
) -> Result<Vec<R>, TraceError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, R)>, TraceError> {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(question) = questions.get(place) else { return Ok(done) };
            done.push((place, answer(question)?));
        }
    };
    let mut all = Vec::with_capacity(questions.len());
    std::thread::scope(|scope| -> Result<(), TraceError> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(done) => all.extend(done?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, answer)| answer).collect())
}
