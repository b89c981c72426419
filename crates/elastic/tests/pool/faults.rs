//! Faults that stream-ordered pools have had: reuse too early, reuse never, and streams that are taken
//! for each other.

use crate::model::{Card, GRANULE};
use crate::support::{
    KIB, MIB, Pool, assert_all_returned, busy, pool, pool_of_others, work, work_on,
};
use millpond_elastic::PoolError;

#[test]
fn a_stream_has_what_it_freed_at_once_and_without_a_call() {
    let (card, pool) = pool(40);
    let stream = card.stream();
    let first = busy(&card, &pool, 3 * MIB, &stream).unwrap();
    let place = first.offset();
    drop(first);
    let calls = card.state().calls;
    for _ in 0..10 {
        let again = busy(&card, &pool, 3 * MIB, &stream).unwrap();
        assert_eq!(again.offset(), place);
    }
    assert_eq!(card.state().calls, calls);
    assert!(!card.is_idle(&stream), "no work was waited for");
    card.run(&stream);
    assert_all_returned(&card, &pool);
}

#[test]
fn a_program_with_one_stream_records_no_mark_for_small_blocks() {
    let (card, pool) = pool(40);
    let stream = card.stream();
    (0..100).for_each(|_| drop(busy(&card, &pool, 512 * KIB, &stream).unwrap()));
    assert_eq!(card.state().records, 0);
}

/// An event for each free costs more than the free itself.
#[test]
fn many_frees_need_one_mark() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let _second = pool.alloc(512, &two).unwrap();
    (0..64).for_each(|_| drop(busy(&card, &pool, 4 * KIB, &one).unwrap()));
    assert_eq!(card.state().records, 2);
}

#[test]
fn another_stream_gets_memory_with_a_wait_for_the_end_of_its_use() {
    let (card, pool) = pool(3);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = block.offset();
    drop(block);
    let taken = busy(&card, &pool, 4 * MIB, &two).unwrap();
    assert_eq!((taken.offset(), pool.stats().taken_over), (place, 1));
    assert!(!card.step(two.id), "the stream waits for the other");
    assert!(card.step(one.id) && card.step(two.id) && card.step(two.id));
    drop((taken, small));
    assert_all_returned(&card, &pool);
}

#[test]
fn another_stream_gets_memory_without_a_wait_when_its_use_is_over() {
    let (card, pool) = pool(3);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = block.offset();
    drop(block);
    card.run(&one);
    let taken = pool.alloc(4 * MIB, &two).unwrap();
    assert_eq!((taken.offset(), pool.stats().taken_over), (place, 0));
    assert!(card.is_idle(&two));
    drop((taken, small));
    assert_all_returned(&card, &pool);
}

/// What was freed behind one stream only has been handed out under the work of another.
#[test]
fn a_block_waits_for_every_stream_that_used_it() {
    let (card, pool) = pool(40);
    let streams: Vec<_> = (0..3).map(|_| card.stream()).collect();
    let block = busy(&card, &pool, 4 * MIB, &streams[0]).unwrap();
    for other in &streams[1..] {
        block.record_stream(other);
        block.record_stream(other);
        work_on(&card, &block, other);
    }
    let place = block.offset();
    drop(block);
    assert_eq!(pool.stats().waiting_bytes, 4 * MIB);
    let mut held = Vec::new();
    for done in &streams {
        let other = busy(&card, &pool, 4 * MIB, &streams[0]).unwrap();
        assert_ne!(other.offset(), place, "the block is still used");
        held.push(other);
        card.run(done);
    }
    pool.trim(0, false).unwrap();
    assert_eq!(pool.stats().waiting_bytes, 0);
    let again = busy(&card, &pool, 4 * MIB, &streams[0]).unwrap();
    assert_eq!(again.offset(), place, "it is not lost");
    drop((again, held));
    assert_all_returned(&card, &pool);
}

/// Mappings are changed by the host: that a stream waits for another says nothing about them.
#[test]
fn memory_goes_back_when_the_host_has_seen_its_end_and_not_after_a_wait_of_a_stream() {
    let (card, pool) = pool(3);
    let (one, two) = (card.stream(), card.stream());
    let small = pool.alloc(512, &two).unwrap();
    drop(busy(&card, &pool, 4 * MIB, &one).unwrap());
    drop(busy(&card, &pool, 4 * MIB, &two).unwrap());
    assert_eq!(pool.stats().taken_over, 1);
    assert_eq!(pool.trim(u64::MAX, false).unwrap(), 0);
    card.run(&one);
    assert_eq!(pool.trim(u64::MAX, false).unwrap(), 0, "the second stream still works there");
    card.run(&two);
    pool.trim(u64::MAX, false).unwrap();
    assert_eq!(card.committed_bytes(), GRANULE);
    drop(small);
    assert_all_returned(&card, &pool);
}

fn after_the_death_of_a_stream(card: &Card) -> Vec<String> {
    let pool = Pool::new(card.clone());
    let (one, other) = (card.stream(), card.stream());
    let small = pool.alloc(512, &other).unwrap();
    let block = busy(card, &pool, 4 * MIB, &one).unwrap();
    let handle = one.handle;
    drop((block, one));
    let new = card.stream();
    assert_eq!(new.handle, handle);
    let block = busy(card, &pool, 4 * MIB, &new).unwrap();
    card.run(&new);
    drop((block, small));
    pool.trim(u64::MAX, true).unwrap();
    assert_eq!(card.committed_bytes(), 0);
    card.faults()
}

/// Streams were known by their handles, and handles are given again.
#[test]
fn a_stream_that_died_is_not_taken_for_the_one_that_has_its_handle() {
    for limit in [40, 3] {
        let (card, _) = pool_of_others(limit);
        assert_eq!(after_the_death_of_a_stream(&card), Vec::<String>::new());
    }
}

