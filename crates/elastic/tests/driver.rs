//! The life of a cache on a real table of functions: one body for the real driver and the software
//! driver, which `MILLPOND_DRIVER` names (`soft` unless set).

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

mod common;

use common::{free, on_device, wait_until};
use millpond_cuda::{Allocation, Context, Event, Granularity, Stream, TouchKernel};
use millpond_elastic::{
    Ahead, Cache, CudaPages, ElasticError, Geometry, LocalCredit, Marks, Unlimited,
};
use std::time::Duration;

fn granule(context: &Context) -> u64 {
    let unit = Allocation::granularity(context.device(), Granularity::Minimum).unwrap();
    unit.max(2 << 20)
}

fn cache(context: &Context, geometry: Geometry, marks: Marks) -> Cache<CudaPages, Unlimited> {
    let pages = CudaPages::reserve(context, &geometry).unwrap();
    Cache::new(pages, Unlimited, geometry, marks)
}

/// Queues work that reads a block for a while, and answers the event behind it.
fn work(
    cache: &Cache<CudaPages, Unlimited>,
    stream: &Stream,
    kernel: &TouchKernel,
    block: u64,
    milliseconds: u64,
) -> Event {
    let start = block * cache.geometry().block_bytes();
    let range = cache.driver().range();
    let long = Duration::from_millis(milliseconds);
    kernel.touch_range(stream, range, start..start + 4096, start + 8192, long).unwrap();
    let event = Event::new(stream.context()).unwrap();
    event.record(stream).unwrap();
    event
}

#[test]
fn contents_stay_while_a_cache_grows_and_shrinks() {
    on_device("contents_stay_while_a_cache_grows_and_shrinks", |context| {
        let granule = granule(context);
        let before = free(context);
        let geometry = Geometry::new(200, granule / 4 * 3, 2, granule).unwrap();
        let one = cache(context, geometry.clone(), Marks::NONE);
        let range = one.driver().range();
        let place = |segment, block| one.address_of(segment, block).unwrap() - one.base();
        one.commit(3).unwrap();
        let text = |segment: u64, block: u64| format!("segment {segment} block {block:03}");
        for block in 0..3 {
            for segment in 0..2 {
                let text = text(segment, block);
                range.copy_from_host(place(segment, block), text.as_bytes()).unwrap();
            }
        }
        let base = one.base();
        one.commit(12).unwrap();
        one.commit_range(100..108).unwrap();
        assert_eq!(one.base(), base);
        assert!(before - free(context) >= one.held_bytes());
        one.uncommit(100..108, None).unwrap();
        one.uncommit(3..12, None).unwrap();
        assert!(one.trim_all().unwrap().bytes > 0);
        for block in 0..3 {
            for segment in 0..2 {
                let expected = text(segment, block);
                let mut found = vec![0; expected.len()];
                range.copy_to_host(place(segment, block), &mut found).unwrap();
                assert_eq!(String::from_utf8(found).unwrap(), expected);
            }
        }
        assert!(
            range.at(place(1, 100), 1).is_err(),
            "nothing is mapped where nothing is committed"
        );
    });
}

#[test]
fn running_work_keeps_its_pages() {
    on_device("running_work_keeps_its_pages", |context| {
        let granule = granule(context);
        let geometry = Geometry::of_bytes(16 * granule, 1, granule).unwrap();
        let one = cache(context, geometry, Marks::NONE);
        let kernel = TouchKernel::load(context).unwrap();
        let stream = Stream::new(context).unwrap();
        one.commit(4).unwrap();
        one.driver().range().memset(0, 4 * granule, 0).unwrap();
        let fence = work(&one, &stream, &kernel, 0, 200);
        one.uncommit(0..1, Some(fence)).unwrap();
        let trimmed = one.trim(u64::MAX).unwrap();
        // The work may be over already on a machine that was held up: then the page is back.
        assert_eq!(trimmed.bytes + trimmed.deferred_bytes, granule);
        wait_until("the page is given back after the work", || {
            one.trim(u64::MAX).unwrap();
            one.held_bytes() == 3 * granule
        });
        // Without a fence the device is waited for.
        let _ = work(&one, &stream, &kernel, 1, 50);
        one.uncommit(1..2, None).unwrap();
        assert_eq!(one.trim(u64::MAX).unwrap().bytes, granule);
        assert!(stream.is_idle().unwrap());
        // So it is when a cache is dropped under work.
        let _ = work(&one, &stream, &kernel, 2, 50);
    });
}

