//! Memory over time, by holder, in bounded memory.
//!
//! Two rings: each second for ten minutes, every fifteen seconds for a day. Of fifteen seconds the one with
//! the most in use is kept, because a peak is what people look for. A sample of a card has at most
//! [`MOST_HOLDERS`] holders, all smaller ones are one more, and labels are stored once: [`SAMPLE_BYTES`]
//! for each sample and card at most, 1.6 MiB for a card and a day, and their labels.
//!
//! Order and distance are those of a monotonic clock; the wall clock, which jumps, only labels.

mod holder;
mod series;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::Card;
use holder::{Holders, Slot};

pub use holder::Holder;
pub use series::{Point, Series, SeriesHolder};

/// Holders of a card that a sample keeps apart.
pub const MOST_HOLDERS: usize = 16;
/// What a sample of one card takes at most.
pub const SAMPLE_BYTES: usize = 256;
/// Cards of a pond that have a history; no machine has more.
const MOST_CARDS: usize = 64;

const FINE_MS: u64 = 1000;
const FINE_SAMPLES: usize = 600;
const FINE_SPAN_MS: u64 = 10 * 60 * 1000;
const COARSE_MS: u64 = 15_000;
const COARSE_SAMPLES: usize = 5760;
const COARSE_SPAN_MS: u64 = 24 * 3600 * 1000;

/// Samples of all cards of a pond.
#[derive(Debug)]
pub struct History {
    holders: Holders,
    devices: Vec<Device>,
    fine: VecDeque<Sample>,
    coarse: VecDeque<Sample>,
    /// The best of the fifteen seconds that are not over.
    pending: Option<Sample>,
}

#[derive(Debug)]
struct Device {
    device: String,
    name: String,
    index: u32,
    total_bytes: u64,
    capacity_bytes: u64,
}

#[derive(Clone, Debug)]
struct Sample {
    monotonic_ms: u64,
    at_unix_ms: u64,
    cards: Box<[CardSample]>,
}

impl Sample {
    fn in_use(&self) -> u64 {
        self.cards.iter().fold(0, |sum, card| sum.saturating_add(card.in_use_bytes))
    }
}

#[derive(Clone, Debug)]
struct CardSample {
    /// Place in `devices`.
    device: u16,
    in_use_bytes: u64,
    used_bytes: Option<u64>,
    holders: Box<[Slot]>,
    bytes: Box<[u64]>,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// Without a sample.
    #[must_use]
    pub fn new() -> Self {
        Self {
            holders: Holders::default(),
            devices: Vec::new(),
            fine: VecDeque::new(),
            coarse: VecDeque::new(),
            pending: None,
        }
    }

    /// Adds a sample. `monotonic_ms` is of a clock that never goes back; a sample that comes sooner than
    /// half a second after the one before is passed over.
    pub fn record(&mut self, monotonic_ms: u64, at_unix_ms: u64, cards: &[Card]) {
        let last = self.fine.back().map(|sample| sample.monotonic_ms);
        if last.is_some_and(|last| monotonic_ms < last.saturating_add(FINE_MS / 2)) {
            return;
        }
        let cards: Box<[_]> =
            cards.iter().take(MOST_CARDS).filter_map(|card| self.sample(card)).collect();
        let sample = Sample { monotonic_ms, at_unix_ms, cards };
        self.keep_coarse(&sample);
        self.fine.push_back(sample);
        let oldest = monotonic_ms.saturating_sub(FINE_SPAN_MS);
        while self.fine.len() > FINE_SAMPLES
            || self.fine.front().is_some_and(|first| first.monotonic_ms < oldest)
        {
            self.forget_first(|history| &mut history.fine);
        }
    }

