//! The page about the protocol says what the code and the schema say: messages, fields, numbers and limits.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};

use millpond_wire::message::{self, EventKind, Gave};
use millpond_wire::{
    Audience, Dtype, ErrorKind, Mode, Survives, TensorState, TransportKind, VersionState, caps,
    page,
};

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

/// The second cell of a row of the page.
fn cell(first: &str) -> &'static str {
    let row = PAGE.lines().find(|line| line.starts_with(&format!("| {first} |"))).unwrap();
    row.split('|').nth(2).unwrap().trim()
}

#[test]
fn every_dtype_has_its_number() {
    let all: Vec<String> =
        Dtype::ALL.iter().map(|dtype| format!("{} `{dtype}`", dtype.code())).collect();
    assert_eq!(cell("dtype"), all.join(", "));
}

#[test]
fn every_dtype_has_its_bits() {
    let mut by_bits: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for dtype in Dtype::ALL {
        by_bits.entry(dtype.bits()).or_default().push(dtype.code().to_string());
    }
    let all: Vec<String> =
        by_bits.iter().map(|(bits, codes)| format!("{bits}: {}", codes.join(", "))).collect();
    assert_eq!(cell("bits of a dtype"), all.join("; "));
}

macro_rules! words {
    ($kind:ty) => {
        <$kind>::ALL.iter().map(|each| format!("{} `{each}`", each.code())).collect::<Vec<_>>()
    };
}

#[test]
fn every_enum_has_its_numbers() {
    assert_eq!(cell("mode"), words!(Mode).join(", "));
    assert_eq!(cell("audience"), words!(Audience).join(", "));
    assert_eq!(cell("state"), words!(TensorState).join(", "));
    assert_eq!(cell("survives"), words!(Survives).join(", "));
    assert_eq!(cell("state of a version"), words!(VersionState).join(", "));
    // The last one is followed by what becomes of it.
    let transports = words!(TransportKind).join(", ");
    assert_eq!(cell("transport").split(" (").next(), Some(transports.as_str()));
    let requests = part("Requests").split_whitespace().collect::<Vec<_>>().join(" ");
    let outcomes = requests.split("`outcome` one of ").nth(1).unwrap().split('.').next().unwrap();
    for word in words!(Gave) {
        assert!(outcomes.contains(&word), "{word} is not in: {outcomes}");
    }
}

