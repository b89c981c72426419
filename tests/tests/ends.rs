//! Ends of what there is: connections, descriptors, the journal's room, memory of the device.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use millpond::{ClientId, Dtype, ErrorKind, TensorSpec};
use millpond_tests::process::{descriptors, limit, resident};
use millpond_tests::raw::{encoded, hello};
use millpond_tests::{Options, PATIENCE, Raw, Said, TestPond, Worker, eventually_equal, say};
use millpond_wire::message::VERSION;
use rustix::process::{Resource, getrlimit};

fn spec(name: &str, bytes: u64) -> TensorSpec {
    TensorSpec::new(name, Dtype::U8, [bytes])
}

/// The median time of a ping.
fn ping(pond: &TestPond) -> Duration {
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let start = Instant::now();
            pond.control().ping().unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// As many connections as the descriptors are enough for, up to ten thousand, in four processes.
#[test]
fn ten_thousand_idle_connections() {
    let options = Options::new().env("MILLPOND_LIMITS_CONNECTIONS_PER_USER", "20000");
    let pond = TestPond::start(options);
    pond.control().ping().unwrap();
    let status = pond.status();
    let daemon = status.daemon_pid;
    let (fds, memory, quiet) = (descriptors(daemon), resident(daemon), ping(&pond));
    let files = getrlimit(Resource::Nofile).maximum.unwrap_or(1 << 20);
    // The daemon keeps a thousand for slabs and for the operator.
    let each = (files.saturating_sub(1024 + 60)).min(10_000) / 4;
    let start = Instant::now();
    let mut crowd: Vec<Worker> = (0..4).map(|_| pond.worker()).collect();
    crowd.iter_mut().for_each(|worker| worker.tell(&format!("idle {each}")));
    for worker in &mut crowd {
        assert_eq!(worker.answer().unwrap(), each.to_string());
    }
    let took = start.elapsed();
    let count = 4 * each;
    assert_eq!(u64::from(pond.status().clients), count + 1);
    let crowded = ping(&pond);
    let grown = resident(daemon).saturating_sub(memory);
    say(&format!(
        "{count} idle connections in {took:?} ({:?} each), {} bytes of the daemon each; \
         a ping takes {crowded:?}, alone {quiet:?}",
        took / u32::try_from(count).unwrap(),
        grown / count,
    ));
    assert!(grown / count < 16 << 10, "{grown} bytes for {count} connections");
    // Others are served beside them, and over a restart.
    let mut worker = pond.worker();
    let hash = worker.ask("make beside 100000 1");
    pond.kill_daemon();
    assert_eq!(worker.ask("hash beside"), hash);
    worker.ask("delete beside");
    worker.ask("drop-all");
    worker.ask("flush");
    worker.finish();
    crowd.into_iter().for_each(Worker::kill);
    eventually_equal("clients", &1, || pond.status().clients);
    let daemon = pond.status().daemon_pid;
    eventually_equal("driver", &true, || pond.status().driver_ready);
    // Its first slab's descriptor may be another number; a connection would be two.
    eventually_equal("descriptors", &true, || descriptors(daemon).abs_diff(fds) < 4);
}

#[test]
fn a_client_that_opens_and_closes_in_a_loop() {
    let pond = TestPond::start(Options::giving_back());
    pond.control().ping().unwrap();
    let status = pond.status();
    let folder = pond.runtime_dir();
    let (fds, memory) = (descriptors(status.daemon_pid), resident(status.daemon_pid));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let folder = folder.clone();
            scope.spawn(move || {
                for round in 0..1500 {
                    let raw = Raw::connect(&folder);
                    if round % 3 == thread {
                        raw.be_welcome();
                    }
                }
            });
        }
        let mut worker = pond.worker();
        for index in 0..30 {
            worker.ask(&format!("put beside 5000 {index}"));
            pond.connect().unwrap().ping().unwrap();
            worker.ask("delete beside");
        }
        worker.finish();
    });
    eventually_equal("clients", &1, || pond.status().clients);
    assert_eq!(pond.status().epoch, status.epoch);
    eventually_equal("descriptors", &fds, || descriptors(status.daemon_pid));
    let grown = resident(status.daemon_pid).saturating_sub(memory);
    assert!(grown < 16 << 20, "{grown} bytes after 4,500 connections");
}

