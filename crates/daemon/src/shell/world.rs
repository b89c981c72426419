//! The real world behind the policy's ports: journal, keeper, sockets, driver thread, clock.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use millpond_keeper::channel::{Channel, HoldKey, Holding, Message};
use millpond_mover::channel::ToMover;
use millpond_wire::message::{Reply, ReplyBody};
use millpond_wire::record::Record;
use millpond_wire::{Backing, ClientId, GpuUuid, SlabId, caps, memfd};
use rustix::process::Signal;

use super::conn::{Conn, Flushed};
use super::file_limit;
use super::flights::Flights;
use super::keeper_line::KeeperLine;
use super::long_replies::{self, LongReplies};
use super::movers::{MoverLaunch, MoverProcesses};
use super::page::Page;
use super::soon::Soon;
use super::watcher::{Source, Watcher};
use crate::accounts::{Account, Refused, Resource};
use crate::book::{self, BookThread};
use crate::descriptors;
use crate::driver::{Ask, DriverThread, SharedFd};
use crate::journal::Journal;
use crate::policy::{ConnId, GroupAsk, Held, HoldError, KeeperRoom, PortError, Ports};

/// Everything outside the policy.
pub struct World {
    /// What is waited for.
    pub watcher: Watcher,
    client_tokens: HashMap<ClientId, (u64, SharedFd)>,
    conn_tokens: HashMap<ConnId, u64>,
    pub conns: HashMap<ConnId, Conn>,
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
    lingering: HashMap<ConnId, Conn>,
    /// Users who have reached a cap of what may be unread, and what of.
    pub stopped: Vec<(Rc<Account>, Refused)>,
    pub movers: MoverProcesses,
    /// What clients read; absent until the daemon serves.
    pub page: Option<Page>,
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
        (driver, book): (DriverThread, BookThread),
        movers: MoverLaunch,
    ) -> std::io::Result<Self> {
        Ok(Self {
            watcher: Watcher::new()?,
            client_tokens: HashMap::new(),
            conn_tokens: HashMap::new(),
            conns: HashMap::new(),
            ended: Vec::new(),
            soon: Soon::default(),
            long_replies: LongReplies::start()?,
            journal,
            keeper: KeeperLine::new(channel),
            held,
            driver,
            book,
            flights: Flights::default(),
            lingering: HashMap::new(),
            stopped: Vec::new(),
            movers: MoverProcesses::new(movers),
            page: None,
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

    pub fn remove_conn(&mut self, id: ConnId) {
        self.soon.remove(id);
        let (Some(mut conn), Some(token)) = (self.conns.remove(&id), self.conn_tokens.remove(&id))
        else {
            return;
        };
        self.watcher.remove(&conn, token);
        let Some(account) = conn.account().cloned() else { return };
        self.flights.remove(&account, id);
        if !conn.look() {
            conn.end();
            let now = Instant::now();
            self.flights.sent(&account, id, now);
            self.soon.add(id, now);
            self.lingering.insert(id, conn);
            return;
        }
        drop(conn);
        self.resume_if_free(&account);
    }

    /// Descriptors that connections and watched processes take.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        self.conns.len() + self.lingering.len() + self.client_tokens.len()
    }

    /// Sends what waits on a connection.
    pub fn flush(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let flushed = conn.flush();
        self.after_send(id, flushed);
    }

    /// The same on those whose time for another try has come.
    pub fn flush_soon(&mut self) {
        let now = Instant::now();
        for id in self.soon.due(now) {
            if self.lingering.contains_key(&id) {
                self.look_at_conn(id);
                self.soon.tried(id, false, now);
                continue;
            }
            let before = self.backlog(id);
            self.flush(id);
            let moved = self.backlog(id) < before;
            self.soon.tried(id, moved, now);
        }
        for account in self.flights.due(now) {
            self.look_at(&account, now);
        }
    }

    /// Looks what a user has read, unless that was done a moment ago; what waited for it goes on.
    fn look_at(&mut self, account: &Rc<Account>, now: Instant) {
        let before = account.has(Resource::Descriptors);
        for id in self.flights.take_unread(account, now) {
            self.look_at_conn(id);
        }
        if account.has(Resource::Descriptors) < before {
            self.flights.moved(account, now);
            self.resume(account);
        } else {
            self.resume_if_free(account);
        }
    }

    fn look_at_conn(&mut self, id: ConnId) {
        let conn = self.conns.get_mut(&id).or_else(|| self.lingering.get_mut(&id));
        let Some(conn) = conn else { return };
        if conn.look()
            && let Some(account) = conn.account()
        {
            self.flights.read(account, id);
            if self.lingering.remove(&id).is_some() {
                self.soon.remove(id);
            }
        }
    }

    /// Whether a user may have so many descriptors more in flight, after a look if need be.
    fn has_room(&mut self, id: ConnId, more: usize) -> bool {
        let Some(account) = self.conns.get(&id).and_then(Conn::account).cloned() else {
            return true;
        };
        let check = || account.check_or_first(Resource::Descriptors, more as u64);
        if check().is_ok() {
            return true;
        }
        self.look_at(&account, Instant::now());
        match check() {
            Ok(()) => true,
            Err(refused) => {
                self.stopped.push((account, refused));
                false
            }
        }
    }

    fn resume_if_free(&mut self, account: &Rc<Account>) {
        if self.flights.is_stopped_in_vain(account) {
            self.resume(account);
        }
    }

    /// Those of a user who waited until something is read go on.
    fn resume(&mut self, account: &Rc<Account>) {
        for id in self.flights.take_waiting(account) {
            self.flush(id);
        }
    }

    fn after_send(&mut self, id: ConnId, flushed: Flushed) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        match flushed {
            Flushed::Everything if conn.closing && conn.backlog() == 0 => self.ended.push(id),
            Flushed::Everything | Flushed::Full | Flushed::NoRoom => self.soon.remove(id),
            Flushed::Soon => self.soon.add(id, Instant::now()),
            Flushed::Gone => self.ended.push(id),
        }
        self.account(id);
    }

    /// Has the connection's user pay for what waits on it and for what is unread.
    fn account(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let was_full = conn.is_full();
        conn.pay();
        let is_new = conn.has_unread() && !std::mem::replace(&mut conn.listed, true);
        if let Some(account) = conn.account() {
            if is_new {
                self.flights.sent(account, id, Instant::now());
            }
            if let Some(refused) = account.why_full().filter(|_| !was_full) {
                self.stopped.push((Rc::clone(account), refused));
            }
            let account = Rc::clone(account);
            self.resume_if_free(&account);
        }
        self.set_interest(id);
    }

    /// Sends the long replies that were made meanwhile.
    pub fn send_made(&mut self) {
        self.long_replies.clear();
        while let Some(made) = self.long_replies.next() {
            let Some(conn) = self.conns.get_mut(&made.conn) else { continue };
            match made.file {
                Ok(file) => {
                    let builder = &mut self.builder;
                    let flushed = conn.send_made(made.number, made.expected, file, builder);
                    self.after_send(made.conn, flushed);
                }
                Err(error) => self.cannot_reply(made.conn, &error),
            }
        }
    }

    fn cannot_reply(&mut self, conn: ConnId, error: &std::io::Error) {
        tracing::error!("a reply could not be made: {error}");
        self.ended.push(conn);
    }

    /// Whether the next message of a connection is to be read. From a user who does not read,
    /// nothing is; but that the peer is gone can only be read.
    pub fn may_read(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(&id) else { return false };
        if !conn.wants().0 {
            if conn.has_promised() && conn.has_hung_up() {
                // Nobody would notice before the reply is made, and the event loop would spin.
                self.ended.push(id);
            }
            return false;
        }
        let may = !conn.is_full() || conn.has_hung_up();
        if !may {
            self.set_interest(id);
        }
        may
    }

    /// Has the event loop wait for what the connection can use.
    fn set_interest(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let mut wants = conn.wants();
        if self.soon.contains(id) || conn.no_room {
            // The socket is writable, but that is not what is waited for.
            wants.1 = false;
        }
        let is_stopped = wants.0 && conn.is_full();
        if is_stopped {
            wants.0 = false;
        }
        match conn.account() {
            Some(account) if is_stopped => self.flights.stop(account, id, Instant::now()),
            Some(account) if conn.no_room => self.flights.wait(account, id, Instant::now()),
            _ => {}
        }
        if wants != conn.interest
            && let Some(token) = self.conn_tokens.get(&id)
        {
            conn.interest = wants;
            self.watcher.change(&*conn, *token, wants);
        }
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

    fn ask_group(&mut self, ask: GroupAsk) {
        self.book.ask(book::Ask::Group(Box::new(ask)));
    }

    fn make_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) {
        self.driver.ask(Ask::MakeSlab { slab, device, bytes, user });
    }

    fn start_mover(&mut self, device: GpuUuid) {
        self.movers.start(&mut self.watcher, device);
    }

    fn tell_mover(&mut self, device: GpuUuid, message: ToMover, fd: Option<SharedFd>) {
        self.movers.tell(device, message, fd);
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