#[test]
fn a_hello_is_described_field_by_field() {
    assert_eq!(cell("`magic`"), format!("`{:#x}`", message::MAGIC));
    assert!(cell("`version`").starts_with(&format!("{};", message::VERSION)));
    assert!(part("Hello").contains(&format!("`page_slots` {}", caps::PAGE_SLOTS)));
    assert!(part("Hello").contains(&format!("{} bytes of it are mapped", thousands(page::BYTES))));
    let rows = part("Hello").lines().filter(|line| line.starts_with("| `"));
    let fields: BTreeSet<&str> =
        rows.flat_map(|row| spans(row.split('|').nth(1).unwrap())).collect();
    assert_eq!(fields, tables()["Hello"]);
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

fn mebibytes(bytes: u64) -> String {
    assert_eq!(bytes % (1 << 20), 0);
    match bytes >> 20 {
        whole if whole % 1024 == 0 => format!("{} GiB", whole / 1024),
        rest => format!("{rest} MiB"),
    }
}

#[test]
fn every_limit_is_the_one_of_the_code() {
    assert_eq!(caps::NAME_BYTES, caps::PROGRAM_BYTES);
    let letters = "letters, digits, `.`, `_` or `-`, not beginning with `-`";
    let limits = [
        (
            "a message",
            format!("{} bytes, {} descriptors", thousands(caps::MESSAGE_BYTES), caps::MESSAGE_FDS),
        ),
        (
            "requests of one connection that wait",
            format!("{}; `too_many` beyond", thousands(caps::WAITING_REQUESTS)),
        ),
        (
            "a name, a prefix, a program",
            format!("{} bytes; a name with its owner 12 more", caps::NAME_BYTES),
        ),
        ("dimensions of a tensor", format!("{}, none of them 0", caps::DIMENSIONS)),
        (
            "elements of a tensor",
            format!("2^{}; packed dtypes must fill whole bytes", caps::TENSOR_ELEMENTS.ilog2()),
        ),
        ("leases in one claim or release", thousands(caps::LEASES_PER_MESSAGE)),
        ("a text in a failure", format!("{} bytes", thousands(caps::TEXT_BYTES))),
        ("names and holders in a failure", caps::FAILURE_LIST.to_string()),
        ("a reply in a memfd", mebibytes(caps::MEMFD_BYTES)),
        ("entries of a listing", thousands(caps::LISTING)),
        ("leases in the answer to an inspect", caps::HOLDERS_SHOWN.to_string()),
        ("slabs of a version", thousands(caps::PARTS)),
        ("tensors of a version", thousands(caps::TENSORS_PER_VERSION)),
        ("a version's tag", format!("{} {letters}", caps::TAG_BYTES)),
        ("a manifest", mebibytes(caps::MANIFEST_BYTES)),
        (
            "metadata of a version",
            format!(
                "{} entries, {} together",
                thousands(caps::METADATA_ENTRIES),
                mebibytes(caps::METADATA_BYTES as u64)
            ),
        ),
        (
            "a move of pieces",
            format!(
                "{}, {} pieces of at most {}, {} runs",
                mebibytes(caps::MOVE_BYTES),
                thousands(caps::PIECES_PER_MOVE),
                mebibytes(caps::PIECE_BYTES),
                thousands(caps::RUNS_PER_MOVE)
            ),
        ),
        ("users of a group", caps::USERS_PER_GROUP.to_string()),
        (
            "groups of a user that are looked at",
            format!("{}; a user in more counts as in none of them", thousands(caps::GROUPS)),
        ),
    ];
    let said: Vec<&str> =
        part("Limits").lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let right: Vec<String> =
        limits.iter().map(|(what, limit)| format!("| {what} | {limit} |")).collect();
    assert_eq!(said, right);
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

/// What a text has between backticks.
fn spans(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('`').skip(1).step_by(2)
}

/// Tables and structs of the schema, with their fields.
fn tables() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut tables = BTreeMap::new();
    let bodies = SCHEMA.split("\ntable ").skip(1).chain(SCHEMA.split("\nstruct ").skip(1));
    for body in bodies {
        let (name, rest) = body.split_once(" {").unwrap();
        let lines = rest.split('}').next().unwrap().lines().map(str::trim);
        let fields =
            lines.filter(|line| !line.starts_with("//")).filter_map(|line| line.split_once(": "));
        tables.insert(name, fields.map(|(field, _)| field).collect());
    }
    assert!(tables.len() > 80, "{tables:?}");
    tables
}

#[test]
fn every_field_that_is_named_with_its_table_is_in_the_schema() {
    let tables = tables();
    let prose = PAGE.split("\n## A whole client").next().unwrap();
    let named = spans(prose).filter_map(|span| span.split_once('.'));
    let mut seen = 0;
    for (table, field) in named {
        let Some(fields) = tables.get(table) else { continue };
        assert!(fields.contains(field), "{table} has no {field}");
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn every_field_that_must_be_there_is_one_of_its_request() {
    let tables = tables();
    let rows = part("Requests").split("| request | required |").nth(1).unwrap();
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut seen = 0;
    for row in rows {
        let mut cells = row.split('|').skip(1);
        let (requests, fields) = (cells.next().unwrap(), cells.next().unwrap());
        for request in spans(requests) {
            // Of a claim its leases are meant.
            let known = &tables[if request == "Claim" { "LeaseClaim" } else { request }];
            let is_kind = |word: &str| ErrorKind::ALL.iter().any(|kind| kind.name() == word);
            // A row of two requests has the fields of both.
            let others = spans(requests).flat_map(|each| tables.get(each)).collect::<Vec<_>>();
            for field in spans(fields).filter(|word| !is_kind(word)) {
                let is_known =
                    known.contains(field) || others.iter().any(|other| other.contains(field));
                assert!(is_known, "{request} has no {field}");
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "{seen}");
}
