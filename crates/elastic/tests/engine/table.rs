//! What the table of blocks promises.

use crate::model::{Card, GRANULE, ModelCache, cache};
use millpond_elastic::{ElasticError, Geometry, Marks, Occupancy, User};

const BLOCKS: u32 = 4;

/// Rows of four blocks each.
fn blocks_of(card: &Card, rows: u64) -> ModelCache {
    let geometry = Geometry::new(rows * u64::from(BLOCKS), GRANULE / 4, 2, GRANULE).unwrap();
    cache(card, geometry.with_largest_handle(GRANULE), Marks::NONE)
}

#[test]
fn blocks_come_from_low_rows_in_use_first() {
    let card = Card::new();
    let one = blocks_of(&card, 8);
    let table = one.blocks().unwrap();
    assert_eq!(table.take(10).unwrap(), (0..10).collect::<Vec<_>>());
    table.give(&[1, 4, 5, 6, 7, 9], None).unwrap();
    // Row 1 is idle: it comes last of what is mapped.
    assert_eq!(table.ready_blocks(), 8);
    assert_eq!(table.take(5).unwrap(), [1, 9, 10, 11, 4]);
    assert_eq!(table.free_blocks(), 23);
    assert_eq!(one.stats().calls.create, 6);
}

#[test]
fn high_rows_drain_and_are_given_back() {
    let card = Card::new();
    let one = blocks_of(&card, 8);
    let table = one.blocks().unwrap();
    let all = table.take(32).unwrap();
    // Every other block is given and taken again: the low rows fill up.
    let odd: Vec<u32> = all.iter().copied().filter(|block| block % 2 == 1).collect();
    table.give(&odd, None).unwrap();
    assert_eq!(one.idle_bytes(), 0);
    let low = table.take(8).unwrap();
    assert!(low.iter().all(|block| *block < 16), "{low:?}");
    let high: Vec<u32> = all.iter().copied().filter(|b| b % 2 == 0 && *b >= 16).collect();
    table.give(&high, None).unwrap();
    assert_eq!(one.trim_all().unwrap().bytes, 4 * 2 * GRANULE);
    assert_eq!(one.stats().mapped_rows, 4);
}

#[test]
fn taking_is_all_or_nothing() {
    let card = Card::with_room(2 * 2 * GRANULE, 1 << 40);
    let one = blocks_of(&card, 8);
    let table = one.blocks().unwrap();
    let mut list = table.take(6).unwrap();
    let before = one.stats();
    let error = table.take_into(8, &mut list).unwrap_err();
    assert!(matches!(error, ElasticError::CardFull { .. }), "{error}");
    assert_eq!(list.len(), 6);
    assert_eq!(one.stats().committed_blocks, before.committed_blocks);
    assert_eq!(one.stats().held_bytes, before.held_bytes);
    assert_eq!(table.take(2).unwrap(), [6, 7]);
    assert!(matches!(table.take(33), Err(ElasticError::NeverFits { .. })));
    assert!(matches!(table.take(25), Err(ElasticError::AfterFreeing { .. })));
    assert_eq!(table.take(0).unwrap(), Vec::<u32>::new());
}

#[test]
fn wrong_blocks_are_not_taken_back() {
    let card = Card::new();
    let one = blocks_of(&card, 2);
    let table = one.blocks().unwrap();
    table.take(3).unwrap();
    let not = |block| Err(ElasticError::NotCommitted { block });
    assert_eq!(table.give(&[0, 3], None), not(3));
    assert_eq!(table.give(&[0, 1, 0], None), not(0));
    assert_eq!(table.give(&[2, 8], None), Err(ElasticError::OutOfRange { blocks: 8..9, count: 8 }));
    assert_eq!(table.free_blocks(), 5, "nothing was given back");
    table.give(&[2, 0, 1], None).unwrap();
    assert_eq!(table.give(&[1], None), not(1));
}

#[test]
fn a_cache_has_one_table_or_ranges() {
    let card = Card::new();
    let one = blocks_of(&card, 2);
    one.commit(1).unwrap();
    assert_eq!(one.blocks().unwrap_err(), ElasticError::InUse(User::Ranges));
    one.uncommit(0..1, None).unwrap();
    let prepared = one.prepare(0..1).unwrap();
    assert_eq!(one.blocks().unwrap_err(), ElasticError::InUse(User::Prepared));
    drop(prepared);
    let table = one.blocks().unwrap();
    assert_eq!(one.blocks().unwrap_err(), ElasticError::InUse(User::Table));
    assert_eq!(one.commit(1), Err(ElasticError::InUse(User::Table)));
    assert_eq!(one.uncommit(0..1, None), Err(ElasticError::InUse(User::Table)));
    table.take(5).unwrap();
    drop(table);
    assert_eq!(one.committed_bytes(), 0);
    one.commit(8).unwrap();
}

#[test]
fn a_warm_take_and_give_makes_no_call() {
    let card = Card::new();
    let one = blocks_of(&card, 4);
    let table = one.blocks().unwrap();
    let first = table.take(4).unwrap();
    table.give(&first, None).unwrap();
    let calls = one.stats().calls.sum();
    let mut list = Vec::with_capacity(4);
    for _ in 0..100 {
        list.clear();
        table.take_into(3, &mut list).unwrap();
        table.give(&list, None).unwrap();
    }
    assert_eq!(one.stats().calls.sum(), calls);
}

#[test]
fn many_fences_are_asked_for_and_forgotten() {
    let card = Card::new();
    let one = blocks_of(&card, 1);
    let table = one.blocks().unwrap();
    // Nothing is ever passed here, until the device settles.
    for _ in 0..3000 {
        let block = table.take(1).unwrap();
        let fence = card.submit_one(0..GRANULE);
        table.give(&block, Some(fence)).unwrap();
    }
    assert_eq!(one.trim(1).unwrap().bytes, 2 * GRANULE, "the device settled first");
    assert_eq!(card.faults(), Vec::<String>::new());
    // Passed ones need no settling.
    for _ in 0..3000 {
        let block = table.take(1).unwrap();
        let fence = card.submit_one(0..GRANULE);
        table.give(&block, Some(fence)).unwrap();
        card.finish(fence);
    }
    let settles = one.stats().calls.settle;
    assert_eq!(one.trim(1).unwrap().bytes, 2 * GRANULE);
    assert!(one.stats().calls.settle <= settles + 1);
}

#[test]
fn a_table_says_which_pages_are_nearly_empty() {
    let card = Card::new();
    // Three and a half blocks in a page: blocks 3 and 7 lie in two.
    let geometry = Geometry::new(10, GRANULE / 7 * 2, 2, GRANULE).unwrap();
    let one = cache(&card, geometry.with_largest_handle(GRANULE), Marks::NONE);
    let table = one.blocks().unwrap();
    assert_eq!(table.occupancy(), []);
    let blocks = table.take(10).unwrap();
    let full =
        |blocks: std::ops::Range<u32>, taken| Occupancy { blocks, taken, bytes: 2 * GRANULE };
    assert_eq!(table.occupancy(), [full(7..10, 3), full(0..4, 4), full(3..8, 5)]);
    table.give(&blocks[4..7], None).unwrap();
    let emptiest = table.occupancy().remove(0);
    assert_eq!(emptiest, full(3..8, 2));
    // What is evicted from it frees the page.
    table.give(&[3, 7], None).unwrap();
    assert_eq!(one.idle_bytes(), emptiest.bytes);
    assert_eq!(table.occupancy()[0].taken, 0);
    one.trim_all().unwrap();
    assert_eq!(table.occupancy(), [full(7..10, 2), full(0..4, 3)]);
}
