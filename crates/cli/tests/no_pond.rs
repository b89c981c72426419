//! What is said where no pond answers, and to whom.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, Ran};

const READING: [&[&str]; 5] =
    [&["status"], &["ps"], &["tensor", "ls"], &["inspect", "x"], &["tensor", "rm", "x"]];

#[test]
fn every_command_says_so_with_a_hint_and_exit_code_15() {
    let place = Place::new();
    for words in READING {
        let ran = place.run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(15), ""), "{words:?}");
        let socket = place.pond().join("sock");
        let first = format!("error: no pond answers on '{}'", socket.display());
        assert!(ran.stderr.starts_with(&first), "{}", ran.stderr);
        let hint = ran.stderr.split("\n\n").nth(1).unwrap();
        assert!(hint.starts_with("hint: ") && hint.contains("`millpond serve`"), "{hint}");
    }
}

#[test]
fn with_json_the_error_is_json_on_standard_error() {
    let place = Place::new();
    for words in [&["status", "--json"][..], &["ps", "--json"], &["inspect", "x", "--json"]] {
        let ran = place.run(words);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["error"]["kind"], "no_pond");
        assert_eq!(error["error"]["exit_code"], 15);
        assert!(error["error"]["message"].as_str().unwrap().contains("sock"));
        assert!(error["error"]["hint"].as_str().unwrap().contains("millpond serve"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(15), ""));
    }
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let place = Place::new();
    let escape = '\u{1b}';
    assert!(!place.run(&["status"]).stderr.contains(escape), "not a terminal");
    assert!(place.run(&["status", "--color", "always"]).stderr.contains(escape));
    assert!(!place.run(&["status", "--color", "never"]).stderr.contains(escape));
}

#[test]
fn a_variable_that_is_set_to_nothing_counts_as_not_set() {
    let place = Place::new();
    let mut command = place.command(&["status"]);
    command.env("MILLPOND_RUNTIME_DIR", "").env("MILLPOND_CONFIG", "");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, Some(15), "{}", ran.stderr);
    // With a setting that stops it before it serves.
    let mut command = place.command(&["serve", "--capacity", "nonsense"]);
    command.env("MILLPOND_RUNTIME_DIR", "").env("MILLPOND_CONFIG", "");
    let ran = Ran::from(command.output().unwrap());
    assert!(ran.code == Some(2) && ran.stderr.contains("nonsense"), "{}", ran.stderr);
}

#[test]
fn a_folder_by_flag_wins_over_the_environment() {
    let place = Place::new();
    let other = place.path().join("other");
    let ran = place.run(&["--runtime-dir", other.to_str().unwrap(), "status"]);
    assert!(ran.stderr.contains("/other/sock"), "{}", ran.stderr);
    let long = place.path().join("x".repeat(150));
    let ran = place.run(&["status", "--runtime-dir", long.to_str().unwrap()]);
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("too long"), "{}", ran.stderr);
}

#[test]
fn what_only_millpond_starts_says_so() {
    let place = Place::new();
    for command in ["daemon", "keeper"] {
        let ran = place.run(&[command]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains("not a channel"), "{}", ran.stderr);
    }
}

#[test]
fn the_janitor_removes_only_what_is_temporary() {
    let place = Place::new();
    let precious = place.path().join("precious");
    std::fs::create_dir(&precious).unwrap();
    place.stdout(&["janitor", precious.to_str().unwrap()]);
    assert!(precious.is_dir());
}

#[test]
fn the_doctor_says_what_will_be_used() {
    let place = Place::new();
    let found = place.json(&["doctor", "--json"]);
    assert_eq!(found["ok"], true);
    let checks = found["checks"].as_array().unwrap();
    let check = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert!(check("driver")["found"].as_str().unwrap().contains("software driver"));
    assert_eq!(check("GPU 0 memory as descriptors")["verdict"], "ok");
    assert!(check("pond")["found"].as_str().unwrap().contains("none in"));

    let mut broken = place.command(&["doctor"]);
    broken.env("MILLPOND_DRIVER", "/nowhere/libcuda.so.1");
    let ran = common::Ran::from(broken.output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("fail  driver") && ran.stdout.contains("-> "), "{}", ran.stdout);
}
