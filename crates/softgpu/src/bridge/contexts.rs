//! Contexts, current and not.

use std::ffi::{c_int, c_uint};

use millpond_cuda::sys::{CUcontext, CUdevice, Status};

use super::{Out, entries, number, opaque};
use crate::engine::capture::exchange_mode;
use crate::engine::system::to_usize;

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
        flags.set(0);
        active.set(c_int::from(engine.contexts.primary_is_active(device)));
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, _flags: c_uint) |engine| {
        // How a thread waits for the card: there is nothing to choose here.
        engine.device(device).map(drop)
    }

    fn cuCtxCreate_v2(context: *mut CUcontext, _flags: c_uint, device: CUdevice) |engine| {
        // SAFETY: as the caller promised.
        let context = unsafe { Out::new(context)? };
        context.set(opaque(engine.contexts.create(engine.device(device)?)?));
        Ok(())
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
        let index = engine.contexts.current_any()?.device.index;
        device.set(CUdevice::try_from(index).map_err(|_| Status::INVALID_DEVICE)?);
        Ok(())
    }

    fn cuCtxSynchronize() |engine| {
        let context = engine.contexts.current()?;
        engine.captures.refuse_context(context.id)?;
        context.queue.wait_all()?;
        engine.pools.relax();
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
