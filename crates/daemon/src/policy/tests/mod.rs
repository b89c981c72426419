//! The rules of a pond, in a world that the test plays.

mod accounts;
mod adopting;
mod borrowers;
mod caches;
mod caps;
mod collecting;
mod corners;
mod counting;
mod deleting;
mod events;
mod groups;
mod hang_ups;
mod holds;
mod homes;
mod hosts;
mod hosts_idle;
mod identity;
mod indexes;
mod keeper_room;
mod leases;
mod leaving;
mod listings;
mod lives;
mod making;
mod models;
mod mover_turns;
mod moves;
mod naming;
mod numbers;
mod page;
mod pools;
mod public;
mod renaming;
mod restart;
mod sharing;
mod starting;
mod turns;
mod watching;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use millpond_host::channel::ToHost;
use millpond_mover::channel::ToMover;
use millpond_wire::message::{
    Claim, Hello, LeaseClaim, LeaseToken, Life, Proof, Reply, ReplyBody, Request, RequestBody,
    Target, TensorCreate, TensorGet, TensorInfo, TensorPublish, VERSION, Welcome,
};
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{
    Audience, Backing, ClientId, Dtype, Epoch, Failure, GpuUuid, HostId, LeaseId, Mode, Shape,
    SlabId, TensorId, TransportKind,
};

use super::*;
use crate::accounts::{AllTerms, Resource};

const GPU: GpuUuid = GpuUuid([1; 16]);
const MIB: u64 = 1 << 20;
/// A descriptor that cannot be a manifest.
const UNSEALED: u64 = 999_999;

