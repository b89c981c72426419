//! Following a model: what is attached changes when another version is current.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use millpond_wire::message::VersionInfo;
use millpond_wire::{ErrorKind, LeaseId, Mode, ModelRef};

use super::arena::{Arena, New, NotExchanged};
use super::attach::{Seen, without_manifest};
use super::attachment::broken;
use super::granted::Granted;
use super::version::{label, model_of};
use super::{AttachOptions, Model};
use crate::connection::lock;
use crate::cuda_side::CudaSide;
use crate::retire::ToUnmap;
use crate::slab_map::DeviceSide;
use crate::{Error, Result};

impl Model {
    /// Whether another version of the model is current. Without a message where nothing has
    /// happened to the model since it was last asked about.
    ///
    /// # Errors
    /// `not_found` if no version is current, and what else the pond answers.
    pub fn is_stale(&self) -> Result<bool> {
        let link = &self.pond().core().link;
        let version = self.version();
        // Read before anything is asked: what changes after it shows later.
        let mark = link.mark(&self.page_target());
        if let (Some(mark), Some((then, of, stale))) = (mark, *lock(&self.following.known))
            && (mark, version) == (then, of)
        {
            return Ok(stale);
        }
        let stale = self.pond().version(self.current())?.info.version != version;
        *lock(&self.following.known) = mark.map(|mark| (mark, version, stale));
        Ok(stale)
    }

    /// Attaches the model's current version if that is another one by now, and says whether it was.
    /// Tensors from before keep the old version until they are dropped.
    ///
    /// # Errors
    /// As for [`Pond::attach`](crate::Pond::attach); this is as it was then.
    pub fn refresh(&mut self) -> Result<bool> {
        if !self.is_stale()? {
            return Ok(false);
        }
        let new = self.pond().attach_with(self.current(), AttachOptions::default())?;
        let changed = new.version() != self.version();
        if changed {
            *self = new;
        }
        Ok(changed)
    }

    /// Maps the model's current version at the places of this one, if that is another one by now,
    /// and says whether it was. Every address stays, for clones and tensors from before as well:
    /// they see the new bytes. Only slabs that differ are mapped anew, after all work of the
    /// context is done; nobody may submit work that uses the model until this returns.
    ///
    /// # Errors
    /// `invalid` if the layouts differ; as for [`Pond::attach`](crate::Pond::attach) else. What
    /// was mapped before is mapped again then, and the old lease is kept. If even that fails, the
    /// error says so.
    pub fn refresh_in_place(&mut self) -> Result<bool> {
        self.attachment.own()?;
        // A clone may have done it. Held until the end: one at a time.
        let following = Arc::clone(&self.following);
        let mut mapped = lock(&following.mapped);
        let adopted = !Arc::ptr_eq(&mapped, &self.seen);
        self.seen = Arc::clone(&mapped);
        if !self.is_stale()? {
            return Ok(adopted);
        }
        let pond = self.pond().clone();
        let target = millpond_wire::VersionTarget::Name(self.current());
        let (lease, granted) = pond.ask_version(target, Mode::ReadOnly, Duration::ZERO)?;
        match self.exchange(lease, granted) {
            Ok(Some(seen)) => {
                self.seen = Arc::new(seen);
                *mapped = Arc::clone(&self.seen);
                Ok(true)
            }
            Ok(None) => {
                pond.core().link.give_back(lease);
                Ok(adopted)
            }
            Err(NotMoved { error, needs_lease }) => {
                if !needs_lease {
                    pond.core().link.give_back(lease);
                }
                Err(error)
            }
        }
    }

    /// Puts the slabs that differ in place; `None` if it is the version that is there.
    fn exchange(&self, lease: LeaseId, granted: Granted) -> Result<Option<Seen>, NotMoved> {
        let Granted { info, parts, manifest, lost, mut slabs } = granted;
        if info.version == self.version() {
            return Ok(None);
        }
        let manifest = manifest.ok_or_else(|| without_manifest(&info))?;
        let core = Arc::clone(self.pond().core());
        let cuda = &*core.cuda;
        let mut held = self.attachment.write();
        let old_lease = held.lease;
        if held.broken {
            return Err(broken(&label(&self.seen.info)).into());
        }
        let Some(arena) = held.arena.as_mut() else {
            return Err(broken(&label(&self.seen.info)).into());
        };
        let sizes = || parts.iter().map(|part| part.bytes);
        let equal = info.layout.is_some() && info.layout == self.seen.info.layout;
        if !equal || info.device != self.attachment.device() || !arena.is_made_for(sizes()) {
            return Err(other_layout(&self.seen.info, &info).into());
        }
        let exchanged = cuda.undisturbing(|| {
            let mut news: Vec<New<CudaSide>> = Vec::new();
            let mut import = || -> Result<()> {
                while let Some((first, fds)) = slabs.next(&core.link)? {
                    for (index, fd) in (first..).zip(&fds) {
                        let part = parts[index].tensor;
                        if arena.part(index) != Some(part) {
                            news.push(arena.import(cuda, index, part, fd.as_fd())?);
                        }
                    }
                }
                Ok(())
            };
            if let Err(error) = import() {
                Arena::discard(cuda, news);
                return Err(error.into());
            }
            arena.exchange(cuda, news).map_err(|failed| not_moved(&self.seen.info, failed))
        });
        let list = Arc::clone(arena.list());
        if let Err(failed) = exchanged {
            held.broken |= failed.needs_lease;
            return Err(failed);
        }
        (held.lease, held.lost) = (lease, lost);
        drop(held);
        // Nothing of the old version is mapped because of this lease any more.
        list.push(old_lease, ToUnmap::Nothing);
        Ok(Some(Seen::new(info, parts, manifest)))
    }

    /// The model, whichever of its versions is current.
    fn current(&self) -> ModelRef {
        ModelRef { model: model_of(&self.seen.info), tag: None }
    }
}

/// Why another version did not take the place of this one.
struct NotMoved {
    error: Error,
    /// Some of it is mapped and could not be unmapped, so its lease must stay.
    needs_lease: bool,
}

impl From<Error> for NotMoved {
    fn from(error: Error) -> Self {
        Self { error, needs_lease: false }
    }
}

fn not_moved(old: &VersionInfo, failed: NotExchanged) -> NotMoved {
    let NotExchanged { error, broken } = failed;
    match broken {
        None => Error::from(error).into(),
        Some(again) => {
            let message = format!(
                "a refresh in place failed ({error}), and '{}' could not be put back ({again})",
                label(old)
            );
            let hint = "drop the model with all of its tensors and attach anew".to_owned();
            let error = Error::version(ErrorKind::Invalid, message, hint);
            NotMoved { error, needs_lease: true }
        }
    }
}

fn other_layout(old: &VersionInfo, new: &VersionInfo) -> Error {
    let message = format!(
        "version '{}' has another layout than '{}', so it cannot take the same addresses",
        label(new),
        label(old)
    );
    let hint = "use `refresh()`, which maps it at other addresses".to_owned();
    Error::version(ErrorKind::Invalid, message, hint)
}
