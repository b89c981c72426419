//! The line to the pond: made, watched over and taken down for all threads of the process.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::mpsc::Sender;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use millpond_client_core::{Dial, Session, Way};
use millpond_wire::TensorId;
use millpond_wire::message::Pressure;

use crate::connection::{Buffer, Connection, Deadline, remaining};
use crate::establish::{Caller, Established, establish};
use crate::link::Link;
use crate::memo::Page;
use crate::{Error, Result, cancel};

/// Whoever waits for another thread's connection looks at least so long after it was due.
const OVERDUE: Duration = Duration::from_millis(200);

/// Everything that threads share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) session: Session<OwnedFd, Error>,
    /// There while the session is up.
    pub(crate) connection: Option<Arc<Connection>>,
    /// The counters of the pond that is connected, where it has any.
    pub(crate) page: Option<Arc<Page>>,
    /// How the last attempt to connect failed.
    last_failure: Option<Error>,
    /// Whether a thread reads the socket.
    pub(crate) leading: bool,
    /// For the leader to read into.
    pub(crate) buffer: Option<Buffer>,
    /// Threads that sleep until their answer has come, by the numbers of their requests.
    pub(crate) sleepers: HashMap<u64, Thread>,
    /// Wakes the watching thread, once there is one.
    pub(crate) watch: Option<Arc<OwnedFd>>,
    /// Who takes what the pond says on its own account.
    ears: [Option<Sender<Unasked>>; 2],
}

/// What happens without anybody asking.
#[derive(Clone, Debug)]
pub(crate) enum Unasked {
    /// There is a new connection.
    Connected,
    /// Pages are wanted back.
    Pressure(Box<Pressure>),
    /// Nobody has a tensor any more whose memory this process announced.
    AdoptedFreed(TensorId),
}

/// Whom what the pond says on its own account concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    Caches = 0,
    Adoptions = 1,
}

impl Link {
    pub(crate) fn gone(&self, state: &State, failure: Option<Error>) -> Error {
        failure.or_else(|| state.last_failure.clone()).unwrap_or_else(|| Error::NoPond {
            path: self.config.socket.clone(),
            reason: String::new(),
        })
    }

    /// Makes a connection where there is none.
    pub(crate) fn connected(self: &Arc<Self>) -> Result<()> {
        let (since, mut failure) = (Instant::now(), None);
        let mut state = self.lock();
        loop {
            match state.session.way(since, failure.is_some(), None, Instant::now()) {
                Way::Up(_) => return Ok(()),
                Way::Closed => return Err(Error::Closed),
                Way::Gone => return Err(self.gone(&state, failure)),
                Way::Await => state = self.wait_for_line(state, None)?,
                Way::Connect { until } => (state, failure) = self.connect(state, until, || ()),
            }
        }
    }

    /// Waits for the connection that another thread makes.
    pub(crate) fn wait_for_line<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        deadline: Deadline,
    ) -> Result<MutexGuard<'a, State>> {
        let left = remaining(deadline).unwrap_or(Duration::MAX);
        let left = left.min(self.config.reconnect_timeout + OVERDUE);
        let slice = cancel::slice(Some(left)).unwrap_or(left);
        let waited = self.changed().wait_timeout(state, slice);
        drop(waited.unwrap_or_else(PoisonError::into_inner).0);
        // Without the lock: whoever is asked may take its time.
        cancel::check()?;
        Ok(self.lock())
    }

    /// Makes a connection, without the lock while it lasts and with work of the caller meanwhile.
    /// Returns why there is none.
    pub(crate) fn connect<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        until: Instant,
        meanwhile: impl FnMut(),
    ) -> (MutexGuard<'a, State>, Option<Error>) {
        let claims = state.session.connecting();
        let identity = state.session.identity();
        let dial = Dial::new(until, state.session.down());
        drop(state);
        let caller = Caller {
            socket: &self.config.socket,
            identity,
            program: &self.config.program,
            claims: &claims,
        };
        let made = establish(&caller, dial, meanwhile);
        let mut state = self.lock();
        let failure = match made {
            Ok(established) => {
                tracing::debug!(epoch = %established.welcome.epoch, claims = claims.len(), "connected");
                state.install(established);
                None
            }
            Err(error) => {
                state.session.not_connected();
                // Somebody else's wish says nothing about the pond.
                if !matches!(error, Error::Cancelled) {
                    state.last_failure = Some(error.clone());
                }
                Some(error)
            }
        };
        self.changed().notify_all();
        state.wake_watch();
        (state, failure)
    }
}

impl State {
    pub(crate) fn new(session: Session<OwnedFd, Error>) -> Self {
        Self {
            session,
            connection: None,
            page: None,
            last_failure: None,
            leading: false,
            buffer: None,
            sleepers: HashMap::new(),
            watch: None,
            ears: [None, None],
        }
    }

    /// A new connection is there.
    fn install(&mut self, established: Established) {
        let Established { connection, identity, welcome, page, refused, buffer } = established;
        let arrival = self.session.connected(identity.client, &welcome, &refused);
        let Some(arrival) = arrival else { return };
        if arrival.other_pond {
            tracing::warn!(pond = %welcome.pond, "another pond answers now; what the old one held is lost");
        }
        for claim in arrival.lost {
            tracing::warn!(lease = %claim.lease, target = %claim.target, "the pond does not know this lease any more");
        }
        self.page = page.map(Arc::new);
        self.leading = false;
        self.buffer.get_or_insert(buffer);
        self.connection = Some(Arc::new(connection));
        self.tell(Unasked::Connected);
    }

    /// From now on a part of the process hears what concerns it, or nothing any more.
    pub(crate) fn listen(&mut self, listener: Listener, ear: Option<Sender<Unasked>>) {
        self.ears[listener as usize] = ear;
        self.session.listen(self.ears.iter().any(Option::is_some));
        self.wake_watch();
    }

    /// Hands on what nobody asked for. Whoever took it may be gone.
    pub(crate) fn tell(&mut self, what: Unasked) {
        let concerns = |listener: Listener| match what {
            Unasked::Connected => true,
            Unasked::Pressure(_) => listener == Listener::Caches,
            Unasked::AdoptedFreed(_) => listener == Listener::Adoptions,
        };
        for listener in [Listener::Caches, Listener::Adoptions] {
            if let Some(ear) = &self.ears[listener as usize]
                && concerns(listener)
            {
                let _ = ear.send(what.clone());
            }
        }
    }

    /// The connection is over. Everybody who waits wakes, and repeats.
    pub(crate) fn hang_up(&mut self, generation: u64) {
        if self.session.hung_up(generation, Instant::now()) {
            self.disconnect();
        }
    }

    /// The peer cannot be understood: everybody who waits is told so, and nothing is repeated.
    pub(crate) fn fail(&mut self, generation: u64, error: &Error) {
        if self.session.failed(generation, error, Instant::now()) {
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.shut_down();
        }
        self.wake_all();
    }

    /// Wakes the thread that watches the connection, if there is one.
    pub(crate) fn wake_watch(&self) {
        if let Some(watch) = &self.watch {
            // It fails only if it is woken already, more often than a counter can hold.
            let _ = rustix::io::write(watch, &1u64.to_ne_bytes());
        }
    }

    pub(crate) fn wake_all(&self) {
        self.sleepers.values().for_each(Thread::unpark);
    }
}
