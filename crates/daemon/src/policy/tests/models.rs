//! Versions of models: staged, committed, attached to, swapped and retired.

use millpond_wire::message::{
    EventKind, MoveWork, PartSpec, TensorMove, VersionCommit, VersionGet, VersionGrant,
    VersionInfo, VersionStage, VersionState,
};
use millpond_wire::{
    ContentHash, ErrorKind, PiecesKind, Token, VersionId, VersionTag, VersionTarget,
};

use super::*;

mod borrowers;
mod listing;
mod numbers;
mod renaming;
mod restart;
mod rights;

const MANIFEST: u64 = 500;

fn tag(text: &str) -> VersionTag {
    text.parse().unwrap()
}

/// A version with slabs of these sizes, in MiB.
pub(super) fn staging(model: &str, version: Option<&str>, slabs: &[u64]) -> VersionStage {
    let part = |mib: &u64| PartSpec { bytes: mib * MIB, shared: None };
    VersionStage {
        version: VersionId::random(),
        model: model.parse().unwrap(),
        tag: version.map(tag),
        device: None,
        audience: Audience::User,
        parts: slabs.iter().map(part).collect(),
        lease: None,
    }
}

fn committing(version: VersionId, activate: bool) -> VersionCommit {
    VersionCommit {
        version,
        token: Token::random(),
        layout: ContentHash([1; 16]),
        content: ContentHash([2; 16]),
        tensors: 3,
        bytes: 100,
        activate,
        unless_current: false,
        source: "a file".into(),
    }
}

fn target(text: &str) -> VersionTarget {
    VersionTarget::Name(text.parse().unwrap())
}

fn getting(text: &str, lease: u64, wait_ms: u64) -> RequestBody {
    RequestBody::VersionGet(VersionGet {
        target: target(text),
        lease: LeaseId(lease),
        mode: Mode::ReadOnly,
        wait_ms,
    })
}

pub(super) fn swapping(model: &str, version: Option<&str>, token: Token) -> RequestBody {
    RequestBody::ModelSwap { model: model.parse().unwrap(), tag: version.map(tag), token }
}

fn granted(body: ReplyBody) -> VersionGrant {
    match body {
        ReplyBody::Version(grant) => *grant,
        other => panic!("no version: {other:?}"),
    }
}

impl Play {
    fn stage(&mut self, conn: ConnId, stage: VersionStage) -> VersionGrant {
        granted(self.ask(conn, RequestBody::VersionStage(stage)))
    }

    fn commit(&mut self, conn: ConnId, commit: VersionCommit) -> ReplyBody {
        let body = RequestBody::VersionCommit(commit);
        self.try_ask_with(conn, body, Some(MANIFEST)).expect("an answer")
    }

    /// A version that is ready, and current if that is wanted.
    pub(super) fn load(
        &mut self,
        conn: ConnId,
        model: &str,
        version: &str,
        activate: bool,
    ) -> VersionGrant {
        let staged = self.stage(conn, staging(model, Some(version), &[4, 2]));
        granted(self.commit(conn, committing(staged.info.version, activate)))
    }

    fn attach(&mut self, conn: ConnId, text: &str, lease: u64) -> VersionGrant {
        granted(self.ask(conn, getting(text, lease, 0)))
    }

    fn swap(&mut self, conn: ConnId, model: &str, version: Option<&str>) -> VersionTag {
        match self.ask(conn, swapping(model, version, Token::random())) {
            ReplyBody::Swapped { current, .. } => current.tag,
            other => panic!("not swapped: {other:?}"),
        }
    }

    fn retire(&mut self, conn: ConnId, text: &str) -> ReplyBody {
        self.ask(conn, RequestBody::VersionRetire(target(text)))
    }

    fn versions(&mut self, conn: ConnId) -> Vec<VersionInfo> {
        match self.ask(conn, RequestBody::ModelList { prefix: String::new() }) {
            ReplyBody::Models(models) => models.into_iter().flat_map(|it| it.versions).collect(),
            other => panic!("no listing: {other:?}"),
        }
    }

