//! A socket at which everything is seen and nothing is changed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use millpond::{Dtype, EventKind, Pond, TensorSpec};
use millpond_tests::{Options, PATIENCE, Raw, TestPond, Town};
use millpond_wire::message::{ReplyBody, RequestBody, Target, TensorGet};
use millpond_wire::{ErrorKind, LeaseId, Mode, TensorId};
use serde_json::Value;

/// A pond that the second citizen may watch: every citizen's primary group is their own number.
fn town() -> Option<(Town, u32)> {
    let group = Town::user(2);
    let town = Town::start(Options::new().flag("--watch-group", &group.to_string()))?;
    Some((town, group))
}

fn make(name: &str) -> Vec<&str> {
    vec!["tensor", "create", name, "--dtype", "u8", "--shape", "16", "--zero", "--json"]
}

#[test]
fn who_watches_sees_anothers_private_tensor_and_can_neither_get_nor_delete_nor_make_one() {
    let Some((town, group)) = town() else { return };
    let (alice, bob) = (town.citizen(1), town.citizen(2));
    let _ = alice.cli(&make("secret")).ok();
    let socket = std::fs::metadata(town.pond().runtime_dir().join("watch.sock")).unwrap();
    assert_eq!((socket.mode() & 0o777, socket.gid()), (0o660, group));
    let mut watcher = bob.worker();
    assert_eq!(watcher.ask("names"), "", "at the other socket there is nothing to see");
    watcher.ask("watch");
    assert_eq!(watcher.ask("names"), "secret");
    let there = format!("~{}/secret", alice.user);
    for command in [
        format!("download {there}"),
        format!("delete {there}"),
        "upload mine 16 1".to_owned(),
        "join 1000000".to_owned(),
    ] {
        let refused = watcher.try_ask(&command).unwrap_err();
        assert!(refused.starts_with("denied ") && refused.contains("watch.sock"), "{refused}");
    }
    assert!(alice.cli(&["tensor", "ls", "--json"]).ok().contains("secret"));
    watcher.finish();
    // And whoever is not in the group does not come in.
    let mut stranger = alice.worker();
    let refused = stranger.try_ask("watch").unwrap_err();
    assert!(refused.contains("may not use"), "the system says no, not the pond: {refused}");
    stranger.finish();
}

#[test]
fn the_watching_socket_gives_root_no_right_either() {
    let pond = TestPond::start(Options::new());
    let made: Value = pond.cli(&make("x")).json();
    let tensor = TensorId(made["id"].as_str().unwrap().parse().unwrap());
    let socket = std::fs::metadata(pond.runtime_dir().join("watch.sock")).unwrap();
    assert_eq!(socket.mode() & 0o777, 0o600, "nobody else comes in without a setting");
    let watcher = Raw::connect_watch(&pond.runtime_dir());
    let ReplyBody::Welcome(welcome) = watcher.hello(millpond_wire::message::VERSION) else {
        panic!("not welcome")
    };
    assert!(welcome.watch && !welcome.admin);
    let ask = |number, body| {
        watcher.send(number, body);
        watcher.receive().unwrap().0.body
    };
    let upgrade = RequestBody::Upgrade { program: String::new() };
    let collect = RequestBody::Collect { unleased_for_ms: None, dry_run: true };
    let remove = RequestBody::GroupRemove { group: "none".parse().unwrap() };
    let delete = RequestBody::TensorDelete { tensor };
    let (target, lease, mode) = (Target::Id(tensor), LeaseId(1), Mode::ReadOnly);
    let get = RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: 0 });
    let peek = RequestBody::TensorPeek(Target::Id(tensor));
    for (number, body) in (2..).zip([upgrade, collect, remove, delete, get, peek]) {
        let ReplyBody::Failure(failure) = ask(number, body) else { panic!("not refused") };
        assert_eq!(failure.kind, ErrorKind::Denied, "{failure}");
    }
    let details = ask(20, RequestBody::TensorInspect(Target::Id(tensor)));
    assert!(matches!(details, ReplyBody::Details { .. }), "{details:?}");
}

#[test]
fn a_subscription_of_who_watches_goes_on_with_the_next_daemon() {
    let pond = TestPond::start(Options::new());
    let watch = || Pond::builder().runtime_dir(pond.runtime_dir()).watch().connect().unwrap();
    let watcher = watch();
    let mut events = watcher.events(0).unwrap();
    let make = |name: &str| {
        pond.control().reserve(TensorSpec::new(name, Dtype::U8, [16])).map(drop).unwrap();
    };
    let mut until = |name: &str| loop {
        let event = events.next_timeout(PATIENCE).unwrap().expect("an event");
        if event.kind == EventKind::TensorCreated
            && event.name.as_ref().is_some_and(|it| it.as_str() == name)
        {
            break;
        }
    };
    make("before");
    until("before");
    let epoch = watcher.status().unwrap().epoch;
    pond.kill_daemon();
    make("after");
    until("after");
    assert!(watcher.status().unwrap().epoch > epoch, "and so does the rest");
}

#[test]
fn a_daemon_counts_what_it_was_asked_and_the_next_one_begins_with_zero() {
    let pond = TestPond::start(Options::new());
    let counters = || pond.cli(&["status", "--json"]).json()["counters"].clone();
    let of_kind = |counters: &Value| -> BTreeMap<String, (u64, u64)> {
        let requests = counters["requests"].as_array().unwrap().iter();
        let number = |it: &Value, field: &str| it[field].as_u64().unwrap();
        let one = |it: &Value| {
            let times = it["by_length"].as_array().unwrap().iter().filter_map(Value::as_u64);
            let both = (number(it, "answered"), number(it, "refused"));
            assert_eq!(times.sum::<u64>(), both.0 + both.1, "each has a length: {it}");
            assert!(it["seconds"].as_f64().unwrap() > 0.0);
            (it["kind"].as_str().unwrap().to_owned(), both)
        };
        requests.map(one).collect()
    };
    let first = of_kind(&counters());
    let _ = pond.cli(&make("x")).ok();
    let refused = ["tensor", "create", "x", "--dtype", "u8", "--shape", "17", "--json"];
    assert_eq!(pond.cli(&refused).error()["kind"], "exists");
    let now = counters();
    let requests = of_kind(&now);
    assert_eq!(requests["create"], (1, 1));
    assert!(requests["hello"].0 >= first["hello"].0 + 3, "{requests:?}");
    let refusals = now["refusals"].as_array().unwrap();
    let exists = refusals.iter().find(|it| it["kind"] == "exists").unwrap();
    assert_eq!((&exists["count"], &now["tensors_created"]), (&1.into(), &1.into()));
    assert_eq!((&now["recoveries"], &now["slabs_made"]), (&0.into(), &1.into()));
    pond.kill_daemon();
    let next = counters();
    assert_eq!((&next["recoveries"], &next["tensors_created"]), (&1.into(), &0.into()));
    assert!(!of_kind(&next).contains_key("create"));
}
