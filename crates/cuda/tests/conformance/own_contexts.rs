//! Contexts that a program makes itself, and what belongs to a context.

use crate::alone::alone;
use crate::child::{Child, Peer};
use crate::extra::{Extra, need};
use crate::support::{Gpu, MIB, is_soft, observe_text, skip};
use millpond_cuda::sys::{CUcontext, CUdevice, Status};
use millpond_cuda::{Context, result};
use std::ptr::null_mut;

const BLOCKING_SYNC: u32 = 4;
const STACK_SIZE: u32 = 0;

fn in_fresh_thread(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(body);
    });
}

/// Makes a context with each version of the call, and names the version.
fn make(version: u32, flags: u32, device: CUdevice) -> Option<Result<CUcontext, Status>> {
    let extra = Extra::find();
    let mut context = null_mut();
    // SAFETY: the out-pointer is valid for the call, and nothing else is asked for.
    let status = unsafe {
        match version {
            2 => extra.cuCtxCreate_v2?(&raw mut context, flags, device),
            3 => extra.cuCtxCreate_v3?(&raw mut context, null_mut(), 0, flags, device),
            _ => extra.cuCtxCreate_v4?(&raw mut context, null_mut(), flags, device),
        }
    };
    Some(if status.is_success() { Ok(context) } else { Err(status) })
}

#[test]
fn a_context_of_ones_own_is_current_until_it_is_destroyed() {
    alone!();
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    for version in [2, 3, 4] {
        in_fresh_thread(|| {
            let table = gpu.driver.table();
            let destroy = need!(Extra::find(), cuCtxDestroy_v2);
            let Some(made) = make(version, 0, gpu.device.raw()) else {
                return skip(&format!("the driver exports no cuCtxCreate_v{version}"));
            };
            let context = made.unwrap();
            assert_eq!(result::context::current(table), Ok(context));
            assert_eq!(result::context::device(table), Ok(gpu.device.raw()));
            assert_ne!(context, gpu.context().raw(), "it is not the primary one");
            result::linear::alloc(table, 64 << 20).unwrap();
            // SAFETY: nothing uses the context any more.
            assert_eq!(unsafe { destroy(context) }, Status::SUCCESS);
            assert!(result::context::current(table).unwrap().is_null());
        });
        // Its memory goes with it, and what it cost itself.
        gpu.assert_freed(before);
    }
}

#[test]
fn a_context_takes_memory_of_its_own() {
    alone!();
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    in_fresh_thread(|| {
        let destroy = need!(Extra::find(), cuCtxDestroy_v2);
        let context = make(2, 0, gpu.device.raw()).unwrap().unwrap();
        let table = gpu.driver.table();
        let address = result::linear::alloc(table, 64 << 20).unwrap();
        let taken = before.saturating_sub(gpu.free_bytes());
        assert!(taken >= 64 * MIB, "{taken}");
        observe_text("bytes that a second context takes", taken - 64 * MIB);
        // SAFETY: the memory is ours and nothing uses it, or the context.
        unsafe {
            result::linear::free(table, address).unwrap();
            assert_eq!(destroy(context), Status::SUCCESS);
        }
    });
    gpu.assert_freed(before);
}

