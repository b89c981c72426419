//! Modules and the launch of the one kernel.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::time::Duration;

use millpond_cuda::sys::{CUfunction, CUmodule, CUstream, Status};

use super::{Out, entries, number, opaque};
use crate::engine::job::Job;
use crate::engine::modules::TOUCH;

/// The start of a fat binary, which is not text and has no NUL to look for.
const FATBIN_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// Limits of a launch, the same on every card since 2010: attributes 1, 4, 6 and 7.
const MAX_THREADS: c_uint = 1024;
const MAX_BLOCK_Z: c_uint = 64;
const MAX_GRID: c_uint = 65_535;

entries! {
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let module = unsafe { Out::new(module)? };
        if image.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: an image is a text that ends in NUL or a binary that is longer than its magic
        // number; the bytes are compared one by one, so that a short text is not left.
        let is_fatbin = unsafe { (0..4).all(|at| FATBIN_MAGIC.get(at) == Some(&image.cast::<u8>().add(at).read())) };
        // SAFETY: not a fat binary, so a text that ends in NUL, as the caller promised (or an ELF
        // image, whose header has a NUL in its first 16 bytes).
        let bytes = if is_fatbin { &FATBIN_MAGIC[..] } else { unsafe { CStr::from_ptr(image.cast()) }.to_bytes() };
        module.set(opaque(engine.modules.load(bytes)?));
        Ok(())
    }

    fn cuModuleUnload(module: CUmodule) |engine| { engine.modules.unload(number(module)) }

    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) |engine| {
        // SAFETY: as the caller promised.
        let function = unsafe { Out::new(function)? };
        if name.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, and a C string as the caller promised.
        let name = unsafe { CStr::from_ptr(name) };
        function.set(opaque(engine.modules.function(number(module), name.to_bytes())?));
        Ok(())
    }

    fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint,
        _shared_bytes: c_uint,
        stream: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) |engine| {
        let entry = engine.modules.entry(number(function))?;
        let threads = [block_x, block_y, block_z].iter().try_fold(1_u32, |product, side| product.checked_mul(*side));
        let fits = grid_y <= MAX_GRID && grid_z <= MAX_GRID && block_z <= MAX_BLOCK_Z;
        let blocks = [grid_x, grid_y, grid_z].iter().all(|side| *side > 0);
        if !fits || !blocks || !threads.is_some_and(|threads| (1..=MAX_THREADS).contains(&threads)) {
            return Err(Status::INVALID_VALUE);
        }
        if entry.is_empty {
            return engine.submit(number(stream), Job::Nothing);
        }
        if (entry.name.as_str(), entry.parameters) != TOUCH || !extra.is_null() {
            return Err(Status::NOT_SUPPORTED);
        }
        if params.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let parameter = |index: usize| {
            // SAFETY: the program passes one pointer for each of the kernel's parameters, which are
            // 64-bit numbers.
            unsafe { params.add(index).read().cast::<u64>().read_unaligned() }
        };
        let job = Job::Touch {
            source: (parameter(0), parameter(1)),
            target: (parameter(2), parameter(3)),
            time: Duration::from_micros(parameter(4)),
        };
        engine.submit(number(stream), job)
    }
}
