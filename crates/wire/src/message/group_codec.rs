//! Groups to bytes and back.

use super::group::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, MemberDevice, MemberInfo,
};
use super::read::{self, DecodeError, Read};
use super::reply_read::{self, Entries};
use super::uuid_to_id;
use crate::{GroupName, Token, limits};
use millpond_schema::message as fb;

/// A limit that travels as a number of bytes and is none.
const NO_LIMIT: u64 = u64::MAX;
const WHOLE: u32 = 1000;

pub(super) fn required_name(name: Option<&str>) -> Read<GroupName> {
    read_name(name)?.ok_or(DecodeError::Missing("name"))
}

fn read_name(name: Option<&str>) -> Read<Option<GroupName>> {
    let Some(name) = name else { return Ok(None) };
    // The cap comes before the copy.
    read::at_most("name", name.len(), limits::NAME_BYTES)?;
    Ok(Some(GroupName::new(name)?))
}

fn write_limit(limit: Option<GroupLimit>) -> (Option<u64>, Option<u32>) {
    match limit {
        None => (None, None),
        Some(GroupLimit::Bytes(bytes)) => (Some(bytes), None),
        Some(GroupLimit::Unlimited) => (Some(NO_LIMIT), None),
        Some(GroupLimit::Part(part)) => (None, Some(part)),
    }
}

fn read_limit(bytes: Option<u64>, part: Option<u32>) -> Read<Option<GroupLimit>> {
    match (bytes, part) {
        (None, None) => Ok(None),
        (Some(NO_LIMIT), None) => Ok(Some(GroupLimit::Unlimited)),
        (Some(bytes), None) => Ok(Some(GroupLimit::Bytes(bytes))),
        (None, Some(part)) if part <= WHOLE => Ok(Some(GroupLimit::Part(part))),
        (_, Some(part)) => Err(DecodeError::BadValue { field: "part", value: part.into() }),
    }
}

fn read_users(users: Option<planus::Vector<'_, u32>>) -> Read<Option<Vec<u32>>> {
    let Some(users) = users else { return Ok(None) };
    read::at_most("users", users.len(), limits::USERS_PER_GROUP)?;
    Ok(Some(users.iter().collect()))
}

pub(super) fn write_set(set: &GroupSet) -> fb::GroupSet {
    let (limit, part) = write_limit(set.limit);
    fb::GroupSet {
        name: Some(set.group.to_string()),
        device: set.device.map(|device| device.0.to_vec()),
        limit,
        part,
        min: set.min_bytes,
        weight: set.weight,
        users: set.users.clone(),
        create: set.create,
    }
}

pub(super) fn read_set(set: fb::GroupSetRef<'_>) -> Read<GroupSet> {
    Ok(GroupSet {
        group: required_name(set.name()?)?,
        device: set.device()?.map(|device| read::gpu("device", Some(device))).transpose()?,
        limit: read_limit(set.limit()?, set.part()?)?,
        min_bytes: set.min()?,
        weight: set.weight()?,
        users: read_users(set.users()?)?,
        create: set.create()?,
    })
}

pub(super) fn write_join(join: &GroupJoin) -> fb::GroupJoin {
    let (limit, part) = write_limit(join.limit);
    fb::GroupJoin {
        token: Some(uuid_to_id(join.token.0)),
        name: join.group.as_ref().map(ToString::to_string),
        device: join.device.map(|device| device.0.to_vec()),
        limit,
        part,
    }
}

pub(super) fn read_join(join: fb::GroupJoinRef<'_>) -> Read<GroupJoin> {
    Ok(GroupJoin {
        token: Token(read::uuid("token", join.token()?)?),
        group: read_name(join.name()?)?,
        device: join.device()?.map(|device| read::gpu("device", Some(device))).transpose()?,
        limit: read_limit(join.limit()?, join.part()?)?,
    })
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

pub(super) fn write_info(info: &GroupInfo) -> fb::GroupInfo {
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
    }
}

pub(super) fn read_info(info: fb::GroupInfoRef<'_>, entries: &Entries) -> Read<GroupInfo> {
    Ok(GroupInfo {
        name: required_name(info.name()?)?,
        folder: read::text("folder", info.folder()?, limits::PATH_BYTES)?,
        anonymous: info.anonymous()?,
        owner: Some(info.owner()?).filter(|owner| *owner != u32::MAX),
        users: read_users(info.users()?)?.unwrap_or_default(),
        processes: info.processes()?,
        lying: info.lying()?,
        stuck: info.stuck()?,
        broken: info.broken()?,
        devices: reply_read::list("devices", info.devices()?, entries, read_device)?,
    })
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
    };
    fb::MemberInfo {
        slot: member.slot,
        pid: member.pid,
        host_pid: member.host_pid,
        program: Some(member.program.clone()),
        started_unix_ms: member.started_unix_ms,
        alive: member.alive,
        devices: Some(member.devices.iter().map(device).collect()),
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
    })
}

fn read_member(member: fb::MemberInfoRef<'_>, entries: &Entries) -> Read<MemberInfo> {
    Ok(MemberInfo {
        slot: member.slot()?,
        pid: member.pid()?,
        host_pid: member.host_pid()?,
        program: read::text("program", member.program()?, limits::PROGRAM_BYTES)?,
        started_unix_ms: member.started_unix_ms()?,
        alive: member.alive()?,
        devices: reply_read::list("devices", member.devices()?, entries, read_member_device)?,
    })
}

pub(super) fn write_details(details: &GroupDetails) -> fb::GroupDetails {
    fb::GroupDetails {
        info: Some(Box::new(write_info(&details.info))),
        members: Some(details.members.iter().map(write_member).collect()),
    }
}

pub(super) fn read_details(
    details: fb::GroupDetailsRef<'_>,
    entries: &Entries,
) -> Read<GroupDetails> {
    let read = |member| read_member(member, entries);
    Ok(GroupDetails {
        info: read_info(read::required("info", details.info()?)?, entries)?,
        members: reply_read::list("members", details.members()?, entries, read)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_one_thing_or_the_other() {
        for limit in [
            None,
            Some(GroupLimit::Bytes(0)),
            Some(GroupLimit::Bytes(5 << 30)),
            Some(GroupLimit::Part(500)),
            Some(GroupLimit::Part(WHOLE)),
            Some(GroupLimit::Unlimited),
        ] {
            let (bytes, part) = write_limit(limit);
            assert_eq!(read_limit(bytes, part).unwrap(), limit);
        }
        assert!(read_limit(Some(1), Some(1)).is_err());
        assert!(read_limit(None, Some(1001)).is_err());
    }
}
