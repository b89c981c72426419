//! One client process: what it holds, what it has asked, how it answers a hang-up.
//!
//! It keeps the rules of the client library: identities are made here, a request whose answer was
//! lost is repeated over the next connection under the same number, leases are claimed with their
//! tokens, a lease is released only after everything in flight has landed and the range is
//! unmapped, and what was granted to a caller that gave up goes back.

mod answers;
mod models;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use millpond_wire::message::{LeaseClaim, Request, RequestBody};
use millpond_wire::{ClientId, LeaseId, Mode};

use crate::card::{Fd, Memory};
use crate::socket::{SharedSocket, Socket};

pub use answers::Around;
pub use script::{Sizes, Stage};

/// The connection, as it is now.
#[derive(Debug)]
pub enum Line {
    /// There is none.
    Down,
    /// The hello was sent.
    Greeting(SharedSocket),
    /// The claims were sent; some of them are lies.
    Claiming(SharedSocket, BTreeSet<LeaseId>),
    /// Requests may be sent.
    Up(SharedSocket),
    /// Never again: it has said goodbye.
    Closed,
}

/// A lease that was granted.
#[derive(Debug)]
pub struct Lease {
    /// Its proof.
    pub claim: LeaseClaim,
    /// The tensor, as the observer counts them.
    pub tensor: usize,
    /// The mapping.
    pub memory: Option<Rc<Memory>>,
    /// Its end was sent: it is not claimed any more.
    pub ending: bool,
    /// This process has written all of it.
    pub written: bool,
    /// It was published when it was granted.
    pub ready: bool,
    /// It is on a version, as the observer counts them.
    pub version: Option<usize>,
    /// The version's other slabs.
    pub more: Vec<(usize, Rc<Memory>)>,
}

impl Lease {
    /// Everything that is mapped under it.
    pub fn ranges(&self) -> impl Iterator<Item = (usize, &Rc<Memory>)> {
        let first = self.memory.iter().map(|memory| (self.tensor, memory));
        first.chain(self.more.iter().map(|(tensor, memory)| (*tensor, memory)))
    }
}

/// Work on the card that has not run yet.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Under which lease it was queued.
    pub lease: LeaseId,
    /// What it writes.
    pub tensor: usize,
    /// Where.
    pub memory: Rc<Memory>,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A new tensor.
    Create(usize),
    /// A lease; of which tensor, if it was asked for by identity.
    Get(Option<usize>),
    /// A publish.
    Publish(usize),
    /// Bytes into a tensor, or out of it.
    Move(usize, bool),
    /// A delete.
    Delete(usize),
    /// Another name for a tensor.
    Rename(usize, String),
    /// Another name for the model of a version.
    RenameModel(usize),
    /// The end of leases.
    Release(Vec<LeaseId>),
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
    /// Anything else.
    Other,
}

/// A request without an answer.
#[derive(Debug)]
pub struct Call {
    /// What is asked.
    pub body: RequestBody,
    /// What for.
    pub what: What,
    /// The file that goes along.
    pub fd: Option<Fd>,
    /// The lease that is asked for.
    pub lease: Option<LeaseId>,
    /// How often it was sent.
    pub sends: u32,
    /// What it is about was there for certain when it was sent.
    pub expects: bool,
    /// On which connection.
    pub sent_on: Option<u64>,
}

/// One process.
#[derive(Debug)]
pub struct Client {
    /// As the pond knows it.
    pub id: ClientId,
    /// As the kernel knows it.
    pub pid: u32,
    /// Its user.
    pub user: u32,
    /// Not killed, not exited.
    pub alive: bool,
    /// The connection.
    pub line: Line,
    /// Counts connections.
    pub generation: u64,
    /// What it holds.
    pub leases: BTreeMap<LeaseId, Lease>,
    /// What runs on the card.
    pub kernels: Vec<Kernel>,
    /// What it waits for.
    pub calls: BTreeMap<u64, Call>,
    /// Leases whose callers gave up, while the pond may still grant them.
    pub late: BTreeSet<LeaseId>,
    /// Leases that were granted to nobody, or may have been.
    pub strays: BTreeSet<LeaseId>,
    /// Tensors that a mover has filled for it.
    pub filled: Vec<usize>,
    /// The highest epoch that welcomed it.
    pub epoch: u64,
    next_number: u64,
    next_lease: u64,
    builder: planus::Builder,
}

