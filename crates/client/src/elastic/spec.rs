//! What a cache is to be like.

use std::time::Duration;

use millpond_elastic::{Geometry, Marks};
use millpond_wire::GpuUuid;

use crate::{Error, Result};

/// A page of the driver.
const GRANULE: u64 = 2 << 20;
/// How long a commit waits for others to give way. Longer than it takes to move gigabytes, shorter
/// than a request of a user may stand still.
const WAIT: Duration = Duration::from_secs(1);
/// Longer than the pond lets anybody wait, and short enough for every clock.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Nothing is made ahead for so long after pages were asked for.
const RESIDENCY: Duration = Duration::from_millis(500);

/// What a cache is to be like: [`Elastic::reserve`](super::Elastic::reserve).
#[derive(Clone, Debug)]
pub struct ReserveSpec {
    bytes: u64,
    blocks: Option<(u64, u64)>,
    segments: u64,
    granule: u64,
    largest_handle: Option<u64>,
    pub(super) min_bytes: u64,
    pub(super) weight: u32,
    pub(super) device: Option<GpuUuid>,
    pub(super) wait: Duration,
    ahead: Option<(u64, u64)>,
    pub(super) null_page: bool,
}

impl ReserveSpec {
    /// A cache of so many bytes of addresses in all. Its blocks are its granules, unless
    /// [`ReserveSpec::of_blocks`] says otherwise.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self {
            bytes,
            blocks: None,
            segments: 1,
            granule: GRANULE,
            largest_handle: None,
            min_bytes: 0,
            weight: 1,
            device: None,
            wait: WAIT,
            ahead: None,
            null_page: false,
        }
    }

    /// A cache of so many blocks, each of so many bytes in every segment.
    #[must_use]
    pub fn of_blocks(blocks: u64, block_bytes: u64) -> Self {
        Self { blocks: Some((blocks, block_bytes)), ..Self::new(0) }
    }

    /// The same cache with so many bytes of addresses.
    pub(super) fn of_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Equal parts, for example the keys and the values of each layer. Each begins on a granule, and
    /// a commit of blocks commits them in every one. 1 by default.
    #[must_use]
    pub fn segments(mut self, segments: u64) -> Self {
        self.segments = segments;
        self
    }

    /// The size of a page: 2 MiB (the default), 16 MiB or 64 MiB. A commit grows by a page of every
    /// segment; larger pages are made faster and given back less finely.
    #[must_use]
    pub fn granule(mut self, bytes: u64) -> Self {
        self.granule = bytes;
        self
    }

    /// Larger growth uses larger handles, up to this size (64 MiB by default). A handle is given back
    /// whole.
    #[must_use]
    pub fn largest_handle(mut self, bytes: u64) -> Self {
        self.largest_handle = Some(bytes);
        self
    }

    /// What other caches of the group leave this one.
    #[must_use]
    pub fn min(mut self, bytes: u64) -> Self {
        self.min_bytes = bytes;
        self
    }

    /// Its part of what is above everybody's `min`, when caches compete. 1 by default.
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The GPU; the pond's first by default.
    #[must_use]
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.device = Some(device);
        self
    }

    /// How long a commit waits for others to give way. A commit is refused as soon as nobody has
    /// anything to give, and at once with a wait of zero, without asking anybody.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.min(LONGEST_WAIT);
        self
    }

    /// Pages are made before they are needed: with fewer than `low` bytes idle, until `high` bytes
    /// are. By default nothing is made ahead.
    #[must_use]
    pub fn ahead(mut self, low: u64, high: u64) -> Self {
        self.ahead = Some((low, high));
        self
    }

    /// Has every address without a page of its own lead to one page, the null page, so that warm-up, padding
    /// and graphs may read and write blocks that are not committed. What is read there is undefined. The null
    /// page costs one granule of the budget. Off by default.
    ///
    /// In the exchange of the null page for a page, and back, an address has no page for a moment: work that
    /// runs then must not touch it. A commit that makes pages waits for the device first.
    #[must_use]
    pub fn null_page(mut self, null_page: bool) -> Self {
        self.null_page = null_page;
        self
    }

    pub(super) fn geometry(&self) -> Result<Geometry> {
        let Self { bytes, segments, granule, .. } = *self;
        let geometry = match self.blocks {
            None => Geometry::of_bytes(bytes, segments, granule),
            Some((blocks, block_bytes)) => Geometry::new(blocks, block_bytes, segments, granule),
        };
        let geometry =
            geometry.map_err(|error| Error::from(millpond_elastic::ElasticError::from(error)))?;
        Ok(match self.largest_handle {
            Some(bytes) => geometry.with_largest_handle(bytes),
            None => geometry,
        })
    }

    pub(super) fn marks(&self, geometry: &Geometry) -> Marks {
        self.ahead.map_or(Marks::NONE, |(low, high)| Marks {
            low: low.div_ceil(geometry.row_bytes()),
            high: high.max(low).div_ceil(geometry.row_bytes()),
            residency: RESIDENCY,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_longest_wait_has_an_end_that_a_clock_can_show() {
        let spec = ReserveSpec::new(1).wait(Duration::MAX);
        assert!(Instant::now().checked_add(spec.wait).is_some());
    }
}
