//! Memory that somebody already has joins the pond, without a copy.
//!
//! The daemon maps and reads nothing of it: it compares the descriptor with what its own driver
//! exports, charges the owner, and has a mover prove that the memory is there, of that kind and size.
//! Only then the keeper gets the descriptor. Adopted memory is never used for anything else.

use std::collections::BTreeMap;

use millpond_mover::channel::Why;
use millpond_view::units::count;
use millpond_wire::message::{EventKind, Reply, ReplyBody, TensorAdopt, TensorGrant};
use millpond_wire::record::TensorRecord;
use millpond_wire::{
    Audience, Backing, ClientId, ErrorKind, Failure, GpuUuid, SlabId, TensorId, Transport,
};

use super::answer::{Answer, Answered, from_hold, now};
use super::owner::Caller;
use super::parked::{RequestId, Until, Wish};
use super::pond::Pond;
use super::ports::{DriverFailure, Ports};
use super::slabs::{Home, Made, Slab, SlabClass, SlabSize};

/// Memory that is on its way into the pond.
#[derive(Debug)]
struct Adoption<F> {
    client: ClientId,
    caller: Caller,
    what: TensorAdopt,
    fd: Option<F>,
}

/// A tensor that is freed, and whose owner does not know yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lent {
    pub client: ClientId,
    pub tensor: TensorId,
    pub slab: SlabId,
}

#[derive(Debug)]
pub(super) struct Adoptions<F> {
    by_slab: BTreeMap<SlabId, Adoption<F>>,
    lent: Vec<Lent>,
}

impl<F> Default for Adoptions<F> {
    fn default() -> Self {
        Self { by_slab: BTreeMap::new(), lent: Vec::new() }
    }
}

impl<F> Adoptions<F> {
    pub(super) fn knows(&self, slab: SlabId) -> bool {
        self.by_slab.contains_key(&slab)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_slab.is_empty()
    }

    pub(super) fn keep_lent(&mut self, lent: Lent) {
        self.lent.push(lent);
    }

    /// Takes out those whose owners may have to be told.
    pub(super) fn take_lent(&mut self) -> Vec<Lent> {
        std::mem::take(&mut self.lent)
    }

    /// Their bytes on a GPU.
    pub(super) fn bytes_on(&self, device: GpuUuid) -> u64 {
        let on = self.by_slab.values().filter(|it| it.what.device == device);
        on.map(|it| it.what.slab_bytes).sum()
    }

    /// The one that a client has begun for this tensor.
    fn of(&self, client: ClientId, tensor: TensorId) -> Option<SlabId> {
        let mut all = self.by_slab.iter();
        all.find(|(_, it)| it.client == client && it.what.tensor == tensor).map(|(slab, _)| *slab)
    }
}

impl<F: Clone> Adoptions<F> {
    /// What a mover needs to prove the memory.
    pub(super) fn to_prove(&self, slab: SlabId) -> Option<(u64, Backing, Option<F>)> {
        let it = self.by_slab.get(&slab)?;
        Some((it.what.slab_bytes, backing(&it.what), it.fd.clone()))
    }
}

fn backing(what: &TensorAdopt) -> Backing {
    Backing { transport: what.transport, adopted: true }
}

impl<P: Ports> Pond<P> {
    pub(super) fn adopt(
        &mut self,
        ports: &mut P,
        by: RequestId,
        what: TensorAdopt,
        fd: Option<P::Fd>,
    ) -> Answer<P::Fd> {
        self.check_draining()?;
        let (client, caller) = self.client_of(by.conn)?;
        let mine = self.catalog.get(what.tensor).filter(|tensor| tensor.creator == client);
        let slab = mine.and_then(|tensor| self.slabs.get(tensor.slab));
        if slab.is_some_and(|slab| slab.backing.adopted) {
            // A repeat gets the same answer.
            return self.answer_adopt(ports, what.tensor);
        }
        if let Some(slab) = self.adoptions.of(client, what.tensor) {
            self.park(by, Wish::Adopt(slab), None);
            return Ok(Answered::Parked);
        }
        self.not_a_version(what.tensor)?;
        self.may_adopt(ports, client, &caller, (&what, fd.as_ref()))?;
        if let Some(fd) = &fd {
            ports.is_exported(fd, what.transport.kind()).map_err(|text| {
                Failure::new(ErrorKind::Invalid, format!("this is not memory of the GPU: {text}"))
            })?;
        }
        self.make_room(ports, what.device, what.slab_bytes, None)?;
        let slab = SlabId(ports.random_id());
        let (device, bytes, user) = (what.device, what.slab_bytes, caller.owner.user);
        // What is in a pool stays charged to its maker: nobody can tell it from the rest of the pool.
        let is_pool = matches!(what.transport, Transport::Mempool(_));
        let maker = self.clients.get(client).map(|client| client.process.pid).filter(|_| !is_pool);
        self.adoptions.by_slab.insert(slab, Adoption { client, caller, what, fd });
        self.park(by, Wish::Adopt(slab), None);
        let charged = match maker {
            Some(pid) => ports.charge_made(slab, device, bytes, user, pid),
            None => ports.charge_slab(slab, device, bytes, user),
        };
        if charged {
            self.adoption_charged(ports, slab, Ok(()));
        }
        Ok(Answered::Parked)
    }