    /// The card's history of the last `since_ms` before its last sample, with at most `most` points; of
    /// points that are too many, those with the most in use stay. Nothing for a card that was never seen.
    #[must_use]
    pub fn series(&self, device: &str, since_ms: u64, most: usize) -> Option<Series> {
        let place = self.devices.iter().position(|one| one.device == device)?;
        let place = u16::try_from(place).ok()?;
        Some(series::series(self, place, since_ms, most))
    }

    /// UUIDs of the cards that have a history.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.devices.iter().map(|device| device.device.as_str())
    }

    /// What all samples take, in bytes, without the rings' own places.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let of = |sample: &Sample| -> usize {
            let one = |card: &CardSample| {
                size_of::<CardSample>()
                    + card.holders.len() * size_of::<Slot>()
                    + card.bytes.len() * size_of::<u64>()
            };
            size_of::<Sample>() + sample.cards.iter().map(one).sum::<usize>()
        };
        self.samples().map(of).sum::<usize>() + self.holders.held_bytes()
    }

    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.coarse.iter().chain(&self.pending).chain(&self.fine)
    }

    /// Older samples come from the coarse ring, and the rest from the fine one.
    fn in_order(&self) -> impl Iterator<Item = &Sample> {
        let fine_from = self.fine.front().map_or(u64::MAX, |first| first.monotonic_ms);
        let coarse = self.coarse.iter().filter(move |sample| sample.monotonic_ms < fine_from);
        coarse.chain(&self.fine)
    }

    fn sample(&mut self, card: &Card) -> Option<CardSample> {
        let device = self.device(card)?;
        let held = self.holders.of_card(card);
        Some(CardSample {
            device,
            in_use_bytes: card.total_bytes.saturating_sub(card.free_bytes),
            used_bytes: card.used_bytes,
            holders: held.iter().map(|(slot, _)| *slot).collect(),
            bytes: held.iter().map(|(_, bytes)| *bytes).collect(),
        })
    }

    fn device(&mut self, card: &Card) -> Option<u16> {
        let found = self.devices.iter().position(|one| one.device == card.device);
        let place = match found {
            Some(place) => place,
            None if self.devices.len() < MOST_CARDS => {
                self.devices.push(Device {
                    device: card.device.clone(),
                    name: card.name.clone(),
                    index: card.index,
                    total_bytes: 0,
                    capacity_bytes: 0,
                });
                self.devices.len() - 1
            }
            None => return None,
        };
        let device = self.devices.get_mut(place)?;
        device.index = card.index;
        device.total_bytes = card.total_bytes;
        device.capacity_bytes = card.capacity_bytes;
        u16::try_from(place).ok()
    }

    fn keep_coarse(&mut self, sample: &Sample) {
        let is_same =
            |pending: &Sample| pending.monotonic_ms / COARSE_MS == sample.monotonic_ms / COARSE_MS;
        match &self.pending {
            Some(pending) if is_same(pending) => {
                if pending.in_use() > sample.in_use() {
                    return;
                }
                self.forget_pending();
            }
            Some(_) => {
                let over = self.pending.take();
                self.coarse.extend(over);
                let oldest = sample.monotonic_ms.saturating_sub(COARSE_SPAN_MS);
                while self.coarse.len() > COARSE_SAMPLES
                    || self.coarse.front().is_some_and(|first| first.monotonic_ms < oldest)
                {
                    self.forget_first(|history| &mut history.coarse);
                }
            }
            None => {}
        }
        for card in &sample.cards {
            self.holders.keep(&card.holders);
        }
        self.pending = Some(sample.clone());
    }

    fn forget_pending(&mut self) {
        if let Some(sample) = self.pending.take() {
            self.forget(&sample);
        }
    }

    fn forget_first(&mut self, ring: impl Fn(&mut Self) -> &mut VecDeque<Sample>) {
        if let Some(sample) = ring(self).pop_front() {
            self.forget(&sample);
        }
    }

    fn forget(&mut self, sample: &Sample) {
        for card in &sample.cards {
            self.holders.forget(&card.holders);
        }
    }
}
