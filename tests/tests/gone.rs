//! A pond that goes: how soon its clients know, and what they say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use millpond::{Cancel, Error, ErrorKind, GetOptions, Pond};
use millpond_tests::{Options, PATIENCE, Process, Said, TestPond, eventually};

#[test]
fn a_main_that_returns_the_error_shows_its_message_and_its_hint() {
    let pond = TestPond::prepare(Options::default());
    let said = Said::by(pond.pondtool().arg("first"), PATIENCE);
    assert_eq!(said.code, Some(1));
    let socket = pond.runtime_dir().join("sock");
    let (first, second) = said.stderr.trim_end().split_once('\n').unwrap();
    assert_eq!(first, format!("Error: no pond answers on '{}'", socket.display()));
    assert!(second.starts_with("hint: start one with `millpond serve"), "{second}");
}

fn connect(pond: &TestPond, patience: Duration) -> Pond {
    let builder = Pond::builder().runtime_dir(pond.runtime_dir()).reconnect_timeout(patience);
    let pond = builder.connect().unwrap();
    pond.ping().unwrap();
    pond
}

/// How long a call takes that fails because the pond is gone.
fn without(pond: &Pond) -> (Duration, String) {
    let begun = Instant::now();
    let error = pond.ping().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoPond, "{error}");
    (begun.elapsed(), error.to_string())
}

#[test]
fn after_an_orderly_stop_calls_and_events_end_long_before_the_reconnection_timeout() {
    let served = TestPond::start(Options::default());
    let pond = connect(&served, 2 * PATIENCE);
    let mut events = pond.events(0).unwrap();
    Process::open(served.status().keeper_pid).unwrap().terminate();
    assert_eq!(served.wait_for_serve(), Some(0));
    let (took, message) = without(&pond);
    assert!(took < PATIENCE, "{took:?}");
    assert!(message.ends_with("(it was stopped)"), "{message}");
    let begun = Instant::now();
    let end = events.find_map(|event| event.err()).unwrap();
    assert_eq!(end.kind(), ErrorKind::NoPond);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    // The next one in the same folder is found by the same connection.
    served.serve();
    pond.ping().unwrap();
}

#[test]
fn restarts_and_upgrades_never_remove_the_socket() {
    let served = TestPond::start(Options::default());
    let socket = served.runtime_dir().join("sock");
    let inode = || std::fs::symlink_metadata(&socket).map(|found| found.ino());
    let before = inode().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // A client that looks at any moment finds the same one.
        let looker = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                assert_eq!(inode().unwrap(), before);
            }
        });
        served.kill_daemon();
        served.kill_keeper();
        served.wait_for_keeper();
        let epoch = served.status().epoch;
        served.control().upgrade("").unwrap();
        eventually("another daemon", || (served.status().epoch != epoch).then_some(()));
        over.store(true, Ordering::Release);
        looker.join().unwrap();
    });
}

#[test]
fn a_pond_that_was_killed_is_waited_for_once_by_all_threads_and_calls_together() {
    let served = TestPond::start(Options::default());
    let patience = Duration::from_secs(2);
    let pond = connect(&served, patience);
    let status = served.status();
    // Whichever is left would start the other one again.
    let both = [status.keeper_pid, status.daemon_pid].map(|pid| Process::open(pid).unwrap());
    both.iter().for_each(Process::stop);
    both.iter().for_each(Process::kill);
    assert!(both.iter().all(|process| process.wait(PATIENCE)));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (took, _) = without(&pond);
                // One after the other would take four times as long.
                assert!(took < 3 * patience, "{took:?}");
            });
        }
    });
    // Nobody has come since: the next call only looks.
    let (took, _) = without(&pond);
    assert!(took < patience, "{took:?}");
    served.serve();
    pond.ping().unwrap();
}

#[test]
fn a_call_that_is_cancelled_ends_and_leaves_no_lease() {
    let served = TestPond::start(Options::default());
    let pond = connect(&served, PATIENCE);
    let cancel = Cancel::new();
    let begun = Instant::now();
    thread::scope(|scope| {
        let other = cancel.clone();
        scope.spawn(move || other.cancel());
        let wait = GetOptions::read_only().wait(Duration::MAX);
        let got = cancel.scope(|| pond.lease("nobody-makes-this", wait));
        assert!(matches!(got, Err(Error::Cancelled)), "{:?}", got.err());
    });
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    pond.ping().unwrap();
    assert_eq!(pond.live_leases(), 0);
}
