//! A world for the policy, in which everything that it does is looked at.

use std::collections::{HashMap, HashSet};

use millpond_daemon::accounts::{AllTerms, Resource};
use millpond_daemon::policy::{
    Caps, ConnId, Device, GroupAsk, Held, HoldError, HolderSeen, MoverLimits, Pond, PortError,
    Ports,
};
use millpond_host::channel::ToHost;
use millpond_mover::channel::ToMover;
use millpond_wire::message::{LeaseClaim, Proof, Reply, ReplyBody};
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{
    Backing, ClientId, GpuUuid, HostId, SlabId, TensorId, Transport, TransportKind, caps,
};
use uuid::Uuid;

use crate::hosts::Hosts;
use crate::movers::Movers;

/// The pond's GPU.
pub const GPU: GpuUuid = GpuUuid([1; 16]);
/// What the pond may take of it.
pub const CAPACITY: u64 = 1 << 30;
pub const TENSORS_PER_USER: u64 = 4;
/// Small, so that they are reached.
pub const LIMITS: Caps = Caps {
    terms: AllTerms::NONE
        .with_in_all(Resource::Clients, 6)
        .with(Resource::Tensors, TENSORS_PER_USER)
        .with(Resource::Versions, 3)
        .with(Resource::Leases, 8)
        .with(Resource::Waits, 4)
        .with(Resource::Moves, 3)
        .with(Resource::MoveBytes, 4 << 20)
        .with(Resource::Events, 16)
        .with(Resource::Holds, 6)
        .with(Resource::Holders, 2),
    // Who may upgrade without the admin socket.
    own_user: 1,
    tensors: 7,
    clients_per_process: 3,
    keep_previous: 1,
    leases_per_client: 5,
    recycle_bytes: 80 << 20,
    movers: MoverLimits { patience_ms: 1000, idle_ms: 500 },
};

/// Numbers of processes without a connection.
pub const HOLDERS: [u32; 3] = [71, 72, 73];

/// What a daemon's surroundings remember.
#[derive(Default)]
pub struct World {
    /// Both clocks.
    pub now: u64,
    /// The journal.
    pub records: Vec<Record>,
    /// What the keeper holds.
    pub held: HashMap<Held, u64>,
    /// Requests that have no answer yet.
    pub open: HashSet<(ConnId, u64)>,
    /// Slabs that the driver was asked for.
    pub asked: Vec<SlabId>,
    /// Those of them that no driver makes.
    pub fabric: HashSet<SlabId>,
    /// Charges that have no answer yet.
    pub charging: Vec<SlabId>,
    /// Charges are answered before the call returns.
    pub charges_at_once: bool,
    /// What somebody pays for.
    pub charged: HashSet<SlabId>,
    /// What whoever keeps the groups was asked.
    pub group_asks: Vec<GroupAsk>,
    /// Connections that the policy wants to end.
    pub closed: Vec<ConnId>,
    /// Leases that were granted, with their proofs.
    pub granted: Vec<LeaseClaim>,
    /// What clients can prove themselves with.
    pub proofs: Vec<Proof>,
    /// Slabs of versions, as answers had them.
    pub parts: Vec<TensorId>,
    /// So many of the next writes fail.
    pub failing: u32,
    /// Whether one ever did: then something may be left over.
    pub failed: bool,
    /// The processes behind connections are gone, as far as anybody can see.
    pub unwatchable: bool,
    /// Movers, and what each may still write.
    pub movers: Movers,
    /// Hosts, and what each keeps.
    pub hosts: Hosts,
    /// Processes without a connection that run, and when they started.
    pub holders: HashMap<u32, u64>,
    /// Messages that every connection has waiting.
    pub backlog: usize,
    /// The last descriptor.
    pub last_fd: u64,
    /// The last identity.
    pub last_id: u64,
}

impl World {
    fn works(&mut self) -> Result<(), PortError> {
        if self.failing == 0 {
            return Ok(());
        }
        self.failing -= 1;
        self.failed = true;
        Err(PortError("no memory".to_owned()))
    }

    /// What the next daemon finds: the journal and the descriptors.
    pub fn after_death(&self) -> World {
        World {
            now: self.now,
            records: self.records.clone(),
            held: self.held.clone(),
            granted: self.granted.clone(),
            parts: self.parts.clone(),
            failed: self.failed,
            movers: self.movers.after_death(&self.held),
            hosts: self.hosts.after_death(&self.held),
            holders: self.holders.clone(),
            last_fd: self.last_fd,
            last_id: self.last_id,
            ..World::default()
        }
    }
}

impl World {
    /// A descriptor that nobody else has.
    pub fn next_fd(&mut self) -> u64 {
        self.last_fd += 1;
        self.last_fd
    }
}

