//! Loads, verifications and saves against a pond in a thread that keeps slabs in vectors.

mod ties;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use millpond_weights::writer::{self, Written};
use millpond_wire::manifest::{Manifest, ManifestView};
use millpond_wire::message::{
    MoveWork, PartInfo, ReplyBody, RequestBody, TensorMove, VersionCommit, VersionGet,
    VersionGrant, VersionInfo, VersionStage, VersionState,
};
use millpond_wire::{
    Audience, Backing, ContentHash, Dtype, ErrorKind, Failure, GpuUuid, Mode, PiecesKind, Shape,
    TensorId, VersionId, VersionTag, VersionTarget, memfd,
};
use tempfile::TempDir;

use super::{Like, LoadPhase, LoadProgress, LoadSpec, Loaded, SaveOptions, temporary_name};
use crate::connection::lock;
use crate::testing::{Does, FakePond};
use crate::{Error, Plan, Pond, Result};

const SLAB: u64 = 2 << 20;

/// What the pond has.
#[derive(Default)]
struct World {
    slabs: HashMap<TensorId, Vec<u8>>,
    versions: Vec<Kept>,
    current: Option<VersionId>,
    retired: Vec<VersionId>,
    /// What the next move is answered with.
    fail_moves: Option<Failure>,
    fail_stage: Option<Failure>,
    /// Done before each load of pieces.
    meanwhile: Option<Box<dyn Fn() + Send>>,
    hashed: u64,
}

struct Kept {
    info: VersionInfo,
    parts: Vec<PartInfo>,
    manifest: Vec<u8>,
}

struct Scene {
    pond: Pond,
    fake: FakePond,
    world: Arc<Mutex<World>>,
    folder: TempDir,
}

fn scene() -> Scene {
    let world = Arc::new(Mutex::new(World::default()));
    let own = Arc::clone(&world);
    let fake = FakePond::start(move |_, request| {
        let (world, body) = (Arc::clone(&own), request.body.clone());
        match body {
            RequestBody::VersionStage(stage) => Does::Reply(lock(&world).stage(stage)),
            RequestBody::VersionRetire(VersionTarget::Id(version)) => {
                lock(&world).retired.push(version);
                Does::Reply(ReplyBody::Done)
            }
            RequestBody::VersionGet(get) => {
                let (body, fds) = lock(&world).get(&get);
                Does::ReplyWith(body, fds)
            }
            RequestBody::VersionCommit(commit) => {
                Does::With(Box::new(move |_, came| Does::Reply(lock(&world).commit(&commit, came))))
            }
            RequestBody::TensorMove(one) => {
                Does::With(Box::new(move |_, came| Does::Reply(lock(&world).pieces(&one, came))))
            }
            _ => Does::Polite,
        }
    });
    let pond = fake.builder().connect().unwrap();
    Scene { pond, fake, world, folder: tempfile::tempdir().unwrap() }
}

impl World {
    fn stage(&mut self, stage: VersionStage) -> ReplyBody {
        if let Some(failure) = self.fail_stage.take() {
            return ReplyBody::Failure(failure);
        }
        let parts: Vec<PartInfo> = stage
            .parts
            .iter()
            .map(|part| {
                let tensor = part.shared.unwrap_or_else(|| {
                    let tensor = TensorId::random();
                    self.slabs.insert(tensor, vec![0; usize::try_from(part.bytes).unwrap()]);
                    tensor
                });
                PartInfo { tensor, bytes: part.bytes, backing: Backing::default() }
            })
            .collect();
        let number = self.versions.len() as u64 + 1;
        let info = VersionInfo {
            version: stage.version,
            model: stage.model,
            tag: stage.tag.unwrap_or_else(|| VersionTag::numbered(number)),
            state: VersionState::Staging,
            device: stage.device.unwrap_or(GpuUuid([7; 16])),
            user: 1000,
            audience: stage.audience,
            bytes: 0,
            slab_bytes: parts.iter().map(|part| part.bytes).sum(),
            shared_bytes: 0,
            slabs: u32::try_from(parts.len()).unwrap(),
            tensors: 0,
            layout: None,
            content: None,
            created_unix_ms: 1,
            ready_unix_ms: None,
            readers: 0,
            current: false,
            previous: false,
            lost: false,
            source: String::new(),
            stager_pid: None,
        };
        self.versions.push(Kept { info: info.clone(), parts: parts.clone(), manifest: Vec::new() });
        ReplyBody::Version(Box::new(VersionGrant {
            info,
            parts,
            lease: None,
            manifest: false,
            slabs: 0,
        }))
    }

