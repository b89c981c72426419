//! Who may have what.

use millpond_wire::ErrorKind;

use super::*;

#[test]
fn what_is_not_shared_does_not_exist_for_others() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(owner, TensorCreate { zero: true, ..spec("x", 100) });
    let failure = play.refused(other, get("~1/x", 1, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    let by_id = RequestBody::TensorDelete { tensor: info.tensor };
    assert_eq!(play.refused(other, by_id).kind, ErrorKind::NotFound);
    let ReplyBody::Tensors(listed) =
        play.ask(other, RequestBody::TensorList { prefix: "".into(), page: None })
    else {
        panic!()
    };
    assert!(listed.is_empty());
    play.get(owner, "x", 1);
    let mut leases_seen_by = |conn| {
        let ReplyBody::Clients(clients) = play.ask(conn, RequestBody::ClientList) else { panic!() };
        clients.iter().map(|client| client.leases.len()).sum::<usize>()
    };
    assert_eq!((leases_seen_by(owner), leases_seen_by(other)), (1, 0));
}

#[test]
fn only_the_operator_and_who_runs_the_pond_may_upgrade_it() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    let upgrade = || RequestBody::Upgrade { program: "/next".into() };
    let (user, _) = play.client(1);
    let failure = play.refused(user, upgrade());
    assert_eq!(failure.kind, ErrorKind::Denied);
    assert!(failure.message.contains("user 7"), "{failure}");
    assert!(play.world.upgrades.is_empty());
    let (runs_it, _) = play.client(7);
    let operator = play.operator();
    for conn in [runs_it, operator] {
        assert!(matches!(play.ask(conn, upgrade()), ReplyBody::Upgrading { .. }));
    }
    assert_eq!(play.world.upgrades, ["/next", "/next"]);
}

#[test]
fn only_who_runs_the_pond_says_what_its_start_has_loaded() {
    let mut play = Play::new();
    play.pond.accounts.set_own_user(7);
    let report = |loading: &str, failed: &str| RequestBody::StartReport {
        loading: loading.into(),
        failed: failed.into(),
    };
    let (user, _) = play.client(1);
    assert_eq!(play.refused(user, report("net", "net: no")).kind, ErrorKind::Denied);
    let (runs_it, _) = play.client(7);
    assert_eq!(play.ask(runs_it, report("net", "")), ReplyBody::Done);
    assert_eq!(play.pond.status(&play.world).loading, "net");
    assert_eq!(play.ask(runs_it, report("", "net: no such file")), ReplyBody::Done);
    assert_eq!(play.pond.status(&play.world).loading, "");
}

#[test]
fn tenants_know_nothing_of_each_other() {
    let mut play = Play::new();
    let (here, _) = play.client(1);
    let there = play.connect_from("container", 1);
    assert!(matches!(play.hello(there, ClientId::random(), false), ReplyBody::Welcome(_)));
    let create = TensorCreate { zero: true, audience: Audience::Everybody, ..spec("x", 100) };
    let (info, _) = play.create(here, create);
    play.create(here, TensorCreate { zero: true, ..spec("public/y", 100) });
    for name in ["x", "~1/x", "y", "public/y"] {
        let failure = play.refused(there, get(name, 1, Mode::ReadOnly, 0));
        assert_eq!((failure.kind, failure.similar), (ErrorKind::NotFound, vec![]), "{name}");
    }
    let by_id = RequestBody::TensorDelete { tensor: info.tensor };
    assert_eq!(play.refused(there, by_id).kind, ErrorKind::NotFound);
    let mut sees = |conn| {
        let ReplyBody::Clients(clients) = play.ask(conn, RequestBody::ClientList) else { panic!() };
        let ReplyBody::Tensors(tensors) =
            play.ask(conn, RequestBody::TensorList { prefix: "".into(), page: None })
        else {
            panic!()
        };
        (clients.len(), tensors.len())
    };
    assert_eq!((sees(here), sees(there)), ((1, 2), (1, 0)));
    // What one has does not count for the other, though the numbers of the users are the same.
    play.cap(Resource::Tensors, 2);
    play.create(there, spec("x", 100));
}

#[test]
fn an_identity_that_is_anothers_is_not_made_again() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let create = TensorCreate { name: None, zero: true, ..spec("unused", 100) };
    play.create(owner, create.clone());
    let stolen = TensorCreate { lease: Some(LeaseId(1)), ..create };
    let failure = play.refused(other, RequestBody::TensorCreate(stolen.clone()));
    assert_eq!(failure.kind, ErrorKind::Denied);
    assert_eq!(play.pond.leases.len(), 0);
    assert!(play.create(owner, stolen).1.is_some());
}

