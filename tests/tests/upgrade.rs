//! Another program takes over under clients at work, or does not and the old one goes on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use millpond_tests::{Options, PATIENCE, Process, TestPond, Worker, binaries, eventually};

const WORKERS: usize = 8;
/// Rounds of create, write, publish, read back and delete that each does around every upgrade.
const ROUNDS: u64 = 3;

/// A copy of the program: the same version, but another file, and `status` says which file answers.
fn copy(pond: &TestPond, name: &str) -> PathBuf {
    let path = pond.path(name);
    binaries::copy(binaries::millpond(), &path);
    path
}

fn script(pond: &TestPond, name: &str, text: &str) -> PathBuf {
    let path = pond.path(name);
    binaries::script(&path, text);
    path
}

fn upgrade(pond: &TestPond, program: &Path) -> serde_json::Value {
    pond.cli(&["upgrade", "--json", "--program", program.to_str().unwrap()]).json()
}

/// Why there was no upgrade.
fn refused(pond: &TestPond, program: &Path) -> String {
    let said = pond.cli(&["upgrade", "--json", "--program", program.to_str().unwrap()]);
    assert_eq!(said.code, Some(1), "{said:?}");
    said.error()["message"].as_str().unwrap().to_owned()
}

fn at_work(pond: &TestPond, count: usize) -> Vec<Worker> {
    let start = |number| {
        let mut worker = pond.worker();
        worker.ask(&format!("churn work/{number}"));
        worker
    };
    (0..count).map(start).collect()
}

/// Waits until everybody has done some more rounds.
fn more_rounds(workers: &mut [Worker]) {
    for worker in workers {
        let mut rounds = || worker.ask("churn-rounds").parse::<u64>().unwrap();
        let enough = rounds() + ROUNDS;
        eventually("rounds", || (rounds() >= enough).then_some(()));
    }
}

/// How many rounds there were; every one of them went well.
fn stop(workers: Vec<Worker>) -> u64 {
    let all = workers.into_iter().map(|mut worker| {
        let rounds = worker.ask("churn-stop").parse::<u64>().unwrap();
        worker.finish();
        rounds
    });
    all.sum()
}

#[test]
fn clients_at_work_do_not_notice_upgrades() {
    let pond = TestPond::start(Options::default());
    let mut keeper = pond.worker();
    let hash = keeper.ask("make kept 3000000 7");
    let mut workers = at_work(&pond, WORKERS);
    let first = pond.status();
    let keeper_file = fs::read_link(format!("/proc/{}/exe", first.keeper_pid)).unwrap();
    for number in 1..=4u64 {
        more_rounds(&mut workers);
        let before = Process::open(pond.status().daemon_pid).unwrap();
        let program = copy(&pond, &format!("millpond-{number}"));
        let done = upgrade(&pond, &program);
        assert_eq!(done["from_epoch"].as_u64(), Some(number), "{done}");
        assert_eq!(done["epoch"].as_u64(), Some(number + 1), "one daemon after the other: {done}");
        let status = pond.status();
        let runs = fs::read_link(format!("/proc/{}/exe", status.daemon_pid)).unwrap();
        assert_eq!(runs, program, "the new file answers");
        assert_eq!(status.program, program.to_str().unwrap());
        assert_eq!(status.keeper_pid, first.keeper_pid, "the keeper stays");
        assert!(before.wait(PATIENCE), "the daemon before has ended");
        millpond_tests::say(&format!("upgrade {number}: {} ms", done["longest_wait_ms"]));
    }
    more_rounds(&mut workers);
    let rounds = stop(workers);
    millpond_tests::say(&format!("{rounds} rounds of {WORKERS} clients over 4 upgrades, 0 failed"));
    assert_eq!(keeper.ask("hash kept"), hash);
    assert_eq!(keeper.ask("lost kept"), "false");

    // Without a program it is the keeper's own file, as it is now.
    let done = pond.cli(&["upgrade", "--json"]).json();
    assert_eq!(done["program"].as_str(), keeper_file.to_str());
    // A daemon of a new program starts a keeper of its own program.
    let program = copy(&pond, "millpond-5");
    upgrade(&pond, &program);
    pond.kill_keeper();
    let keeper_pid = pond.status().keeper_pid;
    assert_eq!(fs::read_link(format!("/proc/{keeper_pid}/exe")).unwrap(), program);
    assert_eq!(keeper.ask("hash kept"), hash);
}

