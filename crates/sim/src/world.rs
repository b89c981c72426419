//! The whole world of one schedule, and the scheduler that decides what happens next.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use millpond_daemon::policy::ConnId;
use millpond_keeper::channel::HoldKey;
use millpond_wire::record::HolderProcess;
use millpond_wire::{ClientId, GpuUuid, GroupName, HostId, LeaseId, SlabId, Token};

use crate::caches::{self, CacheProcess, Leaving};
use crate::card::{Card, Fd, Memory};
use crate::client::{Client, Sizes};
use crate::daemon::Daemon;
use crate::groups::Expected;
use crate::holders::{self, SharedHolders};
use crate::homes;
use crate::hosts::Host;
use crate::keeper::Keeper;
use crate::kills::Plan;
use crate::ledger::SharedGroups;
use crate::legacy::SharedLegacy;
use crate::movers::Mover;
use crate::mutation::Mutation;
use crate::oracle::{Oracle, Violation};
use crate::rng::Rng;
use crate::sleepers::{self, Borrowed};
use crate::socket::SharedSocket;
use crate::thieves::Thieves;
use crate::tools::Tool;
use crate::trace::Trace;

pub const GPU: GpuUuid = GpuUuid([1; 16]);
pub const CARD_BYTES: u64 = 512 << 20;
/// Clients at a time.
const CLIENTS: usize = 4;
pub const FIRST_PID: u32 = 1000;

/// What is left of a process after its death: work and copies of its mappings that nobody has said
/// are gone, such as those of a child that it had.
#[derive(Debug)]
pub struct Ghost {
    pub pid: u32,
    /// Tensors that it may still write.
    pub writes: Vec<(usize, Rc<Memory>)>,
    /// Tensors that it may still read.
    pub mapped: Vec<(usize, Rc<Memory>)>,
}

/// One schedule under way.
pub struct World {
    pub rng: Rng,
    pub clock: Rc<Cell<u64>>,
    /// Processes that are gone.
    pub gone: Rc<RefCell<BTreeSet<u32>>>,
    pub card: Card,
    /// The keeper, unless it is dead.
    pub keeper: Option<Keeper>,
    pub daemon: Daemon,
    /// Connections that nobody has accepted yet.
    pub listener: VecDeque<SharedSocket>,
    /// Every client that ever was; `pid - FIRST_PID` is its place.
    pub clients: Vec<Client>,
    /// What dead clients have left.
    pub ghosts: Vec<Ghost>,
    /// Every mover that ever was.
    pub movers: Vec<Mover>,
    pub oracle: Oracle,
    /// Who will be killed when.
    pub plan: Plan,
    pub mutation: Option<Mutation>,
    /// One call in so many fails.
    pub faults: u64,
    /// Empty slabs that the pond keeps.
    pub recycle_bytes: u64,
    pub sizes: Sizes,
    pub trace: Trace,
    /// Clients act by themselves and are replaced.
    pub busy: bool,
    /// Some record or hold was refused.
    pub faulted: bool,
    /// Clients stage, commit, attach, swap and retire as well.
    pub models: bool,
    /// Swaps that were recorded.
    pub swaps: Rc<RefCell<BTreeSet<Token>>>,
    /// What was recorded as borrowed.
    pub borrowed: Rc<RefCell<Borrowed>>,
    /// When a client falls asleep.
    pub nap: Option<u64>,
    /// There are groups, and processes that ask about them.
    pub has_groups: bool,
    /// Processes of groups keep the locks of their ledgers.
    pub stuck_locks: bool,
    pub groups: SharedGroups,
    /// Every process that ever asked about a group.
    pub tools: Vec<Tool>,
    pub thieves: Thieves,
    /// Some processes have caches.
    pub has_caches: bool,
    /// Every process that ever had one.
    pub caches: Vec<CacheProcess>,
    /// What such processes had when they ended.
    pub leaving: Vec<Leaving>,
    /// Of the memory that they make.
    pub last_handle: u64,
    /// What was answered about groups.
    pub expected: BTreeMap<GroupName, Expected>,
    /// Owners of all slabs that were ever asked for.
    pub slab_users: BTreeMap<SlabId, u32>,
    /// Clients use every transport, and lend their own memory.
    pub transports: bool,
    /// What the context of a host takes.
    pub context_bytes: u64,
    /// Every host that ever was.
    pub hosts: Vec<Host>,
    pub legacy: SharedLegacy,
    /// Clients hold tensors for others.
    pub has_holds: bool,
    pub holders: SharedHolders,
    /// Leases that were ever granted, and to which process.
    pub granted: BTreeSet<(u32, LeaseId)>,
}

