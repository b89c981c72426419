//! The policy's ports in the simulated world, with the daemon's death at any of its calls.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_daemon::budget::Charges;
use millpond_daemon::journal::write_frame;
use millpond_daemon::policy::{
    ConnId, DriverFailure, GroupAsk, Held, HoldError, HolderSeen, KeeperRoom, PortError, Ports,
};
use millpond_host::channel::ToHost;
use millpond_keeper::channel::{HoldKey, Message};
use millpond_mover::channel::ToMover;
use millpond_wire::message::Reply;
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{Backing, ClientId, GpuUuid, HostId, SlabId, Token, TransportKind};
use uuid::Uuid;

use crate::book::{Book, BookAsk};
use crate::card::{Fd, File};
use crate::driver_thread::{Ask, Told};
use crate::holders::SharedHolders;
use crate::hosts::HostEnd;
use crate::ledger::SharedGroups;
use crate::movers::SharedWire;
use crate::mutation::Mutation;
use crate::rng::Rng;
use crate::sleepers::{Borrowed, borrowed};
use crate::socket::{SharedChannel, SharedSocket};
use crate::trace::Trace;

/// What every process shares.
#[derive(Clone)]
pub struct Around {
    pub clock: Rc<Cell<u64>>,
    /// Processes that are gone.
    pub gone: Rc<RefCell<BTreeSet<u32>>>,
    pub mutation: Option<Mutation>,
    /// Swaps that were recorded, by whichever daemon.
    pub swaps: Rc<RefCell<BTreeSet<Token>>>,
    /// What was recorded as borrowed, by whichever daemon.
    pub borrowed: Rc<RefCell<Borrowed>>,
    pub groups: SharedGroups,
    pub holders: SharedHolders,
    pub trace: Trace,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Lives,
    Dies,
    Dead,
}

/// So many messages fit into the channel to the keeper: few, so that it is often full.
const KEEPER_ROOM: usize = 4;
/// With fewer, one request surely finds room for all that it has held.
const KEEPER_PLENTY: usize = 2;

/// Everything that one daemon process has outside its policy. It goes with the process.
pub struct SimPorts {
    /// Milliseconds; the same clock for all.
    pub clock: Rc<Cell<u64>>,
    /// Chance of this daemon.
    pub rng: Rng,
    /// The journal, which the keeper holds too.
    pub journal: File,
    /// Where whole records end; a failed write is cut back to this.
    pub length: usize,
    /// Everything that must outlive this daemon.
    pub held: BTreeMap<HoldKey, Fd>,
    pub channel: SharedChannel,
    pub conns: BTreeMap<ConnId, SharedSocket>,
    /// Connections that end after this event.
    pub ended: Vec<ConnId>,
    /// Processes that are watched.
    pub watched: BTreeMap<ClientId, u32>,
    /// Processes whose end is watched for holds.
    pub watched_holders: BTreeSet<HolderProcess>,
    pub holders: SharedHolders,
    /// To the mover, while its channel is open.
    pub mover: Option<SharedWire>,
    /// Processes that were killed in this event.
    pub killed: Vec<u32>,
    /// Movers that are to be started.
    pub wanted_movers: Vec<GpuUuid>,
    /// To hosts, this daemon's and those of earlier ones.
    pub hosts: BTreeMap<HostId, HostEnd>,
    /// Hosts that are to be started.
    pub wanted_hosts: Vec<HostId>,
    /// Processes that are gone.
    pub gone: Rc<RefCell<BTreeSet<u32>>>,
    /// What the driver thread is to do.
    pub asks: VecDeque<Ask>,
    /// What it has said.
    pub told: VecDeque<Told>,
    /// Who pays for which slab: the real budget.
    pub charges: Charges,
    pub book: Book,
    /// The groups' files, which outlive this daemon.
    pub groups: SharedGroups,
    /// Processes may keep the locks of groups.
    pub stuck_locks: bool,
    /// Limits are not asked any more: somebody has looked before.
    pub charge_forced: bool,
    /// Replies of this event that were sent, and to which process.
    pub sent: Vec<(u32, Reply, Vec<Fd>)>,
    /// Calls until the process dies.
    pub dies_in: Option<u64>,
    /// The process is dead: nothing has an effect any more.
    pub dead: bool,
    /// One call in so many fails; zero means none.
    pub faults: u64,
    pub mutation: Option<Mutation>,
    /// Something was refused by a fault.
    pub faulted: bool,
    /// Swaps that were recorded, by whichever daemon.
    pub swaps: Rc<RefCell<BTreeSet<Token>>>,
    /// What was recorded as borrowed, by whichever daemon.
    pub borrowed: Rc<RefCell<Borrowed>>,
    /// A swap that was recorded twice.
    pub swapped_twice: Option<Token>,
    pub trace: Trace,
    /// What the keeper has no room for yet.
    to_keeper: VecDeque<(Vec<u8>, Vec<Fd>)>,
    late_records: Vec<Record>,
    late_holds: Vec<(HoldKey, Fd)>,
    builder: planus::Builder,
}

