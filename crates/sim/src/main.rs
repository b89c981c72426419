//! `millpond-sim`: runs schedules by seed, or replays one.

#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use millpond_sim::{Mutation, run};

const HELP: &str = "\
millpond-sim [--seed N] [--schedules M] [--steps K] [--mutation NAME] [--trace]

  --seed N         the first seed; a random one if absent (MILLPOND_SIM_SEED fixes it too)
  --schedules M    how many seeds from there on; 1 if a seed is given, else 1000
  --steps K        only the first steps of each schedule
  --mutation NAME  with this rule broken: the run must fail
  --trace          print everything that happens
";

struct Options {
    seed: Option<u64>,
    schedules: Option<u64>,
    steps: u64,
    mutation: Option<Mutation>,
    trace: bool,
}

fn options() -> Result<Options, String> {
    let mut found =
        Options { seed: None, schedules: None, steps: u64::MAX, mutation: None, trace: false };
    if let Ok(seed) = std::env::var("MILLPOND_SIM_SEED") {
        found.seed = Some(number(&seed)?);
    }
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => found.seed = Some(number(&value()?)?),
            "--schedules" => found.schedules = Some(number(&value()?)?),
            "--steps" => found.steps = number(&value()?)?,
            "--mutation" => found.mutation = Some(value()?.parse()?),
            "--trace" => found.trace = true,
            _ => return Err(HELP.to_owned()),
        }
    }
    Ok(found)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is not a number"))
}

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let options = match options() {
        Ok(options) => options,
        Err(text) => {
            let _ = writeln!(std::io::stderr(), "{text}");
            return ExitCode::from(64);
        }
    };
    let seed = options.seed.unwrap_or_else(random_seed);
    let count = options.schedules.unwrap_or(if options.seed.is_some() { 1 } else { 1000 });
    if options.trace || options.steps != u64::MAX {
        let (result, lines) = run::schedule(seed, options.mutation, options.steps, options.trace);
        for line in lines {
            let _ = writeln!(out, "{line}");
        }
        return match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(violation) => {
                let (rule, detail) = (violation.invariant, violation.detail);
                let _ = writeln!(out, "seed {seed} failed: {rule}: {detail}");
                ExitCode::FAILURE
            }
        };
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let begun = Instant::now();
    let result = run::schedules(seed, count, options.mutation, threads);
    let seconds = begun.elapsed().as_secs_f64();
    match result {
        Ok(()) => {
            let _ = writeln!(out, "{count} schedules from seed {seed} held, in {seconds:.1} s");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(out, "{failure}");
            ExitCode::FAILURE
        }
    }
}

/// From the clock: no two runs look at the same schedules.
fn random_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mixed = now.map_or(0, |now| now.as_secs() ^ (u64::from(now.subsec_nanos()) << 20));
    mixed % 1_000_000_000_000
}
