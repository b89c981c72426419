//! The siege: real processes, really killed, under load.
//!
//! ```text
//! pondtool siege [--kills N | --seconds N] [--clients N] [--seed N]
//!                [--roles worker,daemon,keeper,mover] [--spares N] [--out FILE] [--json]
//!                [--stderr normal|closed|full|blocking|replaced] [--sabotage]
//! ```
//!
//! `--seconds` goes on for that long instead of for a number of kills. `--stderr` is what the pond's
//! standard error is: see [`Stderr`].
//!
//! A pond of its own, clients that make, read and delete what all of them share, and `kill -9` for
//! one role after the other: at any time, right after a client has said what it is about to do,
//! while stopped, and several at once. Never keeper and daemon together. Every byte that is read is
//! judged. In the end everything must be gone: tensors, leases, physical memory, descriptors,
//! processes. With `--sabotage` clients write wrong bytes, and the siege must fail. Exits non-zero if anything was wrong, and then says seed, last lines and log.

mod client;
mod crew;
mod killer;
mod pattern;
mod report;
mod rng;
mod role;
mod step;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::crew::Crew;
use self::killer::Killer;
use self::report::Tally;
use self::rng::Rng;
use self::role::Role;
use super::{Trouble, print, wrong};
use crate::{Options, PATIENCE, Process, Rest, Stderr, TestPond, driver, eventually};

/// Where all clients' names are.
pub(crate) const PREFIX: &str = "siege/";
/// Tells clients to write wrong bytes.
pub(crate) const SABOTAGE: &str = "MILLPOND_SIEGE_SABOTAGE";

/// Kills between two looks at the clock's bag: enough that every role has its part.
const KILLS_IN_A_BAG: usize = 25;

struct Plan {
    kills: usize,
    /// Instead of a number of kills.
    seconds: Option<u64>,
    stderr: Stderr,
    clients: usize,
    spares: usize,
    seed: u64,
    roles: Vec<Role>,
    out: Option<PathBuf>,
    json: bool,
    sabotage: bool,
}

/// The program of one client.
pub(crate) fn client() -> Result<(), Trouble> {
    client::run()
}

pub(crate) fn main(options: &[&str]) -> ExitCode {
    let plan = match Plan::parse(options) {
        Ok(plan) => plan,
        Err((_, message)) => {
            complain(&format!("pondtool siege: {message}"));
            return ExitCode::from(2);
        }
    };
    let tally = Arc::new(Mutex::new(Tally::default()));
    let siege = std::panic::AssertUnwindSafe(|| run(&plan, &tally));
    // What hangs or dies panics in the harness: that is a violation like any other.
    let measured = std::panic::catch_unwind(siege).unwrap_or_else(|_| {
        lock(&tally).violations.push("the siege did not come to its end".to_owned());
        json!({})
    });
    let tally = lock(&tally);
    let mut report = tally.json();
    report["seed"] = json!(plan.seed);
    report["clients"] = json!(plan.clients);
    report["stderr"] = json!(plan.stderr.name());
    report["driver"] = json!(driver::choice().to_string());
    report["measured"] = measured;
    let text = serde_json::to_string_pretty(&report).unwrap_or_default();
    if let Some(path) = &plan.out
        && let Err(error) = std::fs::write(path, format!("{text}\n"))
    {
        complain(&format!("{}: {error}", path.display()));
        return ExitCode::FAILURE;
    }
    if plan.json {
        print(&text);
    } else {
        summary(&report);
    }
    if tally.violations.is_empty() {
        return ExitCode::SUCCESS;
    }
    tally.last_lines().for_each(complain);
    tally.violations.iter().take(50).for_each(|text| complain(&format!("VIOLATION: {text}")));
    complain(&format!("the siege failed; again with: pondtool siege --seed {}", plan.seed));
    ExitCode::FAILURE
}

fn summary(report: &Value) {
    print(&format!(
        "siege (stderr {}): {} kills ({}), {} requests, {} reads verified ({} MiB), {} wrong, {} lost, {} failed, {} s",
        report["stderr"].as_str().unwrap_or_default(),
        report["kills_total"],
        report["kills"],
        report["requests_total"],
        report["reads_verified"],
        report["bytes_verified"].as_u64().unwrap_or(0) >> 20,
        report["wrong_reads"],
        report["lost_tensors"],
        report["failed_requests"],
        report["measured"]["seconds"],
    ));
    print(&format!("recovery in ms: {}", report["recovery_ms"]));
}

fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(plan: &Plan, tally: &Arc<Mutex<Tally>>) -> Value {
    let start = Instant::now();
    // A mover goes soon, so that its context is not in the last reading.
    let mut options = Options::giving_back().flag("--mover-idle-seconds", "1").stderr(plan.stderr);
    if plan.sabotage {
        options = options.worker_env(SABOTAGE, "1");
    }
    let pond = TestPond::prepare(options);
    let before_serve = pond.physical();
    pond.serve();
    // The next daemon and the next keeper start with what was held, as those in the end do.
    pond.kill_daemon();
    pond.kill_keeper();
    pond.wait_for_keeper();
    eventually("the driver", || pond.status().driver_ready.then_some(()));
    let (at_rest, served) = (Rest::of(&pond), pond.physical());

    let mut rng = Rng::new(plan.seed);
    let crew = Crew::start(&pond, plan.clients, plan.spares, rng.next(), Arc::clone(tally));
    let (status, begun) = (pond.status(), Instant::now());
    let tallied = Arc::clone(tally);
    let (bag, daemons) = (Vec::new(), 0);
    let mut killer = Killer { pond: &pond, crew, rng, bag, daemons, tally: tallied, status };
    match plan.seconds.map(Duration::from_secs) {
        None => killer.kill(&plan.roles, plan.kills, None),
        Some(long) => {
            let until = begun + long;
            while Instant::now() < until {
                killer.kill(&plan.roles, KILLS_IN_A_BAG, Some(until));
            }
        }
    }
    let crew = killer.crew;
    if plan.sabotage {
        // However slow the machine is, one of them is read at some time.
        eventually("a read of wrong bytes", || (lock(tally).wrong_reads > 0).then_some(()));
    }
    crew.end();
    let under_fire = begun.elapsed();

    let complaint = |text: String| lock(tally).violations.push(text);
    let left = pond.control().list(PREFIX).unwrap_or_default();
    for tensor in &left {
        // An ephemeral one of a killed client may be on its way out.
        let _ = pond.control().delete(tensor.tensor);
    }
    pond.wait_for_keeper();
    if let Err(text) = at_rest.is_reached_by(&pond) {
        complaint(format!("what the pond holds: {text}"));
    }
    let near = |used: u64, right: u64| used.abs_diff(right) <= driver::tolerance();
    let after = settle(&pond, |used| near(used, served));
    if !near(after, served) {
        complaint(format!("physical memory: {served} bytes before, {after} bytes after"));
    }
    if let Ok(keeper) = Process::open(pond.status().keeper_pid) {
        keeper.terminate();
        if !keeper.wait(PATIENCE) {
            complaint("the pond does not stop".to_owned());
        }
    }
    let stopped = settle(&pond, |used| near(used, before_serve));
    if !near(stopped, before_serve) {
        complaint(format!("after the stop {stopped} bytes are in use, before {before_serve}"));
    }
    // This pond's gauge is the only process that may be left.
    let others = eventually("the end of all processes", || {
        let count = pond.processes().len();
        (count <= 1).then_some(count)
    });
    if !lock(tally).violations.is_empty() {
        let log = pond.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].iter().for_each(|line| complain(line));
    }
    json!({
        "seconds": start.elapsed().as_secs_f64().round(),
        "seconds_under_fire": under_fire.as_secs_f64().round(),
        "leftovers_deleted": left.len(),
        "descriptors": { "daemon": at_rest.daemon_fds, "keeper": at_rest.keeper_fds },
        "physical_bytes": {
            "before_serve": before_serve, "served": served, "after": after, "after_stop": stopped,
            "tolerance": driver::tolerance(),
        },
        "processes_left": others.saturating_sub(1),
    })
}

/// The last reading, once it is good or time is over.
fn settle(pond: &TestPond, is_good: impl Fn(u64) -> bool) -> u64 {
    let start = Instant::now();
    loop {
        let used = pond.physical();
        if is_good(used) || start.elapsed() > PATIENCE {
            return used;
        }
    }
}

impl Plan {
    fn parse(options: &[&str]) -> Result<Self, Trouble> {
        let mut plan = Self {
            kills: 300,
            seconds: None,
            stderr: Stderr::Normal,
            clients: 8,
            spares: if driver::is_soft() { 3 } else { 8 },
            seed: u64::from(std::process::id()),
            roles: Role::ALL.to_vec(),
            out: None,
            json: false,
            sabotage: false,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if *option == "--json" {
                plan.json = true;
                continue;
            }
            if *option == "--sabotage" {
                plan.sabotage = true;
                continue;
            }
            let value = options.next().ok_or_else(|| wrong(format!("{option} needs a value")))?;
            let number = || {
                let number = value.parse::<u64>();
                number.map_err(|_| wrong(format!("{option} {value}: not a number")))
            };
            let count = || number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            match *option {
                "--kills" => plan.kills = count()?,
                "--seconds" => plan.seconds = Some(number()?),
                "--stderr" => plan.stderr = value.parse().map_err(wrong)?,
                "--clients" => plan.clients = count()?.max(1),
                "--spares" => plan.spares = count()?,
                "--seed" => plan.seed = number()?,
                "--out" => plan.out = Some(PathBuf::from(value)),
                "--roles" => plan.roles = roles(value)?,
                _ => return Err(wrong(format!("there is no {option}"))),
            }
        }
        Ok(plan)
    }
}

fn roles(text: &str) -> Result<Vec<Role>, Trouble> {
    text.split(',')
        .map(|name| {
            let found = Role::ALL.into_iter().find(|role| role.name() == name);
            found.ok_or_else(|| wrong(format!("'{name}' is nobody who can be killed")))
        })
        .collect()
}
