//! How a cache is divided: segments, granules, blocks, rows.

use crate::size::Bytes;
use std::ops::Range;
use thiserror::Error;

/// Sizes of handles that growth prefers: on an H200 a byte in handles of 64 MiB is mapped forty
/// times faster than in handles of 2 MiB, and read as fast.
pub const HANDLE_CLASSES: [u64; 3] = [2 << 20, 16 << 20, 64 << 20];

/// Addresses of a device have 47 bits.
const ADDRESS_SPACE: u64 = 1 << 47;

/// Smaller pages exist on no device.
const SMALLEST_GRANULE: u64 = 64 << 10;

/// How a cache is divided. A cache of a model with 32 layers, each with keys and values, has 64
/// **segments** of equal size; a **block** has the same place in each; a **row** is one granule of
/// each segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    blocks: u64,
    block_bytes: u64,
    segments: u64,
    rows: u64,
    shift: u32,
    /// How many granules a handle may have, largest first; the last is 1.
    classes: Vec<u64>,
}

/// A cache that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GeometryError {
    /// No bytes, no blocks or no segments.
    #[error("a cache needs a capacity: it has {0} of 0")]
    Empty(&'static str),
    /// The size does not consist of whole rows.
    #[error("a cache of {} is not a multiple of {}, its segments times the granule", Bytes(*bytes), Bytes(*row_bytes))]
    NotAMultiple {
        /// The size that was asked for.
        bytes: u64,
        /// What it must be a multiple of.
        row_bytes: u64,
    },
    /// More than a device can address.
    #[error("a cache of {bytes} bytes is larger than the address space of a device, 128 TiB")]
    TooLarge {
        /// The size that was asked for; larger ones than fit are shown as the largest number.
        bytes: u64,
    },
    /// Not a power of two, or smaller than any page.
    #[error("a granule of {0} bytes is not a power of two from 65536 on")]
    Granule(u64),
    /// Block numbers are 32 bits wide where blocks are handed out one by one.
    #[error("a table of {0} blocks is larger than 4294967295")]
    TooManyBlocks(u64),
}

impl Geometry {
    /// A cache of so many bytes in all, in equal segments. Its blocks are its granules.
    ///
    /// # Errors
    /// A size of 0, one that is not a multiple of all segments' granules, and one that no device
    /// can address.
    pub fn of_bytes(bytes: u64, segments: u64, granule: u64) -> Result<Self, GeometryError> {
        if bytes == 0 {
            return Err(GeometryError::Empty("bytes"));
        }
        let row_bytes = segments.saturating_mul(granule);
        if row_bytes > 0 && !bytes.is_multiple_of(row_bytes) {
            return Err(GeometryError::NotAMultiple { bytes, row_bytes });
        }
        Self::new(bytes / row_bytes.max(1), granule, segments, granule)
    }

    /// A cache of so many blocks, each of so many bytes in every segment. Segments begin on a
    /// granule, so the last one of each may be used in part.
    ///
    /// # Errors
    /// As for [`Geometry::of_bytes`].
    pub fn new(
        blocks: u64,
        block_bytes: u64,
        segments: u64,
        granule: u64,
    ) -> Result<Self, GeometryError> {
        for (count, what) in
            [(blocks, "blocks"), (block_bytes, "block bytes"), (segments, "segments")]
        {
            if count == 0 {
                return Err(GeometryError::Empty(what));
            }
        }
        if !granule.is_power_of_two() || granule < SMALLEST_GRANULE {
            return Err(GeometryError::Granule(granule));
        }
        let segment =
            blocks.checked_mul(block_bytes).and_then(|b| b.checked_next_multiple_of(granule));
        let bytes = segment.and_then(|segment| segment.checked_mul(segments));
        let (Some(segment), Some(bytes)) = (segment, bytes) else {
            return Err(GeometryError::TooLarge { bytes: u64::MAX });
        };
        if bytes > ADDRESS_SPACE {
            return Err(GeometryError::TooLarge { bytes });
        }
        let mut classes: Vec<u64> =
            HANDLE_CLASSES.iter().rev().map(|class| class / granule).filter(|n| *n > 1).collect();
        classes.push(1);
        let (rows, shift) = (segment / granule, granule.trailing_zeros());
        Ok(Self { blocks, block_bytes, segments, rows, shift, classes })
    }

    /// Keeps handles to so many bytes, or one granule: memory is given back in smaller parts, and
    /// grows more slowly.
    #[must_use]
    pub fn with_largest_handle(mut self, bytes: u64) -> Self {
        let granule = self.granule();
        self.classes.retain(|class| *class == 1 || class * granule <= bytes);
        self
    }

    /// Count of blocks in each segment.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Size of a block in one segment.
    #[must_use]
    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Count of segments.
    #[must_use]
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Size of a page.
    #[must_use]
    pub fn granule(&self) -> u64 {
        1 << self.shift
    }