/// What the policy did, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Did {
    Hold(Held),
    Journal(&'static str),
    LetGo(Held),
    Reply(u64),
    Bump,
    Charge(SlabId),
    ToHost(&'static str),
}

#[derive(Default)]
struct World {
    now: u64,
    /// What the wall clock says, where it does not agree.
    wall: Option<u64>,
    did: Vec<Did>,
    records: Vec<Record>,
    held: HashMap<Held, u64>,
    replies: Vec<(ConnId, Reply, Option<u64>)>,
    /// Every descriptor that came with a reply.
    came_with: HashMap<u64, Vec<u64>>,
    asked: Vec<(SlabId, GpuUuid, u64)>,
    /// On whose account, for every slab ever asked for.
    asked_for: Vec<u32>,
    group_asks: Vec<GroupAsk>,
    closed: Vec<ConnId>,
    /// The processes without a number behind connections.
    inodes: HashMap<ConnId, u64>,
    journal_fails: bool,
    /// Only that a slab is gone cannot be recorded.
    slab_stays: bool,
    /// Only that a tensor is deleted cannot be recorded.
    tensor_stays: bool,
    next_fd: u64,
    movers_wanted: Vec<GpuUuid>,
    told: Vec<(ToMover, Option<u64>)>,
    charged: Vec<(SlabId, GpuUuid, u64, u32)>,
    /// Every account says yes, and nobody waits for that.
    charges_at_once: bool,
    counted: Vec<(SlabId, GpuUuid, u64, u32)>,
    uncharged: Vec<SlabId>,
    fabric: Vec<SlabId>,
    hosts_wanted: Vec<HostId>,
    hosts_adopted: Vec<HostId>,
    told_hosts: Vec<(HostId, ToHost)>,
    closed_hosts: Vec<HostId>,
    killed: Vec<u64>,
    /// How large a file any client may write.
    file_limit: Option<u64>,
    /// How much waits on connections whose clients do not read.
    unread: HashMap<ConnId, usize>,
    /// Connections whose makers are gone.
    dead: Vec<ConnId>,
    watched: HashSet<ClientId>,
    /// Processes without a connection, and when they started.
    processes: BTreeMap<u32, u64>,
    /// Those whose end is told.
    holders: BTreeSet<HolderProcess>,
    no_holders: bool,
    bumped: Vec<usize>,
    /// The programs that the keeper was asked to go over to.
    upgrades: Vec<String>,
    /// No more descriptors may be in flight.
    no_page: bool,
    /// How much the keeper can be told before it reads, where that is little.
    keeper_takes: Option<usize>,
}

impl Ports for World {
    type Fd = u64;

    fn now_ms(&self) -> u64 {
        self.wall.unwrap_or(self.now)
    }

    fn monotonic_ms(&self) -> u64 {
        self.now
    }

    fn random_id(&mut self) -> uuid::Uuid {
        uuid::Uuid::new_v4()
    }

    fn journal(&mut self, record: &Record) -> Result<(), PortError> {
        let is_refused = match record {
            Record::SlabGone(_) => self.slab_stays,
            Record::TensorDeleted(_) => self.tensor_stays,
            _ => false,
        };
        if self.journal_fails || is_refused {
            return Err(PortError("no memory".into()));
        }
        self.did.push(Did::Journal(match record {
            Record::SlabMade(_) => "slab",
            Record::SlabGone(_) => "slab gone",
            Record::SlabTainted(_) => "tainted",
            Record::SlabBorrowed { .. } => "borrowed",
            Record::TensorMade(_) => "tensor",
            Record::TensorPublished { .. } => "published",
            Record::TensorDeleted(_) => "deleted",
            Record::TensorFreed(_) => "freed",
            Record::ClientSeen(_) => "client",
            Record::ClientGone(_) => "client gone",
            Record::Opened { .. } => "opened",
            Record::DeviceSeen(_) => "device",
            Record::TensorAccessed { .. } => "accessed",
            Record::VersionStaged(_) => "version",
            Record::VersionReady(_) => "ready",
            Record::VersionCurrent { .. } => "current",
            Record::VersionDraining(_) => "draining",
            Record::VersionBorrowed { .. } => "version borrowed",
            Record::VersionGone(_) => "version gone",
            Record::Renamed { .. } => "renamed",
            Record::HostMade(_) => "host",
            Record::HostGone(_) => "host gone",
            Record::HoldChanged(_) => "hold",
            Record::HoldTold(_) => "hold told",
            Record::Unknown => "unknown",
        }));
        self.records.push(record.clone());
        Ok(())
    }

    fn hold(&mut self, what: Held, _backing: Backing, fd: &u64) -> Result<(), HoldError> {
        match &mut self.keeper_takes {
            Some(0) => return Err(HoldError::Full),
            Some(left) => *left -= 1,
            None => {}
        }
        self.did.push(Did::Hold(what));
        self.held.insert(what, *fd);
        Ok(())
    }

    fn keeper_room(&self) -> KeeperRoom {
        match self.keeper_takes {
            None => KeeperRoom::Plenty,
            Some(0) => KeeperRoom::None,
            Some(_) => KeeperRoom::Little,
        }
    }

    fn let_go(&mut self, what: Held, _fd: Option<u64>) {
        self.did.push(Did::LetGo(what));
        self.held.remove(&what);
    }

    fn manifest_ok(&self, fd: &u64) -> Result<(), String> {
        if *fd == UNSEALED { Err("it is not sealed".into()) } else { Ok(()) }
    }

    fn reply(&mut self, conn: ConnId, reply: Reply, fds: Vec<u64>) {
        self.did.push(Did::Reply(reply.number));
        if let Some(unread) = self.unread.get_mut(&conn) {
            *unread += 1;
        }
        let fd = fds.first().copied();
        self.came_with.insert(reply.number, fds);
        self.replies.push((conn, reply, fd));
    }

    fn backlog(&self, conn: ConnId) -> usize {
        self.unread.get(&conn).copied().unwrap_or(0)
    }

    fn close(&mut self, conn: ConnId) {
        self.closed.push(conn);
    }

    fn peer_pidfd(&mut self, conn: ConnId) -> Option<u64> {
        let pidfd = self.inodes.get(&conn).copied().unwrap_or(0);
        (!self.dead.contains(&conn)).then_some(pidfd)
    }

    fn inode(&self, pidfd: &u64) -> u64 {
        *pidfd
    }

    fn watch(&mut self, client: ClientId, _pidfd: &u64) {
        self.watched.insert(client);
    }

    fn unwatch(&mut self, client: ClientId) {
        self.watched.remove(&client);
    }

    fn watch_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen {
        if self.no_holders {
            return HolderSeen::Short("no descriptors".into());
        }
        let Some(now) = self.processes.get(&pid).copied() else { return HolderSeen::NoSuch };
        if started.is_some_and(|started| started != now) {
            return HolderSeen::NoSuch;
        }
        self.holders.insert(HolderProcess { pid, started: Some(now) });
        HolderSeen::Watched(now)
    }

    fn unwatch_holder(&mut self, process: HolderProcess) {
        self.holders.remove(&process);
    }

    fn charge_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) -> bool {
        self.did.push(Did::Charge(slab));
        if !self.charges_at_once {
            self.charged.push((slab, device, bytes, user));
        }
        self.charges_at_once
    }

    fn count_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) {
        self.counted.push((slab, device, bytes, user));
    }

    fn uncharge_slab(&mut self, slab: SlabId) {
        self.uncharged.push(slab);
    }

    fn try_fabric(&mut self, slab: SlabId, _device: GpuUuid) {
        self.fabric.push(slab);
    }

    fn is_exported(&self, fd: &u64, _transport: TransportKind) -> Result<(), String> {
        if *fd == UNSEALED { Err("it is a file".to_owned()) } else { Ok(()) }
    }

    fn is_same(&self, one: &u64, other: &u64) -> bool {
        one == other
    }

    fn start_host(&mut self, host: HostId) {
        self.hosts_wanted.push(host);
    }

    fn adopt_host(&mut self, host: HostId, _channel: &u64) {
        self.hosts_adopted.push(host);
    }

    fn tell_host(&mut self, host: HostId, message: ToHost) {
        self.did.push(Did::ToHost(match &message {
            ToHost::Start { .. } => "start",
            ToHost::Hello { .. } => "hello",
            ToHost::Allocate { .. } => "allocate",
            ToHost::Free { .. } => "free",
            ToHost::Stop => "stop",
        }));
        self.told_hosts.push((host, message));
    }

    fn close_host(&mut self, host: HostId) {
        self.closed_hosts.push(host);
    }

    fn make_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) {
        self.asked.push((slab, device, bytes));
        self.asked_for.push(user);
    }

    fn ask_group(&mut self, ask: GroupAsk) {
        self.group_asks.push(ask);
    }

    fn page(&mut self, _conn: ConnId) -> Option<u64> {
        (!self.no_page).then_some(u64::MAX)
    }

    fn bump(&mut self, slots: [usize; 2]) {
        self.did.push(Did::Bump);
        self.bumped.extend(slots);
    }

    fn read_physical(&mut self) {}

    fn start_mover(&mut self, device: GpuUuid) {
        self.movers_wanted.push(device);
    }

    fn tell_mover(&mut self, _device: GpuUuid, message: ToMover, fd: Option<u64>) {
        self.told.push((message, fd));
    }

    fn file_limit(&self, _pid: u32) -> Option<u64> {
        self.file_limit
    }

    fn kill(&mut self, pidfd: &u64) {
        self.killed.push(*pidfd);
    }

    fn upgrade(&mut self, program: &str) -> Result<(), PortError> {
        self.upgrades.push(program.into());
        Ok(())
    }
}

