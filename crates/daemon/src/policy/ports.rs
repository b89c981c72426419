//! What the policy needs from the world.
//!
//! Everything that has an effect goes through here, so that the same policy runs under the real
//! event loop and inside a test that decides what happens next. The order of the calls is meaning:
//! create is hold, then journal, then reply; delete is journal, then let go.

use millpond_host::channel::ToHost;
use millpond_mover::channel::ToMover;
use millpond_wire::message::{Counters, Reply};
use millpond_wire::record::{HolderProcess, Record};
use millpond_wire::{
    Backing, ClientId, Failure, GpuUuid, HostId, SlabId, TransportKind, VersionId,
};
use uuid::Uuid;

use super::groups::GroupAsk;

/// One connection of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// What the keeper holds for the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held {
    /// The exported descriptor of a slab.
    Slab(SlabId),
    /// The pidfd of a client.
    Client(ClientId),
    Manifest(VersionId),
    /// The daemon's end of the channel to a host.
    HostChannel(HostId),
    /// The pidfd of a host.
    HostProcess(HostId),
}

/// The journal or the keeper could not take it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PortError(pub String);

/// Why the keeper does not hold something.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// Nothing was sent. The same can be tried again when there is room.
    #[error("it takes nothing at the moment")]
    Full,
    #[error(transparent)]
    Refused(#[from] PortError),
}

/// How much more the keeper can be told before it has read something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperRoom {
    /// Enough for all that one request can need.
    Plenty,
    Little,
    /// Nothing can be held, or could be a moment ago.
    None,
}

/// Why the driver made no slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverFailure {
    /// The card is full.
    pub out_of_memory: bool,
    /// What the driver said.
    pub text: String,
    /// The driver was not asked: the owner may not have more.
    pub over_limit: Option<Box<OverLimit>>,
}

/// Why an owner may not have more memory, or not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The answer to whoever wanted it.
    pub answer: Failure,
    /// It may be otherwise in a moment: processes are ending, or the card has not said yet what is in
    /// use.
    pub soon: bool,
}

/// Whether a process that tensors are held for can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HolderSeen {
    /// Its end is told. It started so many ticks after the machine.
    Watched(u64),
    /// There is none of this number, or another one.
    NoSuch,
    /// There is nothing to watch it with, and this is why.
    Short(String),
}

pub trait Ports {
    /// A file descriptor; copies are cheap.
    type Fd: Clone;