    fn commit(&mut self, commit: &VersionCommit, came: &[OwnedFd]) -> ReplyBody {
        let file = File::from(came[0].try_clone().unwrap());
        let bytes = file.metadata().unwrap().len();
        let kept = self.versions.iter_mut().find(|kept| kept.info.version == commit.version);
        let kept = kept.unwrap();
        kept.manifest = memfd::read_sealed(&came[0], bytes, bytes).unwrap();
        kept.info.state = VersionState::Ready;
        (kept.info.layout, kept.info.content) = (Some(commit.layout), Some(commit.content));
        (kept.info.tensors, kept.info.bytes) = (commit.tensors, commit.bytes);
        kept.info.current = commit.activate;
        kept.info.source.clone_from(&commit.source);
        if commit.activate {
            self.current = Some(commit.version);
        }
        ReplyBody::Version(Box::new(VersionGrant {
            info: kept.info.clone(),
            parts: kept.parts.clone(),
            lease: None,
            manifest: false,
            slabs: 0,
        }))
    }

    fn get(&self, get: &VersionGet) -> (ReplyBody, Vec<OwnedFd>) {
        let VersionTarget::Name(name) = &get.target else { panic!("by name") };
        let found = self.versions.iter().find(|kept| match &name.tag {
            Some(tag) => kept.info.tag == *tag,
            None => Some(kept.info.version) == self.current,
        });
        let Some(kept) = found else {
            let failure = Failure::new(ErrorKind::NotFound, format!("no version '{name}'"));
            return (ReplyBody::Failure(failure), Vec::new());
        };
        let grant = VersionGrant {
            info: kept.info.clone(),
            parts: kept.parts.clone(),
            lease: Some((get.lease, Mode::ReadOnly, [1; 16])),
            manifest: true,
            slabs: 0,
        };
        let manifest = memfd::sealed("test", &kept.manifest).unwrap();
        (ReplyBody::Version(Box::new(grant)), vec![manifest])
    }

    fn pieces(&mut self, one: &TensorMove, came: &[OwnedFd]) -> ReplyBody {
        let MoveWork::Pieces { kind, pieces, runs } = &one.work else { panic!("pieces only") };
        if let Some(failure) = &self.fail_moves {
            return ReplyBody::Failure(failure.clone());
        }
        if let (PiecesKind::Load, Some(meanwhile)) = (kind, &self.meanwhile) {
            meanwhile();
        }
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let file = came.first().map(|fd| File::from(fd.try_clone().unwrap()));
        let mut bytes = Vec::new();
        if matches!(kind, PiecesKind::Load | PiecesKind::HashFile) {
            for run in runs {
                let mut read = vec![0; size(run.bytes)];
                file.as_ref().unwrap().read_exact_at(&mut read, run.file_offset).unwrap();
                bytes.extend(read);
            }
        }
        self.hashed += if *kind == PiecesKind::HashFile { one.bytes } else { 0 };
        let slab = self.slabs.get_mut(&one.tensor).unwrap();
        let (mut hashes, mut at) = (Vec::new(), 0);
        for piece in pieces {
            let place = size(piece.offset)..size(piece.offset + piece.bytes);
            match kind {
                PiecesKind::Load => {
                    slab[place.clone()].copy_from_slice(&bytes[at..at + size(piece.bytes)]);
                    hashes.push(ContentHash::of(&slab[place]));
                }
                PiecesKind::HashFile => {
                    hashes.push(ContentHash::of(&bytes[at..at + size(piece.bytes)]));
                }
                PiecesKind::Hash | PiecesKind::Save => {
                    bytes.extend_from_slice(&slab[place.clone()]);
                    hashes.push(ContentHash::of(&slab[place]));
                }
            }
            at += size(piece.bytes);
        }
        assert_eq!(at as u64, one.bytes);
        if *kind == PiecesKind::Save {
            let mut from = 0;
            for run in runs {
                let part = &bytes[from..from + size(run.bytes)];
                file.as_ref().unwrap().write_all_at(part, run.file_offset).unwrap();
                from += size(run.bytes);
            }
        }
        ReplyBody::Moved { bytes: one.bytes, hashes }
    }
}