/// What can happen next.
#[derive(Clone, Copy, Debug)]
enum Action {
    Start,
    Act(usize),
    Connect(usize),
    Send(usize, u64),
    Release(usize),
    Read(usize),
    Kernel(usize),
    GhostWrites(usize),
    GhostEnds(usize),
    Boot,
    Accept,
    Message(ConnId),
    ProcessGone(ClientId),
    DriverReady,
    DriverWorks,
    DriverSays,
    KeeperGone,
    Compact,
    Clock,
    KeeperTakes,
    DaemonGone,
    MoverTakes(usize),
    MoverLands(usize),
    MoverDies(usize),
    MoverSays,
    HostTakes(usize),
    HostEnds(usize),
    HostSays(HostId),
    BookWorks,
    BookSays,
    ToolStarts,
    ToolConnects(usize),
    ToolReads(usize),
    MemberActs(usize),
    ToolEnds(usize),
    Steal,
    CacheStarts,
    CacheConnects(usize),
    CacheSends(usize),
    CacheReads(usize),
    CacheActs(usize),
    CacheKernel(usize),
    CacheEnds,
    DriverFrees(usize),
    BookLooks,
    HolderChanges(u32),
    HolderGone(HolderProcess),
}

impl World {
    /// The world of a seed, before its first step.
    #[must_use]
    pub fn new(seed: u64, mutation: Option<Mutation>, trace: Trace) -> Self {
        let mut rng = Rng::new(seed ^ 0x6d69_6c6c_706f_6e64);
        let mut plan = Plan::draw(&mut rng.fork());
        let sizes = [Sizes::Small, Sizes::Small, Sizes::Mixed, Sizes::Mixed, Sizes::Large];
        let sizes = rng.pick(&sizes).copied().unwrap_or(Sizes::Small);
        let faults = if rng.once_in(4) { 20 + rng.below(60) } else { 0 };
        let recycle_bytes = [0, 64 << 20, 256 << 20];
        let mut recycle_bytes = rng.pick(&recycle_bytes).copied().unwrap_or(0);
        let models = rng.once_in(2);
        if models {
            // A version goes a longer way than a tensor.
            plan.steps += 150;
        }
        let has_groups = rng.once_in(3);
        if has_groups {
            // What asks about groups takes its steps from clients.
            plan.steps += 60;
        }
        let stuck_locks = has_groups && rng.once_in(4);
        let with_caches = caches::drawn(seed).filter(|_| has_groups);
        let has_caches = with_caches.is_some();
        if has_caches {
            // Memory goes a long way from one cache to another.
            plan.steps += 300;
        }
        let mut with_homes = homes::drawn(seed);
        let mut context_bytes = 0;
        if let Some(rng) = &mut with_homes {
            plan.add_homes(rng);
            let contexts = [0, 4 << 20, 16 << 20];
            context_bytes = rng.pick(&contexts).copied().unwrap_or(0);
            // Little idle memory, so that hosts free some.
            let recycled = [0, 0, 4 << 20, recycle_bytes];
            recycle_bytes = rng.pick(&recycled).copied().unwrap_or(0);
        }
        let has_holds = holders::drawn(seed).is_some();
        if has_holds {
            plan.steps += 60;
        }
        let nap = sleepers::nap(seed, plan.steps);
        let held = [HoldKey::listen("sock"), Ok(HoldKey::folder_lock())];
        let held: BTreeMap<HoldKey, Fd> =
            held.into_iter().flatten().map(|key| (key, Fd::Other)).collect();
        let gone: Rc<RefCell<BTreeSet<u32>>> = Rc::default();
        let mut world = Self {
            rng,
            clock: Rc::new(Cell::new(1)),
            gone: Rc::clone(&gone),
            card: Card::new(CARD_BYTES),
            keeper: Some(Keeper::new(held, 0)),
            daemon: Daemon::Dead,
            listener: VecDeque::new(),
            clients: Vec::new(),
            ghosts: Vec::new(),
            movers: Vec::new(),
            oracle: Oracle::new(gone),
            plan,
            mutation,
            faults,
            recycle_bytes,
            sizes,
            trace,
            busy: true,
            faulted: false,
            models,
            swaps: Rc::default(),
            borrowed: Rc::default(),
            nap,
            has_groups,
            stuck_locks,
            groups: SharedGroups::default(),
            tools: Vec::new(),
            thieves: Thieves::default(),
            has_caches,
            caches: Vec::new(),
            leaving: Vec::new(),
            last_handle: 0,
            expected: BTreeMap::new(),
            slab_users: BTreeMap::new(),
            transports: with_homes.is_some(),
            context_bytes,
            hosts: Vec::new(),
            legacy: SharedLegacy::default(),
            granted: BTreeSet::new(),
            has_holds,
            holders: SharedHolders::default(),
        };
        if let Some(rng) = with_caches {
            world.make_cached_group(rng);
        }
        for pid in holders::PIDS {
            world.holders.borrow_mut().start(pid);
        }
        for _ in 0..2 {
            world.start_client();
        }
        world
    }

