//! One client process: the client's core, simulated sockets below it, and a script above it.
//!
//! What is sent, repeated, claimed, released and given back is decided by the core that the blocking
//! client uses too. This is its driver: it moves messages, maps, and tells the observer.

mod adopt;
mod answers;
mod holding;
mod models;
mod script;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use millpond_client_core::{self as core, Ask, Call, Ended, Handshake, Retiring, Session};
use millpond_wire::message::{Hello, LeaseClaim, Proof, Request, RequestBody, VERSION};
use millpond_wire::{ClientId, LeaseId, Mode, TensorId};

use crate::card::{Fd, Memory};
use crate::legacy::{Handle, SharedLegacy};
use crate::mutation::Mutation;
use crate::oracle::Oracle;
use crate::rng::Rng;
use crate::socket::{SharedSocket, Socket};

pub use answers::Around;
pub use script::{Scene, Sizes};

/// What is mapped under a lease.
#[derive(Debug)]
pub struct Mapping {
    /// As it was granted.
    pub mode: Mode,
    /// Tensors, as the observer counts them, and where they are.
    pub ranges: Vec<(usize, Rc<Memory>)>,
    /// This process has written all of it.
    pub written: bool,
    /// It was published when it was granted.
    pub ready: bool,
    /// It is on a version, as the observer counts them.
    pub version: Option<usize>,
}

/// Work on the card that has not run yet.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Under which lease it was queued.
    pub lease: LeaseId,
    pub tensor: usize,
    pub memory: Rc<Memory>,
}

/// Memory that a process made for itself.
#[derive(Debug)]
pub struct Lent {
    pub memory: Rc<Memory>,
    /// What opens it, where the pond has no descriptor of it.
    pub handle: Option<Handle>,
}

/// What a request is for, as far as the observer or the script has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Create(usize),
    /// A lease; of which tensor, if it was asked for by identity.
    Get(Option<usize>),
    Publish(usize),
    /// Bytes into a tensor, or out of it.
    Move(usize, bool),
    Delete(usize),
    /// A hold on a tensor, or the end of one.
    Hold(usize),
    /// Memory of its own becomes a tensor.
    Adopt(usize),
    /// Another name for a tensor.
    Rename(usize, String),
    /// Another name for the model of a version.
    RenameModel(usize),
    /// The end of leases that were mapped.
    Release(Vec<LeaseId>),
    /// The end of leases that nobody took.
    GiveBack(Vec<LeaseId>),
    /// A version that begins.
    Stage,
    /// A lease on a version.
    Attach,
    /// A version's own slab instead of a shared one.
    Own(usize),
    /// A version is complete.
    Commit(usize),
    /// Another version is to be current.
    Swap,
    Other,
}

/// A request without an answer.
#[derive(Debug)]
pub struct Asked {
    pub what: What,
    /// The file that goes along.
    pub fd: Option<Fd>,
    /// What it is about was there for certain when it was sent.
    pub expects: bool,
    lease: Option<LeaseId>,
    call: Call,
}

/// A connection on which requests cannot be sent yet.
#[derive(Debug)]
struct Greeting {
    handshake: Handshake,
    /// Claims to leases that were never granted.
    lies: BTreeSet<LeaseId>,
}

#[derive(Debug)]
pub struct Client {
    /// As the pond knows it.
    pub id: ClientId,
    /// As the kernel knows it.
    pub pid: u32,
    pub user: u32,
    /// Not killed, not exited.
    pub alive: bool,
    asleep: bool,
    /// What it has mapped.
    pub mappings: BTreeMap<LeaseId, Mapping>,
    /// What runs on the card.
    pub kernels: Vec<Kernel>,
    /// What it waits for.
    pub calls: BTreeMap<u64, Asked>,
    /// Tensors that a mover has filled for it.
    filled: Vec<usize>,
    /// Its own memory that the pond has, or may have, and for which tensor.
    pub lent: BTreeMap<usize, Lent>,
    session: Session<Fd, ()>,
    retiring: Retiring<()>,
    socket: Option<SharedSocket>,
    greeting: Option<Greeting>,
    /// Requests that were given up and may still be answered, once.
    given_up: BTreeSet<u64>,
    /// The highest epoch that welcomed it.
    epoch: u64,
    clock: Rc<Cell<u64>>,
    origin: Instant,
    builder: planus::Builder,
}

/// The hello of a client that no pond has seen.
#[must_use]
pub fn first_hello(client: ClientId, program: String) -> Hello {
    let (claims, proof) = (false, None);
    Hello { version: VERSION, capabilities: 0, client, program, claims, proof }
}

