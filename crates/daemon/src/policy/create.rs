//! Tensors are made: in a slab that has room, or in one that the driver makes for it.

use millpond_view::units::count;
use millpond_wire::message::{EventKind, ReplyBody, RequestBody, TensorCreate, TensorGrant};
use millpond_wire::record::{Record, TensorRecord};
use millpond_wire::{
    Audience, Backing, ErrorKind, Failure, LeaseTarget, Mode, SlabId, TensorId, TensorName, page,
};

use super::answer::{Answer, Answered, from_port, gone, now};
use super::catalog::Tensor;
use super::get::{lost, orphaned};
use super::holds::no_hold_left;
use super::leases::{Lease, Wanted, number_in_use};
use super::owner::{Caller, Owner};
use super::parked::{RequestId, Wish};
use super::pond::Pond;
use super::ports::Ports;
use super::slabs::SlabClass;
use crate::accounts::Resource;

impl<P: Ports> Pond<P> {
    pub(super) fn create(
        &mut self,
        ports: &mut P,
        by: RequestId,
        create: TensorCreate,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        super::life::check(&create.life)?;
        // A repeat gets the same answer, whatever has become of the name since.
        let known = |lease| self.leases.get(client, lease).map(|known| (lease, *known));
        if let Some((lease, Lease { target, asked, .. })) = create.lease.and_then(known) {
            let means = |id: TensorId| target == id.into();
            let is_repeat =
                means(create.tensor) || asked == self.leases.asked_create(create.tensor);
            if !is_repeat && !self.existing(&caller, &create)?.is_some_and(means) {
                return Err(number_in_use(lease));
            }
            return self.answer_create(ports, by, &create, target);
        }
        if let Some(repeated) = self.repeated_create(&caller, &create)? {
            return self.answer_create(ports, by, &create, repeated.into());
        }
        if let Some(existing) = self.existing(&caller, &create)? {
            self.hold_existing(ports, by, existing, &create)?;
            return self.answer_create(ports, by, &create, existing.into());
        }
        if let Some(name) = &create.name {
            self.may_take(&caller, name)?;
        }
        self.room_for_tensor(ports, &caller.owner)?;
        self.check_first_hold(ports, &caller, &create)?;
        let bytes = create
            .shape
            .bytes(create.dtype)
            .map_err(|error| Failure::new(ErrorKind::Invalid, error.to_string()))?;
        let Some(class) = self.class_for(&caller.owner, &create, bytes)? else {
            return self.wait_for_gpus(ports, by, RequestBody::TensorCreate(create));
        };
        // Everything that can be refused is refused before anything is made.
        if let Some(lease) = create.lease {
            self.room_for_lease(ports, client, lease, None)?;
        }
        if create.ephemeral {
            // Its end must be noticed by whichever daemon there is then.
            self.record_client(ports, client)?;
        }
        if let Some((slab, offset)) = self.slabs.place(&class, bytes, create.zero) {
            let mut record = tensor_record(&create, slab, offset, bytes, client, ports.now_ms());
            let now = ports.monotonic_ms();
            record.expires_boot_ms = create.life.ttl_ms.map(|ttl| now.saturating_add(ttl));
            self.commit_tensor(ports, &caller, &record, create.life.ttl_ms)?;
            return self.answer_create(ports, by, &create, create.tensor.into());
        }
        if create.zero
            && let Some(empty) = self.slabs.replaceable(&class, bytes)
        {
            self.slabs.let_go(ports, empty);
        }
        let slab = self.request_slab(ports, class, bytes)?;
        self.park(by, Wish::CreateIn(slab, create), None);
        Ok(Answered::Parked)
    }

