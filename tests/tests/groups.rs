//! Groups of a served pond: real members, real kills.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use millpond::{
    Dtype, ErrorKind, EventKind, GroupDetails, GroupDevice, GroupLimit, GroupName, GroupSet,
    TensorSpec,
};
use millpond_tests::{Options, TestPond, Worker, eventually, eventually_equal, skip};
use rustix::process::{Pid, Signal};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn name(text: &str) -> GroupName {
    GroupName::new(text).unwrap()
}

fn make(pond: &TestPond, group: &str, limit: u64) -> GroupDetails {
    let limit = Some(GroupLimit::Bytes(limit));
    let set = GroupSet { limit, create: true, ..GroupSet::of(name(group)) };
    pond.control().set_group(set).unwrap()
}

fn group(pond: &TestPond, group: &str) -> GroupDetails {
    pond.control().group(name(group)).unwrap()
}

fn on_card(pond: &TestPond, which: &str) -> GroupDevice {
    group(pond, which).info.devices.remove(0)
}

/// Ends what another thread does, also when this one panics.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn member(pond: &TestPond, folder: &str) -> Worker {
    let mut worker = pond.worker();
    worker.ask(&format!("member attach {folder}"));
    worker
}

fn signal(worker: &Worker, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(worker.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_group_is_made_joined_filled_seen_and_removed() {
    let pond = TestPond::start(Options::new());
    let missing = pond.control().group(name("team")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    make(&pond, "team", 512 * MIB);
    let seat = pond.control().join_group(Some(name("team")), None, None).unwrap();
    assert!(!seat.anonymous && seat.folder.join("ledger").exists());
    let folder = seat.folder.to_str().unwrap().to_owned();
    let mut first = member(&pond, &folder);
    let mut second = member(&pond, &folder);
    first.ask(&format!("member reserve {}", 300 * MIB));
    let refused = second.try_ask(&format!("member reserve {}", 300 * MIB)).unwrap_err();
    assert!(refused.contains("limit"), "{refused}");
    second.ask(&format!("member reserve {}", 200 * MIB));
    let seen = group(&pond, "team");
    assert_eq!((seen.info.processes, seen.members.len()), (2, 2));
    assert_eq!(seen.info.devices[0].process_bytes, 500 * MIB);
    let pids: Vec<Option<u32>> = seen.members.iter().map(|member| member.host_pid).collect();
    assert!(pids.contains(&Some(first.pid())) && pids.contains(&Some(second.pid())));
    assert_eq!(pond.control().remove_group(name("team")).unwrap_err().kind(), ErrorKind::InUse);
    // Raised, it can be used at once.
    make(&pond, "team", GIB);
    second.ask(&format!("member reserve {}", 300 * MIB));
    first.kill();
    // A living one may have a context on a card, which nobody charged and is folded in.
    eventually("the dead hold nothing", || {
        (on_card(&pond, "team").process_bytes < 700 * MIB).then_some(())
    });
    second.kill();
    eventually("an empty group is removed", || pond.control().remove_group(name("team")).ok());
    assert!(pond.control().groups().unwrap().is_empty());
    assert!(!seat.folder.exists());
}

#[test]
fn a_program_without_a_group_gets_one_that_ends_with_it() {
    let pond = TestPond::start(Options::new());
    let mut program = pond.worker();
    let said = program.ask(&format!("join {}", 256 * MIB));
    let (group_name, folder) = said.split_once(' ').unwrap();
    let mut child = member(&pond, folder);
    child.ask(&format!("member reserve {}", 100 * MIB));
    child.try_ask(&format!("member reserve {}", 200 * MIB)).unwrap_err();
    let seen = group(&pond, group_name).info;
    assert!(seen.anonymous && seen.processes == 1);
    assert_eq!(seen.devices[0].limit_bytes, Some(256 * MIB));
    // The program ends before what it has started.
    program.kill();
    pond.kill_daemon();
    assert_eq!(on_card(&pond, group_name).process_bytes, 100 * MIB);
    child.kill();
    eventually("the group's end", || pond.control().groups().unwrap().is_empty().then_some(()));
    assert!(!std::path::Path::new(folder).exists());
    let half = pond.control().join_group(None, Some(GroupLimit::Permille(500)), None).unwrap();
    let total = pond.status().devices[0].total_bytes;
    let limit = on_card(&pond, half.name.as_str()).limit_bytes.unwrap();
    assert!(half.anonymous && limit.abs_diff(total / 2) <= 4096, "{limit} of {total}");
}

#[test]
fn limits_follow_what_others_hold_and_are_promised() {
    let pond = TestPond::start(Options::new());
    let total = pond.status().devices[0].total_bytes;
    for group in ["a", "b", "c"] {
        make(&pond, group, total);
    }
    let min = total / 4 / MIB * MIB;
    pond.control().set_group(GroupSet { min_bytes: Some(min), ..GroupSet::of(name("b")) }).unwrap();
    let folder = group(&pond, "a").info.folder;
    let mut worker = member(&pond, &folder);
    let held = total / 8 / MIB * MIB;
    worker.ask(&format!("member reserve {held}"));
    // Within a look or two the others have less: what is held, and what was promised.
    eventually("the limit of c", || {
        let limit = on_card(&pond, "c").effective_bytes.unwrap();
        (limit <= total - held - min).then_some(())
    });
    let a = on_card(&pond, "a").effective_bytes.unwrap();
    assert!(a <= total - min);
    assert_eq!(worker.ask("member limit").parse::<u64>().unwrap(), a);
    // Too many promises are refused with numbers.
    let set = GroupSet { min_bytes: Some(total / 10 * 9), ..GroupSet::of(name("c")) };
    let refused = pond.control().set_group(set).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::GpuFull, "{refused}");
}

#[test]
fn the_ponds_memory_is_in_its_owners_account_also_after_a_restart() {
    let pond = TestPond::start(Options::giving_back());
    let user = rustix::process::getuid().as_raw();
    make(&pond, "team", 256 * MIB);
    let users = Some(vec![user]);
    pond.control().set_group(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    let spec = |name: &str, bytes| TensorSpec::new(name, Dtype::U8, [bytes]);
    pond.control().reserve(spec("x", 100 * MIB)).unwrap();
    assert_eq!(on_card(&pond, "team").pond_bytes, 100 * MIB);
    let refused = pond.control().reserve(spec("y", 200 * MIB)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::GpuFull);
    let text = refused.to_string();
    for word in ["team", "256 MiB", "100 MiB", "200 MiB"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    pond.kill_daemon();
    assert_eq!(on_card(&pond, "team").pond_bytes, 100 * MIB);
    assert_eq!(
        pond.control().reserve(spec("y", 200 * MIB)).unwrap_err().kind(),
        ErrorKind::GpuFull
    );
    pond.control().delete("x").unwrap();
    eventually_equal("given back", &0, || on_card(&pond, "team").pond_bytes);
    pond.control().reserve(spec("y", 200 * MIB)).unwrap();
    // Members see the same book.
    let folder = group(&pond, "team").info.folder;
    let mut worker = member(&pond, &folder);
    worker.try_ask(&format!("member reserve {}", 100 * MIB)).unwrap_err();
    worker.ask(&format!("member reserve {}", 50 * MIB));
}

#[test]
fn what_a_member_had_is_there_for_the_pond_when_it_has_died() {
    let pond = TestPond::start(Options::giving_back());
    let user = rustix::process::getuid().as_raw();
    let folder = make(&pond, "team", 256 * MIB).info.folder;
    let users = Some(vec![user]);
    pond.control().set_group(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    for round in 0..5 {
        let mut worker = member(&pond, &folder);
        worker.ask(&format!("member reserve {}", 200 * MIB));
        let spec = || TensorSpec::new("x", Dtype::U8, [200 * MIB]);
        assert_eq!(pond.control().reserve(spec()).unwrap_err().kind(), ErrorKind::GpuFull);
        worker.kill();
        // It counts until the card has its memory back, and that is waited for.
        pond.control().reserve(spec()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        pond.control().delete("x").unwrap();
        eventually_equal("given back", &0, || on_card(&pond, "team").pond_bytes);
    }
}

#[test]
fn what_was_promised_is_kept_from_the_ponds_memory_also_right_after_a_restart() {
    const LEFT: u64 = 512 * MIB;
    let pond = TestPond::start(Options::giving_back());
    let total = pond.status().devices[0].total_bytes;
    make(&pond, "team", total);
    let spec = |name: &str, bytes| TensorSpec::new(name, Dtype::U8, [bytes]);
    let min = (total - pond.physical() - LEFT) / MIB * MIB;
    pond.control()
        .set_group(GroupSet { min_bytes: Some(min), ..GroupSet::of(name("team")) })
        .unwrap();
    pond.control().reserve(spec("x", LEFT / 4)).unwrap();
    for round in 0..5 {
        pond.kill_daemon();
        let refused = pond.control().reserve(spec("y", LEFT)).map(|_| ());
        let kind = refused.map_err(|error| error.kind());
        assert_eq!(kind, Err(ErrorKind::GpuFull), "round {round}: it was promised");
        pond.kill_daemon();
        let fits = pond.control().reserve(spec("y", LEFT / 2));
        fits.unwrap_or_else(|error| panic!("round {round}: it fits: {error}"));
        pond.control().delete("y").unwrap();
    }
}

#[test]
fn a_limit_that_is_raised_holds_before_the_next_daemons_driver_has_answered() {
    let pond = TestPond::start(Options::new().faults("cuInit:latency_us=700000"));
    let folder = make(&pond, "team", 256 * MIB).info.folder;
    let mut worker = member(&pond, &folder);
    worker.try_ask(&format!("member reserve {}", 300 * MIB)).unwrap_err();
    pond.kill_daemon();
    make(&pond, "team", 512 * MIB);
    worker.ask(&format!("member reserve {}", 300 * MIB));
}

#[test]
fn members_go_on_under_their_limit_while_daemons_die() {
    let pond = TestPond::start(Options::new());
    let folder = make(&pond, "team", 256 * MIB).info.folder;
    let mut worker = member(&pond, &folder);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                worker.ask(&format!("member reserve {}", 200 * MIB));
                let refused = worker.try_ask(&format!("member reserve {}", 100 * MIB));
                refused.expect_err("the limit holds without a daemon");
                worker.ask(&format!("member release {}", 200 * MIB));
            }
            worker.ask(&format!("member reserve {}", 200 * MIB));
        });
        let _stop = Stop(&stop);
        for _ in 0..5 {
            pond.kill_daemon();
            assert_eq!(on_card(&pond, "team").limit_bytes, Some(256 * MIB));
        }
    });
    let seen = group(&pond, "team");
    assert_eq!((seen.info.processes, seen.info.devices[0].process_bytes), (1, 200 * MIB));
}

#[test]
fn what_a_member_does_not_charge_is_folded_in_and_far_more_is_a_lie() {
    let pond = TestPond::start(Options::new());
    let folder = make(&pond, "team", 2 * GIB).info.folder;
    let events = pond.control().events(0).unwrap();
    let mut worker = member(&pond, &folder);
    worker.ask(&format!("member sneak {}", 64 * MIB));
    let begun = std::time::Instant::now();
    let seen = eventually("the card's reading", || {
        let devices = group(&pond, "team").members.remove(0).devices;
        devices.first().and_then(|device| device.physical_bytes).map(Some).or_else(|| {
            // A card may not show the processes of a container, however often it is read.
            (!millpond_tests::is_soft() && begun.elapsed().as_secs() > 10).then_some(None)
        })
    });
    if seen.is_none() {
        skip("the card shows no processes");
        return;
    }
    eventually("the fold", || (on_card(&pond, "team").folded_bytes >= 64 * MIB).then_some(()));
    let process = group(&pond, "team").members.remove(0).devices.remove(0);
    assert_eq!(process.drift_bytes(), Some(0), "{process:?}");
    assert!(!group(&pond, "team").info.lying);
    let device = pond.status().devices.remove(0);
    assert!(
        device.charged_bytes.unwrap() >= 64 * MIB && device.drift_bytes == Some(0),
        "{device:?}"
    );
    worker.ask(&format!("member sneak {}", GIB + 64 * MIB));
    eventually("the mark", || group(&pond, "team").info.lying.then_some(()));
    for event in events {
        let event = event.unwrap();
        if event.kind == EventKind::GroupLying {
            assert_eq!(event.name.unwrap().as_str(), "team");
            assert!(event.text.contains("pondtool"), "{}", event.text);
            break;
        }
    }
}

#[test]
fn a_member_that_stands_still_with_the_lock_stops_nobody_else() {
    let pond = TestPond::start(Options::new());
    let folder = make(&pond, "team", 256 * MIB).info.folder;
    make(&pond, "other", 256 * MIB);
    let user = rustix::process::getuid().as_raw();
    let users = Some(vec![user + 1]);
    pond.control().set_group(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    let mut worker = pond.worker();
    worker.ask(&format!("member keep-lock {folder}"));
    signal(&worker, Signal::STOP);
    eventually("the mark", || group(&pond, "team").info.stuck.then_some(()));
    // Everything else is answered, far below any deadline of a lock.
    let slowest = (0..200)
        .map(|round| {
            let began = Instant::now();
            pond.control().ping().unwrap();
            if round % 20 == 0 {
                make(&pond, "other", (256 + round) * MIB);
                let spec = TensorSpec::new(format!("x{round}"), Dtype::U8, [2 * MIB]);
                pond.control().reserve(spec).unwrap();
            }
            began.elapsed()
        })
        .max()
        .unwrap();
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    let limit = Some(GroupLimit::Bytes(GIB));
    let refused = pond.control().set_group(GroupSet { limit, ..GroupSet::of(name("team")) });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InUse);
    signal(&worker, Signal::CONT);
    worker.ask("member free-lock");
    eventually("the mark is gone", || (!group(&pond, "team").info.stuck).then_some(()));
    make(&pond, "team", GIB);
}

#[test]
fn the_log_names_the_group_whose_files_were_damaged() {
    let pond = TestPond::start(Options::new());
    make(&pond, "sound", 512 * MIB);
    make(&pond, "team", 512 * MIB);
    let seat = pond.control().join_group(Some(name("team")), None, None).unwrap();
    std::fs::File::create(seat.folder.join("ledger")).unwrap();
    eventually("a line about it", || {
        let log = pond.log();
        let line = log.lines().find(|line| line.contains("file is broken"))?.to_owned();
        assert!(line.contains("group=team"), "{line}");
        Some(())
    });
    assert!(group(&pond, "team").info.broken && !group(&pond, "sound").info.broken);
}