#[test]
fn everybody_may_read_but_only_the_owner_deletes() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let create = TensorCreate { zero: true, audience: Audience::Everybody, ..spec("x", 100) };
    let (info, _) = play.create(owner, create);
    assert_eq!(play.get(other, "~1/x", 1).0.tensor, info.tensor);
    let failure = play.refused(other, RequestBody::TensorDelete { tensor: info.tensor });
    assert_eq!(failure.kind, ErrorKind::Denied);
    assert_eq!(failure.message, "tensor 'x' belongs to user 1");
    let failure = play.refused(other, get("x", 2, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound, "a bare name is one's own");
    assert_eq!(failure.similar, ["~1/x"]);
}

#[test]
fn public_names_are_everybodys_and_written_out() {
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let (other, _) = play.client(2);
    let (info, _) = play.create(owner, TensorCreate { zero: true, ..spec("public/x", 100) });
    assert_eq!(info.audience, Audience::Everybody);
    assert_eq!(play.get(other, "public/x", 1).0.tensor, info.tensor);
    for conn in [owner, other] {
        let failure = play.refused(conn, get("x", 2, Mode::ReadOnly, 0));
        assert_eq!(failure.kind, ErrorKind::NotFound);
        let hint = "`public/x` exists and belongs to user 1: write `public/x`";
        assert_eq!(failure.hint.as_deref(), Some(hint));
    }
    // Who cannot delete it is not told to.
    let larger = || RequestBody::TensorCreate(spec("public/x", 200));
    for (conn, part) in [(other, "this one belongs to user 1"), (owner, "tensor rm public/x")] {
        let failure = play.refused(conn, larger());
        assert_eq!(failure.kind, ErrorKind::Exists);
        assert!(failure.hint.as_ref().is_some_and(|hint| hint.contains(part)), "{failure:?}");
    }
}

#[test]
fn a_client_identity_belongs_to_one_process() {
    let mut play = Play::new();
    let (_, client) = play.client(1);
    let thief = play.connect(1);
    let program = "".into();
    let hello =
        Hello { version: VERSION, capabilities: 0, client, program, claims: false, proof: None };
    let failure = play.refused(thief, RequestBody::Hello(hello));
    assert_eq!(failure.kind, ErrorKind::Denied);
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    let mut play = Play::new();
    let conn = play.connect(1);
    let hello = Hello {
        version: 9,
        capabilities: 0,
        client: ClientId::random(),
        program: "".into(),
        claims: false,
        proof: None,
    };
    let failure = play.refused(conn, RequestBody::Hello(hello));
    assert_eq!(failure.kind, ErrorKind::Protocol);
    assert!(failure.message.contains('9') && failure.message.contains('1'), "{failure}");
}

#[test]
fn the_operator_moves_and_publishes_only_what_is_shared() {
    use millpond_wire::message::{MoveWork, TensorMove};
    use millpond_wire::{Piece, PiecesKind, Token};
    let mut play = Play::new();
    let (owner, _) = play.client(1);
    let operator = play.operator();
    let (private, _) = play.create(owner, TensorCreate { zero: true, ..spec("x", 4096) });
    let (target, _) = play.create(operator, TensorCreate { zero: true, ..spec("y", 4096) });
    let pieces = vec![Piece { offset: 0, bytes: 4096 }];
    let hash = MoveWork::Pieces { kind: PiecesKind::Hash, pieces, runs: Vec::new() };
    let copy = MoveWork::Copy { from: private.tensor, from_offset: 0 };
    for (tensor, work) in [
        (private.tensor, MoveWork::Get { file_offset: 0 }),
        (private.tensor, MoveWork::Put { file_offset: 0 }),
        (private.tensor, MoveWork::Zero),
        (private.tensor, hash),
        (target.tensor, copy),
    ] {
        let fd = work.has_file().then_some(900);
        let what = TensorMove { token: Token::random(), tensor, offset: 0, bytes: 4096, work };
        let number = play.start_with(operator, RequestBody::TensorMove(what), fd);
        let Some(ReplyBody::Failure(failure)) = play.answer(number) else {
            panic!("a move was not refused")
        };
        assert_eq!(failure.kind, ErrorKind::Denied);
        assert_eq!(failure.message, "tensor 'x' is not shared with you");
        assert!(failure.hint.is_some_and(|hint| hint.contains("as user 1")));
    }
    let refused = play.refused(operator, publish(private.tensor, Token::random()));
    assert_eq!(refused.kind, ErrorKind::Denied);
    assert_eq!(play.publish(operator, target.tensor), 2, "the operator's own");
    // What the admin socket is for.
    play.delete(operator, private.tensor);
}
