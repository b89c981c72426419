//! What one user may have, and what a client costs.

use millpond_wire::ErrorKind;
use millpond_wire::message::EventKind;

use super::*;

#[test]
fn one_user_cannot_take_every_tensor() {
    let mut play = Play::new();
    play.cap(Resource::Tensors, 2);
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (first, _) = play.create(conn, spec("a", 100));
    play.create(conn, spec("b", 100));
    let create = || RequestBody::TensorCreate(spec("c", 100));
    let failure = play.refused(conn, create());
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert_eq!(failure.message, "user 1 has 2 tensors, the maximum");
    assert!(failure.hint.unwrap().contains("limits.tensors_per_user"));
    play.create(other, spec("c", 100));
    play.refused(conn, create());
    play.later(59_999);
    play.refused(conn, create());
    assert_eq!(play.told(EventKind::LimitReached), ["2 tensors: `limits.tensors_per_user`"]);
    play.later(1);
    play.refused(conn, create());
    assert_eq!(play.told(EventKind::LimitReached).len(), 2);
    play.delete(conn, first.tensor);
    play.create(conn, spec("c", 100));
    // The count is the same for the next daemon.
    play.restart();
    play.cap(Resource::Tensors, 2);
    let (conn, _) = play.client(1);
    play.refused(conn, RequestBody::TensorCreate(spec("d", 100)));
}

#[test]
fn the_operator_looks_however_many_clients_there_are() {
    let mut play = Play::new();
    play.pond.accounts.set_terms(|terms| terms.with_in_all(Resource::Clients, 1));
    play.client(1);
    let conn = play.connect(1);
    assert!(matches!(play.hello(conn, ClientId::random(), false), ReplyBody::Failure(_)));
    play.operator();
}

#[test]
fn a_client_is_watched_from_the_first_thing_that_needs_its_end() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    assert!(play.world.watched.is_empty(), "its hang-up is its end");
    play.get(conn, "x", 1);
    assert!(play.world.watched.contains(&client));
    play.release(conn, 1);
    play.get(conn, "x", 2);
    play.pond.process_gone(&mut play.world, client);
    assert!(play.world.watched.is_empty());
    play.check_held();
}

#[test]
fn a_connection_whose_maker_is_gone_gets_nothing_that_would_have_to_end() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    play.world.dead.push(conn);
    assert_eq!(play.refused(conn, get("x", 1, Mode::ReadOnly, 0)).kind, ErrorKind::Internal);
    assert_eq!(play.world.closed, [conn]);
    let ephemeral = TensorCreate { ephemeral: true, ..spec("y", 100) };
    play.refused(conn, RequestBody::TensorCreate(ephemeral));
    assert_eq!((play.pond.leases.len(), play.pond.catalog.len()), (0, 1));
    play.check_held();
}