    /// Everything that can be refused is refused before anything is charged.
    fn may_adopt(
        &mut self,
        ports: &mut P,
        client: ClientId,
        caller: &Caller,
        (what, fd): (&TensorAdopt, Option<&P::Fd>),
    ) -> Result<(), Failure> {
        let invalid = |message: String| Err(Failure::new(ErrorKind::Invalid, message));
        self.may_be_new(ports, caller, (what, fd))?;
        let bytes = what.shape.bytes(what.dtype);
        let bytes = bytes.map_err(|error| Failure::new(ErrorKind::Invalid, error.to_string()))?;
        let inside = what.offset.checked_add(bytes).is_some_and(|end| end <= what.slab_bytes);
        if !inside || what.slab_bytes == 0 {
            return invalid(format!(
                "{bytes} bytes at {} are not inside of memory of {} bytes",
                what.offset, what.slab_bytes
            ));
        }
        if self.gpus.choose(Some(what.device))?.is_none() {
            let message = "the driver has not answered yet";
            return Err(Failure::new(ErrorKind::Later, message).hint("try again in a moment"));
        }
        if matches!(what.transport, Transport::Ipc(_)) {
            // The end of its owner must be noticed by whichever daemon there is then.
            self.record_client(ports, client)?;
        }
        Ok(())
    }

