//! Elastic caches of several processes under one limit: memory goes where it is needed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use millpond::{EventKind, GroupSet};
use millpond_tests::market::{self, unit};
use millpond_tests::{Market, Options, Process, Worker, eventually, eventually_equal};

/// Committed, held and idle units of a cache, as its process counts them.
fn stats(worker: &mut Worker, cache: &str) -> [u64; 3] {
    let said = worker.ask(&format!("cache stats {cache}"));
    let numbers: Vec<u64> = said.split(' ').map(|word| word.parse::<u64>().unwrap()).collect();
    [numbers[0] / unit(), numbers[1] / unit(), numbers[2] / unit()]
}

/// What is refused, and as what.
#[track_caller]
fn refused(worker: &mut Worker, line: &str, kind: &str) -> String {
    let error = worker.try_ask(line).unwrap_err();
    assert!(error.starts_with(&format!("{kind} ")), "{line}: {error}");
    error
}

#[test]
fn memory_moves_between_two_processes_and_back() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", ""));
    let (of_a, of_b) = (format!("pid {}", a.pid()), format!("pid {}", b.pid()));
    a.ask("cache commit a 16");
    a.ask("cache fill a 0 16 1");
    market.assert_held("all of the limit", 16);

    // What lies idle with a neighbour is nobody's.
    a.ask("cache uncommit a 12 16");
    assert_eq!(stats(&mut a, "a"), [12, 16, 4]);
    b.ask("cache commit b 4");
    b.ask("cache fill b 0 4 2");
    market.hears(EventKind::CachePressed, &["'a'", &of_a, "'b'", &of_b]);
    market.hears(EventKind::CacheGave, &["'a'", &of_a, "'b'", &of_b]);
    market.hears(EventKind::CacheGot, &["'b'", &of_b, "'a'", &of_a]);
    assert_eq!((stats(&mut a, "a"), stats(&mut b, "b")), ([12, 12, 0], [4, 4, 0]));

    // What is in use is asked for, and given as its owner decides.
    let error = refused(&mut b, "cache commit b 8", "after_freeing");
    assert!(error.contains("'a'"), "who holds the rest: {error}");
    a.ask("cache offer a all");
    eventually("a's pages", || b.try_ask("cache commit b 8").ok());
    b.ask("cache fill b 4 8 3");
    a.ask("cache check a 0 8 1");
    b.ask("cache check b 0 4 2");
    b.ask("cache check b 4 8 3");
    let (held_a, held_b) = (market.info("a"), market.info("b"));
    assert_eq!((held_a.held_bytes, held_b.held_bytes), (8 * unit(), 8 * unit()));
    assert_eq!((held_a.pid, held_b.pid), (a.pid(), b.pid()));
    assert!(held_a.given_bytes >= 8 * unit() && held_b.got_bytes >= 8 * unit());
    assert_eq!((held_a.reserved_bytes, held_a.segments), (64 * unit(), 1));
    market.assert_held("the same memory", 16);

    // And back.
    b.ask("cache uncommit b 0 8");
    a.ask("cache commit a 16");
    a.ask("cache fill a 8 16 4");
    a.ask("cache check a 0 8 1");
    a.ask("cache check a 8 16 4");
    assert_eq!(stats(&mut b, "b"), [0, 0, 0]);
    market.assert_held("the same memory", 16);
    a.ask("cache close a");
    eventually_equal("caches", &vec!["b".to_owned()], || market.names());
    market.assert_held("everything is given back", 0);
    a.finish();
    b.finish();
    eventually_equal("caches", &Vec::new(), || market.names());
    market.assert_gone("nothing is left");
}

#[test]
fn segments_get_their_pages_together_and_blocks_of_a_table_move_too() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", "segments=2"), market.cache("b", "segments=2"));
    a.ask("cache commit a 8");
    a.ask("cache fill a 0 8 1");
    a.ask("cache uncommit a 4 8");
    let taken = b.ask("cache take b 3");
    assert_eq!(taken, "0 1 2");
    b.ask("cache fill b 0 3 2");
    a.ask("cache check a 0 4 1");
    b.ask("cache check b 0 3 2");
    refused(&mut b, "cache take b 2", "after_freeing");
    b.ask("cache give b 0 1 2");
    a.ask("cache commit a 8");
    a.ask("cache check a 0 4 1");
    market.assert_held("the same memory", 16);
}

