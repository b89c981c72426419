//! Manifests.

use std::collections::BTreeMap;

use super::Sample;
use crate::manifest::{Manifest, ManifestSlab, ManifestTensor, SLAB_STEP};
use crate::{ContentHash, Dtype, Shape};

/// An empty manifest, and one of two slabs.
#[must_use]
pub fn manifests() -> Vec<Sample<Manifest>> {
    let slab = |index: u64| ManifestSlab {
        arena_offset: index * SLAB_STEP,
        bytes: SLAB_STEP,
        hash: ContentHash([9; 16]),
    };
    let tensor = |name: &str, slab, offset, dims: &[u64]| {
        let shape = Shape::new_or_empty(dims).unwrap();
        let bytes = shape.bytes(Dtype::F32).unwrap();
        let (dtype, hash) = (Dtype::F32, ContentHash([8; 16]));
        ManifestTensor { name: name.to_owned(), dtype, shape, slab, offset, bytes, hash }
    };
    let full = Manifest {
        slabs: vec![slab(0), slab(1)],
        tensors: vec![
            tensor("a.weight", 0, 0, &[2, 3]),
            tensor("b", 0, 256, &[0, 7]),
            tensor("c é", 1, 0, &[SLAB_STEP / 4]),
        ],
        metadata: BTreeMap::from([("format".to_owned(), "pt".to_owned())]),
        source: "model.safetensors".to_owned(),
    };
    vec![("empty", Manifest::default()), ("full", full)]
}
