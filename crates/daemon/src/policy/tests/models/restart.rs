//! Versions across hang-ups and deaths of the daemon, and a journal that takes nothing.

use super::*;

/// As `restart`, with the clients that live coming back and claiming what they hold.
fn come_back(
    play: &mut Play,
    client: ClientId,
    version: VersionId,
    lease: u64,
    grant: &VersionGrant,
) -> (ConnId, Vec<LeaseId>) {
    let conn = play.connect(1);
    assert!(matches!(play.hello(conn, client, true), ReplyBody::Welcome(_)));
    let (_, mode, token) = grant.lease.unwrap();
    let claim = LeaseClaim { lease: LeaseId(lease), target: version.into(), mode, token };
    let refused = play.claim(conn, vec![claim]);
    (conn, refused)
}

#[test]
fn a_restart_in_the_middle_of_a_load_loses_nothing() {
    let mut play = Play::new();
    let (loader, client) = play.client(1);
    let old = play.load(loader, "m", "v1", true);
    let mut stage = staging("m", Some("v2"), &[4, 2]);
    stage.parts[0].shared = Some(old.parts[0].tensor);
    stage.lease = Some(LeaseId(4));
    let staged = play.stage(loader, stage.clone());
    let own = RequestBody::VersionPart { version: stage.version, index: 0 };
    play.ask(loader, own.clone());
    for compact in [false, true] {
        if compact {
            play.world.records = play.pond.snapshot();
        }
        let found = play.restart();
        assert_eq!((found.versions, found.lost_tensors, found.dropped), (2, 0, 0));
        let (conn, refused) = come_back(&mut play, client, stage.version, 4, &staged);
        assert!(refused.is_empty());
        assert_eq!(play.listed(conn), ["m@v1* ready", "m@v2 staging"]);
        assert!(play.exists(old.parts[0].tensor));
    }
    let conn = play.connect(1);
    play.hello(conn, client, false);
    assert_eq!(play.ask(conn, own), ReplyBody::Slabs { first: 0, count: 1 }, "it is its own");
    let commit = committing(stage.version, true);
    let ready = play.commit(conn, commit.clone());
    play.restart();
    let (conn, refused) = come_back(&mut play, client, stage.version, 4, &staged);
    assert!(refused.is_empty(), "who staged it still has it mapped");
    let again = play.commit(conn, commit);
    assert_eq!(granted(again).info.content, granted(ready).info.content);
    assert_eq!(play.listed(conn), ["m@v1 ready", "m@v2* ready"]);
    play.retire(conn, "m@v1");
    assert!(play.exists(old.parts[0].tensor), "it had this one mapped");
    play.release(conn, 4);
    assert!(!play.exists(old.parts[0].tensor));
    play.retire(conn, "m@v2");
    play.check_no_models();
}

#[test]
fn a_stager_that_died_meanwhile_is_noticed_by_the_next_daemon() {
    let mut play = Play::new();
    let (stager, client) = play.client(1);
    let lease = Some(LeaseId(1));
    play.stage(stager, VersionStage { lease, ..staging("m", None, &[40]) });
    play.restart();
    assert_eq!(play.pond.models.len(), 1, "it may live");
    play.pond.process_gone(&mut play.world, client);
    play.check_no_models();
    assert_eq!(play.slab_bytes(), 0);
    // And one that no daemon knows any more.
    let (stager, client) = play.client(1);
    play.stage(stager, staging("m", None, &[40]));
    let gone = |record: &Record| !matches!(record, Record::ClientSeen(it) if it.client == client);
    play.world.records.retain(gone);
    play.restart();
    play.check_no_models();
}

#[test]
fn a_daemon_that_died_before_the_version_was_recorded_leaves_no_parts() {
    let mut play = Play::new();
    let (stager, _) = play.client(1);
    play.stage(stager, staging("m", None, &[40, 2]));
    let (records, held) = (play.world.records.clone(), play.world.held.clone());
    let at = records.iter().position(|it| matches!(it, Record::VersionStaged(_))).unwrap();
    for length in at - 4..at {
        play.world.records = records[..length].to_vec();
        play.world.held = held.clone();
        play.restart();
        let parts = play.pond.catalog.iter().filter(|(_, tensor)| !tensor.is_deleted()).count();
        assert_eq!(parts, 0, "after {length} records");
        let silent: Vec<ClientId> = play.pond.clients.iter().map(|(id, _)| id).collect();
        for client in silent {
            play.pond.process_gone(&mut play.world, client);
        }
        play.check_no_models();
    }
}

