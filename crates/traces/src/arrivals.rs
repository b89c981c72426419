//! Traces from a seed: which model is asked when, and for how much.

use crate::chance::{Chance, whole};
use crate::error::TraceError;
use crate::model::{MOST_MODELS, Model, catalogue};
use crate::trace::{Request, Trace};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Tokens of a prompt and of an answer: median, spread, and most. Half of all prompts are longer than
/// the median, and one in six longer than it times e to the power of the spread.
const PROMPT: (f64, f64, u64) = (600.0, 1.0, 3072);
const OUTPUT: (f64, f64, u64) = (200.0, 0.8, 1024);

/// Seconds of a burst, on average.
const BURST_SECONDS: f64 = 10.0;
/// The part of its time in which the most popular model has requests, and every other one.
const HOT_PART: f64 = 0.6;
const RARE_PART: f64 = 0.25;

/// Requests from which the mean of a model's demand is taken.
const SAMPLES: u32 = 2000;

/// How requests come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// In bursts, and the second model is asked half as much as the first, the third a third as much.
    #[default]
    Bursty,
    /// All models are equally busy all the time.
    Steady,
}

/// What a trace is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many models, from the catalogue's first on.
    pub models: usize,
    /// What requests would hold on average if none had to wait, in percent of the memory for blocks.
    pub load_percent: u64,
    /// What decides the rest.
    pub seed: u64,
    /// How requests come.
    pub pattern: Pattern,
    /// How long they come.
    pub seconds: u64,
    /// The memory for blocks; what the weights leave of an H200 unless said.
    pub kv_bytes: Option<u64>,
}

/// What the driver of an H200 gives to programs, less a gigabyte of context for each model.
const CARD_BYTES: u64 = 139 << 30;
const CONTEXT_BYTES: u64 = 1 << 30;

impl Plan {
    /// Bursts of four minutes on an H200.
    #[must_use]
    pub fn new(models: usize, load_percent: u64, seed: u64) -> Self {
        let pattern = Pattern::default();
        Self { models, load_percent, seed, pattern, seconds: 240, kv_bytes: None }
    }

    /// The memory for blocks.
    ///
    /// # Errors
    /// The weights leave none.
    pub fn kv_bytes(&self) -> Result<u64, TraceError> {
        self.kv_bytes.map_or_else(|| kv_bytes(&catalogue(self.models)), Ok)
    }
}

/// What the weights of these models leave of an H200.
///
/// # Errors
/// They leave nothing.
pub fn kv_bytes(models: &[Model]) -> Result<u64, TraceError> {
    let needed = models.iter().map(|model| model.weight_bytes + CONTEXT_BYTES).sum();
    CARD_BYTES.checked_sub(needed).filter(|left| *left > 0).ok_or_else(|| TraceError::NoRoom {
        what: format!("{} models with their weights", models.len()),
        needed,
        available: CARD_BYTES,
    })
}

/// Makes the trace of a plan. Equal plans give equal traces.
///
/// # Errors
/// Models that are not there, or leave no room.
pub fn generate(plan: &Plan) -> Result<Trace, TraceError> {
    if plan.models == 0 || plan.models > MOST_MODELS {
        return Err(TraceError::Models { asked: plan.models, most: MOST_MODELS });
    }
    let models = catalogue(plan.models);
    let bytes = plan.kv_bytes()? as f64 * plan.load_percent as f64 / 100.0;
    let mut chance = Chance::new(plan.seed);
    let ranks = shuffled(&mut chance, plan.models);
    let weight = |rank: usize| match plan.pattern {
        Pattern::Bursty => 1.0 / (rank + 1) as f64,
        Pattern::Steady => 1.0,
    };
    let all: f64 = (0..plan.models).map(weight).sum();
    let mut requests = Vec::new();
    for (model, shape) in models.iter().enumerate() {
        let (mut times, mut sizes) = (chance.fork(), chance.fork());
        let per_second = bytes * weight(ranks[model]) / all / mean_demand(shape);
        let part = match plan.pattern {
            Pattern::Steady => 1.0,
            Pattern::Bursty if ranks[model] == 0 => HOT_PART,
            Pattern::Bursty => RARE_PART,
        };
        for at in arrivals(&mut times, per_second, part, plan.seconds as f64) {
            let [prompt_tokens, output_tokens] = sizes_of(&mut sizes);
            let at = Duration::from_micros(whole(at * 1e6));
            requests.push(Request { at, model, prompt_tokens, output_tokens });
        }
    }
    requests.sort_by_key(|request| (request.at, request.model));
    Ok(Trace { models, requests })
}

