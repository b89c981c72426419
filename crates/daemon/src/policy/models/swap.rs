//! Another version becomes current: one record, and readers find it from then on.

use millpond_view::units::count;
use millpond_wire::message::{EventKind, ReplyBody, VersionState};
use millpond_wire::record::Record;
use millpond_wire::{ErrorKind, Failure, TensorRef, Token, VersionId, VersionTag};

use super::{lost, retired};
use crate::policy::answer::{Answer, from_port, gone, now};
use crate::policy::catalog::NameKey;
use crate::policy::owner::{Caller, not_yours};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn swap(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        name: &TensorRef,
        tag: Option<&VersionTag>,
        token: Token,
    ) -> Answer<P::Fd> {
        let Some((key, model)) = self.models.find_model(caller, name) else {
            return Err(self.models.no_model(caller, name));
        };
        let key = key.clone();
        if !caller.may_change(&model.owner) {
            return Err(not_yours(&format!("model '{name}'"), &model.owner));
        }
        self.may_take(caller, &key.name)?;
        // A repeat gets its answer, whatever happened since.
        if let Some((_, previous)) = model.swaps.iter().find(|(known, _)| *known == token) {
            let previous = previous.clone();
            return self.answer_swap(&key, previous);
        }
        let id = match tag {
            Some(_) => {
                let model_ref = millpond_wire::ModelRef { model: name.clone(), tag: tag.cloned() };
                self.models.find(caller, &millpond_wire::VersionTarget::Name(model_ref))?
            }
            None => self.before_current(&key).ok_or_else(|| {
                let message = format!("model '{name}' has no earlier version to go back to");
                Failure::new(ErrorKind::NotFound, message)
                    .hint("`models.keep_previous` in the configuration says how many are kept")
            })?,
        };
        let Some(version) = self.models.versions.get(&id) else {
            return Err(gone("version", id));
        };
        let label = version.label();
        match version.state {
            VersionState::Ready => {}
            VersionState::Staging => {
                let message = format!("{label} is still being written");
                return Err(
                    Failure::new(ErrorKind::NotReady, message).hint("wait for the end of its load")
                );
            }
            VersionState::Draining => return Err(retired(&label, None)),
        }
        if self.is_lost(version) {
            return Err(lost(&version.model.name, &version.tag));
        }
        // Also if it is current already: a repeat must not bring it back later.
        let record = Record::VersionCurrent { version: id, token: Some(token) };
        ports.journal(&record).map_err(from_port)?;
        let was_current = self.models.models.get(&key).and_then(|model| model.current) == Some(id);
        let before = self.models.flip(id, Some(token));
        if !was_current {
            self.counts.rollbacks += u64::from(tag.is_none());
            self.flipped(ports, id, before);
            self.wake_version(ports, id);
        }
        let previous = before.and_then(|id| self.models.versions.get(&id));
        let previous = previous.map(|version| version.tag.clone());
        self.answer_swap(&key, previous)
    }

    /// The newest of those that were current before and can be so again.
    fn before_current(&self, key: &NameKey) -> Option<VersionId> {
        let model = self.models.models.get(key)?;
        let usable = |id: &&VersionId| {
            let version = self.models.versions.get(id);
            version.is_some_and(|it| it.state == VersionState::Ready && !self.is_lost(it))
        };
        model.history.iter().rev().find(usable).copied()
    }

    fn answer_swap(&self, key: &NameKey, previous: Option<VersionTag>) -> Answer<P::Fd> {
        let model = self.models.models.get(key);
        let current = model.and_then(|model| {
            let id = model.current?;
            Some((id, self.models.versions.get(&id)?))
        });
        let Some((id, version)) = current else {
            let message = format!("model '{}' has no current version any more", key.name);
            return Err(Failure::new(ErrorKind::NotFound, message));
        };
        let before = || {
            let id = model.and_then(|model| model.history.last())?;
            self.models.versions.get(id).map(|version| version.tag.clone())
        };
        now(ReplyBody::Swapped {
            current: Box::new(self.version_info(id, version)),
            previous: previous.or_else(before),
        })
    }

    /// Tells everybody that another version is current, and lets go of the oldest ones.
    pub(super) fn flipped(&mut self, ports: &mut P, id: VersionId, before: Option<VersionId>) {
        let Some(version) = self.models.versions.get(&id) else { return };
        let (key, user) = (version.model.clone(), version.owner.user);
        let text = match before.and_then(|before| self.models.versions.get(&before)) {
            Some(before) => format!("{} instead of {}", version.tag, before.tag),
            None => format!("{} is the first", version.tag),
        };
        self.version_changed(ports, id);
        if let Some(before) = before {
            self.version_changed(ports, before);
        }
        let (on, name) = (Some(id.into()), Some(key.name.clone()));
        self.counts.swaps += 1;
        self.happened(ports, EventKind::ModelSwapped, on, name, Some(user), text);
        self.trim(ports, &key);
    }

    /// Versions that were current long ago drain by themselves.
    pub(super) fn trim(&mut self, ports: &mut P, key: &NameKey) {
        let keep = self.caps.keep_previous;
        while let Some(model) = self.models.models.get(key)
            && model.history.len() > keep
            && let Some(oldest) = model.history.first().copied()
        {
            let verb = if keep == 1 { "is" } else { "are" };
            let why = format!("{} {verb} kept", count(keep as u64, "earlier version"));
            if let Err(error) = self.drain_version(ports, oldest, &why) {
                // The next swap, or the next daemon, tries again.
                tracing::error!(version = %oldest, "could not record that it drains: {error}");
                return;
            }
        }
    }
}
