//! Random interleavings of real processes with kills: the limit holds at every instant, ledger and
//! driver agree at the end; and without one of the rules this test would fail.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::process::{Command, Output};

fn harness(what: &str, settings: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_millpond-ledger-harness"))
        .arg(what)
        .arg(folder.path().join("g"))
        .args(settings)
        .output()
        .unwrap();
    eprintln!("{}", String::from_utf8_lossy(&output.stdout));
    eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn race(settings: &[&str]) -> bool {
    let output = harness("race", settings);
    // 1 is a verdict; anything else is a race that was not run.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
    output.status.success()
}

#[test]
fn the_limit_holds_under_random_kills_and_ledger_and_driver_agree() {
    for memory in ["memory=segment", "memory=file"] {
        assert!(race(&["ms=2000", memory]));
        assert!(race(&["ms=1500", "twin=hasty", memory]));
        assert!(race(&["ms=700", "twin=hasty", "processes=3", "limit=40", memory]));
    }
    assert!(race(&["ms=1000", "twin=slow-sound"]));
}

#[test]
fn without_the_kernel_lock_the_race_fails() {
    assert!(!race(&["ms=60000", "twin=no-lock"]));
}

#[test]
fn with_check_then_add_the_race_fails() {
    assert!(!race(&["ms=60000", "twin=check-then-add"]));
}

#[test]
fn a_kill_at_any_system_call_leaks_nothing() {
    // Between two calls nothing happens to a file.
    for settings in [["100", "segment"], ["0", "file"]] {
        assert!(harness("steps", &settings).status.success());
    }
}
