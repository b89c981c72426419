//! How the memory of tensors is shared: what is asked for, shown, and handed to other programs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use common::{Place, signal, until, wait};

const SHAPE: [&str; 5] = ["--dtype", "u8", "--shape", "64,64", "--zero"];

fn create(place: &Place, name: &str, transport: &str) -> serde_json::Value {
    let mut words = vec!["tensor", "create", name, "--transport", transport, "--json"];
    words.extend(SHAPE);
    place.json(&words)
}

fn leases(place: &Place, name: &str) -> u64 {
    place.json(&["inspect", name, "--json"])["lease_count"].as_u64().unwrap()
}

#[test]
fn a_transport_is_asked_for_and_shown() {
    let place = Place::new();
    let _serving = place.serve();
    let usual = create(&place, "a", "vmm");
    assert_eq!((&usual["transport"], &usual["survives"]), (&"vmm".into(), &"everything".into()));
    assert_eq!((&usual["adopted"], &usual["home_pid"]), (&false.into(), &().into()));
    assert!(!place.stdout(&["tensor", "ls"]).contains("TRANSPORT"));
    assert!(!place.stdout(&["status"]).contains("hosts"));

    let pool = create(&place, "b", "mempool");
    assert_eq!((&pool["transport"], &pool["survives"]), (&"mempool".into(), &"everything".into()));
    let table = place.stdout(&["tensor", "ls"]);
    assert!(table.contains("TRANSPORT") && !table.contains("SURVIVES"), "{table}");

    let hosted = create(&place, "c", "ipc");
    assert_eq!((&hosted["transport"], &hosted["survives"]), (&"ipc".into(), &"host".into()));
    let table = place.stdout(&["tensor", "ls"]);
    assert!(table.contains("SURVIVES") && table.contains("host"), "{table}");
    let shown = place.stdout(&["tensor", "inspect", "c"]);
    assert!(shown.contains("everything but the end of its host (pid "), "{shown}");
    let status = place.json(&["status", "--json"]);
    let host = &status["hosts"][0];
    assert_eq!((&host["pid"], &host["tensors"]), (&hosted["home_pid"], &1.into()));
    assert_eq!((&host["share"], &host["sealed"]), (&"user".into(), &false.into()));
    let shown = place.stdout(&["status"]);
    assert!(shown.contains("hosts") && shown.contains("1 tensor"), "{shown}");

    let mut words = vec!["tensor", "create", "c", "--transport", "vmm"];
    words.extend(SHAPE);
    let ran = place.run(&words);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
}

#[test]
fn a_fabric_handle_is_refused_with_the_drivers_reason() {
    let place = Place::new();
    let _serving = place.serve();
    let mut words = vec!["tensor", "create", "f", "--transport", "fabric"];
    words.extend(SHAPE);
    let ran = place.run(&words);
    assert!(ran.code != Some(0) && ran.stderr.contains("fabric"), "{}", ran.stderr);
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "");
}

#[test]
fn a_tensor_of_another_transport_has_no_handle_and_the_error_says_how_to_get_one() {
    let place = Place::new();
    let _serving = place.serve();
    create(&place, "a", "vmm");
    let ran = place.run(&["tensor", "handle", "a"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""));
    assert!(ran.stderr.contains("tensor 'a' has no handle") && ran.stderr.contains("'vmm'"));
    assert!(ran.stderr.contains("millpond tensor create NAME --transport ipc"), "{}", ran.stderr);
}

/// A command that holds a handle; its standard output has the handle.
fn holding(place: &Place) -> (Child, serde_json::Value) {
    let mut child = place
        .command(&["tensor", "handle", "c", "--hold", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("holding tensor 'c'"), "{told}");
    let lines = BufReader::new(child.stdout.take().unwrap());
    let shown = serde_json::Deserializer::from_reader(lines).into_iter().next().unwrap().unwrap();
    (child, shown)
}

#[test]
fn a_handle_is_printed_and_held_until_the_input_ends_or_a_signal_comes() {
    let place = Place::new();
    let _serving = place.serve();
    let made = create(&place, "c", "ipc");
    let ran = place.run(&["tensor", "handle", "c", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing keeps tensor 'c'"), "{}", ran.stderr);
    let once: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(once["memory"].as_str().unwrap().len(), 88);
    assert_eq!(once["event"].as_str().unwrap().len(), 88);
    for (field, of) in [("device", "device"), ("offset", "slab_offset_bytes"), ("bytes", "bytes")] {
        assert_eq!(once[field], made[of], "{field}");
    }
    assert_eq!((&once["dtype"], &once["shape"]), (&"U8".into(), &serde_json::json!([64, 64])));
    let shown = place.stdout(&["tensor", "handle", "c"]);
    assert!(shown.contains(once["memory"].as_str().unwrap()), "{shown}");
    until("no lease", || (leases(&place, "c") == 0).then_some(()));

    for end in ["input", "INT", "TERM"] {
        let (mut child, held) = holding(&place);
        assert_eq!(held, once);
        assert_eq!(leases(&place, "c"), 1, "{end}");
        match end {
            "input" => drop(child.stdin.take()),
            name => signal(child.id(), name),
        }
        assert!(wait(&mut child).success(), "{end}");
        until("no lease", || (leases(&place, "c") == 0).then_some(()));
    }

    // Deleted while it is held, it is there until the end.
    let (mut child, _) = holding(&place);
    place.stdout(&["tensor", "rm", "c"]);
    assert!(place.stdout(&["tensor", "ls", "--all"]).contains("deleted"));
    drop(child.stdin.take());
    assert!(wait(&mut child).success());
    until("freed", || place.stdout(&["tensor", "ls", "--all", "-q"]).is_empty().then_some(()));
}