#[test]
fn pages_under_a_running_kernel_are_given_when_it_is_done() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", "wait_ms=20000"));
    for round in 1..=3 {
        a.ask("cache commit a 16");
        a.ask(&format!("cache fill a 1 16 {round}"));
        a.ask("cache kernel a 1 16 100");
        b.ask("cache commit b 15");
        b.ask("cache fill b 0 15 77");
        a.ask(&format!("cache kernel-end a {round}"));
        b.ask("cache check b 0 15 77");
        market.assert_held("the same memory", 16);
        b.ask("cache uncommit b 0 15");
    }
}

#[test]
fn a_lower_limit_shrinks_caches_and_a_higher_one_lets_them_grow_again() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", ""));
    a.ask("cache commit a 8");
    a.ask("cache fill a 0 8 1");
    a.ask("cache offer a all");
    b.ask("cache commit b 8");
    b.ask("cache fill b 0 8 2");
    b.ask("cache uncommit b 4 8");
    // Idle pages, and then those of whoever gives some.
    market.limit(12);
    market.hears(EventKind::CachePressed, &["'b'", "limit"]);
    market.assert_held("the lower limit", 12);
    market.limit(8);
    market.hears(EventKind::CacheGave, &["'a'", "limit"]);
    market.assert_held("the limit below", 8);
    assert_eq!(stats(&mut b, "b"), [4, 4, 0], "it gives nothing");
    a.ask("cache check a 0 4 1");
    b.ask("cache check b 0 4 2");

    // Nobody gives what is in use, and nobody gets anything.
    a.ask("cache offer a nothing");
    market.limit(4);
    market.hears(EventKind::CachePressed, &["'a'", "limit"]);
    refused(&mut a, "cache commit a 5", "over_budget");
    refused(&mut a, "cache commit a 20", "never_fits");
    assert_eq!(market.charged(), 8);
    market.limit(16);
    a.ask("cache commit a 8");
    b.ask("cache commit b 8");
    a.ask("cache check a 0 4 1");
    b.ask("cache check b 0 4 2");
    market.assert_held("the old limit", 16);
}

#[test]
fn tensors_and_models_of_the_group_get_idle_pages() {
    let market = Market::new(64);
    let user = rustix::process::getuid().as_raw();
    market.set(GroupSet { users: Some(vec![user]), ..GroupSet::of(market::name()) });
    let mut a = market.cache("a", "");
    a.ask("cache commit a 64");
    a.ask("cache fill a 0 4 1");
    let mut other = market.pond.worker();
    let large = format!("put x {} 7", 40 * unit());
    let error = other.try_ask(&large).unwrap_err();
    assert!(error.starts_with("gpu_full"), "{error}");
    a.ask("cache uncommit a 16 64");
    let hash = other.ask(&large);
    market.hears(EventKind::CacheGave, &["'a'", "a tensor or a model"]);
    assert_eq!(market.account().pond_bytes, 40 * unit());
    other.ask("model make m v1 2 5");
    assert_eq!(other.ask("hash x"), hash);
    a.ask("cache check a 0 4 1");
    refused(&mut a, "cache commit a 64", "after_freeing");
    market.pond.control().delete("x").unwrap();
    eventually_equal("the tensor's end", &true, || market.account().pond_bytes < 40 * unit());
    a.ask("cache commit a 48");
    a.ask("cache check a 0 4 1");
}