impl Ports for World {
    type Fd = u64;

    fn now_ms(&self) -> u64 {
        self.now
    }

    fn monotonic_ms(&self) -> u64 {
        self.now
    }

    fn random_id(&mut self) -> Uuid {
        self.last_id += 1;
        Uuid::from_u64_pair(1, self.last_id)
    }

    fn journal(&mut self, record: &Record) -> Result<(), PortError> {
        self.works()?;
        self.records.push(record.clone());
        Ok(())
    }

    fn hold(&mut self, what: Held, _backing: Backing, fd: &u64) -> Result<(), HoldError> {
        self.works()?;
        self.held.insert(what, *fd);
        Ok(())
    }

    fn let_go(&mut self, what: Held, _fd: Option<u64>) {
        self.held.remove(&what);
        if let Held::Slab(slab) = what {
            self.charged.remove(&slab);
        }
    }

    fn manifest_ok(&self, fd: &u64) -> Result<(), String> {
        if fd.is_multiple_of(5) { Err("it is not sealed".to_owned()) } else { Ok(()) }
    }

    fn reply(&mut self, conn: ConnId, reply: Reply, fds: Vec<u64>) {
        let fd = fds.first();
        if let ReplyBody::Event(_) = reply.body {
            assert_eq!(reply.number, 0, "an event answers nothing");
            return;
        }
        if let ReplyBody::AdoptedFreed(_) = reply.body {
            assert_eq!(reply.number, 0, "nobody asks for its memory");
            return;
        }
        let first = self.open.remove(&(conn, reply.number));
        assert!(first, "an answer that nobody waits for: {reply:?}");
        if let ReplyBody::Welcome(welcome) = &reply.body {
            assert_eq!(fd.is_some(), welcome.page_slots > 0, "the page comes with a welcome");
            let token = welcome.token.expect("every client gets a token");
            let proof = Proof { pond: welcome.pond, token };
            if !self.proofs.contains(&proof) {
                self.proofs.push(proof);
            }
        }
        if let ReplyBody::Version(grant) = &reply.body {
            let slabs = usize::try_from(grant.slabs).expect("few slabs");
            assert_eq!(fds.len(), slabs + usize::from(grant.manifest), "descriptors are announced");
            assert!(fds.is_empty() || grant.lease.is_some(), "descriptors come with leases");
            self.parts.extend(grant.parts.iter().map(|part| part.tensor));
            if let Some((lease, mode, token)) = grant.lease {
                let target = grant.info.version.into();
                self.granted.push(LeaseClaim { lease, target, mode, token });
            }
        }
        if let ReplyBody::Slabs { count, .. } = &reply.body {
            assert_eq!(Ok(fds.len()), usize::try_from(*count), "descriptors are announced");
        }
        if let ReplyBody::Tensor(grant) = &reply.body {
            let has_fd = !matches!(grant.backing.transport, Transport::Ipc(_));
            let expected = grant.lease.is_some() && has_fd;
            assert_eq!(fd.is_some(), expected, "descriptors come with leases");
            if let Some((lease, mode, token)) = grant.lease {
                let target = grant.info.tensor.into();
                self.granted.push(LeaseClaim { lease, target, mode, token });
            }
        }
    }

    fn backlog(&self, _conn: ConnId) -> usize {
        self.backlog
    }

    fn close(&mut self, conn: ConnId) {
        self.closed.push(conn);
    }

    fn peer_pidfd(&mut self, _conn: ConnId) -> Option<u64> {
        (!self.unwatchable).then_some(0)
    }

    fn watch(&mut self, client: ClientId, pidfd: &u64) {
        self.movers.watched(client, *pidfd);
    }

    fn unwatch(&mut self, _client: ClientId) {}

    fn watch_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen {
        let Some(now) = self.holders.get(&pid).copied() else { return HolderSeen::NoSuch };
        if self.unwatchable {
            return HolderSeen::Short("no descriptors".to_owned());
        }
        if started.is_some_and(|started| started != now) {
            return HolderSeen::NoSuch;
        }
        HolderSeen::Watched(now)
    }

    fn unwatch_holder(&mut self, _process: HolderProcess) {}

    fn ask_group(&mut self, ask: GroupAsk) {
        self.group_asks.push(ask);
    }