/// A pond, its world, and clients that ask.
struct Play {
    pond: Pond<World>,
    world: World,
    next_conn: u64,
    next_number: u64,
    pids: HashMap<ClientId, u32>,
    proofs: HashMap<ClientId, Proof>,
}

const LIMITS: Caps = Caps {
    terms: AllTerms::NONE
        .with_in_all(Resource::Clients, 100)
        .with(Resource::Tensors, 1000)
        .with(Resource::Versions, 100)
        .with(Resource::Moves, 8)
        .with(Resource::MoveBytes, 64 * MIB)
        .with(Resource::Events, 4096),
    own_user: 0,
    tensors: 1000,
    clients_per_process: 8,
    keep_previous: 1,
    leases_per_client: 100,
    recycle_bytes: 64 * MIB,
    movers: MoverLimits { patience_ms: 1000, idle_ms: 500 },
};

impl Play {
    fn new() -> Self {
        let mut world = World::default();
        let mut pond = Pond::new(&mut world, [7; 16], Epoch(1), LIMITS).unwrap();
        pond.public_writers = vec![PublicWriter::Everybody];
        let (pids, proofs) = (HashMap::new(), HashMap::new());
        let mut play = Play { pond, world, next_conn: 1, next_number: 1, pids, proofs };
        play.driver_ready(1 << 30);
        play
    }

