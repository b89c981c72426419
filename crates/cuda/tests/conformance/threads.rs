//! Many threads at once: nothing waits for ever, and nothing is left.

use crate::alone::alone;
use crate::support::{Gpu, MIB};
use millpond_cuda::sys::{CUstream, CudaTable, constants};
use millpond_cuda::{Context, LinearMemory, MemoryPool, Stream, result};

const THREADS: u64 = 8;
const ROUNDS: u64 = 25;

/// Captures an allocation, its use and its free in this thread, and launches that twice.
fn graph(table: &CudaTable, stream: CUstream, bytes: usize) {
    // SAFETY: the stream is this thread's; the handles are alive, and destroyed once.
    unsafe {
        result::graph::begin_capture(table, stream, constants::CAPTURE_THREAD_LOCAL).unwrap();
        let pointer = result::pool::alloc_async(table, bytes, stream).unwrap();
        result::copy::fill_u8_async(table, pointer, 1, bytes, stream).unwrap();
        result::pool::free_async(table, pointer, stream).unwrap();
        let graph = result::graph::end_capture(table, stream).unwrap();
        let exec = result::graph::instantiate(table, graph, 0).unwrap();
        result::graph::launch(table, exec, stream).unwrap();
        result::graph::launch(table, exec, stream).unwrap();
        result::graph::destroy_exec(table, exec).unwrap();
        result::graph::destroy(table, graph).unwrap();
    }
}

/// Fills a block with a number of this thread's, in stream order, and reads it back.
fn block(table: &CudaTable, pool: &MemoryPool, stream: &Stream, bytes: u64, value: u8) {
    let size = usize::try_from(bytes).unwrap();
    let pointer = pool.alloc(bytes, stream).unwrap().0;
    let mut last = [0_u8];
    // SAFETY: the block is this thread's until it is freed, in the order of its stream.
    unsafe {
        result::copy::fill_u8_async(table, pointer, value, size, stream.raw()).unwrap();
        stream.synchronize().unwrap();
        let end = pointer + bytes - 1;
        result::copy::device_to_host(table, last.as_mut_ptr().cast(), end, 1).unwrap();
        result::pool::free_async(table, pointer, stream.raw()).unwrap();
    }
    assert_eq!(last, [value], "nobody else wrote there");
}

fn work(gpu: &Gpu, context: &Context, pool: &MemoryPool, thread: u64) {
    let _bound = context.bind().unwrap();
    let table = gpu.driver.table();
    let stream = Stream::new(context).unwrap();
    let value = u8::try_from(thread + 1).unwrap();
    for round in 0..ROUNDS {
        match (round + thread) % 5 {
            0 => graph(table, stream.raw(), 5 << 20),
            1 => block(table, pool, &stream, 3 * MIB + thread, value),
            2 => block(table, pool, &stream, 1 + 700 * round, value),
            3 => {
                let small = LinearMemory::alloc(context, 4096).unwrap();
                let large = LinearMemory::alloc(context, 3 * MIB).unwrap();
                drop((small, large));
                pool.trim(0).unwrap();
            }
            _ => {
                let linear = result::linear::alloc(table, 100_000).unwrap();
                // SAFETY: freed once, and nothing uses it.
                unsafe { result::pool::free_async(table, linear, stream.raw()) }.unwrap();
                // Not the context: other threads capture in it.
                stream.synchronize().unwrap();
            }
        }
    }
    stream.synchronize().unwrap();
}

#[test]
fn all_kinds_of_memory_in_many_threads() {
    alone!();
    let gpu = Gpu::take();
    let context = gpu.context();
    let pool = MemoryPool::new(&gpu.device).unwrap();
    // The streams' own memory comes before the reading.
    let streams: Vec<_> = (0..THREADS).map(|_| Stream::new(&context).unwrap()).collect();
    let before = gpu.free_bytes();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (gpu, context, pool) = (&gpu, &context, &pool);
            scope.spawn(move || work(gpu, context, pool, thread));
        }
    });
    drop(streams);
    context.synchronize().unwrap();
    assert_eq!((pool.reserved_bytes().unwrap(), pool.used_bytes().unwrap()), (0, 0));
    let _bound = context.bind().unwrap();
    let (table, device) = (gpu.driver.table(), gpu.device.raw());
    result::graph::trim(table, device).unwrap();
    let current = constants::GRAPH_RESERVED_CURRENT;
    assert_eq!(result::graph::memory_attribute(table, device, current), Ok(0));
    gpu.assert_freed(before);
}
