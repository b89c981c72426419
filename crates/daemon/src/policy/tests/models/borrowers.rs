//! What a silent client may hold of versions.

use super::*;

/// A version of user 1 that everybody may have, whose loader is gone; and a client of user 2 with a
/// lease on something of its own, and on the version if it is to borrow it.
fn shared(play: &mut Play, borrows: bool) -> (VersionGrant, ClientId) {
    let (loader, _) = play.client(1);
    let version = play.load(loader, "public/m", "v1", true);
    play.load(loader, "public/m", "v2", true);
    play.ask(loader, RequestBody::Goodbye);
    let (reader, client) = play.client(2);
    play.create(reader, TensorCreate { lease: Some(LeaseId(9)), ..spec("own", 100) });
    if borrows {
        play.attach(reader, "public/m@v1", 1);
        play.attach(reader, "public/m@v1", 2);
    }
    (version, client)
}

#[test]
fn a_silent_client_keeps_a_version_only_if_its_user_has_borrowed_it() {
    for (borrows, compact) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut play = Play::new();
        let (_, client) = shared(&mut play, borrows);
        let borrowed = Did::Journal("version borrowed");
        let count = play.world.did.iter().filter(|did| **did == borrowed).count();
        assert_eq!(count, usize::from(borrows));
        for _ in 0..2 {
            if compact {
                play.world.records = play.pond.snapshot();
            }
            play.restart();
        }
        let (owner, _) = play.client(1);
        play.retire(owner, "public/m@v1");
        let kept = ["public/m@v1 draining", "public/m@v2* ready"];
        assert_eq!(play.listed(owner), kept[usize::from(!borrows)..]);
        play.check_indexes();
        play.pond.process_gone(&mut play.world, client);
        assert_eq!(play.listed(owner), kept[1..]);
        play.check_held();
    }
}

#[test]
fn the_death_of_a_silent_client_taints_the_slabs_of_what_its_user_has_borrowed() {
    for borrows in [false, true] {
        let mut play = Play::new();
        let (version, client) = shared(&mut play, borrows);
        play.restart();
        play.pond.process_gone(&mut play.world, client);
        for part in &version.parts {
            let slab = play.pond.catalog.get(part.tensor).unwrap().slab;
            assert_eq!(play.pond.slabs.get(slab).unwrap().tainted, borrows);
        }
    }
}

#[test]
fn anybody_may_hold_a_version_that_an_older_daemon_has_recorded() {
    let mut play = Play::new();
    let (_, client) = shared(&mut play, false);
    for record in &mut play.world.records {
        if let Record::VersionStaged(staged) = record {
            staged.borrowers_recorded = false;
        }
    }
    play.restart();
    play.world.records = play.pond.snapshot();
    play.restart();
    let (owner, _) = play.client(1);
    play.retire(owner, "public/m@v1");
    assert_eq!(play.listed(owner), ["public/m@v1 draining", "public/m@v2* ready"]);
    play.pond.process_gone(&mut play.world, client);
    assert_eq!(play.listed(owner), ["public/m@v2* ready"]);
}

#[test]
fn a_lease_on_a_version_whose_borrower_cannot_be_recorded_is_not_granted() {
    let mut play = Play::new();
    let (_, client) = shared(&mut play, false);
    let conn = play.connect(2);
    play.hello(conn, client, false);
    play.world.journal_fails = true;
    assert_eq!(play.refused(conn, getting("public/m@v1", 1, 0)).kind, ErrorKind::Internal);
    assert_eq!(play.pond.leases.count_of(client), 1);
}
