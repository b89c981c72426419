//! The simulated shell around the real policy: what the event loop does with what happens.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use millpond_daemon::accounts::{AllTerms, Resource};
use millpond_daemon::journal::{read_frames, write_frame};
use millpond_daemon::policy::{
    Caps, ConnId, Device, Door, Held, HoldError, MoverLimits, Owner, Pond, Ports, PublicWriter,
};
use millpond_keeper::channel::{HoldKey, KeyView};
use millpond_wire::message::{Hello, ReplyBody, Request, RequestBody};
use millpond_wire::record::Record;
use millpond_wire::{ClientId, Epoch, HostId, SlabId, VersionId};

use crate::book::BookAsk;
use crate::card::{Fd, File};
use crate::client::first_hello;
use crate::driver_thread::Told;
use crate::mutation::Mutation;
use crate::oracle::{Violation, ensure};
use crate::ports::{Around, SimPorts};
use crate::socket::{SharedChannel, SharedSocket, Socket};
use crate::world::{CARD_BYTES, GPU, World};

pub enum Daemon {
    Dead,
    /// It was started and everything is in its socket.
    Starting(Start),
    Running(Box<Running>),
}

/// What a keeper hands over.
pub struct Start {
    pub held: BTreeMap<HoldKey, Fd>,
    pub channel: SharedChannel,
    pub epoch: u64,
}

/// A daemon that serves.
pub struct Running {
    pub pond: Pond<SimPorts>,
    pub ports: SimPorts,
    /// Which daemon it is.
    pub epoch: Epoch,
    /// The driver has answered.
    pub driver_ready: bool,
    /// The driver does nothing more until the next daemon.
    pub driver_hangs: bool,
    next_conn: u64,
}

