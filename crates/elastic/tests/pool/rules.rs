//! Sizes, places, growth and numbers, as they are seen from outside.

use crate::model::GRANULE;
use crate::support::{KIB, MIB, Pool, assert_all_returned, busy, pool};
use millpond_elastic::{Ground, PoolError};

#[test]
fn blocks_are_a_little_larger_than_asked_for_and_begin_at_multiples_of_512() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    let sizes = [
        (0, 512),
        (1, 512),
        (512, 512),
        (513, KIB),
        (33 * KIB, 33 * KIB),
        (65 * KIB + 1, 66 * KIB),
        (MIB, MIB),
        (MIB + 1, MIB + 32 * KIB),
        (3 * MIB, 3 * MIB),
        (9 * MIB + 1, 9 * MIB + 256 * KIB),
    ];
    let blocks: Vec<_> = sizes.iter().map(|(asked, _)| pool.alloc(*asked, &stream)).collect();
    for (block, (asked, bytes)) in blocks.iter().zip(sizes) {
        let block = block.as_ref().unwrap();
        assert_eq!(block.bytes(), bytes, "{asked} bytes");
        assert_eq!(block.address(), card.base() + block.offset());
        assert!(block.address().is_multiple_of(512));
        assert_eq!(block.stream(), &stream);
    }
    let stats = pool.stats();
    assert_eq!(stats.asked_bytes, sizes.iter().map(|(asked, _)| asked).sum::<u64>());
    assert_eq!(stats.in_use_bytes, sizes.iter().map(|(_, bytes)| bytes).sum::<u64>());
    drop(blocks);
    assert_all_returned(&card, &pool);
}

#[test]
fn small_and_large_blocks_share_no_page() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    let small: Vec<_> = (0..40).map(|_| pool.alloc(100 * KIB, &stream).unwrap()).collect();
    let large: Vec<_> = (0..9).map(|_| pool.alloc(1100 * KIB, &stream).unwrap()).collect();
    let pages = |block: &millpond_elastic::Block<_>| {
        block.offset() / GRANULE..(block.offset() + block.bytes()).div_ceil(GRANULE)
    };
    let of_small: Vec<_> = small.iter().flat_map(pages).collect();
    assert!(large.iter().flat_map(pages).all(|page| !of_small.contains(&page)));
}

/// Blocks side by side, of which every second is freed: gaps of these sizes.
fn gaps(pool: &Pool, stream: &crate::model::Stream, sizes: &[u64]) -> Vec<(u64, u64)> {
    let blocks: Vec<_> = sizes
        .iter()
        .map(|bytes| [pool.alloc(*bytes, stream).unwrap(), pool.alloc(2 * MIB, stream).unwrap()])
        .collect();
    let places = blocks.into_iter().map(|[gap, fence]| {
        std::mem::forget(fence);
        (gap.bytes(), gap.offset())
    });
    places.collect()
}

#[test]
fn the_smallest_gap_that_suffices_is_taken() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    let gaps = gaps(&pool, &stream, &[8 * MIB, 4 * MIB, 6 * MIB]);
    let calls = card.state().calls;
    for (asked, gap) in [(3 * MIB, 1), (5 * MIB, 2), (7 * MIB, 0)] {
        let block = pool.alloc(asked, &stream).unwrap();
        assert_eq!(block.offset(), gaps[gap].1, "{asked} bytes");
    }
    assert_eq!(card.state().calls, calls);
    let stats = pool.stats();
    assert_eq!((stats.free_bytes, stats.largest_gap_bytes), (18 * MIB, 8 * MIB));
    assert!((stats.fragmentation() - 10.0 / 18.0).abs() < 1e-9);
}

#[test]
fn gaps_are_cut_and_joined_again() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    drop(pool.alloc(16 * MIB, &stream).unwrap());
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        let mut blocks: Vec<_> =
            (0..4).map(|_| Some(pool.alloc(4 * MIB, &stream).unwrap())).collect();
        assert_eq!(pool.stats().gaps, 0);
        order.into_iter().for_each(|index| drop(blocks[index].take()));
        let stats = pool.stats();
        assert_eq!((stats.gaps, stats.largest_gap_bytes, stats.growths), (1, 16 * MIB, 1));
        assert!(stats.fragmentation() < 1e-9);
    }
    assert_all_returned(&card, &pool);
}

#[test]
fn growth_behind_a_gap_adds_only_what_the_gap_lacks() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    let first = pool.alloc(3 * MIB, &stream).unwrap();
    assert_eq!(card.committed_bytes(), 4 * MIB);
    let second = busy(&card, &pool, 5 * MIB, &stream).unwrap();
    assert_eq!(second.offset(), first.offset() + 3 * MIB);
    assert_eq!(card.committed_bytes(), 8 * MIB);
    assert_eq!(pool.stats().free_bytes, 0);
    // A gap of another stream that is still at work is not continued.
    drop(second);
    let third = pool.alloc(7 * MIB, &card.stream()).unwrap();
    assert_eq!(third.offset(), first.offset() + 8 * MIB);
    drop((first, third));
    assert_all_returned(&card, &pool);
}

