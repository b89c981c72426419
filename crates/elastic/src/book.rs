//! The book of a cache: rows, extents and blocks. It knows no driver, no thread and no clock.

use crate::bits::Bits;
use crate::extent::{Extent, Extents, Quarantined};
use crate::fences::{End, Fences};
use crate::geometry::Geometry;
use crate::index;
use std::ops::Range;
use std::time::Instant;

/// All that a cache knows, behind its lock.
pub(crate) struct Book<H, F> {
    pub(crate) geometry: Geometry,
    rows: Vec<Row>,
    pub(crate) extents: Extents<H>,
    /// Blocks that are neither committed nor taken.
    pub(crate) free: Bits,
    /// Rows in use in which a free block begins.
    pub(crate) open: Bits,
    /// Mapped rows that nobody uses, in which a free block begins.
    pub(crate) spare: Bits,
    /// Rows without memory that nobody changes.
    pub(crate) absent: Bits,
    /// Rows with a committed or pinned block.
    pub(crate) busy: Bits,
    /// Blocks whose pages a call is making.
    pub(crate) moving: Vec<Range<u64>>,
    /// Blocks whose pages are there for somebody who has not committed them yet.
    pub(crate) prepared: Vec<Range<u64>>,
    pub(crate) fences: Fences<F>,
    pub(crate) quarantine: Vec<Quarantined<H>>,
    pub(crate) has_table: bool,
    pub(crate) last_trim: Option<Instant>,
    pub(crate) committed_rows: u64,
    pub(crate) idle_rows: u64,
    pub(crate) idle_bytes: u64,
    pub(crate) passing: Passing,
    pub(crate) held_bytes: u64,
    pub(crate) quarantined_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    state: RowState,
    /// The extent, where the row is mapped.
    extent: u32,
    /// Committed blocks with a byte in the row.
    uses: u32,
    /// Calls that need the row and have not committed yet.
    pins: u32,
    /// Free blocks that begin in the row.
    free: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowState {
    Absent,
    /// A thread makes and maps its pages.
    Growing,
    Mapped,
    /// A thread unmaps and releases its pages.
    Shrinking,
    /// The driver refused to undo something there.
    Quarantined,
}

/// Paid bytes that are on their way: made ahead of use, or given back. Nobody can use them, and
/// whoever needs room gets them without asking the program, so the payer hears of them as idle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passing {
    bytes: u64,
    begun: u64,
    ended: u64,
}

impl Passing {
    pub(crate) fn begin(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.begun += 1;
    }

    pub(crate) fn end(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.ended += 1;
    }

    /// How many have begun so far, for [`Passing::is_over`].
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether as many have ended as had begun at some moment. Those that began later do not count, so
    /// a wait ends however busy the others are.
    pub(crate) fn is_over(&self, begun: u64) -> bool {
        self.bytes == 0 || self.ended >= begun
    }
}

impl<H, F> Book<H, F> {
    pub(crate) fn new(geometry: Geometry) -> Self {
        let (rows, blocks) = (geometry.rows(), geometry.blocks());
        let row = |row| {
            let from = geometry.blocks_from(row);
            let free = u32::try_from(from.end.saturating_sub(from.start)).unwrap_or(u32::MAX);
            Row { state: RowState::Absent, extent: 0, uses: 0, pins: 0, free }
        };
        Self {
            rows: (0..rows).map(row).collect(),
            extents: Extents::new(),
            free: Bits::full(blocks),
            open: Bits::empty(rows),
            spare: Bits::empty(rows),
            absent: Bits::full(rows),
            busy: Bits::empty(rows),
            moving: Vec::new(),
            prepared: Vec::new(),
            fences: Fences::new(),
            quarantine: Vec::new(),
            has_table: false,
            last_trim: None,
            committed_rows: 0,
            idle_rows: 0,
            idle_bytes: 0,
            passing: Passing::default(),
            held_bytes: 0,
            quarantined_bytes: 0,
            geometry,
        }
    }

    pub(crate) fn state(&self, row: u64) -> RowState {
        self.rows[index(row)].state
    }

    pub(crate) fn is_used(&self, row: u64) -> bool {
        self.rows[index(row)].uses > 0
    }

    /// What others can have of this cache without asking its program.
    pub(crate) fn reported_idle_bytes(&self) -> u64 {
        self.idle_bytes + self.passing.bytes
    }

    /// How many free blocks begin in a row.
    pub(crate) fn free_in(&self, row: u64) -> u64 {
        self.rows[index(row)].free.into()
    }

    /// Keeps the rows of blocks from being given back.
    pub(crate) fn pin(&mut self, blocks: &Range<u64>) {
        for row in self.geometry.rows_of(blocks) {
            self.rows[index(row)].pins += 1;
            self.refresh(row);
        }
    }

    pub(crate) fn unpin(&mut self, blocks: &Range<u64>) {
        for row in self.geometry.rows_of(blocks) {
            self.rows[index(row)].pins -= 1;
            self.refresh(row);
        }
    }

