//! Elastic caches: who has which, who waits for pages, and who is asked for some.

use millpond_schema::message as fb;

use super::list::{Entries, list};
use super::read::{self, Read, uuid_to_id};
use super::{ReplyBody, RequestBody, small_enum};
use crate::{CacheId, GpuUuid, GroupName, TensorName, caps};

/// A cache's slot in the ledger of its group, and which owner of the slot is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSlot {
    pub index: u32,
    pub serial: u32,
}

/// A process has reserved addresses for a cache. It says so again after each new connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOpen {
    pub cache: CacheId,
    pub group: GroupName,
    pub name: TensorName,
    pub device: GpuUuid,
    /// `None` in a program that is limited itself: its own slot pays.
    pub slot: Option<CacheSlot>,
    pub reserved_bytes: u64,
    pub granule_bytes: u64,
    pub segments: u32,
    /// What others leave it.
    pub min_bytes: u64,
    /// Its part of what is above everybody's `min`.
    pub weight: u32,
}

small_enum! {
    /// What became of a [`Pressure`].
    Gave {
        /// All that was asked for.
        1 Applied "applied",
        /// The device still works on some of it: the rest follows without another request.
        2 Deferred "deferred",
        /// There is no more to give.
        3 Refused "refused",
    }
}

/// The answer to a [`Pressure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheGave {
    pub cache: CacheId,
    pub ask: u64,
    /// What was given since the last answer to the same request.
    pub bytes: u64,
    pub outcome: Gave,
}

/// A request to give pages back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pressure {
    pub cache: CacheId,
    /// Its number; a second one with the same number is the same request.
    pub ask: u64,
    pub bytes: u64,
    /// The part of those bytes that idle pages cannot give: the owner of the cache is asked.
    pub beyond_idle_bytes: u64,
    /// How long the waiter waits.
    pub wait_ms: u64,
    /// Of the group's limits.
    pub revision: u64,
    pub reason: String,
}

/// A cache, as its group's ledger shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheInfo {
    pub cache: CacheId,
    pub name: TensorName,
    pub group: GroupName,
    pub device: GpuUuid,
    pub pid: u32,
    pub program: String,
    pub user: u32,
    pub reserved_bytes: u64,
    /// What its pages take, the idle ones included.
    pub held_bytes: u64,
    /// What it can give back at once.
    pub idle_bytes: u64,
    pub granule_bytes: u64,
    pub segments: u32,
    pub min_bytes: u64,
    pub weight: u32,
    pub wanted_bytes: u64,
    /// What it was asked to give and has not.
    pub asked_bytes: u64,
    /// What it has given to others since it was opened.
    pub given_bytes: u64,
    /// What others have given to it since then.
    pub got_bytes: u64,
}

pub(super) fn write_open(open: &CacheOpen) -> fb::CacheOpen {
    fb::CacheOpen {
        cache: Some(uuid_to_id(open.cache.0)),
        group: Some(open.group.to_string()),
        name: read::write_name(Some(&open.name)),
        device: Some(open.device.0.to_vec()),
        slot: open.slot.map(|slot| slot.index),
        serial: open.slot.map_or(0, |slot| slot.serial),
        reserved_bytes: open.reserved_bytes,
        granule_bytes: open.granule_bytes,
        segments: open.segments,
        min_bytes: open.min_bytes,
        weight: open.weight,
    }
}

pub(super) fn read_open(open: fb::CacheOpenRef<'_>) -> Read<CacheOpen> {
    let serial = open.serial()?;
    Ok(CacheOpen {
        cache: read_id(open.cache()?)?,
        group: group_name(open.group()?)?,
        name: read::required("name", read::new_name(open.name()?)?)?,
        device: read::gpu("device", open.device()?)?,
        slot: open.slot()?.map(|index| CacheSlot { index, serial }),
        reserved_bytes: open.reserved_bytes()?,
        granule_bytes: open.granule_bytes()?,
        segments: open.segments()?,
        min_bytes: open.min_bytes()?,
        weight: open.weight()?,
    })
}

pub(super) fn write_close(cache: CacheId) -> fb::CacheClose {
    fb::CacheClose { cache: Some(uuid_to_id(cache.0)) }
}

pub(super) fn read_close(close: fb::CacheCloseRef<'_>) -> Read<RequestBody> {
    Ok(RequestBody::CacheClose { cache: read_id(close.cache()?)? })
}

pub(super) fn write_list(group: Option<&GroupName>) -> fb::CacheList {
    fb::CacheList { group: group.map(ToString::to_string) }
}

pub(super) fn read_list(asked: fb::CacheListRef<'_>) -> Read<RequestBody> {
    let group = asked.group()?.map(|name| group_name(Some(name))).transpose()?;
    Ok(RequestBody::CacheList { group })
}