    /// As `llama@v1 ready`, with a star for the current one.
    fn listed(&mut self, conn: ConnId) -> Vec<String> {
        let one = |it: VersionInfo| {
            let star = if it.current { "*" } else { "" };
            format!("{}@{}{star} {}", it.model, it.tag, it.state.name())
        };
        self.versions(conn).into_iter().map(one).collect()
    }

    /// Nothing of any version is left.
    fn check_no_models(&mut self) {
        assert!(self.pond.models.is_empty());
        assert_eq!(self.pond.catalog.iter().filter(|(_, tensor)| tensor.is_part()).count(), 0);
        self.check_held();
    }
}

#[test]
fn staged_committed_attached_and_retired() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let lease = Some(LeaseId(9));
    let staged = play.stage(loader, VersionStage { lease, ..staging("llama", None, &[3, 40]) });
    assert_eq!((staged.info.tag.as_str(), staged.info.state), ("v1", VersionState::Staging));
    assert_eq!(staged.info.slab_bytes, 44 * MIB, "sizes are whole granules");
    assert!(!staged.manifest && staged.slabs == 2 && staged.lease.is_some());
    let sizes: Vec<u64> = staged.parts.iter().map(|part| part.bytes).collect();
    assert_eq!(sizes, [4 * MIB, 40 * MIB]);
    let (reader, _) = play.client(1);
    let failure = play.refused(reader, getting("llama@v1", 1, 0));
    assert_eq!(failure.kind, ErrorKind::NotReady);
    let ready = granted(play.commit(loader, committing(staged.info.version, false)));
    assert_eq!((ready.info.state, ready.info.current), (VersionState::Ready, false));
    let failure = play.refused(reader, getting("llama", 1, 0));
    assert_eq!(failure.kind, ErrorKind::NotReady);
    assert_eq!(failure.hint.unwrap(), "`millpond swap llama v1`");
    assert_eq!(play.swap(loader, "llama", Some("v1")), tag("v1"));
    let number = play.next_number;
    let attached = play.attach(reader, "llama", 1);
    assert!(attached.manifest && attached.slabs == 2 && attached.info.readers == 2);
    assert_eq!(play.world.came_with[&number].len(), 3);
    assert_eq!(play.world.came_with[&number][0], MANIFEST);
    play.release(loader, 9);
    let failure = play.refused(loader, RequestBody::VersionRetire(target("llama@v1")));
    assert_eq!(failure.kind, ErrorKind::Invalid, "{failure}");
    play.release(reader, 1);
    assert_eq!(play.retire(loader, "llama@v1"), ReplyBody::Done);
    play.check_no_models();
    let repeated = RequestBody::VersionRetire(VersionTarget::Id(staged.info.version));
    assert_eq!(play.ask(loader, repeated), ReplyBody::Done);
}

#[test]
fn what_is_promised_is_held_and_recorded_before_it_is_answered() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.world.did.clear();
    let staged = play.stage(loader, staging("m", None, &[2]));
    let slab = play.pond.catalog.get(staged.parts[0].tensor).unwrap().slab;
    let of = |did: &[Did]| -> Vec<Did> {
        did.iter().filter(|did| !matches!(did, Did::Reply(0))).cloned().collect()
    };
    let did = of(&play.world.did);
    let tail = &did[did.len() - 5..];
    assert_eq!(tail[0], Did::Hold(Held::Slab(slab)));
    assert_eq!(tail[1..4], ["slab", "tensor", "version"].map(Did::Journal));
    assert!(matches!(tail[4], Did::Reply(_)));
    play.world.did.clear();
    play.commit(loader, committing(staged.info.version, true));
    let did = of(&play.world.did);
    let held = Held::Manifest(staged.info.version);
    assert_eq!(did[..2], [Did::Hold(held), Did::Journal("ready")]);
    assert!(matches!(did.last(), Some(Did::Reply(_))), "{did:?}");
    assert!(did.contains(&Did::Bump), "clients notice without a message");
    play.world.did.clear();
    play.retire(loader, "m@v1");
    let did = of(&play.world.did);
    let first = did.iter().position(|did| *did == Did::Journal("version gone")).unwrap();
    let let_go = did.iter().position(|did| *did == Did::LetGo(held)).unwrap();
    assert!(first < let_go);
}

