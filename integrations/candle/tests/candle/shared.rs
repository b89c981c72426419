//! Tensors of models under one limit.

use crate::card::{PAGE, assert_no_error, on_card, write};
use candle_core::{DType, Device};
use candle_cuda_vmm::{SharedMemoryPool, VmmError};

fn two_models(device: &Device) -> SharedMemoryPool {
    let mut shared = SharedMemoryPool::new(8 * PAGE, device.clone()).unwrap();
    shared.register_model("llama", 64 * PAGE).unwrap();
    shared.register_model("gpt", 64 * PAGE).unwrap();
    shared
}

#[test]
fn a_model_has_tensors_and_keeps_what_they_stand_on() {
    on_card("a_model_has_tensors_and_keeps_what_they_stand_on", |device| {
        let mut shared = two_models(device);
        let base = shared.model_base_address("llama").unwrap();
        let first = shared.allocate_for_model("llama", 2 * PAGE).unwrap() - base;
        let second = shared.allocate_for_model("llama", PAGE).unwrap() - base;
        assert_eq!((first, second), (0, 2 * PAGE));
        let keys = shared.tensor_for_model("llama", second, PAGE, DType::U8).unwrap();
        write(&keys, vec![7; PAGE]);
        let error = shared.deallocate_for_model("llama", second, PAGE).unwrap_err();
        assert!(matches!(error, VmmError::InUse { tensor_size: PAGE, .. }), "{error}");
        let error = shared.unregister_model("llama").unwrap_err();
        assert!(matches!(error, VmmError::InUse { .. }), "{error}");
        shared.deallocate_for_model("llama", first, 2 * PAGE).unwrap();
        shared.unregister_model("gpt").unwrap();
        assert_eq!(keys.to_vec1::<u8>().unwrap(), vec![7; PAGE]);
        drop(keys);
        shared.unregister_model("llama").unwrap();
        assert_eq!(shared.global_stats().physical_usage, 0);
        for error in [
            shared.tensor_for_model("llama", 0, 1, DType::U8).map(drop).unwrap_err(),
            shared.deallocate_for_model("llama", 0, 1).unwrap_err(),
            shared.unregister_model("llama").unwrap_err(),
        ] {
            assert!(matches!(&error, VmmError::ModelNotFound(name) if name == "llama"), "{error}");
        }
        assert_no_error(device);
    });
}

#[test]
fn a_shared_pool_may_be_dropped_before_its_tensors() {
    on_card("a_shared_pool_may_be_dropped_before_its_tensors", |device| {
        let mut shared = two_models(device);
        shared.allocate_for_model("llama", 3 * PAGE).unwrap();
        shared.allocate_for_model("gpt", 5 * PAGE).unwrap();
        let error = shared.allocate_for_model("gpt", 1).unwrap_err();
        assert!(matches!(error, VmmError::OutOfPhysicalMemory { available: 0, .. }), "{error}");
        let keys = shared.tensor_for_model("llama", PAGE, 100, DType::U8).unwrap();
        let values = shared.tensor_for_model("gpt", PAGE, 100, DType::U8).unwrap();
        write(&keys, vec![1; 100]);
        write(&values, vec![2; 100]);
        drop(shared);
        assert_eq!(keys.to_vec1::<u8>().unwrap(), vec![1; 100]);
        drop(keys);
        assert_eq!(values.to_vec1::<u8>().unwrap(), vec![2; 100]);
    });
}
