//! What happened is told in order, without holes that nobody mentions, to those who may know.

use millpond_wire::message::{Event, EventKind};

use super::*;

#[test]
fn events_go_to_those_who_may_see_the_tensor() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    for conn in [owner, other] {
        assert_eq!(play.ask(conn, RequestBody::Subscribe { from: 0 }), ReplyBody::Done);
    }
    play.world.replies.clear();
    play.create(owner, spec("x", 100));
    let told: Vec<ConnId> = play
        .world
        .replies
        .iter()
        .filter(|(_, reply, _)| matches!(reply.body, ReplyBody::Event(_)))
        .map(|(conn, _, _)| *conn)
        .collect();
    assert_eq!(told, [owner]);
}

#[test]
fn events_can_be_had_again_from_a_number() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, spec("x", 100));
    let (late, _) = play.client(1);
    play.world.replies.clear();
    play.ask(late, RequestBody::Subscribe { from: 1 });
    let kinds: Vec<_> = play
        .world
        .replies
        .iter()
        .filter_map(|(_, reply, _)| match &reply.body {
            ReplyBody::Event(event) => Some(event.kind.name()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["gap", "tensor_created"]);
}

#[test]
fn a_client_that_never_holds_anything_makes_no_events() {
    let mut play = Play::new();
    let before = play.pond.events.kept().count();
    for _ in 0..10 {
        let (conn, _) = play.client(1);
        play.ask(conn, RequestBody::Ping);
        play.pond.hung_up(&mut play.world, conn);
    }
    assert_eq!(play.pond.events.kept().count(), before);
    let (conn, client) = play.client(1);
    let lease = |number| Some(LeaseId(number));
    play.create(conn, TensorCreate { lease: lease(1), ..spec("x", 100) });
    play.create(conn, TensorCreate { lease: lease(2), ..spec("y", 100) });
    assert_eq!(play.told(EventKind::ClientConnected).len(), 1, "at its first lease, and once");
    play.pond.process_gone(&mut play.world, client);
    assert_eq!(play.told(EventKind::ClientGone).len(), 1);
}

impl Play {
    /// The events that a connection has got since the last look.
    fn events_of(&mut self, conn: ConnId) -> Vec<Event> {
        let (events, rest) = std::mem::take(&mut self.world.replies)
            .into_iter()
            .partition(|(to, reply, _)| *to == conn && matches!(reply.body, ReplyBody::Event(_)));
        self.world.replies = rest;
        let events: Vec<(ConnId, Reply, Option<u64>)> = events;
        events
            .into_iter()
            .map(|(_, reply, _)| match reply.body {
                ReplyBody::Event(event) => event,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn happens(&mut self, times: u64) {
        for _ in 0..times {
            let text = "again";
            self.pond.happened(&mut self.world, EventKind::KeeperReplaced, None, None, None, text);
        }
    }
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}

#[test]
fn a_slow_subscriber_gets_everything_that_is_kept() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.world.unread.insert(conn, 0);
    play.ask(conn, RequestBody::Subscribe { from: 0 });
    play.happens(3000);
    let mut got = play.events_of(conn);
    assert!(got.len() < 100, "the rest waits: {}", got.len());
    while play.world.unread.insert(conn, 0) != Some(0) {
        play.pond.pump_events(&mut play.world);
        got.extend(play.events_of(conn));
    }
    assert_eq!(got.len(), 3000);
    let first = got[0].sequence;
    assert_eq!(numbers(&got), (first..first + 3000).collect::<Vec<_>>());
}

#[test]
fn who_falls_too_far_behind_is_told_how_much_is_missing() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::Subscribe { from: 0 });
    play.happens(1);
    let last = play.events_of(conn)[0].sequence;
    play.world.unread.insert(conn, 1000);
    play.happens(5000);
    assert!(play.events_of(conn).is_empty());
    play.world.unread.remove(&conn);
    play.pond.pump_events(&mut play.world);
    let got = play.events_of(conn);
    assert_eq!(got.len(), 4097);
    assert_eq!((got[0].kind, got[0].sequence), (EventKind::Gap, last + 904));
    assert!(got[0].text.starts_with("904 events are missing"), "{}", got[0].text);
    assert_eq!(numbers(&got[1..]), (last + 905..last + 5001).collect::<Vec<_>>());
}

#[test]
fn a_subscription_goes_on_where_it_was_broken_off() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::Subscribe { from: 0 });
    play.happens(10);
    let last = play.events_of(conn).last().unwrap().sequence;
    play.pond.hung_up(&mut play.world, conn);
    play.happens(10);
    let (again, _) = play.client(1);
    play.ask(again, RequestBody::Subscribe { from: last + 1 });
    let got = play.events_of(again);
    assert_eq!(numbers(&got), (last + 1..=last + 10).collect::<Vec<_>>());
}

