//! What the daemon answers.

use super::{
    Audience, GroupDetails, GroupInfo, LeaseToken, Life, Mode, ModelInfo, TensorState,
    VersionDetails, VersionGrant, VersionInfo, small_enum,
};
use crate::{
    Backing, ClientId, ContentHash, Dtype, Epoch, Failure, GpuUuid, GroupName, LeaseId,
    LeaseTarget, PondId, Shape, SlabId, TensorId, TensorName, VersionTag,
};

/// One reply or event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The request's number; zero for events.
    pub number: u64,
    /// The answer.
    pub body: ReplyBody,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyBody {
    /// No, and why.
    Failure(Failure),
    /// Yes, and nothing more to say.
    Done,
    /// To the hello.
    Welcome(Welcome),
    /// To a claim: those that were refused.
    Claimed {
        /// Leases whose token or object was not right.
        refused: Vec<LeaseId>,
    },
    /// A tensor, and the lease on it if one was asked for. The slab's descriptor comes along with
    /// a lease.
    Tensor(TensorGrant),
    /// To a publish.
    Published {
        /// The tensor's generation now.
        generation: u64,
    },
    /// To a move: every byte has landed.
    Moved {
        /// So many.
        bytes: u64,
        /// One for each piece, if it was about pieces.
        hashes: Vec<ContentHash>,
    },
    /// What was given back, or would be.
    Collected {
        /// Tensors that were deleted.
        tensors: Vec<TensorInfo>,
        /// Empty slabs.
        slabs: u32,
        /// Their bytes.
        slab_bytes: u64,
    },
    /// To an upgrade: another daemon is about to take over from this one.
    Upgrading {
        /// Version of this daemon.
        from_version: String,
        /// Its epoch; the next daemon's is higher.
        from_epoch: Epoch,
    },
    /// One tensor and its leases.
    Details {
        /// The tensor.
        info: TensorInfo,
        /// Who holds it.
        leases: Vec<LeaseInfo>,
    },
    /// A listing.
    Tensors(Vec<TensorInfo>),
    /// A listing.
    Clients(Vec<ClientInfo>),
    /// The pond.
    Status(Box<Status>),
    /// Something happened.
    Event(Event),
    /// A version, and the lease on it if one was asked for.
    Version(Box<VersionGrant>),
    /// More slabs of a version; so many descriptors come along.
    Slabs {
        /// The first of them.
        first: u32,
        /// How many.
        count: u32,
    },
    /// One version and its readers.
    VersionDetails(Box<VersionDetails>),
    /// A listing.
    Models(Vec<ModelInfo>),
    /// To a swap.
    Swapped {
        /// What is current now.
        current: Box<VersionInfo>,
        /// What was current before.
        previous: Option<VersionTag>,
    },
    /// A listing.
    Groups(Vec<GroupInfo>),
    /// One group and its processes; also to a group that was set.
    GroupDetails(Box<GroupDetails>),
    /// To a join.
    GroupJoined {
        /// Its name, also if nobody gave it one.
        name: GroupName,
        /// Where its ledger and its limits are.
        folder: String,
        /// It ends with its last process.
        anonymous: bool,
    },
    /// The reply is in the memfd that came along.
    InMemfd {
        /// Its length.
        bytes: u64,
    },
    /// A kind that this version does not know.
    Unknown,
}

/// To the hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Version of the protocol that will be spoken.
    pub version: u16,
    /// What the daemon can do beyond the version.
    pub capabilities: u64,
    /// Which pond this is.
    pub pond: PondId,
    /// Which daemon of it.
    pub epoch: Epoch,
    /// Version of the daemon's program.
    pub daemon_version: String,
    /// The tenant that the socket stands for.
    pub tenant: String,
    /// Who the daemon thinks the client is.
    pub user: u32,
    /// Whether this is the admin socket.
    pub admin: bool,
    /// Counters in the page that comes along; zero if none does.
    pub page_slots: u32,
}

