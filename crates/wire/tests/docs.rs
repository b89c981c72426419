//! The page about the protocol has every kind of error, event and message.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use millpond_wire::message::EventKind;
use millpond_wire::{Dtype, ErrorKind};

const PAGE: &str = include_str!("../../../docs/protocol.md");
const SCHEMA: &str = include_str!("../../../schema/wire.fbs");

/// The part of the page under a heading.
fn part(heading: &str) -> &'static str {
    PAGE.split("\n## ").find(|part| part.lines().next() == Some(heading)).unwrap()
}

/// Pairs of a number and a name in a table's cells, two or more of them in a row.
fn numbered(text: &'static str) -> Vec<(u64, &'static str)> {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let cells: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    let pairs = cells.iter().flat_map(|row| row.windows(2));
    let pair = |pair: &[&'static str]| -> Option<(u64, &'static str)> {
        Some((pair[0].parse().ok()?, pair[1].split('`').nth(1)?))
    };
    let mut found: Vec<_> = pairs.filter_map(pair).collect();
    found.sort_unstable();
    found
}

#[test]
fn every_kind_of_error_has_its_number() {
    let mut kinds: Vec<_> =
        ErrorKind::ALL.iter().map(|kind| (u64::from(kind.code()), kind.name())).collect();
    kinds.sort_unstable();
    assert_eq!(numbered(part("Requests")), kinds);
}

#[test]
fn every_kind_of_event_has_its_number() {
    let kinds: Vec<_> =
        EventKind::ALL.iter().map(|kind| (u64::from(kind.code()), kind.name())).collect();
    assert_eq!(numbered(part("Events")), kinds);
}

#[test]
fn every_dtype_has_its_number() {
    let row = PAGE.lines().find(|line| line.starts_with("| dtype |")).unwrap();
    let all: Vec<String> =
        Dtype::ALL.iter().map(|dtype| format!("{} `{dtype}`", dtype.code())).collect();
    assert_eq!(row, format!("| dtype | {} |", all.join(", ")));
}

/// Members of a union of the schema.
fn members(union: &str) -> Vec<&'static str> {
    let body =
        SCHEMA.split(&format!("union {union} {{")).nth(1).unwrap().split('}').next().unwrap();
    let members: Vec<_> = body.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    assert!(members.len() > 20, "{members:?}");
    members
}

#[test]
fn every_request_has_a_row_and_every_reply_is_named() {
    let rows = part("Requests");
    for request in members("RequestBody") {
        assert!(rows.contains(&format!("\n| `{request}` | `")), "{request}");
    }
    for reply in members("ReplyBody") {
        assert!(PAGE.contains(&format!("`{reply}`")), "{reply}");
    }
}
