//! One run in numbers, and several runs in one row.

use crate::arrivals::Pattern;
use crate::outcome::{Outcome, Permille, Run, Times};
use crate::trace::Trace;
use crate::way::Way;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// How many models.
    pub models: usize,
    /// Percent of the memory for blocks.
    pub load_percent: u64,
    /// How requests come.
    pub pattern: Pattern,
}

/// One trace, played one way. A refused request counts with its patience as its time, which is less
/// than it would have waited, so that no way looks better for having refused more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What was played.
    pub place: Place,
    /// The seed of the trace.
    pub seed: u64,
    /// How memory was divided.
    pub way: Way,
    /// How many requests came.
    pub requests: u64,
    /// How many of them were never begun.
    pub refused: u64,
    /// How often a running one had to begin anew.
    pub preemptions: u64,
    /// From arrival until all blocks of the prompt were there.
    pub first_block_us: Times,
    /// From arrival until the first token.
    pub first_token_us: Times,
    /// The mean time to the first token of the model for which it is longest.
    pub slowest_model_us: u64,
    /// Memory under blocks of requests.
    pub used_permille: Permille,
    /// Memory that only one model could have.
    pub held_permille: Permille,
    /// What calls of the driver took in all.
    pub driver_us: u64,
}

impl Cell {
    /// The numbers of a run.
    #[must_use]
    pub fn new(
        place: Place,
        seed: u64,
        way: Way,
        trace: &Trace,
        run: &Run,
        patience: Duration,
    ) -> Self {
        let mut blocks = Vec::with_capacity(run.outcomes.len());
        let mut tokens: Vec<Vec<u64>> = vec![Vec::new(); trace.models.len()];
        let mut refused = 0;
        for (request, outcome) in trace.requests.iter().zip(&run.outcomes) {
            let [block, token] = match outcome {
                Outcome::Served { first_block, first_token } => [*first_block, *first_token],
                Outcome::Refused | Outcome::Unknown => {
                    refused += 1;
                    let read = trace.models[request.model].prefill(request.prompt_tokens);
                    [patience, patience + read]
                }
            };
            blocks.push(micros(block));
            tokens[request.model].push(micros(token));
        }
        let means = tokens.iter().map(|list| Times::of(list.clone()).mean);
        Self {
            place,
            seed,
            way,
            requests: run.outcomes.len() as u64,
            refused,
            preemptions: run.preemptions,
            first_block_us: Times::of(blocks),
            slowest_model_us: means.max().unwrap_or(0),
            first_token_us: Times::of(tokens.concat()),
            used_permille: run.used.permille(run.limit_bytes),
            held_permille: run.held.permille(run.limit_bytes),
            driver_us: micros(run.driver),
        }
    }
}

/// Several seeds of the same place and way: means, and sums of counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What was played.
    #[serde(flatten)]
    pub place: Place,
    /// How memory was divided.
    pub way: Way,
    /// Of all seeds together.
    pub requests: u64,
    /// Likewise.
    pub refused: u64,
    /// Likewise.
    pub preemptions: u64,
    /// The mean of the seeds' numbers.
    pub first_block_us: Times,
    /// Likewise.
    pub first_token_us: Times,
    /// The mean time to the first token of the slowest model, likewise.
    pub slowest_model_us: u64,
    /// The mean time to the first token of each seed.
    pub first_token_of_seeds_us: Vec<u64>,
    /// The mean of the seeds' means, and the highest peak.
    pub used_permille: Permille,
    /// Likewise.
    pub held_permille: Permille,
    /// What calls of the driver took, the mean of the seeds.
    pub driver_us: u64,
}

impl Row {
    /// Rows of cells, in the order in which their places and ways come first.
    #[must_use]
    pub fn of(cells: &[Cell]) -> Vec<Self> {
        let mut groups: Vec<(Place, Way, Vec<&Cell>)> = Vec::new();
        for cell in cells {
            let is_same = |(place, way, _): &&mut (Place, Way, Vec<&Cell>)| {
                *place == cell.place && *way == cell.way
            };
            match groups.iter_mut().find(is_same) {
                Some((_, _, group)) => group.push(cell),
                None => groups.push((cell.place, cell.way, vec![cell])),
            }
        }
        groups.into_iter().map(|(place, way, group)| Self::of_group(place, way, &group)).collect()
    }

    fn of_group(place: Place, way: Way, group: &[&Cell]) -> Self {
        let sum = |of: &dyn Fn(&Cell) -> u64| group.iter().map(|cell| of(cell)).sum::<u64>();
        let mean = |of: &dyn Fn(&Cell) -> u64| sum(of) / group.len().max(1) as u64;
        let most = |of: &dyn Fn(&Cell) -> u64| group.iter().map(|cell| of(cell)).max().unwrap_or(0);
        let times = |of: fn(&Cell) -> Times| Times {
            median: mean(&|cell| of(cell).median),
            mean: mean(&|cell| of(cell).mean),
            p99: mean(&|cell| of(cell).p99),
        };
        let permille = |of: fn(&Cell) -> Permille| Permille {
            mean: mean(&|cell| of(cell).mean),
            peak: most(&|cell| of(cell).peak),
        };
        Self {
            place,
            way,
            requests: sum(&|cell| cell.requests),
            refused: sum(&|cell| cell.refused),
            preemptions: sum(&|cell| cell.preemptions),
            first_block_us: times(|cell| cell.first_block_us),
            first_token_us: times(|cell| cell.first_token_us),
            slowest_model_us: mean(&|cell| cell.slowest_model_us),
            used_permille: permille(|cell| cell.used_permille),
            held_permille: permille(|cell| cell.held_permille),
            driver_us: mean(&|cell| cell.driver_us),
            first_token_of_seeds_us: group.iter().map(|cell| cell.first_token_us.mean).collect(),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
