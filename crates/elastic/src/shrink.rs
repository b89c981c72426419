//! Giving idle pages back: first the fence, then unmap, then release, then the credit.

use crate::book::RowState;
use crate::credit::Credit;
use crate::elastic_error::ElasticError;
use crate::extent::Run;
use crate::inner::{Guard, Inner};
use crate::mutation::Mutation;
use crate::pages::PageDriver;
use std::time::Instant;

/// What a trim has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// What the driver has again.
    pub bytes: u64,
    /// What is idle and was asked for, but waits for a fence: a later trim gets it.
    pub deferred_bytes: u64,
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// Gives idle extents back until so many bytes are free. Pages that another thread is making ahead
    /// or giving back are waited for; such a thread waits for nobody.
    pub(crate) fn trim(&self, bytes: u64) -> Result<Trimmed, ElasticError> {
        self.check_process()?;
        let mut book = self.lock();
        let begun = book.passing.begun();
        while book.idle_bytes < bytes && !book.passing.is_over(begun) {
            book = self.wait(book);
        }
        let is_nothing_idle = book.idle_bytes == 0;
        drop(book);
        if is_nothing_idle && !self.breaks(Mutation::TrimInUse) {
            return Ok(Trimmed::default());
        }
        self.ask_fences()?;
        let mut freed = self.give_back(bytes)?;
        if freed < bytes && self.waits_for_device(&mut self.lock()) {
            self.settle()?;
            freed += self.give_back(bytes - freed)?;
        }
        let idle = if freed < bytes { self.lock().idle_bytes } else { 0 };
        Ok(Trimmed { bytes: freed, deferred_bytes: idle.min(bytes - freed.min(bytes)) })
    }

    /// Gives all idle extents back, and waits for work that may still use them.
    pub(crate) fn trim_all(&self) -> Result<Trimmed, ElasticError> {
        let trimmed = self.trim(u64::MAX)?;
        if trimmed.deferred_bytes == 0 {
            return Ok(trimmed);
        }
        self.settle()?;
        let more = self.trim(u64::MAX)?;
        Ok(Trimmed { bytes: trimmed.bytes + more.bytes, ..more })
    }

    /// Whether an idle extent waits for the whole device and not for a fence.
    fn waits_for_device(&self, book: &mut Guard<'_, D>) -> bool {
        let book = &mut **book;
        let (extents, fences) = (&mut book.extents, &book.fences);
        extents.iter_mut().any(|(_, extent)| {
            extent.busy_rows == 0
                && extent.stale.waits_for_device()
                && !extent.stale.waits_for_fences(fences)
        })
    }

    /// Gives extents back that nothing uses any more: large ones first, then high ones, so that a
    /// cache shrinks from its end.
    pub(crate) fn give_back(&self, bytes: u64) -> Result<u64, ElasticError> {
        let mut guard = self.lock();
        let book = &mut *guard;
        let (extents, fences) = (&mut book.extents, &book.fences);
        let ignores_fences = self.breaks(Mutation::NoFenceBeforeUnmap);
        let takes_used = self.breaks(Mutation::TrimInUse);
        let mut ready: Vec<_> = extents
            .iter_mut()
            .filter(|(_, extent)| extent.busy_rows == 0 || takes_used)
            .filter_map(|(place, extent)| {
                let waits =
                    extent.stale.waits_for_fences(fences) || extent.stale.waits_for_device();
                let rank = (extent.rows(), extent.range.start);
                (!waits || ignores_fences).then_some((rank, place))
            })
            .collect();
        ready.sort_unstable_by(|one, other| other.cmp(one));
        let (mut chosen, mut sum) = (Vec::new(), 0);
        for ((rows, _), place) in ready {
            if sum >= bytes {
                break;
            }
            sum += rows * self.geometry.row_bytes();
            chosen.push(book.withdraw(place));
        }
        if chosen.is_empty() {
            return Ok(0);
        }
        book.last_trim = Some(Instant::now());
        let runs = Run::of_mapped(chosen, self.geometry.segments());
        runs.iter().for_each(|run| book.passing.begin(self.bytes_of(run)));
        self.leave(guard);
        let (mut freed, mut answer) = (0, Ok(()));
        for run in runs {
            match self.give_back_run(run) {
                Ok(bytes) => freed += bytes,
                Err(error) => answer = Err(error),
            }
        }
        answer.map(|()| freed)
    }

    fn bytes_of(&self, run: &Run<D::Handle>) -> u64 {
        let rows = run.rows();
        (rows.end - rows.start) * self.geometry.row_bytes()
    }

    /// Gives one run back, whose bytes are passing. One that the driver refuses to unmap at all is idle as before.
    fn give_back_run(&self, mut run: Run<D::Handle>) -> Result<u64, ElasticError> {
        let (rows, paid_bytes) = (run.rows(), self.bytes_of(&run));
        let bytes = (rows.end - rows.start) * self.geometry.granule();
        let is_paid_early = self.breaks(Mutation::CreditBeforeRelease);
        if is_paid_early {
            self.refund(paid_bytes);
        }
        let first = self.calls.unmap(&*self.driver, self.geometry.offset(0, rows.start), bytes);
        let answer = match first {
            Err(error) => {
                let mut book = self.lock();
                book.passing.end(paid_bytes);
                run.extents.into_iter().for_each(|extent| book.install(extent));
                self.leave(book);
                Err(error.into())
            }
            Ok(()) => {
                run.mapped.start = 1;
                let done = self.dismantle(run);
                let freed = done.freed_bytes;
                let error = done.left.as_ref().map(|left| (left.error.clone(), left.rows.clone()));
                if !is_paid_early {
                    self.refund(freed);
                }
                self.quarantine(done);
                let is_blocked = error.as_ref().is_some_and(|(_, rows)| !rows.is_empty());
                let state = if is_blocked { RowState::Quarantined } else { RowState::Absent };
                let mut book = self.lock();
                book.passing.end(paid_bytes);
                book.held_bytes -= freed;
                book.set_state(rows, state);
                self.leave(book);
                error.map_or(Ok(freed), |(error, _)| Err(error.into()))
            }
        };
        self.notify();
        answer
    }
}
