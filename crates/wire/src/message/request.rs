//! What a client asks.

use super::{Audience, GroupJoin, GroupSet, Mode, VersionCommit, VersionGet, VersionStage};
use crate::{
    ClientId, Dtype, GpuUuid, GroupName, LeaseId, LeaseTarget, Piece, PiecesKind, Run, Shape,
    TensorId, TensorName, TensorRef, Token, VersionId, VersionTag, VersionTarget,
};

/// The keyed hash that proves a lease to the next daemon.
pub type LeaseToken = [u8; 16];

/// `wait_ms` that never ends.
pub const WAIT_FOREVER: u64 = u64::MAX;

/// One request; its number comes back in the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Chosen by the client, unique on its connection, not zero.
    pub number: u64,
    /// What is asked.
    pub body: RequestBody,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestBody {
    /// The first message of every connection.
    Hello(Hello),
    /// Leases of an earlier connection of the same process.
    Claim(Claim),
    /// The client has unmapped everything and goes.
    Goodbye,
    /// Answered by `Done`.
    Ping,
    /// The pond, its GPUs and accounts.
    PondStatus,
    /// Who is connected and what it holds.
    ClientList,
    /// A new tensor, with or without a lease on it.
    TensorCreate(TensorCreate),
    /// A lease on a tensor.
    TensorGet(TensorGet),
    /// The tensor's bytes are complete.
    TensorPublish(TensorPublish),
    /// Bytes go into a tensor, out of it, or from one to another; answered when all have landed.
    TensorMove(TensorMove),
    /// No new leases; the memory goes when the last lease has ended.
    TensorDelete {
        /// The tensor.
        tensor: TensorId,
    },
    /// Everything about one tensor.
    TensorInspect(Target),
    /// Every tensor that is shared with the caller.
    TensorList {
        /// Only names that begin so.
        prefix: String,
    },
    /// These leases are unmapped.
    LeaseRelease {
        /// At most [`crate::limits::LEASES_PER_MESSAGE`].
        leases: Vec<LeaseId>,
    },
    /// Send events from now on.
    Subscribe {
        /// First sequence number wanted; zero means from now on.
        from: u64,
    },
    /// Gives back what nobody uses.
    Collect {
        /// Also tensors of the caller that nobody has leased for so long.
        unleased_for_ms: Option<u64>,
        /// Only say what would be given back.
        dry_run: bool,
    },
    /// Another daemon takes over.
    Upgrade {
        /// From this program; empty means the keeper's own.
        program: String,
    },
    /// How far the models of the configuration are loaded.
    StartReport {
        /// The one that is being loaded; empty means none.
        loading: String,
        /// One that could not be loaded, and why; empty means none.
        failed: String,
    },
    /// A version of a model begins.
    VersionStage(VersionStage),
    /// Its bytes are complete.
    VersionCommit(VersionCommit),
    /// A lease on a version.
    VersionGet(VersionGet),
    /// More slabs of a version.
    VersionSlabs {
        /// Which version.
        version: VersionId,
        /// The lease on it.
        lease: LeaseId,
        /// The first slab that is wanted.
        first: u32,
        /// How many; fewer may come.
        count: u32,
    },
    /// A slab that a staged version shares becomes its own: a new one, without the bytes. Answered
    /// as [`RequestBody::VersionSlabs`].
    VersionPart {
        /// Which version.
        version: VersionId,
        /// Which of its slabs.
        index: u32,
    },
    /// No new leases on a version; one that is being staged is given up.
    VersionRetire(VersionTarget),
    /// The same, also if it is the current version and has readers. Travels as
    /// [`RequestBody::VersionRetire`] with a flag.
    VersionRemove(VersionTarget),
    /// Everything about one version, with its manifest.
    VersionInspect(VersionTarget),
    /// Another version of a model becomes current.
    ModelSwap {
        /// Which model.
        model: TensorRef,
        /// `None` means the one that was current before.
        tag: Option<VersionTag>,
        /// Recognises a repeat.
        token: Token,
    },
    /// Every model that is shared with the caller.
    ModelList {
        /// Only names that begin so.
        prefix: String,
    },
    /// A group is made or changed; answered as [`RequestBody::GroupInspect`].
    GroupSet(GroupSet),
    /// A program is about to run in a group.
    GroupJoin(GroupJoin),
    /// Every group.
    GroupList,
    /// Everything about one group.
    GroupInspect {
        /// Which.
        group: GroupName,
    },
    /// A group without processes goes, and its limit with it.
    GroupRemove {
        /// Which.
        group: GroupName,
    },
    /// A tensor gets another name, or the model of a version does.
    Rename(Rename),
    /// A kind that this version does not know; it is answered, not punished.
    Unknown,
}

/// Who connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Version of the protocol.
    pub version: u16,
    /// Bits for what the client can do beyond the version.
    pub capabilities: u64,
    /// The process, across its connections.
    pub client: ClientId,
    /// Shown by `ps`.
    pub program: String,
    /// Claims follow.
    pub claims: bool,
}