pub(super) fn write_want(cache: CacheId, bytes: u64, wait_ms: u64) -> fb::CacheWant {
    fb::CacheWant { cache: Some(uuid_to_id(cache.0)), bytes, wait_ms }
}

pub(super) fn read_want(want: fb::CacheWantRef<'_>) -> Read<RequestBody> {
    let (bytes, wait_ms) = (want.bytes()?, want.wait_ms()?);
    Ok(RequestBody::CacheWant { cache: read_id(want.cache()?)?, bytes, wait_ms })
}

pub(super) fn write_gave(gave: &CacheGave) -> fb::CacheGave {
    let CacheGave { cache, ask, bytes, outcome } = *gave;
    fb::CacheGave { cache: Some(uuid_to_id(cache.0)), ask, bytes, outcome: outcome.code() }
}

pub(super) fn read_gave(gave: fb::CacheGaveRef<'_>) -> Read<CacheGave> {
    Ok(CacheGave {
        cache: read_id(gave.cache()?)?,
        ask: gave.ask()?,
        bytes: gave.bytes()?,
        outcome: read::code("outcome", gave.outcome()?, Gave::from_code)?,
    })
}

pub(super) fn write_pressure(pressure: &Pressure) -> fb::Pressure {
    fb::Pressure {
        cache: Some(uuid_to_id(pressure.cache.0)),
        ask: pressure.ask,
        bytes: pressure.bytes,
        beyond_idle_bytes: pressure.beyond_idle_bytes,
        wait_ms: pressure.wait_ms,
        revision: pressure.revision,
        reason: Some(pressure.reason.clone()),
    }
}

pub(super) fn read_pressure(pressure: fb::PressureRef<'_>) -> Read<Pressure> {
    Ok(Pressure {
        cache: read_id(pressure.cache()?)?,
        ask: pressure.ask()?,
        bytes: pressure.bytes()?,
        beyond_idle_bytes: pressure.beyond_idle_bytes()?,
        wait_ms: pressure.wait_ms()?,
        revision: pressure.revision()?,
        reason: read::text("reason", pressure.reason()?)?,
    })
}

pub(super) fn write_caches(caches: &[CacheInfo]) -> fb::Caches {
    fb::Caches { caches: Some(caches.iter().map(write_info).collect()) }
}

pub(super) fn read_caches(caches: fb::CachesRef<'_>, entries: &Entries) -> Read<ReplyBody> {
    Ok(ReplyBody::Caches(list("caches", caches.caches()?, entries, read_info)?))
}

fn write_info(info: &CacheInfo) -> fb::CacheInfo {
    fb::CacheInfo {
        cache: Some(uuid_to_id(info.cache.0)),
        name: read::write_name(Some(&info.name)),
        group: Some(info.group.to_string()),
        device: Some(info.device.0.to_vec()),
        pid: info.pid,
        program: Some(info.program.clone()),
        user: info.user,
        reserved_bytes: info.reserved_bytes,
        held_bytes: info.held_bytes,
        idle_bytes: info.idle_bytes,
        granule_bytes: info.granule_bytes,
        segments: info.segments,
        min_bytes: info.min_bytes,
        weight: info.weight,
        wanted_bytes: info.wanted_bytes,
        asked_bytes: info.asked_bytes,
        given_bytes: info.given_bytes,
        got_bytes: info.got_bytes,
    }
}

fn read_info(info: fb::CacheInfoRef<'_>) -> Read<CacheInfo> {
    Ok(CacheInfo {
        cache: read_id(info.cache()?)?,
        name: read::required("name", read::name(info.name()?)?)?,
        group: group_name(info.group()?)?,
        device: read::gpu("device", info.device()?)?,
        pid: info.pid()?,
        program: read::text_up_to("program", info.program()?, caps::PROGRAM_BYTES)?,
        user: info.user()?,
        reserved_bytes: info.reserved_bytes()?,
        held_bytes: info.held_bytes()?,
        idle_bytes: info.idle_bytes()?,
        granule_bytes: info.granule_bytes()?,
        segments: info.segments()?,
        min_bytes: info.min_bytes()?,
        weight: info.weight()?,
        wanted_bytes: info.wanted_bytes()?,
        asked_bytes: info.asked_bytes()?,
        given_bytes: info.given_bytes()?,
        got_bytes: info.got_bytes()?,
    })
}

fn read_id(id: Option<fb::IdRef<'_>>) -> Read<CacheId> {
    read::uuid("cache", id).map(CacheId)
}

fn group_name(name: Option<&str>) -> Read<GroupName> {
    super::group::required_name(name)
}
