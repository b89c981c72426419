//! The real world behind the policy's ports: journal, keeper, sockets, driver thread, clock.

mod sending;

use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use millpond_host::channel::ToHost;
use millpond_keeper::channel::{Channel, HoldKey, Holding, Message};
use millpond_mover::channel::ToMover;
use millpond_wire::message::{Counters, Reply, ReplyBody};
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{
    Backing, ClientId, GpuUuid, HostId, SlabId, TransportKind, caps, memfd, process,
};
use rustix::process::Signal;

use super::conn::{Conn, Flushed};
use super::file_limit;
use super::flights::Flights;

use super::holders::Holders;
use super::hosts::{HostLaunch, HostProcesses};
use super::keeper_line::KeeperLine;
use super::long_replies::{self, LongReplies};
use super::meter::{self, Meter};
use super::movers::{MoverLaunch, MoverProcesses};
use super::numbers::ByNumber;
use super::page::Page;
use super::soon::Soon;
use super::watcher::{Source, Watcher};
use crate::accounts::{Account, Refused};
use crate::book::{self, BookThread, ChargedAccounts};
use crate::descriptors;
use crate::driver::{Ask, DriverThread, SharedFd};
use crate::foreign;
use crate::journal::Journal;
use crate::policy::{ConnId, GroupAsk, Held, HoldError, HolderSeen, KeeperRoom, PortError, Ports};

/// Everything outside the policy.
pub struct World {
    /// What is waited for.
    pub watcher: Watcher,
    client_tokens: HashMap<ClientId, (u64, SharedFd)>,
    conn_tokens: ByNumber<ConnId, u64>,
    pub conns: ByNumber<ConnId, Conn>,
    /// Connections to be ended by the event loop.
    pub ended: Vec<ConnId>,
    /// Connections that wait for something that no descriptor signals.
    pub soon: Soon,
    /// The thread that encodes long replies.
    pub long_replies: LongReplies,
    pub journal: Journal,
    pub keeper: KeeperLine,
    /// Everything that the keeper holds, with what slabs are made of.
    pub held: BTreeMap<HoldKey, (Backing, SharedFd)>,
    pub driver: DriverThread,
    /// The thread that keeps the groups.
    pub book: BookThread,
    /// What was sent and is not read.
    pub flights: Flights,
    /// Connections that are over, with descriptors that may be unread: as long as they are, they
    /// are in flight, and their user pays.
    lingering: ByNumber<ConnId, Conn>,
    /// Users who have reached a cap of what may be unread, and what of.
    pub stopped: Vec<(Rc<Account>, Refused)>,
    pub movers: MoverProcesses,
    pub hosts: HostProcesses,
    holders: Holders,
    charges: Arc<ChargedAccounts>,
    /// What clients read; absent until the daemon serves.
    pub page: Option<Page>,
    /// What requests have come to.
    pub meter: Meter,
    builder: planus::Builder,
}

