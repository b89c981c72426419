//! Stream-ordered pools of real processes: on a group's budget, and giving way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use millpond::{EventKind, GroupSet};
use millpond_tests::market::{self, GROUP, unit};
use millpond_tests::{Market, Worker, eventually, eventually_equal};

/// A process with a pool `p` on the budget of the market's group.
fn pool(market: &Market) -> Worker {
    let mut worker = market.pond.worker();
    assert_eq!(worker.ask(&format!("pool open p {GROUP} 300")), GROUP);
    worker
}

/// Units in use, free and held.
fn stats(worker: &mut Worker) -> [u64; 3] {
    let said = worker.ask("pool stats p");
    let numbers: Vec<u64> = said.split(' ').map(|word| word.parse::<u64>().unwrap()).collect();
    [numbers[0] / unit(), numbers[1] / unit(), numbers[2] / unit()]
}

fn alloc(block: &str, units: u64, stream: &str) -> String {
    format!("pool alloc p {block} {} {stream}", units * unit())
}

#[test]
fn blocks_are_paid_for_by_the_group_and_refused_beyond_its_limit() {
    let market = Market::new(16);
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 10, "one"));
    worker.ask("pool fill p a 1");
    worker.ask(&alloc("b", 6, "one"));
    worker.ask("pool fill p b 2");
    market.assert_held("both blocks", 16);
    let error = worker.try_ask(&alloc("c", 1, "one")).unwrap_err();
    assert!(error.starts_with("gpu_full "), "{error}");
    assert!(error.contains("in use in 2 blocks"), "the numbers: {error}");
    worker.ask("pool check p a 1");
    worker.ask("pool check p b 2");

    // The same stream has it again at once, and no page moves.
    worker.ask("pool free p a");
    worker.ask(&alloc("c", 4, "one"));
    assert_eq!(stats(&mut worker), [10, 6, 16]);
    // Another one gets the rest, behind the work of the first.
    worker.ask(&alloc("d", 6, "two"));
    worker.ask("pool fill p d 4");
    worker.ask("pool check p b 2");
    assert_eq!(stats(&mut worker), [16, 0, 16]);
    for block in ["b", "c", "d"] {
        worker.ask(&format!("pool free p {block}"));
    }
    // Gaps of two streams become one, after their pages went back.
    worker.ask(&alloc("e", 15, "two"));
    market.assert_held("the limit", 16);
    worker.ask("pool free p e");
    worker.ask(&format!("pool trim p {}", u64::MAX));
    market.assert_held("nothing is kept", 0);
    worker.finish();
    market.assert_gone("nothing is left");
}

#[test]
fn a_pool_gives_its_gaps_to_a_cache_that_needs_them_and_never_its_blocks() {
    let market = Market::new(16);
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 4, "one"));
    worker.ask("pool fill p a 7");
    worker.ask(&alloc("b", 12, "one"));
    worker.ask("pool free p b");
    // What was freed says that it is free; it is a while until the work on it is known to be over.
    let mut cache = market.cache("c", "");
    eventually("the gaps of the pool", || cache.try_ask("cache commit c 12").ok());
    market.hears(EventKind::CacheGave, &["'p'", "'c'"]);
    cache.ask("cache fill c 0 12 1");
    worker.ask("pool check p a 7");
    assert_eq!(stats(&mut worker), [4, 0, 4]);
    assert!(cache.try_ask("cache commit c 13").unwrap_err().starts_with("after_freeing "));

    // And the other way round: a pool asks, and waits.
    cache.ask("cache uncommit c 4 12");
    worker.ask(&alloc("d", 8, "two"));
    worker.ask("pool fill p d 8");
    cache.ask("cache check c 0 4 1");
    market.assert_held("the limit", 16);
}

#[test]
fn gaps_of_a_pool_make_room_for_a_tensor() {
    let market = Market::new(64);
    let users = Some(vec![rustix::process::getuid().as_raw()]);
    market.set(GroupSet { users, ..GroupSet::of(market::name()) });
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 16, "one"));
    worker.ask("pool fill p a 9");
    worker.ask(&alloc("b", 48, "one"));
    let mut other = market.pond.worker();
    let large = format!("put x {} 7", 40 * unit());
    assert!(other.try_ask(&large).unwrap_err().starts_with("gpu_full"));
    worker.ask("pool free p b");
    assert_eq!(market.info("p").idle_bytes, 48 * unit(), "what no block uses counts as idle");
    let hash = other.ask(&large);
    market.hears(EventKind::CacheGave, &["'p'", "a tensor or a model"]);
    assert_eq!(other.ask("hash x"), hash);
    worker.ask("pool check p a 9");
}

#[test]
fn a_pool_without_a_group_is_on_the_account_of_its_program() {
    let market = Market::new(16);
    let mut worker = market.pond.worker();
    let group = worker.ask("pool open p -");
    assert!(group.starts_with("run-"), "{group}");
    worker.ask(&alloc("a", 20, "one"));
    let held = || {
        let name = millpond::GroupName::new(group.as_str()).unwrap();
        let details = market.pond.control().group(name).unwrap();
        details.info.devices[0].process_bytes
    };
    assert_eq!(held(), 20 * unit());
    assert_eq!(market.charged(), 0, "the other group pays nothing");
    worker.ask("pool free p a");
    worker.ask("pool close p");
    worker.finish();
    market.assert_gone("nothing is left");
}

#[test]
fn blocks_outlive_their_pool_and_a_kill_gives_everything_back() {
    let market = Market::new(16);
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 5, "one"));
    worker.ask("pool close p");
    market.assert_held("the block is in use", 5);
    worker.ask("pool free p a");
    market.assert_held("the last block is free", 0);

    let mut victim = pool(&market);
    victim.ask(&alloc("a", 9, "one"));
    victim.ask(&alloc("b", 3, "two"));
    victim.ask("pool free p b");
    victim.kill();
    let mut next = market.cache("c", "wait_ms=20000");
    next.ask("cache commit c 16");
    next.finish();
    worker.finish();
    market.assert_gone("nothing is left");
}

#[test]
fn the_daemon_is_not_on_the_path_of_blocks() {
    let market = Market::new(16);
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 4, "one"));
    worker.ask("pool fill p a 3");
    market.pond.kill_daemon();
    worker.ask(&alloc("b", 4, "two"));
    worker.ask("pool fill p b 4");
    worker.ask("pool free p b");
    worker.ask(&alloc("c", 4, "two"));
    worker.ask("pool check p a 3");
    eventually_equal("the next daemon knows the pool", &vec!["p".to_owned()], || market.names());
    market.assert_held("the same memory", 8);
}

#[test]
fn a_pool_draws_and_writes_itself() {
    let market = Market::new(16);
    let mut worker = pool(&market);
    worker.ask(&alloc("a", 4, "one"));
    worker.ask(&alloc("b", 2, "two"));
    worker.ask("pool free p a");
    let (svg, json) = (market.pond.path("pool.svg"), market.pond.path("pool.json"));
    worker.ask(&format!("pool draw p {}", svg.display()));
    worker.ask(&format!("pool write p {}", json.display()));
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("class=\"freed\""));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let parts = json["parts"].as_array().unwrap();
    let held: u64 = parts.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(json["stats"]["held_bytes"].as_u64(), Some(held));
    let error = worker.try_ask("pool draw p /nowhere/pool.svg").unwrap_err();
    assert!(error.contains("/nowhere/pool.svg"), "{error}");
}
