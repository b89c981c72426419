//! Events, across a restart.

use std::time::Duration;

use millpond_wire::ErrorKind;
use millpond_wire::message::{Reply, ReplyBody, RequestBody};

use crate::testing::{Does, FakePond, event, failure, welcome};

#[test]
fn events_come_in_order_and_survive_a_restart() {
    let pond = FakePond::start(|connection, request| match &request.body {
        // Connection 0 is the pond's own.
        RequestBody::Hello(_) => Does::Reply(welcome(if connection < 2 { 1 } else { 2 })),
        RequestBody::Subscribe { from } => Does::Replies(vec![
            Reply { number: 0, body: event(*from) },
            Reply { number: request.number, body: ReplyBody::Done },
            Reply { number: 0, body: event(*from + 1) },
        ]),
        _ => Does::Polite,
    });
    let client = pond.builder().connect().unwrap();
    let mut events = client.events(7).unwrap();
    let sequence = |event: Option<crate::Event>| event.unwrap().sequence;
    let second = Duration::from_secs(5);
    assert_eq!(sequence(events.next_timeout(second).unwrap()), 7);
    assert_eq!(events.next().unwrap().unwrap().sequence, 8);
    assert!(events.next_timeout(Duration::from_millis(20)).unwrap().is_none());
    pond.hang_up();
    assert_eq!(sequence(events.next_timeout(second).unwrap()), 9, "numbers go on rising");
    assert_eq!(sequence(events.next_timeout(second).unwrap()), 10);
    pond.hang_up();
    assert_eq!(sequence(events.next_timeout(second).unwrap()), 11);
    let clients: Vec<_> = pond
        .seen()
        .into_iter()
        .filter_map(|(_, body)| match body {
            RequestBody::Hello(hello) => Some(hello.client),
            _ => None,
        })
        .collect();
    assert_ne!(clients[0], clients[1], "its own identity");
    assert_eq!(clients[1], clients[2]);
    drop(events);
    pond.wait_for(|_, body| *body == RequestBody::Goodbye);
}

#[test]
fn a_refused_subscription_is_an_error() {
    let pond = FakePond::start(|_, request| match &request.body {
        RequestBody::Subscribe { .. } => Does::Reply(failure(ErrorKind::Denied)),
        _ => Does::Polite,
    });
    let client = pond.builder().connect().unwrap();
    assert_eq!(client.events(0).unwrap_err().kind(), ErrorKind::Denied);
}

#[test]
fn what_is_kept_comes_without_waiting_and_in_as_many_parts_as_it_takes() {
    let pond = FakePond::start(|_, request| match &request.body {
        // Two at a time, as a pond does that does not want to queue more; five in all.
        RequestBody::Subscribe { from } => {
            let done = Reply { number: request.number, body: ReplyBody::Done };
            let some = (*from..6).take(2).map(|number| Reply { number: 0, body: event(number) });
            Does::Replies(std::iter::once(done).chain(some).collect())
        }
        _ => Does::Polite,
    });
    let client = pond.builder().connect().unwrap();
    let mut events = client.events(1).unwrap();
    let numbers: Vec<_> = events.kept().unwrap().iter().map(|event| event.sequence).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(events.kept().unwrap().is_empty());
}
