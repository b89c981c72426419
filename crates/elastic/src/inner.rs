//! What all clones of a cache share: the driver, who pays, and the book behind its lock.

use crate::ahead::Signal;
use crate::book::Book;
use crate::calls::Calls;
use crate::cap::Cap;
use crate::credit::Credit;
use crate::elastic_error::ElasticError;
use crate::extent::Run;
use crate::geometry::Geometry;
use crate::mutation::Mutation;
use crate::pages::PageDriver;
use std::mem;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How far a cache is mapped ahead of its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// With fewer idle rows than this, more are mapped.
    pub low: u64,
    /// So many idle rows are there afterwards.
    pub high: u64,
    /// After pages were given back nothing is mapped ahead for so long: whoever asked for them
    /// would get them for a moment only.
    pub residency: Duration,
}

impl Marks {
    /// Nothing is mapped ahead.
    pub const NONE: Self = Self { low: 0, high: 0, residency: Duration::ZERO };
}

pub(crate) type Guard<'a, D> =
    MutexGuard<'a, Book<<D as PageDriver>::Handle, <D as PageDriver>::Fence>>;

pub(crate) struct Inner<D: PageDriver, C: Credit> {
    /// Counted, so that a forked child can keep it from being dropped.
    pub(crate) driver: Arc<D>,
    pub(crate) credit: C,
    pub(crate) geometry: Geometry,
    pub(crate) marks: Marks,
    book: Mutex<Book<D::Handle, D::Fence>>,
    /// A row or a block has left its transition.
    changed: Condvar,
    pub(crate) calls: Calls,
    pub(crate) cap: Cap,
    /// The idle bytes of the book as the payer hears of them, for reports without the lock.
    idle: AtomicU64,
    /// Committed bytes that the cache's user would give up when somebody asks.
    offered: AtomicU64,
    pub(crate) signal: Arc<Signal>,
    process: u32,
    /// The rule that a test has broken.
    broken: AtomicU8,
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    pub(crate) fn new(driver: D, credit: C, geometry: Geometry, marks: Marks) -> Self {
        Self {
            driver: Arc::new(driver),
            credit,
            book: Mutex::new(Book::new(geometry.clone())),
            geometry,
            marks,
            changed: Condvar::new(),
            calls: Calls::default(),
            cap: Cap::new(),
            idle: AtomicU64::new(0),
            offered: AtomicU64::new(0),
            signal: Arc::default(),
            process: std::process::id(),
            broken: AtomicU8::new(0),
        }
    }