/// Leases that were never granted.
const LIES: u64 = 1 << 40;
/// A pond that is gone is waited for as long as a schedule lasts.
const PATIENCE: Duration = Duration::from_secs(1 << 20);

impl Client {
    /// A process that has just started.
    #[must_use]
    pub fn new(
        (id, pid, user): (ClientId, u32, u32),
        clock: Rc<Cell<u64>>,
        mutation: Option<Mutation>,
    ) -> Self {
        let mut session = Session::new(id, PATIENCE);
        if let Some(mutation) = mutation.and_then(Mutation::in_the_client) {
            session.break_rule(mutation);
        }
        Self {
            id,
            pid,
            user,
            alive: true,
            asleep: false,
            mappings: BTreeMap::new(),
            kernels: Vec::new(),
            calls: BTreeMap::new(),
            filled: Vec::new(),
            lent: BTreeMap::new(),
            session,
            retiring: Retiring::default(),
            socket: None,
            greeting: None,
            given_up: BTreeSet::new(),
            epoch: 0,
            clock,
            // Only what has passed since then counts.
            origin: Instant::now(),
            builder: planus::Builder::new(),
        }
    }

    fn now(&self) -> Instant {
        self.origin + Duration::from_millis(self.clock.get())
    }

    /// The connection, if there is one.
    #[must_use]
    pub fn socket(&self) -> Option<&SharedSocket> {
        self.socket.as_ref()
    }

