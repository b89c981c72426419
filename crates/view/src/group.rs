//! Groups, their budgets and their processes.

use millpond_wire::message::{self, ClientInfo, GroupInfo, MemberInfo};
use millpond_wire::{GpuUuid, GroupName};
use serde::Serialize;

use crate::Text;

/// `group ls`.
#[derive(Clone, Debug, Serialize)]
pub struct Groups {
    /// Every group, or those that were named.
    pub groups: Vec<Group>,
}

data! { $
    /// A group; `group set` prints one.
    pub struct Group as group_fields {
        /// Name.
        name: Text<GroupName>,
        /// Where its ledger and its limits are.
        folder: String,
        /// Ends with its last process.
        anonymous: bool,
        /// User id of its maker.
        owner: Option<u32>,
        /// Users whose memory in the pond is charged to it.
        users: Vec<u32>,
        /// Its processes.
        process_count: u32,
        /// Members hold more than they say.
        lying: bool,
        /// A process keeps its lock for longer than any needs it.
        stuck: bool,
        /// Its files are not what they should be.
        broken: bool,
        /// A process that does not answer when pages are asked of it is ended.
        ends_silent: bool,
        /// By GPU.
        devices: Vec<GroupDevice>,
    }
}

data! { $
    /// A group on one GPU.
    pub struct GroupDevice as group_device_fields {
        /// UUID of the GPU.
        device: Text<GpuUuid>,
        /// The limit that was set; nothing is no limit.
        limit_bytes: Option<u64>,
        /// The limit that holds now; nothing is no limit.
        effective_bytes: Option<u64>,
        /// What others leave it.
        min_bytes: u64,
        /// Groups with a smaller number give way first.
        weight: u32,
        /// What counts against the limit: its processes and its users' memory in the pond.
        used_bytes: u64,
        /// Charged to its processes.
        process_bytes: u64,
        /// Its users' memory in the pond.
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
}

impl From<&GroupInfo> for Group {
    fn from(group: &GroupInfo) -> Self {
        Self {
            name: Text(group.name.clone()),
            folder: group.folder.clone(),
            anonymous: group.anonymous,
            owner: group.owner,
            users: group.users.clone(),
            process_count: group.processes,
            lying: group.lying,
            stuck: group.stuck,
            broken: group.broken,
            ends_silent: group.ends_silent,
            devices: group.devices.iter().map(GroupDevice::from).collect(),
        }
    }
}

impl From<&message::GroupDevice> for GroupDevice {
    fn from(device: &message::GroupDevice) -> Self {
        Self {
            device: Text(device.device),
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
#[must_use]
pub fn used_bytes(device: &message::GroupDevice) -> u64 {
    device.process_bytes.saturating_add(device.pond_bytes)
}

data! { $
    /// `ps --group`.
    pub struct GroupDetails as group_details_fields {
        /// The group, with its totals by GPU.
        group: Group,
        /// Its processes.
        processes: Vec<Member>,
    }
}

/// Calls the processes of a group as `ps` calls them: a client says the name of its script, and a
/// ledger has room for the first letters of its interpreter's only.
pub fn call_as_clients(members: &mut [MemberInfo], clients: &[ClientInfo]) {
    for member in members.iter_mut().filter(|member| member.alive) {
        let own = |client: &&ClientInfo| Some(client.pid) == member.host_pid && !client.mover;
        if let Some(client) = clients.iter().find(own) {
            member.program.clone_from(&client.program);
        }
    }
}

data! { $
    /// A process of a group.
    pub struct Member as member_fields {
        /// As the daemon sees it; nothing for one in a pid namespace that the daemon cannot see.
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
        /// The cache whose pages its slot counts, empty if the name is not known; nothing where the
        /// slot counts the whole process.
        cache: Option<String>,
        /// By GPU.
        devices: Vec<MemberDevice>,
    }
}

data! { $
    /// A process of a group on one GPU.
    pub struct MemberDevice as member_device_fields {
        /// UUID of the GPU.
        device: Text<GpuUuid>,
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
        /// What a cache can give back at once, a part of `charged_bytes`.
        idle_bytes: u64,
        /// NVML's reading.
        physical_bytes: Option<u64>,
        /// `physical_bytes` less `charged_bytes`.
        drift_bytes: Option<i64>,
    }
}

impl From<&message::GroupDetails> for GroupDetails {
    fn from(details: &message::GroupDetails) -> Self {
        Self {
            group: Group::from(&details.info),
            processes: details.members.iter().map(Member::from).collect(),
        }
    }
}

impl From<&MemberInfo> for Member {
    fn from(member: &MemberInfo) -> Self {
        Self {
            pid: member.host_pid,
            own_pid: member.pid,
            slot: member.slot,
            program: member.program.clone(),
            started_unix_ms: member.started_unix_ms,
            alive: member.alive,
            cache: member.cache.clone(),
            devices: member.devices.iter().map(MemberDevice::from).collect(),
        }
    }
}

impl From<&message::MemberDevice> for MemberDevice {
    fn from(device: &message::MemberDevice) -> Self {
        Self {
            device: Text(device.device),
            charged_bytes: device.charged_bytes,
            credit_bytes: device.credit_bytes,
            context_bytes: device.context_bytes,
            shared_bytes: device.shared_bytes,
            folded_bytes: device.folded_bytes,
            idle_bytes: device.idle_bytes,
            physical_bytes: device.physical_bytes,
            drift_bytes: device.drift_bytes(),
        }
    }
}

/// A line of `group watch`: an account that has changed. Events are lines as in `events`.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// `account`.
    pub kind: &'static str,
    /// When it was seen.
    pub unix_ms: u64,
    /// The group.
    pub group: Text<GroupName>,
    /// As in the table of `group ls`: `ok`, `over`, `stuck` or `lying`.
    pub state: &'static str,
    /// On one GPU.
    #[serde(flatten)]
    pub account: GroupDevice,
}

impl Account {
    /// An account as it is now.
    #[must_use]
    pub fn new(
        group: GroupName,
        device: &message::GroupDevice,
        state: &'static str,
        unix_ms: u64,
    ) -> Self {
        Self { kind: "account", unix_ms, group: Text(group), state, account: device.into() }
    }
}

#[cfg(test)]
mod tests {
    use millpond_wire::ClientId;

    use super::*;

    #[test]
    fn a_process_of_a_group_is_called_as_the_client_that_it_is() {
        let member = |pid: Option<u32>, alive| MemberInfo {
            pid: 3,
            host_pid: pid,
            slot: 0,
            program: "python3".into(),
            started_unix_ms: None,
            alive,
            devices: Vec::new(),
            cache: None,
        };
        let client = ClientInfo {
            client: Some(ClientId::random()),
            pid: 7,
            user: 1,
            program: "worker.py".into(),
            since_unix_ms: 9,
            silent: false,
            leases: Vec::new(),
            mover: false,
        };
        let mut members = [
            member(Some(7), true),
            member(Some(8), true),
            member(None, true),
            member(Some(7), false),
        ];
        call_as_clients(&mut members, &[client]);
        let names = members.map(|member| member.program);
        assert_eq!(names, ["worker.py", "python3", "python3", "python3"]);
    }
}
