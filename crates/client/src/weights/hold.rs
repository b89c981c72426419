//! A lease on a version that is not mapped.

use std::sync::Arc;
use std::time::Duration;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartInfo, VersionInfo};
use millpond_wire::{ErrorKind, LeaseId, Mode, VersionTarget};

use crate::link::Link;
use crate::model::granted::Granted;
use crate::{Error, Pond, Result, process};

/// A version that stays while it is read, whoever retires it.
pub(super) struct Held {
    link: Arc<Link>,
    lease: LeaseId,
    owner: u32,
    pub(super) info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub(super) parts: Vec<PartInfo>,
    pub(super) manifest: Manifest,
}

impl Held {
    pub(super) fn take(pond: &Pond, target: VersionTarget) -> Result<Self> {
        let link = &pond.core().link;
        let (lease, granted) = pond.ask_version(target, Mode::ReadOnly, Duration::ZERO)?;
        let taken = open(granted).and_then(|opened| {
            // It must be claimed from the next daemon.
            link.start_watch()?;
            Ok(opened)
        });
        match taken {
            Ok((info, parts, manifest)) => {
                let (link, owner) = (Arc::clone(link), process::current());
                Ok(Self { link, lease, owner, info, parts, manifest })
            }
            Err(error) => {
                link.give_back(lease);
                Err(error)
            }
        }
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

impl Drop for Held {
    fn drop(&mut self) {
        // A forked copy has nothing to give back.
        if self.owner == process::current() {
            self.link.give_back_soon(self.lease);
        }
    }
}
