//! A cap for one cache under a budget that has more.

use crate::model::{Card, GRANULE, ModelCache, cache};
use millpond_elastic::{Cache, CapChange, ElasticError, Geometry, LocalCredit, Marks};

fn rows(card: &Card, count: u64) -> ModelCache {
    let geometry = Geometry::of_bytes(count * GRANULE, 1, GRANULE).unwrap();
    cache(card, geometry.with_largest_handle(GRANULE), Marks::NONE)
}

fn deferred(rows: u64) -> CapChange {
    CapChange::Deferred { above_bytes: rows * GRANULE }
}

#[test]
fn growth_stops_at_the_cap_and_other_caches_go_on() {
    let credit = LocalCredit::new(20 * GRANULE, "one");
    let cache_of = |credit: &LocalCredit| {
        let geometry = Geometry::of_bytes(16 * GRANULE, 1, GRANULE).unwrap();
        Cache::new(Card::new(), credit.clone(), geometry, Marks::NONE)
    };
    let (one, other) = (cache_of(&credit), cache_of(&credit.holder("other")));
    assert_eq!(one.set_cap(4 * GRANULE, 1), Ok(CapChange::Applied));
    assert_eq!(one.stats().cap_bytes, 4 * GRANULE);
    one.commit(3).unwrap();
    let refused = one.commit(5).unwrap_err();
    let (asked, cap, held) = (2 * GRANULE, 4 * GRANULE, 3 * GRANULE);
    assert_eq!(refused, ElasticError::OverCap { asked, cap, held });
    assert_eq!(
        refused.to_string(),
        "4 MiB more do not fit under the cap of 8 MiB: this cache holds 6 MiB"
    );
    assert_eq!((one.held_bytes(), credit.used()), (3 * GRANULE, 3 * GRANULE));
    one.commit(4).unwrap();
    other.commit(15).unwrap();
    assert_eq!(one.set_cap(u64::MAX, 2), Ok(CapChange::Applied));
    one.commit(5).unwrap();
    // What the budget refuses takes no room under the cap.
    assert!(matches!(one.commit(6), Err(ElasticError::AfterFreeing { .. })));
    assert_eq!(one.set_cap(5 * GRANULE, 3), Ok(CapChange::Applied));
}

#[test]
fn a_cap_below_what_is_held_shrinks_the_cache_as_blocks_become_free() {
    let card = Card::new();
    let one = rows(&card, 16);
    one.commit(8).unwrap();
    one.uncommit(7..8, None).unwrap();
    assert_eq!(one.set_cap(4 * GRANULE, 1), Ok(deferred(3)), "the idle page went at once");
    assert_eq!(one.held_bytes(), 7 * GRANULE);
    // Pages go with the end of their use, but not before its fence.
    let fence = card.submit_one(5 * GRANULE..7 * GRANULE);
    one.uncommit(5..7, Some(fence)).unwrap();
    assert_eq!((one.held_bytes(), card.faults()), (7 * GRANULE, Vec::new()));
    card.finish(fence);
    assert_eq!(one.set_cap(4 * GRANULE, 1), Ok(deferred(1)));
    let done = card.submit_one(4 * GRANULE..5 * GRANULE);
    card.finish(done);
    one.uncommit(4..5, Some(done)).unwrap();
    assert_eq!((one.held_bytes(), card.used_and_paid()), (4 * GRANULE, (4 * GRANULE, 4 * GRANULE)));
    assert_eq!(one.set_cap(4 * GRANULE, 1), Ok(CapChange::Applied));
}

#[test]
fn blocks_of_a_table_shrink_a_cache_to_its_cap() {
    let card = Card::new();
    let one = rows(&card, 16);
    let table = one.blocks().unwrap();
    let blocks = table.take(8).unwrap();
    assert_eq!(one.set_cap(2 * GRANULE, 1), Ok(deferred(6)));
    let done = card.submit_one(0..GRANULE);
    card.finish(done);
    table.give(&blocks[..5], Some(done)).unwrap();
    assert_eq!(one.held_bytes(), 3 * GRANULE);
    table.give(&blocks[5..7], Some(done)).unwrap();
    assert_eq!(one.held_bytes(), 2 * GRANULE, "one stays for the next block");
    assert_eq!(table.take(1).unwrap().len(), 1);
    assert!(matches!(table.take(1), Err(ElasticError::OverCap { .. })));
}

#[test]
fn growth_at_the_cap_waits_for_the_caches_own_pages() {
    let card = Card::new();
    let one = rows(&card, 16);
    one.set_cap(4 * GRANULE, 1).unwrap();
    one.commit(4).unwrap();
    let fence = card.submit_one(0..4 * GRANULE);
    one.uncommit(0..4, Some(fence)).unwrap();
    one.commit_range(8..12).unwrap();
    assert_eq!((card.oldest(), one.held_bytes()), (None, 4 * GRANULE), "the work was waited for");
    assert_eq!(card.faults(), Vec::<String>::new());
    one.uncommit(8..12, None).unwrap();
    assert!(one.commit_free(0..4).is_err(), "a quick commit waits for nobody");
}

#[test]
fn an_older_cap_is_stale_whenever_it_arrives() {
    let card = Card::new();
    let one = rows(&card, 16);
    let cap = |rows: u64, revision| one.set_cap(rows * GRANULE, revision).unwrap();
    assert_eq!(cap(8, 5), CapChange::Applied);
    assert_eq!(cap(2, 4), CapChange::Stale { revision: 5 });
    assert_eq!(cap(2, 5), CapChange::Stale { revision: 5 }, "two caps with one revision");
    assert_eq!(cap(8, 5), CapChange::Applied);
    assert_eq!(one.stats().cap_bytes, 8 * GRANULE);
    assert_eq!(cap(2, 6), CapChange::Applied);
    assert_eq!(rows(&card, 4).set_cap(0, 0), Ok(CapChange::Stale { revision: 0 }));
}

#[test]
fn pages_made_ahead_stay_below_the_cap() {
    let card = Card::new();
    let geometry = Geometry::of_bytes(16 * GRANULE, 1, GRANULE).unwrap();
    let marks = Marks { low: 4, high: 8, residency: std::time::Duration::ZERO };
    let one = cache(&card, geometry, marks);
    one.set_cap(6 * GRANULE, 1).unwrap();
    one.commit(3).unwrap();
    assert!(matches!(one.refill(), Err(ElasticError::OverCap { .. })));
    assert_eq!(card.used_and_paid(), (3 * GRANULE, 3 * GRANULE));
}
