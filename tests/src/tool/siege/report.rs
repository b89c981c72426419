//! What the siege counts, and what it says in the end.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::role::Role;
use super::step::Step;

/// Lines of the clients that a failing run shows.
const LAST_LINES: usize = 120;

/// Everything that is counted while it goes on.
#[derive(Debug, Default)]
pub(super) struct Tally {
    requests: BTreeMap<Step, u64>,
    reads: u64,
    read_bytes: u64,
    refused: BTreeMap<String, u64>,
    pub(super) wrong_reads: u64,
    lost: u64,
    failed: u64,
    kills: BTreeMap<Role, u64>,
    kill_steps: BTreeMap<(Role, &'static str), u64>,
    kill_ways: BTreeMap<&'static str, u64>,
    recovered: BTreeMap<Role, Vec<Duration>>,
    pub(super) violations: Vec<String>,
    last_lines: VecDeque<String>,
}

impl Tally {
    /// One line of a client.
    pub(super) fn heard(&mut self, slot: Option<usize>, line: &str) {
        if self.last_lines.len() == LAST_LINES {
            self.last_lines.pop_front();
        }
        let who = slot.map_or_else(|| "spare".to_owned(), |slot| format!("client {slot}"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(step) = Step::parse(word) {
            if step.asks() {
                *self.requests.entry(step).or_default() += 1;
            }
            if step == Step::Verified {
                self.reads += 1;
                self.read_bytes += rest.parse::<u64>().unwrap_or(0);
            }
        }
        match word {
            "refused" => {
                let kind = rest.split(' ').take(2).collect::<Vec<_>>().join(" ");
                *self.refused.entry(kind).or_default() += 1;
            }
            "wrong" | "wrong:" => {
                self.wrong_reads += 1;
                self.violations.push(format!("{who}: {line}"));
            }
            "lost" => {
                self.lost += 1;
                self.violations.push(format!("{who}: {line}"));
            }
            "error" => {
                self.failed += 1;
                self.violations.push(format!("{who}: {line}"));
            }
            _ => {}
        }
        self.last_lines.push_back(format!("{who}: {line}"));
    }

    pub(super) fn killed(&mut self, role: Role, at: Option<Step>, way: &'static str) {
        *self.kills.entry(role).or_default() += 1;
        *self.kill_steps.entry((role, at.map_or("start", Step::name))).or_default() += 1;
        *self.kill_ways.entry(way).or_default() += 1;
        self.last_lines.push_back(format!("== {role} killed ({way})"));
    }

    pub(super) fn recovered(&mut self, role: Role, took: Duration) {
        self.recovered.entry(role).or_default().push(took);
    }

    pub(super) fn last_lines(&self) -> impl Iterator<Item = &str> {
        self.last_lines.iter().map(String::as_str)
    }

    pub(super) fn json(&self) -> Value {
        let mut steps = Map::new();
        for ((role, step), count) in &self.kill_steps {
            steps.entry(role.name()).or_insert_with(|| json!({}))[*step] = json!(count);
        }
        let kills: Map<String, Value> =
            self.kills.iter().map(|(role, count)| (role.name().to_owned(), json!(count))).collect();
        let requests: Map<String, Value> =
            self.requests.iter().map(|(step, n)| (step.name().to_owned(), json!(n))).collect();
        json!({
            "kills": kills,
            "kills_total": self.kills.values().sum::<u64>(),
            "kills_at_step": steps,
            "kills_by_way": self.kill_ways,
            "requests": requests,
            "requests_total": self.requests.values().sum::<u64>(),
            "reads_verified": self.reads,
            "bytes_verified": self.read_bytes,
            "wrong_reads": self.wrong_reads,
            "lost_tensors": self.lost,
            "failed_requests": self.failed,
            "refused_as_documented": self.refused,
            "recovery_ms": self.recovered.iter().map(|(role, times)| {
                (role.name().to_owned(), spread(times))
            }).collect::<Map<_, _>>(),
            "violations": self.violations,
        })
    }
}

fn spread(times: &[Duration]) -> Value {
    let mut sorted: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |part: usize| {
        sorted.get((sorted.len() - 1) * part / 100).map(|ms| (ms * 10.0).round() / 10.0)
    };
    json!({ "median": at(50), "p90": at(90), "worst": at(100) })
}
