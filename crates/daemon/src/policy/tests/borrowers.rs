//! What a client may hold that says nothing: what its user owns or has borrowed.

use millpond_wire::ErrorKind;

use super::*;

const OWNER: u32 = 1;
const OTHER: u32 = 2;

/// A slab of its own that everybody may have.
fn shared(name: &str) -> TensorCreate {
    TensorCreate { zero: true, ..spec(&format!("public/{name}"), 40 * MIB) }
}

/// A client of the user that the next daemon knows: it has a lease on something of its own.
fn recorded(play: &mut Play, user: u32) -> (ConnId, ClientId) {
    let (conn, client) = play.client(user);
    let create = TensorCreate { name: None, lease: Some(LeaseId(9)), ..spec("own", 100) };
    play.create(conn, create);
    (conn, client)
}

fn journalled(play: &Play, what: &'static str) -> usize {
    play.world.did.iter().filter(|did| **did == Did::Journal(what)).count()
}

#[test]
fn a_silent_client_keeps_nothing_that_its_user_never_had() {
    for compact in [false, true] {
        let mut play = Play::new();
        let (owner, _) = play.client(OWNER);
        let (info, _) = play.create(owner, shared("x"));
        recorded(&mut play, OTHER);
        if compact {
            play.world.records = play.pond.snapshot();
        }
        play.restart();
        let (owner, _) = play.client(OWNER);
        play.delete(owner, info.tensor);
        assert!(!play.exists(info.tensor));
        assert_eq!(play.pond.clients.silent(), 1);
        play.check_held();
    }
}

#[test]
fn a_silent_client_keeps_what_its_user_has_borrowed() {
    for compact in [false, true] {
        let mut play = Play::new();
        let (owner, _) = play.client(OWNER);
        let (info, _) = play.create(owner, shared("x"));
        let (reader, client) = play.client(OTHER);
        play.get(reader, "public/x", 1);
        // Two restarts: what one daemon has learned from the journal, it tells the next.
        for _ in 0..2 {
            if compact {
                play.world.records = play.pond.snapshot();
            }
            play.restart();
        }
        let (owner, _) = play.client(OWNER);
        play.delete(owner, info.tensor);
        assert!(play.exists(info.tensor));
        play.check_indexes();
        play.pond.process_gone(&mut play.world, client);
        assert!(!play.exists(info.tensor));
        play.check_held();
    }
}

#[test]
fn the_first_lease_of_another_user_is_journalled_before_its_answer_and_no_other_is() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    play.create(owner, TensorCreate { lease: Some(LeaseId(1)), ..shared("x") });
    play.get(owner, "public/x", 2);
    assert_eq!(journalled(&play, "borrowed"), 0, "it is one's own");
    let (reader, _) = play.client(OTHER);
    play.get(reader, "public/x", 1);
    let at = |did: &Did| play.world.did.iter().rposition(|it| it == did).unwrap();
    let answer = play.world.did.iter().rposition(|it| matches!(it, Did::Reply(_))).unwrap();
    assert!(at(&Did::Journal("client")) < at(&Did::Journal("borrowed")));
    assert!(at(&Did::Journal("borrowed")) < answer);
    play.get(reader, "public/x", 1);
    play.get(reader, "public/x", 2);
    let (another, _) = play.client(OTHER);
    play.get(another, "public/x", 1);
    assert_eq!(journalled(&play, "borrowed"), 1);
    play.restart();
    let (reader, _) = play.client(OTHER);
    play.get(reader, "public/x", 1);
    assert_eq!(journalled(&play, "borrowed"), 0, "the journal has it");
}

#[test]
fn a_lease_whose_borrower_cannot_be_recorded_is_not_granted() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    let (info, _) = play.create(owner, shared("x"));
    let (reader, client) = recorded(&mut play, OTHER);
    play.world.journal_fails = true;
    let failure = play.refused(reader, get("public/x", 1, Mode::ReadOnly, 0));
    assert_eq!(failure.kind, ErrorKind::Internal);
    assert!(!play.pond.leases.holds(client, info.tensor));
    play.world.journal_fails = false;
    play.get(reader, "public/x", 1);
    assert_eq!(journalled(&play, "borrowed"), 1);
}

#[test]
fn a_slab_that_was_emptied_is_nobodys_but_its_owners_again() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    let (first, _) = play.create(owner, shared("x"));
    let (reader, client) = recorded(&mut play, OTHER);
    play.get(reader, "public/x", 1);
    play.release(reader, 1);
    play.delete(owner, first.tensor);
    let (second, _) = play.create(owner, TensorCreate { zero: false, ..shared("y") });
    assert_eq!(second.slab, first.slab, "it is recycled");
    play.restart();
    let (owner, _) = play.client(OWNER);
    play.delete(owner, second.tensor);
    assert!(!play.exists(second.tensor));
    assert!(play.pond.clients.knows(client));
}

#[test]
fn a_new_lease_of_a_user_makes_no_holder_of_its_silent_process() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    let (info, _) = play.create(owner, shared("x"));
    recorded(&mut play, OTHER);
    play.restart();
    let (reader, _) = play.client(OTHER);
    play.get(reader, "public/x", 1);
    let (owner, _) = play.client(OWNER);
    play.delete(owner, info.tensor);
    assert!(play.exists(info.tensor), "it is leased");
    play.release(reader, 1);
    assert!(!play.exists(info.tensor));
    play.check_indexes();
}

#[test]
fn anybody_may_hold_what_the_journal_of_an_older_daemon_has() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    let (info, _) = play.create(owner, shared("x"));
    let (_, client) = recorded(&mut play, OTHER);
    for record in &mut play.world.records {
        if let Record::SlabMade(made) = record {
            made.borrowers_recorded = false;
        }
    }
    play.restart();
    play.world.records = play.pond.snapshot();
    play.restart();
    let (owner, _) = play.client(OWNER);
    play.delete(owner, info.tensor);
    assert!(play.exists(info.tensor));
    play.pond.process_gone(&mut play.world, client);
    assert!(!play.exists(info.tensor));
}

#[test]
fn the_death_of_a_silent_client_taints_only_what_its_user_may_have_held() {
    for borrows in [false, true] {
        let mut play = Play::new();
        let (owner, _) = play.client(OWNER);
        let (info, _) = play.create(owner, shared("x"));
        let (reader, client) = recorded(&mut play, OTHER);
        if borrows {
            play.get(reader, "public/x", 1);
        }
        play.restart();
        play.pond.process_gone(&mut play.world, client);
        assert_eq!(play.pond.slabs.get(info.slab).unwrap().tainted, borrows);
    }
}

#[test]
fn a_silent_client_that_never_had_a_tensor_does_not_keep_it_from_lingering_away() {
    let mut play = Play::new();
    let (owner, _) = play.client(OWNER);
    let life = Life { linger_ms: Some(1000), ..Life::default() };
    let (info, _) = play.create(owner, TensorCreate { life, ..shared("x") });
    recorded(&mut play, OTHER);
    play.restart();
    play.later(1000);
    assert!(!play.exists(info.tensor));
}
