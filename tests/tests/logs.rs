//! A log that cannot be written, and whatever else means nothing to a pond: it serves on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use millpond::{Dtype, TensorSpec};
use millpond_tests::process::limit;
use millpond_tests::stderr::pipe;
use millpond_tests::{
    Folder, Options, Process, Raw, Said, Stderr, TestPond, eventually, namespace, skip,
};
use rustix::process::{Pid, Resource, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

const KEPT: &str = "kept";
const PATIENCE: Duration = Duration::from_secs(60);

fn keep(pond: &TestPond) {
    pond.control().reserve(TensorSpec::new(KEPT, Dtype::U8, [100]).zero(true)).unwrap();
}

/// Everything that writes a log line without an order to stop: an upgrade, the death of each
/// process, and a malformed message.
#[track_caller]
fn survives_everything(pond: &TestPond) {
    let said = pond.cli(&["upgrade", "--json"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    nonsense(pond, 3);
    pond.kill_daemon();
    pond.kill_keeper();
    pond.kill_daemon();
    pond.kill_keeper();
    assert_eq!(pond.cli(&["upgrade", "--json"]).code, Some(0));
    pond.control().inspect(KEPT).unwrap();
    assert_eq!(pond.status().lost_tensors, 0);
}

/// One malformed message on each of so many connections.
fn nonsense(pond: &TestPond, connections: usize) {
    for _ in 0..connections {
        let raw = Raw::connect(&pond.runtime_dir());
        assert!(raw.send_bytes(&[1, 2, 3]));
        let _ = raw.receive();
    }
}

#[test]
fn a_log_whose_reader_has_gone_ends_nobody() {
    let pond = TestPond::prepare(Options::new());
    let (reader, writer) = pipe();
    pond.serve_to(writer);
    keep(&pond);
    // As `serve | tee log` when tee ends.
    drop(reader);
    survives_everything(&pond);
}

#[test]
fn a_terminal_that_was_closed_ends_nobody() {
    let pond = TestPond::prepare(Options::new());
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    pond.serve_to(File::options().write(true).open(name.to_str().unwrap()).unwrap());
    keep(&pond);
    drop(terminal);
    survives_everything(&pond);
}

#[test]
fn a_standard_error_without_room_ends_nobody_and_serve_starts_on_it() {
    let pond = TestPond::start(Options::new().stderr(Stderr::Full));
    keep(&pond);
    survives_everything(&pond);
}

#[test]
fn standard_streams_that_are_closed_get_no_other_descriptor_in_their_place() {
    let closed = "exec \"$0\" \"$@\" <&- >&- 2>&-";
    let pond = TestPond::start(Options::new().under(closed));
    keep(&pond);
    survives_everything(&pond);
    let status = pond.status();
    for pid in [status.keeper_pid, status.daemon_pid] {
        for stream in 0..3 {
            let path = format!("/proc/{pid}/fd/{stream}");
            let target = fs::read_link(&path).unwrap();
            assert_eq!(target, Path::new("/dev/null"), "{path}");
        }
    }
}

/// The lines that come out of a pipe once somebody reads it, up to one that has this text.
fn read_until(reader: OwnedFd, text: &str) -> String {
    let mut reader = File::from(reader);
    let mut read = String::new();
    let start = Instant::now();
    while !read.contains(text) {
        assert!(start.elapsed() < PATIENCE, "no '{text}' in:\n{read}");
        let mut buffer = [0; 4096];
        let count = reader.read(&mut buffer).unwrap();
        read.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    read
}

#[test]
fn a_log_that_nobody_reads_stops_nobody_and_one_user_causes_few_lines() {
    let pond = TestPond::prepare(Options::new());
    let (reader, writer) = pipe();
    pond.serve_to(writer);
    keep(&pond);
    // More than the pipe holds, from the keeper and from each daemon.
    for _ in 0..12 {
        pond.kill_daemon();
    }
    nonsense(&pond, 500);
    survives_everything(&pond);
    let keeper = Process::open(pond.status().keeper_pid).unwrap();
    keeper.terminate();
    // A stop does not wait for a reader either.
    assert!(keeper.wait(PATIENCE));
    let read = read_until(reader, "serves (epoch 2)");
    let lines = read.lines().filter(|line| line.contains("refused a message")).count();
    assert!(lines < 30, "{lines} lines for 500 connections");
}

#[test]
fn five_hundred_malformed_messages_are_few_lines_and_their_number_is_said() {
    let pond = TestPond::start(Options::new());
    nonsense(&pond, 500);
    let count = |text: &str| pond.log().lines().filter(|line| line.contains(text)).count();
    eventually("how many were left out", || (count("lines about this user") > 0).then_some(()));
    assert!((1..30).contains(&count("refused a message")), "{}", pond.log());
}

#[test]
fn a_log_whose_reader_is_replaced_ends_nobody() {
    let pond = TestPond::start(Options::new().stderr(Stderr::Replaced));
    keep(&pond);
    survives_everything(&pond);
}

#[test]
fn a_log_file_has_lines_of_all_processes_and_follows_its_path() {
    let place = Folder::new();
    let folder = place.join("logs");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("pond.log");
    let pond = TestPond::start(
        Options::new().flag("--log-file", path.to_str().unwrap()).flag("--log-file-bytes", "4KiB"),
    );
    let log = || fs::read_to_string(&path).unwrap_or_default();
    let has = |text: &str| eventually(text, || log().contains(text).then_some(()));
    keep(&pond);
    has("the driver is ready");
    has("daemon");
    assert!(pond.log().is_empty(), "standard error has a log as well:\n{}", pond.log());
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // Moved, as logrotate does.
    fs::rename(&path, folder.join("moved")).unwrap();
    pond.kill_daemon();
    has("recovered the pond");
    // Without its folder, lines are lost and nothing else; their number is said when it is back.
    fs::remove_dir_all(&folder).unwrap();
    survives_everything(&pond);
    fs::create_dir(&folder).unwrap();
    pond.kill_keeper();
    pond.kill_daemon();
    has("recovered the pond");
    eventually("a count of lost lines", || {
        // One of the processes that live has lost some.
        nonsense(&pond, 1);
        log().contains("dropped").then_some(())
    });
    // Rotated, by whichever process comes first, and not beyond the third.
    for _ in 0..25 {
        pond.kill_daemon();
        pond.kill_keeper();
    }
    eventually("three older files", || path.with_extension("log.3").exists().then_some(()));
    assert!(!path.with_extension("log.4").exists());
    let large = fs::read_dir(&folder).unwrap().flatten();
    for file in large.map(|file| file.metadata().unwrap().len()) {
        assert!(file < 3 * 4096, "a log file of {file} bytes");
    }
    pond.control().inspect(KEPT).unwrap();
}

#[test]
fn a_log_file_that_cannot_be_opened_is_refused_at_the_start() {
    let pond = TestPond::prepare(Options::new().flag("--log-file", "/nowhere/pond.log"));
    let said = Said::by(&mut pond.serve_command(), PATIENCE);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("log file '/nowhere/pond.log': No such file"), "{said:?}");
}

#[test]
fn a_log_file_that_another_user_can_exchange_is_refused_at_the_start_and_left_by_a_pond_that_runs()
{
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Folder::new();
    let (folder, secret) = (place.join("logs"), place.join("secret"));
    fs::create_dir(&folder).unwrap();
    fs::write(&secret, "").unwrap();
    let path = folder.join("pond.log");
    let options = || Options::new().flag("--log-file", path.to_str().unwrap());
    let set = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    set(0o777);
    let said = Said::by(&mut TestPond::prepare(options()).serve_command(), PATIENCE);
    assert_eq!(said.code, Some(16), "{said:?}");
    assert!(said.stderr.contains("is not safe to write: another user can change"), "{said:?}");
    assert!(said.stderr.contains(&format!("`chmod o-w '{}'`", folder.display())), "{said:?}");
    assert!(!path.exists());

    set(0o755);
    let pond = TestPond::start(options());
    keep(&pond);
    set(0o777);
    fs::remove_file(&path).unwrap();
    symlink(&secret, &path).unwrap();
    eventually("a word on standard error", || {
        nonsense(&pond, 1);
        pond.log().contains("is not safe to write").then_some(())
    });
    survives_everything(&pond);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "");
    pond.control().inspect(KEPT).unwrap();
}

/// Without a new descriptor nothing can be started. What is held stays held, and when there are
/// descriptors again the missing process is started.
#[test]
fn an_exhausted_descriptor_table_ends_nobody() {
    let pond = TestPond::start(Options::new());
    keep(&pond);
    let before = pond.status();
    let control = pond.control();
    limit(before.daemon_pid, Resource::Nofile, Some(4));
    let keeper = Process::open(before.keeper_pid).unwrap();
    keeper.kill();
    assert!(keeper.wait(PATIENCE));
    pond.reap();
    eventually("a try to start a keeper", || pond.log().contains("no new keeper").then_some(()));
    control.ping().unwrap();
    limit(before.daemon_pid, Resource::Nofile, None);
    let after = eventually("the next keeper", || {
        let now = pond.status();
        (now.keeper_pid != before.keeper_pid).then_some(now)
    });
    assert_eq!(after.daemon_pid, before.daemon_pid);
    pond.wait_for_keeper();
    limit(after.keeper_pid, Resource::Nofile, Some(4));
    // The keeper cannot take this one yet. It is not lost with the daemon that made it.
    control.reserve(TensorSpec::new("late", Dtype::U8, [40 << 20])).unwrap();
    let daemon = Process::open(after.daemon_pid).unwrap();
    daemon.kill();
    assert!(daemon.wait(PATIENCE));
    eventually("the keeper's shortage", || {
        pond.log().contains("are left to hold more").then_some(())
    });
    limit(after.keeper_pid, Resource::Nofile, None);
    let last = eventually("the next daemon", || {
        pond.connect().and_then(|pond| pond.status()).ok().filter(|now| now.epoch > after.epoch)
    });
    assert_eq!((last.keeper_pid, last.lost_tensors), (after.keeper_pid, 0));
    control.inspect(KEPT).unwrap();
    control.inspect("late").unwrap();
}

fn signal(pid: u32, number: i32) {
    let Some(signal) = Signal::from_named_raw(number) else {
        // One of the nameless: only a shell knows how to send it.
        let sent = Command::new("kill").args([format!("-{number}"), pid.to_string()]).status();
        assert!(sent.unwrap().success());
        return;
    };
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_signal_without_a_meaning_ends_and_stops_nobody() {
    let pond = TestPond::start(Options::new());
    keep(&pond);
    let before = pond.status();
    // HUP, USR1, USR2, ALRM, STKFLT, CHLD, TSTP, TTIN, TTOU, URG, XCPU, XFSZ, VTALRM, PROF, WINCH,
    // IO, PWR, and some of those for real time.
    let meaningless =
        [1, 10, 12, 14, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 34, 50, 64];
    for number in meaningless {
        for pid in [before.keeper_pid, before.daemon_pid] {
            signal(pid, number);
        }
    }
    // A keeper that stood still would be replaced for this.
    for _ in 0..3 {
        pond.control().reserve(TensorSpec::new("more", Dtype::U8, [100]).zero(true)).unwrap();
        pond.control().delete("more").unwrap();
    }
    let after = pond.status();
    assert_eq!(
        (after.keeper_pid, after.daemon_pid, after.epoch),
        (before.keeper_pid, before.daemon_pid, before.epoch),
        "{}",
        pond.log()
    );
    for pid in [before.keeper_pid, before.daemon_pid] {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        assert!(!stat.rsplit_once(") ").unwrap().1.starts_with('T'), "{pid} is stopped");
    }
    // An order is still one.
    Process::open(before.keeper_pid).unwrap().terminate();
    assert_eq!(pond.wait_for_serve(), Some(0));
}

/// A file that may not grow is a lost line, for the keeper too.
#[test]
fn a_limit_on_the_size_of_files_ends_nobody() {
    let pond = TestPond::start(Options::new());
    keep(&pond);
    let before = pond.status();
    limit(before.keeper_pid, Resource::Fsize, Some(1));
    let daemon = Process::open(before.daemon_pid).unwrap();
    daemon.kill();
    assert!(daemon.wait(PATIENCE));
    // Its line about that cannot be written. The next daemon inherits the limit.
    std::thread::sleep(Duration::from_millis(100));
    limit(before.keeper_pid, Resource::Fsize, None);
    let after = eventually("a daemon", || {
        let status = pond.connect().and_then(|pond| pond.status()).ok()?;
        limit(status.daemon_pid, Resource::Fsize, None);
        (status.epoch > before.epoch).then_some(status)
    });
    assert_eq!(after.keeper_pid, before.keeper_pid);
    pond.control().inspect(KEPT).unwrap();
}

#[test]
fn a_panic_in_a_side_thread_ends_that_process_and_the_next_one_serves() {
    // The second slab of each daemon, after one that the driver thread tries, and a reading of the
    // card by whichever thread comes to it.
    for (plan, thread) in
        [("cuMemCreate:panic=3", "millpond-driver"), ("nvmlDeviceGetMemoryInfo:panic=3", "")]
    {
        let pond = TestPond::start(Options::giving_back().faults(plan));
        keep(&pond);
        let before = pond.status();
        let large = |name: &str| TensorSpec::new(name, Dtype::U8, [40 << 20]);
        pond.control().reserve(large("large")).unwrap();
        // With a group the cards are read.
        let _ = pond.cli(&["group", "set", "some", "--limit", "1G"]);
        let line = format!("thread '{thread}");
        eventually("the next daemon", || {
            let _ = pond.control().status();
            (pond.status().epoch > before.epoch).then_some(())
        });
        let log = eventually("the keeper's line", || {
            let log = pond.log();
            (log.contains("SIGABRT") && log.contains(&line)).then_some(log)
        });
        let line = log.lines().find(|text| text.contains(&line)).unwrap();
        assert!(line.contains("on purpose; the process ends"), "{line}");
        pond.control().inspect(KEPT).unwrap();
        assert_eq!(pond.status().keeper_pid, before.keeper_pid);
    }
}

#[test]
fn a_panic_ends_its_process_also_if_nobody_reads_the_log() {
    let options = Options::giving_back().faults("cuMemCreate:panic=3");
    let pond = TestPond::prepare(options);
    let (reader, writer) = pipe();
    pond.serve_to(writer);
    keep(&pond);
    for _ in 0..12 {
        pond.kill_daemon();
    }
    let before = pond.status();
    for name in ["first", "second"] {
        pond.control().reserve(TensorSpec::new(name, Dtype::U8, [40 << 20])).unwrap();
    }
    eventually("the next daemon", || (pond.status().epoch > before.epoch).then_some(()));
    pond.control().inspect(KEPT).unwrap();
    drop(reader);
}

#[test]
fn a_panic_in_a_mover_ends_the_mover_and_the_next_one_does_its_work() {
    let pond = TestPond::start(Options::new().faults("cuMemcpyHtoDAsync:panic=2"));
    let file = pond.path("bytes");
    fs::write(&file, vec![7; 5000]).unwrap();
    for name in ["one", "two", "three"] {
        let shape = ["--dtype", "u8", "--shape", "5000"];
        let said =
            pond.cli(&[&["tensor", "put", name, file.to_str().unwrap()], &shape[..]].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
    }
    eventually("the panic", || pond.log().contains("a panic in cuMemcpyHtoDAsync").then_some(()));
}

/// Log, lock, sockets and groups on a file system without room: everything but new groups works.
#[test]
fn a_full_runtime_folder_ends_nobody() {
    let Some(way) = namespace::unshare(&["--mount"]) else {
        return skip("`unshare --mount` is not permitted here");
    };
    let pond = TestPond::prepare(Options::new());
    let run = pond.runtime_dir();
    fs::create_dir(&run).unwrap();
    let script = format!(
        r#"
        mount --make-rprivate /
        mount -t tmpfs -o size=256k,mode=0700 none '{run}'
        "$@" serve 2>'{run}/log' &
        serve=$!
        until "$@" status --json >/dev/null 2>&1; do sleep 0.05; done
        "$@" tensor create {KEPT} --dtype u8 --shape 100 --zero
        dd if=/dev/zero of='{run}/fill' bs=1k 2>/dev/null || true
        dd if=/dev/zero of='{run}/last' bs=1 2>/dev/null || true
        pid() {{ "$@" status --json | tr ',{{' '\n\n' | sed -n "s/.*\"$who\": *//p" | tr -dc 0-9; }}
        epoch() {{ who=epoch pid "$@"; }}
        "$@" upgrade --json >/dev/null
        who=daemon_pid; kill -9 "$(pid "$@")"
        "$@" tensor inspect {KEPT} >/dev/null
        who=keeper_pid; old=$(pid "$@"); kill -9 "$old"
        while [ "$(pid "$@")" = "$old" ]; do sleep 0.05; done
        "$@" upgrade --json >/dev/null
        who=daemon_pid; kill -9 "$(pid "$@")"
        "$@" group set g --limit 1G >/dev/null 2>&1 || echo no group
        "$@" tensor inspect {KEPT} >/dev/null
        who=keeper_pid; kill "$(pid "$@")"
        while [ -e '{run}/sock' ]; do sleep 0.05; done
        echo served to the end
        "#,
        run = run.display(),
    );
    let mut command = namespace::under(&way, &script, &pond.cli_command(&[]));
    let said = Said::by(command.stdin(Stdio::null()), PATIENCE);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("served to the end"), "{said:?}");
}
