//! Any process may be killed with -9 while memory moves between caches: who waits is served, nothing is leaked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use millpond::EventKind;
use millpond_tests::market::unit;
use millpond_tests::{
    Market, Options, PATIENCE, Place, Process, Worker, eventually, eventually_equal, place,
};

/// Long enough that the kill comes first.
const SLOW: [&str; 3] = [
    "cuMemCreate:latency_us=60000000",
    "cuMemMap:latency_us=60000000",
    "cuMemSetAccess:latency_us=60000000",
];

/// Faults are the software driver's, whatever is under test.
fn soft() -> Market {
    Market::with(Options::giving_back().soft(), 16)
}

fn waits(market: &Market, cache: &str) {
    eventually("it waits", || (market.info(cache).wanted_bytes > 0).then_some(()));
}

fn was_asked(market: &Market, cache: &str) {
    market.hears(EventKind::CachePressed, &[&format!("'{cache}'"), "is asked for"]);
}

/// All of the limit, through one cache and back.
#[track_caller]
fn all_is_there(market: &Market, worker: &mut Worker, cache: &str) {
    worker.ask(&format!("cache commit {cache} 16"));
    worker.ask(&format!("cache fill {cache} 0 16 9"));
    worker.ask(&format!("cache check {cache} 0 16 9"));
    market.assert_held("all of the limit", 16);
    worker.ask(&format!("cache uncommit {cache} 0 16"));
    worker.ask(&format!("cache trim {cache} {}", 16 * unit()));
    market.assert_held("nothing is left", 0);
}

#[test]
fn a_member_that_dies_between_its_credit_and_its_pages_leaves_nothing() {
    let market = soft();
    let mut b = market.cache("b", "");
    for faults in SLOW {
        let mut a = market.pond.worker_with("MILLPOND_SOFT_FAULTS", faults);
        market.open(&mut a, "a", "");
        a.tell("cache commit a 8");
        eventually_equal("what it pays for", &8, || market.charged());
        a.kill();
        all_is_there(&market, &mut b, "b");
    }
}

/// What was assigned to a waiter is not taken yet, or taken and not mapped.
#[test]
fn a_waiter_that_dies_with_what_it_got_leaves_it_to_the_next() {
    let market = soft();
    let mut b = market.cache("b", "");
    for faults in SLOW {
        b.ask("cache commit b 16");
        let mut a = market.pond.worker_with("MILLPOND_SOFT_FAULTS", faults);
        market.open(&mut a, "a", "");
        b.ask("cache uncommit b 4 16");
        a.tell("cache commit a 8");
        market.hears(EventKind::CacheGot, &["'a'"]);
        a.kill();
        all_is_there(&market, &mut b, "b");
    }
}

#[test]
fn a_waiter_that_dies_makes_way_for_the_next() {
    let market = Market::new(16);
    let mut a = market.cache("a", "");
    a.ask("cache offer a soon");
    a.ask("cache commit a 16");
    let (mut b, mut c) = (market.cache("b", "wait_ms=60000"), market.cache("c", "wait_ms=60000"));
    b.tell("cache commit b 12");
    waits(&market, "b");
    c.tell("cache commit c 4");
    waits(&market, "c");
    b.kill();
    a.ask("cache uncommit a 12 16");
    c.answer().unwrap();
    c.ask("cache uncommit c 0 4");
    a.ask("cache uncommit a 0 12");
    all_is_there(&market, &mut c, "c");
}

#[test]
fn a_holder_that_dies_before_it_answers_serves_the_waiter() {
    let market = Market::new(16);
    let mut b = market.cache("b", "wait_ms=60000");
    for how in ["never", "soon"] {
        let mut a = market.cache("a", "");
        a.ask(&format!("cache offer a {how}"));
        a.ask("cache commit a 16");
        b.tell("cache commit b 12");
        was_asked(&market, "a");
        a.kill();
        b.answer().unwrap();
        b.ask("cache uncommit b 0 12");
        all_is_there(&market, &mut b, "b");
    }
}

#[test]
fn a_holder_that_dies_under_its_kernel_gives_everything_back() {
    let market = Market::new(16);
    let mut b = market.cache("b", "wait_ms=60000");
    let mut a = market.cache("a", "");
    a.ask("cache commit a 16");
    a.ask("cache fill a 0 16 1");
    a.ask("cache kernel a 1 16 60000");
    b.tell("cache commit b 12");
    was_asked(&market, "a");
    a.kill();
    b.answer().unwrap();
    b.ask("cache uncommit b 0 12");
    all_is_there(&market, &mut b, "b");
}

