//! The stubs of the Python package name the fields and words that are defined here.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use millpond_view::{
    Client, Collected, Device, Event, Fields, Group, GroupDetails, GroupDevice, Holder, Host,
    Lease, Life, Load, Member, MemberDevice, Model, Mover, Status, Tensor, Unshared, Verify,
    Version,
};
use millpond_wire::message::EventKind;
use millpond_wire::{Audience, Mode, Survives, TensorState, TransportKind, VersionState};

const STUBS: &str = include_str!("../../../bindings/python/python/millpond/__init__.pyi");
const ANNOTATIONS: &str = include_str!("../../../bindings/python/python/millpond/_annotations.py");

/// The lines inside a class of the stubs.
fn class(name: &str) -> impl Iterator<Item = &'static str> {
    let begin = format!("class {name}:");
    let inside = |line: &&str| line.is_empty() || line.starts_with(' ');
    STUBS.lines().skip_while(move |line| *line != begin).skip(1).take_while(inside)
}

/// The attributes that a class of the stubs declares.
fn attributes(name: &str) -> BTreeSet<&'static str> {
    let attribute = |line: &'static str| {
        let (name, _) = line.strip_prefix("    ")?.split_once(": ")?;
        name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()).then_some(name)
    };
    class(name).filter_map(attribute).collect()
}

/// The words of the first `Literal[...]` after this text.
fn literal<'a>(page: &'a str, before: &str) -> Vec<&'a str> {
    let rest = page.split_once(before).unwrap_or_else(|| panic!("no {before}")).1;
    let words = rest.split_once("Literal[").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    words.split('"').skip(1).step_by(2).collect()
}

fn declared<T: Fields>(class: &str, beside: &[&str]) {
    let expected: BTreeSet<&str> = T::FIELDS.iter().chain(beside).copied().collect();
    assert_eq!(attributes(class), expected, "class {class}");
}

#[test]
fn the_stubs_have_every_field_and_no_other_but_the_older_names() {
    declared::<Holder>("Holder", &[]);
    declared::<Tensor>("TensorInfo", &["nbytes", "audience", "leases"]);
    declared::<Life>("Life", &[]);
    declared::<Device>("DeviceInfo", &[]);
    declared::<Status>("Status", &["daemon_version"]);
    declared::<Mover>("MoverInfo", &[]);
    declared::<Host>("HostInfo", &[]);
    declared::<Collected>("Collected", &[]);
    declared::<Lease>("LeaseInfo", &[]);
    declared::<Client>("ClientInfo", &[]);
    declared::<Event>("Event", &[]);
    declared::<GroupDevice>("GroupDevice", &[]);
    declared::<Group>("GroupInfo", &[]);
    declared::<MemberDevice>("MemberDevice", &[]);
    declared::<Member>("MemberInfo", &[]);
    declared::<GroupDetails>("GroupDetails", &[]);
    declared::<Version>("VersionInfo", &["nbytes", "audience", "slabs", "tensors"]);
    declared::<Model>("ModelInfo", &["previous"]);
    let beside = ["version", "nbytes", "copied_bytes", "shared_bytes", "seconds"];
    declared::<Load>("LoadReport", &beside);
    declared::<Unshared>("Unshared", &[]);
    declared::<Verify>("VerifyReport", &["nbytes", "seconds", "bad"]);
}

#[test]
fn the_stubs_have_the_words_of_the_wire() {
    let kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(literal(STUBS, "\nEventKind = "), kinds);
    assert_eq!(literal(ANNOTATIONS, "\nEventKind = "), kinds);
    for page in [STUBS, ANNOTATIONS] {
        let audiences: Vec<&str> = Audience::ALL.iter().map(|audience| audience.name()).collect();
        assert_eq!(literal(page, "\nAudience = "), audiences);
        let modes: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
        assert_eq!(literal(page, "\nMode = "), modes);
        let transports: Vec<&str> = TransportKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(literal(page, "\nTransport = "), transports);
        let survives: Vec<&str> = Survives::ALL.iter().map(|word| word.name()).collect();
        assert_eq!(literal(page, "\nSurvives = "), survives);
    }
    let states: Vec<&str> = TensorState::ALL.iter().map(|state| state.name()).collect();
    assert_eq!(literal(STUBS, "class TensorInfo:"), states);
    let states: Vec<&str> = VersionState::ALL.iter().map(|state| state.name()).collect();
    assert_eq!(literal(STUBS, "class VersionInfo:"), states);
}

#[test]
fn fields_are_serialized_under_their_names() {
    let life = Life { ttl_left_ms: Some(1), linger_left_ms: None, accesses_left: None };
    let serde_json::Value::Object(object) = serde_json::to_value(life).unwrap() else {
        panic!("not an object")
    };
    let names: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    assert_eq!(names, Life::FIELDS.iter().copied().collect());
}
