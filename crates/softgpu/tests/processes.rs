//! Memory that outlives processes, and processes that die at any moment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::*;

/// Played by children; does nothing in an ordinary run.
#[test]
#[allow(clippy::zombie_processes, reason = "the parent of the heir is killed on purpose")]
fn role() {
    let Some(role) = my_role() else { return };
    match role.as_str() {
        "usage" => say(used_bytes()),
        "holder" => {
            init();
            for pages in 1..=3 {
                create(pages * PAGE);
            }
            say("ready");
            wait_for_parent();
        }
        "mapper" => {
            init();
            mapped(2 * PAGE);
            say("ready");
            wait_for_parent();
        }
        "giver" => {
            init();
            // A process without CUDA gets the fd as its input and holds it.
            let handle = create(4 * PAGE);
            // SAFETY: the fd was just exported to us.
            let fd = unsafe { OwnedFd::from_raw_fd(export(handle)) };
            let mut heir = Command::new("sleep");
            let heir = heir.arg("60").stdin(Stdio::from(fd)).stdout(Stdio::null()).spawn().unwrap();
            release(handle);
            say(heir.id());
            wait_for_parent();
        }
        "worker" => {
            init();
            say("ready");
            let mut held = Vec::new();
            for step in 0.. {
                match try_create(0, (1 + step % 4) * PAGE) {
                    Ok(handle) => held.push(handle),
                    Err(status) => assert_eq!(status, millpond_cuda::sys::Status::OUT_OF_MEMORY),
                }
                if held.len() > 5 || step % 7 == 0 {
                    held.drain(..).for_each(release);
                }
            }
        }
        "everything" => {
            init();
            say(try_create(0, 64 << 20).is_ok());
        }
        "large" => {
            init();
            say(try_create(0, 128 << 30).unwrap_err().0);
        }
        "contexts" => {
            init();
            let before = used_bytes();
            context();
            say(format!("{before} {}", used_bytes()));
            wait_for_parent();
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn what_a_killed_process_held_is_free() {
    let folder = Folder::new();
    let mut holder = folder.child("holder", &[]);
    assert_eq!(holder.answer(), "ready");
    assert_eq!((folder.used(), folder.allocations()), (6 * PAGE, 3));
    holder.kill();
    assert_eq!(folder.used(), 0);
    assert_eq!(folder.allocations(), 0, "the files are gone too");
}

#[test]
fn a_mapping_alone_keeps_memory() {
    let folder = Folder::new();
    let mut mapper = folder.child("mapper", &[]);
    mapper.answer();
    assert_eq!(folder.used(), 2 * PAGE);
    mapper.kill();
    assert_eq!(folder.used(), 0);
}

#[test]
fn an_fd_in_a_process_without_cuda_keeps_memory() {
    let folder = Folder::new();
    let mut giver = folder.child("giver", &[]);
    let heir = giver.answer();
    giver.kill();
    assert_eq!(folder.used(), 4 * PAGE, "the heir holds it");
    assert!(Command::new("kill").args(["-9", &heir]).status().unwrap().success());
    for _ in 0..200 {
        if folder.used() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("still {} bytes in use", folder.used());
}

#[test]
fn kills_at_any_moment_leak_nothing_and_wedge_nobody() {
    let folder = Folder::new();
    for round in 0..30_u64 {
        let mut workers = [folder.child("worker", &[]), folder.child("worker", &[])];
        for worker in &mut workers {
            worker.answer();
        }
        // Times that fall into different places of the workers' loop.
        std::thread::sleep(Duration::from_micros(500 + round * 337));
        for worker in &mut workers {
            worker.kill();
        }
    }
    assert_eq!(folder.used(), 0);
    assert_eq!(folder.allocations(), 0);
    assert_eq!(folder.ask("everything", &[]), "true");
}

#[test]
fn memory_of_the_dead_is_found_when_it_is_needed() {
    let folder = Folder::new();
    let mut holder = folder.child("holder", &[]);
    holder.answer();
    assert_eq!(folder.ask("everything", &[]), "false");
    holder.kill();
    assert_eq!(folder.ask("everything", &[]), "true");
}

#[test]
fn contexts_are_charged_while_their_process_lives() {
    let folder = Folder::new();
    let env = [("MILLPOND_SOFT_CONTEXT_BYTES", "8M")];
    let mut one = folder.child("contexts", &env);
    assert_eq!(one.answer(), format!("0 {}", 8 << 20));
    let mut two = folder.child("holder", &[]);
    two.answer();
    assert_eq!(folder.used(), (8 << 20) + 6 * PAGE);
    one.kill();
    assert_eq!(folder.used(), 6 * PAGE);
}

#[test]
fn many_processes_start_in_a_new_folder_at_once() {
    let folder = Folder::new();
    let env = [("MILLPOND_SOFT_MEMORY", "256M")];
    let mut all: Vec<_> = (0..16).map(|_| folder.child("holder", &env)).collect();
    for one in &mut all {
        assert_eq!(one.answer(), "ready");
    }
    assert_eq!(folder.used(), 16 * 6 * PAGE);
    all.iter_mut().for_each(Role::kill);
    assert_eq!(folder.used(), 0);
}

#[test]
fn a_card_larger_than_the_machine_is_out_of_memory_at_once() {
    let folder = Folder::new();
    let start = std::time::Instant::now();
    assert_eq!(folder.ask("large", &[("MILLPOND_SOFT_MEMORY", "130G")]), "2");
    // To fill it would take minutes, if there were so much.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
