//! The reading and writing commands on a real pond with the software driver.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use common::Place;

fn create(place: &Place, name: &str) {
    place.stdout(&["tensor", "create", name, "--dtype", "bf16", "--shape", "64,64"]);
}

#[test]
fn a_tensor_from_its_creation_to_its_end() {
    let place = Place::new();
    let serving = place.serve();
    create(&place, "acts/x");
    let made = place.json(&[
        "tensor", "create", "acts/y", "--dtype", "float32", "--shape", "2x3", "--zero", "--share",
        "group", "--device", "0", "--json",
    ]);
    assert_eq!(made["bytes"], 24);
    assert_eq!((&made["state"], &made["share"]), (&"ready".into(), &"group".into()));

    let listed = place.json(&["tensor", "ls", "--json"]);
    let names: Vec<_> = listed["tensors"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["acts/x", "acts/y"]);
    assert_eq!(listed["tensors"][0]["shape"], serde_json::json!([64, 64]));
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "acts/x\nacts/y\n");
    assert_eq!(place.stdout(&["tensor", "ls", "-q", "acts/y"]), "acts/y\n");
    let table = place.stdout(&["tensor", "ls"]);
    assert!(table.starts_with("NAME") && table.contains("8 KiB") && table.contains("writing"));
    let id = made["id"].as_str().unwrap();
    assert!(!table.contains(id) && place.stdout(&["tensor", "ls", "--no-trunc"]).contains(id));

    let inspected = place.json(&["inspect", id, "--json"]);
    assert_eq!((&inspected["name"], &inspected["lease_count"]), (&"acts/y".into(), &0.into()));
    assert_eq!(inspected["leases"], serde_json::json!([]));
    assert!(place.stdout(&["tensor", "inspect", "acts/x"]).contains("8 KiB (8,192 bytes)"));

    let status = place.json(&["status", "--json"]);
    assert_eq!(status["devices"][0]["tensors"], 2);
    assert_eq!(status["devices"][0]["tensor_bytes"], 8192 + 24);
    assert_eq!((&status["epoch"], &status["lost_tensors"]), (&1.into(), &0.into()));
    let found = place.json(&["doctor", "--json"]);
    let checks = found["checks"].as_array().unwrap();
    let pond = checks.iter().find(|check| check["name"] == "pond").unwrap();
    assert!(pond["found"].as_str().unwrap().starts_with("answers: epoch 1, driver soft"));

    assert_eq!(place.stdout(&["tensor", "rm", "acts/x", "acts/y"]), "acts/x\nacts/y\n");
    assert_eq!(place.stdout(&["tensor", "ls", "-q"]), "");
    assert!(serving.stop().success());
    assert_eq!(place.run(&["status"]).code, Some(15));
}

#[test]
fn errors_have_their_exit_codes_and_say_what_to_do() {
    let place = Place::new();
    let _serving = place.serve();
    create(&place, "acts/x");

    let ran = place.run(&["inspect", "acts/z"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    assert!(ran.stderr.starts_with("error: no model and no tensor 'acts/z'\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n\nhint: did you mean 'acts/x'?"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("similar:"), "said once: {}", ran.stderr);
    let ran = place.run(&["inspect", "something/quite/different"]);
    assert!(ran.stderr.contains("`millpond ls` lists all objects"), "{}", ran.stderr);
    let ran = place.run(&["inspect", "acts/z", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["similar"], serde_json::json!(["acts/x"]));

    let words = ["tensor", "create", "acts/x", "--dtype", "f32", "--shape", "1"];
    assert_eq!(place.run(&words).code, Some(4));
    let huge = ["tensor", "create", "huge", "--dtype", "f32", "--shape", "9999999,99999"];
    let ran = place.run(&huge);
    assert_eq!(ran.code, Some(7));
    assert!(ran.stderr.contains(" never fits on GPU-"), "{}", ran.stderr);
    let far = ["tensor", "create", "far", "--dtype", "f32", "--shape", "1", "--device", "7"];
    assert_eq!(place.run(&far).code, Some(18));
    assert_eq!(place.run(&["inspect", "a b"]).code, Some(64));

    let ran = place.run(&["tensor", "rm", "nope", "acts/x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "acts/x\n"));
    let ran = place.run(&["serve"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("already served by pid"), "{}", ran.stderr);
}

#[test]
fn ps_shows_who_is_there() {
    let place = Place::new();
    let _serving = place.serve();
    let clients = place.json(&["ps", "--json"]);
    let clients = clients["clients"].as_array().unwrap();
    let me = clients.iter().find(|client| client["program"] == "millpond").unwrap();
    assert_eq!((&me["silent"], &me["held_bytes"]), (&false.into(), &0.into()));
    let table = place.stdout(&["ps"]);
    assert!(table.lines().next().unwrap().trim_start().starts_with("PID"), "{table}");
    assert!(place.stdout(&["ps", "-q"]).lines().all(|line| line.parse::<u32>().is_ok()));
}
