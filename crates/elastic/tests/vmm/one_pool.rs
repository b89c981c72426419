//! One pool: allocate, deallocate, statistics.

use crate::{MIB, PAGE, on_cards, pool};

/// What a pool holds, and the count of its allocated pages.
#[track_caller]
fn assert_holds(pool: &candle_cuda_vmm::VirtualMemoryPool, pages: usize) {
    let stats = pool.stats();
    assert_eq!((stats.physical_usage, stats.mapped_pages), (pages * PAGE, pages));
    assert_eq!(pool.physical_memory_usage(), pages * PAGE);
}

#[test]
fn a_new_pool_has_addresses_and_no_memory() {
    on_cards("one_pool::a_new_pool_has_addresses_and_no_memory", || {
        let pool = pool(64);
        assert_eq!((pool.capacity(), pool.page_size()), (128 * MIB, PAGE));
        assert_eq!(pool.stats().virtual_capacity, 128 * MIB);
        assert_holds(&pool, 0);
    });
}

#[test]
fn an_allocation_is_mapped_and_counted() {
    on_cards("one_pool::an_allocation_is_mapped_and_counted", || {
        let mut pool = pool(64);
        assert_eq!(pool.allocate(0, 2 * PAGE).unwrap(), pool.base_address());
        assert!(pool.is_mapped(0, 2 * PAGE) && !pool.is_mapped(0, 3 * PAGE));
        assert_holds(&pool, 2);
    });
}

#[test]
fn what_is_deallocated_is_free_again() {
    on_cards("one_pool::what_is_deallocated_is_free_again", || {
        let mut pool = pool(64);
        assert!(pool.allocate(0, 2 * PAGE).unwrap() > 0);
        pool.deallocate(0, 2 * PAGE).unwrap();
        assert!(!pool.is_mapped(0, 1));
        assert_holds(&pool, 0);
    });
}

#[test]
fn the_middle_of_three_parts_goes_alone() {
    on_cards("one_pool::the_middle_of_three_parts_goes_alone", || {
        let mut pool = pool(64);
        for part in 0..3 {
            pool.allocate(2 * part * PAGE, 2 * PAGE).unwrap();
        }
        assert_holds(&pool, 6);
        pool.deallocate(2 * PAGE, 2 * PAGE).unwrap();
        assert_holds(&pool, 4);
        assert!(pool.is_mapped(0, 2 * PAGE) && pool.is_mapped(4 * PAGE, 2 * PAGE));
    });
}

#[test]
fn half_of_an_allocation_goes_alone() {
    on_cards("one_pool::half_of_an_allocation_goes_alone", || {
        let mut pool = pool(64);
        pool.allocate(0, 4 * PAGE).unwrap();
        pool.deallocate(0, 2 * PAGE).unwrap();
        assert_holds(&pool, 2);
        assert!(!pool.is_mapped(0, PAGE) && pool.is_mapped(2 * PAGE, 2 * PAGE));
    });
}

#[test]
fn statistics_follow_each_step() {
    on_cards("one_pool::statistics_follow_each_step", || {
        let mut pool = pool(128);
        assert_holds(&pool, 0);
        pool.allocate(0, 4 * PAGE).unwrap();
        assert_holds(&pool, 4);
        pool.allocate(8 * PAGE, 2 * PAGE).unwrap();
        assert_holds(&pool, 6);
        pool.deallocate(0, 4 * PAGE).unwrap();
        assert_holds(&pool, 2);
    });
}

#[test]
fn statistics_begin_at_zero_and_count_pages() {
    on_cards("one_pool::statistics_begin_at_zero_and_count_pages", || {
        let mut pool = pool(64);
        assert_holds(&pool, 0);
        pool.allocate(5 * PAGE, 2 * PAGE).unwrap();
        assert_holds(&pool, 2);
    });
}

#[test]
fn the_ratio_is_the_part_of_the_pool_without_pages() {
    on_cards("one_pool::the_ratio_is_the_part_of_the_pool_without_pages", || {
        let mut pool = pool(64);
        let assert_ratio = |pool: &candle_cuda_vmm::VirtualMemoryPool, expected: f32| {
            let found = pool.stats().fragmentation_ratio;
            assert!((found - expected).abs() < 1e-6, "{found} and not {expected}");
        };
        assert_ratio(&pool, 1.0);
        for part in [0, 4, 8] {
            pool.allocate(part * PAGE, 2 * PAGE).unwrap();
        }
        assert_ratio(&pool, 1.0 - 6.0 / 64.0);
        pool.deallocate(4 * PAGE, 2 * PAGE).unwrap();
        assert_ratio(&pool, 1.0 - 4.0 / 64.0);
        pool.allocate(2 * PAGE, 6 * PAGE).unwrap();
        pool.allocate(10 * PAGE, 54 * PAGE).unwrap();
        assert_ratio(&pool, 0.0);
    });
}

#[test]
fn a_pool_fills_up_to_its_last_page() {
    on_cards("one_pool::a_pool_fills_up_to_its_last_page", || {
        let mut pool = pool(128);
        for part in 0..64 {
            pool.allocate(2 * part * PAGE, 2 * PAGE).unwrap();
        }
        assert!(pool.is_mapped(0, 128 * PAGE));
    });
}

#[test]
fn a_hundred_rounds_leave_nothing() {
    on_cards("one_pool::a_hundred_rounds_leave_nothing", || {
        let mut pool = pool(128);
        for _ in 0..100 {
            pool.allocate(0, 2 * PAGE).unwrap();
            pool.deallocate(0, 2 * PAGE).unwrap();
        }
        assert_holds(&pool, 0);
    });
}

#[test]
fn a_capacity_between_two_pages_is_rounded_up() {
    on_cards("one_pool::a_capacity_between_two_pages_is_rounded_up", || {
        let new = |capacity| {
            candle_cuda_vmm::VirtualMemoryPool::new(capacity, PAGE, crate::card(0)).unwrap()
        };
        let mut pool = new(3 * MIB);
        assert_eq!((pool.capacity(), pool.stats().virtual_capacity), (2 * PAGE, 2 * PAGE));
        pool.allocate(0, 3 * MIB).unwrap();
        assert_holds(&pool, 2);
        assert_eq!(new(1).capacity(), PAGE);
        assert_eq!(new(2 * PAGE).capacity(), 2 * PAGE);
    });
}