    fn now_ms(&self) -> u64;
    /// Milliseconds on a clock that never jumps and that every daemon of the machine shares.
    fn monotonic_ms(&self) -> u64;
    /// A new random identity; through here, so that a test can repeat what happened.
    fn random_id(&mut self) -> Uuid;
    /// Makes a change durable against the death of any process.
    ///
    /// # Errors
    /// [`PortError`] if it could not be written; then it must not be answered.
    fn journal(&mut self, record: &Record) -> Result<(), PortError>;
    /// Has the keeper hold a descriptor, and beside it what a slab is made of; durable when it
    /// returns. Never blocks.
    ///
    /// # Errors
    /// [`HoldError`] if it could not be sent.
    fn hold(&mut self, what: Held, backing: Backing, fd: &Self::Fd) -> Result<(), HoldError>;
    /// Whoever finds none is told with [`super::Pond::keeper_has_room`] when there is some.
    fn keeper_room(&self) -> KeeperRoom {
        KeeperRoom::Plenty
    }
    /// Has the keeper, and this process, let a descriptor go. Never blocks.
    fn let_go(&mut self, what: Held, fd: Option<Self::Fd>);
    /// Whether this descriptor can be a manifest: a sealed memfd that is not too large.
    ///
    /// # Errors
    /// What is wrong with it.
    fn manifest_ok(&self, fd: &Self::Fd) -> Result<(), String>;
    /// Sends a reply or an event, with at most [`millpond_wire::caps::MESSAGE_FDS`] descriptors.
    fn reply(&mut self, conn: ConnId, reply: Reply, fds: Vec<Self::Fd>);
    /// Messages to this connection that could not be sent yet.
    fn backlog(&self, conn: ConnId) -> usize;
    /// Looks which replies were read meanwhile, so that accounts say what is so now.
    fn look_for_unread(&mut self) {}
    /// Ends a connection once everything was sent.
    fn close(&mut self, conn: ConnId);
    /// The pidfd of the process that made this connection; `None` if it is gone.
    fn peer_pidfd(&mut self, conn: ConnId) -> Option<Self::Fd>;
    /// What tells the process behind a pidfd from all others, also from those that are gone; zero
    /// where the kernel has no such number.
    fn inode(&self, pidfd: &Self::Fd) -> u64 {
        let _ = pidfd;
        0
    }
    /// Says when the process behind this pidfd is gone.
    fn watch(&mut self, client: ClientId, pidfd: &Self::Fd);
    /// The client is of no interest any more.
    fn unwatch(&mut self, client: ClientId);
    /// Says with [`super::Pond::holder_gone`] when the process of this number is gone, if it started
    /// then or nothing is known of that. Asked twice, it is told once.
    fn watch_holder(&mut self, pid: u32, started: Option<u64>) -> HolderSeen;
    /// Nothing is held for it any more.
    fn unwatch_holder(&mut self, process: HolderProcess);
    /// Asks the driver for a slab, on this user's account; the answer comes to
    /// [`super::Pond::slab_made`].
    fn make_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32);
    /// Has this user's account charged for memory that a mover, a host or another program makes. True
    /// if that is done; else the answer comes to [`super::Pond::slab_charged`].
    fn charge_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32) -> bool;
    /// Counts memory that is there already on this user's account, whatever the user may have.
    fn count_slab(&mut self, slab: SlabId, device: GpuUuid, bytes: u64, user: u32);
    /// The same for memory that a process has made already. If the group that pays limits that process
    /// too, it has paid until now and ends to when this is answered: so the limit is not asked again.
    fn charge_made(
        &mut self,
        slab: SlabId,
        device: GpuUuid,
        bytes: u64,
        user: u32,
        maker_pid: u32,
    ) -> bool {
        let _ = maker_pid;
        self.charge_slab(slab, device, bytes, user)
    }
    /// The memory behind such a charge is gone.
    fn uncharge_slab(&mut self, slab: SlabId);
    /// Has the driver try to make memory that it can share over a fabric; its refusal comes to
    /// [`super::Pond::slab_made`].
    fn try_fabric(&mut self, slab: SlabId, device: GpuUuid);
    /// Whether a descriptor of another program looks like what the driver exports. Nothing is read or
    /// mapped.
    ///
    /// # Errors
    /// What is wrong with it.
    fn is_exported(&self, fd: &Self::Fd, transport: TransportKind) -> Result<(), String>;
    /// Whether two descriptors are of the same memory, as far as the kernel can say.
    fn is_same(&self, one: &Self::Fd, other: &Self::Fd) -> bool;
    /// Starts a host; [`super::Pond::host_started`] says that it runs, or
    /// [`super::Pond::host_not_started`] why not.
    fn start_host(&mut self, host: HostId);
    /// Speaks to a host of an earlier daemon through its channel from now on.
    fn adopt_host(&mut self, host: HostId, channel: &Self::Fd);
    /// Tells a host something. Never blocks.
    fn tell_host(&mut self, host: HostId, message: ToHost);
    /// Closes this process's end of the channel to a host.
    fn close_host(&mut self, host: HostId);
    /// Asks whoever keeps the groups' files; the answer comes to [`super::Pond::group_answered`].
    fn ask_group(&mut self, ask: GroupAsk);
    /// The page that clients read, if there is one: a descriptor that cannot be written through.
    ///
    /// None where no more descriptors may be on their way to whoever is at this connection.
    fn page(&mut self, conn: ConnId) -> Option<Self::Fd>;
    /// Changes these slots of the page, before anybody is answered.
    fn bump(&mut self, slots: [usize; 2]);
    /// Asks the driver for its own readings; the answer comes to [`super::Pond::physical`].
    fn read_physical(&mut self);
    /// Starts the mover of a GPU; [`super::Pond::mover_started`] says that it runs, or
    /// [`super::Pond::mover_not_started`] why not.
    fn start_mover(&mut self, device: GpuUuid);
    /// Tells a mover something, with a descriptor or without. Never blocks.
    fn tell_mover(&mut self, device: GpuUuid, message: ToMover, fd: Option<Self::Fd>);
    /// Adds what only the world counts: requests and their answers, connections, processor time.
    fn count_into(&self, counters: &mut Counters) {
        let _ = counters;
    }
    /// Memory that this process takes of the machine; zero where that is not known.
    fn resident_bytes(&self) -> u64 {
        0
    }
    /// How large a file this process may write; `None` where it has no limit, or none that is known.
    fn file_limit(&self, pid: u32) -> Option<u64>;
    /// Kills the process behind a pidfd.
    fn kill(&mut self, pidfd: &Self::Fd);
    /// Has the keeper start another daemon, from this program, in this one's place.
    ///
    /// # Errors
    /// [`PortError`] if the keeper cannot be asked.
    fn upgrade(&mut self, program: &str) -> Result<(), PortError>;
}