#[test]
fn growth_is_an_eighth_of_what_is_held_and_only_the_need_at_the_limit() {
    let (card, pool) = pool(42);
    let stream = card.stream();
    let first = pool.alloc(64 * MIB, &stream).unwrap();
    let second = pool.alloc(2 * MIB, &stream).unwrap();
    assert_eq!(card.committed_bytes(), 72 * MIB);
    let third = pool.alloc(8 * MIB, &stream).unwrap();
    assert_eq!(card.committed_bytes(), 80 * MIB, "what the gap lacks are 2 MiB, an eighth are 9");
    let fourth = pool.alloc(10 * MIB, &stream).unwrap();
    assert_eq!(card.committed_bytes(), 84 * MIB);
    drop((first, second, third, fourth));
    assert_all_returned(&card, &pool);
}

#[test]
fn counts_and_peaks_follow_what_happens() {
    let (card, pool) = pool(100);
    let (one, two) = (card.stream(), card.stream());
    let first = busy(&card, &pool, 4 * MIB, &one).unwrap();
    let second = busy(&card, &pool, 2 * MIB, &two).unwrap();
    drop(first);
    let again = pool.alloc(3 * MIB, &one).unwrap();
    let stats = pool.stats();
    assert_eq!((stats.in_use_bytes, stats.free_bytes, stats.held_bytes), (5 * MIB, MIB, 6 * MIB));
    assert_eq!((stats.peak_in_use_bytes, stats.peak_held_bytes), (6 * MIB, 6 * MIB));
    assert_eq!((stats.blocks, stats.gaps, stats.streams), (2, 1, 2));
    assert_eq!((stats.allocations, stats.reused, stats.growths), (3, 1, 2));
    assert_eq!(
        stats.to_string(),
        "5 MiB in use in 2 blocks, 1 MiB free in 1 gap (largest 1 MiB), 6 MiB held, peak 6 MiB"
    );
    drop((second, again));
    pool.trim(u64::MAX, true).unwrap();
    pool.reset_peaks();
    let stats = pool.stats();
    assert_eq!((stats.peak_in_use_bytes, stats.peak_held_bytes), (0, 0));
    assert_eq!(stats.shed_bytes % GRANULE, 0);
    let fields = stats.fields();
    assert!(fields.contains(&("allocations", 3)) && fields.contains(&("held_bytes", 0)));
    assert!(format!("{pool:?}").contains("allocations: 3"));
}

#[test]
fn trimming_gives_whole_pages_back_and_no_more_than_was_asked_for() {
    let (card, pool) = pool(100);
    let (one, two) = (card.stream(), card.stream());
    let kept = pool.alloc(3 * MIB, &one).unwrap();
    drop(busy(&card, &pool, 9 * MIB, &one).unwrap());
    let held = pool.stats().held_bytes;
    assert_eq!(pool.trim(MIB, false).unwrap(), 0, "the work is not done");
    card.run(&one);
    pool.trim(MIB, false).unwrap();
    assert_eq!(pool.stats().held_bytes, held - GRANULE);
    pool.trim(3 * MIB, false).unwrap();
    assert_eq!(pool.stats().held_bytes, held - 3 * GRANULE);
    drop(busy(&card, &pool, MIB, &two).unwrap());
    pool.trim(u64::MAX, true).unwrap();
    assert!(card.is_idle(&two), "the device was waited for");
    assert_eq!(card.committed_bytes(), 4 * MIB, "a block keeps its pages");
    assert_eq!(pool.stats().free_bytes, MIB);
    drop(kept);
    assert_all_returned(&card, &pool);
}

#[test]
fn a_block_that_no_pool_could_have_is_refused_by_name() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    for asked in [701 * MIB, 1 << 50, u64::MAX] {
        let error = pool.alloc(asked, &stream).unwrap_err();
        assert_eq!(error, PoolError::TooLarge { asked, limit: 700 * MIB });
    }
    let error = PoolError::TooLarge { asked: 701 * MIB, limit: 700 * MIB };
    assert_eq!(
        error.to_string(),
        "a block of 701 MiB is larger than the addresses of the pool, 700 MiB"
    );
    assert_eq!(
        PoolError::OtherProcess { made_in: 7 }.to_string(),
        "the pool belongs to process 7, from which this one was forked"
    );
    assert_eq!(card.state().calls, 0);
}

#[test]
fn pages_stay_while_a_block_lives_and_the_pool_does_not() {
    let (card, pool) = pool(100);
    let stream = card.stream();
    let clone = pool.clone();
    let block = busy(&card, &pool, 4 * MIB, &stream).unwrap();
    drop(pool);
    assert_eq!(clone.ground().committed_bytes(), 4 * MIB);
    assert_eq!(clone.stats().blocks, 1);
    drop(clone);
    card.run(&stream);
    assert!(format!("{block:?}").contains("bytes: 4194304"));
    drop(block);
    assert_eq!(card.faults(), Vec::<String>::new());
}
