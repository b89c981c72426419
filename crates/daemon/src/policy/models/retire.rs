//! Versions go: no new leases first, then, with the last lease, the memory.

use std::collections::BTreeSet;

use millpond_view::units::count;
use millpond_wire::message::{EventKind, VersionState};
use millpond_wire::record::Record;
use millpond_wire::{ClientId, ErrorKind, Failure, SlabId, TensorId, VersionId, VersionTarget};

use super::making::MakingKey;
use super::{Version, retired};
use crate::policy::answer::{Answer, done, from_port, gone};
use crate::policy::create::changed;
use crate::policy::events::happening;
use crate::policy::owner::{Caller, not_yours};
use crate::policy::parked::Until;
use crate::policy::pond::Pond;
use crate::policy::ports::{Held, PortError, Ports};
use crate::policy::release::Ending;

impl<P: Ports> Pond<P> {
    pub(in crate::policy) fn retire(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        target: &VersionTarget,
        also_current: bool,
    ) -> Answer<P::Fd> {
        if let VersionTarget::Id(id) = target
            && self.catalog.is_buried(*id)
        {
            return done();
        }
        if let Some(key) = self.models.making_of(caller, target) {
            return self.retire_making(ports, caller, key);
        }
        let id = self.models.find(caller, target)?;
        let Some(version) = self.models.get(id) else { return Err(gone("version", id)) };
        let label = version.label();
        if !caller.may_change(&version.owner) {
            return Err(not_yours(&label, &version.owner));
        }
        if version.state == VersionState::Draining {
            return done();
        }
        let model = self.models.models.get(&version.model);
        if let Some(model) = model.filter(|model| !also_current && model.current == Some(id)) {
            let name = &version.model.name;
            let alone = model.versions.len() == 1;
            if !alone {
                let message = format!("{label} is the current version");
                return Err(Failure::new(ErrorKind::Invalid, message).hint(format!(
                    "make another one current first: `millpond swap {name} VERSION`"
                )));
            }
            let readers = self.leases.count_on(id);
            if readers > 0 {
                let message = format!("{label} is the current version and has {readers} readers");
                return Err(Failure::new(ErrorKind::Invalid, message).hint(format!(
                    "end them (`millpond ps`), or load another version and swap to it: \
                     `millpond load {name} FILES --activate`"
                )));
            }
        }
        let why = format!("retired by user {}", caller.owner.user);
        self.drain_version(ports, id, &why).map_err(from_port)?;
        done()
    }

    fn retire_making(&mut self, ports: &mut P, caller: &Caller, key: MakingKey) -> Answer<P::Fd> {
        let Some(making) = self.models.making.get(&key) else {
            return Err(gone("version", key.version));
        };
        if !caller.may_change(&making.class.owner) {
            return Err(not_yours(&format!("version {}", key.version), &making.class.owner));
        }
        if let Some(making) = self.models.making.remove(&key) {
            let label = making.stage.as_ref().map_or_else(String::new, |stage| {
                let tag = stage.tag.as_ref().map_or_else(String::new, ToString::to_string);
                format!("{}@{tag}", stage.model)
            });
            let ticket = self.parked.first(Until::Slabs(key));
            self.answer_parked(ports, ticket, Err(retired(&label, None)));
            self.unmake(ports, key, making);
        }
        done()
    }

    /// No new leases from now on.
    pub(super) fn drain_version(
        &mut self,
        ports: &mut P,
        id: VersionId,
        why: &str,
    ) -> Result<(), PortError> {
        let Some(version) = self.models.versions.get(&id) else { return Ok(()) };
        if version.state == VersionState::Draining {
            return Ok(());
        }
        let (name, user) = (version.model.name.clone(), version.owner.user);
        let text = format!("{}: {why}; {} readers", version.tag, self.leases.count_on(id));
        ports.journal(&Record::VersionDraining(id))?;
        self.models.drain(id);
        self.version_changed(ports, id);
        let on = Some(id.into());
        self.counts.versions_retired += 1;
        self.happened(ports, EventKind::VersionDraining, on, Some(name), Some(user), text);
        self.go_if_unused(ports, id);
        Ok(())
    }

    /// The stager of these is gone: they never will be complete.
    pub(in crate::policy) fn give_up_staged(&mut self, ports: &mut P, creator: ClientId) {
        let versions = self.models.versions.iter();
        let staged = versions.filter(|(_, version)| {
            version.creator == creator && version.state == VersionState::Staging
        });
        let ids: Vec<VersionId> = staged.map(|(id, _)| *id).collect();
        for id in ids {
            if let Err(error) = self.drain_version(ports, id, "its stager is gone") {
                // The next daemon finds that out by itself.
                tracing::error!(version = %id, "could not record that it is given up: {error}");
            }
        }
    }

