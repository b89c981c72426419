//! A GPU that another pond has: whoever comes second is told so, and ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use millpond::runtime_dir;
use millpond_tests::{Options, Process, TestPond, eventually, process};

/// How long the second pond's driver takes to start, in microseconds: a kill has to be quicker.
const INIT: [u64; 3] = [500_000, 3_000_000, 10_000_000];

/// What a second pond on the same device says until none of its processes is left. The process
/// that the log names so is killed before its driver has started; `None` if that was too late.
fn second(soft: &Path, init_us: u64, victim: Option<&str>) -> Option<String> {
    let options = Options::new().faults(&format!("cuInit:latency_us={init_us}"));
    let pond = TestPond::prepare(options.env("MILLPOND_SOFT_DIR", soft.to_str().unwrap()));
    let log = File::create(pond.path("serve.log")).unwrap();
    let mut serve = pond.serve_command();
    let mut serve = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    if let Some(victim) = victim {
        let pid = eventually("its first daemon", || {
            let log = pond.log();
            let started = log.contains("started (epoch 1,").then_some(log)?;
            started.split_once(victim)?.1.split(' ').next()?.parse().ok()
        });
        Process::open(pid).iter().for_each(Process::kill);
    }
    eventually("its end", || {
        let ended = serve.try_wait().unwrap()?;
        let left = process::with_variable(runtime_dir::ENVIRONMENT, &pond.runtime_dir());
        left.is_empty().then_some(ended)
    });
    let said = pond.log();
    (victim.is_none() || said.contains("started (epoch 2,")).then_some(said)
}

#[test]
fn the_second_pond_ends_and_says_who_has_the_gpu_whoever_of_it_was_killed() {
    let first = TestPond::start(Options::new().soft());
    let has_it = format!("is already served by the pond in '{}'", first.runtime_dir().display());
    for victim in [None, Some("keeper::keeper: daemon "), Some("keeper::keeper: keeper ")] {
        let said = INIT.iter().find_map(|init| second(&first.path("soft"), *init, victim));
        let said = said.unwrap_or_else(|| panic!("no kill of '{victim:?}' was quick enough"));
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.iter().any(|error| error.contains(&has_it)), "{said}");
        assert!(said.contains("need another MILLPOND_SOFT_DIR"), "it says what to do: {said}");
        assert_eq!(
            errors.last(),
            Some(&"error: the daemon could not start (ended: exit status: 1)")
        );
        assert!(!said.contains("serves (epoch"), "none of them has served: {said}");
    }
    first.control().ping().unwrap();
}
