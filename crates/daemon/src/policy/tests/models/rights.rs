//! Who may do what with a version, also while it is being made.

use super::*;

#[test]
fn what_is_being_made_is_retired_by_its_owner_alone_and_leaves_nothing() {
    for by_name in [true, false] {
        let mut play = Play::new();
        play.pond.caps.recycle_bytes = 0;
        let (stager, _) = play.client(1);
        let (owner, _) = play.client(1);
        let (other, _) = play.client(2);
        let stage = staging("m", Some("v1"), &[2, 4]);
        let id = VersionTarget::Id(stage.version);
        let number = play.start(stager, RequestBody::VersionStage(stage));
        let asked = std::mem::take(&mut play.world.asked);
        play.pond.slab_made(&mut play.world, asked[0].0, Ok(1));
        let retire = |text| RequestBody::VersionRetire(target(text));
        let failure = play.refused(other, RequestBody::VersionRetire(id.clone()));
        assert_eq!(failure.kind, ErrorKind::Denied);
        assert_eq!(play.refused(other, retire("~1/m@v1")).kind, ErrorKind::Denied);
        for text in ["m@v2", "n@v1"] {
            assert_eq!(play.refused(owner, retire(text)).kind, ErrorKind::NotFound, "{text}");
        }
        assert!(play.answer(number).is_none(), "it is still being made");
        let body = if by_name { retire("m@v1") } else { RequestBody::VersionRetire(id) };
        let retired = play.start(owner, body);
        assert_eq!(play.answer(retired), Some(ReplyBody::Done));
        let Some(ReplyBody::Failure(failure)) = play.answer(number) else { panic!("no answer") };
        assert_eq!(failure.kind, ErrorKind::Retired);
        play.pond.slab_made(&mut play.world, asked[1].0, Ok(2));
        assert!(play.pond.is_idle());
        assert_eq!(play.slab_bytes(), 0);
        play.check_no_models();
    }
}

#[test]
fn what_is_being_made_counts_for_its_user_and_its_tag_is_taken() {
    let mut play = Play::new();
    play.cap(Resource::Versions, 2);
    let (first, _) = play.client(1);
    let (second, _) = play.client(1);
    let (other, _) = play.client(2);
    let staging = |model, version| RequestBody::VersionStage(staging(model, version, &[2]));
    // The driver makes nothing meanwhile.
    let start = |play: &mut Play, conn, body| {
        let number = play.start(conn, body);
        match play.answer(number) {
            Some(ReplyBody::Failure(failure)) => Some(failure.kind),
            None => None,
            other => panic!("{other:?}"),
        }
    };
    let public = |tag| staging("public/m", tag);
    assert_eq!(start(&mut play, first, public(Some("v4"))), None);
    assert_eq!(start(&mut play, other, public(Some("v5"))), Some(ErrorKind::Denied));
    assert_eq!(start(&mut play, second, public(Some("v4"))), Some(ErrorKind::Exists));
    assert_eq!(start(&mut play, second, public(None)), None);
    assert_eq!(start(&mut play, second, staging("n", None)), Some(ErrorKind::TooMany));
    assert_eq!(start(&mut play, other, staging("n", None)), None, "each user has a count");
}

#[test]
fn only_who_stages_may_map_it_writable() {
    let mut play = Play::new();
    let (stager, _) = play.client(1);
    let (another, _) = play.client(1);
    let staged = play.stage(stager, staging("m", None, &[2]));
    let writable = |lease| {
        RequestBody::VersionGet(VersionGet {
            target: target("m@v1"),
            lease: LeaseId(lease),
            mode: Mode::ReadWrite,
            wait_ms: 0,
        })
    };
    assert_eq!(play.refused(another, writable(1)).kind, ErrorKind::NotReady);
    assert_eq!(granted(play.ask(stager, writable(1))).info.version, staged.info.version);
    play.commit(stager, committing(staged.info.version, true));
    assert_eq!(play.refused(stager, writable(2)).kind, ErrorKind::Invalid);
}

/// Who shares a slab has it from the moment it asked, whatever becomes of the version it is from.
#[test]
fn a_slab_shared_with_what_is_being_made_outlives_its_version_and_goes_with_the_stager() {
    for stager_dies in [false, true] {
        let mut play = Play::new();
        play.pond.caps.recycle_bytes = 0;
        let (loader, _) = play.client(1);
        let (stager, client) = play.client(1);
        let one = play.load(loader, "m", "v1", false);
        let mut stage = staging("m", Some("v2"), &[4, 2]);
        stage.parts[0].shared = Some(one.parts[0].tensor);
        let number = play.start(stager, RequestBody::VersionStage(stage));
        let (slab, _, _) = play.world.asked.pop().unwrap();
        assert_eq!(play.retire(loader, "m@v1"), ReplyBody::Done);
        assert!(play.exists(one.parts[0].tensor) && !play.exists(one.parts[1].tensor));
        if stager_dies {
            play.pond.process_gone(&mut play.world, client);
            assert!(!play.exists(one.parts[0].tensor));
        }
        play.pond.slab_made(&mut play.world, slab, Ok(7));
        if !stager_dies {
            let two = granted(play.answer(number).unwrap());
            assert_eq!(two.parts[0], one.parts[0]);
            play.pond.process_gone(&mut play.world, client);
        }
        assert_eq!(play.slab_bytes(), 0);
        play.check_no_models();
    }
}

#[test]
fn a_slab_that_was_to_be_its_own_goes_with_a_version_that_is_retired_meanwhile() {
    let mut play = Play::new();
    play.pond.caps.recycle_bytes = 0;
    let (loader, _) = play.client(1);
    let one = play.load(loader, "m", "v1", true);
    let mut stage = staging("m", Some("v2"), &[4]);
    stage.parts[0].shared = Some(one.parts[0].tensor);
    let two = play.stage(loader, stage);
    let own = RequestBody::VersionPart { version: two.info.version, index: 0 };
    let number = play.start(loader, own);
    let (slab, _, _) = play.world.asked.pop().unwrap();
    let retire = play.start(loader, RequestBody::VersionRetire(target("m@v2")));
    assert_eq!(play.answer(retire), Some(ReplyBody::Done));
    play.pond.slab_made(&mut play.world, slab, Ok(7));
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
    assert_eq!(play.slab_bytes(), 6 * MIB);
    play.check_held();
    play.retire(loader, "m");
    assert_eq!(play.slab_bytes(), 0);
    play.check_no_models();
}

#[test]
fn a_commit_that_cannot_be_recorded_holds_no_manifest() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let staged = play.stage(loader, staging("m", None, &[2]));
    play.world.journal_fails = true;
    let answer = play.commit(loader, committing(staged.info.version, true));
    assert!(matches!(answer, ReplyBody::Failure(_)), "{answer:?}");
    play.check_held();
    play.world.journal_fails = false;
    play.commit(loader, committing(staged.info.version, true));
    play.check_held();
}
