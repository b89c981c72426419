//! Pitched and managed memory.
//!
//! A location that is passed by value is taken as its eight bytes: its type is an open number.

use std::ffi::c_uint;

use millpond_cuda::sys::{CUdeviceptr, CUstream, Status};

use super::{Out, entries, number};
use crate::engine::Engine;
use crate::engine::physical::Origin;
use crate::engine::system::{to_u64, to_usize};

const ATTACH_GLOBAL: c_uint = 1;
const ATTACH_HOST: c_uint = 2;

/// `CU_MEM_ADVISE_*`: 1 to 6.
const LAST_ADVICE: u32 = 6;

/// An error unless a range is managed memory.
fn check_managed(engine: &'static Engine, at: u64, bytes: usize) -> Result<(), Status> {
    let info = engine.space.pointer(at).ok_or(Status::INVALID_VALUE)?;
    let end = at.checked_add(to_u64(bytes)).ok_or(Status::INVALID_VALUE)?;
    let fits = bytes > 0 && end <= info.start + info.bytes;
    if info.allocation.origin == Origin::Managed && fits {
        Ok(())
    } else {
        Err(Status::INVALID_VALUE)
    }
}

entries! {
    fn cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let (pointer, pitch) = unsafe { (Out::new(pointer)?, Out::new(pitch)?) };
        if width == 0 || height == 0 || ![4, 8, 16].contains(&element) {
            return Err(Status::INVALID_VALUE);
        }
        let (at, row) = engine.allocate_pitched(to_u64(width), to_u64(height))?;
        pointer.set(at);
        pitch.set(to_usize(row));
        Ok(())
    }

    fn cuMemAllocManaged(pointer: *mut CUdeviceptr, size: usize, flags: c_uint) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if size == 0 || ![ATTACH_GLOBAL, ATTACH_HOST].contains(&flags) {
            return Err(Status::INVALID_VALUE);
        }
        pointer.set(engine.allocate_managed(to_u64(size))?);
        Ok(())
    }

    fn cuMemPrefetchAsync_v2(pointer: CUdeviceptr, bytes: usize, _location: u64, flags: c_uint, stream: CUstream) |engine| {
        // The memory is everywhere at once: there is nothing to move.
        engine.lane(number(stream))?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        check_managed(engine, pointer, bytes)
    }

    fn cuMemAdvise_v2(pointer: CUdeviceptr, bytes: usize, advice: u32, _location: u64) |engine| {
        if !(1..=LAST_ADVICE).contains(&advice) {
            return Err(Status::INVALID_VALUE);
        }
        check_managed(engine, pointer, bytes)
    }
}
