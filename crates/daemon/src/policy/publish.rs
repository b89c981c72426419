//! Tensors are published: their bytes are complete, and with that they may get their name.

use millpond_wire::message::{EventKind, ReplyBody, Target, TensorPublish};
use millpond_wire::record::Record;
use millpond_wire::{Audience, ErrorKind, Failure, TensorId, TensorName};

use super::answer::{Answer, from_port, gone, now};
use super::create::changed;
use super::owner::{Caller, Owner, not_yours};
use super::pond::Pond;
use super::ports::Ports;

impl<P: Ports> Pond<P> {
    /// One record says all of it: a tensor that replaces another has the name in the same step in
    /// which the other loses it, whoever dies meanwhile.
    pub(super) fn publish(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        publish: TensorPublish,
    ) -> Answer<P::Fd> {
        let TensorPublish { tensor: id, token, name, replace } = publish;
        self.find(caller, &Target::Id(id))?;
        self.may_touch(caller, id)?;
        self.not_a_part(id)?;
        let Some(tensor) = self.catalog.get(id) else { return Err(gone("tensor", id)) };
        if let Some(generation) = tensor.publishes.by(token) {
            return now(ReplyBody::Published { generation });
        }
        let generation = tensor.publishes.generation + 1;
        let owner = self.slabs.get(tensor.slab).map(|slab| slab.class.owner.clone());
        let (name, replaced) = match (name, &owner) {
            (Some(name), Some(owner)) if tensor.name.as_ref() != Some(&name) => {
                let replaced = self.may_be_named(caller, owner, id, &name, replace)?;
                (Some(name), replaced)
            }
            _ => (None, None),
        };
        let record =
            Record::TensorPublished { tensor: id, token, generation, name: name.clone(), replaced };
        ports.journal(&record).map_err(from_port)?;
        for changed in name.iter().map(|_| id).chain(replaced) {
            self.list_before_change(ports, changed);
        }
        self.published(&record);
        let named = self.catalog.get(id).and_then(|tensor| tensor.name.clone());
        changed(ports, id, named.as_ref());
        if let Some(replaced) = replaced {
            changed(ports, replaced, named.as_ref());
            let (name, user) = (name.clone(), Some(caller.owner.user));
            let text = format!("replaced by {id}");
            self.happened(ports, EventKind::TensorDeleted, Some(replaced.into()), name, user, text);
            self.schedule(replaced);
            self.free_if_unused(ports, replaced);
        }
        let new_name = name;
        let (user, text) = (
            Some(caller.owner.user),
            match (&new_name, replaced) {
                (Some(name), Some(old)) => {
                    format!("generation {generation}, as '{name}' instead of {old}")
                }
                (Some(name), None) => format!("generation {generation}, from now on '{name}'"),
                (None, _) => format!("generation {generation}"),
            },
        );
        self.happened(ports, EventKind::TensorPublished, Some(id.into()), named, user, text);
        self.counts.tensors_published += 1;
        self.counts.tensors_deleted += u64::from(replaced.is_some());
        self.wake(ports, id);
        now(ReplyBody::Published { generation })
    }

    /// What a publish changes in the books, now or when it is replayed.
    pub(super) fn published(&mut self, record: &Record) {
        let Record::TensorPublished { tensor: id, token, generation, name, replaced } = record
        else {
            return;
        };
        self.catalog.publish(*id, *token, *generation);
        let Some(tensor) = self.catalog.get(*id) else { return };
        let owner = self.slabs.get(tensor.slab).map(|slab| slab.class.owner.clone());
        if let (Some(name), Some(owner)) = (name, owner) {
            if let Some(replaced) = replaced {
                self.catalog.delete(*replaced, &owner);
                self.holds.tensor_deleted(*replaced);
            }
            self.catalog.name(*id, &owner, name.clone());
        }
    }

    /// Whether a tensor may get this name, and which one loses it.
    fn may_be_named(
        &self,
        caller: &Caller,
        owner: &Owner,
        id: TensorId,
        name: &TensorName,
        replace: bool,
    ) -> Result<Option<TensorId>, Failure> {
        let Some(tensor) = self.catalog.get(id) else { return Ok(None) };
        if let Some(has) = &tensor.name {
            let message = format!("tensor '{has}' already has a name");
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        if tensor.is_deleted() || !caller.may_change(owner) {
            let message = format!("tensor {id} is not yours to name");
            return Err(Failure::new(ErrorKind::Denied, message));
        }
        self.may_take(caller, name)?;
        let audience = self.slabs.get(tensor.slab).map(|slab| slab.class.audience);
        if name.is_public() && audience != Some(Audience::Everybody) {
            let message = format!("'{name}' is shared with everybody, but the tensor is not");
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("make it with audience everybody, or choose a name outside `public/`"));
        }
        let Some(before) = self.catalog.named(owner, name) else { return Ok(None) };
        let theirs = self.catalog.get(before).and_then(|tensor| self.slabs.get(tensor.slab));
        if let Some(slab) = theirs.filter(|slab| !caller.may_change(&slab.class.owner)) {
            return Err(not_yours(&format!("tensor '{name}'"), &slab.class.owner));
        }
        if !replace {
            let message = format!("tensor '{name}' already exists");
            return Err(Failure::new(ErrorKind::Exists, message)
                .hint(format!("replace it, or run `millpond tensor rm {name}` first")));
        }
        Ok(Some(before))
    }
}
