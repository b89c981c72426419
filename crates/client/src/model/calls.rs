//! Calls about models that map nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_wire::manifest::Manifest;
use millpond_wire::message::{
    LeaseInfo, ModelInfo, PartInfo, Rename, ReplyBody, RequestBody, VersionCommit, VersionDetails,
    VersionInfo,
};
use millpond_wire::{
    ErrorKind, LeaseTarget, TensorName, Token, VersionId, VersionTag, VersionTarget, caps, memfd,
};

use super::template::stored_bytes;
use super::version::model_ref;
use super::{IntoVersion, ManifestMap, granted};
use crate::answer::not_an_answer;
use crate::link::{Ask, Link};
use crate::{Error, Pond, Result};

/// Pauses between looks at a version that is to go: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Everything about one version.
#[derive(Debug)]
pub struct VersionView {
    /// The version.
    pub info: VersionInfo,
    /// Its slabs, in the order of the arena.
    pub parts: Vec<PartInfo>,
    /// Who holds it.
    pub leases: Vec<LeaseInfo>,
    /// Its tensors, once it is ready.
    pub manifest: Option<ManifestMap>,
}

/// Another version of a model is current.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// What is current now.
    pub current: VersionInfo,
    /// What was current before; a rollback leads to it.
    pub previous: Option<VersionTag>,
}

/// Whether a version becomes the current one when it is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activate {
    Yes,
    No,
    /// If the model has no current version then.
    IfFirst,
}

/// Says that a version's bytes are complete: what both who loads and who stages do at last.
pub(crate) fn commit(
    link: &Arc<Link>,
    version: VersionId,
    manifest: &Manifest,
    activate: Activate,
) -> Result<VersionInfo> {
    const WHAT: &str = "a commit";
    let bytes = manifest.encode();
    if bytes.len() as u64 > caps::MANIFEST_BYTES {
        let (has, most) = (bytes.len(), caps::MANIFEST_BYTES);
        let message = format!("names and metadata take {has} bytes, at most {most} fit");
        return Err(Error::file(message));
    }
    let file = memfd::sealed("millpond-manifest", &bytes)
        .map_err(|error| Error::system("making the manifest", error))?;
    let body = RequestBody::VersionCommit(VersionCommit {
        version,
        token: Token::random(),
        layout: manifest.layout_hash(),
        content: manifest.content_hash(),
        tensors: u32::try_from(manifest.tensors.len()).unwrap_or(u32::MAX),
        bytes: stored_bytes(manifest),
        activate: activate != Activate::No,
        unless_current: activate == Activate::IfFirst,
        source: manifest.source.clone(),
    });
    let deadline = Instant::now().checked_add(link.config.request_timeout);
    let ask = Ask { what: WHAT, body, lease: None, deadline, waits_until: None };
    match link.call(ask, Some(&file))?.body {
        ReplyBody::Version(grant) => Ok(grant.info),
        _ => Err(not_an_answer(WHAT)),
    }
}

impl Pond {
    /// Every model shared with the caller whose name begins with `prefix`, with its versions.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn models(&self, prefix: &str) -> Result<Vec<ModelInfo>> {
        const WHAT: &str = "a listing of models";
        let body = RequestBody::ModelList { prefix: prefix.to_owned() };
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Models(models) => Ok(models),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Everything about one version, without a lease on it. Needs no driver.
    ///
    /// # Errors
    /// `not_found`, and what else the pond answers; `invalid` if its manifest is damaged.
    pub fn version(&self, target: impl IntoVersion) -> Result<VersionView> {
        const WHAT: &str = "an inspection of a version";
        let body = RequestBody::VersionInspect(target.into_version()?);
        let answer = self.core().link.ask(WHAT, body)?;
        let ReplyBody::VersionDetails(details) = answer.body else {
            return Err(not_an_answer(WHAT));
        };
        let VersionDetails { info, parts, leases } = *details;
        let manifest = match answer.fds.as_slice() {
            [] => None,
            [fd] => Some(granted::open(&info, &parts, fd)?),
            _ => return Err(not_an_answer(WHAT)),
        };
        Ok(VersionView { info, parts, leases, manifest })
    }

