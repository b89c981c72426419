//! Strict and adversarial mode, faults on purpose, and settings.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::os::unix::process::ExitStatusExt;

use common::*;
use millpond_cuda::sys::Status;
use millpond_softgpu::bridge;

/// Played by children; does nothing in an ordinary run.
#[test]
fn role() {
    let Some(role) = my_role() else { return };
    match role.as_str() {
        "host read" => {
            init();
            context();
            let at = mapped(PAGE);
            // SAFETY: the call takes no pointers of ours.
            ok(unsafe { bridge::cuMemsetD8_v2(at, 7, 16) });
            let byte = std::ptr::with_exposed_provenance::<u8>(usize::try_from(at).unwrap());
            // SAFETY: none in strict mode, which is what the test is about.
            say(unsafe { byte.read_volatile() });
        }
        "unmap under work" => {
            init();
            context();
            let (at, stream) = (mapped(PAGE), stream(1));
            ok(fill_async(at, 1, 16, stream));
            ok(unmap(at, PAGE));
            let status = synchronize(stream);
            // SAFETY: the call takes no pointers.
            say(format!("{} {}", status.0, unsafe { bridge::cuCtxSynchronize() }.0));
        }
        "unmap after upload" => {
            init();
            context();
            let (at, bytes) = (mapped(PAGE), [7u8; 64]);
            // SAFETY: the source has that many bytes; that nobody waits is what is tested.
            ok(unsafe { bridge::cuMemcpyHtoD_v2(at, bytes.as_ptr().cast(), bytes.len()) });
            ok(unmap(at, PAGE));
            // SAFETY: the call takes no pointers.
            say(unsafe { bridge::cuCtxSynchronize() }.0);
        }
        "close under work" => {
            init();
            context();
            let (at, stream) = (mapped(PAGE), stream(1));
            ok(fill_async(at, 1, 16, stream));
            ok(open(at, PAGE, 1));
            say(synchronize(stream).0);
        }
        "wait for work" => {
            init();
            context();
            let (at, stream) = (mapped(PAGE), stream(0));
            ok(fill_async(at, 1, 16, stream));
            // A synchronous copy comes after blocking streams.
            assert_eq!(read(at), 1);
            ok(fill_async(at, 2, 16, stream));
            ok(synchronize(stream));
            assert_eq!(read(at), 2);
            ok(unmap(at, PAGE));
            // SAFETY: the call takes no pointers.
            say(unsafe { bridge::cuCtxSynchronize() }.0);
        }
        "faults" => {
            init();
            let answers: Vec<u32> =
                (0..4).map(|_| try_create(0, PAGE).err().unwrap_or(Status::SUCCESS).0).collect();
            millpond_softgpu::faults::set("cuMemCreate:error=801").unwrap();
            let set = try_create(0, PAGE).unwrap_err().0;
            millpond_softgpu::faults::clear();
            assert!(try_create(0, PAGE).is_ok());
            say(format!("{answers:?} {set}"));
        }
        "start" => {
            // SAFETY: cuInit has no conditions.
            let status = unsafe { bridge::cuInit(0) };
            let error = millpond_softgpu::configuration()
                .err()
                .map_or_else(String::new, |error| error.to_string());
            say(format!("{} {error}", status.0));
        }
        "devices" => {
            init();
            let (mut count, mut total, mut name) = (0, 0, [0_u8; 64]);
            // SAFETY: the pointers are to values of the right types.
            unsafe {
                ok(bridge::cuDeviceGetCount(&raw mut count));
                ok(bridge::cuDeviceTotalMem_v2(&raw mut total, 1));
                ok(bridge::cuDeviceGetName(name.as_mut_ptr().cast(), 64, 1));
            }
            let uuids: Vec<[u8; 16]> = (0..2)
                .map(|device| {
                    let mut uuid = [0_u8; 16];
                    // SAFETY: a CUuuid is 16 bytes.
                    ok(unsafe { bridge::cuDeviceGetUuid_v2(uuid.as_mut_ptr().cast(), device) });
                    uuid
                })
                .collect();
            assert_ne!(uuids[0], uuids[1]);
            // Each device has its own memory.
            assert!(
                try_create(0, 32 << 20).is_ok()
                    && try_create(0, PAGE).is_err()
                    && try_create(1, 32 << 20).is_ok()
            );
            let name = std::ffi::CStr::from_bytes_until_nul(&name).unwrap().to_str().unwrap();
            say(format!("{count} {total} {name} {:?}", uuids[0]));
        }
        "many mappings" => {
            init();
            let limit: u64 = std::fs::read_to_string("/proc/sys/vm/max_map_count")
                .unwrap()
                .trim()
                .parse()
                .unwrap();
            let (handle, at) = (create(PAGE), reserve(2 * limit * PAGE));
            // One more, so that the limit is met by an even or an odd number of them.
            if std::env::var_os("ODD").is_some() {
                let (handle, at) = (create(PAGE), reserve(PAGE));
                map(at, PAGE, handle);
                ok(open(at, PAGE, 3));
            }
            // Every second page, so that neighbours do not become one mapping.
            let refused = (0..limit).map(|index| at + 2 * index * PAGE).find_map(|place| {
                map(place, PAGE, handle);
                Some(open(place, PAGE, 1)).filter(|status| *status != Status::SUCCESS)
            });
            ok(unmap(at, 2 * limit * PAGE));
            say(format!("{:?}", refused.map(|status| status.0)));
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn the_host_reads_device_memory_unless_the_mode_is_strict() {
    let folder = Folder::new();
    assert_eq!(folder.ask("host read", &[]), "7");
    let mut strict = folder.child("host read", &[("MILLPOND_SOFT_STRICT", "1")]);
    assert_eq!(strict.child.wait().unwrap().signal(), Some(11), "a segmentation fault");
}

#[test]
fn adversarial_mode_catches_what_is_taken_from_queued_work() {
    let folder = Folder::new();
    let adversarial = [("MILLPOND_SOFT_ADVERSARIAL", "1")];
    assert_eq!(folder.ask("unmap under work", &adversarial), "700 700");
    assert_eq!(folder.ask("close under work", &adversarial), "700");
    assert_eq!(folder.ask("unmap after upload", &adversarial), "700");
    assert_eq!(folder.ask("unmap after upload", &[]), "0");
    assert_eq!(
        folder.ask("wait for work", &adversarial),
        "0",
        "a correct program is not disturbed"
    );
    assert_eq!(folder.ask("wait for work", &[("MILLPOND_SOFT_STRICT", "1"), adversarial[0]]), "0");
}

#[test]
fn faults_are_injected_by_environment_and_by_call() {
    let folder = Folder::new();
    let env = [("MILLPOND_SOFT_FAULTS", "cuMemCreate:error=999,on=2;cuMemCreate:oom_after=3")];
    assert_eq!(folder.ask("faults", &env), "[0, 999, 0, 2] 801");
}

#[test]
fn a_bad_setting_stops_the_driver_and_says_why() {
    let folder = Folder::new();
    let answer = folder.ask("start", &[("MILLPOND_SOFT_FAULTS", "cuNothing:error=1")]);
    assert_eq!(
        answer,
        "802 MILLPOND_SOFT_FAULTS: fault rule names 'cuNothing', which is no call of this driver"
    );
    assert!(
        folder
            .ask("start", &[("MILLPOND_SOFT_DEVICES", "99")])
            .starts_with("802 MILLPOND_SOFT_DEVICES")
    );
    assert_eq!(folder.ask("start", &[("MILLPOND_SOFT_DIR", "/proc/nothing")]), "304");
    assert_eq!(folder.ask("start", &[]), "0");
}

#[test]
fn devices_are_as_configured_and_the_same_for_everybody() {
    let env = [
        ("MILLPOND_SOFT_DEVICES", "2"),
        ("MILLPOND_SOFT_PROFILE", "small"),
        ("MILLPOND_SOFT_MEMORY", "33M"),
    ];
    let folder = Folder::new();
    let answer = folder.ask("devices", &env);
    assert!(answer.starts_with("2 33554432 Millpond Small (software) ["), "{answer}");
    assert_eq!(folder.ask("devices", &env), answer);
    assert_ne!(Folder::new().ask("devices", &env), answer, "another folder, another card");
}

#[test]
fn too_many_mappings_are_out_of_memory() {
    assert_eq!(Folder::new().ask("many mappings", &[]), "Some(2)");
    assert_eq!(Folder::new().ask("many mappings", &[("ODD", "1")]), "Some(2)");
}
