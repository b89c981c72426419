//! Checkpoints with known bytes, and what a reader must see of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use millpond_weights::writer::{self, Written};
use millpond_wire::{Dtype, Shape};

use crate::{Worker, content};

/// Tensors of bytes by name: how many, and from which seed.
pub type Tensors = BTreeMap<String, (u64, u64)>;

/// So many tensors of a megabyte and a bit, and a few small ones.
#[must_use]
pub fn tensors(count: u64, seed: u64) -> Tensors {
    let large = (0..count).map(|at| (format!("layer.{at:03}.weight"), ((1 << 20) + at, seed + at)));
    let small = (0..5).map(|at| (format!("layer.{at:03}.bias"), (at * 100, seed + 1000 + at)));
    large.chain(small).collect()
}

/// Writes a folder with shards and an index, or with one file if all fit.
///
/// # Panics
/// If it cannot be written.
pub fn write(folder: &Path, tensors: &Tensors, shard_bytes: u64) -> Vec<PathBuf> {
    fs::create_dir_all(folder).unwrap();
    let shapes: Vec<Shape> =
        tensors.values().map(|(bytes, _)| Shape::new_or_empty([*bytes]).unwrap()).collect();
    let written: Vec<Written<'_>> = tensors
        .keys()
        .zip(&shapes)
        .map(|(name, shape)| Written { name, dtype: Dtype::U8, shape })
        .collect();
    let contents: Vec<&(u64, u64)> = tensors.values().collect();
    let shards = writer::shards(&written, shard_bytes).unwrap();
    let metadata = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    let mut files = Vec::new();
    for shard in &shards {
        let own: Vec<Written<'_>> = shard.tensors.iter().map(|at| written[*at]).collect();
        let (mut file, offsets) = writer::header(&own, &metadata).unwrap();
        content::pad(&mut file, usize::try_from(shard.bytes).unwrap());
        for (at, offset) in shard.tensors.iter().zip(offsets) {
            let bytes = content::bytes(contents[*at].0, contents[*at].1);
            let begin = usize::try_from(offset).unwrap();
            file[begin..begin + bytes.len()].copy_from_slice(&bytes);
        }
        files.push(folder.join(&shard.name));
        fs::write(&files[files.len() - 1], file).unwrap();
    }
    if shards.len() > 1 {
        files.push(folder.join(writer::INDEX_NAME));
        fs::write(&files[files.len() - 1], writer::index(&written, &shards).unwrap()).unwrap();
    }
    files
}

/// What `pondtool` says of a version with these tensors.
#[must_use]
pub fn seen(tag: &str, tensors: &Tensors) -> String {
    let mut all = String::new();
    for (name, (bytes, seed)) in tensors {
        all += &format!("{name} {}\n", content::hash_of(*bytes, *seed));
    }
    format!("{tag} {}", content::hash(all.as_bytes()))
}

/// What a worker sees of a version that it attaches to.
pub fn attach(worker: &mut Worker, version: &str) -> String {
    worker.ask(&format!("model attach {version}"));
    worker.ask(&format!("model weights {version}"))
}