#[test]
fn an_error_says_what_can_be_done() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", ""));
    a.ask("cache commit a 10");
    refused(&mut b, "cache commit b 17", "never_fits");
    let error = refused(&mut b, "cache commit b 7", "after_freeing");
    for word in ["'a'", &a.pid().to_string()] {
        assert!(error.contains(word), "{word}: {error}");
    }
    refused(&mut b, "cache commit b 65", "out_of_range");
    refused(&mut b, "cache uncommit b 0 1", "not_committed");
    b.ask("cache commit b 6");
    refused(&mut b, "cache commit-range b 5 7", "already_committed");
    refused(&mut b, "cache take b 1", "in_use");
    market.limit(8);
    refused(&mut b, "cache commit b 7", "over_budget");
    market.limit(16);
    let error = b.try_ask(&market::line("c", "granule=3")).unwrap_err();
    assert!(error.starts_with("geometry"), "{error}");
    let error = b.try_ask("cache open nowhere c").unwrap_err();
    assert!(error.starts_with("not_found"), "{error}");
    market.assert_held("refusals cost nothing", 16);
}

#[test]
fn a_full_card_is_told_apart_from_a_full_budget() {
    // Of the cache's handles, twelve are made, and no more.
    let market = Market::with(Options::giving_back().soft(), 16);
    let mut a = market.pond.worker_with("MILLPOND_SOFT_FAULTS", "cuMemCreate:oom_after=12");
    market.open(&mut a, "a", &format!("granule={}", unit()));
    a.ask("cache commit a 12");
    let error = refused(&mut a, "cache commit a 14", "card_full");
    assert!(error.contains("the card has no room"), "{error}");
    assert_eq!(market.charged(), 12, "what was not made is not paid for");
    a.ask("cache uncommit a 0 12");
    assert_eq!(a.ask(&format!("cache trim a {}", 12 * unit())), (12 * unit()).to_string());
    market.assert_held("everything is given back", 0);
}

#[test]
fn two_caches_grow_together_or_not_at_all() {
    let market = Market::new(16);
    let mut a = market.cache("a", "");
    market.open(&mut a, "b", "segments=2");
    refused(&mut a, "cache commit-all a 0 8 b 0 5", "after_freeing");
    assert_eq!((stats(&mut a, "a")[0], stats(&mut a, "b")[0]), (0, 0));
    a.ask("cache commit-all a 0 8 b 0 4");
    assert_eq!((stats(&mut a, "a")[0], stats(&mut a, "b")[0]), (8, 8));
    a.ask("cache uncommit a 4 8");
    let error = refused(&mut a, "cache commit-all a 4 8 b 3 4", "already_committed");
    assert!(error.contains("block 3"), "{error}");
    assert_eq!(stats(&mut a, "a"), [4, 8, 4], "as before");
    market.assert_held("the limit", 16);
}

#[test]
fn two_caches_of_one_process_give_each_other_their_pages() {
    let market = Market::new(16);
    let mut a = market.cache("a", "");
    market.open(&mut a, "b", "");
    a.ask("cache offer a all");
    a.ask("cache commit a 16");
    a.ask("cache fill a 0 16 1");
    a.ask("cache commit b 8");
    a.ask("cache fill b 0 8 2");
    a.ask("cache check a 0 8 1");
    a.ask("cache check b 0 8 2");
    market.assert_held("the limit", 16);
}

#[test]
fn a_cache_uses_what_lies_idle_with_it_before_it_asks_anybody() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", ""));
    b.ask("cache offer b all");
    b.ask("cache commit b 8");
    b.ask("cache fill b 0 8 2");
    a.ask("cache commit a 8");
    a.ask("cache uncommit a 0 8");
    // Other blocks than those that lie idle.
    a.ask("cache commit-range a 32 40");
    assert_eq!((stats(&mut a, "a"), stats(&mut b, "b")), ([8, 8, 0], [8, 8, 0]));
    b.ask("cache check b 0 8 2");
}

#[test]
fn threads_that_fall_short_at_once_all_get_what_they_wait_for() {
    let market = Market::new(16);
    let (mut a, mut b) = (market.cache("a", ""), market.cache("b", "wait_ms=20000"));
    a.ask("cache offer a all");
    for round in 0..10 {
        a.ask("cache commit a 16");
        b.ask("cache race b 0 2 6 7 12");
        b.ask(&format!("cache fill b 0 12 {round}"));
        b.ask(&format!("cache check b 0 12 {round}"));
        market.assert_held("the limit", 16);
        // What it gets by itself may be asked of it at once, unlike what others give.
        b.ask("cache uncommit b 0 12");
        b.ask(&format!("cache trim b {}", 12 * unit()));
    }
}

