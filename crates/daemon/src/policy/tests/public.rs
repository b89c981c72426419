//! A bare name is the caller's own, and not everybody may make names that everybody finds.

use millpond_wire::message::{Rename, VersionGet};
use millpond_wire::{Audience, ErrorKind, LeaseTarget, TensorName, Token, VersionTarget};

use super::models::{staging, swapping};
use super::*;
use crate::policy::gpus::Gpus;

const MINUTE: u64 = 60_000;

fn zeroed(name: &str) -> TensorCreate {
    TensorCreate { zero: true, ..spec(name, 100) }
}

fn rename(object: impl Into<LeaseTarget>, name: &str) -> RequestBody {
    let (object, name) = (object.into(), TensorName::new(name).unwrap());
    RequestBody::Rename(Rename { object, name, token: Token::random() })
}

#[test]
fn who_waits_for_a_bare_name_is_not_answered_with_what_another_puts_under_public() {
    let mut play = Play::new();
    let (mine, _) = play.client(1);
    let (theirs, _) = play.client(2);
    let attach = |lease| {
        RequestBody::VersionGet(VersionGet {
            target: VersionTarget::Name("llama".parse().unwrap()),
            lease: LeaseId(lease),
            mode: Mode::ReadOnly,
            wait_ms: MINUTE,
        })
    };
    let waits = [
        play.start(mine, get("acts/x", 1, Mode::ReadOnly, MINUTE)),
        play.start(mine, get("rw/x", 2, Mode::ReadWrite, MINUTE)),
        play.start(mine, attach(3)),
    ];
    for name in ["public/acts/x", "public/rw/x"] {
        play.create(theirs, zeroed(name));
    }
    let (other, _) =
        play.create(theirs, TensorCreate { audience: Audience::Everybody, ..zeroed("o") });
    assert_eq!(play.ask(theirs, rename(other.tensor, "public/rw/y")), ReplyBody::Done);
    play.load(theirs, "public/llama", "v1", true);
    for (number, what) in waits.into_iter().zip(["ro", "rw", "model"]) {
        assert_eq!(play.answer(number), None, "{what}");
    }
    let (read, _) = play.create(mine, zeroed("acts/x"));
    let (written, _) = play.create(mine, zeroed("rw/x"));
    play.load(mine, "llama", "v1", true);
    for (number, id) in waits.into_iter().zip([read.tensor, written.tensor]) {
        let Some(ReplyBody::Tensor(grant)) = play.answer(number) else { panic!("{number}") };
        assert_eq!((grant.info.tensor, grant.info.user), (id, 1));
    }
    let Some(ReplyBody::Version(grant)) = play.answer(waits[2]) else { panic!() };
    assert_eq!(grant.info.user, 1);
}

#[test]
fn nobody_waits_for_a_name_that_nothing_can_get() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let failure = play.refused(conn, get("x\u{202e}", 1, Mode::ReadOnly, MINUTE));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    assert!(failure.hint.is_some_and(|hint| hint.contains("U+202E at character 2")));
}

#[test]
fn the_end_of_a_public_name_is_not_that_of_a_bare_one() {
    let mut play = Play::new();
    let (conn, _) = play.client(1);
    let (info, _) = play.create(conn, zeroed("public/x"));
    assert_eq!(play.ask(conn, RequestBody::TensorDelete { tensor: info.tensor }), ReplyBody::Done);
    let failure = play.refused(conn, get("public/x", 1, Mode::ReadOnly, 0));
    assert!(failure.ended_ago_ms.is_some(), "{failure}");
    let failure = play.refused(conn, get("x", 1, Mode::ReadOnly, 0));
    assert_eq!((failure.ended_ago_ms, failure.message.contains("ended")), (None, false));
}

