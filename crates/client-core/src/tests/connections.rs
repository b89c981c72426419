//! Connections: attempts, hello, claims.

use millpond_wire::caps::MESSAGE_BYTES;
use millpond_wire::message::{Claim, LeaseClaim, ReplyBody, RequestBody, VERSION, Welcome};
use millpond_wire::{Epoch, ErrorKind};

use super::*;
use crate::handshake::CLAIMS;
use crate::{Attempt, Dial, Handshake, Progress, Refusal, Retry};

fn claim(number: u64) -> LeaseClaim {
    let target = TensorId::random().into();
    LeaseClaim { lease: LeaseId(number), target, mode: Mode::ReadWrite, token: [0xff; 16] }
}

fn welcome(version: u16) -> ReplyBody {
    ReplyBody::Welcome(Welcome {
        version,
        capabilities: 0,
        pond: PondId::random(),
        epoch: Epoch(1),
        daemon_version: "0".into(),
        tenant: "local".into(),
        user: 1000,
        admin: false,
        page_slots: 0,
    })
}

#[test]
fn a_batch_of_claims_fits_a_datagram() {
    let body = RequestBody::Claim(Claim { leases: vec![claim(u64::MAX); CLAIMS], last: true });
    let mut builder = planus::Builder::new();
    let bytes = Request { number: u64::MAX, body }.encode(&mut builder).len();
    assert!(bytes <= MESSAGE_BYTES, "{bytes} bytes");
}

#[test]
fn claims_follow_the_hello_in_batches_of_which_the_last_says_so() {
    for (count, batches) in [
        (0, vec![]),
        (1, vec![(1, true)]),
        (512, vec![(512, true)]),
        (1100, vec![(512, false), (512, false), (76, true)]),
    ] {
        let claims = (0..count).map(claim).collect();
        let mut handshake = Handshake::new(ClientId::random(), "test", claims);
        let mut seen = Vec::new();
        while let Some(Request { number, body }) = handshake.ask() {
            let body = match body {
                RequestBody::Hello(hello) => {
                    assert_eq!(hello.claims, count > 0);
                    welcome(VERSION)
                }
                RequestBody::Claim(claim) => {
                    seen.push((claim.leases.len(), claim.last));
                    ReplyBody::Claimed { refused: vec![claim.leases[0].lease] }
                }
                other => panic!("{other:?}"),
            };
            let other = Reply { number: number + 1, body: ReplyBody::Done };
            assert_eq!(handshake.received(other), Ok(Progress::Ignored));
            handshake.received(Reply { number, body }).unwrap();
        }
        assert_eq!(seen, batches);
        assert_eq!(handshake.finish().unwrap().1.len(), batches.len());
    }
}

#[test]
fn a_handshake_ends_with_the_first_answer_that_is_none() {
    let no = Failure::new(ErrorKind::Draining, "no");
    for (number, body, refusal) in [
        (1, welcome(VERSION + 1), Refusal::Version(VERSION + 1)),
        (1, ReplyBody::Done, Refusal::NotAnAnswer("hello")),
        (1, ReplyBody::Failure(no.clone()), Refusal::Failure(no.clone())),
        // A pond that is full says so without having been asked.
        (0, ReplyBody::Failure(no.clone()), Refusal::Failure(no)),
    ] {
        let mut handshake = Handshake::new(ClientId::random(), "test", vec![claim(1)]);
        handshake.ask().unwrap();
        assert_eq!(handshake.received(Reply { number, body }), Err(refusal));
    }
    let mut handshake = Handshake::new(ClientId::random(), "test", vec![claim(1)]);
    handshake.ask().unwrap();
    handshake.received(Reply { number: 1, body: welcome(VERSION) }).unwrap();
    handshake.ask().unwrap();
    let again = handshake.received(Reply { number: 2, body: welcome(VERSION) });
    assert_eq!(again, Err(Refusal::NotAnAnswer("claims")));
}

#[test]
fn attempts_go_on_as_long_as_a_daemon_may_come_back() {
    let absent = Attempt::Absent { no_pond: true };
    let denied = Attempt::Absent { no_pond: false };
    let (busy, no) = (Attempt::Refused { passing: true }, Attempt::Refused { passing: false });
    let second = Duration::from_secs(1);
    let again = Retry::After(5 * MS);
    // How it failed; whether there was a connection, lost so long ago; whether the socket is gone.
    for (attempt, lost, removed, retry) in [
        (absent, None, false, Retry::No),
        (absent, Some(MS), false, again),
        (absent, Some(MS), true, again),
        (absent, Some(second), true, Retry::Stopped),
        (absent, Some(second), false, again),
        (absent, Some(PATIENCE), false, Retry::No),
        (denied, Some(MS), false, Retry::No),
        (busy, None, false, Retry::No),
        (busy, Some(MS), false, again),
        (no, Some(MS), false, Retry::No),
        (Attempt::HungUp, None, false, again),
        (Attempt::HungUp, Some(MS), false, again),
    ] {
        let begun = Instant::now();
        let down = lost.map(|ago| (begun, begun + PATIENCE, ago));
        let now = down.map_or(begun, |(since, _, ago)| since + ago);
        let down = down.map(|(since, until, _)| (since, until));
        let mut dial = Dial::new(now + PATIENCE, down);
        assert_eq!(dial.failed(attempt, now, || removed), retry, "{attempt:?} {lost:?} {removed}");
    }
}

#[test]
fn attempts_pause_longer_and_longer_and_end_before_the_deadline() {
    let mut now = Instant::now();
    let mut dial = Dial::new(now + Duration::from_secs(3), None);
    let mut pauses = Vec::new();
    while let Retry::After(pause) = dial.failed(Attempt::HungUp, now, || false) {
        pauses.push(pause.as_millis());
        now += pause;
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1000]);
}