/// Tensors of bytes by name, with a pattern that depends on name and seed.
type Contents = BTreeMap<String, Vec<u8>>;

fn contents(seed: u8, sizes: &[(&str, usize)]) -> Contents {
    let fill = |name: &str, size: usize| {
        let first = name.bytes().fold(seed, u8::wrapping_add);
        (0..size).map(|at| first.wrapping_add(u8::try_from(at % 251).unwrap())).collect()
    };
    sizes.iter().map(|(name, size)| ((*name).to_owned(), fill(name, *size))).collect()
}

fn write_file(path: &Path, tensors: &Contents) {
    let shapes: Vec<Shape> =
        tensors.values().map(|bytes| Shape::new_or_empty([bytes.len() as u64]).unwrap()).collect();
    let written: Vec<Written<'_>> = tensors
        .keys()
        .zip(&shapes)
        .map(|(name, shape)| Written { name, dtype: Dtype::U8, shape })
        .collect();
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    let (mut file, offsets) = writer::header(&written, &metadata).unwrap();
    for (bytes, offset) in tensors.values().zip(offsets) {
        assert_eq!(file.len() as u64, offset);
        file.extend(bytes);
    }
    fs::write(path, file).unwrap();
}

const SIZES: [(&str, usize); 5] =
    [("a", 1 << 20), ("b", 700), ("c", 0), ("d", 5 << 20), ("e", (1 << 20) + 3)];

impl Scene {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Two files in a folder.
    fn checkpoint(&self, name: &str, tensors: &Contents) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        let (mut first, mut second) = (tensors.clone(), Contents::new());
        for name in ["a", "e"] {
            second.extend(first.remove_entry(name));
        }
        write_file(&folder.join("one.safetensors"), &first);
        write_file(&folder.join("two.safetensors"), &second);
        folder
    }

    fn load(&self, spec: LoadSpec) -> Result<Loaded> {
        self.pond.load(spec.slab_bytes(SLAB), |_| {})
    }

    /// A version's tensors, read from its slabs where the manifest says they are.
    fn tensors(&self, version: VersionId) -> Contents {
        let world = lock(&self.world);
        let kept = world.versions.iter().find(|kept| kept.info.version == version).unwrap();
        let view = ManifestView::open(kept.manifest.as_slice()).unwrap();
        let manifest: Manifest = view.to_manifest().unwrap();
        let read = |tensor: &millpond_wire::manifest::ManifestTensor| {
            let slab = &world.slabs[&kept.parts[tensor.slab].tensor];
            let at = usize::try_from(tensor.offset).unwrap();
            (tensor.name.clone(), slab[at..at + usize::try_from(tensor.bytes).unwrap()].to_vec())
        };
        manifest.tensors.iter().map(read).collect()
    }
}

