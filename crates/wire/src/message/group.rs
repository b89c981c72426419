//! Groups and their limits: what is asked.

use millpond_schema::message as fb;

use super::RequestBody;
use super::read::{self, DecodeError, Read, uuid_to_id};
use crate::{GpuUuid, GroupName, Token, caps};

mod info;

pub use info::{GroupDetails, GroupDevice, GroupInfo, MemberDevice, MemberInfo, drift_bytes};
pub(super) use info::{
    read_details, read_groups, read_joined, write_details, write_groups, write_joined,
};

/// What all of a group may hold on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupLimit {
    Bytes(u64),
    /// So many thousandths of the card.
    Permille(u32),
    /// As much as there is.
    Unlimited,
}

/// A limit that travels as a number of bytes and is none.
const NO_LIMIT: u64 = u64::MAX;

const WHOLE: u32 = 1000;

fn write_limit(limit: Option<GroupLimit>) -> (Option<u64>, Option<u32>) {
    match limit {
        None => (None, None),
        Some(GroupLimit::Bytes(bytes)) => (Some(bytes), None),
        Some(GroupLimit::Unlimited) => (Some(NO_LIMIT), None),
        Some(GroupLimit::Permille(part)) => (None, Some(part)),
    }
}

fn read_limit(bytes: Option<u64>, part: Option<u32>) -> Read<Option<GroupLimit>> {
    match (bytes, part) {
        (None, None) => Ok(None),
        (Some(NO_LIMIT), None) => Ok(Some(GroupLimit::Unlimited)),
        (Some(bytes), None) => Ok(Some(GroupLimit::Bytes(bytes))),
        (None, Some(part)) if part <= WHOLE => Ok(Some(GroupLimit::Permille(part))),
        (_, Some(part)) => Err(DecodeError::BadValue { field: "part", value: part.into() }),
    }
}

pub(super) fn required_name(name: Option<&str>) -> Read<GroupName> {
    read_name(name)?.ok_or(DecodeError::Missing("name"))
}

fn read_name(name: Option<&str>) -> Read<Option<GroupName>> {
    let Some(name) = name else { return Ok(None) };
    // The cap comes before the copy.
    read::at_most("name", name.len(), caps::NAME_BYTES)?;
    Ok(Some(GroupName::new(name)?))
}

/// A group that is made or changed. What is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSet {
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
    /// Whether a process that does not answer when pages are asked of it is ended.
    pub ends_silent: Option<bool>,
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
            ends_silent: None,
        }
    }
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
        ends_silent: set.ends_silent,
    }
}

pub(super) fn read_set(set: fb::GroupSetRef<'_>) -> Read<GroupSet> {
    Ok(GroupSet {
        group: required_name(set.name()?)?,
        device: read::some_gpu("device", set.device()?)?,
        limit: read_limit(set.limit()?, set.part()?)?,
        min_bytes: set.min()?,
        weight: set.weight()?,
        users: read_users(set.users()?)?,
        create: set.create()?,
        ends_silent: set.ends_silent()?,
    })
}

fn read_users(users: Option<planus::Vector<'_, u32>>) -> Read<Option<Vec<u32>>> {
    let Some(users) = users else { return Ok(None) };
    read::at_most("users", users.len(), caps::USERS_PER_GROUP)?;
    Ok(Some(users.iter().collect()))
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
        device: read::some_gpu("device", join.device()?)?,
        limit: read_limit(join.limit()?, join.part()?)?,
    })
}

pub(super) fn write_inspect(group: &GroupName) -> fb::GroupInspect {
    fb::GroupInspect { name: Some(group.to_string()) }
}

pub(super) fn read_inspect(inspect: fb::GroupInspectRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::GroupInspect { group: required_name(inspect.name()?)? })
}

pub(super) fn write_remove(group: &GroupName) -> fb::GroupRemove {
    fb::GroupRemove { name: Some(group.to_string()) }
}

pub(super) fn read_remove(remove: fb::GroupRemoveRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::GroupRemove { group: required_name(remove.name()?)? })
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
            Some(GroupLimit::Permille(500)),
            Some(GroupLimit::Permille(WHOLE)),
            Some(GroupLimit::Unlimited),
        ] {
            let (bytes, part) = write_limit(limit);
            assert_eq!(read_limit(bytes, part).unwrap(), limit);
        }
        assert!(read_limit(Some(1), Some(1)).is_err());
        assert!(read_limit(None, Some(1001)).is_err());
    }
}