#[test]
fn contexts_have_flags_and_limits() {
    alone!();
    let gpu = Gpu::take();
    in_fresh_thread(|| {
        let extra = Extra::find();
        let destroy = need!(extra, cuCtxDestroy_v2);
        let get_flags = need!(extra, cuCtxGetFlags);
        let get_limit = need!(extra, cuCtxGetLimit);
        let set_limit = need!(extra, cuCtxSetLimit);
        let (mut flags, mut limit) = (0, 0);
        // SAFETY: the out-pointers are valid for the calls; the context is destroyed unused.
        unsafe {
            assert_eq!(get_flags(&raw mut flags), Status::INVALID_CONTEXT);
            let refused = make(2, 1 << 20, gpu.device.raw()).unwrap();
            assert_eq!(refused, Err(Status::INVALID_VALUE));
            let context = make(2, BLOCKING_SYNC, gpu.device.raw()).unwrap().unwrap();
            assert_eq!(get_flags(&raw mut flags), Status::SUCCESS);
            observe_text("cuCtxGetFlags of a context made with 4", flags);
            assert_eq!(flags & 7, BLOCKING_SYNC);
            assert_eq!(get_limit(&raw mut limit, STACK_SIZE), Status::SUCCESS);
            observe_text("the stack size of a new context", limit);
            assert!(limit > 0);
            assert_eq!(set_limit(STACK_SIZE, 8192), Status::SUCCESS);
            assert_eq!(get_limit(&raw mut limit, STACK_SIZE), Status::SUCCESS);
            assert!(limit >= 8192, "{limit}");
            let unknown = get_limit(&raw mut limit, 1000);
            observe_text("cuCtxGetLimit of an unknown limit", unknown);
            assert_ne!(unknown, Status::SUCCESS);
            assert_eq!(destroy(context), Status::SUCCESS);
        }
    });
}

#[test]
fn a_context_can_be_asked_by_name() {
    let gpu = Gpu::take();
    let context = gpu.context();
    in_fresh_thread(|| {
        let extra = Extra::find();
        let device_of = need!(extra, cuCtxGetDevice_v2);
        let synchronize = need!(extra, cuCtxSynchronize_v2);
        let version = need!(extra, cuCtxGetApiVersion);
        let (mut device, mut number) = (-1, 0);
        // SAFETY: the out-pointers are valid for the calls, and the context is alive.
        unsafe {
            assert_eq!(device_of(&raw mut device, context.raw()), Status::SUCCESS);
            assert_eq!(device, gpu.device.raw());
            assert_eq!(device_of(&raw mut device, null_mut()), Status::INVALID_CONTEXT);
            assert_eq!(synchronize(context.raw()), Status::SUCCESS);
            assert_eq!(version(context.raw(), &raw mut number), Status::SUCCESS);
            observe_text("cuCtxGetApiVersion", number);
        }
    });
}

#[test]
fn a_reset_ends_the_primary_context_and_its_memory() {
    let gpu = Gpu::take();
    let before = gpu.free_bytes();
    let child = Child::spawn("reset_primary");
    let (state, _) = child.peer.receive();
    observe_text("the primary context is active after a reset, after its releases; they", state);
    gpu.assert_freed(before);
    child.peer.send("go");
    child.finish();
}

pub fn reset_primary(peer: &Peer) {
    let gpu = Gpu::take();
    let table = gpu.driver.table();
    let reset = Extra::find().cuDevicePrimaryCtxReset_v2.unwrap();
    let first = result::context::retain_primary(table, gpu.device.raw()).unwrap();
    let second = result::context::retain_primary(table, gpu.device.raw()).unwrap();
    assert_eq!(first, second);
    let (after_reset, releases);
    // SAFETY: the context is retained twice, and nobody else in this process uses it.
    unsafe {
        result::context::set_current(table, first).unwrap();
        result::linear::alloc(table, 64 << 20).unwrap();
        assert_eq!(reset(gpu.device.raw()), Status::SUCCESS);
        after_reset = Context::primary_state(&gpu.device).unwrap().active;
        // CUDA says that who retained it still releases it, as often as before.
        releases = [(); 3].map(|()| {
            let released = result::context::release_primary(table, gpu.device.raw());
            released.err().map_or(Status::SUCCESS, |error| error.status)
        });
        result::context::set_current(table, null_mut()).unwrap();
    }
    let in_the_end = Context::primary_state(&gpu.device).unwrap().active;
    assert!(!in_the_end);
    let documented = [Status::SUCCESS, Status::SUCCESS, Status::INVALID_CONTEXT];
    assert!(releases == documented || !is_soft(), "{releases:?}");
    peer.send(&format!("{after_reset}, {in_the_end}, {releases:?}"));
    peer.expect("go");
    // It can be made anew.
    let context = Context::primary(&gpu.device).unwrap();
    assert!(context.memory_info().unwrap().total_bytes > 0);
}