#[test]
fn a_first_version_is_loaded_committed_and_current() {
    let scene = scene();
    let tensors = contents(1, &SIZES);
    let path = scene.checkpoint("ckpt", &tensors);
    let mut seen: Vec<LoadProgress> = Vec::new();
    let spec = LoadSpec::new("llama").path(&path).slab_bytes(SLAB).audience(Audience::Group);
    let loaded = scene.pond.load(spec, |progress| seen.push(progress)).unwrap();
    let total: u64 = tensors.values().map(|bytes| bytes.len() as u64).sum();
    assert_eq!((loaded.bytes_read, loaded.bytes_shared, loaded.cold), (total, 0, false));
    let info = &loaded.info;
    assert!(info.current && info.state == VersionState::Ready && info.slabs == 3);
    assert_eq!((info.tensors, info.bytes, info.audience), (5, total, Audience::Group));
    assert_eq!(info.source, path.display().to_string());
    assert_eq!(scene.tensors(info.version), tensors);
    assert!(lock(&scene.world).retired.is_empty());
    let last = seen.last().unwrap();
    assert_eq!((last.phase, last.done, last.total), (LoadPhase::Loading, total, total));
    assert!(last.gigabytes_per_second > 0.0 && seen[0].phase == LoadPhase::Checking);
    assert!(seen.iter().all(|one| one.phase != LoadPhase::Hashing));
}

#[test]
fn slabs_with_equal_bytes_are_shared_and_others_are_not() {
    let scene = scene();
    let first = contents(1, &SIZES);
    let one = scene.load(LoadSpec::new("m").path(scene.checkpoint("1", &first))).unwrap();
    let mut second = first.clone();
    *second.get_mut("d").unwrap().last_mut().unwrap() ^= 1;
    let two = scene.load(LoadSpec::new("m").path(scene.checkpoint("2", &second))).unwrap();
    assert!(!two.info.current, "only a first version is by itself");
    assert_eq!(scene.tensors(two.info.version), second);
    assert_eq!(scene.tensors(one.info.version), first);
    let world = lock(&scene.world);
    let shared: Vec<bool> = world.versions[0]
        .parts
        .iter()
        .zip(&world.versions[1].parts)
        .map(|(one, two)| one.tensor == two.tensor)
        .collect();
    assert_eq!(shared, [true, false, true]);
    let equal = ((1 << 20) + 700 + (1 << 20) + 3) as u64;
    assert_eq!((two.bytes_shared, world.hashed), (equal, equal + (5 << 20)));
    assert_eq!(two.bytes_read, world.hashed + (5 << 20));
    assert_ne!(one.info.content, two.info.content);
    assert_eq!(one.info.layout, two.info.layout);
    drop(world);

    // By tag, and with nobody.
    let tag = VersionTag::new("v2").unwrap();
    let spec = LoadSpec::new("m").path(scene.path("2")).like(Like::Version(tag));
    let three = scene.load(spec).unwrap();
    assert_eq!(three.bytes_shared, second.values().map(|bytes| bytes.len() as u64).sum::<u64>());
    assert_eq!(three.info.content, two.info.content);
    let spec = LoadSpec::new("m").path(scene.path("2")).like(Like::Nothing).activate(true);
    let four = scene.load(spec).unwrap();
    assert_eq!((four.bytes_shared, four.info.current), (0, true));
    assert_eq!(four.info.content, two.info.content);
    let other = GpuUuid([9; 16]);
    let five = scene.load(LoadSpec::new("m").path(scene.path("2")).device(other)).unwrap();
    assert_eq!((five.bytes_shared, five.info.device), (0, other), "another GPU's memory");
    // What was to be shared went meanwhile.
    lock(&scene.world).fail_stage = Some(Failure::new(ErrorKind::Retired, "it drains"));
    let six = scene.load(LoadSpec::new("m").path(scene.path("2"))).unwrap();
    assert_eq!((six.bytes_shared, six.info.content), (0, two.info.content));
    assert_eq!(scene.tensors(six.info.version), second);
    let wider = LoadSpec::new("m").path(scene.path("2")).audience(Audience::Everybody);
    assert_eq!(scene.load(wider).unwrap().bytes_shared, 0, "not what is for fewer people");
    let none = VersionTag::new("none-such").unwrap();
    let spec = LoadSpec::new("m").path(scene.path("2")).like(Like::Version(none));
    assert_eq!(scene.load(spec).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn what_fails_leaves_nothing() {
    let scene = scene();
    let path = scene.checkpoint("ckpt", &contents(1, &SIZES));
    let spec = || LoadSpec::new("m").path(&path);
    let full = Failure {
        free_bytes: Some(5),
        ..Failure::new(ErrorKind::GpuFull, "full").hint("retire something")
    };
    lock(&scene.world).fail_stage = Some(full.clone());
    let error = scene.load(spec()).unwrap_err();
    assert_eq!(error.failure(), Some(&full));
    assert!(lock(&scene.world).retired.is_empty(), "nothing was begun");

    lock(&scene.world).fail_moves = Some(Failure::new(ErrorKind::File, "a disk is broken"));
    let error = scene.load(spec()).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::File, "a disk is broken"));
    let staged = lock(&scene.world).versions[0].info.version;
    assert_eq!(lock(&scene.world).retired, [staged]);

    lock(&scene.world).fail_moves = None;
    let changed = path.join("two.safetensors");
    let touch = changed.clone();
    lock(&scene.world).meanwhile = Some(Box::new(move || {
        let old = fs::read(&touch).unwrap();
        fs::write(&touch, old).unwrap();
    }));
    let error = scene.load(spec()).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("two.safetensors") && said.contains("changed while it was read"),
        "{said}"
    );
    assert_eq!(lock(&scene.world).retired.len(), 2);
    assert!(
        scene.fake.seen().iter().all(|(_, body)| !matches!(body, RequestBody::VersionCommit(_)))
    );
}

