//! One account for each user: whoever takes much waits or is refused, and the operator gets in.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::path::Path;

use millpond::{Dtype, TensorSpec};
use millpond_tests::{Options, Raw, TestPond, eventually};
use millpond_wire::message::{ReplyBody, RequestBody, Target, TensorGet, VERSION};
use millpond_wire::{LeaseId, Mode};

fn get(name: &str, lease: u64) -> RequestBody {
    let target = Target::Name(name.parse().unwrap());
    let (lease, mode) = (LeaseId(lease), Mode::ReadOnly);
    RequestBody::TensorGet(TensorGet { target, lease, mode, wait_ms: 0 })
}

/// What all users have of something, as the operator sees it.
fn in_all(folder: &Path, resource: &str) -> u64 {
    let operator = Raw::connect_admin(folder);
    operator.be_welcome();
    operator.send(2, RequestBody::AccountList);
    let ReplyBody::Accounts { all, .. } = operator.receive().unwrap().0.body else {
        panic!("no accounts")
    };
    all.iter().find(|one| one.name == resource).unwrap().has
}

/// Clients that hung up with a lease and whose process lives fill the pond; the commands of who may
/// open the operator's socket work all the same, and say which socket they use.
#[test]
fn silent_clients_of_one_process_do_not_keep_the_operator_out() {
    let pond = TestPond::start(Options::new().env("MILLPOND_LIMITS_CLIENTS", "32"));
    let folder = pond.runtime_dir();
    pond.control().reserve(TensorSpec::new("x", Dtype::U8, [64]).zero(true)).unwrap();
    let mut refused = None;
    for _ in 0..40 {
        let raw = Raw::connect(&folder);
        match raw.hello(VERSION) {
            ReplyBody::Welcome(_) => {
                raw.send(2, get("x", 1));
                assert!(matches!(raw.receive().unwrap().0.body, ReplyBody::Tensor(_)));
            }
            ReplyBody::Failure(failure) => {
                refused = Some(failure);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    let limit = refused.expect("a refusal").limit.unwrap();
    assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.clients_per_user", 32, 32));
    let said = pond.cli(&["status", "--users", "--json"]);
    assert_eq!(said.json()["all"][0]["name"], "clients");
    assert!(said.json()["all"][0]["has"].as_u64().unwrap() >= 32);
    assert!(said.stderr.contains("the operator's socket"), "{}", said.stderr);
    assert_eq!(pond.cli(&["ps"]).code, Some(0));
}

/// Descriptors that are sent and not read are counted for each user: a hello is answered without the
/// page, the keeper is told what to hold, and what was asked for comes when it is read.
#[test]
fn descriptors_that_nobody_reads_stop_their_user_and_nobody_else() {
    let options = Options::new().env("MILLPOND_LIMITS_DESCRIPTORS_IN_FLIGHT_PER_USER", "128");
    let pond = TestPond::start(options);
    let folder = pond.runtime_dir();
    let before = pond.status();
    pond.control().reserve(TensorSpec::new("x", Dtype::U8, [64]).zero(true)).unwrap();
    let raws: Vec<Raw> = (0..300).map(|_| Raw::connect(&folder)).collect();
    raws.iter().for_each(Raw::be_welcome);
    for raw in &raws {
        raw.send(2, get("x", 1));
    }
    eventually("as many as may be in flight", || {
        (in_all(&folder, "descriptors") == 128).then_some(())
    });
    // The count stays where it is, and others are served: the operator with the page.
    let raw = Raw::connect(&folder);
    let ReplyBody::Welcome(welcome) = raw.hello(VERSION) else { panic!("not welcome") };
    assert_eq!(welcome.page_slots, 0);
    let operator = Raw::connect_admin(&folder);
    let ReplyBody::Welcome(welcome) = operator.hello(VERSION) else { panic!("not welcome") };
    assert!(welcome.page_slots > 0);
    assert_eq!(in_all(&folder, "descriptors"), 128);
    let made = TensorSpec::new("y", Dtype::U8, [8 << 20]).zero(true);
    pond.control().reserve(made).unwrap();
    for raw in &raws {
        let (reply, fds) = raw.receive().unwrap();
        assert!(matches!(reply.body, ReplyBody::Tensor(_)) && fds.len() == 1);
    }
    eventually("nothing in flight", || (in_all(&folder, "descriptors") == 0).then_some(()));
    let after = pond.status();
    assert_eq!((after.keeper_pid, after.daemon_pid), (before.keeper_pid, before.daemon_pid));
    let told = pond.cli(&["events", "--json"]);
    assert!(told.ok().contains("limits.descriptors_in_flight_per_user"), "{}", told.stdout);
}

/// A connection that is ended with descriptors unread still has them in flight.
#[test]
fn whoever_breaks_the_protocol_still_has_what_is_in_flight() {
    let pond = TestPond::start(Options::new());
    let folder = pond.runtime_dir();
    pond.control().reserve(TensorSpec::new("x", Dtype::U8, [64]).zero(true)).unwrap();
    eventually("nothing in flight", || (in_all(&folder, "descriptors") == 0).then_some(()));
    let connections = in_all(&folder, "connections");
    let raw = Raw::connect(&folder);
    raw.be_welcome();
    raw.send(2, get("x", 1));
    eventually("one in flight", || (in_all(&folder, "descriptors") == 1).then_some(()));
    assert!(raw.send_bytes(&[]));
    assert_eq!(in_all(&folder, "descriptors"), 1, "ended, and not read");
    assert!(raw.is_ended());
    eventually("it is read", || {
        let left = ["descriptors", "connections"].map(|resource| in_all(&folder, resource));
        (left == [0, connections]).then_some(())
    });
}

/// Long listings that are sent and not read are counted until they are read.
#[test]
fn listings_that_nobody_reads_are_bounded() {
    const TENSORS: usize = 2100;
    let options = Options::new().env("MILLPOND_LIMITS_REPLY_BYTES_PER_USER", "1MiB");
    let pond = TestPond::start(options);
    let folder = pond.runtime_dir();
    for index in 0..TENSORS {
        let spec = TensorSpec::new(format!("listed/{index}"), Dtype::U8, [1]).zero(true);
        pond.control().reserve(spec).unwrap();
    }
    let raws: Vec<Raw> = (0..40).map(|_| Raw::connect(&folder)).collect();
    raws.iter().for_each(Raw::be_welcome);
    for raw in &raws {
        raw.send(2, RequestBody::TensorList { prefix: String::new(), page: None });
    }
    let unread = eventually("a user who is full", || {
        Some(in_all(&folder, "reply_bytes")).filter(|bytes| *bytes >= 1 << 20)
    });
    // One more may have been under way when the mark was reached.
    for _ in 0..20 {
        let bytes = in_all(&folder, "reply_bytes");
        assert!(bytes < 3 << 20, "{bytes} bytes are not read, {unread} before");
    }
    for raw in &raws {
        let (reply, fds) = raw.receive().unwrap();
        assert!(matches!(reply.body, ReplyBody::InMemfd { .. }) && fds.len() == 1);
    }
    eventually("everything is read", || (in_all(&folder, "reply_bytes") == 0).then_some(()));
}
