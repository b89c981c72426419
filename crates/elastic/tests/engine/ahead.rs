//! Pages that are mapped before somebody needs them.

use crate::model::{Card, GRANULE, cache};
use millpond_elastic::{Ahead, ElasticError, Geometry, Marks, Refilled};
use std::time::{Duration, Instant};

fn rows(count: u64) -> Geometry {
    Geometry::of_bytes(count * GRANULE, 1, GRANULE).unwrap()
}

const PATIENCE: Duration = Duration::from_secs(20);

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_growing_end_is_filled_from_the_low_to_the_high_mark() {
    let card = Card::new();
    let marks = Marks { low: 2, high: 6, residency: Duration::ZERO };
    let one = cache(&card, rows(32), marks);
    assert_eq!(one.refill().unwrap(), Refilled::Mapped(6 * GRANULE));
    assert_eq!(one.refill().unwrap(), Refilled::Enough);
    one.commit(4).unwrap();
    assert_eq!(one.refill().unwrap(), Refilled::Enough, "two rows are left");
    one.commit(5).unwrap();
    assert_eq!(one.refill().unwrap(), Refilled::Mapped(5 * GRANULE));
    let calls = card.state().calls;
    one.commit(11).unwrap();
    assert_eq!(card.state().calls, calls, "all of it was there");
    // Idle rows below the end are of no use to a cache that grows.
    one.uncommit(0..4, None).unwrap();
    assert_eq!(one.refill().unwrap(), Refilled::Mapped(6 * GRANULE));
}

#[test]
fn nothing_is_mapped_ahead_for_a_while_after_a_trim() {
    let card = Card::new();
    let marks = Marks { low: 1, high: 2, residency: Duration::from_secs(3600) };
    let one = cache(&card, rows(8), marks);
    one.refill().unwrap();
    one.trim_all().unwrap();
    assert!(matches!(one.refill().unwrap(), Refilled::Suspended(_)));
    assert_eq!(one.held_bytes(), 0);
    one.commit(1).unwrap();
}

#[test]
fn pages_ahead_take_no_credit_from_who_has_none() {
    let card = Card::with_room(1 << 40, 3 * GRANULE);
    let marks = Marks { low: 2, high: 4, residency: Duration::ZERO };
    let one = cache(&card, rows(8), marks);
    one.commit(2).unwrap();
    let refused = one.refill().unwrap_err();
    assert!(matches!(refused, ElasticError::NeverFits { .. } | ElasticError::AfterFreeing { .. }));
    assert_eq!((one.held_bytes(), card.state().paid), (2 * GRANULE, 2 * GRANULE));
}

#[test]
fn pages_being_made_ahead_are_idle_to_the_payer_and_a_trim_waits_for_them() {
    let card = Card::with_room(1 << 40, 4 * GRANULE);
    let marks = Marks { low: 1, high: 4, residency: Duration::from_secs(3600) };
    let one = cache(&card, rows(8), marks);
    card.close_gate();
    let (making, asked) = (one.clone(), one.clone());
    let making = std::thread::spawn(move || making.refill());
    card.wait_at_gate();
    assert_eq!(card.paid_and_idle(), (4 * GRANULE, 4 * GRANULE));
    assert_eq!(one.idle_bytes(), 0, "none of it can be used yet");
    let asked = std::thread::spawn(move || asked.trim(GRANULE));
    // A trim that did not wait would find nothing now.
    std::thread::sleep(Duration::from_millis(50));
    card.open_gate();
    assert_eq!(making.join().unwrap().unwrap(), Refilled::Mapped(4 * GRANULE));
    assert!(asked.join().unwrap().unwrap().bytes >= GRANULE);
    assert_eq!(card.state().idle, one.idle_bytes());
}

#[test]
fn a_commit_elsewhere_in_the_cache_takes_over_what_is_being_made_ahead() {
    let card = Card::with_room(1 << 40, 4 * GRANULE);
    let marks = Marks { low: 1, high: 4, residency: Duration::from_secs(3600) };
    let one = cache(&card, rows(8), marks);
    card.close_gate();
    let (making, committing) = (one.clone(), one.clone());
    let making = std::thread::spawn(move || making.refill());
    card.wait_at_gate();
    let committing = std::thread::spawn(move || committing.commit_range(6..8));
    std::thread::sleep(Duration::from_millis(50));
    card.open_gate();
    making.join().unwrap().unwrap();
    committing.join().unwrap().unwrap();
    assert_eq!(one.committed_bytes(), 2 * GRANULE);
    assert!(one.held_bytes() <= 4 * GRANULE);
}

#[test]
fn pages_being_given_back_are_idle_to_the_payer_until_it_has_them() {
    let card = Card::with_room(1 << 40, 4 * GRANULE);
    let one = cache(&card, rows(8), Marks::NONE);
    one.commit(4).unwrap();
    one.uncommit(0..4, None).unwrap();
    card.close_gate();
    let (giving, committing) = (one.clone(), one.clone());
    let giving = std::thread::spawn(move || giving.trim_all());
    card.wait_at_gate();
    assert_eq!(card.paid_and_idle(), (4 * GRANULE, 4 * GRANULE));
    let committing = std::thread::spawn(move || committing.commit_range(6..8));
    std::thread::sleep(Duration::from_millis(50));
    card.open_gate();
    assert_eq!(giving.join().unwrap().unwrap().bytes, 4 * GRANULE);
    committing.join().unwrap().unwrap();
    assert_eq!(card.paid_and_idle(), (2 * GRANULE, 0));
}

#[test]
fn what_could_not_be_made_ahead_is_not_idle() {
    let card = Card::with_room(3 * GRANULE, 1 << 40);
    let marks = Marks { low: 1, high: 4, residency: Duration::ZERO };
    let one = cache(&card, rows(8), marks);
    one.refill().unwrap_err();
    assert_eq!((card.used_and_paid(), card.paid_and_idle()), ((0, 0), (0, 0)));
    assert_eq!(one.trim(1).unwrap().bytes, 0);
}

#[test]
fn a_thread_maps_ahead_when_a_commit_wakes_it() {
    let card = Card::new();
    let marks = Marks { low: 4, high: 8, residency: Duration::from_millis(30) };
    let one = cache(&card, rows(64), marks);
    let ahead = Ahead::start(&one).unwrap();
    wait_until("the first fill", || one.idle_bytes() == 8 * GRANULE);
    for blocks in [5, 10, 15, 20] {
        one.commit(blocks).unwrap();
        wait_until("the next fill", || one.idle_bytes() >= 4 * GRANULE);
    }
    one.trim_all().unwrap();
    one.commit(21).unwrap();
    wait_until("a fill after the residency", || one.idle_bytes() >= 4 * GRANULE);
    drop((ahead, one));
    assert_eq!((card.used_and_paid(), card.faults()), ((0, 0), Vec::new()));
}

#[test]
fn a_thread_maps_ahead_of_a_table() {
    let card = Card::new();
    let marks = Marks { low: 4, high: 8, residency: Duration::ZERO };
    let table = cache(&card, rows(16), marks);
    let ahead = Ahead::start(&table).unwrap();
    let blocks = table.blocks().unwrap();
    wait_until("a fill for the table", || blocks.ready_blocks() >= 4);
    blocks.take(6).unwrap();
    wait_until("a fill behind it", || blocks.ready_blocks() >= 4);
    drop(blocks);
    // The cache may end first.
    drop(table);
    drop(ahead);
    assert_eq!((card.used_and_paid(), card.faults()), ((0, 0), Vec::new()));
}
