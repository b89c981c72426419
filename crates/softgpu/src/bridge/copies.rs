//! Copies and fills, now or on a stream.

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use millpond_cuda::sys::{CUdeviceptr, CUstream, Status};

use super::{entries, host_address, number};
use crate::engine::Engine;
use crate::engine::job::{Job, Place};
use crate::engine::system::{to_u64, to_usize};

/// Moves bytes now (`stream` is `None`) or later.
fn copy(
    engine: &Engine,
    to: Place,
    from: Place,
    bytes: usize,
    stream: Option<CUstream>,
) -> Result<(), Status> {
    submit(engine, Job::Copy { to, from, bytes: to_u64(bytes) }, bytes == 0, stream)
}

fn fill(
    engine: &Engine,
    to: u64,
    pattern: &[u8],
    count: usize,
    stream: Option<CUstream>,
) -> Result<(), Status> {
    let width = to_u64(pattern.len());
    let bytes = to_u64(count).checked_mul(width).ok_or(Status::INVALID_VALUE)?;
    if !to.is_multiple_of(width) {
        return Err(Status::INVALID_VALUE);
    }
    let job = match engine.place(to_usize(to)) {
        Place::Host(at) if bytes > 0 => {
            if !engine.host.is_pinned(at, to_usize(bytes)) {
                return Err(Status::INVALID_VALUE);
            }
            let content = pattern.iter().copied().cycle().take(to_usize(bytes)).collect();
            Job::Copy { to: Place::Host(at), from: Place::Taken(content), bytes }
        }
        _ => Job::Fill { to, pattern: pattern.to_vec(), bytes },
    };
    submit(engine, job, bytes == 0, stream)
}

fn submit(engine: &Engine, job: Job, empty: bool, stream: Option<CUstream>) -> Result<(), Status> {
    match stream {
        // Nothing to do still needs a context and a stream to do it in.
        None if empty => engine.contexts.current().map(drop),
        Some(stream) if empty => engine.lane(number(stream)).map(drop),
        None => engine.run(job),
        Some(stream) => engine.submit(number(stream), job),
    }
}

/// A pointer of either kind: addresses are unified.
fn either(engine: &Engine, pointer: CUdeviceptr) -> Place {
    engine.place(to_usize(pointer))
}

entries! {
    fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) |engine| {
        copy(engine, either(engine, dst), either(engine, src), bytes, None)
    }

    fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream) |engine| {
        copy(engine, either(engine, dst), either(engine, src), bytes, Some(stream))
    }

    fn cuMemcpyHtoD_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize) |engine| {
        copy(engine, Place::Device(dst), engine.place(host_address(src)), bytes, None)
    }

    fn cuMemcpyDtoH_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize) |engine| {
        copy(engine, engine.place(host_address(dst)), Place::Device(src), bytes, None)
    }

    fn cuMemcpyDtoD_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) |engine| {
        copy(engine, Place::Device(dst), Place::Device(src), bytes, None)
    }

    fn cuMemcpyHtoDAsync_v2(dst: CUdeviceptr, src: *const c_void, bytes: usize, stream: CUstream) |engine| {
        copy(engine, Place::Device(dst), engine.place(host_address(src)), bytes, Some(stream))
    }

    fn cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: CUdeviceptr, bytes: usize, stream: CUstream) |engine| {
        copy(engine, engine.place(host_address(dst)), Place::Device(src), bytes, Some(stream))
    }

    fn cuMemcpyDtoDAsync_v2(dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, stream: CUstream) |engine| {
        copy(engine, Place::Device(dst), Place::Device(src), bytes, Some(stream))
    }

    fn cuMemsetD8_v2(dst: CUdeviceptr, value: c_uchar, count: usize) |engine| { fill(engine, dst, &[value], count, None) }

    fn cuMemsetD8Async(dst: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) |engine| {
        fill(engine, dst, &[value], count, Some(stream))
    }

    fn cuMemsetD16_v2(dst: CUdeviceptr, value: c_ushort, count: usize) |engine| {
        fill(engine, dst, &value.to_ne_bytes(), count, None)
    }

    fn cuMemsetD16Async(dst: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) |engine| {
        fill(engine, dst, &value.to_ne_bytes(), count, Some(stream))
    }

    fn cuMemsetD32_v2(dst: CUdeviceptr, value: c_uint, count: usize) |engine| {
        fill(engine, dst, &value.to_ne_bytes(), count, None)
    }

    fn cuMemsetD32Async(dst: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) |engine| {
        fill(engine, dst, &value.to_ne_bytes(), count, Some(stream))
    }
}