#[test]
fn only_the_operator_and_those_whom_the_operator_named_make_public_names() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    play.pond.public_writers = vec![PublicWriter::User(1)];
    let (named, _) = play.client(1);
    let (nobody, _) = play.client(2);
    let (operator, _) = play.client(7);
    let shared = |name: &str| TensorCreate { audience: Audience::Everybody, ..zeroed(name) };
    let (own, _) = play.create(nobody, shared("x"));
    let unnamed = TensorCreate { name: None, ..shared("unused") };
    let (later, _) = play.create(nobody, unnamed);
    let model = play.load(nobody, "m", "v1", true).info.version;
    let named_later = RequestBody::TensorPublish(TensorPublish {
        tensor: later.tensor,
        token: Token::random(),
        name: TensorName::new("public/x").ok(),
        replace: false,
    });
    for body in [
        RequestBody::TensorCreate(zeroed("public/x")),
        named_later,
        rename(own.tensor, "public/x"),
        rename(model, "public/m"),
        RequestBody::VersionStage(staging("public/m", None, &[2])),
    ] {
        let failure = play.refused(nobody, body);
        assert_eq!(failure.kind, ErrorKind::Denied, "{failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("`public_writers`")));
    }
    for (conn, name) in [(named, "public/a"), (operator, "public/b")] {
        play.create(conn, zeroed(name));
        play.load(conn, name, "v1", true);
    }
    // What is there may be had by everybody, also by those who could not have made it.
    let (found, _) = play.create(nobody, zeroed("public/a"));
    assert_eq!(found.user, 1);
    // The right is looked at each time; what is there stays, also over a restart.
    play.restart();
    play.pond.accounts.set_own_user(7);
    play.pond.public_writers.clear();
    let (named, _) = play.client(1);
    assert_eq!(play.get(named, "public/a", 1).0.user, 1);
    let swap = swapping("public/a", Some("v1"), Token::random());
    assert_eq!(play.refused(named, swap).kind, ErrorKind::Denied);
    let create = RequestBody::TensorCreate(zeroed("public/c"));
    assert_eq!(play.refused(named, create).kind, ErrorKind::Denied);
}

#[test]
fn who_may_not_make_a_public_name_is_refused_before_a_mover_starts() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    play.pond.public_writers.clear();
    let (nobody, _) = play.client(2);
    let (operator, _) = play.client(7);
    let unnamed = TensorCreate { name: None, audience: Audience::Everybody, ..zeroed("unused") };
    let (made, _) = play.create(nobody, unnamed);
    let expected =
        |name: &str| RequestBody::MovesExpected { device: None, name: TensorName::new(name).ok() };
    let publish = RequestBody::TensorPublish(TensorPublish {
        tensor: made.tensor,
        token: Token::random(),
        name: TensorName::new("public/x").ok(),
        replace: true,
    });
    // A put or a load says what it is for; a stage, a swap and a publish are refused as well.
    for body in [
        expected("public/x"),
        RequestBody::VersionStage(staging("public/m", None, &[2])),
        swapping("public/m", None, Token::random()),
        publish,
    ] {
        let failure = play.refused(nobody, body);
        assert!(matches!(failure.kind, ErrorKind::Denied | ErrorKind::NotFound), "{failure}");
        assert_eq!(play.world.movers_wanted, [], "{failure}");
        assert!(play.world.asked.is_empty(), "and no slab is asked for: {failure}");
    }
    assert_eq!(play.refused(nobody, expected("public/x")).kind, ErrorKind::Denied);
    for (conn, name) in [(nobody, "x"), (operator, "public/x")] {
        assert_eq!(play.ask(conn, expected(name)), ReplyBody::Done);
    }
    assert_eq!(play.world.movers_wanted, [GPU]);
}

#[test]
fn a_stage_under_public_is_refused_also_while_the_driver_starts() {
    let mut play = Play::new();
    play.pond.gpus = Gpus::default();
    play.pond.accounts.set_own_user(7);
    play.pond.public_writers.clear();
    let (nobody, _) = play.client(2);
    let stage = RequestBody::VersionStage(staging("public/m", None, &[2]));
    assert_eq!(play.refused(nobody, stage).kind, ErrorKind::Denied);
}

#[test]
fn unix_groups_and_everybody_can_be_given_the_right() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    let (conn, _) = play.client(2);
    let caller = play.pond.client_of(conn).unwrap().1;
    let name = TensorName::new("public/x").unwrap();
    for (writer, may) in [
        (PublicWriter::UnixGroup(caller.owner.group), true),
        (PublicWriter::UnixGroup(caller.owner.group + 1000), false),
        (PublicWriter::User(3), false),
        (PublicWriter::Everybody, true),
    ] {
        play.pond.public_writers = vec![writer];
        assert_eq!(play.pond.may_take(&caller, &name).is_ok(), may, "{writer:?}");
    }
    let bare = TensorName::new("publicity").unwrap();
    play.pond.public_writers.clear();
    assert!(play.pond.may_take(&caller, &bare).is_ok());
}
