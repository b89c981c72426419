//! Requests: sent, repeated, put off, given up.

use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{CacheId, ErrorKind, TensorId};

use super::*;
use crate::End;

#[test]
fn a_round_trip_is_one_send_and_one_read() {
    let mut bench = Bench::up();
    let mut call = bench.call(ping());
    bench.send(&mut call);
    assert!(bench.answer(&mut call, ReplyBody::Done));
    assert_eq!((bench.sent.len(), call.sends()), (1, 1));
    assert!(!call.concerns_leases());
}

#[test]
fn a_request_is_repeated_over_the_next_connection_under_its_number() {
    let mut bench = Bench::up();
    let mut call = bench.call(ping());
    bench.send(&mut call);
    bench.hang_up();
    assert!(!call.wants_sending(&bench.session, bench.now));
    assert!(matches!(bench.next(&mut call), Next::Connect { .. }));
    let before = bench.session.generation();
    bench.connect(&[]);
    assert!(call.wants_sending(&bench.session, bench.now));
    bench.send(&mut call);
    // What the old connection still says does not count.
    let late = Reply { number: call.number(), body: ReplyBody::Done };
    assert!(matches!(bench.session.received(before, late, vec![]), Received::Stale));
    assert!(bench.answer(&mut call, ReplyBody::Done));
    let numbers: Vec<_> = bench.sent.iter().map(|(on, one)| (*on, one.number)).collect();
    assert_eq!(numbers, [(1, call.number()), (2, call.number())]);
}

#[test]
fn a_daemon_that_dies_of_a_request_gets_it_twenty_one_times() {
    for (lasts, ends) in [(MS, true), (Duration::from_millis(200), false)] {
        let mut bench = Bench::up();
        let mut call = bench.call(ping());
        for round in 0..40 {
            match bench.next(&mut call) {
                Next::Send(_) => {}
                Next::Failed(End::Restless { times }) => {
                    assert!(ends && round == 21 && times == 21, "after {round}");
                    break;
                }
                other => panic!("{other:?}"),
            }
            assert!(ends || round < 39 || bench.sent.len() == 40);
            bench.pass(lasts);
            bench.hang_up();
            bench.connect(&[]);
        }
        assert_eq!(bench.sent.len(), if ends { 21 } else { 40 });
    }
}

#[test]
fn later_is_asked_again_after_pauses_that_double_up_to_the_deadline() {
    let mut bench = Bench::up();
    let deadline = bench.now + 20 * MS;
    let mut call = bench.call(Ask { deadline: Some(deadline), ..ping() });
    let mut pauses = Vec::new();
    loop {
        bench.send(&mut call);
        if bench.answer(&mut call, failure(ErrorKind::Later)) {
            break;
        }
        let Next::Pause(until) = bench.next(&mut call) else { panic!() };
        assert!(!call.wants_sending(&bench.session, bench.now));
        pauses.push((until - bench.now).as_millis());
        bench.now = until;
    }
    assert_eq!(pauses, [1, 2, 4, 8], "the next would end after the deadline");
}

#[test]
fn a_repeat_waits_only_for_what_is_left() {
    let mut bench = Bench::up();
    let (_, mut ask) = bench.get(None);
    if let RequestBody::TensorGet(get) = &mut ask.body {
        get.wait_ms = 60_000;
    }
    ask.waits_until = Some(bench.now + Duration::from_secs(60));
    let mut call = bench.call(ask);
    bench.send(&mut call);
    bench.pass(Duration::from_millis(1500));
    bench.hang_up();
    bench.connect(&[]);
    bench.send(&mut call);
    let waits = bench.sent.iter().map(|(_, one)| match &one.body {
        RequestBody::TensorGet(get) => get.wait_ms,
        other => panic!("{other:?}"),
    });
    assert_eq!(waits.collect::<Vec<_>>(), [60_000, 58_500]);
}

#[test]
fn a_repeated_wait_for_pages_is_shorter_too() {
    let mut bench = Bench::up();
    let body = RequestBody::CacheWant { cache: CacheId::random(), bytes: 1, wait_ms: 1000 };
    let waits_until = Some(bench.now + Duration::from_secs(1));
    let mut call = bench.call(Ask { body, waits_until, ..ping() });
    bench.send(&mut call);
    bench.pass(Duration::from_millis(400));
    bench.hang_up();
    bench.connect(&[]);
    bench.send(&mut call);
    let waits = bench.sent.iter().filter_map(|(_, one)| match &one.body {
        RequestBody::CacheWant { wait_ms, .. } => Some(*wait_ms),
        _ => None,
    });
    assert_eq!(waits.collect::<Vec<_>>(), [1000, 600]);
}

