//! Processes that stand still instead of dying, and daemons that die again and again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use millpond_tests::{Options, PATIENCE, Process, TestPond, binaries, eventually};
use rustix::process::{Pid, Signal};

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// More than the channel takes: each round is at least one message to the keeper.
const ROUNDS: usize = 400;

#[test]
fn a_keeper_that_stands_still_is_replaced_and_nothing_is_lost() {
    let pond = TestPond::start(Options::giving_back());
    let mut worker = pond.worker();
    let kept = worker.ask("make kept 3000000 7");
    let before = pond.status();
    let keeper = Process::open(before.keeper_pid).unwrap();
    signal(before.keeper_pid, Signal::STOP);
    // What is made now is held by nobody but the daemon, and what the queue takes.
    let while_stopped = worker.ask("make while-stopped 40000000 8");
    let rounds = (0..ROUNDS).find(|round| {
        worker.ask(&format!("make round/{round} 4096 1"));
        worker.ask(&format!("drop round/{round}"));
        worker.ask(&format!("delete round/{round}"));
        pond.log().contains("the keeper took no message")
    });
    assert!(rounds.is_some(), "the channel is never full");
    eventually("another keeper", || (pond.status().keeper_pid != before.keeper_pid).then_some(()));
    assert!(keeper.wait(PATIENCE), "the old one was killed");
    pond.reap();
    let status = pond.status();
    assert_eq!((status.epoch, status.daemon_pid), (before.epoch, before.daemon_pid));
    pond.wait_for_keeper();
    let accounts = pond.accounts();
    // The new keeper has everything: also what was made while the old one stood still.
    pond.kill_daemon();
    assert_eq!(worker.ask("hash kept"), kept);
    let mut other = pond.worker();
    assert_eq!(other.ask("hash while-stopped"), while_stopped);
    assert_eq!(pond.status().lost_tensors, 0);
    drop(other);
    let slabs = |accounts: &millpond_tests::Accounts| (accounts.slab_bytes, accounts.tensors);
    eventually("the same accounts", || (slabs(&pond.accounts()) == slabs(&accounts)).then_some(()));
}

/// `millpond serve` of another file, ended with the pond.
fn serve_from(pond: &TestPond, program: &Path) -> Child {
    let usual = pond.serve_command();
    let mut command = Command::new(program);
    command.args(usual.get_args());
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let log = File::create(pond.path("serve.log")).unwrap();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    eventually("the pond's first answer", || {
        let status = pond.connect().and_then(|pond| pond.status()).ok()?;
        status.driver_ready.then_some(())
    });
    child
}

#[test]
fn daemons_that_die_again_and_again_are_started_slowly_and_keep_the_memory() {
    // The program's path leads to a good one, to a bad one, and to the good one again.
    let pond = TestPond::prepare(Options::default());
    let (path, bad) = (pond.path("millpond"), pond.path("bad"));
    binaries::copy(binaries::millpond(), &path);
    binaries::script(&bad, "exit 1");
    let mut serve = serve_from(&pond, &path);
    let mut worker = pond.worker();
    let hash = worker.ask("make kept 3000000 7");
    let before = pond.status();
    let good = pond.path("good");
    fs::rename(&path, &good).unwrap();
    fs::rename(&bad, &path).unwrap();
    signal(before.daemon_pid, Signal::KILL);
    eventually("a pause", || {
        let said = pond.log();
        let line = said.lines().find(|line| line.contains("the daemon died 24 times in a row"))?;
        assert!(line.contains("are held; the next is started in 80 ms"), "{line}");
        Some(())
    });
    // Clients find a socket and nobody behind it; they are told what to look at.
    let error = pond.cli(&["status", "--json"]).error();
    assert!(error["hint"].as_str().unwrap().contains("keeps dying"), "{error}");
    fs::rename(&good, &path).unwrap();
    eventually("a daemon", || pond.connect().and_then(|pond| pond.status()).ok());
    assert_eq!(worker.ask("hash kept"), hash);
    assert_eq!(worker.ask("lost kept"), "false");
    worker.finish();
    signal(serve.id(), Signal::TERM);
    assert!(serve.wait().unwrap().success(), "{}", pond.log());
}
