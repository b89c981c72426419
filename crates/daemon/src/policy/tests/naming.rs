//! A tensor gets its name when its bytes are complete, in one step.

use millpond_wire::message::TensorPublish;
use millpond_wire::{ErrorKind, Token};

use super::*;

fn unnamed(ephemeral: bool) -> TensorCreate {
    TensorCreate { name: None, ephemeral, ..spec("unused", 100) }
}

fn named(tensor: TensorId, name: &str, replace: bool) -> RequestBody {
    let name = Some(name.parse().unwrap());
    RequestBody::TensorPublish(TensorPublish { tensor, token: Token::random(), name, replace })
}

fn publishes(play: &mut Play, conn: ConnId, body: RequestBody) {
    let answer = play.ask(conn, body);
    assert!(matches!(answer, ReplyBody::Published { generation: 1 }), "{answer:?}");
}

#[test]
fn a_name_comes_with_the_publish_and_the_tensor_outlives_its_creator() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, unnamed(true));
    let number = play.start(conn, get("x", 1, Mode::ReadOnly, 5000));
    publishes(&mut play, conn, named(info.tensor, "x", false));
    assert!(matches!(play.answer(number), Some(ReplyBody::Tensor(_))), "who waited is woken");
    play.restart();
    play.pond.process_gone(&mut play.world, client);
    let (conn, _) = play.client(1);
    assert_eq!(play.get(conn, "x", 1).0.tensor, info.tensor);
}

#[test]
fn an_unfinished_one_ends_with_its_creator() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let (info, _) = play.create(conn, unnamed(true));
    play.restart();
    play.pond.process_gone(&mut play.world, client);
    assert!(!play.exists(info.tensor));
    play.check_held();
}

#[test]
fn one_replaces_another_in_one_record_and_readers_keep_the_old() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (old, _) = play.create(conn, TensorCreate { zero: true, ..spec("x", 100) });
    play.get(conn, "x", 1);
    let (new, _) = play.create(conn, unnamed(true));
    let refused = play.refused(conn, named(new.tensor, "x", false));
    assert_eq!(refused.kind, ErrorKind::Exists);
    let before = play.world.records.len();
    publishes(&mut play, conn, named(new.tensor, "x", true));
    assert_eq!(play.world.records.len(), before + 1);
    assert_eq!(play.get(conn, "x", 2).0.tensor, new.tensor);
    assert!(play.exists(old.tensor), "somebody reads it");
    play.release(conn, 1);
    assert!(!play.exists(old.tensor));
    play.restart();
    let (conn, _) = play.client(1);
    assert_eq!(play.get(conn, "x", 1).0.tensor, new.tensor);
}

#[test]
fn a_name_is_given_once_by_its_owner_and_public_is_for_everybody() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(conn, unnamed(false));
    assert_eq!(play.refused(other, named(info.tensor, "x", false)).kind, ErrorKind::NotFound);
    let refused = play.refused(conn, named(info.tensor, "public/x", false));
    assert_eq!(refused.kind, ErrorKind::Invalid);
    publishes(&mut play, conn, named(info.tensor, "x", false));
    let refused = play.refused(conn, named(info.tensor, "y", false));
    assert_eq!(refused.kind, ErrorKind::Invalid);
    let shared = TensorCreate { audience: Audience::Everybody, ..unnamed(false) };
    let (public, _) = play.create(conn, shared.clone());
    publishes(&mut play, conn, named(public.tensor, "public/x", false));
    let (theirs, _) = play.create(other, TensorCreate { tensor: TensorId::random(), ..shared });
    let refused = play.refused(other, named(theirs.tensor, "public/x", true));
    assert_eq!(refused.kind, ErrorKind::Denied);
}

#[test]
fn what_is_shared_is_published_by_all_and_named_by_its_owner_alone() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let shared = TensorCreate { audience: Audience::Everybody, ..unnamed(false) };
    let (info, _) = play.create(owner, shared);
    let refused = play.refused(other, named(info.tensor, "x", false));
    assert_eq!(refused.kind, ErrorKind::Denied);
    publishes(&mut play, other, publish(info.tensor, Token::random()));
    let answer = play.ask(owner, named(info.tensor, "x", false));
    assert_eq!(answer, ReplyBody::Published { generation: 2 });
}
