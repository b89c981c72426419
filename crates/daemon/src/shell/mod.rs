//! The event loop: one thread that owns all state and never waits for anything but events.

mod clients;
mod conn;
mod file_limit;
mod flights;
mod gpu_lock;
mod gpus;
mod holders;
mod hosts;
mod keeper_line;
mod keeper_side;
mod long_replies;
mod meter;
mod movers;
mod numbers;
mod page;
mod ready;
mod recover;
mod removed;
mod soon;
mod watcher;
mod world;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_keeper::Launch;
use millpond_keeper::channel::HoldKey;
use millpond_keeper::config::Config;
use millpond_keeper::daemon_side::DaemonStart;
use millpond_wire::{Epoch, caps};
use rustix::event::Timespec;
use rustix::event::epoll::Event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use ready::{Causer, Ready, Work};
use soon::SOON;
use watcher::Source;
use world::World;

use crate::policy::{ConnId, Door, Pond, Ports};

/// Events and messages taken in one round, so that nobody is kept waiting by a busy one.
const ROUND: usize = 64;
/// How long one user may keep the others waiting, with however many messages and ends.
const TURN: Duration = Duration::from_millis(1);
/// How long the keeper may have to wait for an answer while there is much to do.
const UNHEARD: Duration = Duration::from_millis(10);
/// Events that the kernel is asked for at once: most of those of a user with very many connections,
/// so that the others' are among them.
const EVENTS: usize = 1024;
/// How long a connection may take to say hello.
const HELLO_WITHIN: Duration = Duration::from_secs(5);

