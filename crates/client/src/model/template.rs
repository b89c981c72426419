//! What a version that begins will look like.

pub(super) use millpond_weights::DEFAULT_SLAB_BYTES as SLAB_BYTES;
use millpond_weights::Layout;
use millpond_wire::manifest::{Manifest, ManifestSlab, ManifestTensor};
use millpond_wire::{ContentHash, Dtype, ErrorKind, Shape, VersionTarget, limits};

use crate::{Error, Result};

/// Where a version's tensors come from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    Nothing,
    Like(Result<VersionTarget>),
    Tensors(Vec<(String, Dtype, Vec<u64>)>),
}

/// The manifest of these tensors, without hashes.
pub(super) fn laid_out(tensors: &[(String, Dtype, Vec<u64>)], slab_bytes: u64) -> Result<Manifest> {
    let mut shapes = Vec::with_capacity(tensors.len());
    for (name, _, dims) in tensors {
        if name.is_empty() || name.len() > limits::NAME_BYTES {
            let (length, most) = (name.len(), limits::NAME_BYTES);
            let message = format!("a tensor's name has {length} bytes; it must have 1 to {most}");
            return Err(Error::version(ErrorKind::Invalid, message, None));
        }
        shapes.push(Shape::new_or_empty(dims.clone())?);
    }
    let described =
        tensors.iter().zip(&shapes).map(|((name, dtype, _), shape)| (name.as_str(), *dtype, shape));
    let layout = Layout::new(described, slab_bytes)
        .map_err(|error| Error::version(ErrorKind::Invalid, error.to_string(), None))?;
    let hash = ContentHash::of(&[]);
    let mut manifest = Manifest::default();
    let mut arena_offset = 0;
    for bytes in layout.slabs {
        manifest.slabs.push(ManifestSlab { arena_offset, bytes, hash });
        arena_offset += bytes;
    }
    let tensors = layout.tensors.into_iter().map(|tensor| ManifestTensor {
        name: tensor.name,
        dtype: tensor.dtype,
        shape: tensor.shape,
        slab: tensor.slab,
        offset: tensor.offset,
        bytes: tensor.bytes,
        hash,
    });
    manifest.tensors = tensors.collect();
    Ok(manifest)
}

pub(super) fn of_nothing(model: &str) -> Error {
    let message = format!("a version of '{model}' needs tensors, or another version to be like");
    let hint = "say `.like(version)` or `.tensors(...)`".to_owned();
    Error::version(ErrorKind::Invalid, message, hint)
}
