//! Tensors are made: in a slab that has room, or in one that the driver makes.

use std::collections::BTreeSet;

use millpond_wire::message::{EventKind, ReplyBody, TensorCreate, TensorGrant};
use millpond_wire::record::{Record, SlabRecord, TensorRecord};
use millpond_wire::{
    Audience, Backing, ErrorKind, Failure, GpuUuid, LeaseTarget, Mode, SlabId, TensorId,
    TensorName, page,
};

use super::catalog::{Renames, Tensor};
use super::get::{lost, not_a_tensor};
use super::owner::{Caller, Owner};
use super::pond::{Answer, DriverState, PendingCreate, PendingSlab, Pond, from_port};
use super::ports::{DriverFailure, Held, Ports};
use super::ranges::Ranges;
use super::slabs::{Pool, Slab, SlabClass};
use super::words::count;

/// How often a slab is tried that the card had no memory for, with pauses that double.
const SLAB_TRIES: u32 = 6;
const FIRST_PAUSE_MS: u64 = 10;
/// A card frees what was given back within about 80 ms.
const FREED_WITHIN_MS: u64 = 1000;
/// How often a slab is tried that its owner may have in a moment: a process that has ended counts for
/// up to 100 ms, and one with a context takes as long to end.
const SOON_TRIES: u32 = 50;
const SOON_PAUSE_MS: u64 = 10;

