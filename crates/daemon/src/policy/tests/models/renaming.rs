//! Models get other names, are removed whole, and have one first version.

use super::super::renaming::renaming;
use super::*;

fn rename(version: VersionId, name: &str) -> RequestBody {
    RequestBody::Rename(renaming(version, name))
}

#[test]
fn a_model_takes_its_versions_history_and_readers_along() {
    let mut play = Play::new();
    let (mut loader, _) = play.client(1);
    let (other, _) = play.client(2);
    let first = play.load(loader, "m", "v1", true).info.version;
    play.load(loader, "m", "v2", true);
    play.attach(loader, "m", 1);
    play.load(loader, "taken", "v1", true);
    let waits = play.start(loader, getting("n@v2", 2, 5000));
    assert_eq!(play.refused(other, rename(first, "x")).kind, ErrorKind::NotFound);
    let failure = play.refused(loader, rename(first, "taken"));
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (ErrorKind::Exists, "model 'taken' already exists")
    );
    assert_eq!(play.refused(loader, rename(first, "public/m")).kind, ErrorKind::Invalid);
    let body = rename(first, "n");
    assert_eq!(play.ask(loader, body.clone()), ReplyBody::Done);
    assert!(matches!(play.answer(waits), Some(ReplyBody::Version(_))));
    let expected = ["n@v1 ready", "n@v2* ready", "taken@v1* ready"];
    assert_eq!(play.listed(loader), expected);
    let failure = play.refused(loader, getting("m", 3, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    // The old name is another model's now; a repeat does not touch it.
    play.load(loader, "m", "v1", true);
    for _ in 0..2 {
        assert_eq!(play.ask(loader, body.clone()), ReplyBody::Done);
        let expected = ["m@v1* ready", "n@v1 ready", "n@v2* ready", "taken@v1* ready"];
        assert_eq!(play.listed(loader), expected);
        play.restart();
        loader = play.client(1).0;
    }
    assert_eq!(play.swap(loader, "n", None), tag("v1"), "a rollback knows the way");
    assert_eq!(play.ask(loader, rename(first, "o")), ReplyBody::Done);
    assert_eq!(play.ask(loader, body), ReplyBody::Done);
    assert!(play.listed(loader).contains(&"o@v1* ready".to_owned()));
}

#[test]
fn a_version_that_is_just_begun_holds_a_rename_up() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let first = play.load(loader, "m", "v1", true).info.version;
    let body = RequestBody::VersionStage(staging("m", Some("v2"), &[4]));
    let number = play.start(loader, body);
    assert_eq!(play.answer(number), None, "its slab is being made");
    assert_eq!(play.refused(loader, rename(first, "n")).kind, ErrorKind::Later);
}

#[test]
fn a_whole_model_can_be_removed_and_its_readers_keep_it() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    play.load(loader, "m", "v2", true);
    play.attach(loader, "m@v2", 1);
    let remove = |text| RequestBody::VersionRemove(target(text));
    assert_eq!(
        play.refused(loader, RequestBody::VersionRetire(target("m@v2"))).kind,
        ErrorKind::Invalid
    );
    assert_eq!(play.ask(loader, remove("m@v1")), ReplyBody::Done);
    assert_eq!(play.ask(loader, remove("m@v2")), ReplyBody::Done);
    assert_eq!(play.listed(loader), ["m@v2 draining"]);
    assert_eq!(play.ask(loader, remove("m@v2")), ReplyBody::Done);
    play.release(loader, 1);
    play.check_no_models();
}

#[test]
fn a_model_without_a_current_version_has_no_swaps_that_only_one_daemon_knows() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    play.load(loader, "m", "v2", true);
    play.ask(loader, swapping("m", Some("v1"), Token::random()));
    assert_eq!(play.ask(loader, RequestBody::VersionRemove(target("m@v1"))), ReplyBody::Done);
    play.world.records = play.pond.snapshot();
    play.load(loader, "m", "v3", true);
    let swaps = |play: &Play| -> Vec<Record> {
        let records = play.pond.snapshot().into_iter();
        records.filter(|record| matches!(record, Record::VersionCurrent { .. })).collect()
    };
    let known = swaps(&play);
    play.restart();
    assert_eq!(swaps(&play), known);
}

#[test]
fn of_two_first_loads_the_one_that_ends_first_is_current() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let slow = play.stage(loader, staging("m", None, &[2])).info.version;
    let fast = play.stage(loader, staging("m", None, &[2])).info.version;
    let first = |version| VersionCommit { unless_current: true, ..committing(version, true) };
    assert!(granted(play.commit(loader, first(fast))).info.current);
    assert!(!granted(play.commit(loader, first(slow))).info.current);
    play.restart();
    let (loader, _) = play.client(1);
    assert_eq!(play.listed(loader), ["m@v1 ready", "m@v2* ready"]);
}
