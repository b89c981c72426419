//! Versions that are written, against a pond in a thread.

use std::time::Duration;

use millpond_wire::manifest::ManifestView;
use millpond_wire::message::{RequestBody, VersionStage};
use millpond_wire::{Audience, ContentHash, ErrorKind, LeaseTarget, VersionState, VersionTarget};

use crate::connection::lock;
use crate::testing::{FakeModels, SLAB, manifest_of};
use crate::{Dtype, Error, StageSpec, process};

const SECOND: Duration = Duration::from_secs(5);

fn stages(models: &FakeModels) -> Vec<VersionStage> {
    let seen = models.pond.seen().into_iter();
    let stages = seen.filter_map(|(_, body)| match body {
        RequestBody::VersionStage(stage) => Some(stage),
        _ => None,
    });
    stages.collect()
}

fn retired(models: &FakeModels) -> Vec<VersionTarget> {
    let seen = models.pond.seen().into_iter();
    let retired = seen.filter_map(|(_, body)| match body {
        RequestBody::VersionRetire(target) => Some(target),
        _ => None,
    });
    retired.collect()
}

fn spec() -> StageSpec {
    StageSpec::new("m").tag("v2").like("m@v1")
}

#[test]
fn only_slabs_that_are_written_become_its_own() {
    let models = FakeModels::new();
    let first = models.add("v1", &[1, 2, 3]);
    lock(&models.state).versions[0].info.audience = Audience::Group;
    let pond = models.connect();
    let mut staging = pond.stage(spec()).unwrap();
    assert_eq!(staging.names().len(), 6);
    assert_eq!(staging.tag().as_str(), "v2");
    let stage = stages(&models).remove(0);
    assert!(stage.parts.iter().all(|part| part.shared.is_some() && part.bytes == SLAB));
    assert_eq!((stage.version, stage.audience), (staging.version(), Audience::Group));

    let tensor = staging.tensor_mut("t0001.b").unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [2; 1000], "what was there is there");
    tensor.copy_from_host(10, b"pond").unwrap();
    let neighbour = staging.tensor_mut("t0001.a").unwrap();
    neighbour.fill(8).unwrap();
    let is_part = |body: &RequestBody| matches!(body, RequestBody::VersionPart { .. });
    assert_eq!(models.count(is_part), 1, "one slab, once");
    assert_eq!(neighbour.device_ptr().0 + 256, tensor.device_ptr().0);
    let missing = staging.tensor_mut("t9").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);

    let version = staging.version();
    let info = staging.commit(true).unwrap();
    assert_eq!((info.version, info.state, info.tensors), (version, VersionState::Ready, 6));
    assert_eq!(lock(&models.state).current, Some(version));
    // The content is that of the bytes, wherever they came from.
    let mut expected = manifest_of(&[1, 8, 3]);
    let mut bytes = vec![2; 1000];
    bytes[10..14].copy_from_slice(b"pond");
    expected.tensors[3].hash = ContentHash::of(&bytes);
    assert_eq!(info.content, Some(expected.content_hash()));
    assert_eq!(info.layout, lock(&models.state).versions[0].info.layout);
    // The other version has what it had.
    assert_eq!(models.bytes_of(first, 1, (256, 1000)), [2; 1000]);
    assert_eq!(models.bytes_of(version, 1, (256, 14)), &bytes[..14]);
    assert_eq!(retired(&models), []);

    let late = tensor.fill(0).unwrap_err();
    assert!(matches!(late, Error::ReadOnly { .. }), "{late}");
    assert!(neighbour.copy_from_host(0, b"x").is_err());
    drop((tensor, neighbour));
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(pond.live_leases(), 0, "neither on the version nor on the one it was like");
}