    fn start_client(&mut self) {
        let pid = FIRST_PID + u32::try_from(self.clients.len()).unwrap_or(0);
        let user = if self.rng.once_in(3) { 2 } else { 1 };
        let id = ClientId(self.rng.id());
        self.trace.say(|| format!("  pid {pid} of user {user} is client {id}"));
        let clock = Rc::clone(&self.clock);
        self.clients.push(Client::new((id, pid, user), clock, self.mutation));
    }

    /// The client with a pid.
    #[must_use]
    pub fn client_at(&self, pid: u32) -> Option<&Client> {
        self.clients.get(usize::try_from(pid.checked_sub(FIRST_PID)?).ok()?)
    }

    /// One step; false if nothing can happen.
    ///
    /// # Errors
    /// The rule that was broken.
    pub fn step(&mut self) -> Result<bool, Violation> {
        let actions = self.enabled();
        let total: u64 = actions.iter().map(|(_, weight)| weight).sum();
        if total == 0 {
            return Ok(false);
        }
        let mut at = self.rng.below(total);
        for (action, weight) in actions {
            if at < weight {
                self.trace.say(|| format!("{action:?}"));
                self.perform(action)?;
                self.check_grants()?;
                break;
            }
            at -= weight;
        }
        Ok(true)
    }

    fn enabled(&self) -> Vec<(Action, u64)> {
        let mut actions = Vec::with_capacity(32);
        for (index, client) in self.clients.iter().enumerate().filter(|(_, it)| it.alive) {
            self.client_actions(index, client, &mut actions);
        }
        if self.busy {
            let living = self.clients.iter().filter(|client| client.alive).count();
            if living < CLIENTS && self.clients.len() < 8 {
                actions.push((Action::Start, if living < 2 { 6 } else { 1 }));
            }
            for (index, ghost) in self.ghosts.iter().enumerate() {
                if !ghost.writes.is_empty() {
                    actions.push((Action::GhostWrites(index), 1));
                }
                actions.push((Action::GhostEnds(index), 1));
            }
            actions.push((Action::Clock, 1));
            if self.wants_thief() {
                actions.push((Action::Steal, 1));
            }
        }
        for (index, mover) in self.movers.iter().enumerate().filter(|(_, it)| it.alive) {
            if mover.may_take() {
                actions.push((Action::MoverTakes(index), 4));
            }
            if !mover.jobs.is_empty() {
                actions.push((Action::MoverLands(index), 1));
            }
            if mover.doomed {
                actions.push((Action::MoverDies(index), 1));
            }
        }
        for (index, host) in self.hosts.iter().enumerate().filter(|(_, it)| it.alive) {
            if host.may_take() {
                actions.push((Action::HostTakes(index), 4));
            }
            if host.doomed || host.is_alone() {
                actions.push((Action::HostEnds(index), 2));
            }
        }
        self.daemon_actions(&mut actions);
        let gone = self.gone_holders().into_iter();
        actions.extend(gone.map(|process| (Action::HolderGone(process), 3)));
        if self.busy && self.has_holds {
            actions.extend(holders::PIDS.map(|pid| (Action::HolderChanges(pid), 1)));
        }
        if self.has_groups {
            self.group_actions(&mut actions);
        }
        if self.has_caches {
            self.cache_actions(&mut actions);
        }
        if let Some(keeper) = &self.keeper {
            if !keeper.channel.borrow().to_keeper.is_empty() {
                actions.push((Action::KeeperTakes, 2));
            }
            if matches!(self.daemon, Daemon::Dead) {
                actions.push((Action::DaemonGone, 6));
            }
        }
        actions
    }