/// Why a daemon could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The keeper's hand-over failed.
    #[error("the hand-over from the keeper failed: {0}")]
    Handover(String),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    /// The state cannot be used.
    #[error("the state of the pond cannot be recovered: {0}")]
    State(#[from] crate::policy::PortError),
    #[error("the keeper holds nothing of this daemon: {0}")]
    Hold(#[from] crate::policy::HoldError),
    /// A pond that never had a GPU finds no driver.
    #[error("{0}")]
    NoDriver(String),
    /// Every GPU that this pond was to serve is another's.
    #[error("{0}")]
    NoGpu(String),
    /// The same with devices of the software driver.
    #[error("{0}")]
    NoSoftGpu(String),
    /// No GPU that this pond was to serve is there.
    #[error("{0}")]
    WrongGpu(String),
    /// The system said no.
    #[error("{what}: {source}")]
    Io { what: &'static str, source: std::io::Error },
}

impl DaemonError {
    pub(crate) fn io(what: &'static str) -> impl Fn(std::io::Error) -> DaemonError {
        move |source| DaemonError::Io { what, source }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            DaemonError::NoDriver(_) => Some("`millpond doctor` says what is missing"),
            DaemonError::NoGpu(_) => {
                Some("use that pond with `--runtime-dir`, or name other GPUs with `--devices`")
            }
            DaemonError::NoSoftGpu(_) => Some(
                "use that pond with `--runtime-dir`; a second one on the software driver, and its \
                 clients, need another MILLPOND_SOFT_DIR",
            ),
            DaemonError::WrongGpu(_) => {
                Some("name existing GPUs with `--devices`, or omit it to use all of them")
            }
            _ => None,
        }
    }
}

/// Takes over from the keeper that started this process, and serves until it is told to stop.
///
/// # Errors
/// [`DaemonError`]; the keeper starts the next daemon.
pub fn run(start: DaemonStart, preload_library: Option<String>) -> Result<(), DaemonError> {
    let mut server = Server::new(start)?;
    server.pond.about.preload_library = preload_library;
    let result = server.serve();
    tracing::info!("the daemon ends");
    result
}

/// A socket on which clients come in.
struct Listener {
    fd: OwnedFd,
    /// Whom it is for.
    door: Door,
    token: u64,
}

struct Server {
    pond: Pond<World>,
    world: World,
    config: Config,
    epoch: Epoch,
    listeners: Vec<Listener>,
    surroundings: removed::Surroundings,
    /// How a keeper is started.
    keeper: Launch,
    keeper_pidfd: OwnedFd,
    /// If this process started it, it has to be reaped.
    keeper_child: Option<Child>,
    keeper_token: u64,
    channel_token: Option<u64>,
    _signals: UnixStream,
    next_conn: u64,
    buffer: Vec<u8>,
    /// What clients have caused.
    ready: Ready,
    spare: Option<OwnedFd>,
    /// When to try again to start a keeper, and how long to wait after that.
    keeper_retry: Option<(Instant, Duration)>,
    /// Connections that have not said hello, oldest first.
    ungreeted: VecDeque<(Instant, ConnId)>,
    stopping: Option<Instant>,
    restarting: bool,
    /// The keeper knows that clients are served.
    announced: bool,
    /// No daemon before this one can have served: the pond has never had a GPU. The epoch does not
    /// say so, because the first daemon may have been killed before it served.
    first: bool,
    /// There are no descriptors for connections, and that was said.
    refusing: bool,
    /// Why this pond must not go on.
    fatal: Option<DaemonError>,
}

impl Server {
    fn serve(&mut self) -> Result<(), DaemonError> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        // Before the first answer: a daemon that waits for this one must not come back after it.
        self.announce();
        loop {
            let timeout = self.timeout();
            self.world
                .watcher
                .wait(&mut events, timeout.as_ref())
                .map_err(DaemonError::io("waiting for events"))?;
            let mut heard = Instant::now();
            for event in &events {
                self.handle(event.data.u64());
                self.stay_heard(&mut heard);
                if self.restarting {
                    // After a handover every change is the next daemon's.
                    return Ok(());
                }
            }
            self.serve_users(&mut heard);
            if self.restarting {
                return Ok(());
            }
            self.after_round();
            if let Some(error) = self.fatal.take() {
                return Err(error);
            }
            if self.is_finished() {
                return Ok(());
            }
        }
    }

    /// However much there is to do: a daemon that the keeper does not hear of is killed.
    fn stay_heard(&mut self, heard: &mut Instant) {
        if heard.elapsed() >= UNHEARD {
            self.channel_event();
            *heard = Instant::now();
        }
    }

    /// One turn for each user. What is left comes in the next round, after what is new.
    fn serve_users(&mut self, heard: &mut Instant) {
        let mut last: Option<Causer> = None;
        while let Some(by) = self.ready.after(last) {
            let until = Instant::now() + TURN;
            while let Some(work) = self.ready.take(by) {
                match work {
                    Work::Conn(conn) => self.conn_event(conn, until),
                    Work::Gone(client) => self.client_gone(client),
                }
                // Their ends are this user's work too.
                self.end_conns();
                self.stay_heard(heard);
                if self.restarting {
                    return;
                }
                if Instant::now() >= until {
                    break;
                }
            }
            last = Some(by);
        }
    }

    fn timeout(&mut self) -> Option<Timespec> {
        let now = self.world.monotonic_ms();
        let waiters = self.pond.tick(&mut self.world).map(|until| until.saturating_sub(now).max(1));
        // An answer goes on with each round, so this is no idle turning.
        let waiters = if self.pond.has_turns() || !self.ready.is_empty() {
            Some(Duration::ZERO)
        } else {
            waiters.map(Duration::from_millis)
        };
        let soon = !self.world.ended.is_empty()
            || !self.world.movers.news.is_empty()
            || self.world.movers.is_behind()
            || self.world.hosts.has_to_do();
        let soon = soon.then_some(SOON);
        let stop = self.stopping.map(|_| Duration::from_millis(5));
        let clock = Instant::now();
        let until = |at: Instant| at.saturating_duration_since(clock) + SOON;
        let replies = self.world.soon.next().map(|at| at.saturating_duration_since(clock));
        let looks = self.world.flights.next().map(|at| at.saturating_duration_since(clock));
        let keeper = self.keeper_retry.map(|(at, _)| until(at));
        let room = self.keeper_room_at().map(|at| at.saturating_duration_since(clock));
        let hello = self.ungreeted.front().map(|(at, _)| until(*at + HELLO_WITHIN));
        let shortest = [waiters, soon, replies, looks, stop, keeper, room, hello]
            .into_iter()
            .flatten()
            .min()?;
        // A year is for ever, and fits every clock.
        Timespec::try_from(shortest.min(Duration::from_secs(31_536_000))).ok()
    }

    fn handle(&mut self, token: u64) {
        match self.world.watcher.source(token) {
            Some(Source::Conn(conn)) => {
                let account = self.world.conns.get(&conn).and_then(|conn| conn.account());
                self.ready.add(account.map(|account| account.user()), Work::Conn(conn));
            }
            Some(Source::Listener(index)) => self.accept(index),
            Some(Source::ClientGone(client)) => {
                self.ready.add(self.pond.user_of(client), Work::Gone(client));
            }
            Some(Source::HolderGone(process)) => {
                self.pond.holder_gone(&mut self.world, process);
            }
            Some(Source::Driver) => self.driver_event(),
            Some(Source::Book) => self.book_event(),
            Some(Source::LongReply) => self.world.send_made(),
            Some(Source::Mover(device)) => self.mover_event(device),
            Some(Source::Host(host)) => self.host_event(host),
            Some(Source::SpareMover) => self.world.movers.spare_gone(&mut self.world.watcher),
            Some(Source::Channel) => self.channel_event(),
            Some(Source::KeeperGone) => self.keeper_gone(),
            Some(Source::Signal) => {
                tracing::info!(
                    "a signal asks the daemon to end; the keeper will start the next one"
                );
                self.restarting = true;
            }
            None => {}
        }
    }

    fn after_round(&mut self) {
        self.announce();
        self.world.flush_soon();
        self.pond.pump_events(&mut self.world);
        self.end_conns();
        for (account, refused) in std::mem::take(&mut self.world.stopped) {
            // Whoever waits needs no answer; everybody is told who.
            let _ = self.pond.cap_reached(&mut self.world, &account, refused);
        }
        self.mover_news();
        self.host_news();
        self.end_ungreeted();
        self.care_for_keeper();
        self.pond.about.journal_bytes = self.world.journal.bytes();
        if self.world.journal.wants_compaction() {
            self.compact();
        }
    }

    fn end_conns(&mut self) {
        while let Some(id) = self.world.ended.pop() {
            if self.world.conns.contains_key(&id) {
                self.world.remove_conn(id);
                self.pond.hung_up(&mut self.world, id);
            }
        }
    }

    fn is_finished(&self) -> bool {
        let Some(deadline) = self.stopping else { return false };
        let idle = self.pond.is_idle() && self.world.conns.values().all(|conn| conn.backlog() == 0);
        idle || Instant::now() >= deadline
    }
}