#[test]
fn a_daemon_that_dies_after_an_upgrade_is_no_second_upgrade() {
    let pond = TestPond::start(Options::default());
    let program = copy(&pond, "millpond-1");
    upgrade(&pond, &program);
    pond.kill_daemon();
    let epoch = pond.status().epoch;
    // The keeper logs it a moment after clients are served.
    eventually("the keeper's line", || {
        pond.log().contains(&format!("serves (epoch {epoch})")).then_some(())
    });
    pond.kill_daemon();
    assert_eq!(pond.log().matches("upgraded: ").count(), 1, "{}", pond.log());
    assert_eq!(pond.status().program, program.display().to_string());
}

#[test]
fn a_program_whose_file_is_gone_still_moves_bytes() {
    let pond = TestPond::start(Options::default());
    let program = copy(&pond, "millpond-1");
    upgrade(&pond, &program);
    fs::remove_file(&program).unwrap();
    let input = pond.path("in");
    fs::write(&input, [7; 1000]).unwrap();
    let put = ["tensor", "put", "x", input.to_str().unwrap(), "--dtype", "u8"];
    assert_eq!(pond.cli(&put).ok().trim(), "x");
}

/// A package was updated, and `millpond upgrade` not typed yet: the daemon's movers are of its own
/// program, whatever lies in its place.
#[test]
fn a_mover_runs_from_the_daemons_own_file() {
    let pond = TestPond::start(Options::default());
    let program = copy(&pond, "millpond-1");
    upgrade(&pond, &program);
    let input = pond.path("in");
    fs::write(&input, [7; 1000]).unwrap();
    let put = |name: &str| {
        let words = ["tensor", "put", name, input.to_str().unwrap(), "--dtype", "u8"];
        assert_eq!(pond.cli(&words).ok().trim(), name);
    };
    let file_of = |pid: u32| {
        let file = fs::metadata(format!("/proc/{pid}/exe")).unwrap();
        (file.dev(), file.ino())
    };
    let daemon = file_of(pond.status().daemon_pid);
    let mover = || pond.status().movers.first().map(|mover| mover.pid);
    // A program that fails, and another build.
    let replacements = [script(&pond, "failing", "exit 1"), copy(&pond, "another")];
    for (number, replacement) in replacements.into_iter().enumerate() {
        fs::rename(&replacement, &program).unwrap();
        assert_ne!(fs::metadata(&program).unwrap().ino(), daemon.1);
        put(&format!("x{number}"));
        let pid = mover().unwrap();
        assert_eq!(file_of(pid), daemon, "the mover runs the daemon's file");
        let process = Process::open(pid).unwrap();
        process.kill();
        assert!(process.wait(PATIENCE));
        eventually("the mover's end", || (mover() != Some(pid)).then_some(()));
    }
}

#[test]
fn what_is_no_millpond_is_refused_and_nothing_changes() {
    let pond = TestPond::start(Options::default());
    let mut workers = at_work(&pond, 2);
    let before = pond.status();
    let plain = pond.path("plain");
    fs::write(&plain, "text").unwrap();
    for (program, reason) in [
        (pond.path("nowhere"), "No such file"),
        (plain, "Permission denied"),
        (script(&pond, "other", "echo hello"), "it is not a millpond"),
        (script(&pond, "failing", "exit 1"), "its check ended with exit status: 1"),
        (script(&pond, "silent", "exec sleep 1000"), "did not answer within 10 s"),
    ] {
        let said = refused(&pond, &program);
        assert!(said.contains(reason), "{said}");
        assert!(said.contains(program.to_str().unwrap()), "{said}");
    }
    more_rounds(&mut workers);
    let status = pond.status();
    assert_eq!((status.daemon_pid, status.epoch), (before.daemon_pid, before.epoch));
    stop(workers);
}