impl World {
    /// Tells the daemon's policy what happened, and does what the event loop does afterwards.
    pub(crate) fn event(
        &mut self,
        tell: impl FnOnce(&mut Pond<SimPorts>, &mut SimPorts),
    ) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Running { pond, ports, .. } = running.as_mut();
        tell(pond, ports);
        ports.after_event();
        while let Some(conn) = ports.ended.pop() {
            if let Some(socket) = ports.conns.remove(&conn) {
                socket.borrow_mut().close_daemon();
                pond.hung_up(ports, conn);
            }
        }
        pond.tick(ports);
        if pond.awaits_keeper() {
            pond.keeper_has_room(ports);
        }
        ports.after_event();
        self.mover_news()?;
        self.host_news();
        self.mover_news()?;
        self.after_event()
    }

    /// Tells the policy something in the middle of an event.
    pub(crate) fn tell(&mut self, tell: impl FnOnce(&mut Pond<SimPorts>, &mut SimPorts)) {
        if let Daemon::Running(running) = &mut self.daemon {
            tell(&mut running.pond, &mut running.ports);
            running.ports.after_event();
        }
    }

    /// What every process shares.
    #[must_use]
    pub fn around(&self) -> Around {
        Around {
            clock: Rc::clone(&self.clock),
            gone: Rc::clone(&self.gone),
            mutation: self.mutation,
            swaps: Rc::clone(&self.swaps),
            borrowed: Rc::clone(&self.borrowed),
            groups: Rc::clone(&self.groups),
            holders: Rc::clone(&self.holders),
            trace: self.trace.clone(),
        }
    }

    fn after_event(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let epoch = running.epoch;
        let sent = std::mem::take(&mut running.ports.sent);
        self.faulted |= running.ports.faulted;
        let dead = running.ports.dead;
        let twice = running.ports.swapped_twice.take();
        ensure(twice.is_none(), "a swap happens once", || format!("{twice:?}"))?;
        if let Some(broken) = self.holders.borrow_mut().broken.take() {
            return Err(broken);
        }
        for (pid, reply, fds) in sent {
            if let ReplyBody::Version(grant) = &reply.body {
                if grant.lease.is_some() {
                    self.check_lent(pid, grant.info.user, grant.info.version.0)?;
                }
                self.version_answered(grant, &fds)?;
                continue;
            }
            if let ReplyBody::Tensor(grant) = &reply.body
                && grant.lease.is_some()
            {
                self.check_lent(pid, grant.info.user, grant.info.slab.0)?;
            }
            if let ReplyBody::AdoptedFreed(tensor) = &reply.body {
                self.check_lent_is_free(*tensor)?;
            }
            // It may be gone, and its memory another's.
            if matches!(&reply.body, ReplyBody::Tensor(grant) if grant.info.holds == Some(0)) {
                continue;
            }
            let memory = self.handed_out(&reply.body, &fds);
            if let ReplyBody::Tensor(grant) = &reply.body {
                self.check_granted(pid, grant, memory.as_deref())?;
            }
            let placed =
                self.oracle.answered(epoch, pid, reply.number, &reply.body, memory.as_ref())?;
            if let Some(tensor) = placed {
                self.check_place(tensor)?;
            }
        }
        if dead {
            self.daemon_dies();
        }
        Ok(())
    }

    /// The process is gone, with everything that only it had.
    pub(crate) fn daemon_dies(&mut self) {
        self.trace.say(|| "the daemon is dead".to_owned());
        if let Daemon::Running(running) = std::mem::replace(&mut self.daemon, Daemon::Dead) {
            for socket in running.ports.conns.values() {
                socket.borrow_mut().close_daemon();
            }
            if let Some(wire) = &running.ports.mover {
                let mut wire = wire.borrow_mut();
                wire.daemon_open = false;
                wire.to_daemon.clear();
            }
        }
    }

    /// A daemon takes over what was handed to it.
    pub(crate) fn boot(&mut self) -> Result<(), Violation> {
        let Daemon::Starting(start) = std::mem::replace(&mut self.daemon, Daemon::Dead) else {
            return Ok(());
        };
        let Start { held, channel, epoch } = start;
        ensure(epoch > self.oracle.epoch, "epochs rise", || {
            format!("{epoch} after {}", self.oracle.epoch)
        })?;
        self.oracle.epoch = epoch;
        let (journal, records) = self.open_journal(&held)?;
        let mut ports = SimPorts::new(self.around(), self.rng.fork(), journal, held, channel);
        if let Some(records) = &records {
            check_held(records, &ports.held, self.faulted)?;
        }
        let caps = self.caps();
        let key = *self.rng.id().as_bytes();
        if epoch > 1 && self.busy && ports.channel.borrow().keeper_open {
            ports.dies_in = self.plan.boot_kill();
        }
        let failed =
            |error: HoldError| Violation::new("the next daemon can start", error.to_string());
        let mut pond = match records {
            Some(records) => {
                let held = objects(&ports.held);
                let (pond, found) = Pond::recover(&mut ports, records, held, Epoch(epoch), caps)
                    .map_err(|error| failed(error.into()))?;
                self.trace.say(|| format!("  recovered {found:?}"));
                ensure(found.lost_tensors == 0, "nothing is lost", || format!("{found:?}"))?;
                pond
            }
            None => {
                let pond = Pond::new(&mut ports, key, Epoch(epoch), caps)
                    .map_err(|error| failed(error.into()))?;
                ports.after_event();
                let journal = Fd::Journal(Rc::clone(&ports.journal));
                ports.hold_key(HoldKey::journal(), journal).map_err(failed)?;
                pond
            }
        };
        pond.public_writers = vec![PublicWriter::Everybody];
        ports.faults = self.faults;
        self.start_threads(&pond, &mut ports);
        let running = Running {
            pond,
            ports,
            epoch: Epoch(epoch),
            driver_ready: false,
            driver_hangs: false,
            next_conn: 1,
        };
        self.daemon = Daemon::Running(Box::new(running));
        self.event(|_, _| {})
    }

    /// Caps of the pond.
    #[must_use]
    pub fn caps(&self) -> Caps {
        Caps {
            terms: AllTerms::NONE.with(Resource::Events, 4096),
            own_user: 0,
            tensors: 1000,
            clients_per_process: 100,
            keep_previous: 1,
            leases_per_client: 100,
            recycle_bytes: self.recycle_bytes,
            movers: MoverLimits { patience_ms: 3000, idle_ms: 500 },
        }
    }

    fn open_journal(
        &self,
        held: &BTreeMap<HoldKey, Fd>,
    ) -> Result<(File, Option<Vec<Record>>), Violation> {
        let Some(Fd::Journal(journal)) = held.get(&HoldKey::journal()) else {
            return Ok((File::default(), None));
        };
        let journal = Rc::clone(journal);
        let (records, length) = read_frames(&journal.borrow())
            .map_err(|error| Violation::new("the journal can be read", error.to_string()))?;
        if self.mutation != Some(Mutation::TornTailKept) {
            journal.borrow_mut().truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }
        Ok((journal, Some(self.as_read(records))))
    }

    pub(crate) fn accept(&mut self) -> Result<(), Violation> {
        let Some(socket) = self.listener.pop_front() else { return Ok(()) };
        let pid = socket.borrow().pid;
        let Some(user) = self.client_at(pid).filter(|it| it.alive).map(|client| client.user) else {
            // It died before it was looked at.
            return Ok(());
        };
        self.accepted(socket, pid, user, Door::Users).map(|_| ())
    }

    pub(crate) fn accepted(
        &mut self,
        socket: SharedSocket,
        pid: u32,
        user: u32,
        door: Door,
    ) -> Result<ConnId, Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(ConnId(0)) };
        let conn = ConnId(running.next_conn);
        running.next_conn += 1;
        running.ports.conns.insert(conn, socket);
        let owner = Owner { tenant: running.pond.tenant("local"), user, group: 100 };
        self.event(|pond, _| pond.connected(conn, owner, &[], door, pid.into()))?;
        Ok(conn)
    }

    /// The next message of a connection, or its end.
    pub(crate) fn message(&mut self, conn: ConnId) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(socket) = running.ports.conns.get(&conn).map(Rc::clone) else { return Ok(()) };
        let next = socket.borrow_mut().to_daemon.pop_front();
        if let Some((bytes, fd)) = next {
            let request = Request::decode(&bytes);
            self.trace.say(|| format!("  {request:?}"));
            return self.event(|pond, ports| pond.message(ports, conn, request, fd));
        }
        let pid = socket.borrow().pid;
        running.ports.ended.push(conn);
        let hung_up = self.client_at(pid).map(|client| client.id);
        let ends = self.mutation == Some(Mutation::LeaseEndsAtHangUp);
        self.event(|pond, ports| {
            if let Some(client) = hung_up.filter(|_| ends) {
                pond.process_gone(ports, client);
            }
        })
    }

    pub(crate) fn process_gone(&mut self, client: ClientId) -> Result<(), Violation> {
        self.hear_mover()?;
        if self.mutation == Some(Mutation::HostDeathUnnoticed)
            && self.hosts.iter().any(|host| host.id.0 == client.0)
        {
            return self.event(|_, ports| ports.unwatch(client));
        }
        if self.mutation == Some(Mutation::RecycleWithoutRelease) {
            self.goodbye_for(client)?;
        }
        let kept = self.mutation == Some(Mutation::AccountNotReturned);
        let user = self.clients.iter().find(|it| it.id == client).map(|it| it.user);
        self.event(|pond, ports| {
            ports.unwatch(client);
            pond.process_gone(ports, client);
            if let Some(user) = user.filter(|_| kept) {
                let owner = Owner { tenant: pond.tenant("local"), user, group: 100 };
                pond.account(&owner).add(Resource::Leases, 1);
            }
        })
    }

    /// Says in a dead client's place that it has released everything.
    fn goodbye_for(&mut self, client: ClientId) -> Result<(), Violation> {
        let known = self.clients.iter().find(|it| it.id == client);
        let Some((pid, user, proof)) = known.map(|it| (it.pid, it.user, it.proof())) else {
            return Ok(());
        };
        let conn = self.accepted(Socket::connected(pid), pid, user, Door::Users)?;
        let program = "sim".to_owned();
        let hello = Hello { proof, ..first_hello(client, program) };
        for body in [RequestBody::Hello(hello), RequestBody::Goodbye] {
            let request = Ok(Request { number: 1, body });
            self.event(|pond, ports| pond.message(ports, conn, request, None))?;
        }
        self.event(|_, ports| ports.ended.push(conn))
    }

    pub(crate) fn driver_ready(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        running.driver_ready = true;
        if running.epoch.0 > 1 && self.busy && self.rng.once_in(30) {
            return self.event(|pond, ports| pond.driver_failed(ports, "a fault".to_owned()));
        }
        running.driver_hangs = self.busy && self.rng.once_in(40);
        let lock = HoldKey::gpu_lock(GPU);
        if !running.ports.held.contains_key(&lock)
            && running.ports.hold_key(lock, Fd::Other).is_err()
        {
            // Without its lock the GPU is not this pond's, and the daemon ends.
            self.daemon_dies();
            return Ok(());
        }
        let device = Device {
            uuid: GPU,
            index: 0,
            name: "simulated".to_owned(),
            total_bytes: CARD_BYTES,
            capacity_bytes: CARD_BYTES / 4 * 3,
            physical_used_bytes: None,
        };
        running.ports.book.asks.push_back(BookAsk::Known);
        self.event(|pond, ports| pond.driver_ready(ports, "sim".to_owned(), vec![device]))
    }

    pub(crate) fn driver_says(&mut self) -> Result<(), Violation> {
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Some(told) = running.ports.told.pop_front() else { return Ok(()) };
        self.event(|pond, ports| match told {
            Told::Made(slab, made) => pond.slab_made(ports, slab, made),
            Told::Charged(slab, charged) => pond.slab_charged(ports, slab, charged),
            Told::Used(bytes) => pond.physical(ports, &[(GPU, bytes)]),
        })
    }

    pub(crate) fn tick(&mut self, ms: u64) -> Result<(), Violation> {
        self.clock.set(self.clock.get() + ms);
        self.free_leaving();
        self.book_looks();
        self.event(|_, _| {})
    }

    /// A new journal that says the same in fewer records.
    pub(crate) fn compact(&mut self) -> Result<(), Violation> {
        let unheld = self.mutation == Some(Mutation::CompactionNotHeld);
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let Running { pond, ports, .. } = running.as_mut();
        let journal = File::default();
        let mut builder = planus::Builder::new();
        let mut frame = Vec::new();
        for record in pond.snapshot() {
            if write_frame(&mut frame, record.encode(&mut builder)).is_ok() {
                journal.borrow_mut().extend_from_slice(&frame);
            }
        }
        let held = if unheld {
            Ok(())
        } else {
            ports.hold_key(HoldKey::journal(), Fd::Journal(Rc::clone(&journal)))
        };
        if held.is_ok() && !ports.dead {
            ports.length = journal.borrow().len();
            ports.journal = journal;
        }
        self.event(|_, _| {})
    }
}

