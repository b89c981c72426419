//! Slabs for a version: those that were kept for its owner, and new ones from the driver.
//!
//! All of them are there, or none: when one cannot be made, what was made for the version is given
//! back before the request is answered.

use std::collections::BTreeMap;

use millpond_wire::message::VersionStage;
use millpond_wire::record::{Record, TensorRecord};
use millpond_wire::{ClientId, Dtype, ErrorKind, Failure, Shape, SlabId, TensorId, VersionId};

use crate::accounts::Charge;
use crate::policy::answer::{Answer, Answered, from_port};
use crate::policy::catalog::Tensor;
use crate::policy::parked::{RequestId, Until, Wish};
use crate::policy::pond::Pond;
use crate::policy::ports::Ports;
use crate::policy::slabs::{PendingSlab, SlabClass};

/// What slabs are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::policy) struct MakingKey {
    pub version: VersionId,
    /// One place in the version's arena; `None` if the version begins.
    pub place: Option<usize>,
}

/// Slabs that are being made for a version.
#[derive(Debug)]
pub(in crate::policy) struct Making {
    pub client: ClientId,
    pub class: SlabClass,
    /// What was asked, with its tag, if the version begins.
    pub stage: Option<VersionStage>,
    /// Those that are there, by place in the arena.
    pub has: BTreeMap<usize, Reserved>,
    /// Those that the driver makes.
    pub awaits: BTreeMap<SlabId, (usize, u64)>,
    /// For a version that begins.
    pub _charge: Option<Charge>,
}

/// A slab that is taken, but has no record of its tensor yet.
#[derive(Clone, Copy, Debug)]
pub(in crate::policy) struct Reserved {
    pub slab: SlabId,
    pub bytes: u64,
    /// Just made, not one that was kept.
    pub fresh: bool,
}

impl<P: Ports> Pond<P> {
    /// Takes slabs for these places, and asks the driver for the rest.
    pub(super) fn make_slabs(
        &mut self,
        ports: &mut P,
        by: RequestId,
        key: MakingKey,
        mut making: Making,
        wanted: Vec<(usize, u64)>,
    ) -> Answer<P::Fd> {
        let mut rest = Vec::new();
        for (place, bytes) in wanted {
            match self.slabs.place(&making.class, bytes, false) {
                Some((slab, _)) => {
                    making.has.insert(place, Reserved { slab, bytes, fresh: false });
                }
                None => rest.push((place, bytes)),
            }
        }
        let sum: u64 = rest.iter().map(|(_, bytes)| bytes).sum();
        if sum > 0
            && let Err(failure) = self.make_room(ports, making.class.device, sum, None)
        {
            let failure = self.with_models(failure, &making);
            self.unmake(ports, key, making);
            return Err(failure);
        }
        for (place, bytes) in rest {
            let slab = SlabId(ports.random_id());
            let pending = PendingSlab::new(making.class.clone(), bytes, Some(key));
            self.pending_slabs.insert(slab, pending);
            making.awaits.insert(slab, (place, bytes));
            ports.make_slab(slab, making.class.device, bytes, making.class.owner.user);
        }
        if making.awaits.is_empty() {
            return self.slabs_are_there(ports, Some(by), key, making);
        }
        self.models.making.insert(key, making);
        self.park(by, Wish::Slabs(key), None);
        Ok(Answered::Parked)
    }

    /// The driver made a slab for a version, or did not.
    pub(in crate::policy) fn slab_for_version(
        &mut self,
        ports: &mut P,
        key: MakingKey,
        slab: SlabId,
        failure: Option<Failure>,
    ) {
        let Some(making) = self.models.making.get_mut(&key) else { return };
        // Given up meanwhile, and begun again: then this one is nobody's.
        let Some((place, bytes)) = making.awaits.remove(&slab) else { return };
        if failure.is_none() && self.slabs.take_whole(slab) {
            making.has.insert(place, Reserved { slab, bytes, fresh: true });
            if !making.awaits.is_empty() {
                return;
            }
        }
        let Some(making) = self.models.making.remove(&key) else { return };
        let ticket = self.parked.first(Until::Slabs(key));
        let by = ticket.and_then(|ticket| self.parked.get(ticket)).map(|parked| parked.by);
        let answer = match failure {
            None => self.slabs_are_there(ports, by, key, making),
            Some(failure) => {
                let failure = self.with_models(failure, &making);
                self.unmake(ports, key, making);
                Err(failure)
            }
        };
        // Who hung up meanwhile asks again.
        self.answer_parked(ports, ticket, answer);
    }

    /// `by` is who waits for them, if anybody still does.
    fn slabs_are_there(
        &mut self,
        ports: &mut P,
        by: Option<RequestId>,
        key: MakingKey,
        making: Making,
    ) -> Answer<P::Fd> {
        match key.place {
            None => self.staged(ports, by, key.version, making),
            Some(place) => self.replaced_part(ports, key.version, place, making),
        }
    }

    /// Gives back what was taken for a version that does not come.
    pub(super) fn unmake(&mut self, ports: &mut P, key: MakingKey, making: Making) {
        for slab in making.awaits.keys() {
            // What the driver works on comes, and is nobody's then.
            self.pending_slabs.give_up(*slab);
        }
        for reserved in making.has.into_values() {
            self.slabs.give(reserved.slab, 0, reserved.bytes);
            match reserved.fresh {
                true => self.slabs.let_go(ports, reserved.slab),
                false => self.recycle_or_drop(ports, reserved.slab),
            }
        }
        let shared = making.stage.into_iter().flat_map(|stage| stage.parts);
        for part in shared.filter_map(|part| part.shared) {
            self.models.unlink(part, key.version);
            self.drop_part_if_unused(ports, part);
        }
    }

    /// The process that wanted these slabs is gone.
    pub(in crate::policy) fn unmake_of(&mut self, ports: &mut P, client: ClientId) {
        let theirs = self.models.making.iter().filter(|(_, making)| making.client == client);
        let keys: Vec<MakingKey> = theirs.map(|(key, _)| *key).collect();
        for key in keys {
            if let Some(making) = self.models.making.remove(&key) {
                let answer = Err(Failure::new(ErrorKind::Retired, "its stager is gone"));
                let ticket = self.parked.first(Until::Slabs(key));
                self.answer_parked(ports, ticket, answer);
                self.unmake(ports, key, making);
            }
        }
    }

    /// Records that a reserved slab is a part. No version has it yet; the caller sees to that.
    pub(super) fn make_part(
        &mut self,
        ports: &mut P,
        making: &Making,
        reserved: Reserved,
    ) -> Result<TensorId, Failure> {
        let shape = Shape::new([reserved.bytes])
            .map_err(|error| Failure::new(ErrorKind::Invalid, error.to_string()))?;
        let tensor = TensorId(ports.random_id());
        let record = TensorRecord {
            tensor,
            name: None,
            dtype: Dtype::U8,
            shape,
            slab: reserved.slab,
            offset: 0,
            bytes: reserved.bytes,
            ready: false,
            generation: 0,
            ephemeral: false,
            creator: making.client,
            created_unix_ms: ports.now_ms(),
            published: None,
            deleted: false,
            expires_boot_ms: None,
            linger_ms: None,
            accesses_left: None,
            part: true,
            renamed: None,
            held: false,
            hold: None,
        };
        ports.journal(&Record::TensorMade(record.clone())).map_err(from_port)?;
        let part = Tensor::made(&record, None, ports.monotonic_ms());
        self.catalog.insert(tensor, &making.class.owner, part);
        Ok(tensor)
    }
}