    /// Whether it may connect.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.session.is_down()
    }

    /// Whether requests may be sent.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.session.is_up()
    }

    /// Whether it lives and keeps memory that others open.
    #[must_use]
    pub fn is_home(&self) -> bool {
        self.alive && self.lent.values().any(|lent| lent.handle.is_some())
    }

    /// The pond does not have this memory, or not any more.
    fn take_back(&mut self, tensor: usize, legacy: &SharedLegacy) {
        if let Some(Lent { handle: Some(handle), .. }) = self.lent.remove(&tensor) {
            legacy.borrow_mut().free(&handle);
        }
    }

    /// Whether it lives and says nothing more.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// From now on it keeps what it has, and says nothing.
    pub fn fall_asleep(&mut self) {
        self.hang_up();
        self.calls.clear();
        self.asleep = true;
    }

    /// Whether it has said goodbye.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    /// What it has to prove that it is this client.
    #[must_use]
    pub fn proof(&self) -> Option<Proof> {
        self.session.identity().proof
    }

    /// What it has to prove its leases.
    pub fn held(&self) -> impl Iterator<Item = &LeaseClaim> {
        self.session.leases().held()
    }

    /// A number for a lease.
    fn new_lease(&mut self) -> LeaseId {
        self.session.new_lease()
    }

    /// A request that is to be sent as soon as there is a connection.
    fn ask(&mut self, body: RequestBody, what: What, lease: Option<LeaseId>) {
        self.ask_with(body, what, lease, None);
    }

    fn ask_with(&mut self, body: RequestBody, what: What, lease: Option<LeaseId>, fd: Option<Fd>) {
        let now = self.now();
        let wait_ms = match &body {
            RequestBody::TensorGet(get) => get.wait_ms,
            RequestBody::VersionGet(get) => get.wait_ms,
            _ => 0,
        };
        let waits_until = Some(now + Duration::from_millis(wait_ms));
        let ask = Ask { lease, waits_until, ..Ask::new(body) };
        let call = Call::new(&mut self.session, ask, now);
        let asked = Asked { what, fd, expects: false, lease, call };
        self.calls.insert(asked.call.number(), asked);
    }

    /// Has a request sent, and tells `before` what for; nothing if the core has something else in
    /// mind.
    pub fn send_call(&mut self, number: u64, before: impl FnOnce(&mut Asked, u32)) {
        let now = self.now();
        let Some(asked) = self.calls.get_mut(&number) else { return };
        match asked.call.next(&mut self.session, now) {
            core::Next::Send(_) => {
                before(asked, self.user);
                let (request, fd) = (asked.call.request().clone(), asked.fd.clone());
                self.send(&request, fd);
            }
            core::Next::Failed(_) => self.call_failed(number),
            _ => {}
        }
    }

    /// There will be no answer.
    fn call_failed(&mut self, number: u64) {
        let Some(Asked { what, call, .. }) = self.calls.remove(&number) else { return };
        call.end(&mut self.session, Ended::Badly);
        self.not_released(what);
    }

    /// The pond does not know of these ends yet: it is told once more.
    fn not_released(&mut self, what: What) {
        match what {
            What::Release(leases) => {
                leases.into_iter().for_each(|lease| self.retiring.unmapped(lease));
            }
            What::GiveBack(leases) => self.session.stray(&leases),
            _ => {}
        }
    }

    /// Sends a request over the connection; a closed one is noticed when it is read.
    fn send(&mut self, request: &Request, fd: Option<Fd>) {
        let bytes = request.encode(&mut self.builder).to_vec();
        if let Some(socket) = &self.socket {
            let mut socket = socket.borrow_mut();
            if socket.daemon_open {
                socket.to_daemon.push_back((bytes, fd));
            }
        }
    }

    /// Connects and says hello; the listener has the other end. Some of the claims may be lies.
    pub fn connect(&mut self, oracle: &Oracle, rng: &mut Rng) -> SharedSocket {
        let mut claims = self.session.connecting();
        let mut lies = BTreeSet::new();
        if !claims.is_empty()
            && rng.once_in(4)
            && let Some(known) = rng.pick(&oracle.tensors)
        {
            let lease = LeaseId(LIES + rng.below(1 << 20));
            let token = *rng.id().as_bytes();
            claims.push(LeaseClaim { lease, target: known.id.into(), mode: Mode::ReadOnly, token });
            lies.insert(lease);
        }
        let handshake = Handshake::new(self.session.identity(), "sim", claims);
        let socket = Socket::connected(self.pid);
        self.socket = Some(Rc::clone(&socket));
        self.greeting = Some(Greeting { handshake, lies });
        self.go_on_greeting();
        socket
    }

    /// Asks what the handshake asks next; false if there is nothing left.
    fn go_on_greeting(&mut self) -> bool {
        let next = self.greeting.as_mut().and_then(|greeting| greeting.handshake.ask());
        if let Some(request) = &next {
            self.send(request, None);
        }
        next.is_some()
    }

    /// The connection is over.
    pub fn hang_up(&mut self) {
        let Some(socket) = self.socket.take() else { return };
        socket.borrow_mut().close_client();
        if self.greeting.take().is_some() {
            self.session.not_connected();
        } else {
            let (generation, now) = (self.session.generation(), self.now());
            self.session.hung_up(generation, now);
        }
    }

    /// Waits for the work that uses a lease.
    fn take_kernels(&mut self, lease: LeaseId) -> Vec<Kernel> {
        let (done, left) = std::mem::take(&mut self.kernels)
            .into_iter()
            .partition(|kernel: &Kernel| kernel.lease == lease);
        self.kernels = left;
        done
    }

    /// Requests that were not sent over this connection yet.
    pub fn unsent(&self) -> impl Iterator<Item = u64> + '_ {
        let now = self.now();
        let unsent = move |asked: &Asked| asked.call.wants_sending(&self.session, now);
        self.calls.iter().filter(move |(_, asked)| unsent(asked)).map(|(number, _)| *number)
    }

    /// Whether the pond is to be told of ends.
    #[must_use]
    pub fn has_releases(&self) -> bool {
        self.session.has_strays() || !self.retiring.to_release().is_empty()
    }

    /// Tells the pond what is unmapped, or else what nobody has taken.
    pub fn release(&mut self) {
        let leases = self.retiring.to_release().to_vec();
        if !leases.is_empty() {
            self.retiring.released();
            let body = self.session.release(leases.clone());
            self.ask(body, What::Release(leases), None);
        } else if let core::Duty::Release(leases) = self.session.duty() {
            let body = self.session.release(leases.clone());
            self.ask(body, What::GiveBack(leases), None);
        }
    }

    /// Deletes tensors that came with leases that nobody took.
    fn delete_nobodys(&mut self, tensors: Vec<TensorId>, oracle: &mut Oracle) {
        for id in tensors {
            let Some(&tensor) = oracle.index.get(&id) else { continue };
            oracle.tensors[tensor].may_be_gone = true;
            self.ask(RequestBody::TensorDelete { tensor: id }, What::Delete(tensor), None);
        }
    }

    /// Those that may be written.
    #[must_use]
    pub fn writable(&self) -> Vec<LeaseId> {
        let writable = |mapping: &Mapping| mapping.mode == Mode::ReadWrite;
        self.mappings.iter().filter(|(_, it)| writable(it)).map(|(id, _)| *id).collect()
    }
}
