//! What contexts cost, which devices a process sees, and what NVML says of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::ffi::CStr;
use std::ptr::null_mut;

use common::*;
use millpond_cuda::sys::{CUuuid, NvmlProcessInfo, Status};
use millpond_softgpu::bridge;

const CONTEXT: u64 = 8 << 20;

/// Makes a context of one's own; `None` when the device is full.
fn make() -> Option<millpond_cuda::sys::CUcontext> {
    let mut context = null_mut();
    // SAFETY: the pointer is to a context.
    match unsafe { bridge::cuCtxCreate_v2(&raw mut context, 0, 0) } {
        Status::SUCCESS => Some(context),
        status => {
            assert_eq!(status, Status::OUT_OF_MEMORY);
            None
        }
    }
}

/// The name of the device with this ordinal.
fn name(ordinal: i32) -> String {
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: the pointer is to a uuid.
    ok(unsafe { bridge::cuDeviceGetUuid_v2(&raw mut uuid, ordinal) });
    millpond_cuda::DeviceUuid(uuid.bytes.map(|byte| byte.to_ne_bytes()[0])).to_string()
}

/// The bytes that NVML says a process has on a device, by NVML's index.
fn charged(index: u32, pid: u32) -> Option<u64> {
    let mut device = null_mut();
    let mut infos = [NvmlProcessInfo::default(); 16];
    let mut count = 16;
    // SAFETY: the pointers are to values of the right types, with room for the count.
    unsafe {
        assert_eq!(bridge::nvmlInit_v2().0, 0);
        assert_eq!(bridge::nvmlDeviceGetHandleByIndex_v2(index, &raw mut device).0, 0);
        let infos = infos.as_mut_ptr();
        let listed = bridge::nvmlDeviceGetComputeRunningProcesses_v3(device, &raw mut count, infos);
        assert_eq!(listed.0, 0);
    }
    let listed = &infos[..usize::try_from(count).unwrap()];
    listed.iter().find(|info| info.pid == pid).map(|info| info.used_gpu_memory)
}

/// Played by children; does nothing in an ordinary run.
#[test]
fn role() {
    let Some(role) = my_role() else { return };
    match role.as_str() {
        "usage" => say(used_bytes()),
        "costs" => {
            init();
            let own = std::process::id();
            assert_eq!(charged(0, own), None, "without a context it is not listed");
            let mut expected = vec![0];
            let first = make().unwrap();
            expected.push(charged(0, own).unwrap());
            let second = make().unwrap();
            context();
            expected.push(charged(0, own).unwrap());
            // SAFETY: nothing uses the contexts.
            unsafe {
                ok(bridge::cuCtxDestroy_v2(second));
                ok(bridge::cuDevicePrimaryCtxReset_v2(0));
                expected.push(charged(0, own).unwrap());
                ok(bridge::cuDevicePrimaryCtxRelease_v2(0));
                ok(bridge::cuCtxDestroy_v2(first));
            }
            assert_eq!(charged(0, own), None);
            expected.push(used_bytes());
            say(format!("{expected:?}"));
        }
        "as_many_as_fit" => {
            init();
            let all: Vec<_> = std::iter::from_fn(make).collect();
            say(all.len());
            // SAFETY: nothing uses the context.
            ok(unsafe { bridge::cuCtxDestroy_v2(*all.last().unwrap()) });
            assert!(make().is_some() && make().is_none());
        }
        "names" => {
            init();
            let mut count = 0;
            // SAFETY: the pointer is to an int.
            ok(unsafe { bridge::cuDeviceGetCount(&raw mut count) });
            say((0..count).map(name).collect::<Vec<_>>().join(","));
        }
        "start" => {
            // SAFETY: cuInit has no conditions.
            say(unsafe { bridge::cuInit(0) }.0);
        }
        "second" => {
            // Shown as the only one: ordinal 0 here is NVML's device 1.
            init();
            let (handle, _) = (create(4 * PAGE), context());
            let (mut device, mut ordinal, mut bus) = (-1, -1, [0_i8 as std::ffi::c_char; 32]);
            let at = reserve(4 * PAGE);
            map(at, 4 * PAGE, handle);
            ok(open(at, 4 * PAGE, 3));
            // SAFETY: the pointers are to values of the right types.
            unsafe {
                ok(bridge::cuCtxGetDevice(&raw mut device));
                ok(bridge::cuPointerGetAttribute((&raw mut ordinal).cast(), 9, at));
                ok(bridge::cuDeviceGetPCIBusId(bus.as_mut_ptr(), 32, 0));
                ok(bridge::cuMemsetD8_v2(at, 7, 16));
            }
            assert_eq!(read(at), 7);
            // SAFETY: the call has put a text with its NUL there.
            let bus = unsafe { CStr::from_ptr(bus.as_ptr()) }.to_str().unwrap();
            let own = std::process::id();
            say(format!("{device} {ordinal} {bus} {:?} {:?}", charged(0, own), charged(1, own)));
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn each_context_is_charged_until_it_ends() {
    let folder = Folder::new();
    let answer = folder.ask("costs", &[("MILLPOND_SOFT_CONTEXT_BYTES", "8M")]);
    assert_eq!(answer, format!("{:?}", [0, CONTEXT, 3 * CONTEXT, CONTEXT, 0]));
    assert_eq!(folder.used(), 0);
}

#[test]
fn a_context_that_does_not_fit_is_refused() {
    let folder = Folder::new();
    let env = [("MILLPOND_SOFT_CONTEXT_BYTES", "8M"), ("MILLPOND_SOFT_MEMORY", "44M")];
    assert_eq!(folder.ask("as_many_as_fit", &env), "5");
}

#[test]
fn devices_are_shown_as_cuda_visible_devices_says() {
    let folder = Folder::new();
    let names = |shown: Option<&str>| {
        let mut env = vec![("MILLPOND_SOFT_DEVICES", "3"), ("MILLPOND_SOFT_MEMORY", "8M")];
        env.extend(shown.map(|list| ("CUDA_VISIBLE_DEVICES", list)));
        folder.ask("names", &env)
    };
    let all = names(None);
    let [first, second, third] = all.split(',').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(names(Some("2,0")), format!("{third},{first}"));
    assert_eq!(names(Some(&format!("{second},{third}"))), format!("{second},{third}"));
    assert_eq!(names(Some("1,-1,2")), second);
    let none = [("MILLPOND_SOFT_DEVICES", "3"), ("CUDA_VISIBLE_DEVICES", "")];
    assert_eq!(folder.ask("start", &none), Status::NO_DEVICE.0.to_string());
}

#[test]
fn nvml_shows_all_devices_whatever_cuda_shows() {
    let folder = Folder::new();
    let env = [("MILLPOND_SOFT_DEVICES", "2"), ("CUDA_VISIBLE_DEVICES", "1")];
    let answer = folder.ask("second", &env);
    assert_eq!(answer, format!("0 0 0000:01:00.0 None Some({})", 4 * PAGE));
}