/// Else the pond would say that the tensor is not there, as if nobody had waited for it.
#[test]
fn a_repeat_of_a_wait_that_is_over_still_waits() {
    for (wait_ms, expected) in [(1000, [1000, 1]), (0, [0, 0])] {
        let mut bench = Bench::up();
        let (_, mut ask) = bench.get(None);
        if let RequestBody::TensorGet(get) = &mut ask.body {
            get.wait_ms = wait_ms;
        }
        ask.waits_until = Some(bench.now + Duration::from_millis(wait_ms));
        let mut call = bench.call(ask);
        bench.send(&mut call);
        bench.hang_up();
        bench.pass(Duration::from_secs(5));
        bench.connect(&[]);
        bench.send(&mut call);
        let waits = bench.sent.iter().map(|(_, one)| match &one.body {
            RequestBody::TensorGet(get) => get.wait_ms,
            other => panic!("{other:?}"),
        });
        assert_eq!(waits.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_deadline_ends_the_wait_for_an_answer_and_for_another_callers_connection() {
    let mut bench = Bench::up();
    let deadline = Some(bench.now + 10 * MS);
    let mut call = bench.call(Ask { deadline, ..ping() });
    bench.send(&mut call);
    bench.pass(10 * MS);
    assert!(matches!(bench.next(&mut call), Next::Failed(End::Late { after }) if after == 10 * MS));

    let mut bench = Bench::down();
    let deadline = Some(bench.now + 10 * MS);
    let mut call = bench.call(Ask { deadline, ..ping() });
    let _claims = bench.session.connecting();
    assert!(matches!(bench.next(&mut call), Next::Await));
    bench.pass(10 * MS);
    assert!(matches!(bench.next(&mut call), Next::Failed(End::Late { .. })));
}

#[test]
fn each_caller_tries_to_connect_once_and_a_pond_that_is_gone_is_waited_for_once() {
    let mut bench = Bench::down();
    let mut call = bench.call(ping());
    let Next::Connect { until } = bench.next(&mut call) else { panic!() };
    assert_eq!(until, bench.now + PATIENCE);
    let _claims = bench.session.connecting();
    bench.session.not_connected();
    assert!(matches!(bench.next(&mut call), Next::Connect { .. }), "another caller's failure");
    call.tried();
    assert!(matches!(bench.next(&mut call), Next::Failed(End::Gone)));
    let mut slow = bench.call(ping());
    bench.next(&mut slow);
    bench.pass(PATIENCE + MS);
    assert!(matches!(bench.next(&mut slow), Next::Failed(End::Gone)));
}

#[test]
fn a_closed_session_answers_nothing() {
    let mut bench = Bench::up();
    let mut waiting = bench.call(ping());
    bench.send(&mut waiting);
    assert_eq!(bench.session.closed().map(|it| it.body), Some(RequestBody::Goodbye));
    assert_eq!(bench.session.closed(), None, "goodbye is said once");
    for call in [&mut waiting, &mut bench.call(ping())] {
        assert!(matches!(bench.next(call), Next::Failed(End::Closed)));
    }
    assert!(bench.arrive(&[]).is_none());
}

#[test]
fn a_peer_that_cannot_be_understood_fails_every_call_and_repeats_none() {
    let mut bench = Bench::up();
    let mut calls = [bench.call(ping()), bench.call(ping())];
    calls.iter_mut().for_each(|call| bench.send(call));
    assert!(bench.session.failed(1, &"garbage", bench.now));
    for call in &mut calls {
        assert!(matches!(bench.next(call), Next::Answered(Err("garbage"))));
    }
    assert!(bench.session.is_down());
}

#[test]
fn messages_that_nobody_asked_for_are_handed_out_and_unknown_ones_counted() {
    let mut bench = Bench::up();
    let mut call = bench.call(ping());
    bench.send(&mut call);
    let asked = RequestBody::TensorDelete { tensor: TensorId::random() };
    assert!(matches!(bench.reply(0, ReplyBody::Done), Received::Unasked(ReplyBody::Done, _)));
    for count in 1..3 {
        assert!(matches!(bench.reply(0, ReplyBody::Unknown), Received::Unknown));
        assert_eq!(bench.session.unknown(), count);
    }
    // The call is not disturbed, and what is not known as an answer is left to its caller.
    assert!(matches!(bench.next(&mut call), Next::Read(_)));
    assert!(bench.answer(&mut call, ReplyBody::Unknown));
    let mut other = bench.call(Ask::new(asked));
    bench.send(&mut other);
}

#[test]
fn what_could_not_be_sent_is_not_waited_for() {
    let mut bench = Bench::up();
    let (_, ask) = bench.get(None);
    let mut call = bench.call(ask);
    assert!(matches!(bench.next(&mut call), Next::Send(_)));
    call.unsent(&mut bench.session);
    assert!(!bench.session.awaits(call.number()));
    call.end(&mut bench.session, Ended::Badly);
    assert!(!bench.session.has_duties(), "no grant can come");
}
