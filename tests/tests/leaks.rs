//! Two hundred short lives leave nothing behind: no byte, no lease, no descriptor.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_tests::{Options, Rest, TestPond, Worker, driver, eventually_equal};

const WORKERS: usize = 200;
const AT_ONCE: usize = 8;

#[track_caller]
fn assert_same(pond: &TestPond, what: &str, before: &Rest) {
    before.is_reached_by(pond).unwrap_or_else(|text| panic!("{what}: {text}"));
}

fn many(pond: &TestPond, count: usize, live: impl Fn(Worker, usize) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    live(pond.worker(), index);
                }
            });
        }
    });
}

#[test]
fn workers_that_come_and_go() {
    let pond = TestPond::start(Options::giving_back());
    let mut keeper = pond.worker();
    let hash = keeper.ask("make small 65536 1");
    keeper.ask("make middle 2097152 2");
    keeper.ask(&format!("make own {} 3", driver::plenty()));
    eventually_equal("leases", &3, || pond.accounts().leases);
    let (physical, before) = (pond.physical(), Rest::of(&pond));

    many(&pond, WORKERS, |mut worker, index| {
        assert_eq!(worker.ask("get small"), hash);
        worker.ask("map own");
        worker.ask("map middle");
        match index % 5 {
            0 => worker.kill(),
            1 => {
                // Tidy: everything is given back before the end.
                worker.ask("drop-all");
                worker.finish();
            }
            2 => worker.finish(),
            3 => {
                // As a program ends that never heard of tidiness.
                worker.tell("exit");
                drop(worker);
            }
            _ => {
                worker.ask(&format!("ephemeral mine/{index} 4096 1"));
                worker.kill();
            }
        }
    });
    assert_same(&pond, "after many workers", &before);
    pond.assert_physical("after many workers", physical);

    // The same over the next daemon and the next keeper, which start with what was held.
    pond.kill_daemon();
    pond.kill_keeper();
    pond.wait_for_keeper();
    assert_eq!(keeper.ask("hash small"), hash);
    eventually_equal("leases", &3, || pond.accounts().leases);
    // A daemon has its driver's descriptors only once the driver has answered.
    eventually_equal("driver", &true, || pond.status().driver_ready);
    let before = Rest::of(&pond);
    many(&pond, 40, |mut worker, index| {
        worker.ask("map own");
        if index % 2 == 0 { worker.kill() } else { worker.finish() }
    });
    assert_same(&pond, "after a restart", &before);
    pond.assert_physical("after a restart", physical);
}

#[test]
fn tensors_that_come_and_go() {
    let pond = TestPond::start(Options::giving_back());
    let mut worker = pond.worker();
    // The daemon holds a process's pidfd from its first lease on.
    worker.ask("put first 1000 1");
    pond.control().delete("first").unwrap();
    eventually_equal("slabs", &0, || pond.accounts().slabs);
    let (before, physical) = (Rest::of(&pond), pond.physical());
    for round in 0..3 {
        worker.ask(&format!("many batch{round} 100 70000"));
        worker.ask("drop-all");
        worker.ask("flush");
        for tensor in pond.control().list("batch").unwrap() {
            pond.control().delete(tensor.tensor).unwrap();
        }
    }
    assert_same(&pond, "after three hundred tensors", &before);
    pond.assert_physical("after three hundred tensors", physical);
}

/// A connection costs its process nothing once it is closed.
#[test]
fn connections_that_come_and_go() {
    let pond = TestPond::start(Options::new());
    pond.control().ping().unwrap();
    let before = Rest::of(&pond);
    for _ in 0..100 {
        pond.connect().unwrap().close().unwrap();
    }
    assert_same(&pond, "after a hundred connections that said goodbye", &before);
    for _ in 0..100 {
        drop(pond.connect().unwrap());
    }
    assert_same(&pond, "after a hundred connections that were dropped", &before);
}

#[test]
fn subscriptions_that_come_and_go() {
    let pond = TestPond::start(Options::new());
    pond.control().ping().unwrap();
    let before = Rest::of(&pond);
    for _ in 0..50 {
        drop(pond.control().events(0).unwrap());
    }
    assert_same(&pond, "after fifty subscriptions", &before);
}
