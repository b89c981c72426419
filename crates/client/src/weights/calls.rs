//! What a load asks the pond: the steps of a version's life.

use std::sync::Arc;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartInfo, ReplyBody, RequestBody, VersionInfo, VersionStage};
use millpond_wire::{VersionId, VersionTarget};

use crate::answer::not_an_answer;
use crate::link::Link;
use crate::model::{Activate, commit};
use crate::{Error, Result};

/// A version that is being made. Unless it is committed it is given up when this goes.
pub(super) struct Staged {
    link: Arc<Link>,
    version: VersionId,
    /// Its slabs, in the order of the arena.
    pub(super) parts: Vec<PartInfo>,
    over: bool,
}

impl Staged {
    /// Has the pond make the version's slabs.
    pub(super) fn begin(link: &Arc<Link>, stage: VersionStage) -> Result<Self> {
        const WHAT: &str = "the beginning of a version";
        let (version, wanted) = (stage.version, stage.parts.clone());
        // From here on it may be there, whatever comes back.
        let mut staged = Self { link: Arc::clone(link), version, parts: Vec::new(), over: false };
        let answer = match link.ask(WHAT, RequestBody::VersionStage(stage)) {
            Ok(answer) => answer,
            Err(error) => {
                // What was refused is not there.
                staged.over = matches!(error, Error::Refused(_));
                return Err(staged.failed(error));
            }
        };
        let ReplyBody::Version(grant) = answer.body else { return Err(not_an_answer(WHAT)) };
        let fits = grant.parts.len() == wanted.len()
            && grant.parts.iter().zip(&wanted).all(|(got, wanted)| got.bytes == wanted.bytes);
        if !fits {
            return Err(Error::Protocol("the slabs of the version are not as asked".to_owned()));
        }
        staged.parts = grant.parts;
        // The next daemon must wait for this process, not take it for dead.
        link.remembered()?;
        Ok(staged)
    }

    /// Says that its bytes are complete.
    pub(super) fn commit(mut self, manifest: &Manifest, activate: Activate) -> Result<VersionInfo> {
        match commit(&self.link, self.version, manifest, activate) {
            Ok(info) => {
                self.over = true;
                Ok(info)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Whoever meets a pond that is gone does not wait for it once more; it gives the version up
    /// by itself when this process ends.
    pub(super) fn failed(&mut self, error: Error) -> Error {
        self.over |= matches!(error, Error::NoPond { .. } | Error::Closed);
        error
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let target = VersionTarget::Id(self.version);
        let given_up = self.link.ask_done("a retirement", RequestBody::VersionRetire(target));
        if let Err(error) = given_up {
            tracing::debug!(%error, version = %self.version, "a version is given up later");
        }
    }
}
