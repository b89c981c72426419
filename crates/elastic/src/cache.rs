//! The cache itself, as its users see it.

use crate::blocks::BlockTable;
use crate::credit::Credit;
use crate::elastic_error::ElasticError;
use crate::geometry::Geometry;
use crate::grow::{Effort, Refilled};
use crate::inner::{Inner, Marks};
use crate::mutation::Mutation;
use crate::pages::PageDriver;
use crate::prepared::{Prepared, Wanted};
use crate::shrink::Trimmed;
use crate::stats::Stats;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A range of device addresses that never moves, under which pages come and go.
///
/// Cheap to clone, and all threads may use all clones. When the last one is dropped, the device is
/// waited for and everything is given back.
///
/// ```no_run
/// use millpond_cuda::{Context, Driver, DriverChoice};
/// use millpond_elastic::{Cache, CudaPages, Geometry, Marks, Unlimited};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open(DriverChoice::from_env(), None)?;
/// let context = Context::primary(&driver.devices()?[0])?;
/// // 1,000 blocks of 64 KiB in each of 4 segments, in pages of 2 MiB.
/// let geometry = Geometry::new(1000, 64 << 10, 4, 2 << 20)?;
/// let pages = CudaPages::reserve(&context, &geometry)?;
/// let cache = Cache::new(pages, Unlimited, geometry, Marks::NONE);
/// cache.commit(10)?; // one row: a page in each segment
/// assert_eq!(cache.committed_bytes(), 8 << 20);
/// cache.uncommit(0..10, None)?;
/// assert_eq!(cache.trim(u64::MAX)?.bytes, 8 << 20);
/// # Ok(())
/// # }
/// ```
pub struct Cache<D: PageDriver, C: Credit> {
    inner: Arc<Inner<D, C>>,
}

impl<D: PageDriver, C: Credit> Cache<D, C> {
    /// A cache without any page. The driver's range has the geometry's size.
    pub fn new(driver: D, credit: C, geometry: Geometry, marks: Marks) -> Self {
        Self { inner: Arc::new(Inner::new(driver, credit, geometry, marks)) }
    }

    /// Makes the first blocks of each segment usable. Blocks that are committed already stay so.
    ///
    /// # Errors
    /// No credit, no room on the card, an error of the driver: nothing has changed then. More
    /// blocks than there are; a [`BlockTable`] or a [`Prepared`] that has some of them.
    pub fn commit(&self, blocks: u64) -> Result<(), ElasticError> {
        self.commit_wanted(&Wanted::Prefix(blocks), Effort::Patient)
    }

    /// Makes blocks usable that are not committed yet.
    ///
    /// # Errors
    /// As for [`Cache::commit`]; a block that is committed already.
    pub fn commit_range(&self, blocks: Range<u64>) -> Result<(), ElasticError> {
        self.commit_wanted(&Wanted::Range(blocks), Effort::Patient)
    }

    /// As [`Cache::commit_range`], with what is free: nobody is asked to give way, and nothing is waited
    /// for.
    ///
    /// # Errors
    /// As for [`Cache::commit_range`].
    pub fn commit_free(&self, blocks: Range<u64>) -> Result<(), ElasticError> {
        let wanted = Wanted::Range(blocks);
        self.commit_wanted(&wanted, Effort::Quick)
    }

    /// Makes everything ready for blocks that are not committed yet.
    ///
    /// # Errors
    /// As for [`Cache::commit_range`].
    pub fn prepare(&self, blocks: Range<u64>) -> Result<Prepared<D, C>, ElasticError> {
        self.prepare_wanted(&Wanted::Range(blocks), Effort::Patient)
    }

    /// Ends the use of blocks. Rows without any committed block become idle: still mapped, ready
    /// for the next commit, and given back when somebody asks. Their contents are undefined.
    ///
    /// Work may use them until the device has passed the fence. Without a fence, the whole device
    /// is waited for before the pages are unmapped.
    ///
    /// # Errors
    /// Blocks that do not exist or are not committed: none is uncommitted then.
    pub fn uncommit(
        &self,
        blocks: Range<u64>,
        fence: Option<D::Fence>,
    ) -> Result<(), ElasticError> {
        self.inner.uncommit(&blocks, fence)
    }

