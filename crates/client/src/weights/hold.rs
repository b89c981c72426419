//! A lease on a version that is not mapped.

use std::collections::HashSet;
use std::time::Duration;

use millpond_weights::Layout;
use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartInfo, VersionInfo};
use millpond_wire::{ContentHash, ErrorKind, Mode, VersionTarget};

use crate::lease_guard::LeaseGuard;
use crate::model::granted::Granted;
use crate::model::template::stored_bytes;
use crate::{Error, Pond, Result};

/// A version that stays while it is read, whoever retires it.
pub(super) struct LeasedVersion {
    _lease: LeaseGuard,
    pub(super) info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub(super) parts: Vec<PartInfo>,
    pub(super) manifest: Manifest,
}

impl LeasedVersion {
    pub(super) fn take(pond: &Pond, target: VersionTarget) -> Result<Self> {
        let (lease, granted) = pond.ask_version(target, Mode::ReadOnly, Duration::ZERO)?;
        let lease = LeaseGuard::keep(&pond.core().link, lease)?;
        let (info, parts, manifest) = open(granted)?;
        Ok(Self { _lease: lease, info, parts, manifest })
    }

    /// Whether the two have the same tensors, of which other ones are stored once.
    pub(super) fn is_tied_otherwise(&self, layout: &Layout, ties: &[(String, String)]) -> bool {
        let tensors = &self.manifest.tensors;
        let here = |name: &str| {
            let found = layout.tensors.binary_search_by(|one| one.name.as_str().cmp(name));
            found.ok().and_then(|at| layout.tensors.get(at))
        };
        let same = tensors.iter().all(|tensor| {
            let tied = || ties.iter().find(|(name, _)| *name == tensor.name);
            let own = here(&tensor.name).or_else(|| here(&tied()?.1));
            own.is_some_and(|own| (own.dtype, &own.shape) == (tensor.dtype, &tensor.shape))
        });
        let bytes: u64 = layout.tensors.iter().map(|tensor| tensor.bytes).sum();
        same && tensors.len() == layout.tensors.len() + ties.len()
            && stored_bytes(&self.manifest) != bytes
    }

    /// Takes away further names of tied tensors, where `layout` has one of the names only, so that
    /// what is left can be compared with it tensor by tensor. Returns the hash of what is left.
    pub(super) fn strip(&mut self, layout: &Layout) -> Option<ContentHash> {
        let names: HashSet<&str> = layout.tensors.iter().map(|one| one.name.as_str()).collect();
        let tensors = &mut self.manifest.tensors;
        let kept = |name: &str| names.contains(name);
        let places: HashSet<(usize, u64, u64)> = tensors
            .iter()
            .filter(|tensor| tensor.bytes > 0 && kept(&tensor.name))
            .map(|tensor| (tensor.slab, tensor.offset, tensor.bytes))
            .collect();
        let before = tensors.len();
        tensors.retain(|tensor| {
            let place = (tensor.slab, tensor.offset, tensor.bytes);
            kept(&tensor.name) || !places.contains(&place)
        });
        if tensors.len() == before { self.info.layout } else { Some(self.manifest.layout_hash()) }
    }
}

/// What is needed of a grant. Descriptors of slabs are not: whoever moves bytes has its own.
fn open(granted: Granted) -> Result<(VersionInfo, Vec<PartInfo>, Manifest)> {
    let Granted { info, parts, manifest, .. } = granted;
    let wrong = |reason: String| {
        let message = format!("version '{}@{}' cannot be used: {reason}", info.model, info.tag);
        Error::version(ErrorKind::Invalid, message, None)
    };
    let manifest = manifest.ok_or_else(|| wrong("it has no manifest".to_owned()))?;
    let manifest = manifest.to_manifest().map_err(|error| wrong(error.to_string()))?;
    Ok((info, parts, manifest))
}
