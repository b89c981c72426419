//! What a cache promises, one sentence each.

use crate::model::{Card, GRANULE, MIB, cache};
use millpond_cuda::sys::Status;
use millpond_elastic::{
    Cache, ElasticError, ExtentCount, Geometry, LocalCredit, Marks, Trimmed, Unlimited, User,
};

fn rows(count: u64) -> Geometry {
    Geometry::of_bytes(count * GRANULE, 1, GRANULE).unwrap()
}

#[test]
fn committing_again_makes_no_call_of_the_driver() {
    let card = Card::new();
    let one = cache(&card, rows(64), Marks::NONE);
    one.commit(40).unwrap();
    let calls = card.state().calls;
    one.commit(40).unwrap();
    one.commit(7).unwrap();
    one.uncommit(10..40, None).unwrap();
    one.commit_range(10..30).unwrap();
    one.commit(40).unwrap();
    assert_eq!((card.state().calls, one.committed_bytes()), (calls, 40 * GRANULE));
}

#[test]
fn larger_growth_makes_larger_handles_and_one_call_maps_them() {
    let card = Card::new();
    let one = cache(&card, rows(128), Marks::NONE);
    one.commit(42).unwrap();
    let stats = one.stats();
    let count = |mib: u64, count| ExtentCount { handle_bytes: mib * MIB, count };
    assert_eq!(stats.extents, [count(2, 2), count(16, 1), count(64, 1)]);
    assert_eq!((stats.calls.create, stats.calls.map), (4, 1));
    one.uncommit(0..42, None).unwrap();
    one.trim_all().unwrap();
    assert_eq!((one.stats().calls.unmap, one.stats().calls.release), (1, 4));
}

#[test]
fn every_segment_grows_with_a_block() {
    let card = Card::new();
    let geometry = Geometry::new(100, GRANULE / 8 * 3, 4, GRANULE).unwrap();
    let one = cache(&card, geometry.clone(), Marks::NONE);
    one.commit_range(3..4).unwrap();
    assert_eq!((one.held_bytes(), card.mapped_bytes()), (4 * GRANULE, 4 * GRANULE));
    one.commit_range(2..3).unwrap();
    assert_eq!(one.stats().committed_rows, 2, "block 2 straddles two rows");
    for segment in 0..4 {
        let address = one.address_of(segment, 2).unwrap();
        let offset = address - one.base();
        assert_eq!(offset, segment * geometry.segment_bytes() + 2 * (GRANULE / 8 * 3));
        assert!(card.read(offset).is_some());
    }
    assert_eq!((one.address_of(4, 0), one.address_of(0, 100)), (None, None));
}

#[test]
fn wrong_blocks_are_refused_and_nothing_changes() {
    let card = Card::new();
    let one = cache(&card, rows(16), Marks::NONE);
    one.commit_range(4..8).unwrap();
    let calls = card.state().calls;
    assert_eq!(one.commit_range(6..10), Err(ElasticError::AlreadyCommitted { block: 6 }));
    assert_eq!(one.uncommit(3..5, None), Err(ElasticError::NotCommitted { block: 3 }));
    let outside = |blocks| Err(ElasticError::OutOfRange { blocks, count: 16 });
    assert_eq!(one.commit(17), outside(0..17));
    assert_eq!(one.uncommit(15..17, None), outside(15..17));
    #[allow(clippy::reversed_empty_ranges, reason = "that is the mistake")]
    let reversed = 5..4;
    assert_eq!(one.commit_range(reversed.clone()), outside(reversed));
    assert_eq!(one.commit_range(9..9), Ok(()));
    assert_eq!((card.state().calls, one.committed_bytes()), (calls, 4 * GRANULE));
}

#[test]
fn pages_are_unmapped_after_their_fence_and_not_before() {
    let card = Card::new();
    let one = cache(&card, rows(4), Marks::NONE);
    one.commit(4).unwrap();
    let work = |row: u64| card.submit_one(row * GRANULE..(row + 1) * GRANULE);
    let (slow, fast) = (work(0), work(1));
    one.uncommit(0..1, Some(slow)).unwrap();
    one.uncommit(1..2, Some(fast)).unwrap();
    card.finish(fast);
    let trimmed = one.trim(u64::MAX).unwrap();
    assert_eq!(trimmed, Trimmed { bytes: GRANULE, deferred_bytes: GRANULE });
    // Without a fence the whole device is waited for; then the slow work is over too.
    work(2);
    one.uncommit(2..3, None).unwrap();
    assert_eq!(one.trim(u64::MAX).unwrap().bytes, 2 * GRANULE);
    assert_eq!((card.oldest(), one.held_bytes()), (None, GRANULE));
    assert_eq!(card.faults(), Vec::<String>::new());
}

