//! A version that was granted: checked before it is believed.
//!
//! Sizes come from two sides: the pond says what its slabs are, the manifest, which some other
//! client wrote, says what lies in them. Nothing is mapped unless both say the same.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use millpond_client_core::Lost;
use millpond_wire::fd::SealedMap;
use millpond_wire::message::{PartInfo, ReplyBody, RequestBody, VersionGrant, VersionInfo};
use millpond_wire::{ErrorKind, LeaseId, Mode, Transport, VersionId, caps};

use super::ManifestMap;
use super::version::label;
use crate::answer::{Answer, not_an_answer};
use crate::link::Link;
use crate::{Error, Result};

const MORE: &str = "a request for slabs";

/// What the pond granted.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) info: VersionInfo,
    pub(crate) parts: Vec<PartInfo>,
    pub(crate) manifest: Option<ManifestMap>,
    pub(super) lost: Lost,
    pub(super) slabs: Slabs,
}

/// The descriptors of a version's slabs, in the order of the arena.
#[derive(Debug)]
pub(super) struct Slabs {
    version: VersionId,
    lease: LeaseId,
    next: usize,
    count: usize,
    /// Those that are here already, beginning with `next`.
    here: Vec<OwnedFd>,
}

/// A version with the lease that was asked for.
pub(crate) fn with_lease(
    what: &'static str,
    answer: Answer,
    lease: LeaseId,
    mode: Mode,
) -> Result<Granted> {
    let ReplyBody::Version(grant) = answer.body else { return Err(not_an_answer(what)) };
    let VersionGrant { info, parts, lease: granted, manifest, slabs } = *grant;
    let granted = granted.map(|(lease, mode, _)| (lease, mode));
    let (Some(lost), true) = (answer.lost, granted == Some((lease, mode))) else {
        return Err(Error::Protocol(format!("its answer to {what} lacks the requested lease")));
    };
    let other = |part: &&PartInfo| part.backing.transport != Transport::Vmm;
    if let Some(part) = parts.iter().find(other) {
        return Err(refuse_transport(&info, part));
    }
    let mut fds = answer.fds;
    let announced = usize::try_from(slabs).unwrap_or(usize::MAX);
    if fds.len().checked_sub(usize::from(manifest)) != Some(announced) || announced > parts.len() {
        let (came, count) = (fds.len(), parts.len());
        return Err(Error::Protocol(format!(
            "{came} descriptors came with a version of {count} slabs, {announced} were announced"
        )));
    }
    let manifest = match manifest {
        true => Some(open(&info, &parts, fds.remove(0))?),
        false => None,
    };
    let slabs = Slabs { version: info.version, lease, next: 0, count: parts.len(), here: fds };
    Ok(Granted { info, parts, manifest, lost, slabs })
}

/// Versions are mapped side by side, which only memory with a descriptor of its own can be.
fn refuse_transport(info: &VersionInfo, part: &PartInfo) -> Error {
    let message = format!(
        "version '{}' cannot be used: it has memory of the transport '{}', and models are made of '{}' alone",
        label(info),
        part.backing.transport.name(),
        Transport::Vmm.name()
    );
    Error::version(ErrorKind::Invalid, message, None)
}

/// Opens a manifest, and compares it with what the pond says about the version.
pub(super) fn open(info: &VersionInfo, parts: &[PartInfo], fd: impl AsFd) -> Result<ManifestMap> {
    let refuse = |reason: String| {
        let hint = format!("`millpond retire {} {}` ends it", info.model, info.tag);
        let message = format!("version '{}' cannot be used: {reason}", label(info));
        Error::version(ErrorKind::Invalid, message, hint)
    };
    let bytes = SealedMap::map(fd, caps::MANIFEST_BYTES)
        .map_err(|error| refuse(format!("its manifest: {error}")))?;
    let manifest = ManifestMap::open(bytes).map_err(|error| refuse(error.to_string()))?;
    let slabs = manifest.slabs();
    if slabs.len() != parts.len() {
        let (said, count) = (slabs.len(), parts.len());
        return Err(refuse(format!("its manifest has {said} slabs, the pond {count}")));
    }
    for (index, (slab, part)) in slabs.iter().zip(parts).enumerate() {
        if slab.bytes != part.bytes {
            let (said, bytes) = (slab.bytes, part.bytes);
            return Err(refuse(format!(
                "slab {index} has {said} bytes in its manifest and {bytes} in the pond"
            )));
        }
    }
    Ok(manifest)
}

impl Slabs {
    /// Some more of them, with the place of the first; `None` when all have been here.
    pub(super) fn next(&mut self, link: &Arc<Link>) -> Result<Option<(usize, Vec<OwnedFd>)>> {
        if self.next == self.count {
            return Ok(None);
        }
        if self.here.is_empty() {
            let wanted = (self.count - self.next).min(caps::MESSAGE_FDS);
            let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            let (first, count) = (number(self.next), number(wanted));
            let (version, lease) = (self.version, self.lease);
            let body = RequestBody::VersionSlabs { version, lease, first, count };
            let answer = link.ask(MORE, body)?;
            self.here = more(answer, first)?;
            self.here.truncate(wanted);
        }
        let (first, fds) = (self.next, std::mem::take(&mut self.here));
        self.next += fds.len();
        Ok(Some((first, fds)))
    }
}

/// Slabs from this one on: as many descriptors as are announced, and at least one.
pub(super) fn more(answer: Answer, wanted: u32) -> Result<Vec<OwnedFd>> {
    let ReplyBody::Slabs { first, count } = answer.body else { return Err(not_an_answer(MORE)) };
    let came = answer.fds.len();
    if first != wanted || usize::try_from(count) != Ok(came) || came == 0 {
        return Err(Error::Protocol(format!(
            "{came} descriptors came for {count} slabs from {first} on; asked from {wanted} on"
        )));
    }
    Ok(answer.fds)
}
