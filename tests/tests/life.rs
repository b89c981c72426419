//! How tensors live, across processes and restarts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::time::{Duration, Instant};

use millpond::{Dtype, EventKind, TensorSpec, TensorState};
use millpond_tests::{
    Options, PATIENCE, Process, TestPond, content, driver, eventually, eventually_equal, say,
};

const BYTES: u64 = 300_000;

#[test]
fn two_processes_share_a_named_tensor() {
    let pond = TestPond::start(Options::new());
    let (mut one, mut other) = (pond.worker(), pond.worker());
    let first = one.ask(&format!("make acts/x {BYTES} 1"));
    assert_eq!(other.ask("get acts/x"), first);
    // Same name, same memory: what one writes, the other reads through the mapping it has.
    let second = one.ask("write acts/x 2");
    assert_ne!(first, second);
    assert_eq!(one.ask("publish acts/x"), "2");
    assert_eq!(other.ask("hash acts/x"), second);
    // And the other way round.
    other.ask("drop acts/x");
    assert_eq!(other.ask("open acts/x"), second);
    let third = other.ask("write acts/x 3");
    assert_eq!(one.ask("hash acts/x"), third);
    // A read-only mapping does not write.
    let mut reader = pond.worker();
    reader.ask("get acts/x");
    let refused = reader.try_ask("write acts/x 4").unwrap_err();
    assert!(refused.starts_with("invalid"), "{refused}");
    assert_eq!(one.ask("hash acts/x"), third);
}

#[test]
fn every_process_of_a_pond_has_a_name_that_says_what_it_is() {
    let pond = TestPond::start(Options::new());
    let mut worker = pond.worker();
    worker.ask(&format!("upload moved {BYTES} 1"));
    worker.ask(&format!("shared make hosted ipc {BYTES} 1"));
    pond.kill_keeper();
    pond.wait_for_keeper();
    let status = pond.status();
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    assert_eq!(name(status.keeper_pid), "millpond-keeper\n");
    assert_eq!(name(status.daemon_pid), "millpond-daemon\n");
    assert_eq!(name(status.movers[0].pid), "millpond-mover\n");
    assert_eq!(name(status.hosts[0].pid), "millpond-host\n");
}

#[test]
fn a_rename_disturbs_nobody_and_lasts_over_a_kill() {
    let pond = TestPond::start(Options::new());
    let (mut maker, mut reader) = (pond.worker(), pond.worker());
    let hash = maker.ask(&format!("make acts/x {BYTES} 1"));
    assert_eq!(reader.ask("get acts/x"), hash);
    assert_eq!(pond.cli(&["mv", "acts/x", "acts/y"]).code, Some(0));
    pond.kill_daemon();
    assert_eq!(reader.ask("hash acts/x"), hash, "mapped memory stays mapped");
    let mut late = pond.worker();
    assert_eq!(late.ask("get acts/y"), hash);
    let refused = late.try_ask("get acts/x").unwrap_err();
    assert!(refused.starts_with("not_found"), "{refused}");
    // Who asks again by the old name is not answered from memory.
    reader.ask("drop acts/x");
    assert!(reader.try_ask("get acts/x").unwrap_err().starts_with("not_found"));
    // What is held says so when it is removed, and is listed under the name that it had.
    let said = pond.cli(&["rm", "acts/y"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("stay until"), "{said:?}");
    let all = pond.cli(&["tensor", "ls", "--all"]).stdout;
    assert!(all.contains("acts/y") && all.contains("deleted"), "{all}");
    assert_eq!(late.ask("hash acts/y"), hash);
}

#[test]
fn a_get_waits_for_the_publish() {
    let pond = TestPond::start(Options::new());
    let (mut maker, mut reader) = (pond.worker(), pond.worker());
    reader.tell("get late 30000");
    maker.ask(&format!("begin late {BYTES}"));
    let mut impatient = pond.worker();
    let refused = impatient.try_ask("get late").unwrap_err();
    assert!(refused.starts_with("not_ready"), "{refused}");
    let refused = impatient.try_ask("get late 50").unwrap_err();
    assert!(refused.starts_with("timeout"), "{refused}");
    let refused = impatient.try_ask("get never 50").unwrap_err();
    assert!(refused.starts_with("timeout"), "{refused}");
    let hash = maker.ask("write late 8");
    maker.ask("publish late");
    assert_eq!(reader.answer().unwrap(), hash);
    // A wait outlives the daemon it was asked of.
    reader.tell("get later 30000");
    pond.kill_daemon();
    let hash = maker.ask(&format!("put later {BYTES} 9"));
    assert_eq!(reader.answer().unwrap(), hash);
}

#[test]
fn an_ephemeral_tensor_ends_with_its_creators_process() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    for killed in [true, false] {
        let mut creator = pond.worker();
        let hash = creator.ask(&format!("ephemeral own {} 1", driver::plenty()));
        let mut reader = pond.worker();
        assert_eq!(reader.ask("get own"), hash);
        if killed {
            creator.kill()
        } else {
            creator.finish()
        }
        eventually("its end", || pond.control().inspect("own").is_err().then_some(()));
        let refused = pond.worker().try_ask("get own").unwrap_err();
        assert!(refused.starts_with("not_found"), "{refused}");
        assert_eq!(reader.ask("hash own"), hash, "never under a reader");
        assert_eq!(pond.accounts().slabs, 1);
        reader.finish();
        eventually_equal("slabs", &0, || pond.accounts().slabs);
        pond.assert_physical("the ephemeral tensor", baseline);
    }
    // A creator that lives keeps it over the daemon's death.
    let mut creator = pond.worker();
    let hash = creator.ask(&format!("ephemeral own {BYTES} 2"));
    pond.kill_daemon();
    let mut reader = pond.worker();
    assert_eq!(reader.ask("get own"), hash);
    creator.kill();
    reader.finish();
    eventually_equal("tensors", &0, || pond.accounts().tensors);
    pond.assert_physical("the ephemeral tensor", baseline);
}

