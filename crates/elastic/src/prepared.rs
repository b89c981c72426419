//! Pages that are there and not committed yet.

use crate::cache::Cache;
use crate::credit::Credit;
use crate::elastic_error::{ElasticError, User};
use crate::fences::End;
use crate::grow::Effort;
use crate::inner::{Guard, Inner};
use crate::pages::PageDriver;
use std::fmt;
use std::ops::Range;

/// Pages that are paid for, made and mapped for blocks that are not committed yet. Committing them
/// cannot fail, so that several caches can be grown together or not at all.
///
/// Dropping it is an abort: the pages become idle.
#[must_use = "dropping it makes the pages idle"]
pub struct Prepared<D: PageDriver, C: Credit> {
    cache: Cache<D, C>,
    blocks: Vec<Range<u64>>,
}

/// Which blocks a commit is about.
#[derive(Clone)]
pub(crate) enum Wanted {
    /// Those before a number that are not committed yet.
    Prefix(u64),
    /// All of these; each must be free.
    Range(Range<u64>),
}

impl<D: PageDriver, C: Credit> Prepared<D, C> {
    /// Commits the blocks.
    pub fn commit(mut self) {
        self.finish(true);
    }

    /// Gives the pages up; they are idle afterwards.
    pub fn abort(self) {
        drop(self);
    }

    /// The blocks that will be committed.
    #[must_use]
    pub fn blocks(&self) -> &[Range<u64>] {
        &self.blocks
    }

    fn finish(&mut self, is_commit: bool) {
        let inner = self.cache.inner();
        let mut book = inner.lock();
        for blocks in std::mem::take(&mut self.blocks) {
            book.prepared.retain(|one| *one != blocks);
            if is_commit {
                book.occupy(&blocks);
            }
            book.unpin(&blocks);
        }
        inner.leave(book);
        if !is_commit {
            inner.keep_cap();
        }
    }
}

impl<D: PageDriver, C: Credit> Drop for Prepared<D, C> {
    fn drop(&mut self) {
        if !self.blocks.is_empty() {
            self.finish(false);
        }
    }
}

impl<D: PageDriver, C: Credit> fmt::Debug for Prepared<D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("blocks", &self.blocks).finish_non_exhaustive()
    }
}

impl<D: PageDriver, C: Credit> Cache<D, C> {
    /// Makes the pages of blocks ready.
    pub(crate) fn prepare_wanted(
        &self,
        wanted: &Wanted,
        effort: Effort,
    ) -> Result<Prepared<D, C>, ElasticError> {
        let blocks =
            self.back_wanted(wanted, effort, |book, run| book.prepared.push(run.clone()))?;
        Ok(Prepared { cache: self.clone(), blocks })
    }

    /// Commits blocks in the same step in which their pages are ready: no other thread meets them
    /// prepared, and is refused.
    pub(crate) fn commit_wanted(
        &self,
        wanted: &Wanted,
        effort: Effort,
    ) -> Result<(), ElasticError> {
        let commit = |book: &mut Guard<'_, D>, run: &Range<u64>| {
            book.occupy(run);
            book.unpin(run);
        };
        self.back_wanted(wanted, effort, commit).map(drop)
    }

    /// Backs the wanted blocks and pins them; `ready` is told each run before anybody else sees it.
    fn back_wanted(
        &self,
        wanted: &Wanted,
        effort: Effort,
        ready: impl Fn(&mut Guard<'_, D>, &Range<u64>),
    ) -> Result<Vec<Range<u64>>, ElasticError> {
        let inner = self.inner();
        let mut book = inner.claim(wanted)?;
        let blocks = match wanted {
            Wanted::Prefix(end) => free_runs(&book, *end),
            Wanted::Range(range) => vec![range.clone()],
        };
        let blocks: Vec<_> = blocks.into_iter().filter(|run| !run.is_empty()).collect();
        blocks.iter().for_each(|run| book.pin(run));
        book.moving.extend(blocks.iter().cloned());
        drop(book);
        let rows: Vec<_> = blocks.iter().map(|run| inner.geometry.rows_of(run)).collect();
        let grown = inner.grow(&rows, effort);
        let mut book = inner.lock();
        book.moving.retain(|one| !blocks.contains(one));
        match grown {
            Ok(()) => blocks.iter().for_each(|run| ready(&mut book, run)),
            Err(_) => blocks.iter().for_each(|run| book.unpin(run)),
        }
        inner.leave(book);
        inner.notify();
        grown.map(|()| blocks)
    }

    /// Commits blocks of several caches: all of them, or none.
    ///
    /// # Errors
    /// What the first cache that cannot grow answers. Pages that the others made are idle then.
    pub fn commit_all(parts: &[(&Self, Range<u64>)]) -> Result<(), ElasticError> {
        let prepared: Result<Vec<_>, _> =
            parts.iter().map(|(cache, blocks)| cache.prepare(blocks.clone())).collect();
        prepared?.into_iter().for_each(Prepared::commit);
        Ok(())
    }
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// The book, once nobody changes the wanted blocks and they may be committed.
    fn claim(&self, wanted: &Wanted) -> Result<Guard<'_, D>, ElasticError> {
        let range = match wanted {
            Wanted::Prefix(end) => 0..*end,
            Wanted::Range(range) => range.clone(),
        };
        self.check_range(&range)?;
        let mut book = self.lock();
        loop {
            if book.has_table {
                return Err(ElasticError::InUse(User::Table));
            }
            let overlaps = |one: &Range<u64>| one.start < range.end && range.start < one.end;
            if book.prepared.iter().any(overlaps) {
                return Err(ElasticError::InUse(User::Prepared));
            }
            if !book.moving.iter().any(overlaps) {
                break;
            }
            book = self.wait(book);
        }
        if let Wanted::Range(range) = wanted
            && let Some(block) = book.free.next_absent(range.clone())
        {
            return Err(ElasticError::AlreadyCommitted { block });
        }
        Ok(book)
    }

    /// Refuses blocks that do not exist.
    pub(crate) fn check_range(&self, blocks: &Range<u64>) -> Result<(), ElasticError> {
        let count = self.geometry.blocks();
        if blocks.start > blocks.end || blocks.end > count {
            return Err(ElasticError::OutOfRange { blocks: blocks.clone(), count });
        }
        Ok(())
    }

    /// Frees committed blocks.
    pub(crate) fn uncommit(
        &self,
        blocks: &Range<u64>,
        fence: Option<D::Fence>,
    ) -> Result<(), ElasticError> {
        self.check_range(blocks)?;
        let mut book = self.lock();
        if book.has_table {
            return Err(ElasticError::InUse(User::Table));
        }
        if let Some(block) = book.free.next_in(blocks.clone()) {
            return Err(ElasticError::NotCommitted { block });
        }
        if blocks.is_empty() {
            return Ok(());
        }
        let end = book.end(fence);
        book.vacate(blocks, end);
        let is_due = matches!(end, End::Fence(_)) && book.fences.is_due();
        self.leave(book);
        // What a fence met is told by the trim that needs it.
        if is_due {
            drop(self.ask_fences());
        }
        self.keep_cap();
        Ok(())
    }
}

/// The free blocks before a number, in runs.
fn free_runs<H, F>(book: &crate::book::Book<H, F>, end: u64) -> Vec<Range<u64>> {
    let (mut runs, mut next) = (Vec::new(), book.free.next_in(0..end));
    while let Some(start) = next {
        let stop = book.free.next_absent(start..end).unwrap_or(end);
        runs.push(start..stop);
        next = book.free.next_in(stop..end);
    }
    runs
}
