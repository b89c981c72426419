//! Checkpoints and manifests.

use std::collections::BTreeMap;

use millpond_weights::writer::{self, Written};
use millpond_weights::{Layout, TensorHashes};
use millpond_wire::manifest::{Manifest, SLAB_STEP};
use millpond_wire::{ContentHash, Dtype, Shape};

use crate::Folder;

fn metadata() -> BTreeMap<String, String> {
    BTreeMap::from([("format".to_owned(), "pt".to_owned())])
}

/// Without the length before the header, as a header is read.
pub fn checkpoint(folder: &Folder) {
    let shape = |dims: &[u64]| Shape::new_or_empty(dims).expect("a shape");
    let (whole, empty, scalar) = (shape(&[2, 4]), shape(&[0, 3]), shape(&[]));
    let all: Vec<Written<'_>> = Dtype::ALL
        .iter()
        .map(|dtype| Written { name: dtype.name(), dtype: *dtype, shape: &whole })
        .collect();
    let few = [
        Written { name: "none", dtype: Dtype::F32, shape: &empty },
        Written { name: "one", dtype: Dtype::I64, shape: &scalar },
    ];
    for (seed, tensors, metadata) in [
        ("dtypes", &all[..], metadata()),
        ("few", &few, BTreeMap::new()),
        ("nothing", &[], metadata()),
    ] {
        let (bytes, _) = writer::header(tensors, &metadata).expect("a header");
        folder.seed(seed, &bytes[8..]);
    }
    for (seed, text) in [
        (
            "twice",
            r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#,
        ),
        (
            "hole",
            r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}"#,
        ),
        ("large", r#"{"a":{"dtype":"U8","shape":[1048576,9],"data_offsets":[0,9437184]}}"#),
        (
            "huge",
            r#"{"a":{"dtype":"F64","shape":[1125899906842624],"data_offsets":[0,9007199254740992]}}"#,
        ),
        (
            "null",
            r#"{"__metadata__":null,"a\u00e9":{"x":[{}],"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}"#,
        ),
    ] {
        folder.seed(seed, text.as_bytes());
    }
}

pub fn manifest(folder: &Folder) {
    let half = Shape::new([SLAB_STEP / 2 + 1]).expect("a shape");
    let empty = Shape::new_or_empty([0]).expect("a shape");
    let tensors = [("a", Dtype::U8, &half), ("b", Dtype::I8, &half), ("w", Dtype::Bf16, &empty)];
    let layout = Layout::new(tensors, SLAB_STEP).expect("a layout");
    let mut hashes = TensorHashes::new(&layout);
    hashes.set(0, 0, ContentHash::of(b"a"));
    hashes.set(1, 0, ContentHash::of(b"b"));
    let hashes = hashes.finish(&layout).expect("all hashes");
    let mut manifest = layout.manifest(&hashes);
    folder.seed("bare", &manifest.encode());
    manifest.metadata = metadata();
    manifest.source = "model.safetensors".to_owned();
    folder.seed("full", &manifest.encode());
    folder.seed("empty", &Manifest::default().encode());
}
