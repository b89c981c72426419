//! Extents: consecutive rows that share their handles.

use crate::fences::Stale;
use crate::index;
use crate::pages::PageError;
use std::ops::Range;

/// Consecutive rows that are backed by one handle in each segment. They are mapped and given back
/// together.
pub(crate) struct Extent<H> {
    pub(crate) range: Range<u64>,
    /// One for each segment.
    pub(crate) handles: Vec<H>,
    /// Rows with a committed or pinned block.
    pub(crate) busy_rows: u64,
    pub(crate) stale: Stale,
}

/// Pages that the driver did not take back, and that are paid for still.
pub(crate) struct Quarantined<H> {
    /// Rows that cannot be used because something is mapped there; none when only memory is lost.
    pub(crate) rows: Range<u64>,
    /// Handles of what is mapped there; empty when the driver took them and failed.
    pub(crate) handles: Vec<H>,
    pub(crate) error: PageError,
}

impl<H> Extent<H> {
    pub(crate) fn new(range: Range<u64>) -> Self {
        Self { range, handles: Vec::new(), busy_rows: 0, stale: Stale::default() }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// Extents by a number that rows remember.
pub(crate) struct Extents<H> {
    slots: Vec<Option<Extent<H>>>,
    vacant: Vec<u32>,
    /// Stands in for a number that nobody was given, so that looking one up cannot fail.
    nobody: Extent<H>,
}

impl<H> Extents<H> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), nobody: Extent::new(0..0) }
    }

    pub(crate) fn insert(&mut self, extent: Extent<H>) -> u32 {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        self.slots[place as usize] = Some(extent);
        place
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Extent<H> {
        self.slots[place as usize].as_mut().unwrap_or(&mut self.nobody)
    }

    pub(crate) fn remove(&mut self, place: u32) -> Extent<H> {
        self.vacant.push(place);
        self.slots[place as usize].take().unwrap_or_else(|| Extent::new(0..0))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Extent<H>)> {
        (0..).zip(&self.slots).filter_map(|(place, slot)| Some((place, slot.as_ref()?)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Extent<H>)> {
        (0..).zip(&mut self.slots).filter_map(|(place, slot)| Some((place, slot.as_mut()?)))
    }

    /// Takes all out.
    pub(crate) fn drain(&mut self) -> Vec<Extent<H>> {
        self.vacant.clear();
        std::mem::take(&mut self.slots).into_iter().flatten().collect()
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        let slots = self.slots.capacity() * size_of::<Option<Extent<H>>>();
        let handles: usize = self.iter().map(|(_, one)| one.handles.capacity()).sum();
        let vacant = self.vacant.capacity() * size_of::<u32>();
        (slots + vacant + handles * size_of::<H>()) as u64
    }
}

/// Pages that are mapped, or unmapped, by one call for each segment: extents side by side.
pub(crate) struct Run<H> {
    pub(crate) extents: Vec<Extent<H>>,
    /// The segments in which the pages are mapped.
    pub(crate) mapped: Range<u64>,
}

impl<H> Run<H> {
    pub(crate) fn rows(&self) -> Range<u64> {
        match (self.extents.first(), self.extents.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => 0..0,
        }
    }

    /// The handles of one segment, side by side.
    pub(crate) fn handles(&self, segment: u64) -> Vec<&H> {
        self.extents.iter().filter_map(|extent| extent.handles.get(index(segment))).collect()
    }

    /// Sorts extents that are mapped everywhere into runs.
    pub(crate) fn of_mapped(mut extents: Vec<Extent<H>>, segments: u64) -> Vec<Self> {
        extents.sort_by_key(|extent| extent.range.start);
        let mut runs: Vec<Self> = Vec::new();
        for extent in extents {
            match runs.last_mut() {
                Some(run) if run.rows().end == extent.range.start => run.extents.push(extent),
                _ => runs.push(Self { extents: vec![extent], mapped: 0..segments }),
            }
        }
        runs
    }
}
