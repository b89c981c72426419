//! Another name for a tensor or a model. Identities, leases and memory stay as they are.

use millpond_wire::message::{EventKind, Rename, Target};
use millpond_wire::record::Record;
use millpond_wire::{
    Audience, ErrorKind, Failure, LeaseTarget, TensorId, TensorName, Token, VersionId,
    VersionTarget,
};

use super::answer::{Answer, done, from_port, gone};
use super::catalog::NameKey;
use super::create::changed;
use super::owner::{Caller, Owner, not_yours};
use super::pond::Pond;
use super::ports::Ports;

impl<P: Ports> Pond<P> {
    pub(super) fn rename(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        rename: &Rename,
    ) -> Answer<P::Fd> {
        match rename.object {
            LeaseTarget::Version(id) => self.rename_model(ports, caller, id, rename),
            LeaseTarget::Tensor(id) => self.rename_tensor(ports, caller, id, rename),
        }
    }

    fn rename_tensor(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: TensorId,
        Rename { name, token, .. }: &Rename,
    ) -> Answer<P::Fd> {
        let id = self.find(caller, &Target::Id(id))?;
        self.not_a_part(id)?;
        let Some(tensor) = self.catalog.get(id) else { return Err(gone("tensor", id)) };
        if tensor.was_renamed_by(*token) {
            return done();
        }
        let Some(old) = tensor.name.clone() else {
            let message = format!("tensor {id} has no name to change");
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("a publish can give it its first name"));
        };
        if tensor.is_deleted() {
            let message = format!("tensor '{old}' was deleted");
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        let Some(slab) = self.slabs.get(tensor.slab) else { return Err(gone("tensor", id)) };
        let (owner, audience) = (slab.class.owner.clone(), slab.class.audience);
        if !caller.may_change(&owner) {
            return Err(not_yours(&format!("tensor '{old}'"), &owner));
        }
        self.may_take(caller, name)?;
        may_be_public("tensor", &old, name, audience == Audience::Everybody)?;
        if let Some(other) = self.catalog.named(&owner, name).filter(|other| *other != id) {
            let theirs = self.catalog.get(other).and_then(|it| self.slabs.get(it.slab));
            return Err(taken("tensor", name, &owner, theirs.map(|slab| &slab.class.owner)));
        }
        let record = Record::Renamed { object: id.into(), name: name.clone(), token: *token };
        ports.journal(&record).map_err(from_port)?;
        self.list_before_change(ports, id);
        self.catalog.rename(id, &owner, name.clone(), *token);
        changed(ports, id, Some(&old));
        changed(ports, id, Some(name));
        self.tell_of_rename(ports, caller, id.into(), &old, name);
        self.wake(ports, id);
        done()
    }

    fn rename_model(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        id: VersionId,
        Rename { name, token, .. }: &Rename,
    ) -> Answer<P::Fd> {
        let id = self.models.find(caller, &VersionTarget::Id(id))?;
        let Some((from, model)) = self.models.of_version(id) else {
            return Err(gone("version", id));
        };
        if model.renames.contains(token) {
            return done();
        }
        let (from, owner) = (from.clone(), model.owner.clone());
        let old = &from.name;
        if !caller.may_change(&owner) {
            return Err(not_yours(&format!("model '{old}'"), &owner));
        }
        let versions = model.versions.clone();
        self.may_take(caller, name)?;
        let of_everybody = |id: &VersionId| {
            self.models.get(*id).is_some_and(|it| it.audience == Audience::Everybody)
        };
        may_be_public("model", old, name, versions.iter().all(of_everybody))?;
        let to = NameKey::new(&owner, name);
        if to != from
            && let Some(other) = self.models.model(&to)
        {
            return Err(taken("model", name, &owner, Some(&other.owner)));
        }
        // One that is being made would bring back the old name, or be in the way of the new one.
        let makes = |key: &NameKey| self.models.makes_version_of(key);
        if let Some(busy) = [&from, &to].into_iter().find(|key| makes(key)) {
            let message = format!("a version of model '{}' is being started", busy.name);
            return Err(Failure::new(ErrorKind::Later, message).hint("try again in a moment"));
        }
        let record = Record::Renamed { object: id.into(), name: name.clone(), token: *token };
        ports.journal(&record).map_err(from_port)?;
        self.turns.model_listings().for_each(|listing| listing.renamed(&to));
        self.models.rename(&from, to, *token);
        for version in &versions {
            changed(ports, *version, Some(old));
            self.version_changed(ports, *version);
        }
        self.tell_of_rename(ports, caller, id.into(), old, name);
        for version in versions {
            self.wake_version(ports, version);
        }
        done()
    }

    fn tell_of_rename(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        on: LeaseTarget,
        old: &TensorName,
        new: &TensorName,
    ) {
        let user = caller.owner.user;
        let text = format!("was '{old}', renamed by user {user}");
        self.happened(ports, EventKind::Renamed, Some(on), Some(new.clone()), Some(user), text);
    }

    /// What the journal says about a rename. A name that another object has is left to it, which
    /// only a damaged journal can ask for.
    pub(super) fn replay_rename(&mut self, on: LeaseTarget, name: TensorName, token: Token) {
        let id = match on {
            LeaseTarget::Tensor(id) => id,
            LeaseTarget::Version(id) => {
                let Some((from, model)) = self.models.of_version(id) else { return };
                let (from, to) = (from.clone(), NameKey::new(&model.owner, &name));
                if to == from || self.models.model(&to).is_none() {
                    self.models.rename(&from, to, token);
                }
                return;
            }
        };
        let tensor = self.catalog.get(id).filter(|it| !it.is_part() && it.name.is_some());
        let slab = tensor.and_then(|tensor| self.slabs.get(tensor.slab));
        let Some(owner) = slab.map(|slab| slab.class.owner.clone()) else { return };
        if self.catalog.named(&owner, &name).is_none_or(|other| other == id) {
            self.catalog.rename(id, &owner, name, token);
        }
    }
}

/// Names under `public/` are for what everybody may have.
fn may_be_public(
    what: &str,
    old: &TensorName,
    new: &TensorName,
    of_everybody: bool,
) -> Result<(), Failure> {
    if !new.is_public() || of_everybody {
        return Ok(());
    }
    let message = format!("{what} '{old}' is not shared with everybody, as '{new}' would be");
    Err(Failure::new(ErrorKind::Invalid, message).hint("choose a name outside `public/`"))
}

fn taken(what: &str, name: &TensorName, mine: &Owner, theirs: Option<&Owner>) -> Failure {
    let message = format!("{what} '{name}' already exists");
    let failure = Failure::new(ErrorKind::Exists, message);
    match theirs.filter(|theirs| theirs.user != mine.user) {
        Some(theirs) => {
            failure.hint(format!("choose another name: this one belongs to user {}", theirs.user))
        }
        None => {
            failure.hint(format!("run `millpond rm {what}:{name}` first, or choose another name"))
        }
    }
}