    /// Whether nothing else has the identity, the name or the memory, and there may be one tensor more.
    /// It is looked at again when the memory was proved: others do not wait for that.
    fn may_be_new(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        (what, fd): (&TensorAdopt, Option<&P::Fd>),
    ) -> Result<(), Failure> {
        if self.catalog.get(what.tensor).is_some() || self.catalog.is_buried(what.tensor) {
            let message = format!("the identity {} is in use", what.tensor);
            return Err(Failure::new(ErrorKind::Invalid, message));
        }
        self.not_a_part(what.tensor)?;
        if let Some(name) = &what.name {
            self.may_take(caller, name)?;
            if self.catalog.named(&caller.owner, name).is_some() {
                let message = format!("tensor '{name}' already exists");
                return Err(Failure::new(ErrorKind::Exists, message).hint(format!(
                    "run `millpond tensor rm {name}` first, or choose another name"
                )));
            }
        }
        self.room_for_tensor(ports, &caller.owner)?;
        if self.slabs.iter().any(|(_, slab)| is_memory_of(ports, slab, what, fd)) {
            // Whose it is stays untold.
            let message = "this memory is in the pond already";
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("get the tensor by its name, or copy the memory into a new tensor"));
        }
        Ok(())
    }

    /// The owner was charged for adopted memory, or may not have it.
    pub(super) fn adoption_charged(
        &mut self,
        ports: &mut P,
        slab: SlabId,
        result: Result<(), DriverFailure>,
    ) {
        let Some(adoption) = self.adoptions.by_slab.get(&slab) else { return };
        let device = adoption.what.device;
        match result {
            Ok(()) => self.prove(ports, device, slab),
            Err(failure) => {
                let class = adoption.class();
                let bytes = adoption.what.slab_bytes;
                let failure = self.slab_failure(&class, bytes, &failure);
                self.end_adoption(ports, slab, false, Err(failure));
            }
        }
    }

    /// A mover has mapped adopted memory, or could not.
    pub(super) fn proved(
        &mut self,
        ports: &mut P,
        slab: SlabId,
        result: Result<(), (Why, String)>,
    ) {
        let Some(adoption) = self.adoptions.by_slab.get(&slab) else { return };
        let answer = match result {
            // Whoever is gone has taken its memory along, or left nobody who knows of it.
            Ok(()) if !self.clients.knows(adoption.client) => {
                Err(Failure::new(ErrorKind::NotFound, "its owner is gone"))
            }
            Ok(()) => {
                let free = self.not_a_version(adoption.what.tensor);
                free.and_then(|()| self.take_in(ports, slab))
            }
            Err((Why::Driver, text)) => {
                let message = format!("the driver does not open this memory: {text}");
                Err(Failure::new(ErrorKind::Invalid, message).hint("copy it into a new tensor"))
            }
            Err((_, text)) => {
                Err(Failure::new(ErrorKind::Invalid, text).hint("copy it into a new tensor"))
            }
        };
        let is_in = answer.is_ok();
        self.end_adoption(ports, slab, !is_in, answer);
    }

    fn not_a_version(&self, id: TensorId) -> Result<(), Failure> {
        match self.models.has(id.0) {
            true => Err(Failure::new(ErrorKind::Invalid, format!("{id} is a version of a model"))),
            false => Ok(()),
        }
    }

    /// Hold, then journal the slab, then the tensor.
    fn take_in(&mut self, ports: &mut P, slab: SlabId) -> Result<TensorId, Failure> {
        let Some(adoption) = self.adoptions.by_slab.get(&slab) else {
            return Err(Failure::new(ErrorKind::Internal, "nobody adopts this"));
        };
        let what = adoption.what.clone();
        let (client, caller, class) = (adoption.client, adoption.caller.clone(), adoption.class());
        let fd = adoption.fd.clone();
        self.may_be_new(ports, &caller, (&what, fd.as_ref()))?;
        let is_announced = matches!(what.transport, Transport::Ipc(_));
        let home = is_announced.then_some(Home::Owner(client));
        let made = Made { backing: backing(&what), fd, home, event: None };
        let committed = self.slabs.commit(ports, slab, (class, what.slab_bytes), made);
        committed.map_err(from_hold)?;
        let bytes = what.shape.bytes(what.dtype).unwrap_or(0);
        if !self.slabs.take_at(slab, what.offset, bytes) {
            self.slabs.let_go(ports, slab);
            return Err(Failure::new(ErrorKind::Internal, "the memory has no such range"));
        }
        let record = TensorRecord {
            tensor: what.tensor,
            name: what.name.clone(),
            dtype: what.dtype,
            shape: what.shape.clone(),
            slab,
            offset: what.offset,
            bytes,
            ready: true,
            generation: 1,
            ephemeral: false,
            creator: client,
            created_unix_ms: ports.now_ms(),
            published: None,
            deleted: false,
            expires_boot_ms: None,
            linger_ms: None,
            accesses_left: None,
            part: false,
            renamed: None,
            held: false,
            hold: None,
        };
        if let Err(failure) = self.commit_tensor(ports, &caller, &record, None) {
            self.slabs.let_go(ports, slab);
            return Err(failure);
        }
        let (transport, survives) = (what.transport.kind(), backing(&what).survives());
        let text = format!("{transport}, {}, survives {survives}", count(bytes, "byte"));
        let (id, user) = (what.tensor, Some(caller.owner.user));
        self.counts.tensors_adopted += 1;
        self.happened(ports, EventKind::TensorAdopted, Some(id.into()), what.name, user, text);
        Ok(id)
    }

    /// Answers everybody who waits for an adoption. `charged` says that nothing has the charge.
    fn end_adoption(
        &mut self,
        ports: &mut P,
        slab: SlabId,
        charged: bool,
        result: Result<TensorId, Failure>,
    ) {
        self.adoptions.by_slab.remove(&slab);
        if charged && self.slabs.get(slab).is_none() {
            ports.uncharge_slab(slab);
        }
        for parked in self.parked.take_all(Until::Slab(slab)) {
            let answer = match &result {
                Ok(id) => self.answer_adopt(ports, *id),
                Err(failure) => Err(failure.clone()),
            };
            self.respond(ports, parked.by, answer);
        }
    }

    fn answer_adopt(&mut self, ports: &mut P, id: TensorId) -> Answer<P::Fd> {
        let info = self.info(id, ports.monotonic_ms())?;
        let (lease, backing, event) = (None, Backing::default(), None);
        now(ReplyBody::Tensor(TensorGrant { info, lease, existed: false, backing, event }))
    }

    /// Whoever lent its memory may use it for something else.
    pub(super) fn tell_adopter(&mut self, ports: &mut P, lent: &Lent) {
        if let Some(conn) = self.clients.get(lent.client).and_then(|client| client.conn)
            && !self.clients.keep_back(conn, lent.tensor)
        {
            let body = ReplyBody::AdoptedFreed(lent.tensor);
            ports.reply(conn, Reply { number: 0, body }, Vec::new());
        }
    }

    /// The process that keeps memory.
    pub(super) fn home_pid(&self, home: Home) -> u32 {
        let pid = match home {
            Home::Host(host) => self.hosts.pid_of(host),
            Home::Owner(client) => self.clients.get(client).map(|client| client.process.pid),
        };
        pid.unwrap_or(0)
    }
}

/// Whether memory that is to be adopted is that of a slab. Handles of 64 bytes name it; descriptors of
/// memory look alike, so they are compared with the slab's own.
fn is_memory_of<P: Ports>(
    ports: &P,
    slab: &Slab<P::Fd>,
    what: &TensorAdopt,
    fd: Option<&P::Fd>,
) -> bool {
    let is_named = what.transport.data().is_some() && slab.backing.transport == what.transport;
    is_named || fd.zip(slab.fd.as_ref()).is_some_and(|(one, other)| ports.is_same(one, other))
}

impl<F> Adoption<F> {
    fn class(&self) -> SlabClass {
        let audience = match &self.what.name {
            Some(name) if name.is_public() => Audience::Everybody,
            _ => self.what.audience,
        };
        SlabClass {
            device: self.what.device,
            owner: self.caller.owner.clone(),
            audience,
            size: SlabSize::Own,
            transport: self.what.transport.kind(),
        }
    }
}