#[test]
fn a_row_that_is_used_again_still_waits_for_its_old_fence() {
    let card = Card::new();
    let one = cache(&card, rows(1), Marks::NONE);
    one.commit(1).unwrap();
    let fence = card.submit_one(0..GRANULE);
    one.uncommit(0..1, Some(fence)).unwrap();
    one.commit(1).unwrap();
    let second = card.submit_one(0..GRANULE);
    one.uncommit(0..1, Some(second)).unwrap();
    card.finish(second);
    assert_eq!(one.trim(1).unwrap(), Trimmed { bytes: 0, deferred_bytes: 1 });
    card.finish(fence);
    assert_eq!(one.trim(1).unwrap().bytes, GRANULE);
}

#[test]
fn an_extent_is_given_back_whole_and_large_high_ones_first() {
    let card = Card::new();
    let one = cache(&card, rows(80), Marks::NONE);
    one.commit(73).unwrap();
    one.uncommit(1..73, None).unwrap();
    let stats = one.stats();
    assert_eq!(stats.wasted_bytes, 31 * GRANULE, "the first extent holds a committed row");
    assert_eq!(stats.idle_bytes, 41 * GRANULE);
    assert_eq!(one.trim(1).unwrap().bytes, 32 * GRANULE);
    assert_eq!(card.read(32 * GRANULE), None);
    assert_eq!(one.trim_all().unwrap().bytes, 9 * GRANULE);
    assert_eq!(card.read(0), Some(0));
}

#[test]
fn several_caches_grow_together_or_not_at_all() {
    let credit = LocalCredit::new(10 * GRANULE, "one");
    let caches = ["one", "two"].map(|name| {
        let card = Card::with_room(1 << 40, 1 << 40);
        card.state().paid = 1 << 30;
        Cache::new(card, credit.holder(name), rows(16), Marks::NONE)
    });
    let [one, two] = &caches;
    Cache::commit_all(&[(one, 0..3), (two, 0..4)]).unwrap();
    let refused = Cache::commit_all(&[(one, 3..5), (two, 4..8)]).unwrap_err();
    let ElasticError::AfterFreeing { asked, limit, used, holders } = refused else {
        panic!("{refused}")
    };
    assert_eq!((asked, limit, used), (4 * GRANULE, 10 * GRANULE, 9 * GRANULE));
    let holder = |name: &str| holders.iter().find(|one| one.name == name && one.bytes > 0);
    assert_eq!(holder("one").map(|one| one.bytes), Some(5 * GRANULE));
    assert_eq!((one.committed_bytes(), two.committed_bytes()), (3 * GRANULE, 4 * GRANULE));
    assert_eq!(one.idle_bytes(), 2 * GRANULE, "what was prepared is idle");
    let never = two.commit(16).unwrap_err();
    assert_eq!(never, ElasticError::NeverFits { asked: 12 * GRANULE, limit: 10 * GRANULE });
    credit.set_limit(2 * GRANULE);
    assert!(matches!(two.commit(5), Err(ElasticError::OverBudget { .. })));
}

#[test]
fn what_is_prepared_belongs_to_who_prepared_it() {
    let card = Card::new();
    let one = cache(&card, rows(8), Marks::NONE);
    let prepared = one.prepare(2..4).unwrap();
    assert_eq!(one.stats().prepared_bytes, 2 * GRANULE);
    assert_eq!(one.commit(8), Err(ElasticError::InUse(User::Prepared)));
    assert_eq!(one.uncommit(2..3, None), Err(ElasticError::NotCommitted { block: 2 }));
    assert_eq!(one.trim_all().unwrap().bytes, 0);
    let calls = card.state().calls;
    prepared.commit();
    assert_eq!((card.state().calls, one.committed_bytes()), (calls, 2 * GRANULE));
    drop(one.prepare(4..6).unwrap());
    assert_eq!(one.idle_bytes(), 2 * GRANULE);
}