/// A tensor with or without a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorGrant {
    /// The tensor.
    pub info: TensorInfo,
    /// The lease that was asked for, with its proof.
    pub lease: Option<(LeaseId, Mode, LeaseToken)>,
    /// Of a create: the tensor already existed, and nothing of the request was applied to it.
    pub existed: bool,
    /// How the slab is reached, with a lease.
    pub backing: Backing,
}

/// What is known about a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Identity.
    pub tensor: TensorId,
    /// Name inside its owner's part.
    pub name: Option<TensorName>,
    /// Element type.
    pub dtype: Dtype,
    /// Extents.
    pub shape: Shape,
    /// Where it lies.
    pub device: GpuUuid,
    /// Its bytes.
    pub bytes: u64,
    /// Writing, ready or deleted.
    pub state: TensorState,
    /// Counts publishes.
    pub generation: u64,
    /// Owner.
    pub user: u32,
    /// With whom it is shared.
    pub audience: Audience,
    /// Ends with its creator's process.
    pub ephemeral: bool,
    /// When it was made.
    pub created_unix_ms: u64,
    /// The slab it lies in.
    pub slab: SlabId,
    /// That slab's bytes.
    pub slab_bytes: u64,
    /// Where in the slab it begins.
    pub offset: u64,
    /// How many leases there are on it.
    pub leases: u32,
    /// What is left of its life.
    pub life: Life,
}

/// One lease, as `ps` and `inspect` show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// What it is on.
    pub target: LeaseTarget,
    /// The tensor's name, or the model's.
    pub name: Option<TensorName>,
    /// How it is mapped.
    pub mode: Mode,
    /// The tensor's bytes, or those of the version's slabs.
    pub bytes: u64,
    /// Since when.
    pub since_unix_ms: u64,
    /// Who holds it.
    pub client: ClientId,
    /// That client's process.
    pub pid: u32,
    /// That client's program.
    pub program: String,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// Identity.
    pub client: ClientId,
    /// Process, as the daemon sees it.
    pub pid: u32,
    /// User.
    pub user: u32,
    /// What it calls itself.
    pub program: String,
    /// Since when it is known.
    pub since_unix_ms: u64,
    /// Lives, but has no connection: it keeps what it holds.
    pub silent: bool,
    /// What it holds.
    pub leases: Vec<LeaseInfo>,
    /// The pond's own mover, not somebody's program.
    pub mover: bool,
}

/// One GPU and its accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Identity.
    pub device: GpuUuid,
    /// Place in the pond's list; for people only.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    /// Bytes on the card.
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    /// Bytes of the pond's slabs.
    pub slab_bytes: u64,
    /// Bytes of the tensors in them.
    pub tensor_bytes: u64,
    /// Bytes of slabs without a tensor, kept for their owner.
    pub recycled_bytes: u64,
    /// The driver's own reading for the whole card.
    pub physical_used_bytes: Option<u64>,
    /// How many slabs.
    pub slabs: u32,
    /// How many tensors.
    pub tensors: u32,
    /// What the processes of groups are charged with.
    pub charged_bytes: Option<u64>,
    /// What the card says that those processes have more than that; less, if it is negative.
    pub drift_bytes: Option<i64>,
    /// What belongs to nobody whom the pond knows.
    pub other_bytes: Option<u64>,
}

/// A mover at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoverInfo {
    /// Its GPU.
    pub device: GpuUuid,
    /// Its process.
    pub pid: u32,
    /// Moves that wait or run.
    pub moves: u32,
    /// What it has moved.
    pub moved_bytes: u64,
}

