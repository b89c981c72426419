//! Replays with real memory, in ponds of their own on the software driver. Nothing is said about speed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use millpond_tests::binaries;
use millpond_traces::report::{Kind, Report};
use millpond_traces::way::Way;
use std::path::Path;
use std::process::{Command, Output};

/// The program in a folder of its own.
fn traces(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millpond-traces"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("MILLPOND_") && !name.starts_with("MILLPOND_SOFT_") {
            command.env_remove(name.as_ref());
        }
    }
    command
        .args(words)
        .current_dir(folder)
        .env("MILLPOND_DRIVER", "soft")
        .env("MILLPOND_BIN", binaries::millpond())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_trace_is_played_with_real_memory_and_all_of_it_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    // Sixteen layers less, and a minute in three seconds.
    let ran = traces(
        folder.path(),
        &[
            "replay",
            "--limit",
            "192M",
            "--shrink",
            "16",
            "--speed",
            "20",
            "--seconds",
            "40",
            "--models",
            "3",
            "--load",
            "40",
            "--ways",
            "static-equal,elastic,elastic-ahead",
            "--json",
            "r.json",
            "--svg",
            "r.svg",
        ],
    );
    // Blocks, bytes or requests that are left are an error of the program.
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let report = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report = Report::read(&report).unwrap();
    assert_eq!((report.kind, report.rows.len(), report.timelines.len()), (Kind::Replay, 3, 3));
    let requests = report.rows[0].requests;
    assert!(requests > 20, "{requests}");
    for (row, timeline) in report.rows.iter().zip(&report.timelines) {
        assert_eq!((row.requests, row.way), (requests, timeline.way));
        assert!(row.refused <= requests && row.used_permille.peak <= 1000);
        let held = timeline.samples.iter().map(|moment| moment.held_bytes.iter().sum::<u64>());
        let most = held.max().unwrap();
        assert!(most > 0 && most <= 192 << 20, "{most} bytes at most in {:?}", row.way);
        for moment in &timeline.samples {
            let pairs = moment.used_bytes.iter().zip(&moment.held_bytes);
            assert!(pairs.clone().all(|(used, held)| used <= held), "{moment:?}");
        }
    }
    let split = &report.timelines[0];
    assert_eq!(split.way, Way::StaticEqual);
    assert_eq!(split.samples[0].held_bytes.iter().filter(|bytes| **bytes > 0).count(), 3);
    let svg = std::fs::read_to_string(folder.path().join("r.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("elastic, ahead"), "{svg}");
    assert!(text(&ran.stdout).contains("static, equal"), "{}", text(&ran.stdout));
}

#[test]
fn a_trace_of_somebody_else_is_simulated_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["make", "--models", "2", "--load", "20", "--seed", "7", "--seconds", "5"];
    let made = traces(folder.path(), &words);
    std::fs::write(folder.path().join("mine.jsonl"), &made.stdout).unwrap();
    let ran = traces(folder.path(), &["simulate", "--trace", "mine.jsonl", "--json", "s.json"]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let report = std::fs::read_to_string(folder.path().join("s.json")).unwrap();
    let report = Report::read(&report).unwrap();
    assert_eq!((report.kind, report.rows.len()), (Kind::Simulation, Way::ALL.len()));
    let lines = text(&made.stdout).lines().count() as u64;
    assert_eq!(report.rows[0].requests, lines - 2);
    let words = ["replay", "--trace", "mine.jsonl", "--ways", "elastic", "--limit", "64M"];
    let smaller = ["--shrink", "16", "--speed", "20", "--json", "r.json"];
    let ran = traces(folder.path(), &[&words[..], &smaller].concat());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let report = std::fs::read_to_string(folder.path().join("r.json")).unwrap();
    let report = Report::read(&report).unwrap();
    assert_eq!((report.seed, report.rows[0].requests), (None, lines - 2));
}

#[test]
fn what_cannot_be_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (words, said) in [
        (&["simulate", "--models", "9"][..], "there are 1 to 8 models, not 9"),
        (&["replay", "--ways", "oracle", "--limit", "64M", "--shrink", "16"], "cannot be replayed"),
        (&["replay", "--limit", "2M"], "hint: choose fewer models"),
        (&["simulate", "--trace", "not-there.jsonl"], "'not-there.jsonl': "),
    ] {
        let ran = traces(folder.path(), words);
        assert!(!ran.status.success());
        assert!(text(&ran.stderr).contains(said), "{words:?}: {}", text(&ran.stderr));
    }
}