    /// Makes another version of a model the current one. Whoever has the old one keeps it;
    /// whoever attaches from then on gets the new one.
    ///
    /// # Errors
    /// `not_found`, `not_ready`, `retired`, and what else the pond answers.
    pub fn swap(&self, model: &str, tag: &str) -> Result<Swap> {
        self.make_current(model, Some(VersionTag::new(tag)?))
    }

    /// Makes the version current that was so before.
    ///
    /// # Errors
    /// `not_found` if none is kept, and what else the pond answers.
    pub fn rollback(&self, model: &str) -> Result<Swap> {
        self.make_current(model, None)
    }

    fn make_current(&self, model: &str, tag: Option<VersionTag>) -> Result<Swap> {
        const WHAT: &str = "a swap";
        let (model, token) = (model_ref(model)?, Token::random());
        let body = RequestBody::ModelSwap { model, tag, token };
        match self.core().link.ask(WHAT, body)?.body {
            ReplyBody::Swapped { current, previous } => Ok(Swap { current: *current, previous }),
            _ => Err(not_an_answer(WHAT)),
        }
    }

    /// Ends a version: no new leases, and the memory goes when the last one has ended. One that is
    /// being staged is given up.
    ///
    /// # Errors
    /// `not_found`, `denied`, `invalid` for the current version, and what else the pond answers.
    pub fn retire(&self, target: impl IntoVersion) -> Result<()> {
        let version = match target.into_version()? {
            VersionTarget::Id(version) => version,
            // By identity, a repeat after a lost answer cannot hit another version of that name.
            name @ VersionTarget::Name(_) => self.version(name)?.info.version,
        };
        let body = RequestBody::VersionRetire(VersionTarget::Id(version));
        self.core().link.ask_done("the end of a version", body)
    }

    /// Ends a version, also if it is the current one and has readers: they keep it until they let
    /// go. A model whose current version goes has none until a swap or a load.
    ///
    /// # Errors
    /// `not_found`, `denied`, and what else the pond answers.
    pub fn remove_version(&self, target: impl IntoVersion) -> Result<()> {
        let version = match target.into_version()? {
            VersionTarget::Id(version) => version,
            name @ VersionTarget::Name(_) => self.version(name)?.info.version,
        };
        let body = RequestBody::VersionRemove(VersionTarget::Id(version));
        self.core().link.ask_done("the end of a version", body)
    }

    /// Gives a model another name. Whoever has it attached keeps it; whoever follows it by name
    /// does not find it under the old one any more.
    ///
    /// # Errors
    /// `not_found`, `denied`, `exists` if the name is taken, and what else the pond answers.
    pub fn rename_model(&self, model: &str, name: &str) -> Result<()> {
        let wanted = model_ref(model)?;
        let name = millpond_wire::model_name(name)?;
        let mut models = self.models("")?;
        let find = |models: &mut Vec<ModelInfo>, name: &TensorName, user: Option<u32>| {
            let found = models.iter().position(|model| {
                model.name == *name && user.is_none_or(|user| model.user == user)
            });
            found.map(|at| models.swap_remove(at))
        };
        let me = rustix::process::geteuid().as_raw();
        let own = find(&mut models, &wanted.name, wanted.user.or(Some(me)));
        let is_public = wanted.name.is_public() && wanted.user.is_none();
        let public = is_public.then_some(&wanted.name);
        let found = own.or_else(|| find(&mut models, public?, None));
        // By identity, a repeat after a lost answer cannot hit another model of that name.
        let version = match found.as_ref().and_then(|model| model.versions.last()) {
            Some(version) => version.version,
            // The pond knows how to say that there is none.
            None => self.version(model)?.info.version,
        };
        self.rename_object(version.into(), name)
    }

    pub(crate) fn rename_object(&self, object: LeaseTarget, name: TensorName) -> Result<()> {
        let rename = Rename { object, name, token: Token::random() };
        self.core().link.ask_done("a rename", RequestBody::Rename(rename))
    }

    /// Waits until a version is gone: its last reader has left, or it was given up. False if the
    /// time was over before.
    ///
    /// # Errors
    /// What the pond answers.
    pub fn wait_gone(&self, version: VersionId, timeout: Option<Duration>) -> Result<bool> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut pause = PAUSE;
        loop {
            match self.version(version) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
                seen => drop(seen?),
            }
            let left = crate::connection::remaining(deadline).unwrap_or(Duration::MAX);
            if left.is_zero() {
                return Ok(false);
            }
            crate::cancel::sleep(pause.min(left))?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