/// Some of the leases that a process holds from earlier connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// At most [`crate::limits::LEASES_PER_MESSAGE`].
    pub leases: Vec<LeaseClaim>,
    /// No more claims follow: the client is not silent any longer.
    pub last: bool,
}

/// One lease, with the proof that it was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseClaim {
    /// The lease.
    pub lease: LeaseId,
    /// What it is on.
    pub target: LeaseTarget,
    /// How it is mapped.
    pub mode: Mode,
    /// As it was granted.
    pub token: LeaseToken,
}

/// A tensor by name or by identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// By name, as its user sees it.
    Name(TensorRef),
    /// By identity.
    Id(TensorId),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Name(name) => name.fmt(f),
            Target::Id(id) => id.fmt(f),
        }
    }
}

/// A tensor to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorCreate {
    /// Made by the client: a repeat finds the tensor instead of making another.
    pub tensor: TensorId,
    /// Without a name it is found by identity only.
    pub name: Option<TensorName>,
    /// Element type.
    pub dtype: Dtype,
    /// Extents.
    pub shape: Shape,
    /// The pond's first GPU if absent.
    pub device: Option<GpuUuid>,
    /// With whom it is shared.
    pub audience: Audience,
    /// Ends with its creator's process.
    pub ephemeral: bool,
    /// Filled with zeroes, and so ready at once.
    pub zero: bool,
    /// A read-write lease for the creator.
    pub lease: Option<LeaseId>,
    /// How long it lives.
    pub life: Life,
}

/// How long a tensor lives, beside being deleted. Every end only stops new leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// From its creation.
    pub ttl_ms: Option<u64>,
    /// From the end of its last lease; before it ever had one, from its creation.
    pub linger_ms: Option<u64>,
    /// Answered gets; the creator's own lease is none.
    pub accesses: Option<u64>,
}

/// A tensor's bytes are complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPublish {
    /// The tensor.
    pub tensor: TensorId,
    /// Recognises a repeat.
    pub token: Token,
    /// The name that it gets with this publish, if it had none.
    pub name: Option<TensorName>,
    /// Another tensor of that name is deleted in the same step.
    pub replace: bool,
}

/// Another name for a tensor or a model. Leases and mappings stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The tensor, or any version of the model: a repeat cannot hit another object that has got the
    /// old name since.
    pub object: LeaseTarget,
    /// The new name, in the owner's part.
    pub name: TensorName,
    /// Recognises a repeat.
    pub token: Token,
}

/// Bytes to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMove {
    /// Made by the client: a repeat joins the move that is under way.
    pub token: Token,
    /// Into which tensor, or out of which for a get.
    pub tensor: TensorId,
    /// From this byte of it on.
    pub offset: u64,
    /// So many.
    pub bytes: u64,
    /// From where, or to where.
    pub work: MoveWork,
}

/// What a move does. A put and a get come with the file's descriptor, and pieces of most kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveWork {
    /// From a file.
    Put {
        /// Where in the file.
        file_offset: u64,
    },
    /// To a file.
    Get {
        /// Where in the file.
        file_offset: u64,
    },
    /// From another tensor on the same GPU.
    Copy {
        /// Which.
        from: TensorId,
        /// Where in it.
        from_offset: u64,
    },
    /// Zeroes.
    Zero,
    /// Pieces that are hashed on the way. The move's bytes are theirs together, its offset is zero.
    Pieces {
        /// From where, to where.
        kind: PiecesKind,
        /// By place in the tensor.
        pieces: Vec<Piece>,
        /// Where they lie in the file, if there is one.
        runs: Vec<Run>,
    },
}

impl MoveWork {
    /// Whether a file's descriptor comes along.
    #[must_use]
    pub fn has_file(&self) -> bool {
        match self {
            MoveWork::Put { .. } | MoveWork::Get { .. } => true,
            MoveWork::Pieces { kind, .. } => kind.has_file(),
            MoveWork::Copy { .. } | MoveWork::Zero => false,
        }
    }

    /// Whether the tensor is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            MoveWork::Get { .. } => false,
            MoveWork::Pieces { kind, .. } => *kind == PiecesKind::Load,
            MoveWork::Put { .. } | MoveWork::Copy { .. } | MoveWork::Zero => true,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            MoveWork::Put { .. } => "put",
            MoveWork::Get { .. } => "get",
            MoveWork::Copy { .. } => "copy",
            MoveWork::Zero => "zero",
            MoveWork::Pieces { kind, .. } => kind.name(),
        }
    }
}

/// A lease that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorGet {
    /// On what.
    pub target: Target,
    /// The lease's number.
    pub lease: LeaseId,
    /// How it will be mapped.
    pub mode: Mode,
    /// How long to wait until it exists and is published; zero means not at all.
    pub wait_ms: u64,
}