#[test]
fn own_idle_pages_make_room_before_a_commit_fails() {
    // Once because the payer says no, once because the card is full.
    for (capacity, limit) in [(1 << 40, 4 * GRANULE), (4 * GRANULE, 1 << 40)] {
        let card = Card::with_room(capacity, limit);
        let one = cache(&card, rows(16), Marks::NONE);
        one.commit_range(0..4).unwrap();
        one.uncommit(0..3, None).unwrap();
        one.commit_range(8..10).unwrap();
        assert_eq!(one.committed_bytes(), 3 * GRANULE);
        let error = one.commit_range(10..14).unwrap_err();
        match error {
            ElasticError::AfterFreeing { .. } => assert_eq!(limit, 4 * GRANULE),
            ElasticError::CardFull { asked, held, source } => {
                assert_eq!((asked, capacity), (4 * GRANULE, 4 * GRANULE));
                assert!(held >= 3 * GRANULE && source.is_out_of_memory());
            }
            other => panic!("{other}"),
        }
        assert_eq!(one.committed_bytes(), 3 * GRANULE);
        let state = card.state();
        assert_eq!((state.faults.len(), state.paid), (0, state.used));
    }
}

#[test]
fn any_call_that_fails_leaves_all_as_it_was() {
    for calls in 0..24 {
        let card = Card::new();
        let geometry = Geometry::of_bytes(2 * 64 * GRANULE, 2, GRANULE).unwrap();
        let one = cache(&card, geometry, Marks::NONE);
        one.commit(3).unwrap();
        let before = (one.held_bytes(), card.mapped_bytes());
        card.state().fail_in = Some(calls);
        let answer = one.commit(43);
        if answer.is_ok() {
            assert!(calls >= 12, "{calls}");
            break;
        }
        assert!(matches!(answer, Err(ElasticError::Driver(_))));
        assert_eq!((one.held_bytes(), card.mapped_bytes()), before, "call {calls}");
        one.commit(43).unwrap();
        assert_eq!(card.faults(), Vec::<String>::new());
    }
}

#[test]
fn what_the_driver_does_not_take_back_is_quarantined_and_paid() {
    let card = Card::new();
    let geometry = Geometry::of_bytes(2 * 4 * GRANULE, 2, GRANULE).unwrap();
    let one = cache(&card, geometry, Marks::NONE);
    one.commit(1).unwrap();
    one.uncommit(0..1, None).unwrap();
    // The first segment is unmapped and released, the second is not.
    card.state().fail_in = Some(2);
    let error = one.trim(1).unwrap_err();
    assert!(matches!(&error, ElasticError::Driver(error) if error.cuda().call == "unmap"));
    let stats = one.stats();
    assert_eq!((stats.quarantined_bytes, stats.held_bytes), (GRANULE, GRANULE));
    assert_eq!(card.used_and_paid(), (GRANULE, GRANULE));
    assert_eq!(one.commit(1), Err(error));
    one.commit_range(1..4).unwrap();
    // A run of which nothing could be unmapped is idle as before.
    one.uncommit(1..4, None).unwrap();
    card.state().fail_in = Some(0);
    one.trim_all().unwrap_err();
    assert_eq!(one.idle_bytes(), 6 * GRANULE);
    assert_eq!(one.trim_all().unwrap().bytes, 6 * GRANULE);
}

#[test]
fn dropping_gives_everything_back_after_the_device_has_settled() {
    let card = Card::new();
    let one = cache(&card, rows(64), Marks::NONE);
    let other = one.clone();
    one.commit(50).unwrap();
    card.submit_one(0..GRANULE);
    drop(one);
    assert_eq!(card.state().used, 50 * GRANULE);
    drop(other);
    let state = card.state();
    assert_eq!((state.used, state.paid, state.idle, state.faults.len()), (0, 0, 0, 0));
}

#[test]
fn a_book_takes_little_of_what_it_manages() {
    let geometry = Geometry::new(1 << 20, 16 << 10, 64, GRANULE).unwrap();
    let managed = geometry.bytes();
    let one = Cache::new(Card::new(), Unlimited, geometry, Marks::NONE);
    one.driver().state().paid = 1 << 50;
    one.commit(1 << 18).unwrap();
    let book = one.stats().book_bytes;
    assert!(book * 1000 < managed, "{book} bytes for {managed}");
    assert!(book * 1000 < one.held_bytes(), "{book} bytes for {}", one.held_bytes());
}

#[test]
fn the_driver_decides_what_an_error_means() {
    let error = crate::model::error("unmap", Status::INVALID_VALUE);
    assert!(!error.is_out_of_memory() && !error.is_sticky() && !error.is_stuck());
    assert!(error.stuck().is_stuck());
}