#[test]
fn a_delete_frees_when_the_last_reader_leaves() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    let mut maker = pond.worker();
    let hash = maker.ask(&format!("put x {} 1", driver::plenty()));
    maker.finish();
    let full = pond.accounts();
    let (mut first, mut second) = (pond.worker(), pond.worker());
    first.ask("get x");
    second.ask("get x");
    pond.control().delete("x").unwrap();
    assert!(pond.worker().try_ask("get x").unwrap_err().starts_with("not_found"));
    // The name is free at once, and means another tensor.
    let other = pond.worker().ask(&format!("put x {BYTES} 2"));
    assert_eq!(pond.worker().ask("hash x"), other);
    pond.control().delete("x").unwrap();
    first.ask("drop x");
    first.ask("flush");
    assert_eq!(second.ask("hash x"), hash);
    eventually_equal("slab bytes", &full.slab_bytes, || pond.accounts().slab_bytes);
    // Also not when the daemon is another one that has to be told of the lease first.
    pond.kill_daemon();
    assert_eq!(second.ask("hash x"), hash);
    eventually_equal("leases", &1, || pond.accounts().leases);
    assert_eq!(pond.accounts().slab_bytes, full.slab_bytes);
    second.ask("drop x");
    second.ask("flush");
    eventually_equal("slabs", &0, || pond.accounts().slab_bytes);
    // On a card their contexts count too.
    first.finish();
    second.finish();
    pond.assert_physical("the last reader has left", baseline);
}

#[test]
fn an_empty_slab_is_used_again_by_its_owner() {
    let pond = TestPond::start(Options::new());
    let mut worker = pond.worker();
    worker.ask(&format!("put x {} 1", driver::plenty()));
    let slab = pond.control().inspect("x").unwrap().info.slab;
    pond.control().delete("x").unwrap();
    eventually_equal("tensors", &0, || pond.accounts().tensors);
    let kept = pond.accounts();
    assert_eq!((kept.slabs, kept.recycled_bytes), (1, kept.slab_bytes));
    let hash = worker.ask(&format!("put y {} 2", driver::plenty()));
    assert_eq!(pond.control().inspect("y").unwrap().info.slab, slab);
    assert_eq!(worker.ask("hash y"), hash);
    // What is asked to be zero is zero, whatever lay there before.
    pond.control().delete("y").unwrap();
    let spec = TensorSpec::new("zero", Dtype::U8, [driver::plenty()]).zero(true);
    assert_eq!(pond.control().reserve(spec).unwrap().state, TensorState::Ready);
    let zeroes = vec![0; usize::try_from(driver::plenty()).unwrap()];
    assert_eq!(worker.ask("hash zero"), content::hash(&zeroes));
}