#[test]
fn a_repeat_gets_the_same_answer() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let stage = VersionStage { lease: Some(LeaseId(5)), ..staging("m", None, &[2, 2]) };
    // Also while its slabs are being made: the first request is told that the second is answered.
    let first = play.start(loader, RequestBody::VersionStage(stage.clone()));
    assert_eq!(play.world.asked.len(), 2);
    let staged = play.stage(loader, stage.clone());
    assert!(matches!(play.answer(first), Some(ReplyBody::Failure(_))));
    assert_eq!(play.stage(loader, stage.clone()), staged);
    let commit = committing(staged.info.version, true);
    let ready = play.commit(loader, commit.clone());
    assert_eq!(play.commit(loader, commit.clone()), ready);
    let other = VersionCommit { token: Token::random(), ..commit };
    let body = RequestBody::VersionCommit(other);
    let again = play.try_ask_with(loader, body, Some(MANIFEST)).unwrap();
    assert!(matches!(again, ReplyBody::Failure(failure) if failure.kind == ErrorKind::Exists));
    let attached = play.attach(loader, "m", 7);
    assert_eq!(play.attach(loader, "m", 7), attached);
    play.release(loader, 5);
    play.release(loader, 7);
    play.retire(loader, "m@v1");
    let gone = play.refused(loader, RequestBody::VersionStage(stage));
    assert_eq!(gone.kind, ErrorKind::NotFound);
    play.check_no_models();
}

#[test]
fn a_tag_is_taken_once_and_numbers_go_on() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    let staged = play.stage(loader, staging("m", None, &[2]));
    assert_eq!(staged.info.tag, tag("v2"));
    let failure = play.refused(loader, RequestBody::VersionStage(staging("m", Some("v2"), &[2])));
    assert_eq!(failure.kind, ErrorKind::Exists);
    let pid = staged.info.stager_pid.unwrap();
    assert!(failure.message.contains(&format!("staged by pid {pid}")), "{failure}");
    assert!(failure.hint.unwrap().contains("`millpond retire m v2`"));
    let failure = play.refused(loader, RequestBody::VersionStage(staging("m", Some("v1"), &[2])));
    assert!(failure.message.contains("ready"), "{failure}");
    let third = staging("m", None, &[2]);
    assert_eq!(play.stage(loader, third).info.tag, tag("v3"));
}