impl World {
    /// A world with nothing watched yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(
        journal: Journal,
        channel: Channel,
        held: BTreeMap<HoldKey, (Backing, SharedFd)>,
        (driver, book, charges): (DriverThread, BookThread, Arc<ChargedAccounts>),
        (movers, hosts): (MoverLaunch, HostLaunch),
    ) -> std::io::Result<Self> {
        Ok(Self {
            watcher: Watcher::new()?,
            client_tokens: HashMap::new(),
            conn_tokens: ByNumber::default(),
            conns: ByNumber::default(),
            ended: Vec::new(),
            soon: Soon::default(),
            long_replies: LongReplies::start()?,
            journal,
            keeper: KeeperLine::new(channel),
            held,
            driver,
            book,
            flights: Flights::default(),
            lingering: ByNumber::default(),
            stopped: Vec::new(),
            movers: MoverProcesses::new(movers),
            hosts: HostProcesses::new(hosts),
            holders: Holders::default(),
            charges,
            page: None,
            meter: Meter::default(),
            builder: planus::Builder::new(),
        })
    }

    /// Takes a new connection in.
    ///
    /// # Errors
    /// What the system says.
    pub fn add_conn(&mut self, id: ConnId, conn: Conn) -> std::io::Result<()> {
        let token = self.watcher.add(&conn, Source::Conn(id))?;
        self.conn_tokens.insert(id, token);
        self.conns.insert(id, conn);
        Ok(())
    }

    /// Has the keeper hold a descriptor. Without a keeper it is held here, and given to the next.
    ///
    /// # Errors
    /// [`HoldError`] if it was not sent.
    pub fn hold_key(&mut self, holding: impl Into<Holding>, fd: SharedFd) -> Result<(), HoldError> {
        let Holding { key, backing } = holding.into();
        let holdings = vec![Holding { key: key.clone(), backing }];
        let message = Message::Hold { holdings };
        let before = self.held.insert(key.clone(), (backing, Arc::clone(&fd)));
        let told = self.keeper.hold(&message, &[fd.as_fd()]);
        if told.is_err() {
            // What the keeper does not hold, the next one must not get either.
            match before {
                Some(before) => self.held.insert(key, before),
                None => self.held.remove(&key),
            };
        }
        told
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

impl Ports for World {
    type Fd = SharedFd;

    fn now_ms(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }

    fn monotonic_ms(&self) -> u64 {
        // The time since the machine's start, with its sleep: the same for every process.
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        seconds.saturating_mul(1000) + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000
    }

    fn random_id(&mut self) -> uuid::Uuid {
        uuid::Uuid::new_v4()
    }

    fn journal(&mut self, record: &Record) -> Result<(), PortError> {
        self.journal.append(record).map_err(|error| PortError(error.to_string()))
    }

    fn hold(&mut self, what: Held, backing: Backing, fd: &SharedFd) -> Result<(), HoldError> {
        self.hold_key(Holding { key: key_of(what), backing }, Arc::clone(fd))
    }

    fn keeper_room(&self) -> KeeperRoom {
        self.keeper.room()
    }

    fn let_go(&mut self, what: Held, fd: Option<SharedFd>) {
        let key = key_of(what);
        let held = self.held.remove(&key);
        // What it never got, it needs not drop.
        if held.is_some()
            && let Err(error) = self.keeper.tell(Message::Drop { keys: vec![key] })
        {
            tracing::error!("could not have a descriptor dropped: {error}");
        }
        for fd in held.map(|(_, fd)| fd).into_iter().chain(fd) {
            self.driver.ask(Ask::Close(fd));
        }
        if let Held::Slab(slab) = what {
            self.driver.ask(Ask::SlabGone(slab));
        }
    }

    fn manifest_ok(&self, fd: &SharedFd) -> Result<(), String> {
        memfd::check_sealed(fd, caps::MANIFEST_BYTES).map_err(|error| error.to_string())
    }

    fn reply(&mut self, conn: ConnId, mut reply: Reply, mut fds: Vec<SharedFd>) {
        if !fds.is_empty() {
            self.has_room(conn, fds.len());
        }
        let Some(found) = self.conns.get_mut(&conn) else { return };
        self.meter.replied(&mut found.unanswered, &reply);
        if let ReplyBody::Welcome(_) = reply.body
            && !fds.is_empty()
        {
            let flushed = found.send_now(&reply, &fds, &mut self.builder);
            if matches!(flushed, Flushed::Everything | Flushed::Gone) {
                return self.after_send(conn, flushed);
            }
            // Nobody is kept out because too many descriptors are in flight.
            fds.clear();
            if let ReplyBody::Welcome(welcome) = &mut reply.body {
                welcome.page_slots = 0;
            }
        }
        if let Some(bytes) = long_replies::expected(&reply.body).filter(|_| fds.is_empty()) {
            found.promise(bytes);
            self.long_replies.make(conn, reply);
            self.account(conn);
            return;
        }
        match found.send(&reply, fds, &mut self.builder) {
            Ok(flushed) => self.after_send(conn, flushed),
            Err(error) => self.cannot_reply(conn, &error),
        }
    }

    fn backlog(&self, conn: ConnId) -> usize {
        self.conns.get(&conn).map_or(0, Conn::backlog)
    }

    fn close(&mut self, conn: ConnId) {
        if let Some(found) = self.conns.get_mut(&conn) {
            found.closing = true;
            if found.backlog() == 0 {
                // After the reply that the caller is about to send.
                self.ended.push(conn);
            } else {
                self.flush(conn);
            }
        }
    }

    fn peer_pidfd(&mut self, conn: ConnId) -> Option<SharedFd> {
        let found = self.conns.get(&conn)?;
        // It fails if the process is gone.
        let pidfd = millpond_wire::fd::peer_pidfd(found).ok()?;
        if let Err(short) = descriptors::may_hold(&pidfd) {
            tracing::error!("the end of another client cannot be watched: {short}");
            return None;
        }
        Some(Arc::new(pidfd))
    }

    fn inode(&self, pidfd: &SharedFd) -> u64 {
        process::inode(pidfd)
    }

    fn watch(&mut self, client: ClientId, pidfd: &SharedFd) {
        match self.watcher.add(pidfd, Source::ClientGone(client)) {
            Ok(token) => {
                self.client_tokens.insert(client, (token, Arc::clone(pidfd)));
            }
            Err(error) => tracing::error!(%client, "its process cannot be watched: {error}"),
        }
    }

    fn unwatch(&mut self, client: ClientId) {
        if let Some((token, pidfd)) = self.client_tokens.remove(&client) {
            self.watcher.remove(&pidfd, token);
        }
    }

    fn watch_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen {
        self.holders.watch(&mut self.watcher, pid, started)
    }

    fn unwatch_holder(&mut self, process: HolderProcess) {
        self.holders.unwatch(&mut self.watcher, process);
    }

    fn ask_group(&mut self, ask: GroupAsk) {
        self.book.ask(book::Ask::Group(Box::new(ask)));
    }

    fn make_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) {
        self.driver.ask(Ask::MakeSlab { slab, device, bytes, user });
    }

    fn charge_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) -> bool {
        let charged = self.charges.charge_at_once(slab, device, bytes, user);
        if !charged {
            self.driver.ask(Ask::Charge { slab, device, bytes, user, maker_pid: None });
        }
        charged
    }

    fn charge_made(
        &mut self,
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
        maker_pid: u32,
    ) -> bool {
        let charged = self.charges.charge_at_once(slab, device, bytes, user);
        if !charged {
            let maker_pid = Some(maker_pid);
            self.driver.ask(Ask::Charge { slab, device, bytes, user, maker_pid });
        }
        charged
    }

    fn count_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) {
        self.driver.ask(Ask::Count { slab, device, bytes, user });
    }

    fn uncharge_slab(&mut self, slab: SlabId) {
        self.driver.ask(Ask::SlabGone(slab));
    }

    fn try_fabric(&mut self, slab: SlabId, device: GpuUuid) {
        self.driver.ask(Ask::TryFabric { slab, device });
    }

    fn is_exported(&self, fd: &SharedFd, transport: TransportKind) -> Result<(), String> {
        foreign::check(fd, transport)
    }

    fn is_same(&self, one: &SharedFd, other: &SharedFd) -> bool {
        foreign::is_same(one, other)
    }

    fn start_host(&mut self, host: HostId) {
        self.hosts.start(&mut self.watcher, host);
    }

    fn adopt_host(&mut self, host: HostId, channel: &SharedFd) {
        self.hosts.adopt(&mut self.watcher, host, channel);
    }

    fn tell_host(&mut self, host: HostId, message: ToHost) {
        self.hosts.tell(host, message);
    }

    fn close_host(&mut self, host: HostId) {
        self.hosts.close(&mut self.watcher, host);
    }

    fn start_mover(&mut self, device: GpuUuid) {
        self.movers.start(&mut self.watcher, device);
    }

    fn tell_mover(&mut self, device: GpuUuid, message: ToMover, fd: Option<SharedFd>) {
        self.movers.tell(device, message, fd);
    }

    fn count_into(&self, counters: &mut Counters) {
        self.meter.count_into(counters);
    }

    fn resident_bytes(&self) -> u64 {
        meter::resident_bytes()
    }

    fn file_limit(&self, pid: u32) -> Option<u64> {
        file_limit::file_limit(pid)
    }

    fn kill(&mut self, pidfd: &SharedFd) {
        // One that is gone already needs no killing.
        let _ = rustix::process::pidfd_send_signal(pidfd, Signal::KILL);
    }

    fn upgrade(&mut self, program: &str) -> Result<(), PortError> {
        if !self.keeper.is_up() {
            return Err(PortError("there is none at the moment; try again".to_owned()));
        }
        if self.keeper.room() == KeeperRoom::None {
            return Err(PortError("it takes nothing at the moment; try again".to_owned()));
        }
        // The keeper answers with a descriptor, and kills a daemon that does not hand over.
        if super::clients::spare_fd().is_none() {
            return Err(PortError("the daemon has no descriptor left for a hand-over".to_owned()));
        }
        self.keeper.tell(Message::Upgrade { program: program.to_owned() })
    }

    fn page(&mut self, conn: ConnId) -> Option<SharedFd> {
        let page = self.page.as_ref().map(Page::reader)?;
        self.has_room(conn, 1).then_some(page)
    }

    fn look_for_unread(&mut self) {
        for id in self.flights.unread() {
            self.look_at_conn(id);
        }
    }

    fn bump(&mut self, slots: [usize; 2]) {
        let Some(page) = &self.page else { return };
        let [first, second] = slots;
        let mut bumped = page.bump(first);
        if second != first {
            bumped = bumped.and(page.bump(second));
        }
        if let Err(error) = bumped {
            tracing::error!("the page could not be written: {error}");
        }
    }

    fn read_physical(&mut self) {
        self.driver.ask(Ask::ReadPhysical);
    }
}
