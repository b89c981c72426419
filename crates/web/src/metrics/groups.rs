//! Groups, and their elastic caches.

use std::collections::BTreeMap;

use millpond_overview::Overview;
use millpond_view::{Cache, GroupDevice};

use super::sheet::Sheet;
use super::{MOST_VALUES, OTHERS, table};

#[derive(Default)]
struct Used {
    limit: Option<u64>,
    sums: [u64; 5],
}

impl Used {
    fn add(&mut self, device: &GroupDevice, is_alone: bool) {
        // A limit of several groups together is nobody's limit.
        self.limit = if is_alone { device.effective_bytes } else { None };
        let of = [
            device.min_bytes,
            device.used_bytes,
            device.pond_bytes,
            device.context_bytes,
            device.folded_bytes,
        ];
        for (sum, bytes) in self.sums.iter_mut().zip(of) {
            *sum = sum.saturating_add(bytes);
        }
    }
}

pub fn add(sheet: &mut Sheet, overview: &Overview) {
    let mut devices: BTreeMap<(String, String), Used> = BTreeMap::new();
    let mut groups: BTreeMap<String, (u64, [bool; 3])> = BTreeMap::new();
    // A group without a name of its own lives as long as its program: its name is used once.
    let named = overview.groups.iter().filter(|group| !group.anonymous);
    let anonymous = overview.groups.iter().filter(|group| group.anonymous);
    let names: Vec<String> =
        named.clone().take(MOST_VALUES).map(|it| it.name.to_string()).collect();
    for group in named.chain(anonymous) {
        let name = called(&names, &group.name.to_string());
        for device in &group.devices {
            let used = devices.entry((name.clone(), device.device.to_string())).or_default();
            used.add(device, name != OTHERS);
        }
        let (processes, flaws) = groups.entry(name).or_default();
        *processes += u64::from(group.process_count);
        for (flaw, is_so) in flaws.iter_mut().zip([group.stuck, group.lying, group.broken]) {
            *flaw |= is_so;
        }
    }
    for ((group, gpu), used) in &devices {
        let labels = [group.as_str(), gpu.as_str()];
        sheet.add_some(table::GROUP_LIMIT, &labels, used.limit);
        let metrics = [
            table::GROUP_MIN,
            table::GROUP_USED,
            table::GROUP_POND,
            table::GROUP_CONTEXTS,
            table::GROUP_FOLDED,
        ];
        for (metric, bytes) in metrics.into_iter().zip(used.sums) {
            sheet.add(metric, &labels, bytes);
        }
    }
    for (group, (processes, flaws)) in &groups {
        sheet.add(table::GROUP_PROCESSES, &[group], *processes);
        for (flaw, is_so) in ["stuck", "lying", "broken"].into_iter().zip(flaws) {
            sheet.add(table::GROUP_FLAWS, &[group, flaw], *is_so);
        }
    }
    caches(sheet, &overview.caches, &names);
}

/// The value of the label for a group.
fn called(names: &[String], name: &str) -> String {
    if names.iter().any(|known| known == name) { name.to_owned() } else { OTHERS.to_owned() }
}

fn caches(sheet: &mut Sheet, caches: &[Cache], names: &[String]) {
    let mut sums: BTreeMap<(String, String), [u64; 7]> = BTreeMap::new();
    for cache in caches {
        let key = (called(names, &cache.group.to_string()), cache.device.to_string());
        let of = [
            1,
            cache.reserved_bytes,
            cache.committed_bytes,
            cache.idle_bytes,
            cache.min_bytes,
            cache.wanted_bytes,
            cache.asked_bytes,
        ];
        for (sum, bytes) in sums.entry(key).or_default().iter_mut().zip(of) {
            *sum = sum.saturating_add(bytes);
        }
    }
    let metrics = [
        table::CACHES,
        table::CACHE_RESERVED,
        table::CACHE_COMMITTED,
        table::CACHE_IDLE,
        table::CACHE_MIN,
        table::CACHE_WANTED,
        table::CACHE_ASKED,
    ];
    for ((group, gpu), values) in &sums {
        for (metric, value) in metrics.into_iter().zip(values) {
            sheet.add(metric, &[group, gpu], *value);
        }
    }
}