impl SimPorts {
    /// Of a daemon that was just started.
    #[must_use]
    pub fn new(
        around: Around,
        rng: Rng,
        journal: File,
        held: BTreeMap<HoldKey, Fd>,
        channel: SharedChannel,
    ) -> Self {
        let Around { clock, gone, mutation, swaps, borrowed, groups, holders, trace } = around;
        let length = journal.borrow().len();
        Self {
            clock,
            rng,
            journal,
            length,
            held,
            channel,
            conns: BTreeMap::new(),
            ended: Vec::new(),
            watched: BTreeMap::new(),
            watched_holders: BTreeSet::new(),
            holders,
            mover: None,
            killed: Vec::new(),
            wanted_movers: Vec::new(),
            hosts: BTreeMap::new(),
            wanted_hosts: Vec::new(),
            gone,
            asks: VecDeque::new(),
            told: VecDeque::new(),
            charges: Charges::default(),
            book: Book::default(),
            groups,
            stuck_locks: false,
            charge_forced: false,
            sent: Vec::new(),
            dies_in: None,
            dead: false,
            faults: 0,
            mutation,
            faulted: false,
            swaps,
            borrowed,
            swapped_twice: None,
            trace,
            to_keeper: VecDeque::new(),
            late_records: Vec::new(),
            late_holds: Vec::new(),
            builder: planus::Builder::new(),
        }
    }

    /// Whether the process lives to do one thing more.
    pub(crate) fn lives(&mut self) -> bool {
        self.life() == Life::Lives
    }

    fn life(&mut self) -> Life {
        match &mut self.dies_in {
            _ if self.dead => Life::Dead,
            Some(0) => {
                self.trace.say(|| "    the daemon DIES here".to_owned());
                self.dead = true;
                Life::Dies
            }
            Some(left) => {
                *left -= 1;
                Life::Lives
            }
            None => Life::Lives,
        }
    }

    fn fails(&mut self) -> bool {
        let fails = self.faults > 0 && self.rng.once_in(self.faults);
        self.faulted |= fails;
        fails
    }

    /// Says something now, or when the keeper has room for it.
    fn tell_keeper(&mut self, message: &Message, fds: Vec<Fd>) -> Result<(), PortError> {
        let bytes = message.encode().map_err(|error| PortError(error.to_string()))?;
        self.to_keeper.push_back((bytes, fds));
        self.flush_to_keeper();
        Ok(())
    }

    /// What waits for the keeper is said, as far as there is room.
    pub fn flush_to_keeper(&mut self) {
        let mut channel = self.channel.borrow_mut();
        if !channel.keeper_open {
            // A dead keeper is no error: the next one gets everything.
            self.to_keeper.clear();
        }
        while channel.to_keeper.len() < KEEPER_ROOM
            && let Some(message) = self.to_keeper.pop_front()
        {
            channel.to_keeper.push_back(message);
        }
    }

    /// There is another keeper, which gets everything.
    pub fn keeper_replaced(&mut self, channel: SharedChannel) {
        self.to_keeper.clear();
        self.channel = channel;
    }

