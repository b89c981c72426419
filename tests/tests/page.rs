//! Gets without a message are right whatever happens to the pond meanwhile.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond::{Dtype, Pond, TensorSpec};
use millpond_tests::{Options, TestPond, Worker, eventually, eventually_equal, say};

fn make(pond: &Pond, name: &str) -> String {
    let spec = TensorSpec::new(name, Dtype::U8, [100]).zero(true);
    pond.reserve(spec).unwrap().tensor.to_string()
}

/// Which tensor a name is to the worker, and its generation.
fn got(worker: &mut Worker, name: &str, times: u32) -> (String, String) {
    let said = worker.ask(&format!("again {name} {times}"));
    let mut words = said.split(' ').map(str::to_owned);
    (words.next().unwrap(), words.next().unwrap())
}

#[test]
fn what_a_name_means_now_is_what_one_gets() {
    let pond = TestPond::start(Options::new());
    let control = pond.control();
    let first = make(control, "x");
    let mut worker = pond.worker();
    worker.ask("map x");
    assert_eq!(got(&mut worker, "x", 1000).0, first);
    assert_eq!(pond.accounts().leases, 1, "they share it");
    control.delete("x").unwrap();
    assert!(worker.try_ask("again x 1").is_err(), "deleted for everybody, held or not");
    let second = make(control, "x");
    assert_eq!(got(&mut worker, "x", 10).0, second);
    // One's own, and the same name of everybody, are two names.
    let public = make(control, "public/y");
    assert!(worker.try_ask("map y").is_err(), "nobody has made one's own");
    worker.ask("map public/y");
    let own = make(control, "y");
    worker.ask("map y");
    assert_eq!(got(&mut worker, "y", 10).0, own);
    assert_eq!(got(&mut worker, "public/y", 10).0, public);
    // A publish is seen.
    let mut writer = pond.worker();
    writer.ask("make z 1000 1");
    worker.ask("map z");
    let (id, before) = got(&mut worker, "z", 10);
    writer.ask("publish z");
    assert_ne!(got(&mut worker, "z", 10), (id, before));
    writer.finish();
    worker.finish();
    eventually_equal("leases", &0, || pond.accounts().leases);
}

#[test]
fn a_bare_name_is_not_answered_with_the_one_under_public() {
    let pond = TestPond::start(Options::new());
    let (mut other, mut own) = (pond.worker(), pond.worker());
    let public = other.ask("put public/acts/x 1000 1");
    other.ask("model make public/llama v1 1 1");
    for words in ["get acts/x", "get acts/x 1", "open acts/x", "model attach llama"] {
        let refused = own.try_ask(words).expect_err(words);
        assert!(refused.contains("not found"), "{words}: {refused}");
    }
    let mine = own.ask("put acts/x 1000 2");
    other.ask("model make llama v7 1 1");
    assert_ne!(mine, public);
    assert_eq!(own.ask("get acts/x 60000"), mine);
    assert_eq!(own.ask("get public/acts/x"), public);
    assert_eq!(own.ask("open acts/x"), mine);
    assert_eq!(own.ask("model attach llama"), "v7");
    assert_eq!(own.ask("model attach public/llama"), "v1");
    own.finish();
    other.finish();
}

#[test]
fn a_restart_does_not_make_old_answers_good() {
    let pond = TestPond::start(Options::new());
    let control = pond.control();
    let first = make(control, "x");
    let mut worker = pond.worker();
    worker.ask("map x");
    for _ in 0..5 {
        assert_eq!(got(&mut worker, "x", 10).0, first);
        pond.kill_daemon();
        assert_eq!(got(&mut worker, "x", 10).0, first);
    }
    pond.kill_daemon();
    control.delete("x").unwrap();
    let second = make(control, "x");
    assert_eq!(got(&mut worker, "x", 10).0, second);
    pond.kill_keeper();
    eventually("another keeper", || {
        control.ping().ok()?;
        (got(&mut worker, "x", 1).0 == second).then_some(())
    });
    worker.finish();
}

/// Not a promise of a debug build: the number is printed for whoever looks.
#[test]
fn how_long_a_get_of_something_mapped_takes() {
    let pond = TestPond::start(Options::new());
    make(pond.control(), "x");
    let mut worker = pond.worker();
    worker.ask("map x");
    let said = worker.ask("again x 100000");
    say(&format!("get of a mapped tensor: {} ns", said.rsplit(' ').next().unwrap()));
    worker.finish();
}
