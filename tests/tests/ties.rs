//! Checkpoints with tied weights by the command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::path::Path;

use millpond_tests::checkpoint::{self, Tensors};
use millpond_tests::{Options, TestPond};

const MIB: u64 = 1 << 20;
const EMBED: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";
const PAIR: u64 = 20 * MIB + 4;

/// Layers, an embedding, and a head from this seed; 1 is the embedding's.
fn tensors(head: u64) -> Tensors {
    let mut tensors = checkpoint::tensors(20, 7);
    tensors.insert(EMBED.to_owned(), (PAIR, 1));
    tensors.insert(HEAD.to_owned(), (PAIR, head));
    tensors
}

/// A folder as tools write it, in one file or in shards.
fn folder(pond: &TestPond, name: &str, tensors: &Tensors, shard_bytes: u64) -> String {
    let path = pond.path(name);
    checkpoint::write(&path, tensors, shard_bytes);
    fs::write(path.join("config.json"), r#"{"tie_word_embeddings": true}"#).unwrap();
    text(&path).to_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn bytes(tensors: &Tensors) -> u64 {
    tensors.values().map(|(bytes, _)| bytes).sum()
}

#[test]
fn tied_weights_of_a_checkpoint_are_stored_once_and_seen_under_both_names() {
    let pond = TestPond::start(Options::giving_back());
    let before = pond.accounts();
    let (tied, untied) = (tensors(1), tensors(2));
    let (once, both) = (bytes(&tied) - PAIR, bytes(&tied));
    // Head and embedding are in two files.
    let shards = folder(&pond, "shards", &tied, 22 * MIB);
    let load = |tag: &str, path: &str| {
        pond.cli(&["load", &format!("llama@{tag}"), path, "--slab-bytes", "32M", "--json"]).json()
    };
    let v1 = load("v1", &shards);
    assert_eq!((&v1["bytes"], &v1["tied_bytes"]), (&once.into(), &PAIR.into()));
    assert_eq!(v1["tied"], serde_json::json!([[HEAD, EMBED]]));
    assert_eq!(v1["tensor_count"], tied.len());
    assert!(v1["slab_bytes"].as_u64().unwrap() < both, "{v1}");
    assert_eq!(pond.accounts().slab_bytes - before.slab_bytes, v1["slab_bytes"].as_u64().unwrap());
    let mut worker = pond.worker();
    assert_eq!(checkpoint::attach(&mut worker, "llama"), checkpoint::seen("v1", &tied));
    let shown = pond.cli(&["inspect", "llama", "--tensors", "--json"]).json();
    assert_eq!((&shown["tied"], &shown["tied_bytes"]), (&v1["tied"], &v1["tied_bytes"]));
    let place = |name: &str| {
        let tensors = shown["tensors"].as_array().unwrap();
        let found = tensors.iter().find(|tensor| tensor["name"] == name).unwrap();
        (found["slab"].clone(), found["slab_offset_bytes"].clone(), found["hash"].clone())
    };
    assert_eq!(place(HEAD), place(EMBED));
    let fact = format!("tied         {HEAD} = {EMBED}, 20 MiB saved");
    assert!(pond.cli(&["inspect", "llama"]).ok().contains(&fact), "{fact}");
    let _ = pond.cli(&["verify", "llama"]).ok();

    // Saved, both are there again, byte for byte what they were.
    let whole = folder(&pond, "whole", &tied, u64::MAX);
    let saved = pond.path("saved.safetensors");
    let _ = pond.cli(&["save", "llama@v1", text(&saved)]).ok();
    let original = Path::new(&whole).join("model.safetensors");
    assert!(fs::read(&saved).unwrap() == fs::read(original).unwrap());

    // The same from one file is all shared; one with a head of its own shares nothing.
    let v2 = load("v2", &whole);
    assert_eq!((&v2["tied"], &v2["shared_tensor_bytes"]), (&v1["tied"], &once.into()));
    assert_eq!((&v2["own_bytes"], &v2["unshared"]), (&0.into(), &serde_json::Value::Null));
    let v3 = load("v3", &folder(&pond, "untied", &untied, 22 * MIB));
    assert_eq!((&v3["bytes"], &v3["tied_bytes"]), (&both.into(), &0.into()));
    assert_eq!((&v3["unshared"]["why"], &v3["tied"]), (&"ties".into(), &serde_json::json!([])));
    assert_eq!(checkpoint::attach(&mut worker, "llama@v3"), checkpoint::seen("v3", &untied));
    let _ = pond.cli(&["swap", "llama", "v3"]).ok();
    let v4 = load("v4", &shards);
    assert_eq!((&v4["bytes"], &v4["unshared"]["why"]), (&once.into(), &"ties".into()));
    assert_eq!(checkpoint::attach(&mut worker, "llama@v4"), checkpoint::seen("v4", &tied));

    let run = pond.cli(&["load", "llama@v5", &shards, "--like", "v1"]);
    let line = format!("{HEAD} is tied to {EMBED}: the same bytes, stored once");
    assert!(run.stderr.contains(&line), "{}", run.stderr);
    assert!(run.stderr.contains("20 MiB saved by tied tensors"), "{}", run.stderr);
}