    /// A pond that frees unused memory at once.
    fn giving_back() -> Self {
        let mut play = Self::new();
        play.pond.caps.recycle_bytes = 0;
        play
    }

    /// Another cap for users; the operator's stays.
    fn cap(&mut self, resource: Resource, per_user: u64) {
        self.pond.accounts.set_terms(|terms| terms.with(resource, per_user));
    }

    fn driver_ready(&mut self, capacity_bytes: u64) {
        let device = Device {
            uuid: GPU,
            index: 0,
            name: "test".into(),
            total_bytes: 4 << 30,
            capacity_bytes,
            physical_used_bytes: None,
        };
        self.pond.driver_ready(&mut self.world, "test".into(), vec![device]);
    }

    /// The daemon is killed; the next one has only the journal and what is held.
    fn restart(&mut self) -> Recovered {
        let mut world = World {
            records: self.world.records.clone(),
            held: self.world.held.clone(),
            next_fd: self.world.next_fd,
            now: self.world.now,
            wall: self.world.wall,
            processes: self.world.processes.clone(),
            ..World::default()
        };
        let held = world.held.clone();
        let records = world.records.clone();
        let caps = Caps { recycle_bytes: self.pond.caps.recycle_bytes, ..LIMITS };
        let (pond, found) = Pond::recover(&mut world, records, held, Epoch(2), caps).unwrap();
        self.world = world;
        self.pond = pond;
        self.pond.public_writers = vec![PublicWriter::Everybody];
        self.driver_ready(1 << 30);
        found
    }

    fn connect(&mut self, user: u32) -> ConnId {
        self.connect_from("local", user)
    }

    fn connect_from(&mut self, tenant: &str, user: u32) -> ConnId {
        let conn = ConnId(self.next_conn);
        self.next_conn += 1;
        let owner = Owner { tenant: self.pond.tenant(tenant), user, group: 100 };
        let pid = 1000 + u32::try_from(conn.0).unwrap();
        self.pond.connected(conn, owner, &[], Door::Users, pid.into());
        conn
    }

    fn hello(&mut self, conn: ConnId, client: ClientId, claims: bool) -> ReplyBody {
        if let Some(connection) = self.pond.clients.connection_mut(conn) {
            let pid = *self.pids.entry(client).or_insert(connection.process.pid);
            connection.process = pid.into();
        }
        let answer = self.hello_with(conn, client, claims, self.proofs.get(&client).copied());
        if let ReplyBody::Welcome(Welcome { pond, token: Some(token), .. }) = &answer {
            self.proofs.insert(client, Proof { pond: *pond, token: *token });
        }
        answer
    }

    fn hello_with(
        &mut self,
        conn: ConnId,
        client: ClientId,
        claims: bool,
        proof: Option<Proof>,
    ) -> ReplyBody {
        let program = "test".into();
        let hello = Hello { version: VERSION, capabilities: 0, client, program, claims, proof };
        self.ask(conn, RequestBody::Hello(hello))
    }