#[test]
fn sigterm_ends_the_pond_in_order() {
    for replaced in [false, true] {
        let pond = TestPond::prepare(Options::new());
        // Before there is a pond: the daemon keeps a little memory for itself.
        let baseline = pond.physical();
        pond.serve();
        let mut holder = pond.worker();
        let hash = holder.ask(&format!("make x {} 1", driver::plenty()));
        let mut waiting = pond.worker();
        waiting.tell("get never 600000");
        if replaced {
            pond.kill_keeper();
            pond.wait_for_keeper();
        }
        eventually_equal("clients", &3, || pond.status().clients);
        let status = pond.status();
        let open = |pid| Process::open(pid).unwrap();
        let (keeper, daemon) = (open(status.keeper_pid), open(status.daemon_pid));
        keeper.terminate();
        let refused = waiting.answer().unwrap_err();
        let kind = refused.split(' ').next().unwrap();
        assert!(["draining", "no_pond"].contains(&kind), "{refused}");
        if !replaced {
            assert_eq!(pond.wait_for_serve(), Some(0), "{}", pond.log());
        }
        assert!(keeper.wait(PATIENCE) && daemon.wait(PATIENCE));
        for name in ["sock", "admin.sock", "watch.sock"] {
            assert!(!pond.runtime_dir().join(name).exists(), "{name}");
        }
        let said = pond.cli(&["status", "--json"]);
        assert_eq!(said.error()["kind"], "no_pond");
        assert_eq!(said.code, Some(15));
        // What is mapped stays mapped, and goes with its process.
        assert_eq!(holder.ask("hash x"), hash);
        holder.kill();
        pond.assert_physical("after the pond's end", baseline);
    }
}

/// The keeper is the first to be told, but a daemon that is told ends too, and is replaced.
#[test]
fn sigterm_to_the_daemon_is_a_restart() {
    let pond = TestPond::start(Options::new());
    let mut holder = pond.worker();
    let hash = holder.ask(&format!("make x {BYTES} 1"));
    let before = pond.status();
    Process::open(before.daemon_pid).unwrap().terminate();
    eventually("the next daemon", || (pond.status().epoch > before.epoch).then_some(()));
    assert_eq!(pond.worker().ask("hash x"), hash);
    assert_eq!(holder.ask("hash x"), hash);
    eventually_equal("leases", &1, || pond.accounts().leases);
}

#[test]
fn the_command_line_speaks_json() {
    let pond = TestPond::start(Options::new());
    let made = pond.cli(&["tensor", "create", "a/b", "--dtype", "f32", "--shape", "2,3", "--json"]);
    let made = made.json();
    assert_eq!((&made["name"], &made["bytes"]), (&"a/b".into(), &24.into()));
    let mut holder = pond.worker();
    holder.ask(&format!("make held {BYTES} 1"));
    let status = pond.cli(&["status", "--json"]).json();
    assert_eq!(status["daemon_pid"], pond.status().daemon_pid);
    assert_eq!(status["keeper_pid"], pond.status().keeper_pid);
    assert_eq!(status["devices"][0]["tensors"], 2);
    assert!(status["devices"][0]["physical_used_bytes"].as_u64().is_some_and(|used| used > 0));
    let listed = pond.cli(&["tensor", "ls", "--json"]).json();
    assert_eq!(listed["tensors"].as_array().unwrap().len(), 2);
    let only = pond.cli(&["tensor", "ls", "a/", "--json"]).json();
    assert_eq!(only["tensors"].as_array().unwrap().len(), 1);
    let details = pond.cli(&["inspect", "held", "--json"]).json();
    assert_eq!(details["leases"][0]["pid"], holder.pid());
    let clients = pond.cli(&["ps", "--json"]).json();
    let clients = clients["clients"].as_array().unwrap();
    let client = clients.iter().find(|client| client["pid"] == holder.pid()).unwrap();
    assert_eq!(client["held_bytes"], BYTES);
    assert_eq!(pond.cli(&["version", "--json"]).code, Some(0));
    assert!(pond.cli(&["version", "--json"]).json().is_object());
    // And plainly.
    for line in [&["status"][..], &["ps"], &["tensor", "ls"], &["inspect", "held"], &["ps", "-q"]] {
        let said = pond.cli(line);
        assert!(!said.ok().is_empty() && said.stderr.is_empty(), "{said:?}");
    }
    assert_eq!(pond.cli(&["tensor", "ls", "-q"]).ok(), "a/b\nheld\n");
    assert_eq!(pond.cli(&["tensor", "rm", "a/b"]).ok().trim(), "a/b");
}