    fn make_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, _user: u32) {
        assert!(device == GPU && bytes > 0 && bytes <= CAPACITY);
        self.asked.push(slab);
    }

    fn charge_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, _user: u32) -> bool {
        assert!(device == GPU && bytes > 0 && bytes <= CAPACITY);
        assert!(!self.charged.contains(&slab), "{slab} is paid for twice");
        match self.charges_at_once {
            true => self.charged.insert(slab),
            false => {
                self.charging.push(slab);
                false
            }
        }
    }

    fn count_slab(&mut self, slab: SlabId, _device: GpuUuid, _bytes: u64, _user: u32) {
        self.charged.insert(slab);
    }

    fn uncharge_slab(&mut self, slab: SlabId) {
        self.charged.remove(&slab);
    }

    fn try_fabric(&mut self, slab: SlabId, device: GpuUuid) {
        assert_eq!(device, GPU);
        self.fabric.insert(slab);
        self.asked.push(slab);
    }

    fn is_exported(&self, fd: &u64, _transport: TransportKind) -> Result<(), String> {
        if fd.is_multiple_of(5) { Err("it is a file".to_owned()) } else { Ok(()) }
    }

    fn is_same(&self, one: &u64, other: &u64) -> bool {
        one == other
    }

    fn start_host(&mut self, host: HostId) {
        self.hosts.wanted.push(host);
    }

    fn adopt_host(&mut self, host: HostId, _channel: &u64) {
        self.hosts.adopted(host);
    }

    fn tell_host(&mut self, host: HostId, message: ToHost) {
        self.hosts.tell(host, message);
    }

    fn close_host(&mut self, host: HostId) {
        self.hosts.hangs_up(host);
    }

    fn page(&mut self, _conn: ConnId) -> Option<u64> {
        Some(0)
    }

    fn bump(&mut self, slots: [usize; 2]) {
        assert!(slots.iter().all(|slot| *slot < caps::PAGE_SLOTS));
    }

    fn read_physical(&mut self) {}

    fn start_mover(&mut self, device: GpuUuid) {
        assert_eq!(device, GPU);
        self.movers.start();
    }

    fn tell_mover(&mut self, device: GpuUuid, message: ToMover, fd: Option<u64>) {
        if device != GPU && matches!(message, ToMover::DropPool { .. }) {
            return; // A slab of a GPU that is not there any more.
        }
        assert_eq!(device, GPU);
        self.movers.tell(message, fd);
    }

    fn file_limit(&self, pid: u32) -> Option<u64> {
        pid.is_multiple_of(2).then_some(CAPACITY / 2)
    }

    fn kill(&mut self, pidfd: &u64) {
        if !self.hosts.has(*pidfd) {
            self.movers.kill(*pidfd);
        }
    }

    fn upgrade(&mut self, _program: &str) -> Result<(), PortError> {
        self.works()
    }
}

/// The driver answers with its GPU.
pub fn driver_ready(pond: &mut Pond<World>, world: &mut World) {
    let device = Device {
        uuid: GPU,
        index: 0,
        name: "test".to_owned(),
        total_bytes: 1 << 40,
        capacity_bytes: CAPACITY,
        physical_used_bytes: None,
    };
    pond.driver_ready(world, "test".to_owned(), vec![device]);
}

/// The books are whole: what they say is held, nothing else is, and no two tensors share a byte. Once
/// a record was refused, who died may stay held, so that the next daemon finds it dead.
pub fn check_books(books: &[Record], held: &HashMap<Held, u64>, refused: bool) {
    let mut expected = HashSet::new();
    let mut slabs = HashMap::new();
    let mut used: Vec<(SlabId, u64, u64)> = Vec::new();
    for record in books {
        match record {
            Record::SlabMade(made) => {
                expected.insert(Held::Slab(made.slab));
                slabs.insert(made.slab, made.bytes);
            }
            Record::ClientSeen(seen) => {
                expected.insert(Held::Client(seen.client));
            }
            Record::VersionReady(ready) => {
                expected.insert(Held::Manifest(ready.version));
            }
            Record::HostMade(made) => {
                expected.insert(Held::HostProcess(made.host));
                expected.insert(Held::HostChannel(made.host));
            }
            Record::TensorMade(made) => {
                let end = made.offset.checked_add(made.bytes).expect("an end");
                let slab = slabs.get(&made.slab).expect("its slab comes before a tensor");
                assert!(end <= *slab, "a tensor lies in its slab");
                used.push((made.slab, made.offset, end));
            }
            _ => {}
        }
    }
    used.sort();
    for pair in used.windows(2) {
        assert!(pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1, "two tensors share bytes");
    }
    // A record without its descriptor is a lost one; the other way round nothing may be.
    let stays = |held: &Held| refused && matches!(held, Held::Client(_));
    let known = |held: &Held| expected.contains(held) || stays(held);
    let lost = held.keys().find(|held| !known(held));
    assert!(lost.is_none(), "{lost:?} is held, but not in the books");
}
