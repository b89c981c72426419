//! Threads that wait in calls of the driver, and threads that wait for them.

use crate::model::{Card, GRANULE};
use crate::support::{MIB, Pool, assert_all_returned, busy, pool, pool_of_others, work, work_on};

/// While a thread is held up in a call of the driver, others allocate and free what lies ready.
#[track_caller]
fn others_go_on(card: &Card, pool: &Pool, call: &'static str, held_up: impl FnOnce() + Send) {
    let stream = card.stream();
    drop(pool.alloc(512, &stream).unwrap());
    std::thread::scope(|scope| {
        let gate = card.gate.close(call);
        scope.spawn(held_up);
        gate.await_thread();
        let calls = card.state().calls;
        for _ in 0..3 {
            let block = busy(card, pool, 512, &stream).unwrap();
            assert!(pool.stats().blocks > 0);
            drop(block);
        }
        assert_eq!(card.state().calls, calls);
        drop(gate);
    });
    card.run(&stream);
}

#[test]
fn a_thread_that_grows_the_pool_keeps_nobody_from_what_lies_ready() {
    let (card, pool) = pool(8);
    let stream = card.stream();
    others_go_on(&card, &pool, "commit", || drop(pool.alloc(4 * MIB, &stream).unwrap()));
    assert_all_returned(&card, &pool);
}

#[test]
fn a_thread_that_waits_for_work_keeps_nobody_from_what_lies_ready() {
    let (card, pool) = pool(4);
    let (one, two) = (card.stream(), card.stream());
    drop(pool.alloc(512, &two).unwrap());
    drop(busy(&card, &pool, 4 * MIB, &one).unwrap());
    others_go_on(&card, &pool, "finish", || assert!(pool.alloc(8 * MIB, &two).is_err()));
    assert_all_returned(&card, &pool);
}

#[test]
fn a_thread_that_gives_memory_back_keeps_nobody_from_what_lies_ready() {
    let (card, pool) = pool(8);
    let stream = card.stream();
    // The page of the others is in use meanwhile.
    let kept = pool.alloc(512, &card.stream()).unwrap();
    for call in ["settle", "uncommit", "trim"] {
        drop(busy(&card, &pool, 4 * MIB, &stream).unwrap());
        others_go_on(&card, &pool, call, || assert!(pool.trim(4 * MIB, true).is_ok()));
    }
    drop(kept);
    assert_all_returned(&card, &pool);
}

/// Pages that one thread gives back are in no list for a moment. Another that needs them must not fail.
#[test]
fn a_thread_that_finds_nothing_waits_for_pages_that_another_moves() {
    let (card, pool) = pool(4);
    let stream = card.stream();
    let blocks: Vec<_> = (0..4).map(|_| pool.alloc(GRANULE, &stream).unwrap()).collect();
    let mut blocks = blocks.into_iter();
    let (gone, kept) = (blocks.by_ref().take(3).collect::<Vec<_>>(), blocks.next());
    drop(gone);
    std::thread::scope(|scope| {
        let gate = card.gate.close("uncommit");
        let trims = scope.spawn(|| pool.trim(6 * MIB, true).unwrap());
        gate.await_thread();
        let takes = scope.spawn(|| pool.alloc(6 * MIB, &stream).map(drop));
        // Without waiting it would fail from here on.
        while card.state().refusals == 0 && !takes.is_finished() {
            std::thread::yield_now();
        }
        drop(gate);
        assert_eq!(trims.join().unwrap(), 6 * MIB);
        assert_eq!(takes.join().unwrap(), Ok(()));
    });
    drop(kept);
    assert_all_returned(&card, &pool);
}

/// Work of threads that share nothing but the pool and the card.
#[test]
fn threads_with_streams_of_their_own_never_meet() {
    let (card, pool) = pool(30);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (card, pool) = (&card, &pool);
            scope.spawn(move || {
                let (own, other) = (card.stream(), card.stream());
                let mut blocks = Vec::new();
                for round in 0..150_u64 {
                    let bytes = (round * 7919 + thread * 104_729) % (4 * MIB) + 1;
                    if let Ok(block) = pool.alloc(bytes, &own) {
                        work(card, &block);
                        if round % 5 == 0 {
                            card.order(&own, &other);
                            block.record_stream(&other);
                            work_on(card, &block, &other);
                        }
                        blocks.push(block);
                    }
                    if blocks.len() > 4 {
                        blocks.swap_remove(usize::try_from(round % 4).unwrap());
                    }
                    (0..round % 4).for_each(|_| _ = card.step(own.id) || card.step(other.id));
                    if round % 50 == 49 {
                        pool.trim(8 * MIB, round % 100 == 99).unwrap();
                    }
                }
            });
        }
    });
    assert_all_returned(&card, &pool);
}

/// A thread has recorded a mark and is slow to note it. The stream's lane is given up and made again
/// meanwhile: the mark says nothing about what was freed there since.
#[test]
fn a_mark_of_a_lane_that_was_given_up_covers_nothing_of_the_next() {
    let (card, pool) = pool_of_others(40);
    let (one, two, three) = (card.stream(), card.stream(), card.stream());
    drop(pool.alloc(4 * MIB, &one).unwrap());
    let first = pool.alloc(4 * MIB, &one).unwrap();
    let second = pool.alloc(512, &two).unwrap();
    let third = std::thread::scope(|scope| {
        let gate = card.gate.close("recorded");
        scope.spawn(move || drop(first));
        gate.await_thread();
        pool.trim(u64::MAX, true).unwrap();
        let third = pool.alloc(3 * MIB, &three).unwrap();
        drop(busy(&card, &pool, MIB / 2, &one).unwrap());
        drop(gate);
        third
    });
    let committed = card.committed_bytes() / GRANULE;
    card.state().limit = committed;
    // No mark is behind the last free, so that nobody else can have its memory.
    let block = busy(&card, &pool, MIB / 2, &card.stream());
    if let Ok(block) = &block {
        card.run(block.stream());
    }
    drop((block, second, third));
    assert_all_returned(&card, &pool);
}
