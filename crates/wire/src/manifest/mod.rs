//! What a version consists of: its slabs and the tensors in them, as one FlatBuffer.
//!
//! The loader writes it once with [`Manifest::encode`]; the daemon holds it sealed and never looks
//! inside; every reader opens it with [`ManifestView`], whose cost grows with slabs, not with
//! tensors. So nothing about a tensor is believed before it is handed out, and each one that is
//! handed out was checked by itself.

mod hash;
mod view;

use std::collections::BTreeMap;

use planus::Builder;

use crate::content::ContentHash;
use crate::{Dtype, Shape, ShapeError};
use millpond_schema::contents as fb;

pub use hash::{ContentHasher, LayoutHasher, slab_hash};
pub use view::ManifestView;

/// The layout of a manifest that this crate writes, and the only one that it reads.
pub const FORMAT: u16 = 1;
/// Every tensor begins at a multiple of this in its slab: what DLPack wants of GPU memory.
pub const TENSOR_ALIGN: u64 = 256;
/// Every slab is a multiple of this: what the driver maps in one step.
pub const SLAB_STEP: u64 = 2 << 20;

/// A version's slabs and tensors.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Manifest {
    /// Slabs in the order of the arena.
    pub slabs: Vec<ManifestSlab>,
    /// Tensors; they are written sorted by name.
    pub tensors: Vec<ManifestTensor>,
    /// What the checkpoint says about itself: safetensors' `__metadata__`.
    pub metadata: BTreeMap<String, String>,
    /// Where the bytes came from, for people.
    pub source: String,
}

/// One slab of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestSlab {
    /// Where it begins in the arena.
    pub arena_offset: u64,
    /// Its size, a multiple of [`SLAB_STEP`].
    pub bytes: u64,
    /// The hash over its tensors' hashes.
    pub hash: ContentHash,
}

/// One tensor of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestTensor {
    /// Its name, in the checkpoint's spelling.
    pub name: String,
    pub dtype: Dtype,
    /// Extents; a dimension may be zero.
    pub shape: Shape,
    pub slab: usize,
    /// Where in that slab, a multiple of [`TENSOR_ALIGN`].
    pub offset: u64,
    pub bytes: u64,
    pub hash: ContentHash,
}

/// Why bytes are not a manifest, or a tensor of one is not handed out.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Not a FlatBuffer of the schema.
    #[error("the manifest is damaged: {0}")]
    Malformed(#[from] planus::Error),
    /// Written by a newer Millpond.
    #[error("the manifest has format {0}, this program reads {FORMAT}; use a newer millpond")]
    Format(u16),
    /// More of something than its cap.
    #[error("the manifest has {count} {what}; at most {max} are possible")]
    TooMany { what: &'static str, count: u64, max: u64 },
    /// Slabs that do not follow each other, or are no slabs.
    #[error("slab {slab} of the manifest {reason}")]
    Slab { slab: usize, reason: &'static str },
    /// A tensor that cannot be what it says.
    #[error("tensor '{name}' of the manifest {reason}")]
    Tensor {
        /// Its name, made printable.
        name: String,
        reason: &'static str,
    },
    /// A shape that cannot be.
    #[error("tensor '{name}' of the manifest: {error}")]
    Shape {
        /// Its name, made printable.
        name: String,
        error: ShapeError,
    },
    /// There is no tensor with this number.
    #[error("the manifest has {len} tensors, so none with the index {index}")]
    NoSuchIndex {
        /// What was asked for.
        index: usize,
        len: usize,
    },
}

impl Manifest {
    /// The bytes that travel.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let slabs = self.slabs.iter().map(|slab| fb::Slab {
            arena_offset: slab.arena_offset,
            bytes: slab.bytes,
            hash: write_hash(slab.hash),
        });
        let tensors = self.sorted().into_iter().map(|tensor| fb::Tensor {
            name: Some(tensor.name.clone()),
            dtype: tensor.dtype.code(),
            shape: Some(tensor.shape.dims().to_vec()),
            // More slabs than that are refused by every reader.
            slab: u32::try_from(tensor.slab).unwrap_or(u32::MAX),
            offset: tensor.offset,
            bytes: tensor.bytes,
            hash: Some(write_hash(tensor.hash)),
        });
        let metadata = self
            .metadata
            .iter()
            .map(|(key, value)| fb::Entry { key: Some(key.clone()), value: Some(value.clone()) });
        let manifest = fb::Manifest {
            format: FORMAT,
            slabs: Some(slabs.collect()),
            tensors: Some(tensors.collect()),
            metadata: Some(metadata.collect()),
            source: Some(self.source.clone()),
        };
        Builder::new().finish(manifest, None).to_vec()
    }

    /// The hash over what the arena looks like, without its bytes.
    #[must_use]
    pub fn layout_hash(&self) -> ContentHash {
        let mut hasher = LayoutHasher::new(self.slabs.iter().map(|slab| slab.bytes));
        for tensor in self.sorted() {
            hasher.tensor(&tensor.name, tensor.dtype, &tensor.shape, tensor.slab, tensor.offset);
        }
        hasher.finish()
    }

    /// The hash over what the tensors are, wherever they lie.
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        let mut hasher = ContentHasher::default();
        for tensor in self.sorted() {
            hasher.tensor(&tensor.name, tensor.dtype, &tensor.shape, tensor.hash);
        }
        hasher.finish()
    }

    fn sorted(&self) -> Vec<&ManifestTensor> {
        let mut tensors: Vec<&ManifestTensor> = self.tensors.iter().collect();
        tensors.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        tensors
    }
}

fn write_hash(hash: ContentHash) -> fb::Hash {
    let number = u128::from_be_bytes(hash.0);
    let [high, low] = [number >> 64, number & u128::from(u64::MAX)].map(|half| {
        // Both halves fit by construction.
        u64::try_from(half).unwrap_or_default()
    });
    fb::Hash { high, low }
}

fn read_hash(hash: fb::HashRef<'_>) -> ContentHash {
    let number = u128::from(hash.high()) << 64 | u128::from(hash.low());
    ContentHash(number.to_be_bytes())
}

#[cfg(test)]
mod tests;
