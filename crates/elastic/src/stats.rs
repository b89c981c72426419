//! What a cache counts.

use crate::calls::CallCounts;
use crate::credit::Credit;
use crate::inner::Inner;
use crate::pages::PageDriver;

/// A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Addresses; they cost no memory.
    pub reserved_bytes: u64,
    /// Rows with a committed block.
    pub committed_bytes: u64,
    /// Rows without one that somebody has prepared.
    pub prepared_bytes: u64,
    /// Rows that nobody uses, in extents in which somebody uses others: they cannot be given back.
    pub wasted_bytes: u64,
    /// Extents that nobody uses.
    pub idle_bytes: u64,
    /// What the driver refused to take back. It is paid for still.
    pub quarantined_bytes: u64,
    /// All that the driver has given.
    pub held_bytes: u64,
    /// What this cache may hold; the largest number without a cap.
    pub cap_bytes: u64,
    /// All rows.
    pub rows: u64,
    /// Rows with memory.
    pub mapped_rows: u64,
    /// Rows with a committed block.
    pub committed_rows: u64,
    /// Rows up to the last one that somebody uses.
    pub span_rows: u64,
    /// Blocks that are committed or taken.
    pub committed_blocks: u64,
    /// Extents by the size of their handles, smallest first.
    pub extents: Vec<ExtentCount>,
    /// How often the driver was called.
    pub calls: CallCounts,
    /// What this book-keeping itself takes of the host's memory.
    pub book_bytes: u64,
}

/// How many extents have handles of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtentCount {
    /// The size of each handle.
    pub handle_bytes: u64,
    /// How many extents, each with a handle for every segment.
    pub count: u64,
}

impl Stats {
    pub(crate) fn of<D: PageDriver, C: Credit>(inner: &Inner<D, C>) -> Self {
        let geometry = &inner.geometry;
        let row_bytes = geometry.row_bytes();
        let book = inner.lock();
        let (mut mapped_rows, mut busy_rows, mut wasted_rows) = (0, 0, 0);
        let mut extents: Vec<ExtentCount> = Vec::new();
        for (_, extent) in book.extents.iter() {
            mapped_rows += extent.rows();
            busy_rows += extent.busy_rows;
            wasted_rows += if extent.busy_rows > 0 { extent.rows() - extent.busy_rows } else { 0 };
            let handle_bytes = extent.rows() * geometry.granule();
            match extents.iter_mut().find(|one| one.handle_bytes == handle_bytes) {
                Some(one) => one.count += 1,
                None => extents.push(ExtentCount { handle_bytes, count: 1 }),
            }
        }
        extents.sort_by_key(|one| one.handle_bytes);
        Self {
            reserved_bytes: geometry.bytes(),
            committed_bytes: book.committed_rows * row_bytes,
            prepared_bytes: (busy_rows - book.committed_rows.min(busy_rows)) * row_bytes,
            wasted_bytes: wasted_rows * row_bytes,
            idle_bytes: book.idle_bytes,
            quarantined_bytes: book.quarantined_bytes,
            held_bytes: book.held_bytes,
            cap_bytes: inner.cap.bytes(),
            rows: geometry.rows(),
            mapped_rows,
            committed_rows: book.committed_rows,
            span_rows: book.busy.last().map_or(0, |row| row + 1),
            committed_blocks: geometry.blocks() - book.free.count(),
            extents,
            calls: inner.calls.counts(),
            book_bytes: book.heap_bytes(),
        }
    }
}
