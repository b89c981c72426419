//! How full the pages of a table are.

use crate::blocks::{BlockTable, number};
use crate::credit::Credit;
use crate::pages::PageDriver;
use std::ops::Range;

/// Pages that are given back together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The blocks with a byte in these pages.
    pub blocks: Range<u32>,
    /// How many of them are taken.
    pub taken: u64,
    /// What is given back when none is taken.
    pub bytes: u64,
}

impl<D: PageDriver, C: Credit> BlockTable<D, C> {
    /// How full the pages are, the emptiest first: to give a page back, evict the taken blocks of the first
    /// ones.
    #[must_use]
    pub fn occupancy(&self) -> Vec<Occupancy> {
        let inner = self.cache().inner();
        let geometry = &inner.geometry;
        let book = inner.lock();
        let extents = book.extents.iter().filter(|(_, extent)| extent.rows() > 0);
        let mut found: Vec<_> = extents
            .map(|(_, extent)| {
                let start = geometry.blocks_over(extent.range.start).start;
                let end = geometry.blocks_over(extent.range.end - 1).end;
                let (mut taken, mut next) = (0, book.free.next_absent(start..end));
                while let Some(first) = next {
                    let free = book.free.next_in(first..end).unwrap_or(end);
                    taken += free - first;
                    next = book.free.next_absent(free..end);
                }
                let bytes = extent.rows() * geometry.row_bytes();
                Occupancy { blocks: number(start)..number(end), taken, bytes }
            })
            .collect();
        found.sort_by_key(|one| (one.taken, one.blocks.start));
        found
    }
}
