//! What is done before a request is refused.

use crate::model::GRANULE;
use crate::support::{MIB, assert_all_returned, busy, pool, work_on};
use millpond_elastic::PoolError;

/// Pools have waited for memory and then failed, because they did not look again.
#[test]
fn the_pool_is_searched_again_after_waiting() {
    let (card, pool) = pool(4);
    let (one, two, three) = (card.stream(), card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    let block = busy(&card, &pool, 6 * MIB, &one).unwrap();
    block.record_stream(&two);
    work_on(&card, &block, &two);
    drop(block);
    // No mark is behind the end on the third stream but the one that the request itself records.
    let taken = busy(&card, &pool, 6 * MIB, &three).unwrap();
    drop((taken, small));
    assert_all_returned(&card, &pool);
}

#[test]
fn scattered_gaps_are_given_back_and_come_again_in_one_piece() {
    let (card, pool) = pool(7);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    let blocks: Vec<_> = (0..3).map(|_| busy(&card, &pool, 4 * MIB, &one).unwrap()).collect();
    let [left, middle, right] = <[_; 3]>::try_from(blocks).unwrap();
    drop((left, right));
    let large = busy(&card, &pool, 8 * MIB, &two).unwrap();
    assert!(card.is_idle(&one), "the host has seen the end of the work first");
    assert_eq!(card.committed_bytes(), 14 * MIB);
    drop((large, middle, small));
    assert_all_returned(&card, &pool);
}

#[test]
fn others_are_asked_to_give_way_before_a_request_is_refused() {
    let (card, pool) = pool(2);
    let stream = card.stream();
    let first = pool.alloc(4 * MIB, &stream).unwrap();
    card.state().others = 2;
    let second = pool.alloc(4 * MIB, &stream).unwrap();
    assert_eq!(card.state().others, 0);
    drop((first, second));
    assert_all_returned(&card, &pool);
}

#[test]
fn nobody_is_asked_while_something_is_free() {
    let (card, pool) = pool(3);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    drop(busy(&card, &pool, 4 * MIB, &one).unwrap());
    card.state().others = 2;
    let block = busy(&card, &pool, 4 * MIB, &two).unwrap();
    assert_eq!(card.state().others, 2);
    drop((block, small));
    assert_all_returned(&card, &pool);
}

#[test]
fn small_blocks_that_stay_do_not_keep_large_gaps_from_their_use() {
    let (card, pool) = pool(8);
    let stream = card.stream();
    let mut small = Vec::new();
    for _ in 0..6 {
        small.push(pool.alloc(512, &stream).unwrap());
        drop(busy(&card, &pool, 14 * MIB, &stream).unwrap());
    }
    drop(small);
    assert_all_returned(&card, &pool);
}

#[test]
fn a_refusal_names_the_numbers_and_leaves_all_as_it_was() {
    let (card, pool) = pool(6);
    let stream = card.stream();
    let blocks: Vec<_> = (0..2).map(|_| busy(&card, &pool, 3 * MIB, &stream).unwrap()).collect();
    let error = pool.alloc(9 * MIB, &stream).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no memory for a block of 9 MiB: 6 MiB in use in 2 blocks, 0 bytes free in 0 gaps (largest 0 bytes), \
         6 MiB held, peak 6 MiB"
    );
    let PoolError::OutOfMemory { asked, stats, source } = error else { panic!("{error}") };
    assert_eq!((asked, stats.refused, stats.in_use_bytes), (9 * MIB, 1, 6 * MIB));
    assert_eq!(
        source.to_string(),
        "10 MiB more do not fit: 6 MiB of 12 MiB are in use",
        "five granules for nine mebibytes"
    );
    assert_eq!(card.committed_bytes(), 3 * GRANULE);
    let third = pool.alloc(6 * MIB, &stream).unwrap();
    drop((blocks, third));
    assert_all_returned(&card, &pool);
}

#[test]
fn a_driver_that_fails_is_told_from_a_card_that_is_full() {
    let (card, pool) = pool(2);
    let stream = card.stream();
    let first = pool.alloc(4 * MIB, &stream).unwrap();
    // The refused commits go by, and the patient one fails.
    let mut answers = Vec::new();
    for fails in 0..4 {
        card.state().fail_in = Some(fails);
        answers.push(pool.alloc(4 * MIB, &stream).unwrap_err());
        card.state().fail_in = None;
    }
    assert!(answers.iter().any(|error| matches!(error, PoolError::Driver(_))), "{answers:?}");
    assert!(answers.iter().any(|error| matches!(error, PoolError::OutOfMemory { .. })));
    drop(first);
    assert_all_returned(&card, &pool);
}
