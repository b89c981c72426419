//! Legacy handles whose exporters and importers are killed at any moment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::ffi::c_char;
use std::time::Duration;

use common::*;
use millpond_cuda::sys::{CUipcMemHandle, Status};
use millpond_softgpu::bridge;

const HANDLE: &str = "SOFTGPU_HANDLE";

fn linear(bytes: u64) -> u64 {
    let mut at = 0;
    // SAFETY: the pointer is to an address.
    ok(unsafe { bridge::cuMemAlloc_v2(&raw mut at, usize::try_from(bytes).unwrap()) });
    at
}

fn export(at: u64) -> String {
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    // SAFETY: the pointer is to a handle.
    ok(unsafe { bridge::cuIpcGetMemHandle(&raw mut handle, at) });
    handle.reserved.iter().map(|byte| format!("{:02x}", byte.to_ne_bytes()[0])).collect()
}

fn open() -> Result<u64, Status> {
    let text = std::env::var(HANDLE).unwrap();
    let mut handle = CUipcMemHandle { reserved: [0; 64] };
    for (index, byte) in handle.reserved.iter_mut().enumerate() {
        let value = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
        *byte = c_char::from_ne_bytes([value]);
    }
    let mut at = 0;
    // SAFETY: the pointer is to an address.
    let status = unsafe { bridge::cuIpcOpenMemHandle_v2(&raw mut at, handle, 1) };
    if status == Status::SUCCESS { Ok(at) } else { Err(status) }
}

fn close(at: u64) {
    // SAFETY: nothing uses the memory.
    ok(unsafe { bridge::cuIpcCloseMemHandle(at) });
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
        "exporter" => {
            let at = linear(3 * PAGE);
            // SAFETY: the range is the memory's.
            ok(unsafe { bridge::cuMemsetD8_v2(at, 5, 4096) });
            say(export(at));
            wait_for_parent();
            // SAFETY: nothing of this process uses the memory.
            ok(unsafe { bridge::cuMemFree_v2(at) });
            say("freed");
            // It lives until it is killed: what it has freed is asked for meanwhile.
            loop {
                std::thread::park();
            }
        }
        "small" => {
            let (first, second) = (linear(4096), linear(8192));
            // SAFETY: the ranges are the memory's.
            ok(unsafe { bridge::cuMemsetD8_v2(second, 5, 4096) });
            let _ = first;
            say(export(second));
            wait_for_parent();
        }
        "holder" => {
            let at = open().unwrap();
            say(read(at));
            wait_for_parent();
            assert_eq!(read(at), 5);
            close(at);
            say("closed");
        }
        "importer" => {
            say("ready");
            while let Ok(at) = open() {
                assert_eq!(read(at), 5);
                match open() {
                    Ok(again) => {
                        assert_eq!(again, at);
                        close(at);
                    }
                    Err(status) => assert_eq!(status, Status::INVALID_HANDLE, "it was killed"),
                }
                close(at);
            }
        }
        "opens" => say(open().map_or_else(|status| status.0, |_| 0)),
        other => panic!("no role {other}"),
    }
}

#[test]
fn what_others_have_open_stays_when_the_exporter_frees_it() {
    let folder = Folder::new();
    let mut exporter = folder.child("exporter", &[]);
    let handle = exporter.answer();
    let env = [(HANDLE, handle.as_str())];
    let mut holder = folder.child("holder", &env);
    assert_eq!(holder.answer(), "5");
    assert_eq!(folder.ask("opens", &env), "0");
    exporter.go_on();
    assert_eq!(exporter.answer(), "freed");
    assert_eq!(folder.ask("opens", &env), Status::INVALID_VALUE.0.to_string());
    assert_eq!(folder.used(), 3 * PAGE);
    holder.go_on();
    assert_eq!(holder.answer(), "closed");
    assert_eq!(folder.used(), 0);
}

#[test]
fn small_memory_that_others_have_open_keeps_its_block() {
    let folder = Folder::new();
    let mut exporter = folder.child("small", &[]);
    let handle = exporter.answer();
    let env = [(HANDLE, handle.as_str())];
    let mut holders: Vec<_> = (0..2).map(|_| folder.child("holder", &env)).collect();
    holders.iter_mut().for_each(|holder| assert_eq!(holder.answer(), "5"));
    assert_eq!(folder.used(), PAGE);
    exporter.kill();
    for holder in &mut holders {
        assert_eq!(folder.used(), PAGE, "as on the card");
        holder.go_on();
        assert_eq!(holder.answer(), "closed");
        assert!(holder.child.wait().unwrap().success());
    }
    assert_eq!(folder.used(), 0);
}

#[test]
fn nothing_is_left_when_any_of_them_is_killed() {
    let folder = Folder::new();
    for round in 0..12_u64 {
        let mut exporter = folder.child("exporter", &[]);
        let handle = exporter.answer();
        let env = [(HANDLE, handle.as_str())];
        let mut importers: Vec<_> = (0..3).map(|_| folder.child("importer", &env)).collect();
        importers.iter_mut().for_each(|importer| assert_eq!(importer.answer(), "ready"));
        // They are at any point of their loop: the time only moves the point.
        std::thread::sleep(Duration::from_micros(round * 900));
        let mut last = importers.pop().unwrap();
        importers.iter_mut().for_each(Role::kill);
        exporter.kill();
        // The last one ends by itself: the handle of a dead exporter cannot be opened.
        assert!(last.child.wait().unwrap().success());
        assert_eq!(folder.used(), 0, "round {round}");
        assert_eq!(folder.ask("opens", &env), Status::INVALID_HANDLE.0.to_string());
    }
}