#[test]
fn names_are_ones_own_or_say_public_and_a_public_model_has_one_owner() {
    let mut play = Play::new();
    let (mine, _) = play.client(1);
    let (theirs, _) = play.client(2);
    play.load(theirs, "public/m", "v1", true);
    let failure = play.refused(mine, getting("m", 1, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    let hint = "`public/m` exists and belongs to user 2: write `public/m`";
    assert_eq!(failure.hint.as_deref(), Some(hint));
    assert_eq!(play.attach(mine, "public/m", 1).info.user, 2);
    let failure = play.refused(mine, RequestBody::VersionStage(staging("public/m", None, &[2])));
    assert_eq!(failure.kind, ErrorKind::Denied);
    for body in [
        swapping("public/m", Some("v1"), Token::random()),
        RequestBody::VersionRetire(target("public/m@v1")),
    ] {
        assert_eq!(play.refused(mine, body).kind, ErrorKind::Denied);
    }
    play.load(mine, "m", "v1", true);
    assert_eq!(play.attach(mine, "m", 2).info.user, 1);
    assert_eq!(play.attach(mine, "~2/public/m", 3).info.user, 2);
    let failure = play.refused(theirs, getting("~1/m", 1, 0));
    assert_eq!(failure.kind, ErrorKind::NotFound, "not shared, so not there");
    let failure = play.refused(mine, getting("mm", 9, 0));
    assert_eq!(failure.similar.first().map(String::as_str), Some("m"));
    let failure = play.refused(theirs, getting("~1/mm", 9, 0));
    assert!(!failure.similar.contains(&"~1/m".to_owned()), "{failure:?}");
    assert_eq!(play.listed(theirs), ["public/m@v1* ready"]);
    // A tensor may have the same name.
    play.create(mine, spec("m", 100));
}

#[test]
fn swap_and_rollback_flip_current_and_older_ones_drain() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    play.load(loader, "m", "v2", true);
    assert_eq!(play.listed(loader), ["m@v1 ready", "m@v2* ready"]);
    assert_eq!(play.swap(loader, "m", None), tag("v1"));
    assert_eq!(play.swap(loader, "m", None), tag("v2"));
    let (reader, _) = play.client(1);
    play.attach(reader, "m@v1", 1);
    play.load(loader, "m", "v3", true);
    assert_eq!(play.listed(loader), ["m@v1 draining", "m@v2 ready", "m@v3* ready"]);
    assert_eq!(play.told(EventKind::VersionDraining).len(), 1);
    let failure = play.refused(reader, getting("m@v1", 2, 0));
    assert_eq!(failure.kind, ErrorKind::Retired);
    assert!(failure.message.contains("v3"), "{failure}");
    let failure = play.refused(loader, swapping("m", Some("v1"), Token::random()));
    assert_eq!(failure.kind, ErrorKind::Retired);
    play.release(reader, 1);
    assert_eq!(play.listed(loader), ["m@v2 ready", "m@v3* ready"]);
    let failure = play.refused(loader, swapping("m", Some("v7"), Token::random()));
    assert_eq!(
        (failure.kind, failure.similar),
        (ErrorKind::NotFound, vec!["v2".to_owned(), "v3".to_owned()])
    );
    let failure = play.refused(loader, RequestBody::VersionRetire(target("m@v3")));
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert!(failure.hint.unwrap().contains("millpond swap m"));
    assert_eq!(play.retire(loader, "m@v2"), ReplyBody::Done);
    let failure = play.refused(loader, swapping("m", None, Token::random()));
    assert_eq!(failure.kind, ErrorKind::NotFound);
    let swaps = play.told(EventKind::ModelSwapped);
    assert_eq!(swaps.last().unwrap(), "v3 instead of v2");
    play.retire(loader, "m");
    play.check_no_models();
}

#[test]
fn a_repeated_swap_happens_once_also_after_restarts() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    play.load(loader, "m", "v2", true);
    let token = Token::random();
    let rollback = || swapping("m", None, token);
    let first = play.ask(loader, rollback());
    assert_eq!(play.ask(loader, rollback()), first);
    assert_eq!(play.listed(loader), ["m@v1* ready", "m@v2 ready"]);
    play.restart();
    let (loader, _) = play.client(1);
    assert_eq!(play.ask(loader, rollback()), first);
    play.world.records = play.pond.snapshot();
    play.restart();
    let (loader, _) = play.client(1);
    assert_eq!(play.ask(loader, rollback()), first);
    assert_eq!(play.listed(loader), ["m@v1* ready", "m@v2 ready"]);
    // One to what is current already is remembered as well.
    let token = Token::random();
    play.ask(loader, swapping("m", Some("v1"), token));
    play.swap(loader, "m", Some("v2"));
    play.ask(loader, swapping("m", Some("v1"), token));
    assert_eq!(play.listed(loader), ["m@v1 ready", "m@v2* ready"]);
}

#[test]
fn a_slab_is_shared_and_goes_with_the_last_version_that_has_it() {
    let mut play = Play::new();
    play.pond.caps.recycle_bytes = 0;
    let (loader, _) = play.client(1);
    let one = play.load(loader, "m", "v1", true);
    let mut stage = staging("m", Some("v2"), &[4, 2]);
    stage.parts[0].shared = Some(one.parts[0].tensor);
    let two = play.stage(loader, stage.clone());
    assert_eq!(two.parts[0], one.parts[0]);
    assert_ne!(two.parts[1], one.parts[1]);
    assert_eq!(two.info.shared_bytes, 4 * MIB);
    assert_eq!(play.slab_bytes(), 8 * MIB);
    play.commit(loader, committing(two.info.version, true));
    play.retire(loader, "m@v1");
    assert_eq!(play.slab_bytes(), 6 * MIB);
    play.retire(loader, "m@v2");
    assert_eq!(play.slab_bytes(), 0);
    play.check_no_models();
}