    /// Whether there may be one tensor more, and one more of this user.
    pub(super) fn room_for_tensor(&mut self, ports: &mut P, owner: &Owner) -> Result<(), Failure> {
        if self.catalog.len() >= self.caps.tensors {
            return Err(Failure::new(
                ErrorKind::TooMany,
                format!("at most {} tensors are allowed", self.caps.tensors),
            )
            .hint(
                "raise `limits.tensors` in the configuration, or delete some: `millpond tensor ls`",
            ));
        }
        let account = self.account(owner);
        let checked = account.check(Resource::Tensors, 1);
        checked.map_err(|refused| self.cap_reached(ports, &account, refused))
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
        if self.models.has(create.tensor.0) {
            let message = format!("{} is a version of a model", create.tensor);
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        let by_id = self.catalog.get(create.tensor).map(|_| create.tensor);
        let by_name =
            || create.name.as_ref().and_then(|name| self.catalog.named(&caller.owner, name));
        let Some(id) = by_id.or_else(by_name) else { return Ok(None) };
        let Some(found) = self.catalog.get(id) else { return Ok(None) };
        let Some(slab) = self.slabs.get(found.slab) else { return Ok(None) };
        if !caller.may_use(&slab.class.owner, slab.class.audience) || found.is_deleted() {
            return Err(Failure::new(
                ErrorKind::Denied,
                format!("tensor {id} is not yours to make"),
            ));
        }
        let name = create.name.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
        if slab.is_lost() {
            return Err(lost(&name));
        }
        if slab.orphan {
            return Err(orphaned(&name));
        }
        if self.is_unheld(id) {
            return Err(no_hold_left(&name));
        }
        let mut differences = Vec::new();
        if found.is_held() != create.hold.is_some() {
            let [is, asked] = match found.is_held() {
                true => ["lives as long as it is held", "that lasts"],
                false => ["was not made to be held", "that is held"],
            };
            differences.push(format!("it {is}, you asked for one {asked}"));
        }
        if (found.dtype, &found.shape) != (create.dtype, &create.shape) {
            differences.push(format!(
                "it is {} {}, you asked for {} {}",
                found.dtype, found.shape, create.dtype, create.shape
            ));
        }
        if create.device.is_some_and(|device| device != slab.class.device) {
            differences.push(format!("it lies on {}", slab.class.device));
        }
        if create.transport != slab.class.transport {
            differences.push(format!(
                "its transport is {}, you asked for {}",
                slab.class.transport, create.transport
            ));
        }
        if audience_of(create) != slab.class.audience {
            differences.push(format!(
                "it is shared with {}, you asked for {}",
                slab.class.audience,
                audience_of(create)
            ));
        }
        if differences.is_empty() {
            return Ok(Some(id));
        }
        let message = format!("tensor '{name}' already exists: {}", differences.join("; "));
        let hint = if caller.may_change(&slab.class.owner) {
            format!("run `millpond tensor rm {name}` first, or choose another name")
        } else {
            format!("choose another name: this one belongs to user {}", slab.class.owner.user)
        };
        Err(Failure::new(ErrorKind::Exists, message).hint(hint))
    }

    /// Where the tensor will lie; `None` while the driver has not said which GPUs there are.
    fn class_for(
        &self,
        owner: &Owner,
        create: &TensorCreate,
        bytes: u64,
    ) -> Result<Option<SlabClass>, Failure> {
        let Some(device) = self.gpus.choose(create.device)? else { return Ok(None) };
        Ok(Some(SlabClass {
            device,
            owner: owner.clone(),
            audience: audience_of(create),
            size: SlabClass::size_of(create.transport, bytes),
            transport: create.transport,
        }))
    }

    pub(super) fn commit_tensor(
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
        let tensor = Tensor::made(record, ttl_ms, ports.monotonic_ms());
        self.catalog.insert(id, &caller.owner, tensor);
        self.first_hold(id, record.hold);
        self.list_without(id);
        self.schedule(id);
        changed(ports, id, name.as_ref());
        let (dtype, shape, bytes) = (record.dtype, &record.shape, count(record.bytes, "byte"));
        let text = match self.clients.get(record.creator) {
            Some(by) => format!("{dtype} {shape}, {bytes}, by {}", by.label()),
            None => format!("{dtype} {shape}, {bytes}"),
        };
        self.happened(
            ports,
            EventKind::TensorCreated,
            Some(id.into()),
            name,
            Some(caller.owner.user),
            text,
        );
        self.counts.tensors_created += 1;
        self.wake(ports, id);
        Ok(())
    }

    fn answer_create(
        &mut self,
        ports: &mut P,
        by: RequestId,
        create: &TensorCreate,
        target: LeaseTarget,
    ) -> Answer<P::Fd> {
        let existed = target != create.tensor.into();
        match (create.lease, target) {
            // The creator's own lease is no get; one on what was there already is.
            (Some(lease), _) => {
                let asked = self.leases.asked_create(create.tensor);
                let on = Wanted { lease, mode: Mode::ReadWrite, asked };
                let mut answer = self.grant(ports, by.conn, target, on, existed)?;
                if let Answered::Now(ReplyBody::Tensor(grant), _) = &mut answer {
                    grant.existed = existed;
                }
                Ok(answer)
            }
            (None, LeaseTarget::Tensor(tensor)) => {
                let info = self.info(tensor, ports.monotonic_ms())?;
                let backing = Backing::default();
                now(ReplyBody::Tensor(TensorGrant {
                    info,
                    lease: None,
                    existed,
                    backing,
                    event: None,
                }))
            }
            (None, LeaseTarget::Version(version)) => Err(gone("tensor", version)),
        }
    }
}

/// The tensor, or its name, may mean something else from now on: nobody trusts what was known.
pub(super) fn changed<P: Ports>(
    ports: &mut P,
    target: impl Into<LeaseTarget>,
    name: Option<&TensorName>,
) {
    let by_id = page::slot_of_id(target);
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
        held: create.hold.is_some(),
        hold: create.hold,
    }
}