/// No descriptor is left: who is connected is served, who comes is refused, and nothing is made
/// that cannot be held.
#[test]
fn out_of_descriptors() {
    let pond = TestPond::start(Options::giving_back().soft());
    let mut worker = pond.worker();
    let hash = worker.ask("make held 100000 1");
    let status = pond.status();
    let daemon = status.daemon_pid;
    let (fds, accounts) = (descriptors(daemon), pond.accounts());
    let lines = pond.log().lines().count();
    limit(daemon, Resource::Nofile, Some(u64::try_from(fds).unwrap()));
    let folder = pond.runtime_dir();
    // A number or two may be free below the limit; then there is nothing to serve them with.
    let late: Vec<Raw> = (0..60).map(|_| Raw::connect(&folder)).collect();
    let greeting = encoded(1, hello(VERSION, ClientId::random()));
    let served = late.iter().filter(|raw| raw.send_bytes(&greeting) && raw.receive().is_some());
    let served = served.count();
    assert!(served < 10, "{served} were served without a descriptor");
    pond.control().ping().unwrap();
    assert_eq!(worker.ask("hash held"), hash);
    worker.ask("drop held");
    assert_eq!(worker.ask("get held"), hash);
    let refused = worker.try_ask(&format!("begin more {}", 40 << 20)).unwrap_err();
    say(&format!("without a descriptor: {refused}"));
    let refused = refused.split(' ').next().unwrap().to_owned();
    // The driver's word for it: some say that an operating system call failed, some are full.
    assert!(["driver", "gpu_full"].contains(&refused.as_str()), "{refused}");
    drop(late);
    limit(daemon, Resource::Nofile, None);
    worker.ask(&format!("begin more {}", 40 << 20));
    worker.ask("delete more");
    worker.ask("drop more");
    worker.ask("flush");
    pond.connect().unwrap().ping().unwrap();
    eventually_equal("accounts", &accounts, || pond.accounts());
    assert_eq!(pond.status().epoch, status.epoch, "the daemon died:\n{}", pond.log());
    eventually_equal("descriptors", &fds, || descriptors(daemon));
    let lines = pond.log().lines().count() - lines;
    assert!(lines < 20, "{lines} lines in the log for 60 refused connections");
    worker.finish();
}

/// With few descriptors there are few slabs and clients, and never so many that no keeper can be
/// started in the place of a dead one.
#[test]
fn slabs_and_clients_leave_descriptors_for_the_pond_itself() {
    let few = "ulimit -n 256 && exec \"$0\" \"$@\"";
    let pond = TestPond::start(Options::giving_back().soft().under(few));
    let names = (0..1000).map(|index| format!("many/{index}"));
    let made = names.map(|name| pond.control().reserve(spec(&name, (1 << 20) - 1)));
    let mut refused = None;
    let made = made.map_while(|result| result.map_err(|error| refused = Some(error)).ok()).count();
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("descriptors are in use"), "{refused}");
    assert!(made > 300, "{made} tensors with 256 descriptors, two in each slab");
    let folder = pond.runtime_dir();
    let crowd: Vec<Raw> = (0..60).map(|_| Raw::connect(&folder)).collect();
    let answer = crowd.last().unwrap().receive().expect("all were let in").0;
    assert!(format!("{answer:?}").contains("descriptors are in use"), "{answer:?}");
    pond.kill_keeper();
    let admin = Raw::connect_admin(&folder);
    admin.be_welcome();
    drop((crowd, admin));
    pond.kill_daemon();
    assert_eq!(pond.control().list("many/").unwrap().len(), made);
    assert_eq!(pond.status().lost_tensors, 0);
}