    /// Commits blocks. Rows that are not mapped yet are being mapped by the caller.
    pub(crate) fn occupy(&mut self, blocks: &Range<u64>) {
        self.free.remove_range(blocks.clone());
        for row in self.geometry.rows_of(blocks) {
            let (over, from) = self.shares(blocks, row);
            let entry = &mut self.rows[index(row)];
            self.committed_rows += u64::from(entry.uses == 0 && over > 0);
            entry.uses += over;
            entry.free -= from;
            self.refresh(row);
        }
    }

    /// Frees committed blocks; `end` says when work on them is over.
    pub(crate) fn vacate(&mut self, blocks: &Range<u64>, end: End) {
        self.free.insert_range(blocks.clone());
        for row in self.geometry.rows_of(blocks) {
            let (over, from) = self.shares(blocks, row);
            let entry = &mut self.rows[index(row)];
            entry.uses -= over;
            entry.free += from;
            self.committed_rows -= u64::from(entry.uses == 0 && over > 0);
            if end != End::Unused {
                self.extents.get_mut(entry.extent).stale.add(end, &self.fences);
            }
            self.refresh(row);
        }
    }

    /// How many blocks of a range have a byte in a row, and how many begin there.
    fn shares(&self, blocks: &Range<u64>, row: u64) -> (u32, u32) {
        if blocks.end - blocks.start == 1 {
            let begins = (blocks.start * self.geometry.block_bytes()) / self.geometry.granule();
            return (1, u32::from(begins == row));
        }
        let within = |part: Range<u64>| {
            let (start, end) = (part.start.max(blocks.start), part.end.min(blocks.end));
            u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX)
        };
        (within(self.geometry.blocks_over(row)), within(self.geometry.blocks_from(row)))
    }

    /// Brings the sets and sums in line with a row that has changed.
    fn refresh(&mut self, row: u64) {
        let entry = self.rows[index(row)];
        let is_busy = entry.uses + entry.pins > 0;
        let is_mapped = entry.state == RowState::Mapped;
        if is_busy != self.busy.contains(row) {
            self.busy.set(row, is_busy);
            if is_mapped {
                self.turn(entry.extent, is_busy);
            }
        }
        self.open.set(row, is_mapped && entry.uses > 0 && entry.free > 0);
        self.spare.set(row, is_mapped && !is_busy && entry.free > 0);
    }

    /// A mapped row of an extent has become busy, or is no more.
    fn turn(&mut self, extent: u32, is_busy: bool) {
        let row_bytes = self.geometry.row_bytes();
        let extent = self.extents.get_mut(extent);
        let bytes = extent.rows() * row_bytes;
        if is_busy {
            self.idle_rows -= 1;
            self.idle_bytes -= if extent.busy_rows == 0 { bytes } else { 0 };
            extent.busy_rows += 1;
        } else {
            self.idle_rows += 1;
            extent.busy_rows -= 1;
            self.idle_bytes += if extent.busy_rows == 0 { bytes } else { 0 };
        }
    }

    /// Changes what is under rows that are not mapped.
    pub(crate) fn set_state(&mut self, rows: Range<u64>, state: RowState) {
        for row in rows {
            self.rows[index(row)].state = state;
            self.absent.set(row, state == RowState::Absent);
            self.refresh(row);
        }
    }

    /// Takes over pages that are mapped.
    pub(crate) fn install(&mut self, mut extent: Extent<H>) {
        let (range, rows) = (extent.range.clone(), extent.rows());
        let busy = range.clone().filter(|row| self.busy.contains(*row)).count() as u64;
        extent.busy_rows = busy;
        self.idle_rows += rows - busy;
        self.idle_bytes += if busy == 0 { rows * self.geometry.row_bytes() } else { 0 };
        let place = self.extents.insert(extent);
        for row in range {
            let entry = &mut self.rows[index(row)];
            (entry.state, entry.extent) = (RowState::Mapped, place);
            self.absent.remove(row);
            self.refresh(row);
        }
    }

    /// Takes an idle extent out, to be unmapped.
    pub(crate) fn withdraw(&mut self, place: u32) -> Extent<H> {
        let extent = self.extents.remove(place);
        let busy = extent.busy_rows;
        self.idle_rows -= extent.rows() - busy;
        self.idle_bytes -= if busy == 0 { extent.rows() * self.geometry.row_bytes() } else { 0 };
        self.set_state(extent.range.clone(), RowState::Shrinking);
        extent
    }

    /// The device has settled since this number was the newest.
    pub(crate) fn settled(&mut self, number: u64) {
        self.fences.settled(number);
        self.extents.iter_mut().for_each(|(_, extent)| extent.stale.settled(number));
    }

    /// Numbers the end of a use. With too many fences the whole device stands for them.
    pub(crate) fn end(&mut self, fence: Option<F>) -> End {
        if self.fences.is_full() {
            let newest = self.fences.last();
            self.extents.iter_mut().for_each(|(_, extent)| extent.stale.forget_fences(newest));
            self.fences.settled(newest);
        }
        self.fences.end(fence)
    }

    /// What the book itself takes.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let sets = [&self.free, &self.open, &self.spare, &self.absent, &self.busy];
        let rows = (self.rows.capacity() * size_of::<Row>()) as u64;
        rows + sets.map(Bits::heap_bytes).iter().sum::<u64>() + self.extents.heap_bytes()
    }
}