    fn client_actions(&self, index: usize, client: &Client, actions: &mut Vec<(Action, u64)>) {
        if client.is_asleep() {
            if !client.kernels.is_empty() {
                actions.push((Action::Kernel(index), 1));
            }
            return;
        }
        if let Some(socket) = client.socket() {
            let socket = socket.borrow();
            if !socket.to_client.is_empty() || !socket.daemon_open {
                actions.push((Action::Read(index), 6));
            }
        } else if client.is_down() {
            actions.push((Action::Connect(index), 4));
        }
        if client.is_up() {
            if let Some(number) = client.unsent().next() {
                actions.push((Action::Send(index, number), 6));
            }
            if client.has_releases() {
                actions.push((Action::Release(index), 3));
            }
        }
        if !client.kernels.is_empty() {
            actions.push((Action::Kernel(index), 1));
        }
        if self.busy && !client.is_closed() {
            actions.push((Action::Act(index), if client.calls.len() < 3 { 5 } else { 1 }));
        }
    }

    fn group_actions(&self, actions: &mut Vec<(Action, u64)>) {
        if self.wants_tool() {
            actions.push((Action::ToolStarts, 2));
        }
        let runs = match &self.daemon {
            Daemon::Running(running) => {
                let book = &running.ports.book;
                if !book.open || !book.asks.is_empty() {
                    actions.push((Action::BookWorks, 4));
                }
                if !book.told.is_empty() {
                    actions.push((Action::BookSays, 5));
                }
                true
            }
            _ => false,
        };
        for (index, tool) in self.tools.iter().enumerate().filter(|(_, tool)| tool.alive) {
            if runs && tool.call.is_some() && tool.line.is_none() {
                actions.push((Action::ToolConnects(index), 4));
            }
            if tool.may_read() {
                actions.push((Action::ToolReads(index), 6));
            }
            if self.busy && tool.member_of.is_some() {
                actions.push((Action::MemberActs(index), 2));
            }
            if self.busy && !tool.is_operator() {
                actions.push((Action::ToolEnds(index), 1));
            }
        }
    }

    fn cache_actions(&self, actions: &mut Vec<(Action, u64)>) {
        if self.wants_cache() {
            actions.push((Action::CacheStarts, 3));
        }
        if let Daemon::Running(running) = &self.daemon {
            let book = &running.ports.book;
            if book.open && book.caches.is_due(self.clock.get()) {
                actions.push((Action::BookLooks, 6));
            }
            if !book.asks.is_empty() {
                actions.push((Action::BookWorks, 6));
            }
            if !book.told.is_empty() {
                actions.push((Action::BookSays, 6));
            }
        }
        for (index, process) in self.caches.iter().enumerate().filter(|(_, it)| it.alive) {
            if self.serves() && process.is_down() {
                actions.push((Action::CacheConnects(index), 8));
            }
            if process.may_send() {
                actions.push((Action::CacheSends(index), 10));
            }
            if process.may_read() {
                actions.push((Action::CacheReads(index), 10));
            }
            if self.busy || process.may_act(self.mutation) {
                actions.push((Action::CacheActs(index), 8));
            }
            if process.works() {
                actions.push((Action::CacheKernel(index), 2));
            }
        }
        if self.busy && self.caches.iter().any(|it| it.alive) {
            actions.push((Action::CacheEnds, 1));
        }
        for index in 0..self.leaving.len() {
            actions.push((Action::DriverFrees(index), 1));
        }
    }