/// Says that it is a millpond, and is none when it matters.
fn liar(pond: &TestPond, name: &str, then: &str) -> PathBuf {
    let millpond = binaries::millpond().display();
    let text = format!("case \"$*\" in *--check) exec {millpond} \"$@\";; esac\n{then}");
    script(pond, name, &text)
}

#[test]
fn a_program_that_does_not_serve_gives_way_to_the_old_one() {
    let pond = TestPond::start(Options::default());
    let mut keeper = pond.worker();
    let hash = keeper.ask("make kept 3000000 7");
    let mut workers = at_work(&pond, 4);
    for (name, then) in [("dies", "exit 1"), ("hangs", "exec sleep 1000")] {
        let before = pond.status();
        let bad = liar(&pond, name, then);
        let said = refused(&pond, &bad);
        assert!(said.contains("does not serve; back to"), "{said}");
        assert!(said.contains(bad.to_str().unwrap()), "{said}");
        let status = pond.status();
        assert_eq!(status.epoch.0, before.epoch.0 + 2, "it was tried once");
        assert_eq!(status.program, before.program, "the old program is back");
        let line = format!("upgrade failed: '{}'", bad.display());
        eventually("the keeper's line", || pond.log().contains(&line).then_some(()));
        more_rounds(&mut workers);
    }
    stop(workers);
    assert_eq!(keeper.ask("hash kept"), hash);
    // The old program's file goes on also when its path leads to a bad one by now.
    let program = copy(&pond, "in-place");
    upgrade(&pond, &program);
    let bad = liar(&pond, "bad", "exit 1");
    fs::rename(&bad, &program).unwrap();
    let said = refused(&pond, &program);
    assert!(said.contains("does not serve; back to"), "{said}");
    let status = pond.status();
    assert_eq!(status.program, format!("{} (deleted)", program.display()));
    pond.kill_keeper();
    assert_eq!(keeper.ask("hash kept"), hash, "and can start a keeper");
}

/// Only the keeper that was asked knows of the order.
#[test]
fn an_upgrade_whose_keeper_has_ended_is_refused_at_once_and_can_be_repeated() {
    let pond = TestPond::start(Options::default());
    let keeper = pond.status().keeper_pid;
    let killing = script(&pond, "check", "kill -9 $PPID; exec sleep 1");
    let said = refused(&pond, &killing);
    let ended = format!("the keeper that was asked (pid {keeper}) has ended");
    assert_eq!(said, format!("the upgrade failed: {ended}"));
    let good = copy(&pond, "good");
    assert_eq!(upgrade(&pond, &good)["program"].as_str(), good.to_str());
    pond.reap();
}

/// The one moment in which nobody serves, with a kill at each step of it.
#[test]
fn a_kill_in_the_middle_of_an_upgrade_loses_nothing() {
    let pond = TestPond::start(Options::default());
    let mut keeper = pond.worker();
    let hash = keeper.ask("make kept 3000000 7");
    let mut workers = at_work(&pond, 2);
    let kill = "kill -9 $PPID";
    // The keeper is killed while it waits for the answer; after everybody has handed over to a
    // daemon that is no daemon; and a daemon kills itself at once.
    let killing = [
        script(&pond, "check", &format!("{kill}; exec sleep 1")),
        liar(&pond, "start", kill),
        liar(&pond, "later", &format!("sleep 0.2; {kill}; exec sleep 1000")),
    ];
    for program in killing {
        let before = pond.status();
        let text = program.to_str().unwrap();
        // What it says depends on who is left to say it.
        let _ = pond.control().upgrade(text).unwrap();
        eventually("another keeper", || {
            (pond.status().keeper_pid != before.keeper_pid).then_some(())
        });
        more_rounds(&mut workers);
        assert_eq!(keeper.ask("hash kept"), hash);
        assert_eq!(pond.status().program, before.program);
        // The pond is as it was: it can still be upgraded.
        let copied = copy(&pond, "good");
        assert_eq!(upgrade(&pond, &copied)["program"].as_str(), copied.to_str());
        let _ = pond.cli(&["upgrade", "--program", &before.program]).ok();
        fs::remove_file(copied).unwrap();
        pond.reap();
    }
    stop(workers);
    assert_eq!(keeper.ask("hash kept"), hash);
    assert_eq!(keeper.ask("lost kept"), "false");
}