/// The one that is asked does not answer: its handler never returns, or it stands still.
fn silent(market: &Market, stopped: bool) -> (Worker, Worker) {
    let mut a = market.cache("a", "");
    let b = market.cache("b", "wait_ms=400");
    a.ask("cache commit a 16");
    match stopped {
        true => Process::open(a.pid()).unwrap().stop(),
        false => drop(a.ask("cache offer a never")),
    }
    (a, b)
}

#[test]
fn a_silent_neighbour_makes_nobody_wait_longer_than_it_wants() {
    for stopped in [false, true] {
        let market = Market::new(16);
        let (a, mut b) = silent(&market, stopped);
        let error = refused(&mut b, "cache commit b 4", "after_freeing");
        assert!(error.contains("'a'"), "{error}");
        market.hears(EventKind::CachePressed, &["'a'", "did not answer"]);
        assert_eq!(market.charged(), 16, "it lives");
        a.kill();
        b.ask("cache commit b 16");
        market.assert_held("what the dead had", 16);
    }
}

#[test]
fn a_silent_neighbour_is_ended_where_the_operator_says_so() {
    for stopped in [false, true] {
        let market = Market::new(16);
        market.set(GroupSet { ends_silent: Some(true), ..GroupSet::of(market::name()) });
        let (a, mut b) = silent(&market, stopped);
        let ended = Process::open(a.pid()).unwrap();
        // A wait that is over before the card has everything back is repeated.
        eventually("what it had", || b.try_ask("cache commit b 16").ok());
        assert!(ended.wait(millpond_tests::PATIENCE));
        market.hears(EventKind::CacheEnded, &["'a'", &a.pid().to_string()]);
        b.ask("cache fill b 0 16 3");
        b.ask("cache check b 0 16 3");
        market.assert_held("what the dead had", 16);
        eventually_equal("caches", &vec!["b".to_owned()], || market.names());
    }
}

#[test]
fn who_asks_first_is_served_first() {
    let market = Market::new(16);
    let mut holder = market.cache("holder", "");
    holder.ask("cache offer holder soon");
    holder.ask("cache commit holder 16");
    let names = ["first", "second", "third"];
    let mut waiters: Vec<Worker> =
        names.iter().map(|name| market.cache(name, "wait_ms=60000")).collect();
    for (waiter, name) in waiters.iter_mut().zip(names) {
        waiter.tell(&format!("cache commit {name} 4"));
        eventually("it waits", || (market.info(name).wanted_bytes > 0).then_some(()));
    }
    for (number, waiter) in (0..).zip(&mut waiters) {
        let end = 16 - 4 * number;
        holder.ask(&format!("cache uncommit holder {} {end}", end - 4));
        waiter.answer().unwrap();
        for name in &names[number + 1..] {
            assert_eq!(market.info(name).held_bytes, 0, "{name} came later");
        }
    }
    market.assert_held("the limit", 16);
}

#[test]
fn the_end_of_a_process_gives_everything_back() {
    let market = Market::new(16);
    let mut b = market.cache("b", "");
    for end in ["exit", "kill", "close"] {
        let mut a = market.cache("a", "");
        a.ask("cache commit a 16");
        a.ask("cache uncommit a 8 16");
        match end {
            "exit" => {
                a.tell("exit");
                assert!(Process::open(a.pid()).is_ok_and(|it| it.wait(millpond_tests::PATIENCE)));
            }
            "kill" => a.kill(),
            _ => a.finish(),
        }
        b.ask("cache commit b 16");
        market.assert_held(end, 16);
        b.ask("cache uncommit b 0 16");
        b.ask(&format!("cache trim b {}", 16 * unit()));
        market.assert_held(end, 0);
        eventually_equal(end, &vec!["b".to_owned()], || market.names());
    }
}
