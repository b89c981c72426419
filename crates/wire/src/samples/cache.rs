//! Elastic caches.

use super::{GPU, Sample, id};
use crate::message::{
    CacheGave, CacheInfo, CacheOpen, CacheSlot, Gave, Pressure, ReplyBody, RequestBody,
};
use crate::{CacheId, GroupName, TensorName};

fn group() -> GroupName {
    GroupName::new("serving").unwrap()
}

fn name() -> TensorName {
    TensorName::new("llama-7b/kv").unwrap()
}

pub(super) fn requests() -> Vec<Sample<RequestBody>> {
    let cache = CacheId(id(14));
    let open = CacheOpen {
        cache,
        group: group(),
        name: name(),
        device: GPU,
        slot: Some(CacheSlot { index: 3, serial: 7 }),
        reserved_bytes: 64 << 30,
        granule_bytes: 2 << 20,
        segments: 64,
        min_bytes: 4 << 30,
        weight: 2,
    };
    let limited = CacheOpen { slot: None, ..open.clone() };
    let gave = CacheGave { cache, ask: 5, bytes: 64 << 20, outcome: Gave::Deferred };
    vec![
        ("cache-open", RequestBody::CacheOpen(Box::new(open))),
        ("cache-open-limited", RequestBody::CacheOpen(Box::new(limited))),
        ("cache-close", RequestBody::CacheClose { cache }),
        ("cache-list", RequestBody::CacheList { group: None }),
        ("cache-list-group", RequestBody::CacheList { group: Some(group()) }),
        ("cache-want", RequestBody::CacheWant { cache, bytes: 1 << 30, wait_ms: 500 }),
        ("cache-gave", RequestBody::CacheGave(gave)),
    ]
}

pub(super) fn replies() -> Vec<Sample<ReplyBody>> {
    let info = CacheInfo {
        cache: CacheId(id(14)),
        name: name(),
        group: group(),
        device: GPU,
        pid: 4711,
        program: "engine".into(),
        user: 1000,
        reserved_bytes: 64 << 30,
        held_bytes: 5 << 30,
        idle_bytes: 1 << 30,
        granule_bytes: 2 << 20,
        segments: 64,
        min_bytes: 4 << 30,
        weight: 2,
        wanted_bytes: 1,
        asked_bytes: 2,
        given_bytes: 3,
        got_bytes: 4,
    };
    let pressure = Pressure {
        cache: CacheId(id(14)),
        ask: 5,
        bytes: 128 << 20,
        beyond_idle_bytes: 64 << 20,
        wait_ms: 500,
        revision: 9,
        reason: "a commit of 'gpt2/kv' falls short".into(),
    };
    vec![
        ("caches", ReplyBody::Caches(vec![info])),
        ("caches-none", ReplyBody::Caches(Vec::new())),
        ("pressure", ReplyBody::Pressure(Box::new(pressure))),
    ]
}
