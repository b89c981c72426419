//! The two programs of candle-cuda-vmm's front page as they are printed there, and a KV cache in
//! elastic memory that Candle computes attention over while it grows.
//!
//! ```sh
//! cargo run --release --example kv_cache
//! ```
//!
//! It needs a GPU, and ends with an error at the first difference from ordinary memory of Candle.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example speaks")]

use candle_core::{D, DType, Device, Tensor};
use candle_cuda_vmm::{Result, VirtualMemoryPool, VmmError};
use std::process::ExitCode;

/// The quick start.
mod quick_start {
    include!("seed/quick_start.rs");

    pub fn run() -> Result<()> {
        main()
    }
}

/// Several models under one limit.
#[allow(unused_variables, reason = "as it is printed")]
mod multi_model {
    include!("seed/multi_model.rs");

    pub fn run() -> Result<()> {
        main()
    }
}

/// Elements of a key, and of a value.
const WIDTH: usize = 128;
/// Query heads that share the keys and values of one head.
const QUERIES: usize = 32;
const PAGE: usize = 2 * 1024 * 1024;
/// Tokens whose keys fill one page.
const TOKENS: usize = PAGE / (WIDTH * 4);
const STEPS: usize = 8;
/// Rounds after which a single cache that was not given back would show.
const ROUNDS: usize = 4;
/// Where values begin: keys have as many addresses before them.
const VALUES: usize = 1024 * PAGE;

/// Who prints what happens, or nobody.
type Say = fn(&str);

/// Keys and values in one pool. Both grow in place, and what is there never moves.
struct KvCache {
    pool: VirtualMemoryPool,
    tokens: usize,
}

impl KvCache {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self { pool: VirtualMemoryPool::new(2 * VALUES, PAGE, device.clone())?, tokens: 0 })
    }

    /// Adds the keys and values of more tokens. Work over the cache may be running.
    fn append(&mut self, keys: &Tensor, values: &Tensor) -> Result<()> {
        let (at, count) = (self.tokens, keys.dim(0)?);
        let size = count * WIDTH * 4;
        self.pool.allocate(at * WIDTH * 4, size)?;
        self.pool.allocate(VALUES + at * WIDTH * 4, size)?;
        self.tokens += count;
        self.keys()?.slice_set(keys, 0, at)?;
        self.values()?.slice_set(values, 0, at)?;
        Ok(())
    }

    fn keys(&self) -> Result<Tensor> {
        self.pool.tensor(0, (self.tokens, WIDTH), DType::F32)
    }

    fn values(&self) -> Result<Tensor> {
        self.pool.tensor(VALUES, (self.tokens, WIDTH), DType::F32)
    }
}

/// One step of attention, over the keys and values where they are.
fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor) -> candle_core::Result<Tensor> {
    let scores = (queries.matmul(&keys.t()?)? / f64::sqrt(128.0))?;
    let scores = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
    let weights = scores.broadcast_div(&scores.sum_keepdim(D::Minus1)?)?;
    weights.matmul(values)
}

fn random(rows: usize, device: &Device) -> candle_core::Result<Tensor> {
    Tensor::rand(-1f32, 1f32, (rows, WIDTH), device)
}

fn same(what: &str, found: &Tensor, expected: &Tensor) -> Result<()> {
    let bits = |tensor: &Tensor| -> Result<Vec<u32>> {
        let values = tensor.flatten_all()?.to_vec1::<f32>()?;
        Ok(values.into_iter().map(f32::to_bits).collect())
    };
    if bits(found)? == bits(expected)? {
        return Ok(());
    }
    Err(VmmError::other(format!("{what} differs from ordinary memory of Candle")))
}