#[test]
fn bad_input_is_refused_before_anything_is_asked() {
    let scene = scene();
    let path = scene.checkpoint("ckpt", &contents(1, &SIZES));
    let kind = |spec: LoadSpec| scene.load(spec).unwrap_err().kind();
    assert_eq!(kind(LoadSpec::new("a@b").path(&path)), ErrorKind::Invalid);
    assert_eq!(kind(LoadSpec::new("m").path(scene.path("nothing"))), ErrorKind::File);
    fs::write(scene.path("junk.safetensors"), b"not a checkpoint").unwrap();
    assert_eq!(kind(LoadSpec::new("m").path(scene.path("junk.safetensors"))), ErrorKind::File);
    let skip = Plan::parse(r#"{"otherwise": "skip"}"#).unwrap();
    assert_eq!(kind(LoadSpec::new("m").path(&path).plan(skip)), ErrorKind::Invalid);
    assert!(lock(&scene.world).versions.is_empty());
}

#[test]
fn a_plan_takes_a_part() {
    let scene = scene();
    let tensors = contents(1, &SIZES);
    let path = scene.checkpoint("ckpt", &tensors);
    let plan = r#"{"rank": 1, "world": 2, "otherwise": "skip",
                   "rules": [{"match": "[ab]", "split": "column"}]}"#;
    let spec = LoadSpec::new("m").path(path).plan(Plan::parse(plan).unwrap());
    let loaded = scene.load(spec).unwrap();
    let half = |name: &str| (name.to_owned(), tensors[name][tensors[name].len() / 2..].to_vec());
    assert_eq!(scene.tensors(loaded.info.version), Contents::from([half("a"), half("b")]));
}