    /// A new client of a user.
    fn client(&mut self, user: u32) -> (ConnId, ClientId) {
        let (conn, client) = (self.connect(user), ClientId::random());
        assert!(matches!(self.hello(conn, client, false), ReplyBody::Welcome(_)));
        (conn, client)
    }

    /// Somebody at the admin socket.
    fn operator(&mut self) -> ConnId {
        self.through(0, Door::Operator)
    }

    /// Somebody at another socket than the users'.
    fn through(&mut self, user: u32, door: Door) -> ConnId {
        let conn = self.connect(user);
        if let Some(connection) = self.pond.clients.connection_mut(conn) {
            connection.caller.door = door;
        }
        assert!(matches!(self.hello(conn, ClientId::random(), false), ReplyBody::Welcome(_)));
        conn
    }

    /// Asks, has the driver make what it is asked, and returns the answer, in however many turns.
    fn ask(&mut self, conn: ConnId, body: RequestBody) -> ReplyBody {
        let number = self.next_number;
        let mut answer = self.try_ask(conn, body);
        while answer.is_none() && self.pond.has_turns() {
            self.later(0);
            answer = self.answer(number);
        }
        answer.expect("an answer")
    }

    fn try_ask(&mut self, conn: ConnId, body: RequestBody) -> Option<ReplyBody> {
        self.try_ask_with(conn, body, None)
    }

    fn try_ask_with(
        &mut self,
        conn: ConnId,
        body: RequestBody,
        fd: Option<u64>,
    ) -> Option<ReplyBody> {
        let number = self.start_with(conn, body, fd);
        while let Some((slab, _, _)) = self.world.asked.pop() {
            self.world.next_fd += 1;
            let fd = self.world.next_fd;
            self.pond.slab_made(&mut self.world, slab, Ok(fd));
        }
        self.answer(number)
    }

    fn start(&mut self, conn: ConnId, body: RequestBody) -> u64 {
        self.start_with(conn, body, None)
    }

    fn start_with(&mut self, conn: ConnId, body: RequestBody, fd: Option<u64>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.pond.message(&mut self.world, conn, Ok(Request { number, body }), fd);
        number
    }

    fn answer(&mut self, number: u64) -> Option<ReplyBody> {
        let at = self.world.replies.iter().position(|(_, reply, _)| reply.number == number)?;
        Some(self.world.replies.remove(at).1.body)
    }

    fn refused(&mut self, conn: ConnId, body: RequestBody) -> Failure {
        match self.ask(conn, body) {
            ReplyBody::Failure(failure) => failure,
            other => panic!("not refused: {other:?}"),
        }
    }

    fn create(&mut self, conn: ConnId, create: TensorCreate) -> (TensorInfo, Option<LeaseToken>) {
        match self.ask(conn, RequestBody::TensorCreate(create)) {
            ReplyBody::Tensor(grant) => (grant.info, grant.lease.map(|(_, _, token)| token)),
            other => panic!("not created: {other:?}"),
        }
    }

    fn get(&mut self, conn: ConnId, name: &str, lease: u64) -> (TensorInfo, LeaseToken) {
        match self.ask(conn, get(name, lease, Mode::ReadOnly, 0)) {
            ReplyBody::Tensor(grant) => (grant.info, grant.lease.unwrap().2),
            other => panic!("not granted: {other:?}"),
        }
    }

    fn publish(&mut self, conn: ConnId, tensor: TensorId) -> u64 {
        let token = millpond_wire::Token::random();
        match self.ask(conn, publish(tensor, token)) {
            ReplyBody::Published { generation } => generation,
            other => panic!("not published: {other:?}"),
        }
    }

    fn delete(&mut self, conn: ConnId, tensor: TensorId) {
        assert_eq!(self.ask(conn, RequestBody::TensorDelete { tensor }), ReplyBody::Done);
    }

