//! The stream-ordered pool on real memory: one body for the real driver and the software driver, which
//! `MILLPOND_DRIVER` names (`soft` unless set). Contents say whether the order of streams was kept.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

mod common;

use common::{on_device, wait_until};
use millpond_cuda::{Context, Event, FillGraph, MappedRange, Stream, TouchKernel};
use millpond_elastic::{
    Block, Cache, Credit, CudaGround, CudaPages, Geometry, Ground, LocalCredit, Marks, PoolError,
    StreamPool, Unlimited,
};
use std::time::Duration;

const MIB: u64 = 1 << 20;
const GRANULE: u64 = 2 * MIB;

/// Long enough for everything that is queued behind it to be queued.
const LONG: Duration = Duration::from_millis(60);

type OnCard<C> = CudaGround<CudaPages, C>;
type Pool<C> = StreamPool<OnCard<C>>;

fn pool<C: Credit>(context: &Context, credit: C) -> Pool<C> {
    let geometry = Geometry::of_bytes(256 * GRANULE, 1, GRANULE).unwrap();
    let pages = CudaPages::reserve(context, &geometry).unwrap();
    let cache = Cache::new(pages, credit, geometry, Marks::NONE);
    Pool::new(CudaGround::new(cache, context.clone()).unwrap())
}

fn limited(context: &Context, granules: u64) -> (Pool<LocalCredit>, LocalCredit) {
    let credit = LocalCredit::new(granules * GRANULE, "pool");
    (pool(context, credit.clone()), credit)
}

fn range<C: Credit>(pool: &Pool<C>) -> &MappedRange {
    pool.ground().cache().driver().range()
}

/// Queues a fill of a whole block.
fn fill<C: Credit>(pool: &Pool<C>, block: &Block<OnCard<C>>, stream: &Stream, value: u8) {
    stream.memset_range(range(pool), block.offset(), block.bytes(), value).unwrap();
}

/// A block whose own stream fills it.
fn filled<C: Credit>(pool: &Pool<C>, bytes: u64, stream: &Stream, value: u8) -> Block<OnCard<C>> {
    let block = pool.alloc(bytes, stream).unwrap();
    fill(pool, &block, stream, value);
    block
}

/// Queues work that reads the first bytes of a block for a while, and writes their sum to a place.
fn read_slowly<C: Credit>(
    pool: &Pool<C>,
    kernel: &TouchKernel,
    stream: &Stream,
    block: &Block<OnCard<C>>,
    sum_at: u64,
) {
    let part = block.offset()..block.offset() + 4096;
    kernel.touch_range(stream, range(pool), part, sum_at, LONG).unwrap();
}

/// The sum of the words of 4096 bytes of a value.
fn sum_of(value: u8) -> u64 {
    u64::from_le_bytes([value; 8]).wrapping_mul(512)
}

fn word<C: Credit>(pool: &Pool<C>, offset: u64) -> u64 {
    let mut found = [0; 8];
    range(pool).copy_to_host(offset, &mut found).unwrap();
    u64::from_le_bytes(found)
}

#[track_caller]
fn assert_holds<C: Credit>(pool: &Pool<C>, place: (u64, u64), value: u8) {
    let mut found = vec![0; usize::try_from(place.1).unwrap()];
    range(pool).copy_to_host(place.0, &mut found).unwrap();
    assert!(found.iter().all(|byte| *byte == value), "{value} at {place:?}");
}

fn place<G: Ground>(block: &Block<G>) -> (u64, u64) {
    (block.offset(), block.bytes())
}

/// All memory is back with the payer.
#[track_caller]
fn assert_all_returned<C: Credit>(pool: &Pool<C>) {
    pool.trim(u64::MAX, true).unwrap();
    let stats = pool.stats();
    assert_eq!((stats.held_bytes, stats.blocks), (0, 0), "{stats}");
    assert_eq!(pool.ground().cache().held_bytes(), 0);
    assert_eq!(range(pool).mapped_bytes(), 0);
}

fn order(first: &Stream, then: &Stream) {
    let event = Event::new(first.context()).unwrap();
    event.record(first).unwrap();
    then.wait_event(&event).unwrap();
}