#[test]
fn after_a_restart_there_is_a_gap_and_then_what_the_new_daemon_has() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::Subscribe { from: 0 });
    play.happens(3);
    let last = play.events_of(conn).last().unwrap().sequence;
    play.restart();
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::Subscribe { from: last + 1 });
    let got = play.events_of(conn);
    let kinds: Vec<EventKind> = got.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Gap, EventKind::Recovered]);
    assert_eq!(got[0].text, "events of an earlier daemon are missing");
    assert_eq!(numbers(&got), [2 << 32, (2 << 32) + 1]);
    // A number that was never reached is another pond's.
    let (conn, _) = play.client(1);
    play.ask(conn, RequestBody::Subscribe { from: 9 << 32 });
    assert_eq!(play.events_of(conn)[0].kind, EventKind::Gap);
}

#[test]
fn events_of_what_is_gone_go_to_those_who_could_have_had_it() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    play.happens(1);
    let start = play.pond.events.kept().last().unwrap().sequence + 1;
    let shared = TensorCreate { audience: Audience::Everybody, ..spec("shared", 100) };
    let (shared, _) = play.create(owner, shared);
    let (private, _) = play.create(owner, spec("private", 100));
    play.delete(owner, shared.tensor);
    play.delete(owner, private.tensor);
    assert!(!play.exists(shared.tensor) && !play.exists(private.tensor));
    play.ask(other, RequestBody::Subscribe { from: start });
    let seen = play.events_of(other);
    assert!(seen.iter().all(|event| event.target == Some(shared.tensor.into())), "{seen:?}");
    assert_eq!(seen.len(), 3, "made, deleted, freed");
    play.ask(owner, RequestBody::Subscribe { from: start });
    assert_eq!(play.events_of(owner).len(), 6);
    let operator = play.operator();
    play.ask(operator, RequestBody::Subscribe { from: start });
    assert_eq!(play.events_of(operator).len(), 6);
}

#[test]
fn events_of_what_nobody_knows_go_to_the_user_and_the_operator() {
    let mut play = Play::new();
    let (user, _) = play.client(1);
    let (other, _) = play.client(2);
    let operator = play.operator();
    for conn in [user, other, operator] {
        play.ask(conn, RequestBody::Subscribe { from: 0 });
    }
    let gone = Some(TensorId::random().into());
    play.pond.happened(&mut play.world, EventKind::TensorDeleted, gone, None, Some(1), "x");
    let seen = [user, other, operator].map(|conn| play.events_of(conn).len());
    assert_eq!(seen, [1, 0, 1]);
}

#[test]
fn events_say_why() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (polite, _) = play.client(2);
    let lease = Some(LeaseId(1));
    play.create(polite, TensorCreate { lease, ..spec("polite", 100) });
    play.ask(polite, RequestBody::Goodbye);
    let (info, _) = play.create(conn, TensorCreate { lease, ..spec("x", 100) });
    let (other, _) = play.create(conn, spec("y", 100));
    play.delete(conn, other.tensor);
    play.pond.hung_up(&mut play.world, conn);
    play.pond.process_gone(&mut play.world, client);
    let (conn, _) = play.client(1);
    play.delete(conn, info.tensor);
    let (large, _) = play.create(conn, spec("z", 40 * MIB));
    play.delete(conn, large.tensor);
    let gone = play.told(EventKind::ClientGone);
    let why: Vec<&str> = gone.iter().filter_map(|text| text.split(": ").nth(1)).collect();
    assert_eq!(why, ["said goodbye", "its process is gone"]);
    assert_eq!(
        play.told(EventKind::TensorFreed),
        [
            "100 bytes; its slab has other tensors",
            "100 bytes; its slab is given back, because a process died with it",
            "41,943,040 bytes; its slab is kept for its owner",
        ]
    );
    assert!(play.told(EventKind::ClientSilent)[0].ends_with("hung up and keeps its 1 lease"));
    assert_eq!(play.told(EventKind::TensorDeleted)[0], "deleted by user 1");
    assert!(play.told(EventKind::TensorCreated)[0].contains("by test (pid"));
}
