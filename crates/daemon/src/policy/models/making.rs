//! Slabs for a version: those that were kept for its owner, and new ones from the driver.
//!
//! All of them are there, or none: when one cannot be made, what was made for the version is given
//! back before the request is answered.

use std::collections::BTreeMap;

use millpond_wire::message::{ReplyBody, VersionStage};
use millpond_wire::record::{Record, TensorRecord};
use millpond_wire::{ClientId, Dtype, ErrorKind, Failure, Shape, SlabId, TensorId, VersionId};

use crate::policy::catalog::Tensor;
use crate::policy::create::tensor_of;
use crate::policy::pond::{Answer, PendingSlab, Pond, from_port};
use crate::policy::ports::{ConnId, Ports};
use crate::policy::slabs::Pool;

/// Who waits for slabs: a version that begins, or one place in a version.
pub(in crate::policy) type MakingKey = (VersionId, Option<usize>);

/// Slabs that are being made for a version.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Making {
    pub conn: ConnId,
    pub number: u64,
    pub client: ClientId,
    pub pool: Pool,
    /// What was asked, with its tag, if the version begins.
    pub stage: Option<VersionStage>,
    /// Those that are there, by place in the arena.
    pub has: BTreeMap<usize, Reserved>,
    /// Those that the driver makes.
    pub awaits: BTreeMap<SlabId, (usize, u64)>,
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
        key: MakingKey,
        mut making: Making,
        wanted: Vec<(usize, u64)>,
    ) -> Answer<P::Fd> {
        let mut rest = Vec::new();
        for (place, bytes) in wanted {
            match self.slabs.place(&making.pool, bytes, false) {
                Some((slab, _)) => {
                    making.has.insert(place, Reserved { slab, bytes, fresh: false });
                }
                None => rest.push((place, bytes)),
            }
        }
        let sum: u64 = rest.iter().map(|(_, bytes)| bytes).sum();
        if sum > 0
            && let Err(failure) = self.make_room(ports, making.pool.device, sum)
        {
            let failure = self.with_models(failure, &making);
            self.unmake(ports, key, making);
            return Err(failure);
        }
        for (place, bytes) in rest {
            let slab = SlabId(ports.random_id());
            let pending = PendingSlab {
                pool: making.pool.clone(),
                bytes,
                waiting: Vec::new(),
                version: Some(key),
                tries: 0,
                waits: 0,
                again_ms: None,
            };
            self.pending_slabs.insert(slab, pending);
            making.awaits.insert(slab, (place, bytes));
            ports.make_slab(slab, making.pool.device, bytes, making.pool.owner.user);
        }
        if making.awaits.is_empty() {
            return self.slabs_are_there(ports, key, making);
        }
        self.models.making.insert(key, making);
        Ok(None)
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
        let (conn, number) = (making.conn, making.number);
        if failure.is_none() && self.slabs.take_whole(slab) {
            making.has.insert(place, Reserved { slab, bytes, fresh: true });
            if !making.awaits.is_empty() {
                return;
            }
        }
        let Some(making) = self.models.making.remove(&key) else { return };
        let answer = match failure {
            None => self.slabs_are_there(ports, key, making),
            Some(failure) => {
                let failure = self.with_models(failure, &making);
                self.unmake(ports, key, making);
                Err(failure)
            }
        };
        self.answer_making(ports, conn, number, answer);
    }

    pub(super) fn answer_making(
        &mut self,
        ports: &mut P,
        conn: ConnId,
        number: u64,
        answer: Answer<P::Fd>,
    ) {
        // Who hung up meanwhile asks again.
        if !self.clients.conns.contains_key(&conn) {
            return;
        }
        match answer {
            Ok(Some((body, fds))) => self.answer_later(ports, conn, number, body, fds),
            Ok(None) => {}
            Err(failure) => {
                self.answer_later(ports, conn, number, ReplyBody::Failure(failure), Vec::new());
            }
        }
    }

    fn slabs_are_there(&mut self, ports: &mut P, key: MakingKey, making: Making) -> Answer<P::Fd> {
        match key.1 {
            None => self.staged(ports, key.0, making),
            Some(place) => self.replaced_part(ports, key.0, place, making),
        }
    }

    /// Gives back what was taken for a version that does not come.
    pub(super) fn unmake(&mut self, ports: &mut P, key: MakingKey, making: Making) {
        for slab in making.awaits.keys() {
            // What the driver works on comes, and is nobody's then.
            if self.pending_slabs.get(slab).is_some_and(|pending| pending.again_ms.is_some()) {
                self.pending_slabs.remove(slab);
            }
        }
        for reserved in making.has.into_values() {
            self.slabs.give(reserved.slab, 0, reserved.bytes);
            match reserved.fresh {
                true => self.drop_slab(ports, reserved.slab),
                false => self.recycle_or_drop(ports, reserved.slab),
            }
        }
        let shared = making.stage.into_iter().flat_map(|stage| stage.parts);
        for part in shared.filter_map(|part| part.shared) {
            self.models.unlink(part, key.0);
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
                self.answer_making(ports, making.conn, making.number, answer);
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
        };
        ports.journal(&Record::TensorMade(record.clone())).map_err(from_port)?;
        let unleased_ms = ports.monotonic_ms();
        let part = Tensor { unleased_ms, ..tensor_of(&record, false) };
        self.catalog.insert(tensor, &making.pool.owner, part);
        Ok(tensor)
    }
}
