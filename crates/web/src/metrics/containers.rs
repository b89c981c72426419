//! GPU memory by pod and container.

use std::collections::BTreeMap;

use millpond_overview::Overview;

use super::cgroup::Place;
use super::sheet::Sheet;
use super::{MOST_VALUES, OTHERS, table};

pub fn add(sheet: &mut Sheet, overview: &Overview) {
    let mut places: BTreeMap<Place, BTreeMap<String, u64>> = BTreeMap::new();
    for member in overview.members.iter().flat_map(|group| &group.processes) {
        // Without a number that means something here there is nothing to look up.
        let place = member.pid.map(Place::of_process).unwrap_or_default();
        let devices = places.entry(place).or_default();
        for device in &member.devices {
            let bytes = devices.entry(device.device.to_string()).or_default();
            *bytes = bytes.saturating_add(device.charged_bytes);
        }
    }
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    for (number, (place, devices)) in places.into_iter().enumerate() {
        for (gpu, bytes) in devices {
            if number < MOST_VALUES {
                let labels = [gpu.as_str(), &place.pod_uid, &place.container_id];
                sheet.add(table::CONTAINER, &labels, bytes);
            } else {
                let sum = others.entry(gpu).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
    }
    for (gpu, bytes) in others {
        sheet.add(table::CONTAINER, &[&gpu, OTHERS, OTHERS], bytes);
    }
}
