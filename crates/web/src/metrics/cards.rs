//! GPUs: their memory by holder, and what they say about themselves.

use std::collections::BTreeMap;

use millpond_overview::{Card, SegmentKind};
use millpond_view::Status;

use super::sheet::Sheet;
use super::table;

/// Who holds memory of a card, in the words of the label.
const HOLDERS: [&str; 5] = ["pond", "hosts", "movers", "groups", "others"];

/// The holder of a segment; nobody has what is free.
const fn holder(kind: SegmentKind) -> Option<&'static str> {
    match kind {
        SegmentKind::HostContext => Some("hosts"),
        SegmentKind::MoverContext => Some("movers"),
        SegmentKind::Group
        | SegmentKind::Cache
        | SegmentKind::CacheIdle
        | SegmentKind::Contexts => Some("groups"),
        SegmentKind::Other => Some("others"),
        SegmentKind::Free => None,
        _ => Some("pond"),
    }
}

pub fn add(sheet: &mut Sheet, card: &Card) {
    let gpu = [card.device.as_str()];
    sheet.add(table::GPU, &[&card.device, &card.index.to_string(), &card.name], true);
    sheet.add(table::GPU_TOTAL, &gpu, card.total_bytes);
    sheet.add_some(table::GPU_USED, &gpu, card.used_bytes);
    sheet.add(table::GPU_FREE, &gpu, card.free_bytes);
    sheet.add(table::GPU_CAPACITY, &gpu, card.capacity_bytes);
    let mut held: BTreeMap<&str, u64> = HOLDERS.map(|holder| (holder, 0)).into();
    let mut pond: BTreeMap<&str, u64> = SegmentKind::ALL
        .into_iter()
        .filter(|kind| kind.is_pond())
        .map(|kind| (kind.word(), 0))
        .collect();
    for segment in &card.segments {
        if let Some(holder) = holder(segment.kind) {
            *held.entry(holder).or_default() += segment.bytes;
        }
        if let Some(bytes) = pond.get_mut(segment.kind.word()) {
            *bytes += segment.bytes;
        }
    }
    for (holder, bytes) in held {
        sheet.add(table::GPU_HOLDERS, &[&card.device, holder], bytes);
    }
    for (kind, bytes) in pond {
        sheet.add(table::POND_MEMORY, &[&card.device, kind], bytes);
    }
    sheet.add_some(table::DRIFT, &gpu, card.drift_bytes);
    sheet.add(table::EXCESS, &gpu, card.excess_bytes);
    let readings = card.readings.unwrap_or_default();
    sheet.add_some(table::UTILISATION, &gpu, readings.utilisation_ratio);
    sheet.add_some(table::MEMORY_UTILISATION, &gpu, readings.memory_utilisation_ratio);
    sheet.add_some(table::TEMPERATURE, &gpu, readings.temperature_celsius);
    sheet.add_some(table::POWER, &gpu, readings.power_watts);
    sheet.add_some(table::POWER_LIMIT, &gpu, readings.power_limit_watts);
    sheet.add_some(table::FAN, &gpu, readings.fan_ratio);
}

/// What the status says of each GPU, and the pond's processes there.
pub fn add_helpers(sheet: &mut Sheet, status: &Status) {
    for device in &status.devices {
        let uuid = device.device.to_string();
        let gpu = [uuid.as_str()];
        sheet.add(table::GPU_SLABS, &gpu, device.slab_bytes);
        sheet.add(table::GPU_TENSORS, &gpu, device.tensor_bytes);
        sheet.add(table::GPU_RECYCLED, &gpu, device.recycled_bytes);
        sheet.add(table::SLABS, &gpu, device.slabs);
        sheet.add(table::TENSORS, &gpu, device.tensors);
        let movers = || status.movers.iter().filter(|mover| mover.device == device.device);
        let moves: u64 = movers().map(|mover| u64::from(mover.moves)).sum();
        sheet.add(table::MOVERS, &gpu, movers().count());
        sheet.add(table::MOVES, &gpu, moves);
        let hosts = status.hosts.iter().filter(|host| host.device == device.device);
        sheet.add(table::HOSTS, &gpu, hosts.count());
    }
}