impl Server {
    fn new(start: DaemonStart) -> Result<Self, DaemonError> {
        let watching = DaemonError::io("watching a descriptor");
        let keeper = Launch::this_program("keeper")
            .map_err(DaemonError::io("finding this program"))?
            .with_log(&start.config);
        let recover::Recovered { pond, mut world, listeners, keeper_pidfd, config, epoch } =
            recover::recover(start)?;
        // Whoever waits for this daemon has served, with or without a GPU.
        let served = |key: &HoldKey| key.is_of_gpu() || *key == HoldKey::handover();
        let first = !world.held.keys().any(served);
        let keeper_token =
            world.watcher.add(&keeper_pidfd, Source::KeeperGone).map_err(&watching)?;
        let channel_token = match world.keeper.channel() {
            Some(channel) => {
                Some(world.watcher.add(channel.as_fd(), Source::Channel).map_err(&watching)?)
            }
            None => None,
        };
        world.watcher.add(&world.driver, Source::Driver).map_err(&watching)?;
        world.watcher.add(&world.book, Source::Book).map_err(&watching)?;
        world.watcher.add(&world.long_replies, Source::LongReply).map_err(&watching)?;
        let signals = signals().map_err(DaemonError::io("installing a signal handler"))?;
        world.watcher.add(&signals, Source::Signal).map_err(&watching)?;
        let watch = |(index, (fd, door)): (usize, (OwnedFd, Door))| {
            let token = world.watcher.add(&fd, Source::Listener(index)).map_err(&watching)?;
            Ok(Listener { fd, door, token })
        };
        let listeners = listeners.into_iter().enumerate().map(watch);
        let listeners = listeners.collect::<Result<_, DaemonError>>()?;
        Ok(Self {
            pond,
            world,
            config,
            epoch,
            listeners,
            surroundings: removed::Surroundings::default(),
            keeper,
            keeper_pidfd,
            keeper_child: None,
            keeper_token,
            channel_token,
            _signals: signals,
            next_conn: 1,
            buffer: vec![0; caps::MESSAGE_BYTES],
            ready: Ready::default(),
            spare: clients::spare_fd(),
            keeper_retry: None,
            ungreeted: VecDeque::new(),
            stopping: None,
            restarting: false,
            announced: false,
            first,
            refusing: false,
            fatal: None,
        })
    }
}

/// Readable when the daemon itself is asked to end.
fn signals() -> std::io::Result<UnixStream> {
    let (ours, handlers) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGINT, handlers.try_clone()?)?;
    signal_hook::low_level::pipe::register(SIGTERM, handlers)?;
    // Comes from the kernel when the keeper dies while this process is stopped.
    signal_hook::flag::register(SIGHUP, Arc::default())?;
    // A journal that may not grow is an answer to give, not a death: with a handler the write
    // fails and the process lives.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    Ok(ours)
}
