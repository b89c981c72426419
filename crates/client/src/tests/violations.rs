//! A pond that lies: errors, never panics, and the next call starts afresh.

use std::os::fd::OwnedFd;

use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{Backing, ErrorKind, LeaseId, Mode, Transport, caps, memfd};

use crate::answer::Answer;
use crate::testing::{Does, FakePond, an_fd, grant, grant_of, info};
use crate::{Error, grant as check};

/// What a ping meets if it is answered so.
fn ping_with(does: impl Fn() -> Does + Send + Sync + 'static) -> Error {
    let pond = FakePond::start(move |connection, request| match &request.body {
        RequestBody::Ping if connection == 0 => does(),
        _ => Does::Polite,
    });
    let link = pond.link();
    let error = link.ask_done("a ping", RequestBody::Ping).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    link.ask("a status request", RequestBody::PondStatus).unwrap();
    error
}

#[test]
fn garbage_and_oversized_messages() {
    ping_with(|| Does::Raw(b"garbage".to_vec()));
    ping_with(|| Does::Raw(vec![0xff; 4096]));
    ping_with(|| Does::Raw(vec![0; 64]));
    let error = ping_with(|| Does::Raw(vec![1; caps::MESSAGE_BYTES + 1]));
    assert!(error.to_string().contains("64 KiB"), "{error}");
}

#[test]
fn answers_of_another_kind_and_descriptors_that_nobody_wants() {
    ping_with(|| Does::Reply(ReplyBody::Published { generation: 1 }));
    let error = ping_with(|| Does::ReplyWith(ReplyBody::Done, vec![an_fd()]));
    assert!(error.to_string().contains("1 descriptors"), "{error}");
}

#[test]
fn memfds_that_are_none() {
    let memfd = |bytes: u64, fds: fn() -> Vec<OwnedFd>| {
        ping_with(move || Does::ReplyWith(ReplyBody::InMemfd { bytes }, fds()))
    };
    memfd(10, Vec::new);
    memfd(10, || vec![an_fd()]);
    memfd(10, || vec![memfd::sealed("x", b"0123456789").unwrap(), an_fd()]);
    memfd(10, || vec![memfd::sealed("x", b"0123456789").unwrap()]);
    memfd(9, || vec![memfd::sealed("x", b"0123456789").unwrap()]);
    memfd(u64::MAX, || vec![memfd::sealed("x", b"0123456789").unwrap()]);
}

fn answer(body: ReplyBody, fds: usize) -> Answer {
    let fds = (0..fds).map(|_| an_fd()).collect();
    Answer { body, fds, lost: Some(Default::default()) }
}

#[test]
fn a_grant_has_the_lease_that_was_asked_for_and_one_descriptor() {
    let lease = LeaseId(5);
    let with = |body, fds| check::with_lease("a test", answer(body, fds), lease, Mode::ReadOnly);
    let good = || grant(info("x"), lease, Mode::ReadOnly);
    assert!(with(good(), 1).is_ok());
    for bad in [
        with(good(), 0),
        with(good(), 2),
        with(grant(info("x"), LeaseId(6), Mode::ReadOnly), 1),
        with(grant(info("x"), lease, Mode::ReadWrite), 1),
        with(ReplyBody::Done, 1),
    ] {
        assert_eq!(bad.unwrap_err().kind(), ErrorKind::Protocol);
    }
    let unknown = Answer { lost: None, ..answer(good(), 1) };
    assert!(check::with_lease("a test", unknown, lease, Mode::ReadOnly).is_err());
    assert!(check::without_lease("a test", answer(good(), 1)).is_err());
}

#[test]
fn a_descriptor_comes_where_the_transport_has_one() {
    let lease = LeaseId(5);
    let with = |transport, fds| {
        let backing = Backing { transport, adopted: false };
        let body = grant_of(info("x"), lease, Mode::ReadOnly, backing);
        check::with_lease("a test", answer(body, fds), lease, Mode::ReadOnly)
    };
    assert!(with(Transport::Ipc([1; 64]), 0).is_ok());
    assert!(with(Transport::Mempool([1; 64]), 1).is_ok());
    for (transport, fds) in [
        (Transport::Vmm, 0),
        (Transport::Mempool([1; 64]), 0),
        (Transport::Mempool([1; 64]), 2),
        (Transport::Ipc([1; 64]), 1),
    ] {
        let error = with(transport, fds).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains(transport.name()), "{error}");
    }
}

#[test]
fn a_tensor_lies_inside_its_slab() {
    let lease = LeaseId(5);
    let with = |change: fn(&mut crate::TensorInfo)| {
        let mut info = info("x");
        change(&mut info);
        let answer = answer(grant(info, lease, Mode::ReadOnly), 1);
        check::with_lease("a test", answer, lease, Mode::ReadOnly)
    };
    assert!(with(|info| info.offset = info.slab_bytes - 128).is_ok());
    assert!(with(|info| info.offset = info.slab_bytes - 127).is_err());
    assert!(with(|info| info.offset = u64::MAX).is_err());
    assert!(with(|info| info.bytes = 64).is_err());
    assert!(with(|info| info.slab_bytes = 0).is_err());
}
