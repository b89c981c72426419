//! A lease on a version that is not mapped.

use std::time::Duration;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartInfo, VersionInfo};
use millpond_wire::{ErrorKind, Mode, VersionTarget};

use crate::lease_guard::LeaseGuard;
use crate::model::granted::Granted;
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