    /// Has the keeper hold something; durable when it returns.
    ///
    /// # Errors
    /// [`HoldError`] if a fault says so, or the keeper has no room.
    pub fn hold_key(&mut self, key: HoldKey, fd: Fd) -> Result<(), HoldError> {
        if !self.lives() {
            return Ok(());
        }
        self.flush_to_keeper();
        if self.keeper_room() == KeeperRoom::None
            && self.mutation != Some(Mutation::FullCountsAsHeld)
        {
            self.trace.say(|| format!("    hold {key}: the keeper is FULL"));
            return Err(HoldError::Full);
        }
        if self.channel.borrow().keeper_open && self.fails() {
            self.trace.say(|| format!("    hold {key} FAILS"));
            return Err(PortError("a fault".to_owned()).into());
        }
        self.trace.say(|| format!("    hold {key}"));
        self.held.insert(key.clone(), fd.clone());
        Ok(self.tell_keeper(&Message::Hold { holdings: vec![key.into()] }, vec![fd])?)
    }

    fn append(&mut self, record: &Record) -> Result<(), PortError> {
        let mut frame = Vec::new();
        let written = self.as_written(record);
        let payload = written.encode(&mut self.builder);
        write_frame(&mut frame, payload).map_err(|error| PortError(error.to_string()))?;
        match self.life() {
            Life::Lives => {}
            // Only the call in which it dies can be cut.
            Life::Dies if self.rng.once_in(2) => {
                let cut = self.rng.index(frame.len());
                self.trace.say(|| format!("    journal {record:?} TORN at {cut}"));
                self.journal.borrow_mut().extend_from_slice(&frame[..cut]);
                return Ok(());
            }
            Life::Dies | Life::Dead => return Ok(()),
        }
        if self.fails() {
            self.trace.say(|| format!("    journal {record:?} FAILS"));
            self.journal.borrow_mut().truncate(self.length);
            return Err(PortError("a fault".to_owned()));
        }
        self.trace.say(|| format!("    journal {record:?}"));
        self.journal.borrow_mut().extend_from_slice(&frame);
        self.length += frame.len();
        self.holders.borrow_mut().record(record);
        Ok(())
    }

    /// What a mutation has put off is done now, after the event.
    pub fn after_event(&mut self) {
        for record in std::mem::take(&mut self.late_records) {
            let _ = self.append(&record);
        }
        self.hold_late();
    }

    fn hold_late(&mut self) {
        for (key, fd) in std::mem::take(&mut self.late_holds) {
            let _ = self.hold_key(key, fd);
        }
    }

    fn drop_key(&mut self, key: &HoldKey) -> Option<Fd> {
        let held = self.held.remove(key);
        let _ = self.tell_keeper(&Message::Drop { keys: vec![key.clone()] }, Vec::new());
        held
    }
}

fn key_of(what: Held) -> HoldKey {
    match what {
        Held::Slab(slab) => HoldKey::slab(slab),
        Held::Client(client) => HoldKey::client(client),
        Held::Manifest(version) => HoldKey::manifest(version),
        Held::HostChannel(host) => HoldKey::host_channel(host),
        Held::HostProcess(host) => HoldKey::host_process(host),
    }
}

impl Ports for SimPorts {
    type Fd = Fd;

    fn now_ms(&self) -> u64 {
        self.clock.get()
    }

    fn monotonic_ms(&self) -> u64 {
        self.clock.get()
    }

    fn random_id(&mut self) -> Uuid {
        self.rng.id()
    }

