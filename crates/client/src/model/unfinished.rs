//! A version between its beginning and its commit.

use std::sync::Arc;
use std::time::Instant;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{RequestBody, VersionInfo};
use millpond_wire::{VersionId, VersionTarget};

use super::calls::{Activate, commit};
use crate::link::{Ask, Link};
use crate::{Error, Result, process};

/// A version that this process makes. Unless it is committed the pond is told to give it up when
/// this goes. As good as can be: it ends at the latest with the process.
pub(crate) struct Unfinished {
    link: Arc<Link>,
    version: VersionId,
    owner: u32,
    /// It is complete, or there is nothing to give up.
    over: bool,
}

impl Unfinished {
    /// Made before the version is asked for: from then on it may be there, whatever comes back.
    pub(crate) fn new(link: &Arc<Link>, version: VersionId) -> Self {
        Self { link: Arc::clone(link), version, owner: process::current(), over: false }
    }

    /// The pond was asked to begin it, and this came instead. A refused version is not there.
    pub(crate) fn not_begun(&mut self, error: Error) -> Error {
        self.over |= matches!(error, Error::Refused(_));
        self.failed(error)
    }

    /// Whoever meets a pond that is gone does not wait for it once more.
    pub(crate) fn failed(&mut self, error: Error) -> Error {
        self.over |= matches!(error, Error::NoPond { .. } | Error::Closed);
        error
    }

    /// Says that its bytes are complete.
    pub(crate) fn commit(
        &mut self,
        manifest: &Manifest,
        activate: Activate,
    ) -> Result<VersionInfo> {
        match commit(&self.link, self.version, manifest, activate) {
            Ok(info) => {
                self.over = true;
                Ok(info)
            }
            Err(error) => Err(self.failed(error)),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.over || self.owner != process::current() {
            return;
        }
        let (version, what) = (self.version, "the end of a version");
        let body = RequestBody::VersionRetire(VersionTarget::Id(version));
        let deadline = Instant::now().checked_add(self.link.config.reconnect_timeout);
        let ask = Ask { what, body, lease: None, deadline, waits_until: None };
        if let Err(error) = self.link.call(ask, None) {
            tracing::debug!(%error, %version, "a version was not given up now");
        }
    }
}