/// A client that can take no descriptor hears of its own limit, and goes on when that is gone.
#[test]
fn a_client_without_descriptors_is_told_so() {
    let pond = TestPond::start(Options::giving_back().soft());
    let mut maker = pond.worker();
    let hash = maker.ask(&format!("make held {} 1", 33 << 20));
    let mut worker = pond.worker();
    worker.ask("make own 1000 2");
    let free =
        (0..).find(|number| !PathBuf::from(format!("/proc/{}/fd/{number}", worker.pid())).exists());
    limit(worker.pid(), Resource::Nofile, free);
    let refused = worker.try_ask("get held").unwrap_err();
    assert!(refused.contains("too many open files"), "{refused}");
    limit(worker.pid(), Resource::Nofile, None);
    assert_eq!(worker.ask("get held"), hash);
    maker.finish();
    worker.finish();
}

/// The journal cannot grow: what needs a record is refused and undone, readers are served.
#[test]
fn a_full_journal() {
    let pond = TestPond::start(Options::giving_back().soft());
    let mut worker = pond.worker();
    let hash = worker.ask("make held 100000 1");
    let (status, accounts) = (pond.status(), pond.accounts());
    let daemon = status.daemon_pid;
    limit(daemon, Resource::Fsize, Some(journal_bytes(daemon) + 300));
    let mut made = 0;
    let error = loop {
        match pond.control().reserve(spec(&format!("more/{made}"), 100)) {
            Ok(_) => made += 1,
            Err(error) => break error,
        }
        assert!(made < 100, "the journal has a limit");
    };
    assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    say(&format!("a full journal: {error}"));
    // Not even the shortest record.
    limit(daemon, Resource::Fsize, Some(journal_bytes(daemon)));
    let refused = worker.try_ask("delete held").unwrap_err();
    assert!(refused.starts_with("internal"), "{refused}");
    let mut reader = pond.worker();
    pond.control().ping().unwrap();
    assert_eq!(worker.ask("hash held"), hash);
    assert_eq!(pond.control().list("more/").unwrap().len(), made);
    assert_eq!(pond.status().epoch, status.epoch, "the daemon died:\n{}", pond.log());
    limit(daemon, Resource::Fsize, None);
    assert_eq!(reader.ask("hash held"), hash);
    // Nothing of what was refused is there, also not for the next daemon.
    pond.kill_daemon();
    assert_eq!(pond.control().list("").unwrap().len(), made + 1);
    for index in 0..made {
        pond.control().delete(format!("more/{index}").as_str()).unwrap();
    }
    eventually_equal("accounts", &accounts, || pond.accounts());
    reader.finish();
    worker.finish();
}

fn journal_bytes(pid: u32) -> u64 {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let mut found = entries.filter(|entry| {
        fs::read_link(entry.path())
            .is_ok_and(|target| target.to_string_lossy().contains("millpond-journal"))
    });
    fs::metadata(found.next().unwrap().path()).unwrap().len()
}

/// A mount that is taken away again.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// The software device lies where there is less room than it claims to have.
#[test]
fn a_full_file_system_under_the_software_device() {
    let folder = millpond_tests::Folder::new();
    let place = folder.join("small");
    fs::create_dir(&place).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=96m", "none"]).arg(&place);
    if Said::by(&mut mount, PATIENCE).code != Some(0) {
        return millpond_tests::skip("only root can mount a small file system");
    }
    let mount = Mount(place.clone());
    let options = Options::giving_back().soft();
    let pond = TestPond::start(options.env("MILLPOND_SOFT_DIR", &place.display().to_string()));
    let mut worker = pond.worker();
    let hash = worker.ask(&format!("make fits {} 1", 40 << 20));
    let accounts = pond.accounts();
    let used = pond.physical();
    for _ in 0..3 {
        let refused = worker.try_ask(&format!("begin more {}", 60 << 20)).unwrap_err();
        assert!(refused.starts_with("gpu_full") || refused.starts_with("driver"), "{refused}");
    }
    eventually_equal("accounts", &accounts, || pond.accounts());
    pond.assert_physical("what did not fit", used);
    assert_eq!(worker.ask("hash fits"), hash);
    worker.ask("delete fits");
    worker.ask("drop-all");
    worker.ask("flush");
    worker.ask(&format!("make more {} 2", 60 << 20));
    worker.finish();
    drop(pond);
    drop(mount);
}
