//! Tensors and models get other names.

use millpond_wire::message::{EventKind, Rename};
use millpond_wire::{ErrorKind, LeaseTarget, Token};

use super::*;

pub fn renaming(object: impl Into<LeaseTarget>, name: &str) -> Rename {
    Rename { object: object.into(), name: name.parse().unwrap(), token: Token::random() }
}

fn rename(object: TensorId, name: &str) -> RequestBody {
    RequestBody::Rename(renaming(object, name))
}

fn ready(name: &str) -> TensorCreate {
    TensorCreate { zero: true, ..spec(name, 100) }
}

#[test]
fn a_tensor_has_its_new_name_at_once_and_whoever_holds_it_keeps_it() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, ready("a"));
    play.get(conn, "a", 1);
    let waits = play.start(conn, get("b", 2, Mode::ReadOnly, 5000));
    play.world.bumped.clear();
    let before = play.world.records.len();
    assert_eq!(play.ask(conn, rename(info.tensor, "b")), ReplyBody::Done);
    assert_eq!(play.world.records.len(), before + 1, "one record says all of it");
    for name in ["a", "b"] {
        let slot = millpond_wire::page::slot_of_name(&name.parse().unwrap());
        assert!(play.world.bumped.contains(&slot), "what was known of '{name}' is not trusted");
    }
    assert!(matches!(play.answer(waits), Some(ReplyBody::Tensor(_))), "who waited is woken");
    assert_eq!(play.refused(conn, get("a", 3, Mode::ReadOnly, 0)).kind, ErrorKind::NotFound);
    assert_eq!(play.told(EventKind::Renamed), ["was 'a', renamed by user 1"]);
    // The old name is free, and is another tensor's.
    let (other, _) = play.create(conn, ready("a"));
    play.restart();
    let (conn, _) = play.client(1);
    assert_eq!(play.get(conn, "b", 1).0.tensor, info.tensor);
    assert_eq!(play.get(conn, "a", 2).0.tensor, other.tensor);
    play.check_held();
}

#[test]
fn a_repeated_rename_changes_nothing_whatever_has_happened_since() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, ready("a"));
    let first = renaming(info.tensor, "b");
    let repeat = RequestBody::Rename(first);
    assert_eq!(play.ask(conn, repeat.clone()), ReplyBody::Done);
    play.restart();
    let (conn, _) = play.client(1);
    let before = play.world.records.len();
    assert_eq!(play.ask(conn, repeat.clone()), ReplyBody::Done);
    assert_eq!(play.world.records.len(), before);
    assert_eq!(play.ask(conn, rename(info.tensor, "c")), ReplyBody::Done);
    assert_eq!(play.ask(conn, repeat), ReplyBody::Done);
    assert_eq!(play.get(conn, "c", 1).0.tensor, info.tensor);
}

#[test]
fn a_rename_is_for_the_owner_and_never_takes_anothers_name() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let shared = TensorCreate { audience: Audience::Everybody, ..ready("a") };
    let (mine, _) = play.create(owner, shared);
    let (own, _) = play.create(owner, ready("b"));
    let (public, _) = play.create(other, ready("public/p"));
    assert_eq!(play.refused(other, rename(mine.tensor, "x")).kind, ErrorKind::Denied);
    assert_eq!(play.refused(other, rename(own.tensor, "x")).kind, ErrorKind::NotFound);
    let failure = play.refused(owner, rename(mine.tensor, "b"));
    assert_eq!(failure.kind, ErrorKind::Exists);
    assert_eq!(failure.message, "tensor 'b' already exists");
    let failure = play.refused(owner, rename(mine.tensor, "public/p"));
    assert_eq!(failure.kind, ErrorKind::Exists);
    assert!(failure.hint.unwrap().contains("belongs to user 2"));
    let failure = play.refused(owner, rename(own.tensor, "public/b"));
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert_eq!(play.ask(owner, rename(mine.tensor, "public/a")), ReplyBody::Done);
    assert_eq!(play.get(other, "public/a", 1).0.tensor, mine.tensor);
    assert_eq!(play.ask(other, rename(public.tensor, "p")), ReplyBody::Done);
    assert_eq!(play.get(owner, "~2/p", 1).0.tensor, public.tensor);
    let unnamed = TensorCreate { name: None, ..ready("unused") };
    let (unnamed, _) = play.create(owner, unnamed);
    assert_eq!(play.refused(owner, rename(unnamed.tensor, "x")).kind, ErrorKind::Invalid);
    play.world.journal_fails = true;
    assert_eq!(play.refused(owner, rename(own.tensor, "x")).kind, ErrorKind::Internal);
    play.world.journal_fails = false;
    assert_eq!(play.get(owner, "b", 2).0.tensor, own.tensor);
}

#[test]
fn whoever_asks_for_an_ended_tensor_is_told_why_it_is_gone() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (other, _) = play.client(2);
    let life = Life { ttl_ms: Some(1000), ..Life::default() };
    play.create(conn, TensorCreate { life, ..ready("short") });
    play.create(conn, ready("shorts"));
    play.world.now += 6000;
    let failure = play.refused(conn, get("short", 1, Mode::ReadOnly, 0));
    let said = "tensor 'short' not found; it ended 0 seconds ago: its time to live of 1s expired";
    assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::NotFound, said));
    assert!(failure.similar.is_empty());
    play.world.now += 130_000;
    let failure = play.refused(conn, get("short", 1, Mode::ReadOnly, 0));
    assert!(failure.message.contains("it ended 2 minutes ago"), "{}", failure.message);
    assert!(failure.ended_ago_ms.is_some_and(|ago| ago >= 130_000), "{failure:?}");
    let failure = play.refused(other, get("~1/short", 1, Mode::ReadOnly, 0));
    assert_eq!(failure.message, "tensor '~1/short' not found");
    assert_eq!(failure.ended_ago_ms, None);
}

#[test]
fn a_create_says_whether_the_tensor_already_existed() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let existed = |play: &mut Play, create: TensorCreate| match play
        .ask(conn, RequestBody::TensorCreate(create))
    {
        ReplyBody::Tensor(grant) => grant.existed,
        other => panic!("{other:?}"),
    };
    let first = TensorCreate { lease: None, ..spec("x", 100) };
    assert!(!existed(&mut play, first.clone()));
    assert!(!existed(&mut play, first.clone()), "a repeat gets the same answer");
    let second = TensorCreate { tensor: TensorId::random(), lease: None, ..spec("x", 100) };
    assert!(existed(&mut play, second.clone()));
    assert!(existed(&mut play, TensorCreate { lease: Some(LeaseId(7)), ..second.clone() }));
    assert!(existed(&mut play, TensorCreate { lease: Some(LeaseId(7)), ..second }));
}