#[test]
fn what_cannot_be_shared_is_refused_and_nothing_is_made() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let (other, _) = play.client(2);
    let one = play.load(loader, "m", "v1", true);
    let (tensor, _) = play.create(loader, spec("t", 4 * MIB));
    let before = play.slab_bytes();
    let share = |bytes: u64, shared| {
        let mut stage = staging("n", None, &[bytes]);
        stage.parts[0].shared = Some(shared);
        RequestBody::VersionStage(stage)
    };
    let part = one.parts[0].tensor;
    for (conn, body) in [
        (loader, share(2, part)),
        (loader, share(4, tensor.tensor)),
        (loader, share(4, TensorId::random())),
        (other, share(4, part)),
        (loader, RequestBody::VersionStage(staging("n", None, &[]))),
        (loader, RequestBody::VersionStage(staging("n", None, &[0]))),
    ] {
        assert_eq!(play.refused(conn, body).kind, ErrorKind::Invalid);
    }
    let mut everybody = staging("n", None, &[4]);
    everybody.parts[0].shared = Some(part);
    everybody.audience = Audience::Everybody;
    let failure = play.refused(loader, RequestBody::VersionStage(everybody));
    assert!(failure.message.contains("shared with"), "{failure}");
    assert_eq!(play.slab_bytes(), before);
    assert_eq!(play.pond.models.parts(), 2);
}

#[test]
fn a_shared_slab_becomes_a_versions_own() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let one = play.load(loader, "m", "v1", true);
    let mut stage = staging("m", Some("v2"), &[4]);
    stage.parts[0].shared = Some(one.parts[0].tensor);
    stage.lease = Some(LeaseId(3));
    let two = play.stage(loader, stage.clone());
    let own = |index| RequestBody::VersionPart { version: two.info.version, index };
    assert_eq!(play.ask(loader, own(0)), ReplyBody::Slabs { first: 0, count: 1 });
    let number = play.next_number - 1;
    let fd = play.world.came_with[&number].clone();
    assert_eq!(play.ask(loader, own(0)), ReplyBody::Slabs { first: 0, count: 1 });
    assert_eq!(play.world.came_with[&(number + 1)], fd, "a repeat gets the same");
    assert_eq!(play.refused(loader, own(1)).kind, ErrorKind::Invalid);
    let (another, _) = play.client(1);
    assert_eq!(play.refused(another, own(0)).kind, ErrorKind::Denied);
    let again = play.stage(loader, stage);
    assert_ne!(again.parts[0].tensor, one.parts[0].tensor);
    assert_eq!(again.info.shared_bytes, 0);
    // Who had it mapped keeps it, whatever becomes of the version that it came from.
    let old = one.parts[0].tensor;
    play.commit(loader, committing(two.info.version, true));
    play.retire(loader, "m@v1");
    assert!(play.exists(old));
    play.world.records = play.pond.snapshot();
    assert!(play.exists(old));
    play.release(loader, 3);
    assert!(!play.exists(old));
    play.retire(loader, "m@v2");
    play.check_no_models();
}

