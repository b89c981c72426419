//! Groups: those who share a limit.

use std::ffi::c_char;

use millpond::{GroupLimit, GroupSet};
use millpond_view as view;

use crate::border::{Answer, Out, Text, flag, required, reserved, waiting};
use crate::failure::Failure;
use crate::listings::group;
use crate::objects::PONDS;
use crate::pond::millpond_pond;
use crate::result::ResultNumber;
use crate::text::{json, millpond_text};
use crate::uuid::{fixed, millpond_uuid};
use crate::words::{LimitKindNumber, millpond_limit_kind};

/// What a group may hold.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_limit {
    /// How the limit is given; zero for none.
    pub kind: LimitKindNumber,
    /// For MILLPOND_LIMIT_PERMILLE: thousandths of the card.
    pub permille: u32,
    /// For MILLPOND_LIMIT_BYTES.
    pub bytes: u64,
}

impl millpond_limit {
    fn read(self) -> Answer<Option<GroupLimit>> {
        use millpond_limit_kind::*;
        let limit = match self.kind {
            kind if kind == MILLPOND_LIMIT_NONE as u32 => return Ok(None),
            kind if kind == MILLPOND_LIMIT_BYTES as u32 => GroupLimit::Bytes(self.bytes),
            kind if kind == MILLPOND_LIMIT_PERMILLE as u32 => GroupLimit::Permille(self.permille),
            kind if kind == MILLPOND_LIMIT_UNLIMITED as u32 => GroupLimit::Unlimited,
            other => return Err(Failure::invalid(format!("{other} is no millpond_limit_kind"))),
        };
        Ok(Some(limit))
    }
}

/// A change of a group. Begin with a struct of zeroes; what is not set stays as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_group_change {
    /// On this GPU; all zero for all of them.
    pub gpu: millpond_uuid,
    /// What it may hold.
    pub limit: millpond_limit,
    /// What others leave it, where `has_min` is 1.
    pub min_bytes: u64,
    /// 1 if `min_bytes` counts.
    pub has_min: u32,
    /// Its part where not everybody's limit fits; zero: stays as it is.
    pub weight: u32,
    /// User ids whose memory in the pond is charged to it, where `has_users` is 1.
    pub users: [u32; 64],
    /// How many of `users` count.
    pub user_count: u32,
    /// 1 if `users` counts.
    pub has_users: u32,
    /// 1: it may be a new one.
    pub create: u32,
    /// Whether a process that does not answer when pages are asked of it is ended: 1 yes, 2 no, zero: stays as it is.
    pub ends_silent: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 8],
}

/// A place in a group.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_group_seat {
    /// The group's name, also if nobody gave it one.
    pub name: [c_char; 128],
    /// Where its ledger and its limits are: what MILLPOND_LEDGER of the program must say.
    pub folder: [c_char; 4096],
    /// 1: it ends with its last process.
    pub anonymous: u32,
    /// Zero.
    pub reserved_flags: u32,
    /// For later versions; zero.
    pub reserved: [u64; 4],
}

/// Makes or changes a group. Only for the operator and the user who runs the pond.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_group_set(
    pond: *const millpond_pond,
    name: Text,
    change: Option<&millpond_group_change>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let change = required(change, "change")?;
        reserved(&change.reserved, "millpond_group_change")?;
        let users =
            usize::try_from(change.user_count).ok().and_then(|count| change.users.get(..count));
        let users = users.ok_or_else(|| Failure::invalid("a group has at most 64 users"))?;
        let set = GroupSet {
            device: change.gpu.gpu(),
            limit: change.limit.read()?,
            min_bytes: flag(change.has_min, "has_min")?.then_some(change.min_bytes),
            weight: (change.weight != 0).then_some(change.weight),
            users: flag(change.has_users, "has_users")?.then(|| users.to_vec()),
            create: flag(change.create, "create")?,
            ends_silent: match change.ends_silent {
                0 => None,
                1 => Some(true),
                2 => Some(false),
                other => {
                    return Err(Failure::invalid(format!("ends_silent is {other}, not 0, 1 or 2")));
                }
            },
            ..GroupSet::of(group(name.required("name")?)?)
        };
        pond.set_group(set)?;
        Ok(())
    })
}

/// Takes a place in a group for a program that this process is about to become or to start: in a group of its own
/// where `name` is NULL. The group of a name that nobody has is made if there is a limit for it. `limit` and `gpu`
/// may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_group_join(
    pond: *const millpond_pond,
    name: Text,
    limit: Option<&millpond_limit>,
    gpu: Option<&millpond_uuid>,
    seat: Out<'_, millpond_group_seat>,
) -> ResultNumber {
    waiting(|| {
        let out = required(seat, "seat")?;
        let pond = PONDS.get(pond)?;
        let name = name.optional("name")?.map(group).transpose()?;
        let limit = limit.map_or(Ok(None), |limit| limit.read())?;
        let gpu = gpu.and_then(|gpu| gpu.gpu());
        let seat = pond.join_group(name, limit, gpu)?;
        out.write(millpond_group_seat {
            name: fixed(&seat.name.to_string())?,
            folder: fixed(&seat.folder.to_string_lossy())?,
            anonymous: seat.anonymous.into(),
            reserved_flags: 0,
            reserved: [0; 4],
        });
        Ok(())
    })
}

/// Every group with what it holds on each GPU, as `millpond group ls --json` shows it. Free the text with
/// millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_group_list_json(
    pond: *const millpond_pond,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let groups = PONDS.get(pond)?.groups()?.iter().map(view::Group::from).collect();
        out.write(json(&view::Groups { groups })?);
        Ok(())
    })
}

/// Everything about one group, its processes as well, as `millpond group inspect --json` shows it. Free the text with
/// millpond_text_free().
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_group_inspect_json(
    pond: *const millpond_pond,
    name: Text,
    text: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    waiting(|| {
        let out = required(text, "text")?;
        let pond = PONDS.get(pond)?;
        let mut details = pond.group(group(name.required("name")?)?)?;
        view::call_as_clients(&mut details.members, &pond.clients()?);
        out.write(json(&view::GroupDetails::from(&details))?);
        Ok(())
    })
}

/// Removes a group that has no processes.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_group_remove(pond: *const millpond_pond, name: Text) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.remove_group(group(name.required("name")?)?)?))
}
