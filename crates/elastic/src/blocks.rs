//! Blocks handed out one by one.

use crate::book::RowState;
use crate::cache::Cache;
use crate::credit::{Credit, Holder};
use crate::elastic_error::{ElasticError, User};
use crate::fences::End;
use crate::geometry::GeometryError;
use crate::grow::{Effort, runs};
use crate::inner::{Guard, Inner};
use crate::mutation::Mutation;
use crate::pages::PageDriver;
use std::fmt;
use std::ops::Range;

/// Hands out the blocks of a cache and takes them back. It fills rows that are in use before idle
/// ones, and low rows before high ones, so that high rows drain and can be given back.
///
/// Where pages are mapped, taking and giving a block makes no call of the driver and no allocation.
/// Dropping the table gives all blocks back, as if without a fence.
///
/// A block that is given with a fence may be taken again at once: the fence keeps pages from being
/// unmapped, and does not order the work of two users of a block.
pub struct BlockTable<D: PageDriver, C: Credit> {
    cache: Cache<D, C>,
}

impl<D: PageDriver, C: Credit> BlockTable<D, C> {
    pub(crate) fn new(cache: Cache<D, C>) -> Result<Self, ElasticError> {
        let blocks = cache.geometry().blocks();
        if u32::try_from(blocks).is_err() {
            return Err(GeometryError::TooManyBlocks(blocks).into());
        }
        let mut book = cache.inner().lock();
        let user = match () {
            () if book.has_table => Some(User::Table),
            () if book.free.count() < blocks => Some(User::Ranges),
            () if !book.moving.is_empty() || !book.prepared.is_empty() => Some(User::Prepared),
            () => None,
        };
        if let Some(user) = user {
            return Err(ElasticError::InUse(user));
        }
        book.has_table = true;
        drop(book);
        Ok(Self { cache })
    }

    /// The cache that the blocks belong to.
    #[must_use]
    pub fn cache(&self) -> &Cache<D, C> {
        &self.cache
    }

    /// Takes so many blocks, or none.
    ///
    /// # Errors
    /// As for [`Cache::commit`]; fewer free blocks than asked for.
    pub fn take(&self, count: usize) -> Result<Vec<u32>, ElasticError> {
        let mut blocks = Vec::with_capacity(count.min(1 << 20));
        self.take_into(count, &mut blocks)?;
        Ok(blocks)
    }

    /// Takes so many blocks, or none, and adds their numbers to a list.
    ///
    /// # Errors
    /// As for [`BlockTable::take`]. The list is as it was then.
    pub fn take_into(&self, count: usize, blocks: &mut Vec<u32>) -> Result<(), ElasticError> {
        let (inner, before) = (self.cache.inner(), blocks.len());
        let mut book = inner.lock();
        if count as u64 > book.free.count() {
            let free = book.free.count();
            drop(book);
            return Err(self.too_few(count as u64, free));
        }
        inner.take_mapped(&mut book, count, blocks);
        let missing = count - (blocks.len() - before);
        if missing == 0 {
            inner.leave(book);
            return Ok(());
        }
        let grown = inner.take_grown(book, missing, blocks);
        if grown.is_err() {
            let mut book = inner.lock();
            // Nobody has seen these: no work uses them.
            blocks.drain(before..).for_each(|block| book.vacate(&one(block), End::Unused));
            inner.leave(book);
        }
        grown
    }

    /// Gives blocks back. Work may use them until the device has passed the fence; without one, the
    /// whole device is waited for before their pages are unmapped.
    ///
    /// # Errors
    /// A block that does not exist, is not taken, or is named twice: none is given back then.
    pub fn give(&self, blocks: &[u32], fence: Option<D::Fence>) -> Result<(), ElasticError> {
        let inner = self.cache.inner();
        let mut book = inner.lock();
        let count = inner.geometry.blocks();
        // Bits first: a block that is named twice is free when it comes again.
        let mut checked = 0;
        let answer = blocks.iter().map(|block| u64::from(*block)).try_for_each(|block| {
            if block >= count {
                return Err(ElasticError::OutOfRange { blocks: block..block + 1, count });
            }
            if book.free.contains(block) || book.moving.iter().any(|run| run.contains(&block)) {
                return Err(ElasticError::NotCommitted { block });
            }
            book.free.insert(block);
            checked += 1;
            Ok(())
        });
        if answer.is_err() {
            blocks[..checked].iter().for_each(|block| book.free.remove(u64::from(*block)));
            return answer;
        }
        if blocks.is_empty() {
            return Ok(());
        }
        let end = book.end(fence);
        runs_of(blocks).for_each(|run| book.vacate(&run, end));
        let is_due = matches!(end, End::Fence(_)) && book.fences.is_due();
        inner.leave(book);
        // What a fence met is told by the trim that needs it.
        if is_due {
            drop(inner.ask_fences());
        }
        inner.keep_cap();
        Ok(())
    }

    /// How many blocks nobody has taken.
    #[must_use]
    pub fn free_blocks(&self) -> u64 {
        self.cache.inner().lock().free.count()
    }

    /// How many blocks can be taken without a call of the driver, counted by where they begin.
    #[must_use]
    pub fn ready_blocks(&self) -> u64 {
        let book = self.cache.inner().lock();
        let ready = book.extents.iter().flat_map(|(_, extent)| extent.range.clone());
        ready.map(|row| book.free_in(row)).sum()
    }