#[test]
fn only_who_stages_writes_and_parts_are_no_tensors() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let (other, _) = play.client(1);
    let staged = play.stage(loader, staging("m", None, &[4, 2]));
    let part = staged.parts[0].tensor;
    let moving = |work: MoveWork, tensor| {
        let token = Token::random();
        RequestBody::TensorMove(TensorMove { token, tensor, offset: 0, bytes: 100, work })
    };
    assert_eq!(play.refused(other, moving(MoveWork::Zero, part)).kind, ErrorKind::Denied);
    let hash = || MoveWork::Copy { from: part, from_offset: 0 };
    let (t, _) = play.create(other, TensorCreate { zero: true, ..spec("t", 100) });
    assert_eq!(play.refused(other, moving(hash(), t.tensor)).kind, ErrorKind::Denied);
    assert!(play.try_ask(loader, moving(MoveWork::Zero, part)).is_none(), "it is under way");
    assert!(play.try_ask(loader, moving(hash(), t.tensor)).is_none());
    for body in [
        RequestBody::TensorDelete { tensor: part },
        publish(part, Token::random()),
        RequestBody::TensorGet(TensorGet {
            target: Target::Id(part),
            lease: LeaseId(1),
            mode: Mode::ReadWrite,
            wait_ms: 0,
        }),
        RequestBody::TensorCreate(TensorCreate { tensor: part, name: None, ..spec("x", 4 * MIB) }),
    ] {
        let failure = play.refused(loader, body);
        assert_eq!(failure.kind, ErrorKind::Invalid);
        assert!(failure.message.contains("m@v1"), "{failure}");
    }
    let ReplyBody::Tensors(listed) =
        play.ask(loader, RequestBody::TensorList { prefix: "".into(), page: None })
    else {
        panic!("no listing")
    };
    assert_eq!(listed.len(), 1);
    play.commit(loader, committing(staged.info.version, true));
    let failure = play.refused(loader, moving(MoveWork::Zero, part));
    assert!(failure.message.contains("can no longer change"), "{failure}");
    let pieces = MoveWork::Pieces { kind: PiecesKind::Hash, pieces: vec![], runs: vec![] };
    assert!(play.try_ask(other, moving(pieces, part)).is_none(), "everybody may hash it");
    let collect = RequestBody::Collect { unleased_for_ms: Some(0), dry_run: false };
    play.ask(loader, collect);
    assert!(play.exists(part));
}

#[test]
fn a_card_that_is_full_says_what_is_there_and_makes_nothing() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "llama", "v1", true);
    let stage = staging("m", None, &[600, 600]);
    let failure = play.refused(loader, RequestBody::VersionStage(stage));
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    assert_eq!(failure.requested_bytes, Some(1200 * MIB));
    assert_eq!(failure.free_bytes, Some(1018 * MIB));
    assert!(failure.hint.as_ref().unwrap().contains("llama@v1 6"), "{:?}", failure.hint);
    assert!(play.world.asked.is_empty());
    assert_eq!(play.slab_bytes(), 6 * MIB);
    // The driver itself fails in the middle.
    let number = play.start(loader, RequestBody::VersionStage(staging("m", None, &[2, 4, 6])));
    let asked = std::mem::take(&mut play.world.asked);
    play.pond.slab_made(&mut play.world, asked[0].0, Ok(1));
    let full = DriverFailure { out_of_memory: false, text: "no".into(), over_limit: None };
    play.pond.slab_made(&mut play.world, asked[1].0, Err(full));
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
    play.pond.slab_made(&mut play.world, asked[2].0, Ok(3));
    assert_eq!(play.slab_bytes(), 6 * MIB);
    assert!(!play.pond.models.is_making());
    play.check_held();
}

#[test]
fn a_stager_that_dies_leaves_nothing_and_current_is_untouched() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    play.load(loader, "m", "v1", true);
    let before = play.slab_bytes();
    let (stager, client) = play.client(1);
    let lease = Some(LeaseId(1));
    play.stage(stager, VersionStage { lease, ..staging("m", Some("v2"), &[40]) });
    // Another one is still being made when it dies.
    play.start(stager, RequestBody::VersionStage(staging("n", None, &[2])));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.process_gone(&mut play.world, client);
    play.pond.slab_made(&mut play.world, slab, Ok(7));
    assert_eq!(play.listed(loader), ["m@v1* ready"]);
    assert_eq!(play.slab_bytes(), before, "what a dead process could write to is not kept");
    play.check_held();
}