/// What recovery gets of what is held.
#[must_use]
pub fn objects(held: &BTreeMap<HoldKey, Fd>) -> HashMap<Held, Fd> {
    let object = |(key, fd): (&HoldKey, &Fd)| match key.view() {
        KeyView::Slab(slab) => Some((Held::Slab(slab), fd.clone())),
        KeyView::Client(client) => Some((Held::Client(client), fd.clone())),
        KeyView::Manifest(version) => Some((Held::Manifest(version), fd.clone())),
        KeyView::HostChannel(host) => Some((Held::HostChannel(host), fd.clone())),
        KeyView::HostProcess(host) => Some((Held::HostProcess(host), fd.clone())),
        _ => None,
    };
    held.iter().filter_map(object).collect()
}

/// A record is written only after its descriptor is held, and unwritten before it is let go.
fn check_held(
    records: &[Record],
    held: &BTreeMap<HoldKey, Fd>,
    faulted: bool,
) -> Result<(), Violation> {
    let (mut slabs, mut clients) = (Vec::<SlabId>::new(), Vec::<ClientId>::new());
    let (mut versions, mut hosts) = (Vec::<VersionId>::new(), Vec::<HostId>::new());
    for record in records {
        match record {
            Record::SlabMade(made) if !made.backing.transport.has_descriptor() => {}
            Record::SlabMade(made) => slabs.push(made.slab),
            Record::SlabGone(gone) => slabs.retain(|slab| slab != gone),
            Record::ClientSeen(seen) => clients.push(seen.client),
            Record::ClientGone(gone) => clients.retain(|client| client != gone),
            Record::HostMade(made) => hosts.push(made.host),
            Record::HostGone(gone) => hosts.retain(|host| host != gone),
            Record::VersionReady(ready) => versions.push(ready.version),
            Record::VersionGone(gone) => versions.retain(|version| version != gone),
            _ => {}
        }
    }
    let mut keys: Vec<HoldKey> = slabs.into_iter().map(HoldKey::slab).collect();
    keys.extend(versions.into_iter().map(HoldKey::manifest));
    if !faulted {
        keys.extend(clients.into_iter().map(HoldKey::client));
        keys.extend(hosts.iter().map(|host| HoldKey::host_process(*host)));
        keys.extend(hosts.iter().map(|host| HoldKey::host_channel(*host)));
    }
    let missing = keys.iter().find(|key| !held.contains_key(key));
    ensure(missing.is_none(), "what is recorded is held", || format!("{missing:?}"))
}