#[test]
fn blocks_are_used_by_kernels_and_given_back_with_events() {
    on_device("blocks_are_used_by_kernels_and_given_back_with_events", |context| {
        let granule = granule(context);
        let geometry = Geometry::new(64, granule / 4, 1, granule).unwrap();
        let one = cache(context, geometry, Marks { low: 1, high: 2, residency: Duration::ZERO });
        let ahead = Ahead::start(&one).unwrap();
        let kernel = TouchKernel::load(context).unwrap();
        let stream = Stream::new(context).unwrap();
        let table = one.blocks().unwrap();
        for round in 0..20_u32 {
            let blocks = table.take(usize::try_from(1 + round % 12).unwrap()).unwrap();
            let mut last = None;
            for block in &blocks {
                last = Some(work(&one, &stream, &kernel, u64::from(*block), 0));
            }
            table.give(&blocks, last).unwrap();
            if round % 3 == 0 {
                one.trim(granule).unwrap();
            }
        }
        drop(ahead);
        stream.synchronize().unwrap();
        one.trim_all().unwrap();
        assert_eq!((one.held_bytes(), one.driver().range().mapped_bytes()), (0, 0));
        drop(table);
    });
}

#[test]
fn a_full_card_is_told_and_leaves_all_as_it_was() {
    on_device("a_full_card_is_told_and_leaves_all_as_it_was", |context| {
        let granule = 64 << 20;
        let total = context.device().total_bytes().next_multiple_of(granule) + granule;
        let geometry = Geometry::of_bytes(total, 1, granule).unwrap();
        let one = cache(context, geometry.clone(), Marks::NONE);
        one.commit(1).unwrap();
        let error = one.commit(geometry.blocks()).unwrap_err();
        assert!(matches!(error, ElasticError::CardFull { .. }), "{error}");
        assert_eq!((one.held_bytes(), one.committed_bytes()), (granule, granule));
        one.commit(2).unwrap();
    });
}

#[test]
fn two_caches_share_a_limit_on_one_card() {
    on_device("two_caches_share_a_limit_on_one_card", |context| {
        let granule = granule(context);
        let credit = LocalCredit::new(6 * granule, "one");
        let make = |credit: LocalCredit| {
            let geometry = Geometry::of_bytes(16 * granule, 1, granule).unwrap();
            let pages = CudaPages::reserve(context, &geometry).unwrap();
            Cache::new(pages, credit, geometry, Marks::NONE)
        };
        let (one, two) = (make(credit.clone()), make(credit.holder("two")));
        one.commit(4).unwrap();
        two.commit(2).unwrap();
        assert!(matches!(two.commit(3), Err(ElasticError::AfterFreeing { .. })));
        one.uncommit(2..4, None).unwrap();
        assert_eq!(one.trim(granule).unwrap().bytes, granule);
        two.commit(3).unwrap();
        drop(one);
        assert_eq!(credit.used(), 3 * granule);
        drop(two);
        assert_eq!(credit.used(), 0);
    });
}