#[test]
fn a_byte_that_differs_is_found_and_is_not_saved() {
    let scene = scene();
    let tensors = contents(1, &SIZES);
    let loaded = scene.load(LoadSpec::new("m").path(scene.checkpoint("ckpt", &tensors))).unwrap();
    let fine = scene.pond.verify("m", |_| {}).unwrap();
    assert_eq!((fine.differing.len(), fine.bytes), (0, loaded.info.bytes));
    let part = lock(&scene.world).versions[0].parts[1].tensor;
    lock(&scene.world).slabs.get_mut(&part).unwrap()[(5 << 20) - 1] ^= 1;
    let mut last = None;
    let bad = scene.pond.verify("m@v1", |progress| last = Some(progress)).unwrap();
    assert_eq!(bad.differing, ["d"]);
    assert_eq!(last.map(|last| (last.done, last.total)), Some((bad.bytes, bad.bytes)));
    let error =
        scene.pond.save("m", scene.path("out"), SaveOptions::default(), |_| {}).unwrap_err();
    assert!(error.kind() == ErrorKind::Lost && error.to_string().contains("'d' of m@v1"));
    let left: Vec<_> = fs::read_dir(scene.folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_is_saved_is_what_was_loaded() {
    let scene = scene();
    let tensors = contents(1, &SIZES);
    write_file(&scene.path("in.safetensors"), &tensors);
    scene.load(LoadSpec::new("m").path(scene.path("in.safetensors"))).unwrap();
    let save = |name: &str, options| scene.pond.save("m", scene.path(name), options, |_| {});
    let one = SaveOptions::default();
    let saved = save("out.safetensors", one).unwrap();
    assert_eq!(saved.files, [scene.path("out.safetensors")]);
    let read = |name: &str| fs::read(scene.path(name)).unwrap();
    assert_eq!(read("out.safetensors"), read("in.safetensors"));

    let shards = SaveOptions { shard_bytes: Some(2 << 20), force: false };
    assert_eq!(save("x.safetensors", shards).unwrap_err().kind(), ErrorKind::Invalid);
    let saved = save("out", shards).unwrap();
    assert_eq!(saved.files.len(), 4);
    assert!(saved.files[3].ends_with("model.safetensors.index.json"));
    let again = scene.load(LoadSpec::new("m").path(scene.path("out"))).unwrap();
    assert_eq!(
        (scene.tensors(again.info.version), again.info.bytes),
        (tensors, again.bytes_shared)
    );

    for (name, options) in [("out.safetensors", one), ("out", shards)] {
        let error = save(name, options).unwrap_err();
        let there = Some(std::io::ErrorKind::AlreadyExists);
        assert!(matches!(&error, Error::File { reason, .. } if *reason == there), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("--force")));
        fs::write(scene.path("out").join("README"), "stays").unwrap();
        save(name, SaveOptions { force: true, ..options }).unwrap();
    }
    assert_eq!(read("out.safetensors"), read("in.safetensors"));
    assert_eq!(read("out/README"), b"stays");
    let single = save("single", one).unwrap();
    assert_eq!(single.files, [scene.path("single/model.safetensors")]);
    let names = fs::read_dir(scene.folder.path()).unwrap().flatten();
    assert!(names.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("part")));
}

#[test]
fn a_folder_that_is_saved_into_by_force_means_what_was_saved() {
    let scene = scene();
    let load = |name: &str| scene.load(LoadSpec::new("m").path(scene.path(name)).activate(true));
    let save = |options| scene.pond.save("m", scene.path("out"), options, |_| {}).unwrap();
    for seed in [1, 2] {
        write_file(&scene.path("in.safetensors"), &contents(seed, &SIZES));
        load("in.safetensors").unwrap();
        let shard_bytes = (seed == 1).then_some(2 << 20);
        let saved = save(SaveOptions { shard_bytes, force: seed == 2 });
        let again = load("out").unwrap();
        assert_eq!(scene.tensors(again.info.version), contents(seed, &SIZES));
        assert!(saved.files.last().unwrap().ends_with(writer::INDEX_NAME), "{saved:?}");
    }
}

