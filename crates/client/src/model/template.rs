//! What a version that begins will look like.

pub(super) use millpond_weights::DEFAULT_SLAB_BYTES as SLAB_BYTES;
use millpond_weights::Layout;
use millpond_wire::manifest::{Manifest, ManifestSlab, ManifestTensor, slab_hash};
use millpond_wire::{ContentHash, Dtype, ErrorKind, Shape, VersionTarget, caps};

use crate::{Error, Result};

/// Where a version's tensors come from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    Nothing,
    Like(Result<VersionTarget>),
    Tensors(Vec<(String, Dtype, Vec<u64>)>),
}

/// The manifest of these tensors, without hashes. Each tie is a further name, and the tensor that it
/// is a name of.
pub(super) fn laid_out(
    tensors: &[(String, Dtype, Vec<u64>)],
    ties: &[(String, String)],
    slab_bytes: u64,
) -> Result<Manifest> {
    let mut shapes = Vec::with_capacity(tensors.len());
    for name in tensors.iter().map(|(name, ..)| name).chain(ties.iter().map(|(name, _)| name)) {
        if name.is_empty() || name.len() > caps::NAME_BYTES {
            let (length, most) = (name.len(), caps::NAME_BYTES);
            let message = format!("a tensor's name has {length} bytes; it must have 1 to {most}");
            return Err(Error::version(ErrorKind::Invalid, message, None));
        }
    }
    for (_, _, dims) in tensors {
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
    tie(&mut manifest, ties)?;
    Ok(manifest)
}

/// Gives tensors further names: same place, same bytes.
pub(crate) fn tie(manifest: &mut Manifest, ties: &[(String, String)]) -> Result<()> {
    let refuse = |message: String| Err(Error::version(ErrorKind::Invalid, message, None));
    let mut tied = Vec::with_capacity(ties.len());
    for (name, to) in ties {
        let by_name = |tensor: &ManifestTensor| tensor.name.as_bytes().cmp(to.as_bytes());
        let Ok(found) = manifest.tensors.binary_search_by(by_name) else {
            let (name, to) = (name.escape_debug(), to.escape_debug());
            return refuse(format!("'{name}' is tied to '{to}', which is no tensor of its own"));
        };
        tied.push(ManifestTensor { name: name.clone(), ..manifest.tensors[found].clone() });
    }
    if manifest.tensors.len() + tied.len() > caps::TENSORS_PER_VERSION {
        let (count, most) = (manifest.tensors.len() + tied.len(), caps::TENSORS_PER_VERSION);
        return refuse(format!("{count} tensors are too many for one version; at most {most}"));
    }
    manifest.tensors.extend(tied);
    manifest.tensors.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    match manifest.tensors.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => refuse(format!("tensor '{}' appears twice", pair[0].name.escape_debug())),
        None => Ok(()),
    }
}

/// Gives these slabs the hash over the hashes of all names in them.
pub(crate) fn hash_slabs(manifest: &mut Manifest, wanted: impl Fn(usize) -> bool) {
    let mut of_slab = vec![Vec::new(); manifest.slabs.len()];
    for tensor in &manifest.tensors {
        of_slab[tensor.slab].push(tensor.hash);
    }
    for (index, (slab, tensors)) in manifest.slabs.iter_mut().zip(of_slab).enumerate() {
        if wanted(index) {
            slab.hash = slab_hash(tensors);
        }
    }
}

/// The bytes of a version's tensors: what several names have, or have parts of, counts once.
pub(crate) fn stored_bytes(manifest: &Manifest) -> u64 {
    let mut places: Vec<(usize, u64, u64)> =
        manifest.tensors.iter().map(|one| (one.slab, one.offset, one.bytes)).collect();
    places.sort_unstable();
    let (mut stored, mut slab, mut counted) = (0_u64, 0, 0);
    for (on, offset, bytes) in places {
        if on != slab {
            (slab, counted) = (on, 0);
        }
        let end = offset.saturating_add(bytes);
        stored = stored.saturating_add(end.saturating_sub(offset.max(counted)));
        counted = counted.max(end);
    }
    stored
}

pub(super) fn of_nothing(model: &str) -> Error {
    let message = format!("a version of '{model}' needs tensors, or a version to start from");
    let hint = "use `.like(version)` or `.tensors(...)`".to_owned();
    Error::version(ErrorKind::Invalid, message, hint)
}

pub(super) fn ties_of_another() -> Error {
    let message = "a version made with `.like` has the ties of the original, and no others";
    let hint = "stage it with `.tensors(...)`".to_owned();
    Error::version(ErrorKind::Invalid, message.to_owned(), hint)
}