#[test]
fn who_waits_is_woken_by_commit_and_by_swap() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let (reader, _) = play.client(1);
    let current = play.start(reader, getting("m", 1, 1000));
    let tagged = play.start(reader, getting("m@v1", 2, 1000));
    let late = play.start(reader, getting("m@v9", 3, 1000));
    play.later(1);
    play.load(loader, "m", "v1", false);
    assert!(matches!(play.answer(tagged), Some(ReplyBody::Version(_))));
    assert!(play.answer(current).is_none());
    play.swap(loader, "m", Some("v1"));
    assert!(matches!(play.answer(current), Some(ReplyBody::Version(_))));
    play.later(999);
    let Some(ReplyBody::Failure(failure)) = play.answer(late) else { panic!("no answer") };
    assert_eq!(failure.kind, ErrorKind::Timeout);
}

#[test]
fn a_retired_stage_keeps_its_memory_for_its_stager() {
    let mut play = Play::new();
    let (stager, _) = play.client(1);
    let lease = Some(LeaseId(1));
    let staged = play.stage(stager, VersionStage { lease, ..staging("m", None, &[40]) });
    let (owner, _) = play.client(1);
    play.world.did.clear();
    assert_eq!(play.retire(owner, "m@v1"), ReplyBody::Done);
    assert!(play.world.did.contains(&Did::Bump), "its stager notices without a message");
    assert_eq!(play.slab_bytes(), 40 * MIB);
    let body = RequestBody::VersionCommit(committing(staged.info.version, true));
    let answer = play.try_ask_with(stager, body, Some(MANIFEST)).unwrap();
    assert!(matches!(answer, ReplyBody::Failure(failure) if failure.kind == ErrorKind::Retired));
    play.release(stager, 1);
    play.check_no_models();
}

#[test]
fn a_manifest_that_could_change_is_not_held() {
    let mut play = Play::new();
    let (loader, _) = play.client(1);
    let staged = play.stage(loader, staging("m", None, &[2]));
    let body = RequestBody::VersionCommit(committing(staged.info.version, true));
    let Some(ReplyBody::Failure(failure)) = play.try_ask_with(loader, body, Some(UNSEALED)) else {
        panic!("not refused")
    };
    assert_eq!(failure.kind, ErrorKind::Invalid);
    assert_eq!(play.listed(loader), ["m@v1 staging"]);
    play.check_held();
}

#[test]
fn a_user_has_so_many_versions() {
    let mut play = Play::new();
    play.cap(Resource::Versions, 1);
    play.cap(Resource::Tensors, 1);
    let (loader, _) = play.client(1);
    play.stage(loader, staging("m", None, &[2, 2]));
    play.create(loader, spec("t", 10));
    let failure = play.refused(loader, RequestBody::VersionStage(staging("n", None, &[2])));
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert!(failure.hint.unwrap().contains("limits.versions_per_user"));
}

#[test]
fn a_large_version_comes_in_several_messages() {
    let mut play = Play::new();
    play.pond.caps.tensors = 10_000;
    let (loader, _) = play.client(1);
    let staged = play.stage(loader, staging("m", None, &[2; 300]));
    play.commit(loader, committing(staged.info.version, true));
    let attached = play.attach(loader, "m", 1);
    assert_eq!((attached.slabs, attached.parts.len()), (127, 300));
    let version = staged.info.version;
    let more = |first, count, lease| RequestBody::VersionSlabs {
        version,
        lease: LeaseId(lease),
        first,
        count,
    };
    assert_eq!(play.ask(loader, more(127, 1000, 1)), ReplyBody::Slabs { first: 127, count: 128 });
    let mut largest = attached.clone();
    largest.parts.resize(millpond_wire::caps::PARTS, attached.parts[0]);
    largest.info.source = "x".repeat(millpond_wire::caps::TEXT_BYTES);
    let reply = Reply { number: 1, body: ReplyBody::Version(Box::new(largest)) };
    let bytes = reply.encode(&mut planus::Builder::new()).len();
    assert!(bytes <= millpond_wire::caps::MESSAGE_BYTES, "{bytes} bytes beside descriptors");
    assert_eq!(play.ask(loader, more(255, 1000, 1)), ReplyBody::Slabs { first: 255, count: 45 });
    assert_eq!(play.refused(loader, more(300, 1, 1)).kind, ErrorKind::Invalid);
    assert_eq!(play.refused(loader, more(0, 1, 2)).kind, ErrorKind::Invalid);
}