/// Seconds in which requests arrive: a Poisson process that is switched on and off.
fn arrivals(chance: &mut Chance, per_second: f64, part: f64, end: f64) -> Vec<f64> {
    let pause = BURST_SECONDS * (1.0 - part) / part;
    let (mut found, mut now) = (Vec::new(), 0.0);
    // Where the trace begins is no special moment: a burst may be going on.
    let mut is_on = chance.part() <= part;
    while now < end {
        let until = match (is_on, part < 1.0) {
            (_, false) => end,
            (true, true) => (now + chance.exponential(BURST_SECONDS)).min(end),
            (false, true) => (now + chance.exponential(pause)).min(end),
        };
        if is_on {
            let mut at = now + chance.exponential(part / per_second);
            while at < until {
                found.push(at);
                at += chance.exponential(part / per_second);
            }
        }
        (now, is_on) = (until, !is_on || part >= 1.0);
    }
    found
}

fn sizes_of(chance: &mut Chance) -> [u64; 2] {
    [PROMPT, OUTPUT]
        .map(|(median, spread, most)| whole(chance.log_normal(median, spread)).clamp(1, most))
}

/// The mean of what a model's requests hold, from as many as it takes.
fn mean_demand(model: &Model) -> f64 {
    let mut chance = Chance::new(0);
    let one = |_| {
        let [prompt, output] = sizes_of(&mut chance);
        model.demand(prompt, output)
    };
    (0..SAMPLES).map(one).sum::<f64>() / f64::from(SAMPLES)
}

/// The numbers below a count in some order.
fn shuffled(chance: &mut Chance, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, chance.index(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_traces_and_others_do_not() {
        let of = |seed| generate(&Plan::new(4, 50, seed)).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1).requests, of(2).requests);
    }

    #[test]
    fn the_load_is_what_was_asked_for() {
        for pattern in [Pattern::Bursty, Pattern::Steady] {
            let mut sum = 0.0;
            for seed in 0..20 {
                let plan = Plan { pattern, ..Plan::new(4, 50, seed) };
                let demand: f64 = generate(&plan).unwrap().demands().iter().sum();
                sum += demand / plan.seconds as f64 / plan.kv_bytes().unwrap() as f64;
            }
            assert!((0.45..0.55).contains(&(sum / 20.0)), "{pattern:?}: {}", sum / 20.0);
        }
    }

    #[test]
    fn bursts_have_pauses() {
        let mut chance = Chance::new(5);
        let times = arrivals(&mut chance, 10.0, RARE_PART, 1000.0);
        let idle: f64 =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 2.0).sum();
        assert!((500.0..900.0).contains(&idle), "{idle} seconds without a request");
        assert!((7_000..13_000).contains(&times.len()), "{}", times.len());
    }

    #[test]
    fn models_that_are_not_there_are_refused() {
        assert!(generate(&Plan::new(0, 50, 1)).is_err());
        let error = generate(&Plan::new(9, 50, 1)).unwrap_err();
        assert_eq!(error.to_string(), "there are 1 to 8 models, not 9");
        assert!(kv_bytes(&catalogue(8)).unwrap() > 16 << 30);
    }
}
