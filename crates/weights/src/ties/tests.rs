use std::fs;
use std::path::PathBuf;

use millpond_wire::Dtype;
use tempfile::TempDir;

use super::*;
use crate::Plan;
use crate::writer::{self, Written};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn says(self, config: &str) -> Self {
        fs::write(self.0.path().join("config.json"), config).unwrap();
        self
    }

    fn tied() -> Self {
        Self::new().says(r#"{"tie_word_embeddings": true}"#)
    }

    /// A file with tensors of rows of 4 bytes.
    fn file(&self, name: &str, tensors: &[(&str, &[u8])]) -> PathBuf {
        let shapes: Vec<_> = tensors
            .iter()
            .map(|(_, bytes)| {
                let rows = bytes.len() as u64 / 4;
                millpond_wire::Shape::new_or_empty([rows, 4]).unwrap()
            })
            .collect();
        let written: Vec<Written<'_>> = tensors
            .iter()
            .zip(&shapes)
            .map(|((name, _), shape)| Written { name, dtype: Dtype::U8, shape })
            .collect();
        let (mut file, offsets) = writer::header(&written, &Default::default()).unwrap();
        for ((_, bytes), offset) in tensors.iter().zip(offsets) {
            let end = usize::try_from(offset).unwrap() + bytes.len();
            file.resize(file.len().max(end), 0);
            file[end - bytes.len()..end].copy_from_slice(bytes);
        }
        let path = self.0.path().join(name);
        fs::write(&path, file).unwrap();
        path
    }
}

/// The names of pairs, and whether each is equal.
fn found(paths: &[PathBuf], plan: &Plan) -> Vec<(String, String, bool)> {
    let checkpoint = Checkpoint::open(paths).unwrap();
    let planned = plan.apply(&checkpoint).unwrap();
    let name = |at: usize| planned[at].name.clone();
    let equal = |pair: &Pair| {
        let stretches: Vec<_> = pair.stretches(&checkpoint, &planned).collect();
        assert_eq!(stretches.iter().map(|one| one.bytes).sum::<u64>(), pair.bytes);
        stretches.iter().all(|one| one.is_equal().unwrap())
    };
    let pairs = pairs(&checkpoint, &planned);
    pairs.iter().map(|pair| (name(pair.head), name(pair.embedding), equal(pair))).collect()
}

fn pair(equal: bool) -> Vec<(String, String, bool)> {
    vec![("lm_head.weight".to_owned(), "model.embed_tokens.weight".to_owned(), equal)]
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

#[test]
fn a_pair_is_found_in_one_file_and_across_files_and_compared_to_its_last_byte() {
    let folder = Folder::tied();
    let everything = Plan::everything();
    // More than a first look, a buffer and a stretch.
    let same = bytes((17 << 20) + 4);
    let one = folder.file("a", &[("lm_head.weight", &same), ("model.embed_tokens.weight", &same)]);
    assert_eq!(found(&[one], &everything), pair(true));
    for at in [0, 64 << 10, 9 << 20, same.len() - 1] {
        let mut other = same.clone();
        other[at] ^= 1;
        let head = folder.file("head", &[("x", b"1234"), ("lm_head.weight", &other)]);
        let embedding = folder.file("embedding", &[("model.embed_tokens.weight", &same)]);
        assert_eq!(found(&[head, embedding], &everything), pair(false), "{at}");
    }
    let head = folder.file("head", &[("x", b"1234"), ("lm_head.weight", &same)]);
    assert_eq!(found(&[head, folder.0.path().join("embedding")], &everything), pair(true));
}

#[test]
fn tensors_that_are_no_pair_are_not_compared() {
    let folder = Folder::tied();
    let everything = Plan::everything();
    for (tensors, why) in [
        (
            &[("lm_head.weight", b"12345678"), ("model.norm.weight", b"12345678")][..],
            "no embedding",
        ),
        (&[("model.embed_tokens.weight", b"12345678")], "no head"),
        (&[("my_lm_head.weight", b"12345678"), ("wte.weight", b"12345678")], "another word"),
        (&[("lm_head.weight.scale", b"12345678"), ("wte.weight", b"12345678")], "an end only"),
    ] {
        let tensors: Vec<(&str, &[u8])> =
            tensors.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        assert_eq!(found(&[folder.file("a", &tensors)], &everything), [], "{why}");
    }
    let shapes: &[(&str, &[u8])] = &[("lm_head.weight", b"1234"), ("wte.weight", b"12345678")];
    assert_eq!(found(&[folder.file("a", shapes)], &everything), []);
    let empty: &[(&str, &[u8])] = &[("lm_head.weight", b""), ("wte.weight", b"")];
    assert_eq!(found(&[folder.file("a", empty)], &everything), []);
    let tensors: &[(&str, &[u8])] = &[("lm_head.weight", b"1234"), ("wte.weight", b"1234")];
    let here = folder.file("a", tensors);
    assert_eq!(found(std::slice::from_ref(&here), &everything).len(), 1);
    for other in [Folder::new(), Folder::new().says(r#"{"tie_word_embeddings": false}"#)] {
        assert_eq!(found(&[other.file("a", tensors)], &everything), [], "nothing says so");
        // One half of it is from a model that is not tied.
        let half = other.file("b", &tensors[1..]);
        let own = folder.file("c", &tensors[..1]);
        assert_eq!(found(&[own, half], &everything), []);
    }
}

#[test]
fn what_a_rank_takes_is_what_is_compared() {
    let folder = Folder::tied();
    let same = bytes(64);
    let mut other = same.clone();
    // In the last row.
    other[63] ^= 1;
    let path =
        folder.file("a", &[("lm_head.weight", &other), ("model.embed_tokens.weight", &same)]);
    let plan = |rank: u8, split: &str| {
        let text = format!(
            r#"{{"rank": {rank}, "world": 2, "rules": [{{"match": "*", "split": "{split}"}}]}}"#
        );
        Plan::parse(&text).unwrap()
    };
    let path = [path];
    assert_eq!(found(&path, &plan(0, "column")), pair(true));
    assert_eq!(found(&path, &plan(1, "column")), pair(false));
    // Two bytes of each row.
    assert_eq!(found(&path, &plan(0, "row")), pair(true));
    assert_eq!(found(&path, &plan(1, "row")), pair(false));
    let cut = r#"{"world": 2, "rules": [{"match": "lm_head*", "split": "column"}]}"#;
    assert_eq!(found(&path, &Plan::parse(cut).unwrap()), [], "other shapes");
}

#[test]
fn a_file_that_ends_early_is_an_error_with_its_name() {
    let folder = Folder::tied();
    let same = bytes(1 << 20);
    let path = folder.file("a", &[("lm_head.weight", &same), ("wte.weight", &same)]);
    let checkpoint = Checkpoint::open(std::slice::from_ref(&path)).unwrap();
    let planned = Plan::everything().apply(&checkpoint).unwrap();
    let pair = pairs(&checkpoint, &planned)[0];
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let failed = pair.stretches(&checkpoint, &planned).find_map(|one| one.is_equal().err());
    assert!(failed.unwrap().to_string().contains(path.to_str().unwrap()));
}
