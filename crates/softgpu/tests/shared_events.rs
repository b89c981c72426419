//! Events of several processes whose makers and users are killed at any moment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::ffi::c_char;
use std::ptr::null_mut;
use std::time::Duration;

use common::*;
use millpond_cuda::sys::{CUevent, CUipcEventHandle, Status};
use millpond_softgpu::bridge;

const HANDLE: &str = "SOFTGPU_HANDLE";
const INTERPROCESS: u32 = 4 | 2;

fn make() -> CUevent {
    let mut event = null_mut();
    // SAFETY: the pointer is to an event.
    ok(unsafe { bridge::cuEventCreate(&raw mut event, INTERPROCESS) });
    event
}

fn export(event: CUevent) -> String {
    let mut handle = CUipcEventHandle { reserved: [0; 64] };
    // SAFETY: the pointer is to a handle, and the event is alive.
    ok(unsafe { bridge::cuIpcGetEventHandle(&raw mut handle, event) });
    handle.reserved.iter().map(|byte| format!("{:02x}", byte.to_ne_bytes()[0])).collect()
}

fn open() -> Result<CUevent, Status> {
    let text = std::env::var(HANDLE).unwrap();
    let mut handle = CUipcEventHandle { reserved: [0; 64] };
    for (index, byte) in handle.reserved.iter_mut().enumerate() {
        let value = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
        *byte = c_char::from_ne_bytes([value]);
    }
    let mut event = null_mut();
    // SAFETY: the pointer is to an event.
    let status = unsafe { bridge::cuIpcOpenEventHandle(&raw mut event, handle) };
    if status == Status::SUCCESS { Ok(event) } else { Err(status) }
}

/// Records the event, lets the stream wait for whoever recorded last, and waits for that.
fn use_it(event: CUevent) {
    // SAFETY: the event is alive, and null is the legacy stream.
    unsafe {
        ok(bridge::cuEventRecord(event, null_mut()));
        ok(bridge::cuStreamWaitEvent(null_mut(), event, 0));
        ok(bridge::cuStreamSynchronize(null_mut()));
        ok(bridge::cuEventSynchronize(event));
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
    match role.as_str() {
        "maker" => {
            let event = make();
            say(export(event));
            loop {
                use_it(event);
            }
        }
        "user" => {
            let event = open().unwrap();
            say("ready");
            loop {
                use_it(event);
            }
        }
        "last" => {
            let event = open().unwrap();
            say("ready");
            wait_for_parent();
            // Everybody else was killed: none of their marks holds anybody up.
            for _ in 0..2000 {
                use_it(event);
            }
            let again = open().unwrap();
            use_it(again);
            // SAFETY: both are alive, and used no more.
            unsafe {
                ok(bridge::cuEventDestroy_v2(event));
                ok(bridge::cuEventDestroy_v2(again));
            }
            say("done");
        }
        "opens" => say(open().map_or_else(|status| status.0, |_| 0)),
        other => panic!("no role {other}"),
    }
}

#[test]
fn nobody_waits_for_the_dead_and_nothing_is_left() {
    let folder = Folder::new();
    for round in 0..6_u64 {
        let mut maker = folder.child("maker", &[]);
        let handle = maker.answer();
        let env = [(HANDLE, handle.as_str())];
        let mut users: Vec<_> = (0..2).map(|_| folder.child("user", &env)).collect();
        users.iter_mut().for_each(|user| assert_eq!(user.answer(), "ready"));
        let mut last = folder.child("last", &env);
        assert_eq!(last.answer(), "ready");
        // They are at any point of their loop: the time only moves the point.
        std::thread::sleep(Duration::from_micros(round * 900));
        users.iter_mut().for_each(Role::kill);
        maker.kill();
        assert_eq!(folder.ask("opens", &env), "0", "the last one keeps it");
        last.go_on();
        assert_eq!(last.answer(), "done");
        assert!(last.child.wait().unwrap().success());
        assert_eq!(folder.used(), 0, "round {round}");
        assert_eq!(folder.allocations(), 0, "round {round}");
        assert_eq!(folder.ask("opens", &env), Status::INVALID_HANDLE.0.to_string());
    }
}