#[test]
fn threads_grow_and_shrink_one_cache() {
    on_device("threads_grow_and_shrink_one_cache", |context| {
        let granule = granule(context);
        let geometry = Geometry::new(48, granule / 2, 1, granule).unwrap();
        let one = cache(context, geometry, Marks::NONE);
        std::thread::scope(|scope| {
            for thread in 0..3_u64 {
                let one = &one;
                scope.spawn(move || {
                    for round in 0..30 {
                        let block = (round * 5 + thread) % 16 * 3 + thread;
                        one.commit_range(block..block + 1).unwrap();
                        let place = block * one.geometry().block_bytes();
                        let value = u8::try_from(thread * 40 + round).unwrap();
                        one.driver().range().memset(place, 4096, value).unwrap();
                        one.trim(granule).unwrap();
                        let mut found = [0; 4096];
                        one.driver().range().copy_to_host(place, &mut found).unwrap();
                        assert_eq!(found, [value; 4096]);
                        one.uncommit(block..block + 1, None).unwrap();
                    }
                });
            }
        });
        one.trim_all().unwrap();
        assert_eq!(one.held_bytes(), 0);
    });
}

#[test]
fn a_null_page_is_under_everything_that_is_not_committed() {
    on_device("a_null_page_is_under_everything_that_is_not_committed", |context| {
        let granule = granule(context);
        let geometry = Geometry::of_bytes(32 * granule, 2, granule).unwrap();
        let before = free(context);
        let pages = CudaPages::reserve_with_null_page(context, &geometry).unwrap();
        let one = Cache::new(pages, Unlimited, geometry, Marks::NONE);
        let range = one.driver().range();
        assert_eq!(range.mapped_bytes(), 32 * granule);
        assert!(before - free(context) < 8 * granule, "one page for all of them");
        let kernel = TouchKernel::load(context).unwrap();
        let stream = Stream::new(context).unwrap();
        // Warm-up writes to all of it.
        range.memset(0, 32 * granule, 7).unwrap();
        work(&one, &stream, &kernel, 15, 20);
        one.commit(4).unwrap();
        assert!(stream.is_idle().unwrap(), "work may have used the null page");
        let read = |block: u64| {
            let mut found = [0; 8];
            range.copy_to_host(block * granule, &mut found).unwrap();
            found
        };
        range.memset(0, 4 * granule, 1).unwrap();
        range.memset(4 * granule, granule, 2).unwrap();
        assert_eq!((read(0), read(3)), ([1; 8], [1; 8]), "what is committed is alone");
        assert_eq!((read(4), read(31)), ([2; 8], [2; 8]), "what is not is one page");
        // After their fence the pages go, and the null page is back.
        let fence = work(&one, &stream, &kernel, 0, 20);
        one.uncommit(0..4, Some(fence)).unwrap();
        wait_until("the pages are given back after the work", || {
            one.trim(u64::MAX).unwrap();
            one.held_bytes() == 0
        });
        assert_eq!((read(0), range.mapped_bytes()), ([2; 8], 32 * granule));
        work(&one, &stream, &kernel, 2, 0);
        stream.synchronize().unwrap();
        one.commit(2).unwrap();
        range.memset(0, granule, 3).unwrap();
        assert_eq!((read(0), read(2)), ([3; 8], [2; 8]));
    });
}

#[test]
fn a_growth_that_fails_leaves_the_null_page_where_it_was() {
    on_device("a_growth_that_fails_leaves_the_null_page_where_it_was", |context| {
        let granule = 64 << 20;
        let total = context.device().total_bytes().next_multiple_of(granule) + granule;
        let geometry = Geometry::of_bytes(total, 1, granule).unwrap();
        let pages = CudaPages::reserve_with_null_page(context, &geometry).unwrap();
        let one = Cache::new(pages, Unlimited, geometry.clone(), Marks::NONE);
        one.commit(1).unwrap();
        assert!(matches!(one.commit(geometry.blocks()), Err(ElasticError::CardFull { .. })));
        assert_eq!(one.driver().range().mapped_bytes(), total);
        one.driver().range().memset(total - granule, 4096, 1).unwrap();
    });
}
