//! Groups and their budgets: what is asked and answered.

use crate::{GpuUuid, GroupName, Token};

/// What all of a group may hold on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupLimit {
    /// So many bytes.
    Bytes(u64),
    /// So many thousandths of the card.
    Part(u32),
    /// As much as there is.
    Unlimited,
}

/// A group that is made or changed. What is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSet {
    /// Which.
    pub group: GroupName,
    /// On this GPU; on all if absent.
    pub device: Option<GpuUuid>,
    /// What it may hold.
    pub limit: Option<GroupLimit>,
    /// What others leave it, in bytes.
    pub min_bytes: Option<u64>,
    /// Who gives way first where not everybody's limit fits.
    pub weight: Option<u32>,
    /// Whose memory in the pond is charged to it.
    pub users: Option<Vec<u32>>,
    /// It may be a new one.
    pub create: bool,
}

impl GroupSet {
    /// A change that changes nothing.
    #[must_use]
    pub fn of(group: GroupName) -> Self {
        Self {
            group,
            device: None,
            limit: None,
            min_bytes: None,
            weight: None,
            users: None,
            create: false,
        }
    }
}

/// A program is about to run in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupJoin {
    /// Made by the client: a repeat joins the same group.
    pub token: Token,
    /// Without a name it is a group of its own, which ends with its last process. A group of a name
    /// that nobody has is made if there is a limit for it.
    pub group: Option<GroupName>,
    /// On which GPU the limit is; on all if absent.
    pub device: Option<GpuUuid>,
    /// What a new group may hold; one that exists must have the same.
    pub limit: Option<GroupLimit>,
}

/// A group on one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDevice {
    /// Which GPU.
    pub device: GpuUuid,
    /// What was asked for; `None` means no limit.
    pub limit_bytes: Option<u64>,
    /// What its members obey now; `None` means no limit.
    pub effective_bytes: Option<u64>,
    /// What others leave it.
    pub min_bytes: u64,
    /// Who gives way first.
    pub weight: u32,
    /// Charged to its processes.
    pub process_bytes: u64,
    /// Of its users' memory in the pond.
    pub pond_bytes: u64,
    /// Contexts, a part of the bytes of processes.
    pub context_bytes: u64,
    /// What the card showed and nobody had charged, a part of the bytes of processes.
    pub folded_bytes: u64,
    /// Mapped by its processes and charged to others.
    pub shared_bytes: u64,
    /// Its processes that have something there.
    pub processes: u32,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    /// Name.
    pub name: GroupName,
    /// Where its ledger and its limits are.
    pub folder: String,
    /// It ends with its last process.
    pub anonymous: bool,
    /// Who may run programs in it, beside the operator and its users.
    pub owner: Option<u32>,
    /// Whose memory in the pond is charged to it.
    pub users: Vec<u32>,
    /// Its processes.
    pub processes: u32,
    /// Members hold more than they say.
    pub lying: bool,
    /// Somebody keeps its lock for longer than anybody needs it.
    pub stuck: bool,
    /// Its files are not what they should be.
    pub broken: bool,
    /// By GPU.
    pub devices: Vec<GroupDevice>,
}

/// A process on one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberDevice {
    /// Which GPU.
    pub device: GpuUuid,
    /// What it is charged with.
    pub charged_bytes: u64,
    /// What it may take without asking, the charged bytes included.
    pub credit_bytes: u64,
    /// Contexts, a part of the charged bytes.
    pub context_bytes: u64,
    /// Mapped by it and charged to others.
    pub shared_bytes: u64,
    /// What the card showed and it had not charged, a part of the charged bytes.
    pub folded_bytes: u64,
    /// The card's own reading.
    pub physical_bytes: Option<u64>,
}

impl MemberDevice {
    /// What the card says that it has more than it is charged with; less, if it is negative.
    #[must_use]
    pub fn drift_bytes(&self) -> Option<i64> {
        let physical = i64::try_from(self.physical_bytes?).unwrap_or(i64::MAX);
        Some(physical.saturating_sub(i64::try_from(self.charged_bytes).unwrap_or(i64::MAX)))
    }
}

/// A process of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberInfo {
    /// Its place in the ledger.
    pub slot: u32,
    /// As it sees itself.
    pub pid: u32,
    /// As the daemon sees it, if it can.
    pub host_pid: Option<u32>,
    /// What it runs.
    pub program: String,
    /// Since when.
    pub started_unix_ms: Option<u64>,
    /// Whether it lives; one that does not is about to be forgotten.
    pub alive: bool,
    /// By GPU.
    pub devices: Vec<MemberDevice>,
}

impl MemberInfo {
    /// A program's name as it can be printed, from the bytes of a slot: the member wrote them.
    #[must_use]
    pub fn program_of(slot: &[u8]) -> String {
        let name = slot.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name).chars().filter(|c| !c.is_control()).collect()
    }
}

/// Everything about one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    /// The group.
    pub info: GroupInfo,
    /// Its processes.
    pub members: Vec<MemberInfo>,
}