/// Attention over a cache that grows while the last step is still being computed.
fn grow(device: &Device, say: Say) -> Result<KvCache> {
    let mut cache = KvCache::new(device)?;
    let base = cache.pool.base_address();
    let queries = random(QUERIES, device)?;
    let (mut all_keys, mut all_values) = (Vec::new(), Vec::new());
    let mut running: Option<(Tensor, Tensor)> = None;
    for step in 1..=STEPS {
        let (keys, values) = (random(TOKENS, device)?, random(TOKENS, device)?);
        // The step before may still be running over the same addresses.
        cache.append(&keys, &values)?;
        all_keys.push(keys);
        all_values.push(values);
        if let Some((found, expected)) = running.take() {
            same(&format!("attention of step {}", step - 1), &found, &expected)?;
        }
        let found = attention(&queries, &cache.keys()?, &cache.values()?)?;
        let (keys, values) = (Tensor::cat(&all_keys, 0)?, Tensor::cat(&all_values, 0)?);
        running = Some((found, attention(&queries, &keys, &values)?));
        let held = cache.pool.physical_memory_usage() >> 20;
        say(&format!("step {step}: {} tokens, {held} MiB at 0x{base:x}", cache.tokens));
    }
    if let Some((found, expected)) = running {
        same("attention of the last step", &found, &expected)?;
    }
    if cache.pool.base_address() != base {
        return Err(VmmError::other("the cache has moved"));
    }
    Ok(cache)
}

/// Tensors, views and the pool, in three orders; none leaves an error or memory behind.
fn drop_in_every_order(device: &Device, say: Say) -> Result<()> {
    // The tensors first. While one lives, its pages cannot be taken away.
    let mut cache = grow(device, say)?;
    let keys = cache.keys()?;
    match cache.pool.deallocate(0, PAGE) {
        Err(error @ VmmError::InUse { .. }) => say(&format!("refused: {error}")),
        other => return Err(VmmError::other(format!("freed under a tensor: {other:?}"))),
    }
    drop(keys);
    cache.pool.deallocate(0, STEPS * PAGE)?;
    cache.pool.deallocate(VALUES, STEPS * PAGE)?;
    let held = cache.pool.physical_memory_usage();
    drop(cache);
    if held != 0 {
        return Err(VmmError::other(format!("{held} bytes are left in an empty pool")));
    }
    device.synchronize()?;
    say("tensors before the pool: fine");

    // The pool first: its pages stay until the last tensor is gone.
    let cache = grow(device, say)?;
    let (keys, copy) = (cache.keys()?, cache.keys()?.copy()?);
    drop(cache);
    same("a tensor without its pool", &keys, &copy)?;
    drop(keys);
    device.synchronize()?;
    say("the pool before a tensor: fine");

    // A view last, in another thread.
    let cache = grow(device, say)?;
    let keys = cache.keys()?;
    let (view, copy) = (keys.narrow(0, 5, 7)?, keys.narrow(0, 5, 7)?.copy()?);
    drop(keys);
    drop(cache);
    same("a view without its tensor", &view, &copy)?;
    let ended = std::thread::spawn(move || drop(view)).join();
    ended.map_err(|_| VmmError::other("the thread that dropped the view has panicked"))?;
    device.synchronize()?;
    say("a view last, by another thread: fine");
    Ok(())
}

fn free_bytes(device: &Device) -> Result<usize> {
    let context = device.as_cuda_device()?.cuda_stream().context().clone();
    context.synchronize().map_err(|error| VmmError::cuda(error.to_string()))?;
    Ok(context.mem_get_info().map_err(|error| VmmError::cuda(error.to_string()))?.0)
}

fn kv_cache() -> Result<()> {
    let device = Device::new_cuda(0)?;
    // What Candle and cuBLAS keep is there after the first round.
    drop_in_every_order(&device, |line| println!("  {line}"))?;
    let before = free_bytes(&device)?;
    for _ in 0..ROUNDS {
        drop_in_every_order(&device, |_| ())?;
    }
    let lost = before.saturating_sub(free_bytes(&device)?);
    if lost >= ROUNDS * STEPS * PAGE {
        return Err(VmmError::other(format!("{lost} bytes are not free again")));
    }
    println!("  {ROUNDS} more rounds: all memory is free again");
    Ok(())
}

fn part(name: &str, part: fn() -> Result<()>) -> Result<()> {
    println!("{name}");
    part().inspect_err(|error| eprintln!("error: {name}: {error}"))?;
    println!("  passed");
    Ok(())
}

fn all() -> Result<()> {
    part("the quick start", quick_start::run)?;
    part("several models under one limit", multi_model::run)?;
    part("a KV cache that grows while Candle computes over it", kv_cache)
}

fn main() -> ExitCode {
    if all().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
