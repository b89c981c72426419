//! A client proves that it is the one that it says.

use millpond_wire::ErrorKind;
use millpond_wire::message::ClientInfo;

use super::*;

/// The same process, over a new connection.
fn again(play: &mut Play, user: u32, client: ClientId) -> ConnId {
    let conn = play.connect(user);
    if let Some(connection) = play.pond.clients.connection_mut(conn) {
        connection.process = play.pids[&client].into();
    }
    conn
}

/// A connection of a process that has no number in the daemon's namespace.
fn from_outside(play: &mut Play, user: u32, inode: u64) -> ConnId {
    let conn = play.connect(user);
    play.world.inodes.insert(conn, inode);
    play.pond.clients.connection_mut(conn).unwrap().process = Process { pid: 0, inode };
    conn
}

fn kind(answer: ReplyBody) -> Option<ErrorKind> {
    match answer {
        ReplyBody::Welcome(_) => None,
        ReplyBody::Failure(failure) => Some(failure.kind),
        other => panic!("no answer to a hello: {other:?}"),
    }
}

fn clients(play: &mut Play, conn: ConnId) -> Vec<ClientInfo> {
    match play.ask(conn, RequestBody::ClientList) {
        ReplyBody::Clients(clients) => clients,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_forged_token_is_denied_whether_the_client_is_known_or_not() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let real = play.proofs[&client];
    let forged = Proof { token: [9; 16], ..real };
    for user in [1, 2] {
        let thief = play.connect(user);
        assert_eq!(
            kind(play.hello_with(thief, client, false, Some(forged))),
            Some(ErrorKind::Denied)
        );
        // The real one is of no use to another process.
        let stolen = play.hello_with(thief, client, false, Some(real));
        assert_eq!(kind(stolen), Some(ErrorKind::Denied));
    }
    assert_eq!(play.ask(conn, RequestBody::Ping), ReplyBody::Done);
    play.restart();
    for user in [1, 2] {
        let thief = play.connect(user);
        for proof in [forged, real] {
            for claims in [false, true] {
                let answer = play.hello_with(thief, client, claims, Some(proof));
                assert_eq!(kind(answer), Some(ErrorKind::Denied));
            }
        }
    }
    let conn = again(&mut play, 1, client);
    assert_eq!(kind(play.hello_with(conn, client, false, Some(real))), None);
}

/// After a restart nobody knows a client that held nothing: the first one to say its identity has
/// it, until its owner comes.
#[test]
fn who_took_an_identity_first_makes_way_for_its_owner() {
    let mut play = Play::new();
    let (_, client) = play.client(1);
    play.restart();
    let thief = play.connect(2);
    assert_eq!(kind(play.hello_with(thief, client, false, None)), None);
    let conn = again(&mut play, 1, client);
    assert_eq!(kind(play.hello(conn, client, false)), None);
    assert!(play.world.closed.contains(&thief), "{:?}", play.world.closed);
    play.pond.hung_up(&mut play.world, thief);
    assert_eq!(play.ask(conn, RequestBody::Ping), ReplyBody::Done);
    assert_eq!(play.pond.clients.len(), 1);
    assert_eq!(play.pond.clients.get(client).unwrap().owner().user, 1);
    play.check_held();
}

/// What somebody holds is not taken away; its owner, who can hold nothing then, is told.
#[test]
fn who_took_an_identity_and_holds_something_keeps_it() {
    let mut play = Play::new();
    let (_, client) = play.client(1);
    play.restart();
    let thief = play.connect(2);
    assert_eq!(kind(play.hello_with(thief, client, false, None)), None);
    play.create(thief, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    let conn = again(&mut play, 1, client);
    assert_eq!(kind(play.hello(conn, client, false)), Some(ErrorKind::Denied));
    assert_eq!(kind(play.hello(conn, ClientId::random(), false)), None);
    assert_eq!(play.pond.leases.count_of(client), 1);
    play.check_held();
}

#[test]
fn a_client_that_holds_something_comes_back_only_with_its_token() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    // The welcome may have been lost: without a lease nothing depends on it.
    let other = again(&mut play, 1, client);
    assert_eq!(kind(play.hello_with(other, client, false, None)), None);
    play.create(other, TensorCreate { lease: Some(LeaseId(1)), ..spec("x", 100) });
    play.pond.hung_up(&mut play.world, conn);
    for restarted in [false, true] {
        if restarted {
            play.restart();
        }
        let conn = again(&mut play, 1, client);
        let failure = play.hello_with(conn, client, false, None);
        assert_eq!(kind(failure), Some(ErrorKind::Denied));
        let failure = play.hello_with(conn, client, true, None);
        assert_eq!(kind(failure), Some(ErrorKind::Denied));
        assert_eq!(kind(play.hello(conn, client, true)), None);
    }
}

/// The pond that gave the token is gone with everything in it.
#[test]
fn a_token_of_another_pond_proves_nothing_and_does_no_harm() {
    let mut play = Play::new();
    let conn = play.connect(1);
    let client = ClientId::random();
    let proof = Some(Proof { pond: millpond_wire::PondId::random(), token: [3; 16] });
    assert_eq!(kind(play.hello_with(conn, client, true, proof)), None);
    // Nothing waits for its claims, and none of them is right.
    assert!(!play.pond.clients.get(client).unwrap().unclaimed);
    let (lease, target) = (LeaseId(1), TensorId::random().into());
    let lie = LeaseClaim { lease, target, mode: Mode::ReadOnly, token: [3; 16] };
    assert_eq!(play.claim(conn, vec![lie]), [LeaseId(1)]);
    assert!(!play.pond.clients.get(client).unwrap().recorded);
    // Its answer was lost: it comes again with what it has.
    let again = play.connect(1);
    if let Some(connection) = play.pond.clients.connection_mut(again) {
        connection.process = (1000 + u32::try_from(conn.0).unwrap()).into();
    }
    assert_eq!(kind(play.hello_with(again, client, true, proof)), None);
}

#[test]
fn identities_are_shown_to_their_user_and_to_the_operator() {
    let mut play = Play::new();
    let (owner, client) = play.client(1);
    let (stranger, own) = play.client(2);
    let operator = play.operator();
    let shared = TensorCreate { audience: Audience::Everybody, zero: true, ..spec("x", 100) };
    let (info, _) = play.create(owner, TensorCreate { lease: Some(LeaseId(1)), ..shared });
    for (conn, expected) in [(owner, Some(client)), (operator, Some(client)), (stranger, None)] {
        let of_one = clients(&mut play, conn).into_iter().find(|info| info.user == 1).unwrap();
        assert_eq!((of_one.client, of_one.leases[0].client), (expected, expected));
        assert_eq!(of_one.pid, play.pids[&client]);
        let inspect = RequestBody::TensorInspect(Target::Id(info.tensor));
        let ReplyBody::Details { leases, .. } = play.ask(conn, inspect) else { panic!() };
        assert_eq!((leases[0].client, leases[0].pid), (expected, play.pids[&client]));
    }
    let mine = clients(&mut play, stranger).into_iter().find(|info| info.user == 2).unwrap();
    assert_eq!(mine.client, Some(own));
}

#[test]
fn processes_without_a_number_are_told_apart_by_their_inodes() {
    let mut play = Play::new();
    let (conn, client) = (from_outside(&mut play, 1, 5), ClientId::random());
    let ReplyBody::Welcome(welcome) = play.hello_with(conn, client, false, None) else { panic!() };
    let real = Some(Proof { pond: welcome.pond, token: welcome.token.unwrap() });
    play.create(conn, TensorCreate { lease: Some(LeaseId(1)), zero: true, ..spec("x", 100) });
    for restarted in [false, true] {
        if restarted {
            play.restart();
        }
        for proof in [None, real] {
            let thief = from_outside(&mut play, 1, 6);
            let answer = play.hello_with(thief, client, false, proof);
            assert_eq!(kind(answer), Some(ErrorKind::Denied), "restarted: {restarted}");
        }
        let again = from_outside(&mut play, 1, 5);
        assert_eq!(kind(play.hello_with(again, client, false, real)), None);
    }
}

#[test]
fn clients_of_one_process_without_a_number_are_counted_together() {
    let mut play = Play::new();
    let more = |play: &mut Play, inode| {
        let conn = from_outside(play, 1, inode);
        kind(play.hello_with(conn, ClientId::random(), false, None))
    };
    for _ in 0..LIMITS.clients_per_process {
        assert_eq!(more(&mut play, 5), None);
    }
    assert_eq!(more(&mut play, 5), Some(ErrorKind::TooMany));
    assert_eq!(more(&mut play, 6), None);
}