    /// Count of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What one row costs.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.segments << self.shift
    }

    /// Addresses from one segment to the next.
    #[must_use]
    pub fn segment_bytes(&self) -> u64 {
        self.rows << self.shift
    }

    /// All addresses.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segment_bytes() * self.segments
    }

    /// How many granules a handle may have, largest first.
    #[must_use]
    pub fn classes(&self) -> &[u64] {
        &self.classes
    }

    /// Where a row of a segment begins.
    pub(crate) fn offset(&self, segment: u64, row: u64) -> u64 {
        segment * self.segment_bytes() + (row << self.shift)
    }

    /// The rows that blocks lie in.
    pub(crate) fn rows_of(&self, blocks: &Range<u64>) -> Range<u64> {
        if blocks.is_empty() {
            return 0..0;
        }
        let end = (blocks.end * self.block_bytes).div_ceil(self.granule());
        (blocks.start * self.block_bytes) >> self.shift..end
    }

    /// The blocks that have at least a byte in a row.
    pub(crate) fn blocks_over(&self, row: u64) -> Range<u64> {
        let end = ((row + 1) << self.shift).div_ceil(self.block_bytes);
        (row << self.shift) / self.block_bytes..end.min(self.blocks)
    }

    /// The blocks that begin in a row.
    pub(crate) fn blocks_from(&self, row: u64) -> Range<u64> {
        let start = (row << self.shift).div_ceil(self.block_bytes).min(self.blocks);
        let end = ((row + 1) << self.shift).div_ceil(self.block_bytes);
        start..end.min(self.blocks)
    }

    /// Cuts a run of rows into handles: the largest class that fits and is aligned, from the start.
    pub(crate) fn cut(&self, run: Range<u64>) -> Vec<Range<u64>> {
        let (mut cuts, mut at) = (Vec::new(), run.start);
        while at < run.end {
            let fits = |class: &&u64| at.is_multiple_of(**class) && at + **class <= run.end;
            let class = self.classes.iter().find(fits).copied().unwrap_or(1);
            cuts.push(at..at + class);
            at += class;
        }
        cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_cache_that_cannot_be_is_refused() {
        let of = |bytes, segments, granule| Geometry::of_bytes(bytes, segments, granule);
        assert_eq!(of(0, 1, 2 * MIB), Err(GeometryError::Empty("bytes")));
        assert_eq!(of(2 * MIB, 0, 2 * MIB), Err(GeometryError::Empty("segments")));
        let odd = GeometryError::NotAMultiple { bytes: 6 * MIB, row_bytes: 4 * MIB };
        assert_eq!(of(6 * MIB, 2, 2 * MIB), Err(odd));
        let large = GeometryError::TooLarge { bytes: (1 << 47) + 2 * MIB };
        assert_eq!(of((1 << 47) + 2 * MIB, 1, 2 * MIB), Err(large));
        assert!(of(1 << 47, 1, 2 * MIB).is_ok());
        assert_eq!(of(3 * MIB, 1, 3 * MIB), Err(GeometryError::Granule(3 * MIB)));
        assert_eq!(Geometry::new(4, 0, 1, 2 * MIB), Err(GeometryError::Empty("block bytes")));
        let huge = Geometry::new(u64::MAX, 2, 1, 2 * MIB);
        assert_eq!(huge, Err(GeometryError::TooLarge { bytes: u64::MAX }));
    }

    #[test]
    fn handles_are_as_large_as_alignment_and_length_allow() {
        let geometry = Geometry::of_bytes(256 * MIB, 1, 2 * MIB).unwrap();
        assert_eq!(geometry.classes(), [32, 8, 1]);
        assert_eq!(geometry.cut(0..41), [0..32, 32..40, 40..41]);
        assert_eq!(geometry.cut(7..25), [7..8, 8..16, 16..24, 24..25]);
        let small = geometry.with_largest_handle(16 * MIB);
        assert_eq!(small.cut(0..33).len(), 5);
        let of = |granule| Geometry::of_bytes(256 * MIB, 1, granule).unwrap();
        assert_eq!(of(16 * MIB).classes(), [4, 1]);
        assert_eq!(of(64 * MIB).classes(), [1]);
        assert_eq!(of(128 * MIB).classes(), [1]);
    }

    #[test]
    fn blocks_that_straddle_rows_lie_in_both() {
        // Three blocks in two granules.
        let block = 4 * MIB / 3 + 1;
        let geometry = Geometry::new(6, block, 2, 2 * MIB).unwrap();
        assert_eq!((geometry.rows(), geometry.bytes()), (5, 20 * MIB));
        assert_eq!(geometry.rows_of(&(1..2)), 0..2);
        assert_eq!(geometry.rows_of(&(3..3)), 0..0);
        assert_eq!((geometry.blocks_over(0), geometry.blocks_from(0)), (0..2, 0..2));
        assert_eq!((geometry.blocks_over(1), geometry.blocks_from(1)), (1..3, 2..3));
        assert_eq!(geometry.blocks_over(4), 5..6);
        for row in 0..geometry.rows() {
            let over = geometry.blocks_over(row);
            assert!(
                (0..6).all(|b| over.contains(&b) == geometry.rows_of(&(b..b + 1)).contains(&row))
            );
        }
    }
}
