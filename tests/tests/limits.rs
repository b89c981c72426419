//! One user cannot use up the daemon.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond::{Dtype, ErrorKind, TensorSpec};
use millpond_tests::{Options, Raw, TestPond, eventually, process::descriptors};
use millpond_wire::message::{ReplyBody, RequestBody};

#[test]
fn connections_of_a_user_are_counted_and_the_operators_are_not() {
    let pond = TestPond::start(Options::new().env("MILLPOND_LIMITS_CONNECTIONS_PER_USER", "8"));
    let folder = pond.runtime_dir();
    pond.control().ping().unwrap();
    let raws: Vec<Raw> = (0..7).map(|_| Raw::connect(&folder)).collect();
    raws.iter().for_each(Raw::be_welcome);
    let refused = pond.connect().and_then(|pond| pond.ping()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooMany, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("8 connections"), "{text}");
    let operator = Raw::connect_admin(&folder);
    operator.be_welcome();
    operator.send(2, RequestBody::ClientList);
    assert!(matches!(operator.receive().unwrap().0.body, ReplyBody::Clients(_)));
    drop(raws);
    eventually("room for another connection", || pond.connect().and_then(|pond| pond.ping()).ok());
}

#[test]
fn a_client_that_holds_nothing_costs_one_descriptor() {
    let pond = TestPond::start(Options::new());
    let daemon = pond.status().daemon_pid;
    let before = descriptors(daemon);
    let raws: Vec<Raw> = (0..50).map(|_| Raw::connect(&pond.runtime_dir())).collect();
    raws.iter().for_each(Raw::be_welcome);
    assert_eq!(descriptors(daemon), before + 50);
}

/// Many connections that ask for much and read nothing: the user's other requests wait, the
/// operator's do not, and when they read everybody gets what was asked for.
#[test]
fn a_user_who_reads_nothing_waits_for_oneself() {
    const LISTINGS: u64 = 20;
    let options = Options::new().env("MILLPOND_LIMITS_REPLY_BYTES_PER_USER", "1MiB");
    let pond = TestPond::start(options);
    let folder = pond.runtime_dir();
    for index in 0..300 {
        let spec = TensorSpec::new(format!("listed/{index}"), Dtype::U8, [1]).zero(true);
        pond.control().reserve(spec).unwrap();
    }
    let raws: Vec<Raw> = (0..20).map(|_| Raw::connect(&folder)).collect();
    raws.iter().for_each(Raw::be_welcome);
    for raw in &raws {
        for number in 2..2 + LISTINGS {
            raw.send(number, RequestBody::TensorList { prefix: String::new(), page: None });
        }
    }
    let operator = Raw::connect_admin(&folder);
    operator.be_welcome();
    let mut number = 1;
    let mut unread = || {
        for _ in 0..20 {
            number += 1;
            operator.send(number, RequestBody::Ping);
            assert_eq!(operator.receive().unwrap().0.number, number);
        }
        raws.iter().map(Raw::unread).sum::<usize>()
    };
    let mut before = unread();
    let left = eventually("a daemon that reads no more", || {
        let now = unread();
        (std::mem::replace(&mut before, now) == now).then_some(now)
    });
    // What was read waits as a request; of replies no more is kept than may be, and one each.
    operator.send(u64::MAX, RequestBody::AccountList);
    let ReplyBody::Accounts { all, .. } = operator.receive().unwrap().0.body else {
        panic!("no accounts")
    };
    let has = |name: &str| all.iter().find(|one| one.name == name).unwrap().has;
    assert!(left > 0 || has("waits") > 0, "every request was answered, and its reply kept");
    assert!(has("reply_bytes") < 3 << 20, "{} bytes are kept", has("reply_bytes"));
    std::thread::scope(|scope| {
        for raw in &raws {
            scope.spawn(move || {
                for number in 2..2 + LISTINGS {
                    assert_eq!(raw.receive().unwrap().0.number, number);
                }
            });
        }
    });
    pond.control().ping().unwrap();
}