/// Requests are numbered from here on; the handshake has the numbers below.
const FIRST_NUMBER: u64 = 100;
/// Leases that were never granted.
const LIES: u64 = 1 << 40;

impl Client {
    /// A process that has just started.
    #[must_use]
    pub fn new(id: ClientId, pid: u32, user: u32) -> Self {
        Self {
            id,
            pid,
            user,
            alive: true,
            line: Line::Down,
            generation: 0,
            leases: BTreeMap::new(),
            kernels: Vec::new(),
            calls: BTreeMap::new(),
            late: BTreeSet::new(),
            strays: BTreeSet::new(),
            filled: Vec::new(),
            epoch: 0,
            next_number: FIRST_NUMBER,
            next_lease: 1,
            builder: planus::Builder::new(),
        }
    }

    /// The connection, if there is one.
    #[must_use]
    pub fn socket(&self) -> Option<&SharedSocket> {
        match &self.line {
            Line::Greeting(socket) | Line::Claiming(socket, _) | Line::Up(socket) => Some(socket),
            Line::Down | Line::Closed => None,
        }
    }

    /// Whether requests may be sent.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self.line, Line::Up(_))
    }

    /// A number for a lease.
    pub fn new_lease(&mut self) -> LeaseId {
        self.next_lease += 1;
        LeaseId(self.next_lease - 1)
    }

    /// A request that is to be sent as soon as there is a connection.
    pub fn ask(&mut self, body: RequestBody, what: What, lease: Option<LeaseId>) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.calls.insert(
            number,
            Call { body, what, fd: None, lease, sends: 0, expects: false, sent_on: None },
        );
        number
    }

    /// Sends a request over the connection; a closed one is noticed when it is read.
    pub fn send(&mut self, number: u64, body: RequestBody, fd: Option<Fd>) {
        let bytes = Request { number, body }.encode(&mut self.builder).to_vec();
        if let Some(socket) = self.socket() {
            let mut socket = socket.borrow_mut();
            if socket.daemon_open {
                socket.to_daemon.push_back((bytes, fd));
            }
        }
    }

    /// Connects; the listener has the other end.
    pub fn connect(&mut self) -> SharedSocket {
        let socket = Socket::connected(self.pid);
        self.line = Line::Greeting(Rc::clone(&socket));
        socket
    }

    /// The connection is over.
    pub fn hang_up(&mut self) {
        if let Some(socket) = self.socket() {
            socket.borrow_mut().close_client();
            self.line = Line::Down;
        }
    }

    /// Waits for the work that uses a lease.
    pub fn take_kernels(&mut self, lease: LeaseId) -> Vec<Kernel> {
        let (done, left) = std::mem::take(&mut self.kernels)
            .into_iter()
            .partition(|kernel: &Kernel| kernel.lease == lease);
        self.kernels = left;
        done
    }

    /// Requests that were not sent over this connection yet.
    pub fn unsent(&self) -> impl Iterator<Item = u64> + '_ {
        let generation = self.generation;
        let unsent = move |call: &Call| call.sent_on != Some(generation);
        self.calls.iter().filter(move |(_, call)| unsent(call)).map(|(number, _)| *number)
    }

    /// Leases that are unmapped and whose end the pond has not been told.
    #[must_use]
    pub fn unmapped(&self) -> Vec<LeaseId> {
        let ended = |lease: &Lease| lease.memory.is_none() && !lease.ending;
        self.leases.iter().filter(|(_, lease)| ended(lease)).map(|(id, _)| *id).collect()
    }

    /// Leases through which this process may read or write.
    pub fn mapped(&self) -> impl Iterator<Item = (LeaseId, &Lease)> {
        self.leases.iter().filter(|(_, lease)| lease.memory.is_some()).map(|(id, it)| (*id, it))
    }

    /// Those that may be written.
    #[must_use]
    pub fn writable(&self) -> Vec<LeaseId> {
        let writable = |lease: &Lease| lease.claim.mode == Mode::ReadWrite;
        self.mapped().filter(|(_, lease)| writable(lease)).map(|(id, _)| id).collect()
    }
}
