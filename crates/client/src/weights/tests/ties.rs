//! Checkpoints with an embedding and a head of the same bytes.

use std::ops::ControlFlow;

use millpond_wire::manifest::slab_hash;

use super::super::UnsharedWhy;
use super::*;

const EMBED: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";
const BYTES: usize = 3 << 20;

/// A head, an embedding, and others.
fn tied(seed: u8) -> Contents {
    let mut tensors = contents(seed, &[("a", 1 << 20), (EMBED, BYTES), ("model.norm", 700)]);
    tensors.insert(HEAD.to_owned(), tensors[EMBED].clone());
    tensors
}

fn untied(seed: u8) -> Contents {
    let mut tensors = tied(seed);
    *tensors.get_mut(HEAD).unwrap().last_mut().unwrap() ^= 1;
    tensors
}

fn bytes(tensors: &Contents) -> u64 {
    tensors.values().map(|bytes| bytes.len() as u64).sum()
}

impl Scene {
    /// As [`Scene::checkpoint`], the head in another file than the embedding.
    fn of_pair(&self, name: &str, tensors: &Contents, says: Option<bool>) -> LoadSpec {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        let (mut first, mut second) = (tensors.clone(), Contents::new());
        second.extend(first.remove_entry(HEAD));
        write_file(&folder.join("one.safetensors"), &first);
        if !second.is_empty() {
            write_file(&folder.join("two.safetensors"), &second);
        }
        if let Some(said) = says {
            let text = format!(r#"{{"tie_word_embeddings": {said}}}"#);
            fs::write(folder.join("config.json"), text).unwrap();
        }
        LoadSpec::new("m").path(folder)
    }

    fn manifest(&self, loaded: &Loaded) -> Manifest {
        let world = lock(&self.world);
        let kept = world.versions.iter().find(|it| it.info.version == loaded.info.version).unwrap();
        ManifestView::open(kept.manifest.as_slice()).unwrap().to_manifest().unwrap()
    }
}

fn tie() -> Vec<(String, String)> {
    vec![(HEAD.to_owned(), EMBED.to_owned())]
}

#[test]
fn a_tied_head_is_stored_with_its_embedding() {
    let scene = scene();
    let tensors = tied(1);
    let mut seen: Vec<LoadProgress> = Vec::new();
    let spec = scene.of_pair("1", &tensors, Some(true)).slab_bytes(SLAB);
    let one = scene.pond.load(spec, |progress| seen.push(progress)).unwrap();
    let (once, pair) = (bytes(&tensors) - BYTES as u64, BYTES as u64);
    assert_eq!((one.tied.clone(), one.bytes_tied), (tie(), pair));
    assert_eq!((one.info.tensors, one.info.bytes), (4, once));
    assert_eq!(one.bytes_read, once + 2 * pair, "both were read to be compared");
    assert_eq!(one.names(), [[HEAD, EMBED]]);
    let compared = |it: &&LoadProgress| it.phase == LoadPhase::Checking && it.done == 2 * pair;
    assert_eq!(seen.iter().filter(compared).count(), 1);
    assert_eq!(seen.last().map(|last| last.total), Some(once));
    assert_eq!(scene.tensors(one.info.version), tensors);
    let manifest = scene.manifest(&one);
    let place = |name: &str| {
        let found = manifest.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        (found.slab, found.offset, found.hash)
    };
    assert_eq!(place(HEAD), place(EMBED));
    // As a version that was staged has it, each name counts in its slab's hash.
    for (index, slab) in manifest.slabs.iter().enumerate() {
        let inside = manifest.tensors.iter().filter(|tensor| tensor.slab == index);
        assert_eq!(slab.hash, slab_hash(inside.map(|tensor| tensor.hash)));
    }

    // The same is said to be untied, or nothing is said.
    for (name, says) in [("2", Some(false)), ("3", None)] {
        let spec = scene.of_pair(name, &tensors, says).like(Like::Nothing);
        let other = scene.load(spec).unwrap();
        assert_eq!((other.tied.len(), other.bytes_tied, other.names().len()), (0, 0, 0));
        assert_eq!((other.info.bytes, other.bytes_read), (bytes(&tensors), bytes(&tensors)));
        assert_eq!(other.info.content, one.info.content, "ties do not change what it is");
        assert_ne!(other.info.layout, one.info.layout);
    }
    let different = scene.of_pair("4", &untied(1), Some(true)).like(Like::Nothing);
    let different = scene.load(different).unwrap();
    assert_eq!((different.tied.len(), different.info.bytes), (0, bytes(&tensors)));
    assert_eq!(scene.tensors(different.info.version), untied(1));
}

#[test]
fn versions_that_are_tied_share_and_those_that_are_not_still_load() {
    let scene = scene();
    let first = tied(1);
    let one = scene.load(scene.of_pair("1", &first, Some(true))).unwrap();
    let mut second = first.clone();
    second.get_mut("model.norm").unwrap()[0] ^= 1;
    let two = scene.load(scene.of_pair("2", &second, Some(true)).activate(true)).unwrap();
    assert_eq!((two.unshared, two.tied), (None, tie()));
    assert_eq!(two.bytes_shared, bytes(&first) - BYTES as u64 - 700);
    assert_eq!(scene.tensors(two.info.version), second);
    assert_eq!(one.info.layout, two.info.layout);

    // One whose files lack the head has the same slabs.
    let mut lacking = second.clone();
    lacking.remove(HEAD);
    let three = scene.load(scene.of_pair("3", &lacking, Some(true)).activate(true)).unwrap();
    assert_eq!((three.unshared, three.bytes_shared), (None, bytes(&lacking)));
    assert_eq!(scene.tensors(three.info.version), lacking);

    // And back.
    let tag = |text: &str| Like::Version(VersionTag::new(text).unwrap());
    let four = scene.load(scene.of_pair("2", &second, Some(true))).unwrap();
    assert_eq!((four.unshared, four.bytes_shared), (None, bytes(&lacking)));
    assert_eq!(scene.tensors(four.info.version), second);

    // A head of its own needs another place.
    let five = scene.of_pair("5", &untied(1), Some(true)).like(tag("v2")).activate(true);
    let five = scene.load(five).unwrap();
    assert_eq!(
        five.unshared.map(|it| (it.with.to_string(), it.why)),
        Some(("v2".into(), UnsharedWhy::Ties))
    );
    assert_eq!((five.bytes_shared, five.tied.len()), (0, 0));
    assert_eq!(scene.tensors(five.info.version), untied(1));
    let six = scene.load(scene.of_pair("2", &second, Some(true))).unwrap();
    assert_eq!(six.unshared.map(|it| it.why), Some(UnsharedWhy::Ties));
    assert_eq!((six.tied.clone(), scene.tensors(six.info.version)), (tie(), second.clone()));

    // Others than those that are tied.
    second.insert("z".to_owned(), vec![1; 8]);
    let seven = scene.load(scene.of_pair("7", &second, Some(true))).unwrap();
    assert_eq!(seven.unshared.map(|it| it.why), Some(UnsharedWhy::Tensors));
}

#[test]
fn a_tied_version_is_verified_and_saved_under_both_names() {
    let scene = scene();
    let tensors = tied(3);
    scene.load(scene.of_pair("1", &tensors, Some(true))).unwrap();
    assert_eq!(scene.pond.verify("m", |_| {}).unwrap().differing.len(), 0);
    scene.pond.save("m", scene.path("out.safetensors"), SaveOptions::default(), |_| {}).unwrap();
    write_file(&scene.path("whole.safetensors"), &tensors);
    let read = |name: &str| fs::read(scene.path(name)).unwrap();
    assert_eq!(read("out.safetensors"), read("whole.safetensors"));
    let part = {
        let manifest = ManifestView::open(lock(&scene.world).versions[0].manifest.clone()).unwrap();
        manifest.find(EMBED).unwrap().unwrap()
    };
    let slab = lock(&scene.world).versions[0].parts[part.slab].tensor;
    let at = usize::try_from(part.offset).unwrap();
    lock(&scene.world).slabs.get_mut(&slab).unwrap()[at] ^= 1;
    assert_eq!(scene.pond.verify("m", |_| {}).unwrap().differing, [HEAD, EMBED]);
}

#[test]
fn what_a_comparison_meets_ends_the_load_before_any_memory_is_taken() {
    let scene = scene();
    let spec = scene.of_pair("1", &tied(1), Some(true));
    let cut = scene.path("1").join("two.safetensors");
    let heard = |progress: LoadProgress| {
        if progress.total > 0 && progress.done == 0 {
            fs::OpenOptions::new().write(true).open(&cut).unwrap().set_len(1 << 20).unwrap();
        }
    };
    let error = scene.pond.load(spec, heard).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().contains("two.safetensors"), "{error}");
    let spec = scene.of_pair("2", &tied(1), Some(true));
    let stop = |progress: LoadProgress| {
        if progress.done > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let error = scene.pond.load(spec, stop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Later);
    assert!(lock(&scene.world).versions.is_empty());
}
