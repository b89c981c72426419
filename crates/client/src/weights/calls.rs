//! What a load asks the pond: the steps of a version's life.

use std::sync::Arc;

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{PartInfo, ReplyBody, RequestBody, VersionInfo, VersionStage};

use crate::answer::not_an_answer;
use crate::link::Link;
use crate::model::{Activate, Unfinished};
use crate::{Error, Result};

/// A version that a load makes.
pub(super) struct Staged {
    unfinished: Unfinished,
    /// Its slabs, in the order of the arena.
    pub(super) parts: Vec<PartInfo>,
}

impl Staged {
    /// Has the pond make the version's slabs.
    pub(super) fn begin(link: &Arc<Link>, stage: VersionStage) -> Result<Self> {
        const WHAT: &str = "the beginning of a version";
        let wanted = stage.parts.clone();
        let mut unfinished = Unfinished::new(link, stage.version);
        let answer = link
            .ask(WHAT, RequestBody::VersionStage(stage))
            .map_err(|error| unfinished.not_begun(error))?;
        let ReplyBody::Version(grant) = answer.body else { return Err(not_an_answer(WHAT)) };
        let parts = grant.parts;
        let fits = parts.len() == wanted.len()
            && parts.iter().zip(&wanted).all(|(got, wanted)| got.bytes == wanted.bytes);
        if !fits {
            return Err(Error::Protocol(
                "the slabs of the version are not as requested".to_owned(),
            ));
        }
        // The next daemon must wait for this process, not take it for dead.
        link.remembered()?;
        Ok(Self { unfinished, parts })
    }

    /// Says that its bytes are complete.
    pub(super) fn commit(mut self, manifest: &Manifest, activate: Activate) -> Result<VersionInfo> {
        self.unfinished.commit(manifest, activate)
    }

    /// The load has failed.
    pub(super) fn failed(&mut self, error: Error) -> Error {
        self.unfinished.failed(error)
    }
}
