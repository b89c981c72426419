//! Clients that ask and do not read: they delay nobody, and cost a bounded amount of everything.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond::{Dtype, LeaseId, Mode, TensorSpec};
use millpond_tests::process::{descriptors, resident};
use millpond_tests::{Options, Raw, TestPond, eventually_equal, say};
use millpond_wire::message::{RequestBody, Target, TensorGet};

/// A small descriptor limit, and no right to exceed what the kernel lets one user have in flight.
const FEW_DESCRIPTORS: &str = "ulimit -n 1100 && \
    exec setpriv --bounding-set=-sys_resource,-sys_admin -- \"$0\" \"$@\"";
const CONNECTIONS: usize = 30;
const ASKS: u64 = 100;

fn get(number: u64) -> RequestBody {
    let target = Target::Name("honest".parse().unwrap());
    RequestBody::TensorGet(TensorGet {
        target,
        lease: LeaseId(number),
        mode: Mode::ReadOnly,
        wait_ms: 0,
    })
}

fn start(options: Options) -> TestPond {
    let pond = TestPond::start(options);
    pond.control().reserve(TensorSpec::new("honest", Dtype::U8, [100]).zero(true)).unwrap();
    pond
}

fn welcome(pond: &TestPond) -> Raw {
    let raw = Raw::connect(&pond.runtime_dir());
    raw.be_welcome();
    raw
}

/// Answers pile up for one who does not read them; everybody else goes on.
#[test]
fn a_client_that_never_reads_delays_nobody() {
    let pond = start(Options::new());
    let raws: Vec<Raw> = (0..4).map(|_| welcome(&pond)).collect();
    for raw in &raws {
        (1..=150).for_each(|number| raw.send(number, get(number)));
    }
    for _ in 0..100 {
        pond.control().ping().unwrap();
    }
    let mut worker = pond.worker();
    worker.ask("get honest");
    worker.finish();
    // One who reads late gets every answer, each with its descriptor, in order.
    for number in 1..=150 {
        let (reply, fds) = raws[0].receive().unwrap();
        assert_eq!((reply.number, fds.len()), (number, 1), "{reply:?}");
    }
    drop(raws);
    pond.control().ping().unwrap();
}

/// More descriptors asked for than the kernel lets one user have in flight: at most one of each
/// connection is on its way, so others still get theirs.
#[test]
fn those_who_leave_descriptors_unread_stop_nobody_elses() {
    let pond = start(Options::giving_back().soft().under(FEW_DESCRIPTORS));
    let status = pond.status();
    let before = descriptors(status.daemon_pid);
    let raw = welcome(&pond);
    (1..=ASKS).for_each(|number| raw.send(number, get(number)));
    // The others in a process of their own, which can be killed.
    let mut hoarder = pond.worker();
    hoarder.ask(&format!("hoard {CONNECTIONS} {ASKS} honest"));
    pond.control().ping().unwrap();
    let mut worker = pond.worker();
    worker.ask("get honest");
    // Slabs are made and handed out meanwhile.
    for index in 0..5 {
        worker.ask(&format!("put new/{index} {} {index}", 33 << 20));
        worker.ask(&format!("hash new/{index}"));
    }
    worker.ask("drop-all");
    worker.ask("flush");
    for index in 0..5 {
        pond.control().delete(format!("new/{index}").as_str()).unwrap();
    }
    worker.finish();
    // Those who read after all get all that they asked for.
    for number in 1..=ASKS {
        let (reply, fds) = raw.receive().unwrap();
        assert_eq!((reply.number, fds.len()), (number, 1), "{reply:?}");
    }
    raw.send(1000, RequestBody::Goodbye);
    assert!(raw.receive().is_some());
    drop(raw);
    hoarder.kill();
    eventually_equal("clients", &1, || pond.status().clients);
    assert_eq!(pond.status().epoch, status.epoch, "the daemon died:\n{}", pond.log());
    eventually_equal("descriptors", &before, || descriptors(status.daemon_pid));
}

/// Requests for ever without reading: the daemon stops reading, and does not grow.
#[test]
fn one_who_only_asks_is_not_listened_to_for_ever() {
    let pond = start(Options::new());
    let status = pond.status();
    let raw = welcome(&pond);
    let list = RequestBody::TensorList { prefix: String::new(), page: None };
    let before = resident(status.daemon_pid);
    let list = millpond_tests::raw::encoded(5, list);
    // The socket takes no more at some point, and the sender would wait.
    let mut sent = 0;
    while sent < 200_000 && raw.try_send_bytes(&list) {
        sent += 1;
    }
    let mut worker = pond.worker();
    for index in 0..20 {
        pond.control().ping().unwrap();
        worker.ask(&format!("put beside {} {index}", 1000));
        worker.ask("delete beside");
        sent += u64::from(raw.try_send_bytes(&list));
    }
    worker.finish();
    let grown = resident(status.daemon_pid).saturating_sub(before);
    say(&format!("{sent} unread requests: the daemon grew by {} KiB", grown >> 10));
    assert!(sent < 200_000, "the daemon reads for ever");
    assert!(grown < 32 << 20, "{grown} bytes for one who never reads");
    drop(raw);
    eventually_equal("clients", &1, || pond.status().clients);
    assert_eq!(pond.status().epoch, status.epoch);
}

/// More tensors than a listing shows at once: it is complete and in order, and who asks for it and
/// goes leaves nothing behind.
#[test]
fn a_long_listing_is_complete_and_in_order() {
    const TENSORS: usize = 5000;
    let pond = start(Options::new());
    let status = pond.status();
    let mut expected = Vec::new();
    for index in 0..TENSORS {
        // Not in the order of their names.
        let name = format!("many/{:04}", index * 7919 % TENSORS);
        let spec = TensorSpec::new(name.clone(), Dtype::U8, [1]).zero(true);
        pond.control().reserve(spec).unwrap();
        expected.push(name);
    }
    expected.sort();
    let before = descriptors(status.daemon_pid);
    let raw = welcome(&pond);
    for number in 5..25 {
        raw.send(number, RequestBody::TensorList { prefix: String::new(), page: None });
    }
    let listed = pond.control().list("many/").unwrap();
    let names: Vec<String> =
        listed.into_iter().filter_map(|info| Some(info.name?.to_string())).collect();
    assert_eq!(names, expected);
    let (reply, fds) = raw.receive().unwrap();
    assert_eq!((reply.number, fds.len()), (5, 1), "{reply:?}");
    drop((raw, fds));
    eventually_equal("clients", &1, || pond.status().clients);
    eventually_equal("descriptors", &before, || descriptors(status.daemon_pid));
    assert_eq!(pond.control().list("many/4999").unwrap().len(), 1);
    assert_eq!(pond.status().epoch, status.epoch, "the daemon died:\n{}", pond.log());
}
