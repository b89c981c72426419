//! A real keeper, killed daemons, a killed keeper.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use millpond_keeper::channel::HoldKey;
use rustix::process::Signal;
use support::{Pond, signal};

#[test]
fn keeper_process() {
    support::keeper_main(support::new_keeper);
}

#[test]
fn adopting_keeper_process() {
    support::keeper_main(support::adopting_keeper);
}

#[test]
fn daemon_process() {
    support::daemon_main();
}

#[test]
fn holds_survive_kills_of_the_daemon() {
    let pond = Pond::start("serve", &[]);
    let first = pond.daemon(1);
    assert_eq!(first.held.len(), 4, "lock and three sockets: {:?}", first.held);
    assert_eq!(first.holds.len(), 255);
    let mut pid = first.pid;
    for epoch in 2..=4 {
        signal(pid, Signal::KILL);
        let next = pond.daemon(epoch);
        assert_eq!(next.epoch, epoch);
        assert_eq!(next.held, first.holds, "the same keys and the same files");
        assert_eq!(next.journal, "written in epoch 1");
        assert_eq!(next.keeper_pid, first.keeper_pid);
        assert_ne!(next.pid, pid);
        pid = next.pid;
    }
}

#[test]
fn what_a_dead_daemon_had_queued_counts() {
    let pond = Pond::start("queue-and-die,serve", &[]);
    let dead = pond.daemon(1);
    pond.until_gone(dead.pid);
    signal(dead.keeper_pid, Signal::CONT);
    let next = pond.daemon(2);
    assert_eq!(next.held, dead.holds);
    assert_eq!(next.held.len(), 256);
    assert_eq!(next.journal, "written by a dead daemon", "the last hold of a key wins");
}

#[test]
fn replaced_and_dropped_descriptors_are_not_handed_on() {
    let pond = Pond::start("compact,serve", &[]);
    let first = pond.daemon(1);
    signal(first.pid, Signal::KILL);
    let next = pond.daemon(2);
    assert_eq!(next.held, first.holds);
    assert_eq!(next.journal, "compacted");
    assert_eq!(next.held.len(), 255 - 83);
}

#[test]
fn a_stop_waits_for_the_daemon_and_removes_the_sockets() {
    let pond = Pond::start("serve", &[]);
    let daemon = pond.daemon(1);
    let socket = pond.folder.path().join("sock");
    assert!(socket.exists());
    signal(daemon.keeper_pid, Signal::HUP);
    signal(daemon.keeper_pid, Signal::TERM);
    assert_eq!(pond.end(daemon.keeper_pid).result, "Stopped");
    assert!(pond.has_note("stopped"));
    assert!(!socket.exists() && !pond.folder.path().join("admin.sock").exists());
    assert!(!pond.has_note("daemon-2"));
}

#[test]
fn a_daemon_that_does_not_stop_is_killed() {
    let pond = Pond::start("deaf", &[("MILLPOND_DRAIN_SECONDS", "0")]);
    let daemon = pond.daemon(1);
    signal(daemon.keeper_pid, Signal::INT);
    assert_eq!(pond.end(daemon.keeper_pid).result, "Killed");
    pond.until_gone(daemon.pid);
}

#[test]
fn a_second_signal_is_the_end_of_patience() {
    let pond = Pond::start("deaf", &[("MILLPOND_DRAIN_SECONDS", "3600")]);
    let daemon = pond.daemon(1);
    // Signals of one kind may fall together before they are seen: until it is over.
    let end = format!("end-{}", daemon.keeper_pid);
    pond.until("end of the keeper", || {
        signal(daemon.keeper_pid, Signal::TERM);
        std::thread::sleep(std::time::Duration::from_millis(20));
        pond.has_note(&end).then_some(())
    });
    assert_eq!(pond.end(daemon.keeper_pid).result, "Killed");
}

#[test]
fn a_hung_daemon_is_killed_and_replaced() {
    let pond = Pond::start("hang,serve", &[("MILLPOND_WATCHDOG_SECONDS", "1")]);
    let hung = pond.daemon(1);
    let next = pond.daemon(2);
    assert_eq!(next.held, hung.holds);
    pond.until_gone(hung.pid);
    pond.until_said(&format!("daemon {} has hung for 1 s", hung.pid));
}

#[test]
fn a_daemon_that_answers_is_left_alone() {
    let pond = Pond::start("serve", &[]);
    let pinged: support::Note = pond.note("pinged");
    assert_eq!(pinged.epoch, 1);
}

#[test]
fn a_daemon_that_leaves_by_itself_is_replaced() {
    // More often than is answered at once.
    let pond = Pond::start(&format!("{}serve", "leave,".repeat(21)), &[]);
    let last = pond.daemon(22);
    assert_eq!(last.held, pond.daemon(1).holds);
    pond.until_said(
        "the daemon died 21 times in a row, 255 are held; the next is started in 10 ms",
    );
}

#[test]
fn a_first_daemon_that_fails_ends_the_keeper() {
    let mut pond = Pond::new();
    let keeper = pond.start_keeper("fail", &[]);
    let end = pond.end(keeper);
    assert_eq!(end.result, "the daemon could not start (ended: exit status: 3)");
    assert!(!pond.folder.path().join("sock").exists());
}

#[test]
fn a_later_daemon_that_fails_is_started_again() {
    let pond = Pond::start("serve,fail,fail,serve", &[]);
    let first = pond.daemon(1);
    signal(first.pid, Signal::KILL);
    assert_eq!(pond.daemon(4).held, first.holds);
}