#[test]
fn nothing_of_a_version_goes_while_a_silent_client_may_hold_it() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let version = play.load(loader, "m", "v1", true).info.version;
    play.load(loader, "m", "v2", true);
    let (reader, client) = play.client(1);
    let attached = play.attach(reader, "m@v1", 1);
    play.restart();
    let (loader, _) = play.client(1);
    play.retire(loader, "m@v1");
    assert_eq!(play.listed(loader), ["m@v1 draining", "m@v2* ready"]);
    let (conn, refused) = come_back(&mut play, client, version, 1, &attached);
    assert!(refused.is_empty());
    let silent: Vec<ClientId> =
        play.pond.clients.iter().filter(|(_, it)| it.unclaimed).map(|(id, _)| id).collect();
    for client in silent {
        play.pond.process_gone(&mut play.world, client);
    }
    assert_eq!(play.listed(loader), ["m@v1 draining", "m@v2* ready"]);
    play.release(conn, 1);
    assert_eq!(play.listed(loader), ["m@v2* ready"]);
    play.check_held();
}

#[test]
fn a_version_without_its_manifest_or_a_slab_is_lost_and_can_be_retired() {
    for lose_manifest in [true, false] {
        let mut play = Play::new();
        let (loader, client) = play.client(1);
        let one = play.load(loader, "m", "v1", true);
        let lost = match lose_manifest {
            true => Held::Manifest(one.info.version),
            false => Held::Slab(play.pond.catalog.get(one.parts[1].tensor).unwrap().slab),
        };
        play.world.held.remove(&lost);
        let found = play.restart();
        assert_eq!((found.versions, found.lost_tensors), (1, 1));
        play.pond.process_gone(&mut play.world, client);
        let (loader, _) = play.client(1);
        assert!(play.versions(loader)[0].lost);
        let failure = play.refused(loader, getting("m", 1, 0));
        assert_eq!(failure.kind, ErrorKind::Lost);
        let mut stage = staging("m", Some("v2"), &[2]);
        stage.parts[0].shared = Some(one.parts[1].tensor);
        if !lose_manifest {
            let failure = play.refused(loader, RequestBody::VersionStage(stage));
            assert!(failure.message.contains("lost"), "{failure}");
        }
        assert_eq!(play.retire(loader, "m@v1"), ReplyBody::Done);
        play.check_no_models();
    }
}

#[test]
fn a_swap_whose_daemon_died_lets_the_oldest_drain_later() {
    // As if the daemon had died after the flip, with nothing let go yet.
    let mut play = Play::new();
    let (loader, client) = play.client(1);
    for version in ["v1", "v2"] {
        play.load(loader, "m", version, true);
    }
    play.pond.caps.keep_previous = 5;
    play.load(loader, "m", "v3", true);
    assert_eq!(play.listed(loader), ["m@v1 ready", "m@v2 ready", "m@v3* ready"]);
    play.restart();
    play.pond.process_gone(&mut play.world, client);
    let (loader, _) = play.client(1);
    assert_eq!(play.listed(loader), ["m@v2 ready", "m@v3* ready"]);
    play.check_held();
}

#[test]
fn a_journal_that_takes_nothing_leaves_everything_as_it_was() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    play.load(loader, "m", "v2", false);
    let staged = play.stage(loader, staging("m", Some("v3"), &[2]));
    let before = play.listed(loader);
    let bytes = play.slab_bytes();
    play.world.journal_fails = true;
    for body in [
        RequestBody::VersionStage(staging("m", None, &[2, 4])),
        swapping("m", Some("v2"), Token::random()),
        RequestBody::VersionRetire(target("m@v2")),
    ] {
        assert_eq!(play.refused(loader, body).kind, ErrorKind::Internal);
    }
    let answer = play.commit(loader, committing(staged.info.version, true));
    assert!(matches!(answer, ReplyBody::Failure(it) if it.kind == ErrorKind::Internal));
    play.world.journal_fails = false;
    assert_eq!(play.listed(loader), before);
    assert_eq!(play.slab_bytes(), bytes);
    play.check_held();
}

#[test]
fn a_hang_up_while_slabs_are_made_loses_nothing() {
    let mut play = Play::new();
    let (stager, client) = play.client(1);
    let stage = VersionStage { lease: Some(LeaseId(1)), ..staging("m", None, &[2]) };
    play.start(stager, RequestBody::VersionStage(stage.clone()));
    play.pond.hung_up(&mut play.world, stager);
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Ok(7));
    let conn = play.connect(1);
    play.hello(conn, client, false);
    let staged = play.stage(conn, stage);
    assert!(staged.lease.is_some());
    assert!(play.world.asked.is_empty());
    play.commit(conn, committing(staged.info.version, true));
    assert_eq!(play.listed(conn), ["m@v1* ready"]);
}