#[test]
fn a_version_from_nothing_is_laid_out_and_hashed() {
    let models = FakeModels::new();
    let pond = models.connect();
    let tensors = [
        ("w".to_owned(), Dtype::F32, vec![4, 8]),
        ("b".to_owned(), Dtype::U8, vec![1000]),
        ("empty".to_owned(), Dtype::U8, vec![0]),
    ];
    let spec = StageSpec::new("m").tensors(tensors).source("a trainer");
    let mut staging = pond.stage(spec).unwrap();
    assert_eq!(staging.names(), ["b", "empty", "w"]);
    assert_eq!(stages(&models)[0].parts.len(), 1);
    staging.tensor_mut("w").unwrap().fill(3).unwrap();
    staging.tensor_mut("b").unwrap().fill(4).unwrap();
    assert!(staging.tensor_mut("empty").unwrap().to_vec().unwrap().is_empty());
    let version = staging.version();
    let info = staging.commit(false).unwrap();
    assert_eq!((info.tensors, info.bytes), (3, 1128));
    let committed = models.manifest_of(version);
    let view = ManifestView::open(committed).unwrap();
    assert_eq!(view.content_hash().unwrap(), info.content.unwrap());
    assert_eq!(view.layout_hash().unwrap(), info.layout.unwrap());
    assert_eq!(view.find("w").unwrap().unwrap().hash, ContentHash::of(&[3; 128]));
    assert_eq!(view.find("empty").unwrap().unwrap().hash, ContentHash::of(&[]));
    assert_eq!(view.source().unwrap(), "a trainer");
    // And it can be attached.
    let model = pond.attach(version).unwrap();
    assert_eq!(model.tensor("b").unwrap().to_vec().unwrap(), [4; 1000]);
}

#[test]
fn a_large_tensor_is_hashed_in_pieces() {
    let models = FakeModels::new();
    lock(&models.state).slab_bytes = 10 << 20;
    let pond = models.connect();
    let bytes: Vec<u8> = (0..9 << 20).map(|index: u32| index.to_le_bytes()[1]).collect();
    let tensors = [("w".to_owned(), Dtype::U8, vec![bytes.len() as u64])];
    let mut staging = pond.stage(StageSpec::new("m").tensors(tensors)).unwrap();
    staging.tensor_mut("w").unwrap().copy_from_host(0, &bytes).unwrap();
    let version = staging.version();
    staging.commit(false).unwrap();
    let pieces: Vec<ContentHash> = bytes.chunks(4 << 20).map(ContentHash::of).collect();
    let view = ManifestView::open(models.manifest_of(version)).unwrap();
    assert_eq!(view.get(0).unwrap().hash, ContentHash::of_parts(&pieces));
}

#[test]
fn what_is_dropped_is_given_up() {
    let models = FakeModels::new();
    models.add("v1", &[1]);
    let pond = models.connect();
    let mut staging = pond.stage(spec()).unwrap();
    let tensor = staging.tensor_mut("t0000.a").unwrap();
    let version = staging.version();
    drop(staging);
    assert_eq!(retired(&models), [VersionTarget::Id(version)]);
    assert_eq!(tensor.to_vec().unwrap(), [1; 128], "it is mapped as long as a view is there");
    assert_eq!(pond.live_leases(), 1);
    drop(tensor);
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(pond.live_leases(), 0);
}

#[test]
fn a_commit_that_fails_leaves_nothing() {
    for (what, kind) in [("move", ErrorKind::Denied), ("commit", ErrorKind::Invalid)] {
        let models = FakeModels::new();
        models.add("v1", &[1]);
        let pond = models.connect();
        let mut staging = pond.stage(spec()).unwrap();
        staging.tensor_mut("t0000.a").unwrap().fill(9).unwrap();
        let version = staging.version();
        lock(&models.state).fail.insert(what, kind);
        assert_eq!(staging.commit(true).unwrap_err().kind(), kind);
        assert_eq!(retired(&models), [VersionTarget::Id(version)]);
        assert!(pond.flush(SECOND).unwrap());
        assert_eq!(pond.live_leases(), 0);
    }
}

#[test]
fn a_slab_whose_copy_failed_is_copied_again_and_not_committed_without() {
    let models = FakeModels::new();
    models.add("v1", &[6, 7]);
    let pond = models.connect();
    let mut staging = pond.stage(spec()).unwrap();
    lock(&models.state).fail.insert("move", ErrorKind::Denied);
    assert_eq!(staging.tensor_mut("t0001.a").unwrap_err().kind(), ErrorKind::Denied);
    lock(&models.state).fail.clear();
    assert_eq!(staging.tensor_mut("t0001.a").unwrap().to_vec().unwrap(), [7; 128]);
    let is_part = |body: &RequestBody| matches!(body, RequestBody::VersionPart { .. });
    assert_eq!(models.count(is_part), 1);
    staging.commit(false).unwrap();

    let mut staging = pond.stage(spec().tag("v3")).unwrap();
    lock(&models.state).fail.insert("move", ErrorKind::Denied);
    staging.tensor_mut("t0001.a").unwrap_err();
    let error = staging.commit(false).unwrap_err();
    assert!(error.to_string().contains("'m@v3'"), "{error}");
    assert_eq!(retired(&models).len(), 1);
}