impl<P: Ports> Pond<P> {
    pub(super) fn create(&mut self, ports: &mut P, pending: PendingCreate) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(pending.conn)?;
        let create = &pending.create;
        super::life::check(&create.life)?;
        // A repeat gets the same answer, whatever has become of the name since.
        let leases = self.clients.clients.get(&client).map(|client| &client.leases);
        if let Some(known) = create.lease.and_then(|lease| leases?.get(&lease)) {
            let tensor = known.target.tensor().ok_or_else(|| not_a_tensor(create.lease))?;
            return self.answer_create(ports, &pending, tensor);
        }
        if let Some(existing) = self.existing(&caller, create)? {
            return self.answer_create(ports, &pending, existing);
        }
        if self.catalog.len() >= self.limits.tensors {
            return Err(Failure::new(
                ErrorKind::TooMany,
                format!("{} tensors are the limit", self.limits.tensors),
            )
            .hint(
                "raise `limits.tensors` in the configuration, or delete some: `millpond tensor ls`",
            ));
        }
        let tensors = self.catalog.count_of(&caller.owner);
        if tensors >= self.limits.tensors_per_user {
            let what = format!("{tensors} tensors");
            let key = "limits.tensors_per_user";
            return Err(self.limit_reached(ports, &caller.owner, &what, key));
        }
        let bytes = create
            .shape
            .bytes(create.dtype)
            .map_err(|error| Failure::new(ErrorKind::Invalid, error.to_string()))?;
        let pool = match self.pool_for(&caller.owner, create, bytes)? {
            Some(pool) => pool,
            None => {
                self.before_driver.push(pending);
                return Ok(None);
            }
        };
        // Everything that can be refused is refused before anything is made.
        if let Some(lease) = create.lease {
            self.room_for_lease(ports, client, lease, None)?;
        }
        if create.ephemeral {
            // Its end must be noticed by whichever daemon there is then.
            self.record_client(ports, client)?;
        }
        if let Some((slab, offset)) = self.slabs.place(&pool, bytes, create.zero) {
            let mut record = tensor_record(create, slab, offset, bytes, client, ports.now_ms());
            let now = ports.monotonic_ms();
            record.expires_boot_ms = create.life.ttl_ms.map(|ttl| now.saturating_add(ttl));
            self.commit_tensor(ports, &caller, &record, create.life.ttl_ms)?;
            return self.answer_create(ports, &pending, create.tensor);
        }
        self.request_slab(ports, pool, bytes, pending)?;
        Ok(None)
    }

    /// Once more from the start, with the answer sent from here.
    pub(super) fn retry_create(&mut self, ports: &mut P, pending: PendingCreate) {
        let (conn, number) = (pending.conn, pending.number);
        match self.create(ports, pending) {
            Ok(Some((body, fd))) => self.answer_later(ports, conn, number, body, fd),
            Ok(None) => {}
            Err(failure) => {
                self.answer_later(ports, conn, number, ReplyBody::Failure(failure), Vec::new());
            }
        }
    }

    /// The tensor that this request already made, or that has its name and is the same.
    fn existing(
        &self,
        caller: &Caller,
        create: &TensorCreate,
    ) -> Result<Option<TensorId>, Failure> {
        if self.catalog.is_buried(create.tensor) {
            let message = format!("tensor {} was made and deleted", create.tensor);
            return Err(Failure::new(ErrorKind::NotFound, message));
        }
        self.not_a_part(create.tensor)?;
        if self.is_version(create.tensor) {
            let message = format!("{} is a version of a model", create.tensor);
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let by_id = self.catalog.get(create.tensor).map(|_| create.tensor);
        let by_name =
            || create.name.as_ref().and_then(|name| self.catalog.named(&caller.owner, name));
        let Some(id) = by_id.or_else(by_name) else { return Ok(None) };
        let Some(found) = self.catalog.get(id) else { return Ok(None) };
        let Some(slab) = self.slabs.get(found.slab) else { return Ok(None) };
        if !caller.may_use(&slab.pool.owner, slab.pool.audience) || found.deleted {
            return Err(Failure::new(
                ErrorKind::Denied,
                format!("tensor {id} is not yours to make"),
            ));
        }
        let name = create.name.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
        if slab.is_lost() {
            return Err(lost(&name));
        }
        slab.backing.supported()?;
        let mut differences = Vec::new();
        if (found.dtype, &found.shape) != (create.dtype, &create.shape) {
            differences.push(format!(
                "it is {} {}, you asked for {} {}",
                found.dtype, found.shape, create.dtype, create.shape
            ));
        }
        if create.device.is_some_and(|device| device != slab.pool.device) {
            differences.push(format!("it lies on {}", slab.pool.device));
        }
        if audience_of(create) != slab.pool.audience {
            differences.push(format!(
                "it is shared with {}, you asked for {}",
                slab.pool.audience,
                audience_of(create)
            ));
        }
        if differences.is_empty() {
            return Ok(Some(id));
        }
        let message = format!("tensor '{name}' exists already: {}", differences.join("; "));
        let hint = if caller.may_change(&slab.pool.owner) {
            format!("`millpond tensor rm {name}` first, or take another name")
        } else {
            format!("take another name: this one is user {}'s", slab.pool.owner.user)
        };
        Err(Failure::new(ErrorKind::Exists, message).hint(hint))
    }

    /// Where the tensor will lie; `None` while the driver has not said which GPUs there are.
    fn pool_for(
        &self,
        owner: &Owner,
        create: &TensorCreate,
        bytes: u64,
    ) -> Result<Option<Pool>, Failure> {
        let Some(device) = self.device_for(create.device)? else { return Ok(None) };
        Ok(Some(Pool {
            device,
            owner: owner.clone(),
            audience: audience_of(create),
            class: SlabClass::of(bytes),
        }))
    }

    /// The GPU that is wanted, or the first; `None` while the driver has not said which there are.
    pub(super) fn device_for(&self, wanted: Option<GpuUuid>) -> Result<Option<GpuUuid>, Failure> {
        match &self.driver {
            DriverState::Starting => return Ok(None),
            DriverState::Ready(_) => {}
            DriverState::Failed(text) => {
                return Err(Failure::new(
                    ErrorKind::Driver,
                    format!("no memory can be made: {text}"),
                )
                .hint("run `millpond doctor`"));
            }
        }
        let device = match wanted {
            None => self.devices.first(),
            Some(wanted) => self.devices.iter().find(|device| device.uuid == wanted),
        };
        let Some(device) = device else {
            let known: Vec<String> =
                self.devices.iter().map(|device| device.uuid.to_string()).collect();
            let message = match wanted {
                Some(wanted) => format!("{wanted} is not in this pond"),
                None => "this pond has no GPU".to_owned(),
            };
            return Err(Failure::new(ErrorKind::NoDevice, message).hint(format!(
                "GPUs here: {}",
                if known.is_empty() {
                    "none; run `millpond doctor`".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        };
        Ok(Some(device.uuid))
    }

    fn request_slab(
        &mut self,
        ports: &mut P,
        pool: Pool,
        tensor_bytes: u64,
        pending: PendingCreate,
    ) -> Result<(), Failure> {
        let bytes = pool.class.slab_bytes(tensor_bytes);
        if pool.class != SlabClass::Own
            && let Some(making) = self.pending_slabs.values_mut().find(|making| making.pool == pool)
        {
            making.waiting.push(pending);
            return Ok(());
        }
        self.make_room(ports, pool.device, bytes)?;
        let slab = SlabId(ports.random_id());
        let (device, user) = (pool.device, pool.owner.user);
        self.pending_slabs.insert(
            slab,
            PendingSlab {
                pool,
                bytes,
                waiting: vec![pending],
                version: None,
                tries: 0,
                waits: 0,
                again_ms: None,
            },
        );
        ports.make_slab(slab, device, bytes, user);
        Ok(())
    }

    /// The driver made a slab, or did not.
    pub fn slab_made(&mut self, ports: &mut P, id: SlabId, result: Result<P::Fd, DriverFailure>) {
        let Some(pending) = self.pending_slabs.remove(&id) else { return };
        let again = match &result {
            Err(DriverFailure { over_limit: Some(over), .. }) => {
                self.try_slab_in_group(ports, id, &pending, over.soon)
            }
            Err(failure) if failure.out_of_memory => self.try_slab_again(ports, id, &pending),
            _ => false,
        };
        if again {
            return;
        }
        let failure = match result {
            Ok(fd) => self.commit_slab(ports, id, &pending, fd).err(),
            Err(failure) => Some(self.slab_failure(&pending.pool, pending.bytes, &failure)),
        };
        if let Some(key) = pending.version {
            self.slab_for_version(ports, key, id, failure.clone());
        }
        for waiting in pending.waiting {
            match &failure {
                None => self.retry_create(ports, waiting),
                Some(failure) => {
                    let body = ReplyBody::Failure(failure.clone());
                    self.answer_later(ports, waiting.conn, waiting.number, body, Vec::new());
                }
            }
        }
        // Nobody took it: its creator hung up meanwhile.
        let untaken = self.slabs.get(id).filter(|slab| slab.tensors == 0);
        match untaken.map(|slab| slab.pool.class) {
            Some(SlabClass::Own) => self.drop_slab(ports, id),
            Some(_) => self.recycle_or_drop(ports, id),
            None => {}
        }
    }

    /// What this pond has just given back, the card frees a moment later; and what it keeps for
    /// others to use again, it can give back now. True if the slab will be tried again.
    fn try_slab_again(&mut self, ports: &mut P, id: SlabId, pending: &PendingSlab) -> bool {
        let now = ports.monotonic_ms();
        let dropped = self.drop_recycled(ports, pending.pool.device, pending.bytes);
        let recently = self.gave_back_ms.is_some_and(|at| now.saturating_sub(at) < FREED_WITHIN_MS);
        if pending.tries >= SLAB_TRIES || !(dropped > 0 || recently) {
            return false;
        }
        let again_ms = now + (FIRST_PAUSE_MS << pending.tries);
        let tries = pending.tries + 1;
        self.pending_slabs
            .insert(id, PendingSlab { tries, again_ms: Some(again_ms), ..pending.clone() });
        true
    }

    /// What is kept for a user to use again is charged to the user's group as well; and what ended a
    /// moment ago has something that comes back. True if the slab is tried once more, at once or soon.
    fn try_slab_in_group(
        &mut self,
        ports: &mut P,
        id: SlabId,
        pending: &PendingSlab,
        soon: bool,
    ) -> bool {
        let (device, user) = (pending.pool.device, pending.pool.owner.user);
        let dropped = match pending.waits {
            0 if self.charged_users.contains(&user) => self.drop_recycled_of(ports, device, user),
            // Others were promised what is kept for anybody whom no group pays for.
            0 => self.drop_recycled(ports, device, pending.bytes),
            _ => 0,
        };
        let dropped = dropped > 0;
        let waits_on = soon && pending.waits < SOON_TRIES;
        if !(dropped || waits_on) {
            return false;
        }
        let again_ms = (!dropped).then(|| ports.monotonic_ms() + SOON_PAUSE_MS);
        let waits = pending.waits + 1;
        self.pending_slabs.insert(id, PendingSlab { waits, again_ms, ..pending.clone() });
        if dropped {
            // Closing comes before this in the driver thread's queue.
            ports.make_slab(id, device, pending.bytes, user);
        }
        true
    }

    /// Asks the driver again for slabs whose time has come. Returns when to come again.
    pub(super) fn retry_slabs(&mut self, ports: &mut P) -> Option<u64> {
        let now = ports.monotonic_ms();
        let mut next: Option<u64> = None;
        for (id, pending) in &mut self.pending_slabs {
            match pending.again_ms {
                Some(again) if again <= now => {
                    pending.again_ms = None;
                    let pool = &pending.pool;
                    ports.make_slab(*id, pool.device, pending.bytes, pool.owner.user);
                }
                Some(again) => next = Some(next.map_or(again, |next| next.min(again))),
                None => {}
            }
        }
        next
    }

    fn commit_slab(
        &mut self,
        ports: &mut P,
        id: SlabId,
        pending: &PendingSlab,
        fd: P::Fd,
    ) -> Result<(), Failure> {
        let pool = &pending.pool;
        if let Err(error) = ports.hold(Held::Slab(id), &fd) {
            ports.let_go(Held::Slab(id), Some(fd));
            return Err(from_port(error));
        }
        let slab = Slab {
            pool: pool.clone(),
            bytes: pending.bytes,
            backing: Backing::default(),
            fd: Some(fd.clone()),
            ranges: Ranges::new(pending.bytes),
            tensors: 0,
            tensor_bytes: 0,
            tainted: false,
            recovered: false,
        };
        if let Err(error) = ports.journal(&slab_record(id, &slab)) {
            ports.let_go(Held::Slab(id), Some(fd));
            return Err(from_port(error));
        }
        self.slabs.insert(id, slab);
        Ok(())
    }

    fn commit_tensor(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        record: &TensorRecord,
        ttl_ms: Option<u64>,
    ) -> Result<(), Failure> {
        if let Err(error) = ports.journal(&Record::TensorMade(record.clone())) {
            self.slabs.give(record.slab, record.offset, record.bytes);
            return Err(from_port(error));
        }
        let (id, name) = (record.tensor, record.name.clone());
        let unleased_ms = ports.monotonic_ms();
        let tensor = Tensor { ttl_ms, unleased_ms, ..tensor_of(record, false) };
        self.catalog.insert(id, &caller.owner, tensor);
        self.list_without(id);
        self.schedule(id);
        changed(ports, id, name.as_ref());
        let mut text =
            format!("{} {}, {}", record.dtype, record.shape, count(record.bytes, "byte"));
        if let Some(by) = self.clients.clients.get(&record.creator) {
            text.push_str(&format!(", by {} (pid {})", by.program, by.pid));
        }
        self.happened(
            ports,
            EventKind::TensorCreated,
            Some(id.into()),
            name,
            Some(caller.owner.user),
            text,
        );
        self.wake(ports, id);
        Ok(())
    }

    fn answer_create(
        &mut self,
        ports: &mut P,
        pending: &PendingCreate,
        tensor: TensorId,
    ) -> Answer<P::Fd> {
        let existed = tensor != pending.create.tensor;
        match pending.create.lease {
            // The creator's own lease is no get; one on what was there already is.
            Some(lease) => {
                let on = (lease, Mode::ReadWrite);
                let mut answer = self.grant(ports, pending.conn, tensor, on, existed)?;
                if let Some((ReplyBody::Tensor(grant), _)) = &mut answer {
                    grant.existed = existed;
                }
                Ok(answer)
            }
            None => {
                let info = self.info(tensor, ports.monotonic_ms())?;
                let grant = TensorGrant { info, lease: None, existed, backing: Backing::default() };
                Ok(Some((ReplyBody::Tensor(grant), Vec::new())))
            }
        }
    }
}

/// The tensor, or its name, may mean something else from now on: nobody trusts what was known.
pub(super) fn changed<P: Ports>(
    ports: &mut P,
    id: impl Into<LeaseTarget>,
    name: Option<&TensorName>,
) {
    let by_id = page::slot_of_id(id);
    ports.bump([name.map_or(by_id, page::slot_of_name), by_id]);
}

/// What is under `public/` is everybody's.
fn audience_of(create: &TensorCreate) -> Audience {
    match &create.name {
        Some(name) if name.is_public() => Audience::Everybody,
        _ => create.audience,
    }
}

fn tensor_record(
    create: &TensorCreate,
    slab: SlabId,
    offset: u64,
    bytes: u64,
    creator: millpond_wire::ClientId,
    created_unix_ms: u64,
) -> TensorRecord {
    TensorRecord {
        tensor: create.tensor,
        name: create.name.clone(),
        dtype: create.dtype,
        shape: create.shape.clone(),
        slab,
        offset,
        bytes,
        // Zeroes are complete contents: nobody has to publish them.
        ready: create.zero,
        generation: u64::from(create.zero),
        ephemeral: create.ephemeral,
        creator,
        created_unix_ms,
        published: None,
        deleted: false,
        expires_boot_ms: None,
        linger_ms: create.life.linger_ms,
        accesses_left: create.life.accesses,
        part: false,
        renamed: None,
    }
}

pub(super) fn tensor_of(record: &TensorRecord, recovered: bool) -> Tensor {
    Tensor {
        name: record.name.clone(),
        dtype: record.dtype,
        shape: record.shape.clone(),
        bytes: record.bytes,
        slab: record.slab,
        offset: record.offset,
        ready: record.ready,
        generation: record.generation,
        published: record.published,
        earlier_publishes: Vec::new(),
        renames: Renames::recorded(record.renamed),
        ephemeral: record.ephemeral,
        creator: record.creator,
        created_ms: record.created_unix_ms,
        deleted: record.deleted,
        recovered,
        leases: BTreeSet::new(),
        ttl_ms: None,
        expires_ms: record.expires_boot_ms,
        linger_ms: record.linger_ms,
        accesses_left: record.accesses_left,
        accesses: 0,
        unleased_ms: 0,
        ends_ms: None,
        part: record.part,
    }
}

pub(super) fn slab_record<F>(id: SlabId, slab: &Slab<F>) -> Record {
    Record::SlabMade(SlabRecord {
        slab: id,
        device: slab.pool.device,
        bytes: slab.bytes,
        class: slab.pool.class as u8,
        tenant: slab.pool.owner.tenant.to_string(),
        user: slab.pool.owner.user,
        group: slab.pool.owner.group,
        audience: slab.pool.audience,
        backing: slab.backing,
    })
}