    fn delete_unused(&mut self, conn: ConnId, tensor: TensorId) -> Result<(), Failure> {
        match self.ask(conn, RequestBody::TensorDeleteUnused { tensor }) {
            ReplyBody::Done => Ok(()),
            ReplyBody::Failure(failure) => Err(failure),
            other => panic!("no answer to a delete: {other:?}"),
        }
    }

    fn release(&mut self, conn: ConnId, lease: u64) {
        let body = RequestBody::LeaseRelease { leases: vec![LeaseId(lease)] };
        assert_eq!(self.ask(conn, body), ReplyBody::Done);
    }

    fn claim(&mut self, conn: ConnId, leases: Vec<LeaseClaim>) -> Vec<LeaseId> {
        match self.ask(conn, RequestBody::Claim(Claim { leases, last: true })) {
            ReplyBody::Claimed { refused } => refused,
            other => panic!("no answer to a claim: {other:?}"),
        }
    }

    fn slab_bytes(&self) -> u64 {
        self.pond.slabs.totals_on(GPU).bytes
    }

    /// So much later, with everything done that was due.
    fn later(&mut self, ms: u64) {
        self.world.now += ms;
        self.pond.tick(&mut self.world);
    }

    /// Whether a new lease could be had.
    fn is_alive(&self, tensor: TensorId) -> bool {
        self.pond.catalog.get(tensor).is_some_and(|tensor| !tensor.is_deleted())
    }

    /// The texts of events of a kind, as a subscriber who may see everything got them.
    fn told(&self, kind: millpond_wire::message::EventKind) -> Vec<String> {
        let events = self.pond.events.kept().filter(|event| event.kind == kind);
        events.map(|event| event.text.clone()).collect()
    }

    fn exists(&self, tensor: TensorId) -> bool {
        self.pond.catalog.get(tensor).is_some()
    }

    /// Every slab and client that is in the books is held, and nothing else; and what indexes say is
    /// so.
    fn check_held(&self) {
        self.check_indexes();
        assert_eq!(self.pond.check_accounts(), Ok(()));
        let slabs = self.pond.slabs.iter();
        let with_descriptor = slabs.filter(|(_, slab)| slab.backing.transport.has_descriptor());
        let mut expected: Vec<Held> = with_descriptor.map(|(id, _)| Held::Slab(id)).collect();
        for record in self.pond.hosts.records() {
            let Record::HostMade(made) = record else { panic!("not a host: {record:?}") };
            expected.extend([Held::HostProcess(made.host), Held::HostChannel(made.host)]);
        }
        let recorded = self.pond.clients.iter().filter(|(_, client)| client.recorded);
        expected.extend(recorded.map(|(id, _)| Held::Client(id)));
        expected.extend(self.pond.models.manifests().map(Held::Manifest));
        assert_eq!(expected.len(), self.world.held.len());
        assert!(expected.iter().all(|held| self.world.held.contains_key(held)));
    }
}

/// A tensor of so many bytes.
fn spec(name: &str, bytes: u64) -> TensorCreate {
    TensorCreate {
        tensor: TensorId::random(),
        name: Some(name.parse().unwrap()),
        dtype: Dtype::U8,
        shape: Shape::new([bytes]).unwrap(),
        device: None,
        audience: Audience::User,
        ephemeral: false,
        zero: false,
        lease: None,
        life: Life::default(),
        transport: TransportKind::Vmm,
        hold: None,
    }
}

fn publish(tensor: TensorId, token: millpond_wire::Token) -> RequestBody {
    RequestBody::TensorPublish(TensorPublish { tensor, token, name: None, replace: false })
}

fn get(name: &str, lease: u64, mode: Mode, wait_ms: u64) -> RequestBody {
    let target = Target::Name(name.parse().unwrap());
    RequestBody::TensorGet(TensorGet { target, lease: LeaseId(lease), mode, wait_ms })
}