#[test]
fn streams_that_are_known_by_their_handles_are_noticed() {
    let (mut card, _) = pool_of_others(40);
    card.confuses_streams = true;
    assert!(!after_the_death_of_a_stream(&card).is_empty());
}

#[test]
fn many_streams_come_and_go_and_all_memory_comes_back() {
    let (card, pool) = pool(12);
    for round in 0..200 {
        let stream = card.stream();
        let blocks: Vec<_> =
            [512, 3 * MIB, 5 * MIB].map(|bytes| busy(&card, &pool, bytes, &stream)).into();
        assert!(blocks.iter().all(Result::is_ok), "{blocks:?}");
        drop(blocks);
        if round % 5 == 4 {
            card.run(&stream);
        }
    }
    assert!(pool.stats().streams < 50, "{:?}", pool.stats());
    assert_all_returned(&card, &pool);
}

#[test]
fn a_block_that_is_freed_on_another_stream_is_that_streams() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let place = block.offset();
    card.order(&one, &two);
    block.free_on(&two);
    card.run(&one);
    pool.trim(0, false).unwrap();
    let block = busy(&card, &pool, 4 * MIB, &two).unwrap();
    assert_eq!(block.offset(), place);
    drop(block);
    assert_all_returned(&card, &pool);
}

/// Whoever knows blocks by their addresses takes one for another.
#[test]
fn no_two_blocks_have_one_serial_although_addresses_repeat() {
    let (card, pool) = pool(40);
    let stream = card.stream();
    let blocks = (0..50).map(|_| pool.alloc(MIB, &stream).unwrap());
    let mut seen: Vec<_> = blocks.map(|block| (block.serial(), block.address())).collect();
    assert!(seen.iter().all(|(_, address)| *address == seen[0].1));
    seen.dedup_by_key(|(serial, _)| *serial);
    assert_eq!(seen.len(), 50);
}

/// A stage of work with failures in it; what it leaves is the caller's.
fn life(card: &Card, pool: &Pool) -> Result<(), PoolError> {
    let streams: Vec<_> = (0..3).map(|_| card.stream()).collect();
    let shared = busy(card, pool, 4 * MIB, &streams[0])?;
    card.order(&streams[0], &streams[1]);
    shared.record_stream(&streams[1]);
    work_on(card, &shared, &streams[1]);
    let held = busy(card, pool, 300 * KIB, &streams[1])?;
    drop(shared);
    drop(busy(card, pool, 6 * MIB, &streams[1])?);
    let over = busy(card, pool, 6 * MIB, &streams[2])?;
    card.begin_capture(&streams[0]);
    let memory = pool.graph_memory(&streams[0])?;
    let captured = busy(card, pool, 2 * MIB, &streams[0]).map(drop);
    card.end_capture(&streams[0]);
    captured?;
    drop((memory, over));
    let large = busy(card, pool, 14 * MIB, &streams[2]);
    work(card, &held);
    drop(large?);
    pool.trim(u64::MAX, false)?;
    pool.trim(u64::MAX, true)?;
    Ok(())
}

#[test]
fn whichever_call_fails_everything_can_be_returned() {
    for fails in 0.. {
        let (card, pool) = pool(9);
        card.state().fail_in = Some(fails);
        let answer = life(&card, &pool);
        let has_failed = card.state().fail_in.take().is_none();
        // The graphs of the modelled card are given up with their memory.
        card.state().forget_graphs();
        assert_all_returned(&card, &pool);
        if !has_failed {
            assert!(fails > 20, "a life of {fails} calls shows little");
            assert_eq!(answer, Ok(()));
            return;
        }
    }
}

#[test]
fn after_the_end_of_the_driver_nothing_is_called_and_nothing_panics() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    card.begin_capture(&two);
    let memory = pool.graph_memory(&two).unwrap();
    let captured = pool.alloc(3 * MIB, &two).unwrap();
    card.end_capture(&two);
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    block.record_stream(&two);
    let other = busy(&card, &pool, 4 * MIB, &two).unwrap();
    card.state().is_gone = true;
    let calls = card.state().calls;
    drop((block, captured, memory));
    other.free_on(&one);
    assert_eq!(card.state().calls, calls);
    assert!(matches!(pool.alloc(512, &one), Err(PoolError::Driver(error)) if error.is_gone()));
    assert!(pool.graph_memory(&one).is_err());
    drop(pool);
    assert_eq!(card.state().calls, calls);
}

#[test]
fn a_block_whose_own_stream_was_done_first_is_everybodys_after_the_others() {
    let (card, pool) = pool(40);
    let (one, two) = (card.stream(), card.stream());
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    block.record_stream(&two);
    work_on(&card, &block, &two);
    drop(block);
    // A later free covers the first one.
    drop(busy(&card, &pool, 4 * MIB, &one).unwrap());
    card.run(&one);
    assert_eq!(pool.trim(0, false).unwrap(), 0);
    card.run(&two);
    pool.trim(u64::MAX, false).unwrap();
    assert_eq!(pool.stats().held_bytes, 0);
    assert_eq!(card.faults(), Vec::<String>::new());
}

#[test]
fn a_stream_that_is_named_often_is_kept_once() {
    let (card, pool) = pool(12);
    let (one, two) = (card.stream(), card.stream());
    let block = busy(&card, &pool, 4 * MIB, &one).unwrap();
    (0..1000).for_each(|_| block.record_stream(&two));
    // The card's own, the test's, and the block's.
    assert!(std::sync::Arc::strong_count(&two) < 8);
    drop(block);
    assert_all_returned(&card, &pool);
}
