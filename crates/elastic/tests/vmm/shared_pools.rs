//! Pools of several models under one limit.

use crate::{GIB, MIB, on_cards, shared};
use candle_cuda_vmm::VmmError;

#[test]
fn a_new_shared_pool_is_empty() {
    on_cards("shared_pools::a_new_shared_pool_is_empty", || {
        let stats = shared(32 * GIB, &[]).global_stats();
        assert_eq!(
            (stats.physical_limit, stats.physical_usage, stats.num_models),
            (32 * GIB, 0, 0)
        );
    });
}

#[test]
fn models_are_counted() {
    on_cards("shared_pools::models_are_counted", || {
        let shared = shared(32 * GIB, &[("llama-7b", 64 * GIB), ("gpt2", 32 * GIB)]);
        assert_eq!(shared.global_stats().num_models, 2);
    });
}

#[test]
fn what_a_model_allocates_is_the_pools_usage() {
    on_cards("shared_pools::what_a_model_allocates_is_the_pools_usage", || {
        let mut shared = shared(32 * GIB, &[("llama-7b", 64 * GIB)]);
        assert!(shared.allocate_for_model("llama-7b", 128 * MIB).unwrap() > 0);
        assert_eq!(shared.global_stats().physical_usage, 128 * MIB);
    });
}

#[test]
fn a_model_that_nobody_registered_is_named() {
    on_cards("shared_pools::a_model_that_nobody_registered_is_named", || {
        let mut shared = shared(32 * GIB, &[]);
        for error in [
            shared.allocate_for_model("gone", 1024).map(drop).unwrap_err(),
            shared.deallocate_for_model("gone", 0, 1024).unwrap_err(),
        ] {
            assert!(matches!(&error, VmmError::ModelNotFound(name) if name == "gone"), "{error}");
        }
        assert!(shared.get_model_stats("gone").is_none());
    });
}

#[test]
fn a_model_that_nobody_registered_cannot_be_unregistered() {
    on_cards("shared_pools::a_model_that_nobody_registered_cannot_be_unregistered", || {
        let error = shared(16 * GIB, &[]).unregister_model("gone").unwrap_err();
        assert!(matches!(&error, VmmError::ModelNotFound(name) if name == "gone"), "{error}");
    });
}

#[test]
fn a_name_is_registered_once() {
    on_cards("shared_pools::a_name_is_registered_once", || {
        let mut shared = shared(16 * GIB, &[("model", 32 * GIB)]);
        let error = shared.register_model("model", 32 * GIB).unwrap_err();
        assert!(matches!(&error, VmmError::ModelAlreadyExists(name) if name == "model"), "{error}");
        assert_eq!(shared.global_stats().num_models, 1);
    });
}

#[test]
fn the_third_part_passes_the_limit() {
    on_cards("shared_pools::the_third_part_passes_the_limit", || {
        let mut shared = shared(64 * MIB, &[("model", 128 * MIB)]);
        for _ in 0..2 {
            shared.allocate_for_model("model", 32 * MIB).unwrap();
        }
        let error = shared.allocate_for_model("model", 32 * MIB).unwrap_err();
        let VmmError::OutOfPhysicalMemory { requested, available } = error else {
            panic!("{error}")
        };
        assert_eq!((requested, available), (32 * MIB, 0));
    });
}

#[test]
fn a_model_that_ends_gives_everything_back() {
    on_cards("shared_pools::a_model_that_ends_gives_everything_back", || {
        let mut shared = shared(32 * GIB, &[("llama-7b", 64 * GIB)]);
        shared.allocate_for_model("llama-7b", 128 * MIB).unwrap();
        shared.unregister_model("llama-7b").unwrap();
        let stats = shared.global_stats();
        assert_eq!((stats.num_models, stats.physical_usage), (0, 0));
    });
}

#[test]
fn a_model_has_statistics_of_its_own() {
    on_cards("shared_pools::a_model_has_statistics_of_its_own", || {
        let mut shared = shared(32 * GIB, &[("llama-7b", 64 * GIB), ("gpt2", 32 * GIB)]);
        shared.allocate_for_model("llama-7b", 128 * MIB).unwrap();
        let stats = shared.get_model_stats("llama-7b").unwrap();
        assert_eq!((stats.virtual_capacity, stats.physical_usage), (64 * GIB, 128 * MIB));
        assert_eq!(shared.get_model_stats("gpt2").unwrap().physical_usage, 0);
    });
}

#[test]
fn addresses_of_a_model_are_rounded_up_to_pages() {
    on_cards("shared_pools::addresses_of_a_model_are_rounded_up_to_pages", || {
        let mut shared = shared(64 * MIB, &[("a", 10_000_000)]);
        assert_eq!(shared.get_model_stats("a").unwrap().virtual_capacity, 10 * MIB);
        shared.allocate_for_model("a", 10_000_000).unwrap();
        assert_eq!(shared.global_stats().physical_usage, 10 * MIB);
    });
}
