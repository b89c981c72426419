//! What is known about groups and their processes.

use millpond_schema::message as fb;

use super::super::ReplyBody;
use super::super::list::{Entries, list};
use super::super::read::{self, Read};
use super::{read_users, required_name};
use crate::{GpuUuid, GroupName, caps};

/// A group on one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDevice {
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
    pub processes: u32,
}

fn write_device(device: &GroupDevice) -> fb::GroupDevice {
    fb::GroupDevice {
        device: Some(device.device.0.to_vec()),
        limit: device.limit_bytes,
        effective: device.effective_bytes,
        min: device.min_bytes,
        weight: device.weight,
        process_bytes: device.process_bytes,
        pond_bytes: device.pond_bytes,
        context_bytes: device.context_bytes,
        folded_bytes: device.folded_bytes,
        shared_bytes: device.shared_bytes,
        processes: device.processes,
    }
}

fn read_device(device: fb::GroupDeviceRef<'_>) -> Read<GroupDevice> {
    Ok(GroupDevice {
        device: read::gpu("device", device.device()?)?,
        limit_bytes: device.limit()?,
        effective_bytes: device.effective()?,
        min_bytes: device.min()?,
        weight: device.weight()?,
        process_bytes: device.process_bytes()?,
        pond_bytes: device.pond_bytes()?,
        context_bytes: device.context_bytes()?,
        folded_bytes: device.folded_bytes()?,
        shared_bytes: device.shared_bytes()?,
        processes: device.processes()?,
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    pub name: GroupName,
    /// Where its ledger and its limits are.
    pub folder: String,
    /// It ends with its last process.
    pub anonymous: bool,
    /// Who may run programs in it, beside the operator and its users.
    pub owner: Option<u32>,
    /// Whose memory in the pond is charged to it.
    pub users: Vec<u32>,
    pub processes: u32,
    /// Members hold more than they say.
    pub lying: bool,
    /// Somebody keeps its lock for longer than anybody needs it.
    pub stuck: bool,
    /// Its files are not what they should be.
    pub broken: bool,
    pub devices: Vec<GroupDevice>,
    /// A process that does not answer when pages are asked of it is ended.
    pub ends_silent: bool,
}

fn write_info(info: &GroupInfo) -> fb::GroupInfo {
    fb::GroupInfo {
        name: Some(info.name.to_string()),
        folder: Some(info.folder.clone()),
        anonymous: info.anonymous,
        // Zero is root; absence travels as the overflow user, who can never be a client.
        owner: info.owner.unwrap_or(u32::MAX),
        users: Some(info.users.clone()),
        processes: info.processes,
        lying: info.lying,
        stuck: info.stuck,
        broken: info.broken,
        devices: Some(info.devices.iter().map(write_device).collect()),
        ends_silent: info.ends_silent,
    }
}

fn read_info(info: fb::GroupInfoRef<'_>, entries: &Entries) -> Read<GroupInfo> {
    Ok(GroupInfo {
        name: required_name(info.name()?)?,
        folder: read::text_up_to("folder", info.folder()?, caps::PATH_BYTES)?,
        anonymous: info.anonymous()?,
        owner: Some(info.owner()?).filter(|owner| *owner != u32::MAX),
        users: read_users(info.users()?)?.unwrap_or_default(),
        processes: info.processes()?,
        lying: info.lying()?,
        stuck: info.stuck()?,
        broken: info.broken()?,
        devices: list("devices", info.devices()?, entries, read_device)?,
        ends_silent: info.ends_silent()?,
    })
}

/// A process on one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberDevice {
    pub device: GpuUuid,
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
    /// What a cache can give back at once, a part of the charged bytes.
    pub idle_bytes: u64,
}

impl MemberDevice {
    /// What the card says that it has more than it is charged with and shares; less than it is charged
    /// with, if it is negative.
    #[must_use]
    pub fn drift_bytes(&self) -> Option<i64> {
        Some(drift_bytes(self.physical_bytes?, self.charged_bytes, self.shared_bytes))
    }
}

/// How far the card's reading of a process is from what can be. Of what others pay for, the card
/// shows at this process what it has made itself, and not what it has imported.
#[must_use]
pub fn drift_bytes(physical: u64, charged: u64, shared: u64) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    if physical < charged {
        return -signed(charged - physical);
    }
    signed(physical.saturating_sub(charged.saturating_add(shared)))
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
    pub program: String,
    pub started_unix_ms: Option<u64>,
    /// Whether it lives; one that does not is about to be forgotten.
    pub alive: bool,
    pub devices: Vec<MemberDevice>,
    /// The cache whose pages the slot counts, where it does not count the whole process; empty if
    /// nobody has told its name.
    pub cache: Option<String>,
}