#[test]
fn a_refusal_gives_back_the_lease_on_the_other_version() {
    let models = FakeModels::new();
    models.add("v1", &[1]);
    lock(&models.state).fail.insert("stage", ErrorKind::Exists);
    let pond = models.connect();
    assert_eq!(pond.stage(spec()).unwrap_err().kind(), ErrorKind::Exists);
    assert_eq!(pond.live_leases(), 0);
    assert_eq!(retired(&models), [], "it never began");
    let nothing = pond.stage(StageSpec::new("m")).unwrap_err();
    assert!(nothing.hint().unwrap().contains(".like"), "{nothing}");
    assert!(pond.stage(StageSpec::new("m@v1").like("m")).is_err());
    let twice = ["x", "x"].map(|name| (name.to_owned(), Dtype::U8, vec![1]));
    let error = pond.stage(StageSpec::new("m").tensors(twice)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn a_slab_that_cannot_be_mapped_gives_up_what_began() {
    let models = FakeModels::new();
    lock(&models.state).bad_fds = true;
    let pond = models.connect();
    let tensors = [("w".to_owned(), Dtype::U8, vec![8])];
    let error = pond.stage(StageSpec::new("m").tensors(tensors)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Driver);
    assert_eq!(retired(&models), [VersionTarget::Id(stages(&models)[0].version)]);
    assert_eq!(pond.live_leases(), 0);
}

#[test]
fn a_restart_claims_what_is_staged_and_a_forked_child_gives_up_nothing() {
    let models = FakeModels::new();
    models.add("v1", &[1]);
    let pond = models.connect();
    let mut staging = pond.stage(spec()).unwrap();
    let version = LeaseTarget::Version(staging.version());
    models.pond.hang_up();
    models.pond.wait_for(|number, body| match body {
        RequestBody::Claim(claim) => {
            number == 1 && claim.leases.iter().any(|one| one.target == version)
        }
        _ => false,
    });
    staging.tensor_mut("t0000.a").unwrap().fill(2).unwrap();
    let child = process::pretend(u32::MAX);
    assert!(matches!(staging.tensor_mut("t0000.a"), Err(Error::Forked { .. })));
    drop(staging);
    drop(child);
    assert_eq!(retired(&models), []);
}

#[test]
fn tied_tensors_are_stored_once_under_both_names() {
    let models = FakeModels::new();
    let pond = models.connect();
    let spec = |ties: &[(&str, &str)]| {
        let tensors =
            [("embed", 64), ("norm", 8)].map(|(name, n)| (name.to_owned(), Dtype::F32, vec![n, 8]));
        let spec = StageSpec::new("m").tag("v1").tensors(tensors);
        ties.iter().fold(spec, |spec, (name, to)| spec.tied(*name, *to))
    };
    let mut staging = pond.stage(spec(&[("a.head", "embed"), ("head", "embed")])).unwrap();
    assert_eq!(staging.names(), ["a.head", "embed", "head", "norm"]);
    staging.tensor_mut("norm").unwrap().fill(1).unwrap();
    staging.tensor_mut("head").unwrap().fill(7).unwrap();
    let embed = staging.tensor_mut("embed").unwrap();
    assert_eq!(embed.to_vec().unwrap(), [7; 64 * 8 * 4]);
    assert_eq!(embed.device_ptr(), staging.tensor_mut("a.head").unwrap().device_ptr());
    let info = staging.commit(true).unwrap();
    assert_eq!((info.tensors, info.bytes), (4, (64 + 8) * 8 * 4), "each byte counts once");
    let model = pond.attach("m").unwrap();
    let hash = model.tensor("embed").unwrap().hash();
    assert_eq!(hash, ContentHash::of(&[7; 64 * 8 * 4]));
    assert_eq!(model.tensor("head").unwrap().hash(), hash);
    assert_eq!(model.tensor("head").unwrap().shape().dims(), [64, 8]);
    assert_eq!(
        model.tensor("a.head").unwrap().device_ptr(),
        model.tensor("embed").unwrap().device_ptr()
    );
    drop((embed, model));

    for (ties, word) in [
        (&[("head", "norm2")][..], "norm2"),
        (&[("head", "embed"), ("tail", "head")], "no tensor of its own"),
        (&[("embed", "norm")], "twice"),
        (&[("head", "embed"), ("head", "norm")], "twice"),
        (&[("", "embed")], "name"),
    ] {
        let error = pond.stage(spec(ties)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(word), "{error}");
    }
    let error = pond.stage(StageSpec::new("m").like("m@v1").tied("x", "embed")).unwrap_err();
    assert!(error.to_string().contains("ties"), "{error}");
}
