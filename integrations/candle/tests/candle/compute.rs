//! Candle computes over pools as over its own memory.

use crate::card::{PAGE, assert_no_error, on_card_with_kernels, pool};
use candle_core::{D, DType, Device, Result, Tensor};

/// Attention of some queries over keys and values, none of them copied.
fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
    let scores = (queries.matmul(&keys.t()?)? / 11.3)?;
    let scores = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
    let weights = scores.broadcast_div(&scores.sum_keepdim(D::Minus1)?)?;
    weights.matmul(values)
}

fn random(shape: (usize, usize), device: &Device) -> Tensor {
    Tensor::rand(-1f32, 1f32, shape, device).unwrap()
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    let values = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn attention_over_a_pool_is_the_same_to_the_bit() {
    on_card_with_kernels("attention_over_a_pool_is_the_same_to_the_bit", |device| {
        let pool = pool(device, 4);
        let tokens = 2 * PAGE / 512;
        let (keys, values) = (random((tokens, 128), device), random((tokens, 128), device));
        let queries = random((32, 128), device);
        let pooled_keys = pool.tensor(0, (tokens, 128), DType::F32).unwrap();
        let pooled_values = pool.tensor(2 * PAGE, (tokens, 128), DType::F32).unwrap();
        pooled_keys.slice_set(&keys, 0, 0).unwrap();
        pooled_values.slice_set(&values, 0, 0).unwrap();
        let expected = attention(&queries, &keys, &values).unwrap();
        let found = attention(&queries, &pooled_keys, &pooled_values).unwrap();
        assert_eq!(bits(&found), bits(&expected));
    });
}

#[test]
fn pages_of_running_work_are_taken_away_after_it() {
    on_card_with_kernels("pages_of_running_work_are_taken_away_after_it", |device| {
        let side = 4096;
        let bytes = side * side * 4;
        let ordinary = random((side, side), device);
        let expected = bits(&ordinary.matmul(&ordinary).unwrap());
        let mut pool = pool(device, bytes / PAGE);
        for _ in 0..5 {
            let pooled = pool.tensor(0, (side, side), DType::F32).unwrap();
            pooled.slice_set(&ordinary, 0, 0).unwrap();
            let found = pooled.matmul(&pooled).unwrap();
            drop(pooled);
            // The product is still being computed.
            pool.deallocate(0, bytes).unwrap();
            assert_eq!(pool.physical_memory_usage(), 0);
            assert_eq!(bits(&found), expected);
            pool.allocate(0, bytes).unwrap();
        }
        let pooled = pool.tensor(0, (side, side), DType::F32).unwrap();
        pooled.slice_set(&ordinary, 0, 0).unwrap();
        let found = pooled.matmul(&pooled).unwrap();
        drop(pool);
        drop(pooled);
        assert_eq!(bits(&found), expected);
        assert_no_error(device);
    });
}

#[test]
fn a_pool_grows_under_running_work() {
    on_card_with_kernels("a_pool_grows_under_running_work", |device| {
        let rows = PAGE / 512;
        let mut pool =
            candle_cuda_vmm::VirtualMemoryPool::new(64 * PAGE, PAGE, device.clone()).unwrap();
        let queries = random((32, 128), device);
        let mut chunks = Vec::new();
        for step in 0..16 {
            pool.allocate(step * PAGE, PAGE).unwrap();
            chunks.push(random((rows, 128), device));
            let cache = pool.tensor(0, ((step + 1) * rows, 128), DType::F32).unwrap();
            cache.slice_set(&chunks[step], 0, step * rows).unwrap();
            let found = attention(&queries, &cache, &cache).unwrap();
            let ordinary = Tensor::cat(&chunks, 0).unwrap();
            let expected = attention(&queries, &ordinary, &ordinary).unwrap();
            assert_eq!(bits(&found), bits(&expected), "step {step}");
        }
        assert_eq!(pool.stats().mapped_pages, 16);
    });
}
