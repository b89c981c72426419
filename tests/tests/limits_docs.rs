//! The JSON that docs/cli.md shows for limits has the fields that the commands print.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use millpond_tests::place::{limit, size, unit};
use millpond_tests::{Place, binaries, is_soft};
use serde_json::Value;

/// The JSON of a section, by its place in it.
fn documented(section: &str, at: usize) -> Value {
    let page = include_str!("../../docs/cli.md");
    let section = page.split("\n## ").find(|text| text.lines().next() == Some(section)).unwrap();
    let block = section.split("```json\n").nth(at + 1).unwrap().split("```").next().unwrap();
    serde_json::from_str(block).unwrap()
}

/// Every field is there on both sides. What the page leaves away is an object with a key of dots.
#[track_caller]
fn same_fields(printed: &Value, shown: &Value, at: &str) {
    match (printed, shown) {
        (Value::Object(printed), Value::Object(shown)) if !shown.contains_key("…") => {
            let keys = |of: &serde_json::Map<String, Value>| -> BTreeSet<String> {
                of.keys().cloned().collect()
            };
            assert_eq!(keys(printed), keys(shown), "{at}");
            for (key, value) in shown {
                same_fields(&printed[key], value, &format!("{at}.{key}"));
            }
        }
        (Value::Array(printed), Value::Array(shown)) => {
            if let (Some(printed), Some(shown)) = (printed.first(), shown.first()) {
                same_fields(printed, shown, &format!("{at}[0]"));
            }
        }
        _ => {}
    }
}

#[test]
fn what_is_printed_is_what_is_documented() {
    let place = Place::new();
    let groups = documented("group ls, set, rm, watch", 0);
    let set = place.json(&["group", "set", "team-a", "--limit", &size(limit(256))]);
    same_fields(&set, &groups["groups"][0], "group set");
    let mut tenant = place.tenant(&["--group", "team-a"]);
    assert!(tenant.takes("linear", 8 * unit()));
    same_fields(&place.json(&["group", "ls"]), &groups, "group ls");
    let printed = place.json(&["ps", "--group", "team-a"]);
    assert!(!printed["processes"][0]["devices"].as_array().unwrap().is_empty(), "{printed}");
    same_fields(&printed, &documented("ps", 1), "ps --group");
    same_fields(&place.json(&["status"]), &documented("status", 0), "status");
    same_fields(&place.json(&["doctor"]), &documented("doctor", 0), "doctor");
    let soft = is_soft().then(|| binaries::soft_libraries()[0].display().to_string());
    let mut words = vec!["coverage", "--all"];
    words.extend(soft.iter().flat_map(|library| ["--library", library]));
    same_fields(&place.json(&words), &documented("coverage", 0), "coverage");

    let mut command = place.command(&["group", "watch", "team-a", "--json"]);
    let mut watch = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let account = lines.map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_str(&line).unwrap();
        (line["kind"] == "account").then_some(line)
    });
    watch.kill().unwrap();
    watch.wait().unwrap();
    let mut shown = groups["groups"][0]["devices"][0].clone();
    for field in ["kind", "unix_ms", "group", "state"] {
        shown[field] = Value::Null;
    }
    same_fields(&account.unwrap(), &shown, "group watch");
}