    pub(crate) fn lock(&self) -> Guard<'_, D> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a row or a block has left its transition.
    pub(crate) fn wait<'a>(&'a self, book: Guard<'a, D>) -> Guard<'a, D> {
        self.changed.wait(book).unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets those go on that wait for a transition.
    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Gives the lock back, and tells the others what they should know.
    pub(crate) fn leave(&self, book: Guard<'_, D>) {
        let idle = book.reported_idle_bytes() + self.offered.load(Ordering::Relaxed);
        let was = self.idle.swap(idle, Ordering::AcqRel);
        let is_low = book.idle_rows < self.marks.low;
        drop(book);
        if idle != was {
            self.report_idle();
        }
        if is_low {
            self.signal.wake();
        }
    }

    /// Has so many committed bytes count as idle: their user gives them up when somebody asks.
    pub(crate) fn offer(&self, bytes: u64) {
        self.offered.store(bytes, Ordering::Relaxed);
        self.leave(self.lock());
    }

    /// Tells the payer what is idle. Two threads may overtake each other, so each looks again: the
    /// last word is the newest.
    fn report_idle(&self) {
        let mut idle = self.idle.load(Ordering::Acquire);
        loop {
            self.credit.idle(idle);
            let now = self.idle.load(Ordering::Acquire);
            if now == idle {
                return;
            }
            idle = now;
        }
    }

    /// Refuses what a forked child must not do.
    pub(crate) fn check_process(&self) -> Result<(), ElasticError> {
        let made_in = self.process;
        if made_in == std::process::id() {
            Ok(())
        } else {
            Err(ElasticError::OtherProcess { made_in })
        }
    }

    /// Gives credit back, after the driver has the memory.
    pub(crate) fn refund(&self, bytes: u64) {
        self.credit.give(bytes);
        self.cap.give(bytes);
    }

    /// Waits for the device, and notes what that settles.
    pub(crate) fn settle(&self) -> Result<(), ElasticError> {
        let newest = self.lock().fences.last();
        self.calls.settle(&*self.driver)?;
        self.lock().settled(newest);
        Ok(())
    }

    /// Asks which fences are passed.
    pub(crate) fn ask_fences(&self) -> Result<(), ElasticError> {
        let pending = self.lock().fences.pending();
        let mut passed = Vec::new();
        for (number, fence) in pending {
            if self.calls.is_passed(&*self.driver, &fence)? {
                passed.push(number);
            }
        }
        self.lock().fences.passed(&passed);
        Ok(())
    }

    /// Whether a test has broken a rule.
    pub(crate) fn breaks(&self, mutation: Mutation) -> bool {
        self.broken.load(Ordering::Relaxed) == mutation as u8
    }

    /// Breaks a rule.
    pub(crate) fn break_rule(&self, mutation: Option<Mutation>) {
        self.broken.store(mutation.map_or(0, |mutation| mutation as u8), Ordering::Relaxed);
    }
}

/// Gives everything back. A forked child gives nothing back: the memory is its parent's.
impl<D: PageDriver, C: Credit> Drop for Inner<D, C> {
    fn drop(&mut self) {
        self.signal.stop();
        let book = self.book.get_mut().unwrap_or_else(PoisonError::into_inner);
        let extents = book.extents.drain();
        let is_child = self.process != std::process::id();
        // Work may still run where even waiting fails, unless the context is lost.
        let is_over = extents.is_empty()
            || !is_child
                && self.calls.settle(&*self.driver).map_or_else(|e| e.is_sticky(), |()| true);
        if is_child || !is_over {
            mem::forget((extents, mem::take(&mut book.quarantine)));
            mem::forget(Arc::clone(&self.driver));
            return;
        }
        let mut freed = 0;
        for run in Run::of_mapped(extents, self.geometry.segments()) {
            freed += self.dismantle(run).freed_bytes;
        }
        self.credit.give(freed);
        self.credit.idle(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credit::{Short, Why};
    use crate::pages::PageError;
    use std::sync::atomic::Ordering::Relaxed;

    /// Counts what happens to it, and when it ends.
    #[derive(Clone, Default)]
    struct Counts(Arc<[AtomicU64; 4]>);

    struct Pages(Counts);

    impl Drop for Pages {
        fn drop(&mut self) {
            self.0.0[0].fetch_add(1, Relaxed);
        }
    }

    impl PageDriver for Pages {
        type Handle = u64;
        type Fence = ();

        fn base(&self) -> u64 {
            0
        }

        fn create(&self, bytes: u64) -> Result<u64, PageError> {
            self.0.0[1].fetch_add(1, Relaxed);
            Ok(bytes)
        }

        fn release(&self, _handle: u64) -> Result<(), PageError> {
            self.0.0[1].fetch_sub(1, Relaxed);
            Ok(())
        }

        fn map(&self, _offset: u64, _handles: &[&u64]) -> Result<(), PageError> {
            self.0.0[2].fetch_add(1, Relaxed);
            Ok(())
        }

        fn unmap(&self, _offset: u64, _bytes: u64) -> Result<(), PageError> {
            self.0.0[2].fetch_sub(1, Relaxed);
            Ok(())
        }

        fn is_passed(&self, (): &()) -> Result<bool, PageError> {
            Ok(true)
        }

        fn settle(&self) -> Result<(), PageError> {
            Ok(())
        }
    }

    impl Credit for Counts {
        fn take(&self, bytes: u64, _why: Why) -> Result<(), Short> {
            self.0[3].fetch_add(bytes, Relaxed);
            Ok(())
        }

        fn give(&self, bytes: u64) {
            self.0[3].fetch_sub(bytes, Relaxed);
        }

        fn idle(&self, _bytes: u64) {}
    }

    /// A cache with two rows of one granule, made by the process of that number.
    fn inner(counts: &Counts, process: u32) -> Inner<Pages, Counts> {
        let geometry = Geometry::of_bytes(4 << 20, 1, 2 << 20).unwrap();
        let mut inner = Inner::new(Pages(counts.clone()), counts.clone(), geometry, Marks::NONE);
        let rows = std::iter::once(0..2).collect::<Vec<_>>();
        inner.grow(&rows, crate::grow::Effort::Patient).unwrap();
        inner.process = process;
        inner
    }

    fn read(counts: &Counts) -> [u64; 4] {
        counts.0.each_ref().map(|count| count.load(Relaxed))
    }

    #[test]
    fn the_process_that_made_a_cache_gives_everything_back() {
        let counts = Counts::default();
        let inner = inner(&counts, std::process::id());
        assert_eq!(read(&counts), [0, 2, 1, 4 << 20]);
        drop(inner);
        assert_eq!(read(&counts), [1, 0, 0, 0]);
    }

    #[test]
    fn a_forked_child_gives_nothing_back_and_makes_nothing() {
        let counts = Counts::default();
        let inner = inner(&counts, 1);
        let other = Err(ElasticError::OtherProcess { made_in: 1 });
        assert_eq!(inner.trim(1).map(drop), other);
        assert_eq!(inner.check_process(), other);
        drop(inner);
        assert_eq!(read(&counts), [0, 2, 1, 4 << 20], "not even the driver was dropped");
    }
}