    fn journal(&mut self, record: &Record) -> Result<(), PortError> {
        match self.mutation {
            Some(Mutation::JournalAfterReply) => {
                self.late_records.push(record.clone());
                return Ok(());
            }
            Some(Mutation::DropBeforeJournal) => {
                if let Record::SlabGone(slab) = record
                    && self.lives()
                {
                    let fd = self.drop_key(&HoldKey::slab(*slab));
                    self.asks.extend(fd.map(Ask::Close));
                }
            }
            _ => {}
        }
        let written = match (self.mutation, record) {
            (Some(Mutation::SwapTokenForgotten), Record::VersionCurrent { version, .. }) => {
                self.append(&Record::VersionCurrent { version: *version, token: None })
            }
            _ => self.append(record),
        };
        // A process that dies of the write may have written all of it.
        if let Some(borrowed) = borrowed(record)
            && (written.is_ok() || self.dead)
        {
            self.borrowed.borrow_mut().insert(borrowed);
        }
        if let Record::VersionCurrent { token: Some(token), .. } = record
            && written.is_ok()
            && !self.dead
            && !self.swaps.borrow_mut().insert(*token)
        {
            self.swapped_twice = Some(*token);
        }
        self.hold_late();
        written
    }

    fn keeper_room(&self) -> KeeperRoom {
        let channel = self.channel.borrow();
        match channel.to_keeper.len() {
            _ if !channel.keeper_open => KeeperRoom::Plenty,
            KEEPER_ROOM.. => KeeperRoom::None,
            _ if !self.to_keeper.is_empty() => KeeperRoom::None,
            0..KEEPER_PLENTY => KeeperRoom::Plenty,
            _ => KeeperRoom::Little,
        }
    }

    fn hold(&mut self, what: Held, _backing: Backing, fd: &Fd) -> Result<(), HoldError> {
        if self.mutation == Some(Mutation::HoldAfterJournal) {
            self.late_holds.push((key_of(what), fd.clone()));
            return Ok(());
        }
        if self.mutation == Some(Mutation::ManifestNotHeld) && matches!(what, Held::Manifest(_)) {
            return Ok(());
        }
        if self.mutation == Some(Mutation::HostNotHeld) && matches!(what, Held::HostChannel(_)) {
            return Ok(());
        }
        self.hold_key(key_of(what), fd.clone())
    }

    fn let_go(&mut self, what: Held, fd: Option<Fd>) {
        if !self.lives() {
            return;
        }
        let key = key_of(what);
        self.trace.say(|| format!("    let go {key}"));
        let held = self.drop_key(&key);
        self.asks.extend(held.into_iter().chain(fd).map(Ask::Close));
        if let Held::Slab(slab) = what {
            self.asks.push_back(Ask::SlabGone(slab));
        }
    }

    fn manifest_ok(&self, fd: &Fd) -> Result<(), String> {
        if matches!(fd, Fd::Contents(_)) { Ok(()) } else { Err("it is no file".to_owned()) }
    }

    fn reply(&mut self, conn: ConnId, reply: Reply, fds: Vec<Fd>) {
        if !self.lives() {
            return;
        }
        let Some(socket) = self.conns.get(&conn) else { return };
        self.trace.say(|| format!("    reply {} {:?}", conn.0, reply));
        let bytes = reply.encode(&mut self.builder).to_vec();
        let mut open = socket.borrow_mut();
        if open.client_open {
            open.to_client.push_back((bytes, fds.clone()));
        }
        let pid = open.pid;
        drop(open);
        self.sent.push((pid, reply, fds));
    }

    fn backlog(&self, _conn: ConnId) -> usize {
        0
    }

    fn close(&mut self, conn: ConnId) {
        if self.lives() {
            self.ended.push(conn);
        }
    }

    fn peer_pidfd(&mut self, conn: ConnId) -> Option<Fd> {
        let pid = self.conns.get(&conn)?.borrow().pid;
        // Nobody can be asked for the pidfd of a process that is gone.
        (!self.gone.borrow().contains(&pid)).then_some(Fd::Process(pid))
    }

    fn watch(&mut self, client: ClientId, pidfd: &Fd) {
        if let Fd::Process(pid) = pidfd {
            self.watched.insert(client, *pid);
        }
    }

    fn unwatch(&mut self, client: ClientId) {
        self.watched.remove(&client);
    }

    fn watch_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen {
        self.see_holder(pid, started)
    }

    fn unwatch_holder(&mut self, process: HolderProcess) {
        self.watched_holders.remove(&process);
    }