    /// Gives idle pages back until so many bytes are free, or no idle page is left. Pages whose
    /// fence the device has not passed are deferred.
    ///
    /// # Errors
    /// What the driver answers. What was given back before that is given back.
    pub fn trim(&self, bytes: u64) -> Result<Trimmed, ElasticError> {
        self.inner.trim(bytes)
    }

    /// Gives all idle pages back, and waits for the device where that is needed.
    ///
    /// # Errors
    /// As for [`Cache::trim`].
    pub fn trim_all(&self) -> Result<Trimmed, ElasticError> {
        self.inner.trim_all()
    }

    /// One step of mapping ahead: with fewer idle rows than the low mark, pages are made until the
    /// high mark is reached. [`Ahead`](crate::Ahead) does so on a thread of its own.
    ///
    /// # Errors
    /// No credit or no room, which is no reason to worry; an error of the driver.
    pub fn refill(&self) -> Result<Refilled, ElasticError> {
        self.inner.refill()
    }

    /// The table that hands out the blocks of this cache one by one.
    ///
    /// # Errors
    /// Another table exists, or blocks are committed or prepared by their numbers; more blocks than
    /// a table can number.
    pub fn blocks(&self) -> Result<BlockTable<D, C>, ElasticError> {
        BlockTable::new(self.clone())
    }

    /// How the cache is divided.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.inner.geometry
    }

    /// The driver underneath.
    #[must_use]
    pub fn driver(&self) -> &D {
        &self.inner.driver
    }

    /// Who pays.
    #[must_use]
    pub fn credit(&self) -> &C {
        &self.inner.credit
    }

    /// Whether all of some blocks are committed or taken. Blocks that do not exist never are.
    #[must_use]
    pub fn is_committed(&self, blocks: Range<u64>) -> bool {
        self.inner.check_range(&blocks).is_ok() && self.inner.lock().free.next_in(blocks).is_none()
    }

    /// The lowest run of so many blocks that are not committed, by its first block.
    ///
    /// # Errors
    /// The length of the longest run that there is.
    pub fn find_free(&self, count: u64) -> Result<u64, u64> {
        let (book, all) = (self.inner.lock(), self.geometry().blocks());
        let (mut longest, mut next) = (0, book.free.next(0));
        while let Some(start) = next {
            let end = book.free.next_absent(start..all).unwrap_or(all);
            if end - start >= count {
                return Ok(start);
            }
            longest = longest.max(end - start);
            next = book.free.next(end);
        }
        Err(longest)
    }

    /// Has so many of the committed bytes count as idle for the payer: their user uncommits them as soon
    /// as somebody asks.
    pub fn offer(&self, bytes: u64) {
        self.inner.offer(bytes);
    }

    /// The first address.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.inner.driver.base()
    }

    /// Where a block of a segment begins; `None` for one that does not exist.
    #[must_use]
    pub fn address_of(&self, segment: u64, block: u64) -> Option<u64> {
        let geometry = self.geometry();
        let exists = segment < geometry.segments() && block < geometry.blocks();
        exists.then(|| {
            self.base() + segment * geometry.segment_bytes() + block * geometry.block_bytes()
        })
    }

    /// What rows with a committed block hold.
    #[must_use]
    pub fn committed_bytes(&self) -> u64 {
        self.inner.lock().committed_rows * self.geometry().row_bytes()
    }

    /// What the driver has given this cache, and what is paid for.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.inner.lock().held_bytes
    }

    /// What a trim could give back, now or when fences are passed.
    #[must_use]
    pub fn idle_bytes(&self) -> u64 {
        self.inner.lock().idle_bytes
    }

    /// Everything that can be counted.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::of(&self.inner)
    }

    /// Breaks a rule, for tests that must notice it; `None` mends it.
    #[doc(hidden)]
    pub fn break_rule(&self, mutation: Option<Mutation>) {
        self.inner.break_rule(mutation);
    }

    pub(crate) fn inner(&self) -> &Arc<Inner<D, C>> {
        &self.inner
    }
}

impl<D: PageDriver, C: Credit> Clone for Cache<D, C> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<D: PageDriver, C: Credit> fmt::Debug for Cache<D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("geometry", self.geometry())
            .field("committed_bytes", &self.committed_bytes())
            .field("held_bytes", &self.held_bytes())
            .finish_non_exhaustive()
    }
}