/// Others look for `model.safetensors` first and load it where it is, whatever an index says.
#[test]
fn shards_do_not_leave_an_older_single_file_beside_them() {
    let scene = scene();
    let save = |shard_bytes, force| {
        scene.pond.save("m", scene.path("out"), SaveOptions { shard_bytes, force }, |_| {})
    };
    let load = |seed| {
        write_file(&scene.path("in.safetensors"), &contents(seed, &SIZES));
        let spec = LoadSpec::new("m").path(scene.path("in.safetensors")).activate(true);
        scene.load(spec).unwrap();
    };
    load(1);
    let single = scene.path("out").join(writer::SINGLE_NAME);
    assert_eq!(save(None, false).unwrap().files, [single.as_path()]);
    fs::write(scene.path("out/config.json"), "stays").unwrap();
    load(2);
    let shards = save(Some(2 << 20), true).unwrap().files;
    assert!(shards.len() > 2 && shards.iter().all(|file| file.exists()), "{shards:?}");
    assert!(!single.exists() && scene.path("out/config.json").exists());
    let again = scene.load(LoadSpec::new("again").path(scene.path("out"))).unwrap();
    assert_eq!(scene.tensors(again.info.version), contents(2, &SIZES));
    // One file takes the place of the shards: it is what is looked for first.
    load(3);
    assert!(save(None, true).unwrap().files.contains(&single) && single.exists());
    // A folder of that name is no file that anybody loads.
    fs::remove_file(&single).unwrap();
    fs::create_dir(&single).unwrap();
    save(Some(2 << 20), true).unwrap();
    assert!(single.is_dir());
}

/// The number of no process: no kernel gives one that high.
const NO_PROCESS: &str = "4294967295";

#[test]
fn a_save_has_no_name_before_its_end_and_removes_what_killed_ones_left() {
    let scene = scene();
    write_file(&scene.path("in.safetensors"), &contents(1, &SIZES));
    scene.load(LoadSpec::new("m").path(scene.path("in.safetensors"))).unwrap();
    let parts = || {
        let names = fs::read_dir(scene.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.ends_with(".part"));
        names
    };
    for (name, shard_bytes) in [("out.safetensors", None), ("out", None), ("out", Some(2 << 20))] {
        let left = scene.path(&format!(".{name}.{NO_PROCESS}.part"));
        let other = scene.path(&format!(".other-{name}.{NO_PROCESS}.part"));
        let busy = scene.path(&format!(".{name}.4294967294.part"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("shard"), "half").unwrap();
        fs::write(&other, "not of this name").unwrap();
        fs::write(&busy, "of a process that is not to be seen").unwrap();
        let lives = fs::File::open(&busy).unwrap();
        rustix::fs::flock(&lives, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let mut seen = Vec::new();
        let options = SaveOptions { force: true, shard_bytes };
        scene.pond.save("m", scene.path(name), options, |_| seen.push(parts())).unwrap();
        assert!(!left.exists() && other.exists() && busy.exists(), "{name}");
        assert!(!seen.is_empty() && seen.iter().all(|names| names.len() == 2), "{name}: {seen:?}");
        assert_eq!(parts().len(), 2, "{name}");
        fs::remove_file(other).unwrap();
        fs::remove_file(busy).unwrap();
    }
}

#[test]
fn a_save_that_runs_is_not_disturbed_by_another_one_to_the_same_place() {
    let scene = scene();
    write_file(&scene.path("in.safetensors"), &contents(1, &SIZES));
    scene.load(LoadSpec::new("m").path(scene.path("in.safetensors"))).unwrap();
    for (name, is_file) in [("out.safetensors", true), ("out", false)] {
        let others = temporary_name(&scene.path(name));
        if is_file { fs::write(&others, "") } else { fs::create_dir(&others) }.unwrap();
        let refused = scene.pond.save("m", scene.path(name), SaveOptions::default(), |_| {});
        let refused = refused.unwrap_err();
        assert!(refused.to_string().ends_with("is already being saved"), "{refused}");
        assert!(others.exists(), "{}", others.display());
    }
    let long = |end: &str| temporary_name(&scene.path(&format!("{}{end}", "x".repeat(60))));
    assert_ne!(long("a.safetensors"), long("b.safetensors"));
}
