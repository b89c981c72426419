//! Bytes into the pond and out of it by the command line, while anything is killed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use millpond_tests::{
    Accounts, Options, PATIENCE, Process, TestPond, content, eventually, eventually_equal, say,
};

const MIB: u64 = 1 << 20;
/// Two moves of a file.
const LARGE: u64 = 260 * MIB;
/// Kills must come in the middle at least once in so many rounds.
const ROUNDS: usize = 10;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A file with known bytes.
fn file(pond: &TestPond, name: &str, count: u64, seed: u64) -> String {
    let path = pond.path(name);
    fs::write(&path, content::bytes(count, seed)).unwrap();
    text(&path).to_owned()
}

/// Quietly: what it says then is what went wrong.
fn start(pond: &TestPond, arguments: &[&str]) -> Child {
    let mut command = pond.cli_command(&[&["-q"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// How it ended, and what it said about it.
fn finish(mut child: Child) -> (Option<i32>, String) {
    drop(child.stdin.take());
    if child.try_wait().unwrap().is_none() {
        let process = Process::open(child.id()).unwrap();
        assert!(process.wait(PATIENCE), "the command does not end");
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Waits until a move is under way; false if the command ended before one was seen.
fn is_moving(pond: &TestPond, child: &mut Child) -> bool {
    eventually("a move", || {
        if child.try_wait().unwrap().is_some() {
            return Some(false);
        }
        let movers = pond.status().movers;
        movers.iter().any(|mover| mover.moves > 0).then_some(true)
    })
}

fn names(pond: &TestPond) -> Vec<String> {
    let tensors = pond.control().list("").unwrap();
    tensors.iter().map(|info| info.name.as_ref().map_or("-".into(), ToString::to_string)).collect()
}

/// The hash of what `tensor get` writes to a pipe.
fn hash(pond: &TestPond, name: &str) -> String {
    let mut child = start(pond, &["tensor", "get", name, "-o", "-", "--format", "raw"]);
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    let (code, said) = finish(child);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    content::hash(&bytes)
}

#[test]
fn a_large_file_goes_in_and_out() {
    let pond = TestPond::start(Options::giving_back());
    let input = file(&pond, "in", LARGE, 1);
    let put = pond.cli(&["tensor", "put", "x", &input, "--dtype", "u8", "--json"]);
    assert_eq!(put.json()["bytes"], LARGE);
    let mut worker = pond.worker();
    assert_eq!(worker.ask("hash x"), content::hash_of(LARGE, 1), "as a program sees it");
    let output = pond.path("out.bin");
    let got = pond.cli(&["tensor", "get", "x", "-o", text(&output), "--json"]).json();
    assert_eq!(got["file_bytes"], LARGE);
    assert!(fs::read(&output).unwrap() == fs::read(&input).unwrap());
}

#[test]
fn who_reads_a_replaced_tensor_keeps_the_old_one() {
    let pond = TestPond::start(Options::giving_back());
    let (one, two) = (file(&pond, "1", 40 * MIB, 1), file(&pond, "2", 40 * MIB, 2));
    let _ = pond.cli(&["tensor", "put", "x", &one, "--dtype", "u8"]).ok();
    let mut reader = pond.worker();
    assert_eq!(reader.ask("get x"), content::hash_of(40 * MIB, 1));
    let refused = pond.cli(&["tensor", "put", "x", &two, "--dtype", "u8", "--json"]).error();
    assert_eq!((&refused["kind"], refused["exit_code"].as_i64()), (&"exists".into(), Some(4)));
    let _ = pond.cli(&["tensor", "put", "x", &two, "--dtype", "u8", "--replace"]).ok();
    assert_eq!(reader.ask("hash x"), content::hash_of(40 * MIB, 1));
    assert_eq!(pond.worker().ask("get x"), content::hash_of(40 * MIB, 2));
    assert!(pond.accounts().slab_bytes >= 80 * MIB);
    reader.ask("drop-all");
    reader.ask("flush");
    eventually("one tensor", || (pond.accounts().slab_bytes < 80 * MIB).then_some(()));
    assert_eq!(names(&pond), ["x"]);
}

#[test]
fn a_put_that_is_killed_leaves_no_name_and_no_memory() {
    let pond = TestPond::start(Options::giving_back());
    let before = pond.accounts();
    let count = (100 * MIB).to_string();
    for signal in ["KILL", "INT"] {
        let words = ["tensor", "put", "x", "-", "--dtype", "u8", "--shape", &count];
        let mut child = start(&pond, &words);
        // More than one part of a stream, and less than all of it: it must be in the middle.
        let half = content::bytes(80 * MIB, 1);
        child.stdin.as_mut().unwrap().write_all(&half).unwrap();
        eventually("a part in the pond", || {
            let moved = pond.status().movers.iter().map(|mover| mover.moved_bytes).sum::<u64>();
            (moved > 0 && names(&pond) == ["-"]).then_some(())
        });
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args([&format!("-{signal}"), &pid]).status();
        assert!(sent.unwrap().success());
        let (code, _) = finish(child);
        assert_eq!(code, None, "ended by the signal");
        eventually_equal("nothing left", &before, || pond.accounts());
        assert!(names(&pond).is_empty());
    }
}

#[test]
fn a_get_that_is_killed_leaves_no_half_file() {
    let pond = TestPond::start(Options::new());
    let input = file(&pond, "in", LARGE, 1);
    let _ = pond.cli(&["tensor", "put", "x", &input, "--dtype", "u8"]).ok();
    let folder = pond.path("out");
    fs::create_dir(&folder).unwrap();
    let output = folder.join("x.bin");
    let mut caught = 0;
    for _ in 0..ROUNDS {
        let mut child = start(&pond, &["tensor", "get", "x", "-o", text(&output)]);
        let moving = is_moving(&pond, &mut child);
        child.kill().unwrap();
        let _ = finish(child);
        if output.exists() {
            assert_eq!(fs::metadata(&output).unwrap().len(), LARGE);
            fs::remove_file(&output).unwrap();
        } else if moving {
            caught += 1;
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        if caught > 0 {
            break;
        }
    }
    assert!(caught > 0, "no kill came in time");
    eventually("no lease", || (pond.status().leases == 0).then_some(()));
}

/// Kills something in the middle of puts, which must not notice.
fn put_while(kill: impl Fn(&TestPond)) {
    let pond = TestPond::start(Options::giving_back());
    let input = file(&pond, "in", LARGE, 3);
    let mut caught = 0;
    for _ in 0..ROUNDS {
        let words = ["tensor", "put", "x", &input, "--dtype", "u8", "--replace"];
        let mut child = start(&pond, &words);
        if is_moving(&pond, &mut child) {
            kill(&pond);
            caught += usize::from(child.try_wait().unwrap().is_none());
        }
        let (code, said) = finish(child);
        assert_eq!((code, said.as_str()), (Some(0), ""));
        if caught == 2 {
            break;
        }
    }
    assert!(caught > 0, "no kill came in time");
    say(&format!("killed in the middle of {caught} puts"));
    assert_eq!(hash(&pond, "x"), content::hash_of(LARGE, 3));
    assert_eq!(names(&pond), ["x"]);
    eventually("the accounts of one tensor", || {
        let Accounts { slabs, leases, lost, .. } = pond.accounts();
        ((slabs, leases, lost) == (1, 0, 0)).then_some(())
    });
}

#[test]
fn a_put_goes_on_when_the_daemon_is_killed() {
    put_while(|pond| {
        pond.kill_daemon();
    });
}

#[test]
fn a_put_goes_on_across_an_upgrade() {
    put_while(|pond| {
        let _ = pond.cli(&["upgrade"]).ok();
    });
}

#[test]
fn a_put_goes_on_when_the_mover_is_killed() {
    put_while(|pond| {
        for mover in pond.status().movers {
            if let Ok(process) = Process::open(mover.pid) {
                process.kill();
            }
        }
    });
}

#[test]
fn a_stream_goes_on_when_daemon_and_mover_are_killed() {
    let pond = TestPond::start(Options::giving_back());
    let bytes = content::bytes(260 * MIB + 1, 4);
    let count = bytes.len().to_string();
    let mut child = start(&pond, &["tensor", "put", "x", "-", "--dtype", "u8", "--shape", &count]);
    let mut stdin = child.stdin.take().unwrap();
    let mut parts = bytes.chunks(usize::try_from(70 * MIB).unwrap());
    stdin.write_all(parts.next().unwrap()).unwrap();
    pond.kill_daemon();
    stdin.write_all(parts.next().unwrap()).unwrap();
    let mover = eventually("a mover", || pond.status().movers.first().map(|mover| mover.pid));
    if let Ok(process) = Process::open(mover) {
        process.kill();
    }
    for part in parts {
        stdin.write_all(part).unwrap();
    }
    drop(stdin);
    assert_eq!(finish(child), (Some(0), String::new()));
    assert_eq!(hash(&pond, "x"), content::hash(&bytes));
}

#[test]
fn a_stream_takes_constant_memory() {
    let pond = TestPond::start(Options::giving_back());
    let total = 512 * MIB;
    let count = total.to_string();
    let mut child = start(&pond, &["tensor", "put", "x", "-", "--dtype", "u8", "--shape", &count]);
    let mut stdin = child.stdin.take().unwrap();
    let part = content::bytes(MIB, 5);
    for _ in 0..512 - 1 {
        stdin.write_all(&part).unwrap();
    }
    // It waits for the rest, and has had the most that it ever has.
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    say(&format!("at most {peak} KiB resident while {total} bytes went through a pipe"));
    assert!(peak < 64 << 10, "{peak} KiB");
    let memfds = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().flatten();
    let memfds = memfds
        .filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| text(&to).contains("memfd:")))
        .filter_map(|entry| fs::metadata(entry.path()).ok())
        .map(|metadata| metadata.len())
        .sum::<u64>();
    assert!(memfds <= 128 * MIB, "{memfds} bytes in memfds");
    stdin.write_all(&part).unwrap();
    drop(stdin);
    assert_eq!(finish(child), (Some(0), String::new()));
    assert_eq!(pond.accounts().tensor_bytes, total);
}

#[test]
fn a_copy_reaches_another_gpu() {
    let options = Options::giving_back().soft().env("MILLPOND_SOFT_DEVICES", "2");
    let pond = TestPond::start(options);
    let input = file(&pond, "in", 66 * MIB + 1, 6);
    let _ = pond.cli(&["tensor", "put", "x", &input, "--dtype", "u8", "--device", "1"]).ok();
    let near = pond.cli(&["tensor", "copy", "x", "near", "--json"]).json();
    let far = pond.cli(&["tensor", "copy", "x", "far", "--device", "0", "--json"]).json();
    assert_ne!(near["device"], far["device"]);
    for name in ["x", "near", "far"] {
        assert_eq!(hash(&pond, name), content::hash_of(66 * MIB + 1, 6), "{name}");
    }
    assert_eq!(pond.status().movers.len(), 2);
    assert_eq!(pond.status().leases, 0);
}
