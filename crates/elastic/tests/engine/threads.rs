//! Threads that grow and shrink one range.

use crate::model::{Card, GRANULE, cache};
use millpond_elastic::{Ahead, ElasticError, Geometry, Marks};
use std::time::Duration;

/// A small generator, so that each thread has a sequence of its own.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn two_threads_grow_and_shrink_one_range() {
    let card = Card::with_room(24 * 2 * GRANULE, 22 * 2 * GRANULE);
    // Blocks of three quarters of a granule: threads that own different blocks share rows.
    let geometry = Geometry::new(64, GRANULE / 4 * 3, 2, GRANULE).unwrap();
    let marks = Marks { low: 1, high: 3, residency: Duration::ZERO };
    let one = cache(&card, geometry, marks);
    let ahead = Ahead::start(&one).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let (one, card) = (&one, &card);
            scope.spawn(move || {
                let mut seed = thread + 1;
                let mut owned = Vec::new();
                for _ in 0..400 {
                    // Thread 0 owns blocks 0, 3, 6, …
                    let block = next(&mut seed) % 20 * 3 + thread;
                    match owned.iter().position(|one| *one == block) {
                        None => match one.commit_range(block..block + 1) {
                            Ok(()) => owned.push(block),
                            Err(
                                ElasticError::AfterFreeing { .. } | ElasticError::CardFull { .. },
                            ) => {}
                            Err(error) => panic!("{error}"),
                        },
                        Some(place) => {
                            let at = block * (GRANULE / 4 * 3) / GRANULE * GRANULE;
                            let fence = card.submit_one(at..at + GRANULE);
                            one.uncommit(block..block + 1, Some(fence)).unwrap();
                            card.finish(fence);
                            owned.swap_remove(place);
                        }
                    }
                    if next(&mut seed).is_multiple_of(5) {
                        one.trim(next(&mut seed) % (8 * GRANULE)).unwrap();
                    }
                }
                owned.into_iter().for_each(|block| one.uncommit(block..block + 1, None).unwrap());
            });
        }
    });
    drop(ahead);
    assert_eq!(one.committed_bytes(), 0);
    one.trim_all().unwrap();
    let state = card.state();
    assert_eq!(state.faults, Vec::<String>::new());
    assert_eq!((state.used, state.paid, state.idle), (0, 0, 0));
}

#[test]
fn a_commit_of_the_same_prefix_by_many_threads_makes_its_pages_once() {
    let card = Card::new();
    let geometry = Geometry::of_bytes(40 * GRANULE, 1, GRANULE).unwrap();
    let one = cache(&card, geometry, Marks::NONE);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (1..=40).for_each(|blocks| one.commit(blocks).unwrap()));
        }
    });
    assert_eq!(one.committed_bytes(), 40 * GRANULE);
    assert_eq!(card.state().used, 40 * GRANULE);
    assert_eq!(card.faults(), Vec::<String>::new());
}

#[test]
fn threads_share_a_table() {
    let card = Card::new();
    let geometry = Geometry::new(200, GRANULE / 3, 1, GRANULE).unwrap();
    let one = cache(&card, geometry, Marks::NONE);
    let table = one.blocks().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let (table, one) = (&table, &one);
            scope.spawn(move || {
                let mut seed = thread + 7;
                for _ in 0..300 {
                    let count = usize::try_from(next(&mut seed) % 30).unwrap();
                    let blocks = table.take(count).unwrap();
                    table.give(&blocks, None).unwrap();
                    if next(&mut seed).is_multiple_of(7) {
                        one.trim(4 * GRANULE).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(table.free_blocks(), 200);
    assert_eq!(card.faults(), Vec::<String>::new());
}
