//! Who watches sees everything of everybody, and changes nothing.

use std::collections::BTreeSet;

use millpond_wire::message::EventKind;
use millpond_wire::{ErrorKind, TensorState, samples};

use super::*;

#[test]
fn every_kind_of_request_that_does_not_only_read_is_denied_before_anything_happens() {
    let mut play = Play::new();
    let watcher = play.through(7, Door::Watch);
    let before = play.world.records.len();
    let mut denied = BTreeSet::new();
    for (name, body) in samples::requests() {
        if body.only_reads() {
            continue;
        }
        denied.insert(body.name());
        let fd = (body.descriptors() > 0).then_some(99);
        let number = play.start_with(watcher, body, fd);
        let Some(ReplyBody::Failure(failure)) = play.answer(number) else {
            panic!("{name} was not refused")
        };
        assert_eq!(failure.kind, ErrorKind::Denied, "{name}: {failure}");
        assert!(failure.message.contains("watch.sock"), "{name}: {failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("admin.sock")), "{name}");
    }
    assert_eq!(play.world.records.len(), before, "nothing was journalled");
    assert!(play.world.asked.is_empty() && play.world.group_asks.is_empty());
    let reads = ["hello", "goodbye", "ping", "subscribe", "unknown"].into_iter();
    let reads = reads.chain(["status", "client list", "account list", "inspect", "tensor list"]);
    let reads = reads.chain(["version inspect", "model list"]);
    let reads = reads.chain(["group list", "group inspect", "cache list"]);
    let all: BTreeSet<&str> = RequestBody::KINDS.iter().copied().collect();
    assert_eq!(denied, all.difference(&reads.collect()).copied().collect());
}

#[test]
fn who_watches_sees_what_is_private_with_whom_and_since_when() {
    let mut play = Play::new();
    let watcher = play.through(7, Door::Watch);
    assert_eq!(play.ask(watcher, RequestBody::Subscribe { from: 0 }), ReplyBody::Done);
    let (alice, _) = play.client(1);
    let made = play.create(alice, TensorCreate { audience: Audience::User, ..spec("x", 100) }).0;
    let list = RequestBody::TensorList { prefix: String::new(), page: None };
    let ReplyBody::Tensors(tensors) = play.ask(watcher, list) else { panic!("no list") };
    assert_eq!(tensors.iter().map(|it| it.tensor).collect::<Vec<_>>(), [made.tensor]);
    assert_eq!(tensors[0].state, TensorState::Writing);
    for target in [Target::Id(made.tensor), Target::Name("~1/x".parse().unwrap())] {
        let inspected = play.ask(watcher, RequestBody::TensorInspect(target));
        assert!(matches!(inspected, ReplyBody::Details { .. }), "{inspected:?}");
    }
    let ReplyBody::Clients(clients) = play.ask(watcher, RequestBody::ClientList) else {
        panic!("no clients")
    };
    let users: Vec<u32> = clients.iter().map(|client| client.user).collect();
    assert!(users.contains(&1) && users.contains(&7), "{users:?}");
    let ReplyBody::Accounts { users, .. } = play.ask(watcher, RequestBody::AccountList) else {
        panic!("no accounts")
    };
    assert!(users.iter().any(|account| account.user == 1));
    // Another user at the other socket sees nothing of it.
    let (bob, _) = play.client(7);
    let list = RequestBody::TensorList { prefix: String::new(), page: None };
    let ReplyBody::Tensors(tensors) = play.ask(bob, list) else { panic!("no list") };
    assert!(tensors.is_empty());
    play.start(watcher, RequestBody::GroupList);
    assert!(play.world.group_asks.last().is_some_and(|ask| ask.by.operator));
    let told = play.world.replies.iter().filter_map(|(conn, reply, _)| match &reply.body {
        ReplyBody::Event(event) if *conn == watcher => Some(event.kind),
        _ => None,
    });
    assert!(told.collect::<Vec<_>>().contains(&EventKind::TensorCreated));
}

#[test]
fn who_holds_something_cannot_watch_as_the_same_client() {
    let mut play = Play::new();
    let (alice, id) = play.client(1);
    play.create(alice, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    let conn = play.connect(1);
    if let Some(connection) = play.pond.clients.connection_mut(conn) {
        connection.caller.door = Door::Watch;
    }
    let ReplyBody::Failure(failure) = play.hello(conn, id, false) else { panic!("let in") };
    assert_eq!(failure.kind, ErrorKind::Denied, "{failure}");
    assert_eq!(play.ask(alice, RequestBody::Ping), ReplyBody::Done, "the client is not disturbed");
    assert!(
        matches!(play.hello(conn, ClientId::random(), false), ReplyBody::Welcome(it) if it.watch)
    );
}

#[test]
fn who_watches_has_the_caps_of_a_user() {
    let mut play = Play::new();
    play.cap(Resource::Waits, 0);
    let watcher = play.through(7, Door::Watch);
    let refused = play.refused(watcher, RequestBody::ClientList);
    assert_eq!(refused.kind, ErrorKind::TooMany);
    let operator = play.operator();
    assert!(matches!(play.ask(operator, RequestBody::ClientList), ReplyBody::Clients(_)));
}
