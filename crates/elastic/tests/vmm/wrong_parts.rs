//! Parts of a pool that cannot be allocated or freed, and what stays as it was.

use crate::{PAGE, on_cards, pool};
use candle_cuda_vmm::VmmError;

#[test]
fn an_empty_allocation_is_refused() {
    on_cards("wrong_parts::an_empty_allocation_is_refused", || {
        let error = pool(64).allocate(0, 0).unwrap_err();
        assert!(matches!(error, VmmError::InvalidOffset { size: 0, .. }), "{error}");
    });
}

#[test]
fn an_offset_inside_a_page_gets_every_page_that_it_touches() {
    on_cards("wrong_parts::an_offset_inside_a_page_gets_every_page_that_it_touches", || {
        let mut pool = pool(64);
        assert_eq!(pool.allocate(1024, PAGE).unwrap(), pool.base_address() + 1024);
        assert_eq!(pool.stats().mapped_pages, 2);
    });
}

#[test]
fn more_than_the_capacity_is_refused() {
    on_cards("wrong_parts::more_than_the_capacity_is_refused", || {
        for pages in [32, 64] {
            let mut pool = pool(pages);
            let capacity = pool.capacity();
            let error = pool.allocate(0, 2 * capacity).unwrap_err();
            let VmmError::InvalidOffset { offset: 0, size, capacity: told } = error else {
                panic!("{error}")
            };
            assert_eq!((size, told), (2 * capacity, capacity));
            assert_eq!(pool.physical_memory_usage(), 0);
        }
    });
}

#[test]
fn a_part_behind_the_end_is_refused() {
    on_cards("wrong_parts::a_part_behind_the_end_is_refused", || {
        let error = pool(32).allocate(64 * PAGE, 2 * PAGE).unwrap_err();
        assert!(matches!(error, VmmError::InvalidOffset { .. }), "{error}");
    });
}

#[test]
fn what_was_never_allocated_cannot_be_freed() {
    on_cards("wrong_parts::what_was_never_allocated_cannot_be_freed", || {
        let error = pool(64).deallocate(0, 2 * PAGE).unwrap_err();
        assert!(matches!(error, VmmError::NotMapped { offset: 0, size: PAGE }), "{error}");
    });
}

#[test]
fn a_part_is_freed_once() {
    on_cards("wrong_parts::a_part_is_freed_once", || {
        let mut pool = pool(64);
        pool.allocate(0, 2 * PAGE).unwrap();
        pool.deallocate(0, 2 * PAGE).unwrap();
        let error = pool.deallocate(0, 2 * PAGE).unwrap_err();
        assert!(matches!(error, VmmError::NotMapped { offset: 0, .. }), "{error}");
    });
}

#[test]
fn an_overlap_is_refused_and_adds_nothing() {
    on_cards("wrong_parts::an_overlap_is_refused_and_adds_nothing", || {
        let mut pool = pool(64);
        pool.allocate(0, 4 * PAGE).unwrap();
        let error = pool.allocate(2 * PAGE, 4 * PAGE).unwrap_err();
        let VmmError::AlreadyMapped { offset, size: PAGE } = error else { panic!("{error}") };
        assert_eq!((offset, pool.physical_memory_usage()), (2 * PAGE, 4 * PAGE));
    });
}

#[test]
fn the_same_part_is_allocated_once() {
    on_cards("wrong_parts::the_same_part_is_allocated_once", || {
        let mut pool = pool(64);
        pool.allocate(0, 2 * PAGE).unwrap();
        let error = pool.allocate(0, 2 * PAGE).unwrap_err();
        assert!(matches!(error, VmmError::AlreadyMapped { offset: 0, .. }), "{error}");
    });
}
