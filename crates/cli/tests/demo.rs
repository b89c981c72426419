//! The demo with a pond of its own: what it says, and that nothing is left.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::process::Stdio;

use common::{Place, Ran, signal, until, wait};

/// The least that the demo takes; a debug build hashes slowly.
const SMALL: [&str; 4] = ["--size", "34M", "--workers", "2"];

fn demo<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["demo"].into_iter().chain(SMALL).chain(more.iter().copied()).collect()
}

/// What lies in the place and was not there before.
fn left_in(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_demo_sees_every_claim_come_true_and_leaves_nothing() {
    let place = Place::new();
    let seen = place.json(&demo(&["--json"]));
    let false_claims: Vec<_> =
        seen["claims"].as_array().unwrap().iter().filter(|claim| claim["ok"] != true).collect();
    assert!(false_claims.is_empty() && seen["ok"] == true, "{false_claims:#?}");
    assert_eq!(seen["software_driver"], true);
    assert_eq!((&seen["workers"], &seen["bytes"]), (&2.into(), &(34 << 20).into()));
    assert_eq!(seen["copies"], 1.0);
    assert_eq!(seen["kills_survived"], serde_json::json!(["worker", "daemon", "keeper"]));
    assert_eq!((&seen["lost_bytes"], &seen["leaked_bytes"]), (&0.into(), &0.into()));
    for (name, time) in seen["times"].as_object().unwrap() {
        assert!(time.as_f64().is_some_and(|time| time > 0.0), "{name}: {time}");
    }
    assert_eq!(left_in(&place), [""; 0]);
}

#[test]
fn what_the_demo_says_to_try_next_works_as_printed() {
    let place = Place::new();
    let said = place.stdout(&demo(&[]));
    let next = said.split("\nNow try:\n").nth(1).unwrap();
    let commands = next.lines().filter(|line| line.starts_with("  millpond ")).count();
    assert!((3..=4).contains(&commands), "{next}");
    let mut shell = place.shell("bash");
    shell.args(["-e", "-c", next]).current_dir(place.path());
    shell.env("MILLPOND_LOG_FILE", place.path().join("log"));
    let ran = Ran::from(shell.output().unwrap());
    assert_eq!(ran.code, Some(0), "{next}{}{}", ran.stdout, ran.stderr);
    assert_eq!(place.run(&["status"]).code, Some(15), "the last one stops the pond");
}

#[test]
fn a_demo_that_is_ended_in_the_middle_leaves_nothing() {
    let place = Place::new();
    for name in ["TERM", "KILL"] {
        let mut child = place.command(&demo(&[])).stdout(Stdio::null()).spawn().unwrap();
        let is_serving = || {
            let pond = left_in(&place).into_iter().find(|name| name.starts_with("millpond-"))?;
            place.path().join(pond).join("sock").exists().then_some(())
        };
        until("the demo's pond", is_serving);
        signal(child.id(), name);
        assert!(!wait(&mut child).success());
        until("an empty folder", || left_in(&place).is_empty().then_some(()));
    }
}

#[test]
fn a_demo_can_leave_its_pond_running() {
    let place = Place::new();
    let seen = place.json(&demo(&["--json", "--keep"]));
    assert_eq!((&seen["ok"], &seen["leaked_bytes"]), (&true.into(), &serde_json::Value::Null));
    let kept = seen["kept"].as_str().unwrap().to_owned();
    let status = place.json(&["status", "--json", "--runtime-dir", &kept]);
    assert_eq!(status["devices"][0]["tensors"], 5);
    assert!(status["epoch"].as_u64().unwrap() > 1);
    let pid = u32::try_from(status["keeper_pid"].as_u64().unwrap()).unwrap();
    signal(pid, "TERM");
    let words = ["status", "--runtime-dir", kept.as_str()];
    until("the pond's end", || (place.run(&words).code == Some(15)).then_some(()));
}

#[test]
fn too_small_a_demo_is_usage() {
    let place = Place::new();
    let ran = place.run(&["demo", "--size", "1M"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("1 MiB is too small")
            && ran.stderr.contains("hint: try `millpond demo")
    );
    assert_eq!(left_in(&place), [""; 0]);
}