    fn ask_group(&mut self, ask: GroupAsk) {
        if self.lives() {
            self.book.asks.push_back(BookAsk::Group(Box::new(ask)));
        }
    }

    fn make_slab(&mut self, slab: SlabId, _device: GpuUuid, bytes: u64, user: u32) {
        if self.lives() {
            let had_room = self.has_room_now(user, bytes);
            self.asks.push_back(Ask::Make { slab, bytes, user, had_room });
        }
    }

    fn charge_slab(&mut self, slab: SlabId, _device: GpuUuid, bytes: u64, user: u32) -> bool {
        if self.lives() {
            let had_room = self.has_room_now(user, bytes);
            self.asks.push_back(Ask::Charge { slab, bytes, user, had_room });
        }
        // Accounts that say yes at once take nothing away that this way does not have.
        false
    }

    fn count_slab(&mut self, slab: SlabId, _device: GpuUuid, bytes: u64, user: u32) {
        if self.lives() {
            self.asks.push_back(Ask::Count { slab, bytes, user });
        }
    }

    fn uncharge_slab(&mut self, slab: SlabId) {
        if self.mutation != Some(Mutation::UnchargeForgotten) && self.lives() {
            self.asks.push_back(Ask::SlabGone(slab));
        }
    }

    fn try_fabric(&mut self, slab: SlabId, _device: GpuUuid) {
        if self.lives() {
            let text = "no fabric".to_owned();
            let failure = DriverFailure { out_of_memory: false, text, over_limit: None };
            self.told.push_back(Told::Made(slab, Err(failure)));
        }
    }

    fn is_exported(&self, fd: &Fd, _transport: TransportKind) -> Result<(), String> {
        if matches!(fd, Fd::Memory(_)) { Ok(()) } else { Err("it is no memory".to_owned()) }
    }

    fn is_same(&self, one: &Fd, other: &Fd) -> bool {
        matches!((one, other), (Fd::Memory(one), Fd::Memory(other)) if Rc::ptr_eq(one, other))
    }

    fn start_host(&mut self, host: HostId) {
        if self.lives() {
            self.wanted_hosts.push(host);
        }
    }

    fn adopt_host(&mut self, host: HostId, channel: &Fd) {
        if let Fd::Host(end) = channel
            && self.lives()
        {
            self.hosts.insert(host, end.clone());
        }
    }

    fn tell_host(&mut self, host: HostId, message: ToHost) {
        if !self.lives() {
            return;
        }
        self.trace.say(|| format!("    tell host {host} {message:?}"));
        if let Some(end) = self.hosts.get(&host) {
            let mut wire = end.wire.borrow_mut();
            if wire.host_open {
                wire.to_host.push_back(message.encode());
            }
        }
    }

    fn close_host(&mut self, host: HostId) {
        if self.lives() {
            self.hosts.remove(&host);
        }
    }

    fn read_physical(&mut self) {
        if self.lives() {
            self.asks.push_back(Ask::Read);
        }
    }

    fn page(&mut self, _conn: ConnId) -> Option<Fd> {
        None
    }

    fn bump(&mut self, _slots: [usize; 2]) {}

    fn start_mover(&mut self, device: GpuUuid) {
        if self.lives() {
            self.wanted_movers.push(device);
        }
    }

    fn tell_mover(&mut self, _device: GpuUuid, message: ToMover, fd: Option<Fd>) {
        if !self.lives() {
            return;
        }
        if let Some(wire) = &self.mover {
            let mut wire = wire.borrow_mut();
            if wire.mover_open {
                wire.to_mover.push_back((message.encode(), fd));
            }
        }
    }

    fn file_limit(&self, _pid: u32) -> Option<u64> {
        None
    }

    fn kill(&mut self, pidfd: &Fd) {
        if let Fd::Process(pid) = pidfd
            && self.lives()
        {
            self.killed.push(*pid);
        }
    }

    fn upgrade(&mut self, _program: &str) -> Result<(), PortError> {
        Err(PortError("nobody can be asked here".to_owned()))
    }
}
