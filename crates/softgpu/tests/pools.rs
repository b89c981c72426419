//! Pools, graphs and managed memory in the driver's modes, and when their process is killed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::os::unix::process::ExitStatusExt;

use common::*;
use millpond_cuda::sys::{CUdeviceptr, CUstream, constants};
use millpond_softgpu::bridge;

fn alloc_async(bytes: usize, stream: CUstream) -> CUdeviceptr {
    let mut at = 0;
    // SAFETY: the pointer is to an address.
    ok(unsafe { bridge::cuMemAllocAsync(&raw mut at, bytes, stream) });
    at
}

fn free_async(at: CUdeviceptr, stream: CUstream) {
    // SAFETY: the call takes no pointers of ours.
    ok(unsafe { bridge::cuMemFreeAsync(at, stream) });
}

/// Memory of the default pool stays reserved.
fn keep_everything() {
    let mut pool = std::ptr::null_mut();
    let mut threshold = u64::MAX;
    // SAFETY: the pointers are to values of the right types.
    unsafe {
        ok(bridge::cuDeviceGetDefaultMemPool(&raw mut pool, 0));
        let value = (&raw mut threshold).cast();
        ok(bridge::cuMemPoolSetAttribute(pool, constants::POOL_RELEASE_THRESHOLD, value));
    }
}

/// Played by children; does nothing in an ordinary run.
#[test]
fn role() {
    let Some(role) = my_role() else { return };
    if role == "usage" {
        return say(used_bytes());
    }
    init();
    context();
    let stream = stream(1);
    match role.as_str() {
        "use after free" => {
            keep_everything();
            let at = alloc_async(4096, stream);
            ok(fill_async(at, 7, 4096, stream));
            free_async(at, stream);
            ok(synchronize(stream));
            say(read(at));
        }
        "step" => {
            alloc_async(1, stream);
            say(used_bytes());
        }
        "managed" => {
            let mut at = 0;
            // SAFETY: the pointer is to an address.
            ok(unsafe { bridge::cuMemAllocManaged(&raw mut at, 5000, constants::ATTACH_GLOBAL) });
            let byte = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(at).unwrap());
            // SAFETY: the host may touch managed memory, also in strict mode.
            unsafe { byte.write_volatile(9) };
            say(format!("{} {}", read(at), used_bytes()));
        }
        "pool read" => {
            let at = alloc_async(4096, stream);
            let byte = std::ptr::with_exposed_provenance::<u8>(usize::try_from(at).unwrap());
            // SAFETY: none in strict mode, which is what the test is about.
            say(unsafe { byte.read_volatile() });
        }
        "lost capture" => {
            // A capture whose context is gone binds nobody.
            let mut own = std::ptr::null_mut();
            // SAFETY: the pointer is to a context.
            ok(unsafe { bridge::cuCtxCreate_v2(&raw mut own, 0, 0) });
            let inner = common::stream(1);
            // SAFETY: the calls take no pointers of ours.
            unsafe {
                ok(bridge::cuStreamBeginCapture_v2(inner, constants::CAPTURE_GLOBAL));
                ok(bridge::cuCtxDestroy_v2(own));
            }
            context();
            say(alloc_async(4096, stream) > 0);
        }
        "churn" => {
            say("ready");
            let mut held = Vec::new();
            for step in 0_usize.. {
                held.push(alloc_async((1 + step % 3) << 20, stream));
                if held.len() > 6 {
                    free_async(held.remove(step % held.len()), stream);
                }
                if step.is_multiple_of(3) {
                    ok(synchronize(stream));
                }
            }
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn adversarial_mode_finds_a_use_after_the_free() {
    let folder = Folder::new();
    assert_eq!(folder.ask("use after free", &[]), "7");
    let adversarial = [("MILLPOND_SOFT_ADVERSARIAL", "1")];
    assert_eq!(folder.ask("use after free", &adversarial), "219");
}

#[test]
fn the_growth_step_can_be_set() {
    let folder = Folder::new();
    assert_eq!(folder.ask("step", &[]), (32 << 20).to_string());
    let small = [("MILLPOND_SOFT_POOL_STEP", "3M")];
    assert_eq!(folder.ask("step", &small), (4 << 20).to_string());
}

#[test]
fn the_host_may_touch_managed_memory_in_strict_mode() {
    let folder = Folder::new();
    let strict = [("MILLPOND_SOFT_STRICT", "1")];
    assert_eq!(folder.ask("managed", &strict), "9 8192");
    let mut child = folder.child("pool read", &strict);
    assert_eq!(child.child.wait().unwrap().signal(), Some(11), "but not memory of a pool");
}

#[test]
fn a_capture_ends_with_its_context() {
    assert_eq!(Folder::new().ask("lost capture", &[]), "true");
}

#[test]
fn pools_of_killed_processes_are_freed() {
    let folder = Folder::new();
    for milliseconds in [0, 3, 10, 25, 40] {
        let mut child = folder.child("churn", &[]);
        assert_eq!(child.answer(), "ready");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill();
        assert_eq!(folder.used(), 0, "killed after {milliseconds} ms");
    }
}
