//! Elastic caches: what they reserve, what they hold, and what moved between them.

use millpond_wire::message::CacheInfo;
use millpond_wire::{CacheId, GpuUuid, GroupName, TensorName};
use serde::Serialize;

use crate::{Text, visible};

/// `elastic ls`.
#[derive(Clone, Debug, Serialize)]
pub struct Caches {
    /// Every cache, or those of one group.
    pub caches: Vec<Cache>,
}

impl From<&[CacheInfo]> for Caches {
    fn from(caches: &[CacheInfo]) -> Self {
        Self { caches: caches.iter().map(Cache::from).collect() }
    }
}

data! { $
    /// An elastic cache; `elastic inspect` prints one.
    pub struct Cache as cache_fields {
        /// Identity.
        cache: Text<CacheId>,
        /// Name; caches of two processes may have the same.
        name: Text<TensorName>,
        /// The group that pays for its pages.
        group: Text<GroupName>,
        /// UUID of the GPU.
        device: Text<GpuUuid>,
        /// Process, as the daemon sees it; nothing for one outside the daemon's pid namespace.
        pid: Option<u32>,
        /// What the process runs.
        program: String,
        /// User id of the process.
        user: u32,
        /// Addresses that it has reserved, whether there are pages behind them or not.
        reserved_bytes: u64,
        /// What its pages take: `committed_bytes` and `idle_bytes`.
        held_bytes: u64,
        /// Pages in use.
        committed_bytes: u64,
        /// Pages that it can give back at once.
        idle_bytes: u64,
        /// Size of a page.
        granule_bytes: u64,
        /// Equal parts of its addresses.
        segments: u32,
        /// What other caches leave it.
        min_bytes: u64,
        /// Its share of what is above every cache's `min_bytes`.
        weight: u32,
        /// What a commit waits for; 0 if none waits.
        wanted_bytes: u64,
        /// What it was asked to give back and has not given yet.
        asked_bytes: u64,
        /// What it has given to others since it was opened.
        given_bytes: u64,
        /// What others have given to it since then.
        got_bytes: u64,
    }
}

impl From<&CacheInfo> for Cache {
    fn from(info: &CacheInfo) -> Self {
        Self {
            cache: Text(info.cache),
            name: Text(info.name.clone()),
            group: Text(info.group.clone()),
            device: Text(info.device),
            pid: visible(info.pid),
            program: info.program.clone(),
            user: info.user,
            reserved_bytes: info.reserved_bytes,
            held_bytes: info.held_bytes,
            committed_bytes: info.held_bytes.saturating_sub(info.idle_bytes),
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_committed_or_idle() {
        let info = CacheInfo {
            cache: CacheId::random(),
            name: "llama-7b/kv".parse().unwrap(),
            group: "serving".parse().unwrap(),
            device: GpuUuid([7; 16]),
            pid: 7,
            program: "engine".into(),
            user: 1000,
            reserved_bytes: 64,
            held_bytes: 5,
            idle_bytes: 2,
            granule_bytes: 1,
            segments: 4,
            min_bytes: 3,
            weight: 2,
            wanted_bytes: 0,
            asked_bytes: 0,
            given_bytes: 0,
            got_bytes: 0,
        };
        let cache = Cache::from(&info);
        assert_eq!((cache.held_bytes, cache.committed_bytes, cache.idle_bytes), (5, 3, 2));
        let torn = CacheInfo { idle_bytes: 6, ..info };
        assert_eq!(Cache::from(&torn).committed_bytes, 0, "two readings of a running process");
    }
}
