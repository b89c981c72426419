//! How long calls take in this process.

use std::ptr::null_mut;
use std::time::Instant;

use crate::cuda::{Fault, Handle};
use crate::memory::Memory;

/// The kernel that the software driver knows too, with nothing to read and no time to wait.
const KERNEL: &[u8] = b"millpond_touch\0";
const MODULE: &str = concat!(include_str!("../../../cuda/src/safe/touch.ptx"), "\0");

fn nanoseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

/// Medians of taking and giving back, each call timed alone.
pub fn pairs(memory: &mut Memory, kind: &str, bytes: usize, count: u64) -> Result<String, Fault> {
    let (mut takes, mut gives) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let begun = Instant::now();
        let held = memory.take(kind, bytes)?;
        takes.push(nanoseconds(begun));
        let begun = Instant::now();
        memory.give(held)?;
        gives.push(nanoseconds(begun));
    }
    memory.sync()?;
    Ok(format!("{} {}", median(takes), median(gives)))
}

/// The kernel, and memory for its answer.
fn kernel(memory: &Memory) -> Result<(Handle, u64), Fault> {
    let (mut module, mut function, mut pointer) = (null_mut(), null_mut(), 0);
    // SAFETY: the module's text ends with a zero byte; every answer has room.
    unsafe {
        memory.cuda.cuModuleLoadData(&raw mut module, MODULE.as_ptr().cast())?;
        let name = KERNEL.as_ptr().cast();
        memory.cuda.cuModuleGetFunction(&raw mut function, module, name)?;
        memory.cuda.cuMemAlloc(&raw mut pointer, 4096)?;
    }
    Ok((function, pointer))
}

fn launch(memory: &Memory, function: Handle, pointer: u64) -> Result<(), Fault> {
    let mut values = [pointer, 8, pointer, 8, 0];
    let mut params: [Handle; 5] = std::array::from_fn(|index| (&raw mut values[index]).cast());
    let (stream, params) = (memory.stream, params.as_mut_ptr());
    // SAFETY: five parameters as the kernel declares them, copied by the call.
    unsafe {
        memory.cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, null_mut())
    }
}

/// Batches that fit into the queue: a full one would make the launch wait for the card.
const BATCH: u64 = 200;

fn batches(
    memory: &Memory,
    count: u64,
    mut once: impl FnMut() -> Result<(), Fault>,
) -> Result<String, Fault> {
    let mut times = Vec::new();
    for _ in 0..count.div_ceil(BATCH).max(1) {
        let begun = Instant::now();
        for _ in 0..BATCH {
            once()?;
        }
        times.push(nanoseconds(begun) / BATCH);
        memory.sync()?;
    }
    Ok(median(times).to_string())
}

/// The median over batches of one launch.
pub fn launches(memory: &Memory, count: u64) -> Result<String, Fault> {
    let (function, pointer) = kernel(memory)?;
    batches(memory, count, || launch(memory, function, pointer))
}

/// The same of a graph that holds one launch.
pub fn graphs(memory: &Memory, count: u64) -> Result<String, Fault> {
    let (function, pointer) = kernel(memory)?;
    let (mut graph, mut exec) = (null_mut(), null_mut());
    // SAFETY: the stream is ours; every answer has room.
    unsafe {
        memory.cuda.cuStreamBeginCapture(memory.stream, 0)?;
        let launched = launch(memory, function, pointer);
        memory.cuda.cuStreamEndCapture(memory.stream, &raw mut graph)?;
        launched?;
        memory.cuda.cuGraphInstantiate(&raw mut exec, graph, 0)?;
    }
    // SAFETY: the graph and the stream are ours.
    batches(memory, count, || unsafe { memory.cuda.cuGraphLaunch(exec, memory.stream) })
}
