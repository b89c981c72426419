//! What is said where no pond answers, and to whom.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{PATIENCE, Place, Ran};

const READING: [&[&str]; 7] = [
    &["status"],
    &["ps"],
    &["tensor", "ls"],
    &["inspect", "x"],
    &["tensor", "rm", "x"],
    &["elastic", "ls"],
    &["elastic", "inspect", "x"],
];

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

fn until_given_up(mut ended: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !ended() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// What a pond that cannot start says.
fn refused(place: &Place, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = place.command(words);
    command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let ended = until_given_up(|| child.try_wait().unwrap().is_some());
    if !ended {
        child.kill().unwrap();
    }
    assert!(ended, "it serves: {words:?} {variables:?}");
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn a_gpu_that_is_not_there_is_named_together_with_those_that_are() {
    let place = Place::new();
    let uuid = "GPU-11111111-1111-1111-1111-111111111111";
    for (given, named) in [("5", "GPU 5"), (uuid, uuid)] {
        let ran = refused(&place, &["serve", "--devices", given], &[]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let said = format!("error: `devices` names {named}; the driver has only 0 (GPU-");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
}

#[test]
fn a_setting_of_the_software_driver_that_is_wrong_is_named() {
    let place = Place::new();
    for (variable, value) in [("MILLPOND_SOFT_MEMORY", "plenty"), ("MILLPOND_SOFT_DIR", "/proc/x")]
    {
        let ran = refused(&place, &["serve"], &[(variable, value)]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains(variable) && ran.stderr.contains(value), "{}", ran.stderr);
        let ran = refused(&place, &["doctor"], &[(variable, value)]);
        let line = ran.stdout.lines().find(|line| line.starts_with("fail  GPUs")).unwrap();
        assert!(line.contains(variable) && line.contains(value), "{line}");
        assert!(!ran.stdout.contains("nvidia-smi"), "{}", ran.stdout);
    }
}

#[test]
fn a_level_that_is_mistyped_is_no_silent_pond() {
    let ran = refused(&Place::new(), &["serve", "--log", "inof"], &[]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("'inof' is neither a level"), "{}", ran.stderr);
}

#[test]
fn a_library_that_is_no_driver_is_not_covered() {
    let ran = Place::new().run(&["coverage", "--library", env!("CARGO_BIN_EXE_millpond")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(19), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not a CUDA driver"), "{}", ran.stderr);
}