impl MemberInfo {
    /// A program's name as it can be printed, from the bytes of a slot: the member wrote them.
    #[must_use]
    pub fn program_of(slot: &[u8]) -> String {
        let name = slot.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(name)
            .chars()
            .filter(|c| crate::characters::flaw(*c).is_none())
            .collect()
    }
}

fn write_member(member: &MemberInfo) -> fb::MemberInfo {
    let device = |device: &MemberDevice| fb::MemberDevice {
        device: Some(device.device.0.to_vec()),
        charged_bytes: device.charged_bytes,
        credit_bytes: device.credit_bytes,
        context_bytes: device.context_bytes,
        shared_bytes: device.shared_bytes,
        folded_bytes: device.folded_bytes,
        physical_bytes: device.physical_bytes,
        idle_bytes: device.idle_bytes,
    };
    fb::MemberInfo {
        slot: member.slot,
        pid: member.pid,
        host_pid: member.host_pid,
        program: Some(member.program.clone()),
        started_unix_ms: member.started_unix_ms,
        alive: member.alive,
        devices: Some(member.devices.iter().map(device).collect()),
        cache: member.cache.clone(),
    }
}

fn read_member_device(device: fb::MemberDeviceRef<'_>) -> Read<MemberDevice> {
    Ok(MemberDevice {
        device: read::gpu("device", device.device()?)?,
        charged_bytes: device.charged_bytes()?,
        credit_bytes: device.credit_bytes()?,
        context_bytes: device.context_bytes()?,
        shared_bytes: device.shared_bytes()?,
        folded_bytes: device.folded_bytes()?,
        physical_bytes: device.physical_bytes()?,
        idle_bytes: device.idle_bytes()?,
    })
}

fn read_member(member: fb::MemberInfoRef<'_>, entries: &Entries) -> Read<MemberInfo> {
    Ok(MemberInfo {
        slot: member.slot()?,
        pid: member.pid()?,
        host_pid: member.host_pid()?,
        program: read::text_up_to("program", member.program()?, caps::PROGRAM_BYTES)?,
        started_unix_ms: member.started_unix_ms()?,
        alive: member.alive()?,
        devices: list("devices", member.devices()?, entries, read_member_device)?,
        cache: member
            .cache()?
            .map(|name| read::text_up_to("cache", Some(name), caps::NAME_BYTES))
            .transpose()?,
    })
}

/// Everything about one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    pub info: GroupInfo,
    pub members: Vec<MemberInfo>,
}

pub(in super::super) fn write_details(details: &GroupDetails) -> fb::GroupDetails {
    fb::GroupDetails {
        info: Some(Box::new(write_info(&details.info))),
        members: Some(details.members.iter().map(write_member).collect()),
    }
}

pub(in super::super) fn read_details(
    details: fb::GroupDetailsRef<'_>,
    entries: &Entries,
) -> Read<GroupDetails> {
    let read = |member| read_member(member, entries);
    Ok(GroupDetails {
        info: read_info(read::required("info", details.info()?)?, entries)?,
        members: list("members", details.members()?, entries, read)?,
    })
}

pub(in super::super) fn write_groups(groups: &[GroupInfo]) -> fb::Groups {
    fb::Groups { groups: Some(groups.iter().map(write_info).collect()) }
}

pub(in super::super) fn read_groups(
    groups: fb::GroupsRef<'_>,
    entries: &Entries,
) -> Read<ReplyBody> {
    let read = |it| read_info(it, entries);
    Ok(ReplyBody::Groups(list("groups", groups.groups()?, entries, read)?))
}

pub(in super::super) fn write_joined(
    name: &GroupName,
    folder: &str,
    anonymous: bool,
) -> fb::GroupJoined {
    fb::GroupJoined { name: Some(name.to_string()), folder: Some(folder.to_owned()), anonymous }
}

pub(in super::super) fn read_joined(joined: fb::GroupJoinedRef<'_>) -> Read<ReplyBody> {
    Ok(ReplyBody::GroupJoined {
        name: required_name(joined.name()?)?,
        folder: read::text_up_to("folder", joined.folder()?, caps::PATH_BYTES)?,
        anonymous: joined.anonymous()?,
    })
}