#[test]
fn memory_that_a_stream_uses_again_is_written_after_its_work() {
    on_device("memory_that_a_stream_uses_again_is_written_after_its_work", |context| {
        let (pool, stream) = (pool(context, Unlimited), Stream::new(context).unwrap());
        let kernel = TouchKernel::load(context).unwrap();
        let sums = pool.alloc(512, &stream).unwrap();
        let mut last = None;
        for value in 1..6 {
            let block = filled(&pool, 5 * MIB, &stream, value);
            assert!(last.is_none_or(|last| last == block.address()));
            last = Some(block.address());
            read_slowly(&pool, &kernel, &stream, &block, sums.offset() + 8 * u64::from(value));
        }
        let last = filled(&pool, 5 * MIB, &stream, 9);
        stream.synchronize().unwrap();
        for value in 1..6 {
            assert_eq!(word(&pool, sums.offset() + 8 * u64::from(value)), sum_of(value));
        }
        assert_holds(&pool, place(&last), 9);
        assert_eq!(pool.stats().growths, 2);
        drop((last, sums));
        assert_all_returned(&pool);
    });
}

#[test]
fn memory_of_another_stream_is_written_after_that_streams_work() {
    on_device("memory_of_another_stream_is_written_after_that_streams_work", |context| {
        let (pool, credit) = limited(context, 5);
        let kernel = TouchKernel::load(context).unwrap();
        let streams: Vec<_> = (0..4).map(|_| Stream::new(context).unwrap()).collect();
        let sums = pool.alloc(512, &streams[0]).unwrap();
        let known =
            streams.iter().map(|stream| pool.alloc(512, stream).unwrap()).collect::<Vec<_>>();
        for (stream, value) in streams.iter().zip(1..) {
            // The whole limit goes from stream to stream, and the host waits for none of them.
            let block = filled(&pool, 8 * MIB, stream, value);
            read_slowly(&pool, &kernel, stream, &block, sums.offset() + 8 * u64::from(value));
        }
        context.synchronize().unwrap();
        for value in 1..5 {
            assert_eq!(word(&pool, sums.offset() + 8 * u64::from(value)), sum_of(value));
        }
        assert_eq!(pool.stats().growths, 2, "one page for small blocks, and the rest");
        drop((sums, known));
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn a_block_is_not_written_while_another_stream_reads_it() {
    on_device("a_block_is_not_written_while_another_stream_reads_it", |context| {
        let (pool, credit) = limited(context, 5);
        let kernel = TouchKernel::load(context).unwrap();
        let [own, reader] = [(); 2].map(|()| Stream::new(context).unwrap());
        let sums = pool.alloc(512, &own).unwrap();
        for value in 1..5 {
            let block = filled(&pool, 8 * MIB, &own, value);
            order(&own, &reader);
            block.record_stream(&reader);
            read_slowly(&pool, &kernel, &reader, &block, sums.offset() + 8 * u64::from(value));
        }
        let last = filled(&pool, 8 * MIB, &own, 77);
        context.synchronize().unwrap();
        for value in 1..5 {
            assert_eq!(word(&pool, sums.offset() + 8 * u64::from(value)), sum_of(value));
        }
        assert_holds(&pool, place(&last), 77);
        drop((last, sums));
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn pages_are_not_given_back_under_running_work() {
    on_device("pages_are_not_given_back_under_running_work", |context| {
        let pool = pool(context, Unlimited);
        let kernel = TouchKernel::load(context).unwrap();
        let [one, two] = [(); 2].map(|()| Stream::new(context).unwrap());
        let sums = pool.alloc(512, &two).unwrap();
        for value in 1..4 {
            let block = filled(&pool, 6 * MIB, &one, value);
            read_slowly(&pool, &kernel, &one, &block, sums.offset());
            drop(block);
            // Whatever is given back meanwhile, a fault would lose the context.
            pool.trim(u64::MAX, false).unwrap();
            one.synchronize().unwrap();
            assert_eq!(word(&pool, sums.offset()), sum_of(value));
            wait_until("the pages are given back after the work", || {
                pool.trim(u64::MAX, false).unwrap();
                pool.stats().held_bytes == GRANULE
            });
        }
        drop(sums);
        assert_all_returned(&pool);
    });
}

#[test]
fn a_request_that_found_no_memory_is_met_after_something_is_freed() {
    on_device("a_request_that_found_no_memory_is_met_after_something_is_freed", |context| {
        let (pool, credit) = limited(context, 8);
        let [one, two] = [(); 2].map(|()| Stream::new(context).unwrap());
        let small = filled(&pool, 1000, &two, 5);
        let blocks: Vec<_> = (1..4).map(|value| filled(&pool, 4 * MIB, &one, value)).collect();
        let error = pool.alloc(8 * MIB, &two).unwrap_err();
        let PoolError::OutOfMemory { asked, stats, .. } = &error else { panic!("{error}") };
        assert_eq!((*asked, stats.held_bytes), (8 * MIB, 14 * MIB));
        // Two blocks that are not side by side: their pages go back and come again in one piece.
        let [first, second, third] = <[_; 3]>::try_from(blocks).unwrap();
        drop((first, third));
        let large = filled(&pool, 8 * MIB, &two, 8);
        context.synchronize().unwrap();
        assert_holds(&pool, place(&large), 8);
        assert_holds(&pool, place(&second), 2);
        assert_holds(&pool, place(&small), 5);
        assert!(credit.used() <= 8 * GRANULE);
        drop((large, second, small));
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn a_graph_runs_on_its_own_memory_after_its_blocks_were_freed() {
    on_device("a_graph_runs_on_its_own_memory_after_its_blocks_were_freed", |context| {
        let (pool, credit) = limited(context, 24);
        let [captured, other] = [(); 2].map(|()| Stream::new(context).unwrap());
        let before = filled(&pool, 3 * MIB, &captured, 1);
        FillGraph::begin(&captured).unwrap();
        let memory = pool.graph_memory(&captured).unwrap().unwrap();
        let kept = filled(&pool, 4 * MIB, &captured, 7);
        let freed = filled(&pool, 6 * MIB, &captured, 9);
        // Others go on while the capture is open.
        let beside = filled(&pool, 4 * MIB, &other, 2);
        let places = [(place(&kept), 7), (place(&freed), 9), (place(&before), 11)];
        fill(&pool, &before, &captured, 11);
        drop((freed, before));
        let mut graph = FillGraph::end(&captured).unwrap();
        drop(kept);
        pool.trim(u64::MAX, true).unwrap();
        for round in 0..2 {
            let blocks: Vec<_> =
                [&captured, &other].map(|stream| filled(&pool, 5 * MIB, stream, 20 + round)).into();
            graph.launch(&other).unwrap();
            let more = filled(&pool, 3 * MIB, &captured, 30 + round);
            context.synchronize().unwrap();
            for block in &blocks {
                assert_holds(&pool, place(block), 20 + round);
            }
            assert_holds(&pool, place(&more), 30 + round);
            for (place, value) in places {
                assert_holds(&pool, place, value);
            }
        }
        assert_holds(&pool, place(&beside), 2);
        graph.launch(&captured).unwrap();
        drop((graph, memory, beside));
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn streams_come_and_go_and_their_memory_goes_to_others() {
    on_device("streams_come_and_go_and_their_memory_goes_to_others", |context| {
        let (pool, credit) = limited(context, 7);
        let kernel = TouchKernel::load(context).unwrap();
        let keeper = Stream::new(context).unwrap();
        let sums = pool.alloc(2048, &keeper).unwrap();
        for value in 1..40 {
            let stream = Stream::new(context).unwrap();
            let block = filled(&pool, 6 * MIB, &stream, value);
            let (part, at) =
                (block.offset()..block.offset() + 4096, sums.offset() + 8 * u64::from(value));
            kernel.touch_range(&stream, range(&pool), part, at, Duration::ZERO).unwrap();
        }
        context.synchronize().unwrap();
        for value in 1..40 {
            assert_eq!(word(&pool, sums.offset() + 8 * u64::from(value)), sum_of(value));
        }
        drop(sums);
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn threads_share_a_pool_and_never_see_each_others_bytes() {
    on_device("threads_share_a_pool_and_never_see_each_others_bytes", |context| {
        let (pool, credit) = limited(context, 16);
        std::thread::scope(|scope| {
            for thread in 0..3_u8 {
                let pool = &pool;
                scope.spawn(move || {
                    let stream = Stream::new(context).unwrap();
                    for round in 0..30_u8 {
                        let value = thread * 60 + round;
                        let bytes = [700, 300 << 10, 3 * MIB, 5 * MIB][usize::from(round % 4)];
                        let block = filled(pool, bytes, &stream, value);
                        let short = filled(pool, MIB, &stream, value);
                        drop(short);
                        if round % 7 == 0 {
                            pool.trim(4 * MIB, round % 2 == 0).unwrap();
                        }
                        stream.synchronize().unwrap();
                        assert_holds(pool, place(&block), value);
                    }
                });
            }
        });
        assert_all_returned(&pool);
        assert_eq!(credit.used(), 0);
    });
}
