//! Where a pool grows.

use super::book::{Book, State, Wanted};
use super::lanes::{CLEAN, Key};
use super::sizes::Side;
use std::ops::Range;

/// Growth is an eighth of what is held, where less is asked for, but no more than this: the driver's work
/// is per handle, and handles of 64 MiB are the largest that a cache makes.
const LARGEST_STEP: u64 = 64 << 20;

/// The same for small blocks, of which a page has many.
const LARGEST_SMALL_STEP: u64 = 8 << 20;

/// Bytes that are to get memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    pub(crate) bytes: Range<u64>,
    /// The lane whose gap they continue.
    pub(crate) continues: Option<Key>,
}

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// What is needed, and some more for the next.
    Generous,
    /// What is needed.
    Exact,
}

impl<M> Book<M> {
    /// Chooses addresses for growth, which are nobody else's from then on. `None` when no gap of
    /// addresses is long enough.
    pub(crate) fn plan(
        &mut self,
        wanted: &Wanted,
        amount: Amount,
        granule: u64,
        end: u64,
    ) -> Option<Growth> {
        let (side, largest) = match Side::of(wanted.bytes) {
            Side::Small => (0..self.boundary(), LARGEST_SMALL_STEP),
            Side::Large => (self.boundary()..end, LARGEST_STEP),
        };
        let step = match amount {
            Amount::Generous => (self.counters.held / 8).min(largest) / granule * granule,
            Amount::Exact => 0,
        };
        let occupied = self.occupied(&side);
        let room_at = |start: u64| {
            let next = occupied.partition_point(|one| one.end <= start);
            occupied.get(next).map_or(side.end, |one| one.start).saturating_sub(start)
        };
        let growth = self.behind_a_gap(wanted, granule, step, &side, &room_at).or_else(|| {
            let need = wanted.bytes.next_multiple_of(granule);
            let starts = std::iter::once(side.start).chain(occupied.iter().map(|one| one.end));
            let (start, room) =
                starts.map(|start| (start, room_at(start))).find(|(_, room)| *room >= need)?;
            let bytes = start..start + need.max(step).min(room);
            Some(Growth { bytes, continues: None })
        })?;
        self.moving.push(growth.bytes.clone());
        Some(growth)
    }

    /// Growth behind a gap that the caller may have needs only what the gap lacks.
    fn behind_a_gap(
        &mut self,
        wanted: &Wanted,
        granule: u64,
        step: u64,
        side: &Range<u64>,
        room_at: &impl Fn(u64) -> u64,
    ) -> Option<Growth> {
        let own = self.lanes.of(wanted.key);
        let usable = |(run, last): (Range<u64>, u32)| {
            let stretch = self.stretches.get(last);
            let State::Gap { lane, .. } = stretch.state else { return None };
            let lacks = wanted.bytes.checked_sub(stretch.bytes)?.next_multiple_of(granule);
            let is_usable = (lane == own || lane == CLEAN)
                && side.contains(&run.start)
                && lacks > 0
                && room_at(run.end) >= lacks;
            is_usable.then_some((stretch.bytes, run.end, lacks, lane))
        };
        let (_, start, lacks, lane) = self.stretches.runs().filter_map(usable).max()?;
        let bytes = start..start + lacks.max(step).min(room_at(start));
        Some(Growth { bytes, continues: (lane != CLEAN).then_some(wanted.key) })
    }

    /// What of a side has memory, or will have, or had a moment ago; sorted.
    fn occupied(&self, side: &Range<u64>) -> Vec<Range<u64>> {
        let runs = self.stretches.runs().map(|(run, _)| run);
        let all = runs.chain(self.moving.iter().cloned());
        let mut occupied: Vec<_> = all.filter(|one| side.contains(&one.start)).collect();
        occupied.sort_unstable_by_key(|one| one.start);
        occupied
    }
}