/// The pond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Which pond.
    pub pond: PondId,
    /// Which daemon of it.
    pub epoch: Epoch,
    /// Version of the daemon's program.
    pub daemon_version: String,
    /// The daemon.
    pub daemon_pid: u32,
    /// The keeper.
    pub keeper_pid: u32,
    /// Name and version of the driver.
    pub driver: String,
    /// Whether the driver has answered yet.
    pub driver_ready: bool,
    /// When this daemon started.
    pub started_unix_ms: u64,
    /// GPUs.
    pub devices: Vec<DeviceInfo>,
    /// Clients that are known.
    pub clients: u32,
    /// Those of them without a connection.
    pub silent_clients: u32,
    /// Leases that are known.
    pub leases: u32,
    /// Size of the journal.
    pub journal_bytes: u64,
    /// The library that `millpond run` is to preload, where the daemon has found one.
    pub preload_library: Option<String>,
    /// The runtime folder.
    pub runtime_dir: String,
    /// Records whose memory was gone at the last recovery.
    pub lost_tensors: u32,
    /// Movers that run.
    pub movers: Vec<MoverInfo>,
    /// The file that the daemon runs from.
    pub program: String,
    /// The unit of the service manager that runs the pond.
    pub service: Option<Service>,
    /// The file that the log goes to; empty means standard error.
    pub log_file: String,
    /// The model of the configuration that is being loaded; empty means none.
    pub loading: String,
}

/// A unit of the service manager.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Service {
    /// Its name, such as `millpond.service`.
    pub unit: String,
    /// Whether it is one of a user, not of the machine.
    pub user: bool,
}

small_enum! {
    /// What happened.
    EventKind {
        /// A tensor was made.
        1 TensorCreated "tensor_created",
        /// A tensor was published.
        2 TensorPublished "tensor_published",
        /// A tensor was deleted; leases may be left.
        3 TensorDeleted "tensor_deleted",
        /// A tensor's memory was given back.
        4 TensorFreed "tensor_freed",
        /// A client holds something for the first time.
        5 ClientConnected "client_connected",
        /// A client hung up but lives.
        6 ClientSilent "client_silent",
        /// A client that held something said goodbye, or its process is gone.
        7 ClientGone "client_gone",
        /// The daemon recovered.
        8 Recovered "recovered",
        /// The daemon stops.
        9 Draining "draining",
        /// The keeper was replaced.
        10 KeeperReplaced "keeper_replaced",
        /// Events are missing before this one: the subscriber was slow, or came late.
        11 Gap "gap",
        /// A mover was started.
        12 MoverStarted "mover_started",
        /// A mover had nothing to do for a while and was ended.
        13 MoverStopped "mover_stopped",
        /// A mover died or hung; another takes its place.
        14 MoverLost "mover_lost",
        /// Somebody reached a limit.
        15 LimitReached "limit_reached",
        /// Another daemon takes over.
        16 Upgrading "upgrading",
        /// Memory that nobody used was given back.
        17 Collected "collected",
        /// A version of a model was begun.
        18 VersionStaged "version_staged",
        /// A version is complete.
        19 VersionReady "version_ready",
        /// Another version of a model is current.
        20 ModelSwapped "model_swapped",
        /// A version takes no new readers.
        21 VersionDraining "version_draining",
        /// A version's last reader has left, or it was given up.
        22 VersionGone "version_gone",
        /// A group was made or changed.
        23 GroupSet "group_set",
        /// A group's limit is below what it holds; the text says who holds most.
        24 GroupOver "group_over",
        /// Members of a group hold more than they say.
        25 GroupLying "group_lying",
        /// Somebody keeps a group's lock for longer than anybody needs it.
        26 GroupStuck "group_stuck",
        /// A group was removed, or its last process ended.
        27 GroupGone "group_gone",
        /// A tensor or a model has another name.
        28 Renamed "renamed",
        /// A model of the configuration could not be loaded.
        29 StartFailed "start_failed",
    }
}

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts events of one daemon.
    pub sequence: u64,
    /// When.
    pub unix_ms: u64,
    /// What.
    pub kind: EventKind,
    /// To what, if it happened to one thing.
    pub target: Option<LeaseTarget>,
    /// Its name, or the group's.
    pub name: Option<TensorName>,
    /// By or to whom.
    pub user: Option<u32>,
    /// Why, in words.
    pub text: String,
}
