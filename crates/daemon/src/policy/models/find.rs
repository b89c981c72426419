//! Versions are found: by identity, by name, and while their slabs are still being made.

use millpond_wire::message::VersionState;
use millpond_wire::{
    ClientId, ErrorKind, Failure, TensorRef, VersionId, VersionTag, VersionTarget, caps,
};
use uuid::Uuid;

use super::making::MakingKey;
use super::{Model, Models, Version, retired};
use crate::policy::catalog::{NameKey, is_in_public, public_of, similar, way_out};
use crate::policy::owner::Caller;

impl<F> Models<F> {
    /// Whether a version has this identity, which no tensor may have then.
    pub(in crate::policy) fn has_staged(&self, id: Uuid) -> bool {
        self.versions.contains_key(&VersionId(id))
    }

    /// The same, also of a version whose slabs are still being made.
    pub(in crate::policy) fn has(&self, id: Uuid) -> bool {
        let begins = MakingKey { version: VersionId(id), place: None };
        self.has_staged(id) || self.making.contains_key(&begins)
    }

    /// Whether slabs are being made for a new version of this model.
    pub(in crate::policy) fn makes_version_of(&self, model: &NameKey) -> bool {
        self.making.values().any(|making| {
            let stage = making.stage.as_ref();
            stage.is_some_and(|stage| NameKey::new(&making.class.owner, &stage.model) == *model)
        })
    }

    /// The version that a caller means, if the caller may have it.
    pub(in crate::policy) fn lookup(
        &self,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Option<VersionId> {
        let id = match target {
            VersionTarget::Id(id) => *id,
            VersionTarget::Name(name) => {
                let (_, model) = self.resolve(caller, &name.model)?;
                match &name.tag {
                    Some(tag) => self.tagged(model, tag)?,
                    None => model.current?,
                }
            }
        };
        let version = self.versions.get(&id)?;
        caller.may_use(&version.owner, version.audience).then_some(id)
    }

    /// The same, or what to tell the caller.
    pub(in crate::policy) fn find(
        &self,
        caller: &Caller,
        target: &VersionTarget,
    ) -> Result<VersionId, Failure> {
        self.lookup(caller, target).ok_or_else(|| self.no_version(caller, target))
    }

    pub(super) fn no_version(&self, caller: &Caller, target: &VersionTarget) -> Failure {
        let VersionTarget::Name(name) = target else {
            let message = format!("version {target} not found");
            return Failure::new(ErrorKind::NotFound, message)
                .hint("`millpond models` lists the models");
        };
        let Some((_, model)) = self.find_model(caller, &name.model) else {
            return self.no_model(caller, &name.model);
        };
        let shared = self.shared_versions(caller, model);
        match &name.tag {
            Some(tag) => {
                let tags: Vec<String> =
                    shared.iter().map(|version| version.tag.to_string()).collect();
                let message = format!("model '{}' has no version {tag}", name.model);
                let mut failure = Failure::new(ErrorKind::NotFound, message)
                    .hint(format!("available: {}", tags.join(", ")));
                failure.similar = tags;
                failure.similar.truncate(caps::FAILURE_LIST);
                failure
            }
            None => {
                let ready = |version: &&&Version<F>| version.state == VersionState::Ready;
                let message = format!("model '{}' has no current version yet", name.model);
                let failure = Failure::new(ErrorKind::NotReady, message);
                match shared.iter().rev().find(ready) {
                    Some(version) => {
                        failure.hint(format!("`millpond swap {} {}`", name.model, version.tag))
                    }
                    None => failure.hint("wait for the end of its load"),
                }
            }
        }
    }

    /// Versions of a model that are shared with a caller.
    pub(super) fn shared_versions(&self, caller: &Caller, model: &Model) -> Vec<&Version<F>> {
        let versions = model.versions.iter().filter_map(|id| self.versions.get(id));
        versions.filter(|version| caller.may_use(&version.owner, version.audience)).collect()
    }

    /// The model that a caller means, if any of it is shared with the caller.
    pub(super) fn find_model(
        &self,
        caller: &Caller,
        name: &TensorRef,
    ) -> Option<(&NameKey, &Model)> {
        let (key, model) = self.resolve(caller, name)?;
        (!self.shared_versions(caller, model).is_empty()).then_some((key, model))
    }

    pub(super) fn no_model(&self, caller: &Caller, name: &TensorRef) -> Failure {
        let mut failure = Failure::new(ErrorKind::NotFound, format!("model '{name}' not found"));
        if let Some(public) = public_of(name)
            && let Some((_, model)) = self.find_model(caller, &public)
        {
            return failure.hint(is_in_public(&public, &model.owner));
        }
        let visible = self.models.iter().filter(|(_, model)| {
            model.owner.tenant == caller.owner.tenant
                && !self.shared_versions(caller, model).is_empty()
        });
        failure.similar = similar(caller, name, visible.map(|(key, _)| key));
        let hint = way_out(&failure.similar, "millpond models");
        failure.hint(hint)
    }

    /// A version whose slabs are still being made.
    pub(super) fn making_of(&self, caller: &Caller, target: &VersionTarget) -> Option<MakingKey> {
        let mut making = self.making.iter();
        let found = making.find(|(of, making)| match (target, &making.stage) {
            (_, None) => false,
            (VersionTarget::Id(wanted), _) => *wanted == of.version,
            (VersionTarget::Name(name), Some(stage)) => {
                name.tag.is_some()
                    && name.tag == stage.tag
                    && NameKey::meant(caller, &name.model)
                        == NameKey::new(&making.class.owner, &stage.model)
            }
        });
        found.map(|(key, _)| *key)
    }

    /// The version, if it is staged by this client.
    pub(in crate::policy) fn staged_by(
        &self,
        client: ClientId,
        caller: &Caller,
        id: VersionId,
    ) -> Result<&Version<F>, Failure> {
        let target = VersionTarget::Id(id);
        self.find(caller, &target)?;
        let Some(version) = self.versions.get(&id) else {
            return Err(Failure::new(ErrorKind::NotFound, format!("version {id} not found")));
        };
        let label = version.label();
        if version.creator != client {
            let message = format!("{label} is staged by another process");
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        match version.state {
            VersionState::Staging => Ok(version),
            VersionState::Ready => {
                let message = format!("{label} is ready and can no longer change");
                Err(Failure::new(ErrorKind::Exists, message).hint("stage another version"))
            }
            VersionState::Draining => Err(retired(&label, None)),
        }
    }

    pub(super) fn current_tag(&self, version: &Version<F>) -> Option<&VersionTag> {
        let current = self.models.get(&version.model)?.current?;
        self.versions.get(&current).map(|version| &version.tag)
    }
}