    /// Whether a client that has not claimed yet may hold this version.
    fn version_may_be_held(&self, version: &Version<P::Fd>) -> bool {
        version.recovered && self.clients.may_be_held(|caller| version.may_be_held_by(caller))
    }

    /// Taints the slabs of every version that a client of an earlier daemon may have held.
    pub(in crate::policy) fn taint_recovered_versions(&mut self, ports: &mut P, caller: &Caller) {
        let versions = self.models.versions.values();
        let held = versions.filter(|version| version.may_be_held_by(caller));
        let slabs = held.flat_map(Version::keeps).filter_map(|part| {
            let slab = self.catalog.get(part)?.slab;
            self.slabs.get(slab).filter(|slab| slab.recovered).map(|_| slab)
        });
        let slabs: BTreeSet<SlabId> = slabs.collect();
        for slab in slabs {
            self.slabs.taint(ports, slab);
        }
    }

    /// The last reader may have left.
    fn go_if_unused(&mut self, ports: &mut P, id: VersionId) {
        let Some(version) = self.models.versions.get(&id) else { return };
        let draining = version.state == VersionState::Draining;
        if !draining || self.leases.are_on(id) || self.version_may_be_held(version) {
            return;
        }
        if let Err(error) = ports.journal(&Record::VersionGone(id)) {
            tracing::error!(version = %id, "could not record that a version is gone: {error}");
            return;
        }
        let user = Some(version.owner.user);
        // While it is still in the books, which say who may know.
        let public = self.public(id.into(), user);
        let Some(version) = self.models.remove(id) else { return };
        self.catalog.bury(id);
        if let Some(manifest) = version.manifest {
            ports.let_go(Held::Manifest(id), Some(manifest));
        }
        changed(ports, id, Some(&version.model.name));
        let mut freed = 0_usize;
        for part in version.parts.iter().chain(&version.former) {
            freed += usize::from(self.drop_part_if_unused(ports, *part));
        }
        let slabs = count(version.parts.len() as u64, "slab");
        let text = format!("{}: {freed} of {slabs} given back", version.tag);
        let (on, name) = (Some(id.into()), Some(version.model.name));
        let event = happening(ports, EventKind::VersionGone, on, name, user, text);
        self.tell(ports, event, public);
    }

    /// Frees a part that no version has; true if none has. Nothing is recorded before it is freed:
    /// a part without a version is what the next daemon frees as well.
    pub(super) fn drop_part_if_unused(&mut self, ports: &mut P, id: TensorId) -> bool {
        if self.models.keep(id) {
            return false;
        }
        let part = self.catalog.get(id).filter(|tensor| tensor.is_part());
        let slab = part.and_then(|tensor| self.slabs.get(tensor.slab));
        let Some(owner) = slab.map(|slab| slab.class.owner.clone()) else { return false };
        self.catalog.delete(id, &owner);
        self.free_if_unused(ports, id);
        true
    }

    /// Parts that a version had before go when nobody can have them mapped any more.
    pub(super) fn let_former_go(&mut self, ports: &mut P, id: VersionId) {
        let Some(version) = self.models.versions.get(&id) else { return };
        if version.former.is_empty() || self.leases.are_on(id) || self.version_may_be_held(version)
        {
            return;
        }
        let Some(version) = self.models.versions.get_mut(&id) else { return };
        for part in std::mem::take(&mut version.former) {
            self.models.unlink(part, id);
            self.drop_part_if_unused(ports, part);
        }
    }

    /// A lease on a version has ended.
    pub(in crate::policy) fn version_lease_ended(
        &mut self,
        ports: &mut P,
        id: VersionId,
        ending: Ending,
    ) {
        let Some(version) = self.models.get(id) else { return };
        if ending == Ending::Died {
            let slab_of = |part: TensorId| self.catalog.get(part).map(|tensor| tensor.slab);
            let slabs: Vec<SlabId> = version.keeps().filter_map(slab_of).collect();
            for slab in slabs {
                self.slabs.taint(ports, slab);
            }
        }
        self.let_former_go(ports, id);
        self.go_if_unused(ports, id);
    }

    /// Lets go of everything that nobody can hold any more.
    pub(in crate::policy) fn let_versions_go(&mut self, ports: &mut P) {
        let ids: Vec<VersionId> = self.models.versions.keys().copied().collect();
        for id in ids {
            self.let_former_go(ports, id);
            self.go_if_unused(ports, id);
        }
    }

    /// The version, or its model's name, may mean something else from now on.
    pub(in crate::policy) fn version_changed(&self, ports: &mut P, id: VersionId) {
        if let Some(version) = self.models.versions.get(&id) {
            changed(ports, id, Some(&version.model.name));
        }
    }
}
