//! A part of a history, as it is sent and drawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::holder::Slot;
use super::{CardSample, History, Holder, Sample};

/// Memory of one card over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// UUID of the GPU.
    pub device: String,
    /// Its place in the pond's list.
    pub index: u32,
    /// What the driver calls it.
    pub name: String,
    /// Bytes on the card.
    pub total_bytes: u64,
    /// Bytes that the pond may take.
    pub capacity_bytes: u64,
    /// Who holds memory in it, the largest first.
    pub holders: Vec<SeriesHolder>,
    /// In the order of time.
    pub points: Vec<Point>,
}

/// A holder with its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesHolder {
    /// Who.
    #[serde(flatten)]
    pub holder: Holder,
    /// Its limit in the last sample that has one.
    pub limit_bytes: Option<u64>,
}

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// By a clock that never goes back: order and distance are its.
    pub monotonic_ms: u64,
    /// By the wall clock at that moment, which may have jumped since.
    pub at_unix_ms: u64,
    /// What the card said was in use; nothing if it did not say.
    pub used_bytes: Option<u64>,
    /// What each of `holders` had, in their order.
    pub bytes: Vec<u64>,
}

pub(super) fn series(history: &History, device: u16, since_ms: u64, most: usize) -> Series {
    let last = history.fine.back().map_or(0, |sample| sample.monotonic_ms);
    let from = last.saturating_sub(since_ms);
    let all: Vec<(&Sample, &CardSample)> = history
        .in_order()
        .filter(|sample| sample.monotonic_ms >= from)
        .filter_map(|sample| Some((sample, sample.cards.iter().find(|one| one.device == device)?)))
        .collect();
    let shown = thin(&all, most.max(2));

    let mut peaks: BTreeMap<Slot, u64> = BTreeMap::new();
    for (_, card) in &shown {
        for (slot, bytes) in card.holders.iter().zip(&card.bytes) {
            let peak = peaks.entry(*slot).or_default();
            *peak = (*peak).max(*bytes);
        }
    }
    let mut order: Vec<_> = peaks
        .into_iter()
        .filter_map(|(slot, peak)| Some((slot, peak, history.holders.get(slot)?)))
        .collect();
    order.sort_by(|(_, x, (a, _)), (_, y, (b, _))| y.cmp(x).then_with(|| a.cmp(b)));
    let holders = order.iter().map(|(_, _, (holder, limit))| SeriesHolder {
        holder: (*holder).clone(),
        limit_bytes: *limit,
    });
    let column = |card: &CardSample, wanted: Slot| {
        let found = card.holders.iter().zip(&card.bytes).find(|(slot, _)| **slot == wanted);
        found.map_or(0, |(_, bytes)| *bytes)
    };
    let point = |(sample, card): &(&Sample, &CardSample)| Point {
        monotonic_ms: sample.monotonic_ms,
        at_unix_ms: sample.at_unix_ms,
        used_bytes: card.used_bytes,
        bytes: order.iter().map(|(slot, ..)| column(card, *slot)).collect(),
    };
    let about = history.devices.get(usize::from(device));
    Series {
        device: about.map(|it| it.device.clone()).unwrap_or_default(),
        index: about.map_or(0, |it| it.index),
        name: about.map(|it| it.name.clone()).unwrap_or_default(),
        total_bytes: about.map_or(0, |it| it.total_bytes),
        capacity_bytes: about.map_or(0, |it| it.capacity_bytes),
        holders: holders.collect(),
        points: shown.iter().map(point).collect(),
    }
}

/// At most so many samples: of neighbours the one with the most in use, and the last in any case.
fn thin<'a>(
    all: &[(&'a Sample, &'a CardSample)],
    most: usize,
) -> Vec<(&'a Sample, &'a CardSample)> {
    let together = all.len().div_ceil(most).max(1);
    if together == 1 {
        return all.to_vec();
    }
    let best = |some: &[(&'a Sample, &'a CardSample)]| {
        some.iter().max_by_key(|(_, card)| card.in_use_bytes).copied()
    };
    let mut shown: Vec<_> = all.chunks(together).filter_map(best).collect();
    if let (Some(last), Some(shown_last)) = (all.last(), shown.last_mut()) {
        *shown_last = *last;
    }
    shown
}