#[test]
fn exit_codes_are_as_documented() {
    let pond = TestPond::start(Options::new());
    let code = |line: &[&str]| pond.cli(line).code;
    assert_eq!(code(&["tensor", "create", "x", "--dtype", "f32", "--shape", "4"]), Some(0));
    assert_eq!(code(&["status"]), Some(0));
    assert_eq!(code(&["inspect", "nothing"]), Some(3));
    assert_eq!(code(&["tensor", "rm", "nothing"]), Some(3));
    assert_eq!(code(&["tensor", "create", "x", "--dtype", "f16", "--shape", "4"]), Some(4));
    assert_eq!(
        code(&["tensor", "create", "y", "--dtype", "f16", "--shape", "4", "--device", "9"]),
        Some(18)
    );
    assert_eq!(code(&["no-such-command"]), Some(2));
    assert_eq!(code(&["tensor", "create", "y", "--dtype", "f16", "--shape", "0"]), Some(2));
    let nowhere = pond.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    assert_eq!(code(&["status", "--runtime-dir", nowhere]), Some(15));
    let help = pond.cli(&["help", "exit-codes"]);
    for row in ["not_found", "exists", "gpu_full", "no_pond", "usage"] {
        assert!(help.ok().contains(row), "{row}");
    }
}

#[test]
fn events_are_seen() {
    let pond = TestPond::start(Options::giving_back());
    let mut events = pond.control().events(0).unwrap();
    let mut wait_for = |kind: EventKind, name: Option<&str>| {
        let start = Instant::now();
        let mut seen = Vec::new();
        while start.elapsed() < PATIENCE {
            let Some(event) = events.next_timeout(Duration::from_secs(1)).unwrap() else {
                continue;
            };
            let is_name = event.name.as_ref().map(|name| name.as_str()) == name;
            if event.kind == kind && (name.is_none() || is_name) {
                return event;
            }
            seen.push((event.kind, event.name));
        }
        panic!("no {kind} of {name:?}; seen were {seen:?}");
    };
    let mut worker = pond.worker();
    worker.ask(&format!("make x {BYTES} 1"));
    wait_for(EventKind::ClientConnected, None);
    let created = wait_for(EventKind::TensorCreated, Some("x"));
    let published = wait_for(EventKind::TensorPublished, Some("x"));
    assert!(published.sequence > created.sequence);
    pond.control().delete("x").unwrap();
    wait_for(EventKind::TensorDeleted, Some("x"));
    worker.ask("drop x");
    wait_for(EventKind::TensorFreed, Some("x"));
    worker.kill();
    wait_for(EventKind::ClientGone, None);
    pond.kill_keeper();
    wait_for(EventKind::KeeperReplaced, None);
    pond.kill_daemon();
    let recovered = wait_for(EventKind::Recovered, None);
    assert!(recovered.sequence > published.sequence, "numbers rise over restarts");
    pond.wait_for_keeper();
    Process::open(pond.status().keeper_pid).unwrap().terminate();
    wait_for(EventKind::Draining, None);
}

/// Every request is repeated over the next connection, and nothing happens twice.
#[test]
fn a_client_at_work_does_not_notice_twenty_deaths_of_the_daemon() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    let mut workers: Vec<_> = (0..3).map(|_| pond.worker()).collect();
    for (index, worker) in workers.iter_mut().enumerate() {
        worker.ask(&format!("churn busy/{index}"));
    }
    let mut worst = Duration::ZERO;
    for round in 0..20 {
        for worker in &mut workers {
            let before: u64 = worker.ask("churn-rounds").parse().unwrap();
            eventually("work", || {
                let now: u64 = worker.ask("churn-rounds").parse().unwrap();
                (now > before + 1).then_some(())
            });
        }
        // A keeper slows down daemons that die one after the other; a new one forgets that.
        if round % 5 == 4 {
            pond.kill_keeper();
        }
        worst = worst.max(pond.kill_daemon());
    }
    let mut rounds = 0;
    for mut worker in workers {
        rounds += worker.ask("churn-stop").parse::<u64>().unwrap();
        worker.finish();
    }
    say(&format!("{rounds} rounds of work over 20 deaths of the daemon, the worst took {worst:?}"));
    eventually_equal("accounts", &(0, 0, 0), || {
        let accounts = pond.accounts();
        (accounts.tensors, accounts.leases, accounts.slab_bytes)
    });
    pond.assert_physical("after all that work", baseline);
}

#[test]
fn eight_threads_share_one_connection() {
    let pond = TestPond::start(Options::giving_back());
    let baseline = pond.physical();
    let mut worker = pond.worker();
    worker.tell("threads 8 25");
    for _ in 0..3 {
        pond.kill_daemon();
    }
    assert_eq!(worker.answer().unwrap(), "200");
    let clients = pond.control().clients().unwrap();
    assert_eq!(clients.iter().filter(|client| client.pid == worker.pid()).count(), 1);
    worker.ask("flush");
    eventually_equal("accounts", &(0, 0, 0), || {
        let accounts = pond.accounts();
        (accounts.tensors, accounts.leases, accounts.slab_bytes)
    });
    worker.finish();
    pond.assert_physical("after all that work", baseline);
}
