//! Files around a pond that others remove, plant or make longer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use millpond_tests::{Options, Process, TestPond, eventually, eventually_equal, skip};
use rustix::fs::{CWD, FileType, Mode};

const STRANGER: u32 = 2102;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn newcomer(pond: &TestPond) -> Option<()> {
    pond.connect().and_then(|pond| pond.ping()).ok()
}

#[test]
fn a_runtime_folder_that_was_removed_is_made_again_whoever_of_the_pond_dies_then() {
    let pond = TestPond::start(Options::new());
    let mut worker = pond.worker();
    let hash = worker.ask("put kept 1048576 7");
    let folder = pond.runtime_dir();
    for round in 0..4 {
        if round == 3 {
            fs::remove_file(folder.join("sock")).unwrap();
        } else {
            fs::remove_dir_all(&folder).unwrap();
        }
        // Whoever is connected does not notice.
        assert_eq!(worker.ask("hash kept"), hash);
        eventually("a new client is let in", || newcomer(&pond));
        let said = || pond.log().matches("listening there again").count();
        eventually_equal("the log says so", &(round + 1), said);
        pond.wait_for_keeper();
        for name in ["lock", "sock", "admin.sock", "watch.sock"] {
            assert!(folder.join(name).exists(), "{name}");
        }
        match round {
            0 => drop(pond.kill_keeper()),
            1 => drop(pond.kill_daemon()),
            _ => {}
        }
        assert_eq!(worker.ask("hash kept"), hash);
    }
    // The lock counts for `stop`, and for a second pond.
    let second = pond.serve_command().arg("--runtime-dir").arg(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("is already served by pid"), "{said}");
    drop(worker);
    let _ = pond.cli(&["stop"]).ok();
    assert!(!folder.join("sock").exists());
}

fn gpu_lock(soft: &Path) -> PathBuf {
    let mut paths = fs::read_dir(soft).unwrap().map(|entry| entry.unwrap().path());
    let is_lock = |path: &PathBuf| path.to_str().unwrap().ends_with(".lock");
    paths.find(is_lock).unwrap()
}

#[test]
fn the_lock_of_a_gpu_that_was_removed_is_made_again() {
    let pond = TestPond::start(Options::new().soft());
    let path = gpu_lock(&pond.path("soft"));
    fs::remove_file(&path).unwrap();
    eventually("another lock", || path.exists().then_some(()));
    eventually("what it says", || {
        let said = fs::read_to_string(&path).unwrap();
        said.contains(pond.runtime_dir().to_str().unwrap()).then_some(())
    });
    let log = || pond.log().contains("was removed, and is made again").then_some(());
    eventually("the log says so", log);
}

#[test]
fn what_others_leave_at_the_name_of_a_gpus_lock_keeps_no_pond_from_it() {
    let pond = TestPond::start(Options::new().soft());
    let path = gpu_lock(&pond.path("soft"));
    for kind in ["folder", "link", "socket", "pipe", "file"] {
        Process::open(pond.status().keeper_pid).unwrap().terminate();
        pond.wait_for_serve();
        fs::remove_file(&path).unwrap();
        match kind {
            "folder" => fs::create_dir(&path).unwrap(),
            "link" => std::os::unix::fs::symlink("/nonexistent", &path).unwrap(),
            "socket" => drop(UnixListener::bind(&path).unwrap()),
            "pipe" => {
                let mode = Mode::from_raw_mode(0o666);
                rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap();
            }
            // Only root tells its own file from another user's.
            _ if !is_root() => continue,
            _ => fs::write(&path, "nobody\nERROR fake: line").unwrap(),
        }
        if is_root() {
            std::os::unix::fs::lchown(&path, Some(STRANGER), Some(STRANGER)).unwrap();
        }
        pond.serve();
        let moved = || pond.log().contains("is moved to").then_some(());
        eventually("the log says so", moved);
        assert!(path.is_file() && !pond.log().contains("\nERROR fake"), "{kind}");
    }
}

#[test]
fn a_group_whose_file_a_member_makes_longer_is_cut_and_marked() {
    if !is_root() {
        return skip("only root's pond has groups of other users");
    }
    let pond = TestPond::start(Options::new());
    let _ =
        pond.cli(&["group", "set", "mine", "--limit", "1G", "--user", &STRANGER.to_string()]).ok();
    let folder = fs::read_dir(pond.runtime_dir().join("groups")).unwrap().next().unwrap().unwrap();
    for name in ["ledger", "exports"] {
        let path = folder.path().join(name);
        let file = File::options().write(true).open(&path).unwrap();
        for megabyte in 2..66 {
            file.write_all_at(&[1; 1 << 20], megabyte << 20).unwrap();
        }
        eventually("it is cut", || (path.metadata().unwrap().len() < 2 << 20).then_some(()));
    }
    let marked = || pond.log().contains("a member has made `ledger`").then_some(());
    eventually("the log says so", marked);
    // The folder of all groups goes: they are gone, and the next can be made.
    fs::remove_dir_all(pond.runtime_dir().join("groups")).unwrap();
    eventually("it is gone", || {
        let listed = pond.cli(&["group", "ls", "--json"]);
        (!listed.ok().contains("mine")).then_some(())
    });
    let _ = pond.cli(&["group", "set", "next", "--limit", "1G"]).ok();
}