#[test]
fn the_daemon_dies_between_request_and_answer_and_the_next_one_serves() {
    let market = Market::new(16);
    let mut a = market.cache("a", "");
    a.ask("cache offer a soon");
    a.ask("cache commit a 16");
    a.ask("cache fill a 0 16 1");
    let mut b = market.cache("b", "wait_ms=60000");
    b.tell("cache commit b 4");
    waits(&market, "b");
    market.pond.kill_daemon();
    eventually_equal("both are listed", &vec!["a".to_owned(), "b".to_owned()], || market.names());
    waits(&market, "b");
    a.ask("cache uncommit a 12 16");
    b.answer().unwrap();
    b.ask("cache fill b 0 4 2");
    a.ask("cache check a 0 12 1");
    b.ask("cache check b 0 4 2");
    market.assert_held("the same memory", 16);
    a.ask("cache uncommit a 0 12");
    b.ask("cache uncommit b 0 4");
    all_is_there(&market, &mut b, "b");
}

#[test]
fn the_keeper_dies_between_request_and_answer_and_nobody_notices() {
    let market = Market::new(16);
    let mut a = market.cache("a", "");
    a.ask("cache offer a soon");
    a.ask("cache commit a 16");
    let mut b = market.cache("b", "wait_ms=60000");
    b.tell("cache commit b 4");
    waits(&market, "b");
    market.pond.kill_keeper();
    a.ask("cache uncommit a 12 16");
    b.answer().unwrap();
    a.ask("cache uncommit a 0 12");
    b.ask("cache uncommit b 0 4");
    all_is_there(&market, &mut b, "b");
}

#[test]
fn without_a_daemon_caches_grow_within_their_limit_and_are_listed_by_the_next() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", "wait_ms=300"));
    a.ask("cache commit a 8");
    a.ask("cache fill a 0 8 1");
    let status = market.pond.status();
    let [daemon, keeper] =
        [status.daemon_pid, status.keeper_pid].map(|pid| Process::open(pid).unwrap());
    keeper.stop();
    daemon.kill();
    assert!(daemon.wait(PATIENCE));
    b.ask("cache commit b 4");
    b.ask("cache fill b 0 4 2");
    a.ask("cache commit a 12");
    // Nobody can be asked.
    let refused = b.try_ask("cache commit b 5").unwrap_err();
    assert!(refused.starts_with("after_freeing "), "{refused}");
    a.ask("cache uncommit a 8 12");
    a.ask(&format!("cache trim a {}", 4 * unit()));
    b.ask("cache commit b 8");
    keeper.go_on();
    eventually_equal("both are listed", &vec!["a".to_owned(), "b".to_owned()], || {
        market.pond.connect().map_or_else(|_| Vec::new(), |_| market.names())
    });
    market.assert_held("the limit", 16);
    assert_eq!(market.info("b").held_bytes, 8 * unit());
    a.ask("cache check a 0 8 1");
    b.ask("cache check b 0 4 2");
    a.ask("cache uncommit a 0 8");
    b.ask("cache commit b 16");
    market.assert_held("the limit", 16);
}

/// Two programs under one limit, one of them started by `millpond run`.
#[test]
fn a_limited_program_has_caches_in_its_own_group_and_in_no_other() {
    let place = Place::new();
    let unit = place::unit();
    place.limit("own", &place::size(place::limit(64)));
    place.limit("other", &place::size(place::limit(64)));
    let open = |group: &str, name: &str| {
        format!("cache open {group} {name} blocks=128 block={unit} handle={unit}")
    };
    let mut inside = place.client(&["--group", "own"]);
    let said = inside.ask(&open("own", "inside"));
    assert!(said.ends_with(" true"), "its own driver pays: {said}");
    let refused = inside.try_ask(&open("other", "outside")).unwrap_err();
    assert!(refused.starts_with("denied "), "{refused}");
    inside.ask("cache commit inside 32");
    inside.ask("cache fill inside 0 4 1");
    eventually_equal("one slot", &1, || place.processes("own").len());
    let used = place::bytes(&place.account("own")["used_bytes"]);
    assert!((32 * unit..=place::limit(32)).contains(&used), "{used}: paid once");
    let refused = inside.try_ask("cache commit inside 128").unwrap_err();
    assert!(refused.starts_with("card_full "), "the limit holds: {refused}");

    // A neighbour without a limit of its own, in the same group: pages go to and fro.
    let mut beside = place.pond.worker();
    let said = beside.ask(&open("own", "beside"));
    assert!(said.ends_with(" false"), "{said}");
    beside.ask("cache commit beside 24");
    beside.ask("cache uncommit beside 0 24");
    inside.ask("cache commit inside 60");
    inside.ask("cache check inside 0 4 1");
    inside.ask("cache uncommit inside 4 60");
    beside.ask("cache commit beside 24");
    inside.ask("cache check inside 0 4 1");
    inside.kill();
    eventually("what the dead had", || beside.try_ask("cache commit beside 64").ok());
}
