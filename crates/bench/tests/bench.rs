//! `millpond bench`, as people type it, in ponds of its own and in one that is there: every row, and
//! nothing left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use millpond_tests::desk::Desk;
use serde_json::Value;

/// Rows that a software driver with little memory has too.
const ROWS: &[&str] = &[
    "request/ping",
    "request/publish",
    "create/one",
    "create/mapped",
    "create/threads",
    "get/first",
    "get/mapped",
    "get/again",
    "attach/2m",
    "attach/64m",
    "attach/handles-1",
    "attach/handles-8",
    "attach/handles-64",
    "attach/handles-148",
    "attach/first",
    "attach/first-lazy",
    "attach/connect",
    "attach/first-cpu",
    "move/put",
    "move/get",
    "move/put-new",
    "list/many",
    "death/noticed",
    "death/leases",
    "memory/daemon",
    "memory/keeper",
    "elastic/warm-block",
    "elastic/cold-1g",
    "elastic/cold-1g-16m",
    "elastic/cold-1g-2m",
    "elastic/move-1g",
    "elastic/move-1g-asked",
    "elastic/kv-page",
    "elastic/kv-page-again",
    "elastic/kv-page-cold",
    "elastic/kv-page-free",
    "elastic/kv-page-trim",
    "elastic/book",
    "elastic/pool-64k",
    "elastic/pool-20m",
    "elastic/pool-mixed",
    "elastic/pool-two-streams",
    "recovery/empty",
    "recovery/clients",
    "recovery/claimed",
    "crowd/resident",
    "crowd/per-tensor",
    "crowd/journal",
    "crowd/recovery",
    "connections/accept",
    "connections/many",
    "connections/most",
];

/// Rows that have no limit to stand beside.
const ALONE: &[&str] = &[
    "attach/connect",
    "memory/daemon",
    "memory/keeper",
    "memory/gpu",
    "crowd/per-tensor",
    "crowd/journal",
];

fn rows(result: &Value) -> Vec<(&str, &Value)> {
    let rows = result["rows"].as_array().unwrap();
    rows.iter().map(|row| (row["name"].as_str().unwrap(), row)).collect()
}

fn check(rows: &[(&str, &Value)]) {
    for (name, row) in rows {
        let positive = |key: &str| row[key].as_f64().is_some_and(|number| number > 0.0);
        let alone = ALONE.contains(name);
        assert!(positive("median") || *name == "memory/gpu", "{row}");
        assert!(positive("floor") != alone && positive("ratio") != alone, "{row}");
        assert_eq!(row["floor_what"].is_null(), alone, "{row}");
        assert!(row["rounds"].as_u64().unwrap() > 0, "{row}");
        assert!(row["met"].is_null() || row["goal"].is_string(), "{row}");
    }
}

/// A desk with this package's companion.
fn desk() -> Desk {
    let companion = Path::new(env!("CARGO_BIN_EXE_millpond-bench"));
    Desk::with_companions(companion.parent().unwrap())
}

#[test]
fn it_has_ponds_of_its_own_and_leaves_nothing() {
    let place = desk();
    let picture = tempfile::tempdir().unwrap();
    let picture = picture.path().join("bench.svg");
    let result = place.json(&["bench", "--quick", "--json", "--svg", picture.to_str().unwrap()]);
    assert_eq!((&result["software_driver"], &result["quick"]), (&true.into(), &true.into()));
    let rows = rows(&result);
    check(&rows);
    let missing: Vec<_> =
        ROWS.iter().filter(|wanted| !rows.iter().any(|(name, _)| name == *wanted)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let attach = rows.iter().find(|(name, _)| *name == "attach/64m").unwrap().1;
    assert!(attach["met"].is_null(), "the software driver's speed is not judged");
    assert!(std::fs::read_to_string(&picture).unwrap().ends_with("</svg>\n"));
    let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn it_measures_a_pond_that_is_there() {
    let place = desk();
    let _serving = place.serve();
    let words = ["bench", "--quick", "--pond", "--only", "^(request|get|list|recovery)/"];
    let json = place.json(&[&words[..], &["--json"]].concat());
    let rows = rows(&json);
    check(&rows);
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let wanted = ["request/ping", "request/publish", "get/first", "get/mapped", "get/again"];
    assert_eq!(names, [&wanted[..], &["list/many"]].concat(), "nothing is killed");
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "", "nothing is left behind");
    let table = place.stdout(&["bench", "--quick", "--pond", "--only", "ping"]);
    for part in ["NAME", "MEDIAN", "FLOOR", "RATIO", "GOAL", "at most 2x"] {
        assert!(table.contains(part), "{part}");
    }
}

#[test]
fn rows_that_do_not_exist_are_usage() {
    let place = desk();
    let ran = place.run(&["bench", "--only", "nothing"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("request/ping"), "{}", ran.stderr);
    assert_eq!(place.run(&["bench", "--only", "("]).code, Some(2));
}

#[test]
fn it_is_a_command_among_others() {
    let place = desk();
    for words in [&["help"][..], &["--help"], &["-h"]] {
        let help = place.stdout(words);
        let about = "  Measure the pond against the raw limits of this machine";
        // A checkout has more programs beside it.
        let is_it = |line: &str| line.starts_with("  bench ") && line.ends_with(about);
        let companions = help.split("\nCompanions:\n").nth(1).unwrap();
        assert!(companions.lines().any(is_it), "{help}");
    }
    let help = place.stdout(&["bench", "--help"]);
    assert_eq!(help, place.stdout(&["help", "bench"]));
    assert!(help.contains("Usage: millpond bench [OPTIONS]") && help.contains("Examples:"));
    assert!(!help.contains("worker"), "{help}");
    let ran = place.run(&["bench", "--nonsense"]);
    assert_eq!(ran.code, Some(2));
    let usage = ran.stderr.lines().find(|line| line.starts_with("Usage:")).unwrap();
    assert_eq!(usage, "Usage: millpond bench [OPTIONS]");
    let ran = place.run(&["--json", "bench", "--nonsense"]);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["hint"], "`millpond help bench` lists the commands");
    assert!(place.run(&["benhc"]).stderr.contains("'bench'"));
}

/// The page has a part for the command, and every flag of it is named there.
#[test]
fn the_page_about_commands_has_every_flag() {
    let page = include_str!("../../../docs/cli.md");
    let part = page.split("\n## ").find(|part| part.starts_with("bench\n")).unwrap();
    let help = desk().stdout(&["help", "bench"]);
    let help = help.split("\nGlobal options:").next().unwrap();
    for flag in help.split_whitespace().filter(|word| word.starts_with("--")) {
        assert!(["--help", "--json"].contains(&flag) || part.contains(flag), "{flag}");
    }
}