    fn too_few(&self, count: u64, free: u64) -> ElasticError {
        let geometry = self.cache.geometry();
        let bytes = geometry.block_bytes().saturating_mul(geometry.segments());
        let (asked, limit) = (count.saturating_mul(bytes), geometry.blocks() * bytes);
        if count > geometry.blocks() {
            return ElasticError::NeverFits { asked, limit };
        }
        let used = limit - free * bytes;
        let name = "this table".to_owned();
        let holders = vec![Holder { name, bytes: used, idle_bytes: 0, user: None }];
        ElasticError::AfterFreeing { asked, limit, used, holders }
    }
}

impl<D: PageDriver, C: Credit> Drop for BlockTable<D, C> {
    fn drop(&mut self) {
        let inner = self.cache.inner();
        let mut book = inner.lock();
        let all = 0..inner.geometry.blocks();
        let mut next = book.free.next_absent(all.clone());
        if next.is_some() {
            let end = book.end(None);
            while let Some(start) = next {
                let stop = book.free.next_in(start..all.end).unwrap_or(all.end);
                book.vacate(&(start..stop), end);
                next = book.free.next_absent(stop..all.end);
            }
        }
        book.has_table = false;
        inner.leave(book);
        inner.keep_cap();
    }
}

impl<D: PageDriver, C: Credit> fmt::Debug for BlockTable<D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockTable").field("free", &self.free_blocks()).finish_non_exhaustive()
    }
}

/// A block as its caller knows it: a table has no more of them than fit.
pub(crate) fn number(block: u64) -> u32 {
    u32::try_from(block).unwrap_or(u32::MAX)
}

/// Blocks that follow each other, as ranges.
fn runs_of(blocks: &[u32]) -> impl Iterator<Item = Range<u64>> + '_ {
    let follow = |one: &u32, next: &u32| one.checked_add(1) == Some(*next);
    blocks
        .chunk_by(follow)
        .filter_map(|run| Some(u64::from(*run.first()?)..u64::from(*run.last()?) + 1))
}

/// A block as a range.
fn one(block: u32) -> Range<u64> {
    u64::from(block)..u64::from(block) + 1
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// Takes blocks whose rows are mapped: first those whose rows are all in use, then any.
    fn take_mapped(&self, book: &mut Guard<'_, D>, count: usize, blocks: &mut Vec<u32>) {
        let wanted = blocks.len() + count;
        for in_use in [true, false] {
            let mut next = next_row(book, 0, in_use);
            while let Some(row) = next {
                let from = self.geometry.blocks_from(row);
                let mut free = book.free.next_in(from.clone());
                while let Some(block) = free {
                    let left = (wanted - blocks.len()) as u64;
                    if left == 0 {
                        return;
                    }
                    let end = from.end.min(block + left);
                    let run = block..book.free.next_absent(block..end).unwrap_or(end);
                    let ready = |row: u64| {
                        book.state(row) == RowState::Mapped && (!in_use || book.is_used(row))
                    };
                    // All that follow each other at once, or one where the last reaches into a row
                    // that is not ready.
                    let mut tried = [run.clone(), block..block + 1].into_iter();
                    if let Some(run) = tried.find(|run| self.geometry.rows_of(run).all(ready)) {
                        if !self.breaks(Mutation::BlockTwice) {
                            book.occupy(&run);
                        }
                        blocks.extend(run.clone().map(number));
                        free = book.free.next_in(run.end..from.end);
                    } else {
                        free = book.free.next_in(block + 1..from.end);
                    }
                }
                next = next_row(book, row + 1, in_use);
            }
        }
    }

    /// Takes the lowest blocks that are left, and makes the pages that they lack.
    fn take_grown(
        &self,
        mut book: Guard<'_, D>,
        count: usize,
        blocks: &mut Vec<u32>,
    ) -> Result<(), ElasticError> {
        let mut chosen: Vec<Range<u64>> = Vec::new();
        let (mut left, mut next) = (count as u64, book.free.next(0));
        while let Some(start) = next.filter(|_| left > 0) {
            let end = (start + left).min(self.geometry.blocks());
            let stop = book.free.next_absent(start..end).unwrap_or(end);
            left -= stop - start;
            chosen.push(start..stop);
            next = book.free.next(stop);
        }
        // Not free for anybody else from now on, and not theirs to give back either.
        chosen.iter().for_each(|run| book.occupy(run));
        book.moving.extend(chosen.iter().cloned());
        drop(book);
        let rows = chosen.iter().flat_map(|run| self.geometry.rows_of(run));
        let grown = self.grow(&runs(rows), Effort::Patient);
        let mut book = self.lock();
        book.moving.retain(|one| !chosen.contains(one));
        for run in chosen {
            if grown.is_ok() {
                blocks.extend(run.map(number));
            } else {
                book.vacate(&run, End::Unused);
            }
        }
        self.leave(book);
        grown
    }
}

/// The next row in which a free block begins: in use, or mapped at all.
fn next_row<H, F>(book: &crate::book::Book<H, F>, from: u64, in_use: bool) -> Option<u64> {
    let open = book.open.next(from);
    let spare = if in_use { None } else { book.spare.next(from) };
    open.into_iter().chain(spare).min()
}
