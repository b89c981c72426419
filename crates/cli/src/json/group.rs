//! Groups, their budgets and their processes, as JSON.

use millpond_wire::message::{GroupDetails, GroupDevice, GroupInfo, MemberDevice, MemberInfo};
use serde::Serialize;

/// `group ls`.
#[derive(Debug, Serialize)]
pub struct GroupsJson {
    /// Every group, or those that were named.
    pub groups: Vec<GroupJson>,
}

/// A group; `group set` prints one.
#[derive(Debug, Serialize)]
pub struct GroupJson {
    /// Name.
    name: String,
    /// Where its ledger and its limits are.
    folder: String,
    /// Ends with its last process.
    anonymous: bool,
    /// User id of who made it.
    owner: Option<u32>,
    /// Whose memory in the pond is charged to it.
    users: Vec<u32>,
    /// Its processes.
    process_count: u32,
    /// Members hold more than they say.
    lying: bool,
    /// Somebody keeps its lock for longer than anybody needs it.
    stuck: bool,
    /// Its files are not what they should be.
    broken: bool,
    /// By GPU.
    devices: Vec<GroupDeviceJson>,
}

/// A group on one GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupDeviceJson {
    /// Which.
    device: String,
    /// What was set; `null` is no limit.
    limit_bytes: Option<u64>,
    /// What holds now; `null` is no limit.
    effective_bytes: Option<u64>,
    /// What others leave it.
    min_bytes: u64,
    /// Who gives way first: groups with a smaller number.
    weight: u32,
    /// What counts against the limit: processes and pond.
    used_bytes: u64,
    /// Charged to its processes.
    process_bytes: u64,
    /// Of its users' memory in the pond.
    pond_bytes: u64,
    /// Contexts, a part of `process_bytes`.
    context_bytes: u64,
    /// Seen on the card and charged by nobody, a part of `process_bytes`.
    folded_bytes: u64,
    /// Mapped by its processes and charged to others.
    shared_bytes: u64,
    /// Its processes that have something there.
    process_count: u32,
}

impl From<&GroupInfo> for GroupJson {
    fn from(group: &GroupInfo) -> Self {
        Self {
            name: group.name.to_string(),
            folder: group.folder.clone(),
            anonymous: group.anonymous,
            owner: group.owner,
            users: group.users.clone(),
            process_count: group.processes,
            lying: group.lying,
            stuck: group.stuck,
            broken: group.broken,
            devices: group.devices.iter().map(GroupDeviceJson::from).collect(),
        }
    }
}

impl From<&GroupDevice> for GroupDeviceJson {
    fn from(device: &GroupDevice) -> Self {
        Self {
            device: device.device.to_string(),
            limit_bytes: device.limit_bytes,
            effective_bytes: device.effective_bytes,
            min_bytes: device.min_bytes,
            weight: device.weight,
            used_bytes: used_bytes(device),
            process_bytes: device.process_bytes,
            pond_bytes: device.pond_bytes,
            context_bytes: device.context_bytes,
            folded_bytes: device.folded_bytes,
            shared_bytes: device.shared_bytes,
            process_count: device.processes,
        }
    }
}

/// What counts against the limit.
pub fn used_bytes(device: &GroupDevice) -> u64 {
    device.process_bytes.saturating_add(device.pond_bytes)
}

/// `ps --group`.
#[derive(Debug, Serialize)]
pub struct GroupDetailsJson {
    /// The group, with its totals by GPU.
    group: GroupJson,
    /// Its processes.
    processes: Vec<MemberJson>,
}

/// A process of a group.
#[derive(Debug, Serialize)]
struct MemberJson {
    /// As the daemon sees it; none for one in a pid namespace that the daemon cannot see.
    pid: Option<u32>,
    /// As it sees itself, in its own pid namespace.
    own_pid: u32,
    /// Its place in the ledger.
    slot: u32,
    /// What it runs.
    program: String,
    /// Since when.
    started_unix_ms: Option<u64>,
    /// Whether it lives; one that does not is about to be forgotten.
    alive: bool,
    /// By GPU.
    devices: Vec<MemberDeviceJson>,
}

/// A process on one GPU.
#[derive(Debug, Serialize)]
struct MemberDeviceJson {
    /// Which.
    device: String,
    /// What counts against the limit.
    charged_bytes: u64,
    /// What it may take without asking, `charged_bytes` included.
    credit_bytes: u64,
    /// Contexts, a part of `charged_bytes`.
    context_bytes: u64,
    /// Mapped by it and charged to others.
    shared_bytes: u64,
    /// Seen on the card and not charged by it, a part of `charged_bytes`.
    folded_bytes: u64,
    /// NVML's reading.
    physical_bytes: Option<u64>,
    /// `physical_bytes` less `charged_bytes`.
    drift_bytes: Option<i64>,
}

impl From<&GroupDetails> for GroupDetailsJson {
    fn from(details: &GroupDetails) -> Self {
        Self {
            group: GroupJson::from(&details.info),
            processes: details.members.iter().map(MemberJson::from).collect(),
        }
    }
}

impl From<&MemberInfo> for MemberJson {
    fn from(member: &MemberInfo) -> Self {
        Self {
            pid: member.host_pid,
            own_pid: member.pid,
            slot: member.slot,
            program: member.program.clone(),
            started_unix_ms: member.started_unix_ms,
            alive: member.alive,
            devices: member.devices.iter().map(MemberDeviceJson::from).collect(),
        }
    }
}

impl From<&MemberDevice> for MemberDeviceJson {
    fn from(device: &MemberDevice) -> Self {
        Self {
            device: device.device.to_string(),
            charged_bytes: device.charged_bytes,
            credit_bytes: device.credit_bytes,
            context_bytes: device.context_bytes,
            shared_bytes: device.shared_bytes,
            folded_bytes: device.folded_bytes,
            physical_bytes: device.physical_bytes,
            drift_bytes: device.drift_bytes(),
        }
    }
}

/// A line of `group watch`: an account that has changed. Events are lines as in `events`.
#[derive(Debug, Serialize)]
pub struct AccountJson<'a> {
    /// `account`.
    kind: &'static str,
    /// When it was seen.
    unix_ms: u64,
    /// The group.
    group: &'a str,
    /// As in the table of `group ls`: `ok`, `over`, `stuck` or `lying`.
    state: &'static str,
    /// On one GPU.
    #[serde(flatten)]
    account: GroupDeviceJson,
}

impl<'a> AccountJson<'a> {
    /// An account as it is now.
    pub fn new(group: &'a str, device: &GroupDevice, state: &'static str, unix_ms: u64) -> Self {
        Self { kind: "account", unix_ms, group, state, account: device.into() }
    }
}
