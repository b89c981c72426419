//! Contexts, current and not.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use millpond_cuda::sys::{CUcontext, CUdevice, Status};

use super::{Out, entries, number, opaque};
use crate::engine::Engine;
use crate::engine::capture::exchange_mode;
use crate::engine::contexts::Context;
use crate::engine::system::{to_u64, to_usize};

/// What `cuCtxGetApiVersion` says since CUDA 3.2.
const API_VERSION: c_uint = 3020;

#[repr(C)]
#[derive(Clone, Copy)]
struct CreateParams {
    affinities: *mut c_void,
    count: c_int,
    graphics: *mut c_void,
}

fn create(
    engine: &'static Engine,
    context: *mut CUcontext,
    flags: c_uint,
    device: CUdevice,
) -> Result<(), Status> {
    // SAFETY: the callers below were promised a pointer that is null or valid for writing.
    let context = unsafe { Out::new(context)? };
    context.set(opaque(engine.contexts.create(engine.device(device)?, flags)?));
    Ok(())
}

/// The context that the program names; the current one for null.
fn given(engine: &'static Engine, context: CUcontext) -> Result<Arc<Context>, Status> {
    if context.is_null() {
        return engine.contexts.current();
    }
    let context = engine.contexts.find(number(context))?;
    context.check()?;
    Ok(context)
}

/// Waits for all work of a context, in which no stream may be capturing.
fn synchronize(engine: &'static Engine, context: Arc<Context>) -> Result<(), Status> {
    engine.captures.refuse_context(context.id)?;
    context.queue.wait_all()?;
    engine.pools.waited_for_all(&context.queue);
    Ok(())
}

entries! {
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let context = unsafe { Out::new(context)? };
        context.set(opaque(engine.contexts.retain_primary(engine.device(device)?)?));
        Ok(())
    }

    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) |engine| {
        engine.contexts.release_primary(engine.device(device)?)
    }

    fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int) |engine| {
        let device = engine.device(device)?;
        // SAFETY: as the caller promised.
        let (flags, active) = unsafe { (Out::new(flags)?, Out::new(active)?) };
        let (set, open) = engine.contexts.primary_state(device);
        flags.set(set);
        active.set(c_int::from(open));
        Ok(())
    }

    fn cuDevicePrimaryCtxReset_v2(device: CUdevice) |engine| {
        engine.contexts.reset_primary(engine.device(device)?)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) |engine| {
        engine.contexts.set_primary_flags(engine.device(device)?, flags)
    }

    fn cuCtxCreate_v2(context: *mut CUcontext, flags: c_uint, device: CUdevice) |engine| {
        create(engine, context, flags, device)
    }

    fn cuCtxCreate_v3(context: *mut CUcontext, affinities: *mut c_void, count: c_int, flags: c_uint, device: CUdevice) |engine| {
        if count < 0 || (count > 0 && affinities.is_null()) {
            return Err(Status::INVALID_VALUE);
        }
        if count > 0 {
            return Err(Status::NOT_SUPPORTED);
        }
        create(engine, context, flags, device)
    }

    fn cuCtxCreate_v4(context: *mut CUcontext, params: *mut c_void, flags: c_uint, device: CUdevice) |engine| {
        if !params.is_null() {
            // SAFETY: not null, and valid for reading as the caller promised.
            let params = unsafe { params.cast::<CreateParams>().read_unaligned() };
            if params.count != 0 || !params.affinities.is_null() || !params.graphics.is_null() {
                return Err(Status::NOT_SUPPORTED);
            }
        }
        create(engine, context, flags, device)
    }

    fn cuCtxDestroy_v2(context: CUcontext) |engine| { engine.contexts.destroy(number(context)) }

    fn cuCtxGetCurrent(context: *mut CUcontext) |engine| {
        // SAFETY: as the caller promised.
        unsafe { Out::new(context)? }.set(opaque(engine.contexts.current_id().unwrap_or(0)));
        Ok(())
    }

    fn cuCtxSetCurrent(context: CUcontext) |engine| {
        engine.contexts.set_current((!context.is_null()).then(|| number(context)))
    }

    fn cuCtxPushCurrent_v2(context: CUcontext) |engine| {
        if context.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        engine.contexts.push(number(context))
    }

    fn cuCtxPopCurrent_v2(context: *mut CUcontext) |engine| {
        let popped = engine.contexts.pop()?;
        // SAFETY: as the caller promised; null means that the program does not want to know.
        if let Ok(context) = unsafe { Out::new(context) } {
            context.set(opaque(popped));
        }
        Ok(())
    }

    fn cuCtxGetDevice(device: *mut CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let device = unsafe { Out::new(device)? };
        device.set(engine.ordinal(&engine.contexts.current_any()?.device)?);
        Ok(())
    }

    fn cuCtxGetDevice_v2(device: *mut CUdevice, context: CUcontext) |engine| {
        // SAFETY: as the caller promised.
        let device = unsafe { Out::new(device)? };
        device.set(engine.ordinal(&given(engine, context)?.device)?);
        Ok(())
    }

    fn cuCtxSynchronize() |engine| { synchronize(engine, engine.contexts.current()?) }

    fn cuCtxSynchronize_v2(context: CUcontext) |engine| { synchronize(engine, given(engine, context)?) }

    fn cuCtxGetApiVersion(context: CUcontext, version: *mut c_uint) |engine| {
        // SAFETY: as the caller promised.
        let version = unsafe { Out::new(version)? };
        given(engine, context)?;
        version.set(API_VERSION);
        Ok(())
    }

    fn cuCtxGetId(context: CUcontext, id: *mut u64) |engine| {
        // SAFETY: as the caller promised.
        let id = unsafe { Out::new(id)? };
        id.set(given(engine, context)?.id);
        Ok(())
    }

    fn cuCtxGetFlags(flags: *mut c_uint) |engine| {
        // SAFETY: as the caller promised.
        let flags = unsafe { Out::new(flags)? };
        flags.set(engine.contexts.current()?.flags.load(Relaxed));
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised; null means that the program does not want to know.
        unsafe {
            if let Ok(least) = Out::new(least) {
                least.set(0);
            }
            // All streams are equal here: a lower number is taken and changes nothing.
            if let Ok(greatest) = Out::new(greatest) {
                greatest.set(0);
            }
        }
        Ok(())
    }

    fn cuCtxGetLimit(value: *mut usize, limit: u32) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let value = unsafe { Out::new(value)? };
        value.set(to_usize(context.limits.find(limit)?.load(Relaxed)));
        Ok(())
    }

    fn cuCtxSetLimit(limit: u32, value: usize) |engine| {
        engine.contexts.current()?.limits.find(limit)?.store(to_u64(value), Relaxed);
        Ok(())
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) |_engine| {
        if mode.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: not null, and valid for reading and writing as the caller promised.
        unsafe { mode.write(exchange_mode(mode.read())) };
        Ok(())
    }

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |engine| {
        let context = engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let (free, total) = unsafe { (Out::new(free)?, Out::new(total)?) };
        let usage = context.device.usage().map_err(|_| Status::OPERATING_SYSTEM)?;
        free.set(to_usize(usage.total.saturating_sub(usage.used)));
        total.set(to_usize(usage.total));
        Ok(())
    }
}