    fn daemon_actions(&self, actions: &mut Vec<(Action, u64)>) {
        match &self.daemon {
            Daemon::Dead => {}
            Daemon::Starting(_) => actions.push((Action::Boot, 8)),
            Daemon::Running(running) => {
                let ports = &running.ports;
                if !self.listener.is_empty() {
                    actions.push((Action::Accept, 6));
                }
                for (conn, socket) in &ports.conns {
                    let socket = socket.borrow();
                    if !socket.to_daemon.is_empty() || !socket.client_open {
                        actions.push((Action::Message(*conn), 6));
                    }
                }
                for (client, pid) in &ports.watched {
                    if self.gone.borrow().contains(pid) {
                        actions.push((Action::ProcessGone(*client), 3));
                    }
                }
                if !running.driver_ready {
                    actions.push((Action::DriverReady, 4));
                } else if !ports.asks.is_empty() && !running.driver_hangs {
                    actions.push((Action::DriverWorks, 5));
                }
                if !ports.told.is_empty() {
                    actions.push((Action::DriverSays, 5));
                }
                if let Some(wire) = &ports.mover {
                    let wire = wire.borrow();
                    if !wire.to_daemon.is_empty() || !wire.mover_open {
                        actions.push((Action::MoverSays, 5));
                    }
                }
                for (host, end) in &ports.hosts {
                    let wire = end.wire.borrow();
                    if !wire.to_daemon.is_empty() || !wire.host_open {
                        actions.push((Action::HostSays(*host), 5));
                    }
                }
                if !ports.channel.borrow().keeper_open {
                    actions.push((Action::KeeperGone, 4));
                }
                if self.busy {
                    actions.push((Action::Compact, 1));
                }
            }
        }
    }

    fn perform(&mut self, action: Action) -> Result<(), Violation> {
        match action {
            Action::Start => self.start_client(),
            Action::Act(client) => self.act(client)?,
            Action::Connect(client) => self.connect(client),
            Action::Send(client, number) => self.send(client, number),
            Action::Release(client) => self.release(client),
            Action::Read(client) => self.read(client)?,
            Action::Kernel(client) => self.kernel(client)?,
            Action::GhostWrites(ghost) => {
                if let Some((tensor, memory)) = self.ghosts[ghost].writes.pop() {
                    let who = format!("what is left of pid {}", self.ghosts[ghost].pid);
                    self.oracle.write(tensor, &memory, &who)?;
                }
            }
            Action::GhostEnds(ghost) => {
                self.ghosts.remove(ghost);
            }
            Action::Boot => self.boot()?,
            Action::Accept => self.accept()?,
            Action::Message(conn) => self.message(conn)?,
            Action::ProcessGone(client) => self.process_gone(client)?,
            Action::DriverReady => self.driver_ready()?,
            Action::DriverWorks => self.driver_works()?,
            Action::DriverSays => self.driver_says()?,
            Action::KeeperGone => self.keeper_gone()?,
            Action::Compact => self.compact()?,
            Action::Clock => {
                let ms = 1 + self.rng.below(400);
                self.tick(ms)?;
            }
            Action::KeeperTakes => self.keeper_takes()?,
            Action::DaemonGone => self.daemon_gone()?,
            Action::MoverTakes(mover) => self.mover_takes(mover)?,
            Action::MoverLands(mover) => self.mover_lands(mover)?,
            Action::MoverDies(mover) => self.end_mover(mover),
            Action::MoverSays => self.mover_says()?,
            Action::HostTakes(host) => self.host_takes(host)?,
            Action::HostEnds(host) => self.host_ends(host)?,
            Action::HostSays(host) => self.host_says(host)?,
            Action::BookWorks => self.book_works(),
            Action::BookSays => self.book_says()?,
            Action::ToolStarts => self.start_tool(),
            Action::ToolConnects(tool) => self.tool_connects(tool)?,
            Action::ToolReads(tool) => self.tool_reads(tool)?,
            Action::MemberActs(tool) => self.member_acts(tool)?,
            Action::ToolEnds(tool) => self.end_tool(tool),
            Action::Steal => self.steal()?,
            Action::CacheStarts => self.start_cache(),
            Action::CacheConnects(process) => self.cache_connects(process)?,
            Action::CacheSends(process) => self.cache_sends(process),
            Action::CacheReads(process) => self.cache_reads(process)?,
            Action::CacheActs(process) => self.cache_acts(process)?,
            Action::CacheKernel(process) => self.cache_kernel(process)?,
            Action::CacheEnds => self.kill_some_cache(),
            Action::DriverFrees(process) => self.driver_frees(process),
            Action::BookLooks => self.look_at_pressure(),
            Action::HolderChanges(pid) => self.holder_changes(pid),
            Action::HolderGone(process) => self.holder_gone(process)?,
        }
        Ok(())
    }
}