#[test]
fn a_dead_keeper_is_replaced_by_its_daemon() {
    let mut pond = Pond::start("serve", &[]);
    let first = pond.daemon(1);
    signal(first.keeper_pid, Signal::KILL);
    let adopted: support::Note = pond.note("adopted-1");
    assert_eq!((adopted.pid, adopted.epoch), (first.pid, 1), "the daemon lives on");
    assert_ne!(adopted.keeper_pid, first.keeper_pid);

    // The second keeper dies as well, right after it was started.
    signal(adopted.keeper_pid, Signal::KILL);
    let adopted: support::Note = pond.note("adopted-2");
    signal(first.pid, Signal::KILL);
    let next = pond.daemon(2);
    assert_eq!(next.keeper_pid, adopted.keeper_pid);
    assert_eq!(next.held, first.holds, "what the first daemon held, through three keepers");

    let refused = pond.start_keeper("serve", &[]);
    let expected = format!("already served by pid {}", adopted.keeper_pid);
    assert!(pond.end(refused).result.contains(&expected), "{}", pond.end(refused).result);
    signal(adopted.keeper_pid, Signal::TERM);
    assert_eq!(pond.end(adopted.keeper_pid).result, "Stopped");
}

#[test]
fn a_signal_to_a_keeper_that_was_just_started_is_not_lost() {
    // The daemon sends it before the new process has come to its own code.
    let pond = Pond::start("term-keeper", &[]);
    let first = pond.daemon(1);
    signal(first.keeper_pid, Signal::KILL);
    let adopted: support::Note = pond.note("adopted-1");
    assert_eq!(pond.end(adopted.keeper_pid).result, "Stopped");
    assert!(pond.has_note("stopped") && !pond.has_note("adopted-2"));
}

#[test]
fn a_second_keeper_is_refused_by_name() {
    let mut pond = Pond::start("serve", &[]);
    let first = pond.daemon(1);
    let second = pond.start_keeper("serve", &[]);
    let end = pond.end(second);
    let folder = pond.folder.path().display();
    let user = rustix::process::geteuid().as_raw();
    let expected = format!(
        "the pond in '{folder}' is already served by pid {} (user {user})",
        first.keeper_pid
    );
    assert_eq!(end.result, expected);
    assert!(end.hint.unwrap().contains("--runtime-dir"));
    assert!(pond.folder.path().join("sock").exists(), "the first one's socket is not touched");
}

#[test]
fn sockets_and_lock_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    let pond = Pond::start("serve", &[]);
    let daemon = pond.daemon(1);
    for name in ["sock", "admin.sock", "watch.sock", "lock"] {
        let mode = pond.folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let keys: Vec<_> = daemon.held.iter().map(|(key, ..)| key.as_str()).collect();
    let lock = HoldKey::folder_lock();
    assert_eq!(keys, ["listen/admin.sock", "listen/sock", "listen/watch.sock", lock.as_str()]);
}

#[test]
fn folders_that_cannot_be_used_are_refused_by_name() {
    use std::os::unix::fs::PermissionsExt;
    let mut pond = Pond::new();
    let open = pond.folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
    let file = pond.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let link = pond.folder.path().join("link");
    std::os::unix::fs::symlink("/", &link).unwrap();
    let long = pond.folder.path().join("x".repeat(110));
    // Root can give a folder away; for everybody else there is one that is root's.
    let mut foreign = std::path::PathBuf::from("/");
    if rustix::process::geteuid().is_root() {
        foreign = pond.folder.path().join("foreign");
        std::fs::create_dir(&foreign).unwrap();
        std::os::unix::fs::chown(&foreign, Some(12345), None).unwrap();
    }
    for (folder, expected) in [
        (&open, "can be written by others (mode 777)"),
        (&foreign, "belongs to user"),
        (&file, "is not a folder"),
        (&link, "is not a folder"),
        (&long, "the kernel takes at most 107"),
    ] {
        let keeper =
            pond.start_keeper("serve", &[("MILLPOND_RUNTIME_DIR", folder.to_str().unwrap())]);
        let end = pond.end(keeper);
        assert!(end.result.contains(expected), "{end:?}");
        assert!(end.result.contains(folder.to_str().unwrap()), "{end:?}");
        assert!(end.hint.is_some(), "{end:?}");
    }
}

#[test]
fn the_service_manager_is_told() {
    let notes = tempfile::tempdir().unwrap();
    let path = notes.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_nonblocking(true).unwrap();
    let settings = [("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "1000000")];
    let pond = Pond::start("serve", &settings);
    let mut told = String::new();
    let mut until_told = |line: &str| {
        pond.until(&format!("`{line}` for the service manager"), || {
            let mut buffer = [0; 4096];
            while let Ok(bytes) = socket.recv(&mut buffer) {
                told.push_str(std::str::from_utf8(&buffer[..bytes]).unwrap());
            }
            told.lines().any(|told| told == line).then_some(())
        });
    };
    let daemon = pond.daemon(1);
    until_told("READY=1");
    until_told(&format!("STATUS=serving: epoch 1, daemon {}", daemon.pid));
    until_told("WATCHDOG=1");
    signal(daemon.keeper_pid, Signal::KILL);
    let adopted: support::Note = pond.note("adopted-1");
    until_told(&format!("MAINPID={}", adopted.keeper_pid));
    signal(adopted.keeper_pid, Signal::TERM);
    until_told("STOPPING=1");
}
