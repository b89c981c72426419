//! Growth: credit, memory and mapping for rows that have none.

use crate::book::RowState;
use crate::credit::{Credit, Verdict, Why};
use crate::elastic_error::ElasticError;
use crate::extent::{Extent, Quarantined, Run};
use crate::inner::Inner;
use crate::mutation::Mutation;
use crate::pages::{PageDriver, PageError};
use std::ops::Range;
use std::time::Instant;

/// What a step of mapping ahead has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refilled {
    /// Enough is there.
    Enough,
    /// So many bytes were mapped.
    Mapped(u64),
    /// Pages were given back a short while ago; nothing is mapped ahead before this moment.
    Suspended(Instant),
}

/// What is done for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Somebody waits for them, so others are asked to give way, and waited for.
    Patient,
    /// Somebody waits for them who has other ways: nobody is asked, and nothing is given back for them.
    Quick,
    /// Nobody needs them yet.
    Ahead,
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// Backs all rows of some runs. The caller has pinned them, so that none is given back.
    ///
    /// It never waits for other threads while it holds rows itself.
    pub(crate) fn grow(&self, rows: &[Range<u64>], effort: Effort) -> Result<(), ElasticError> {
        let mut book = self.lock();
        let missing = loop {
            let all = || rows.iter().cloned().flatten();
            if all().all(|row| book.state(row) == RowState::Mapped) {
                return Ok(());
            }
            let stuck = |one: &&Quarantined<D::Handle>| all().any(|row| one.rows.contains(&row));
            if let Some(lost) = book.quarantine.iter().find(stuck) {
                return Err(lost.error.clone().into());
            }
            let is_absent = |row: &u64| match book.state(*row) {
                RowState::Growing => self.breaks(Mutation::RowTwice),
                state => state == RowState::Absent,
            };
            let is_moving = |row: u64| book.state(row) != RowState::Mapped && !is_absent(&row);
            if !all().any(is_moving) {
                let missing = runs(all().filter(is_absent));
                missing.iter().for_each(|run| book.set_state(run.clone(), RowState::Growing));
                break missing;
            }
            book = self.wait(book);
        };
        drop(book);
        self.back(missing, effort)
    }

    /// One step of mapping ahead of use.
    pub(crate) fn refill(&self) -> Result<Refilled, ElasticError> {
        let mut book = self.lock();
        let until = book.last_trim.map(|trimmed| trimmed + self.marks.residency);
        if let Some(until) = until.filter(|until| *until > Instant::now()) {
            return Ok(Refilled::Suspended(until));
        }
        let (mut ahead, mut missing) = (0, Vec::new());
        if book.has_table {
            // A table uses idle rows wherever they are.
            ahead = book.idle_rows;
            let mut next = book.absent.next(0);
            while let Some(row) = next.filter(|_| ahead + (missing.len() as u64) < self.marks.high)
            {
                missing.push(row);
                next = book.absent.next(row + 1);
            }
        } else {
            let end = book.busy.last().map_or(0, |row| row + 1);
            for row in end..self.geometry.rows() {
                if ahead + missing.len() as u64 >= self.marks.high {
                    break;
                }
                match book.state(row) {
                    RowState::Mapped | RowState::Growing => ahead += 1,
                    RowState::Absent => missing.push(row),
                    RowState::Shrinking | RowState::Quarantined => {}
                }
            }
        }
        if ahead >= self.marks.low || missing.is_empty() {
            return Ok(Refilled::Enough);
        }
        let bytes = missing.len() as u64 * self.geometry.row_bytes();
        let missing = runs(missing.into_iter());
        missing.iter().for_each(|run| book.set_state(run.clone(), RowState::Growing));
        // Before it is paid: credit that nobody uses yet must never look as if it were in use.
        book.passing.begin(bytes);
        self.leave(book);
        self.back(missing, Effort::Ahead)?;
        Ok(Refilled::Mapped(bytes))
    }

    /// Backs rows that this call has marked as growing, or leaves all of them absent.
    fn back(&self, missing: Vec<Range<u64>>, effort: Effort) -> Result<(), ElasticError> {
        let built = self.check_process().and_then(|()| self.build(&missing, effort));
        let mut book = self.lock();
        if effort == Effort::Ahead {
            let rows: u64 = missing.iter().map(|run| run.end - run.start).sum();
            book.passing.end(rows * self.geometry.row_bytes());
        }
        let answer = match built {
            Ok(built) => {
                for extent in built.into_iter().flat_map(|run| run.extents) {
                    book.held_bytes += extent.rows() * self.geometry.row_bytes();
                    book.install(extent);
                }
                Ok(())
            }
            Err(error) => {
                for run in missing {
                    let blocked = book.quarantine.iter().any(|one| one.rows == run);
                    let state = if blocked { RowState::Quarantined } else { RowState::Absent };
                    book.set_state(run, state);
                }
                Err(error)
            }
        };
        self.leave(book);
        self.notify();
        answer
    }

    /// Pays for pages, makes them and maps them: all, or none.
    fn build(
        &self,
        missing: &[Range<u64>],
        effort: Effort,
    ) -> Result<Vec<Run<D::Handle>>, ElasticError> {
        let rows: u64 = missing.iter().map(|run| run.end - run.start).sum();
        let bytes = rows * self.geometry.row_bytes();
        let pays_late = self.breaks(Mutation::CreditAfterMap);
        if !pays_late {
            self.pay(bytes, effort)?;
        }
        let mut built: Vec<_> = missing
            .iter()
            .map(|run| {
                let extents = self.geometry.cut(run.clone()).into_iter().map(Extent::new);
                Run { extents: extents.collect(), mapped: 0..0 }
            })
            .collect();
        let made = self.make(&mut built, bytes, effort).and_then(|()| self.lay(&mut built));
        let made = if pays_late { made.and_then(|()| self.pay(bytes, effort)) } else { made };
        if made.is_ok() {
            return made.map(|()| built);
        }
        if self.breaks(Mutation::NothingUndone) {
            std::mem::forget(built);
            self.refund(bytes);
            return made.map(|()| Vec::new());
        }
        let mut left_bytes = 0;
        for run in built {
            left_bytes += self.quarantine(self.dismantle(run));
        }
        self.lock().held_bytes += left_bytes;
        self.refund(bytes - left_bytes);
        made.map(|()| Vec::new())
    }

    /// Takes room under the cap, then credit.
    fn pay(&self, bytes: u64, effort: Effort) -> Result<(), ElasticError> {
        self.take_room(bytes, effort)?;
        let paid = self.pay_credit(bytes, effort);
        if paid.is_err() {
            self.cap.give(bytes);
        }
        paid
    }

    /// Takes credit. Where there is none, what is idle here is given back before anybody else is
    /// asked or waited for.
    fn pay_credit(&self, bytes: u64, effort: Effort) -> Result<(), ElasticError> {
        let short = match self.credit.take(bytes, Why::Ahead) {
            Err(short) if effort == Effort::Patient && short.verdict != Verdict::Never => short,
            answer => return Ok(answer?),
        };
        let lacking = short.used.saturating_add(bytes).saturating_sub(short.limit);
        self.trim(lacking.max(1))?;
        Ok(self.credit.take(bytes, Why::Commit)?)
    }

    /// Makes the handles. On a full card what is idle here is given back once.
    fn make(
        &self,
        built: &mut [Run<D::Handle>],
        asked: u64,
        effort: Effort,
    ) -> Result<(), ElasticError> {
        let mut may_retry = effort == Effort::Patient;
        for extent in built.iter_mut().flat_map(|run| &mut run.extents) {
            let bytes = extent.rows() * self.geometry.granule();
            for _ in 0..self.geometry.segments() {
                let mut made = self.calls.create(&*self.driver, bytes);
                let is_full = made.as_ref().is_err_and(PageError::is_out_of_memory);
                if is_full && std::mem::take(&mut may_retry) && self.trim(asked)?.bytes > 0 {
                    made = self.calls.create(&*self.driver, bytes);
                }
                extent.handles.push(made.map_err(|error| self.card_full(asked, error))?);
            }
        }
        Ok(())
    }

    fn card_full(&self, asked: u64, source: PageError) -> ElasticError {
        if source.is_out_of_memory() {
            ElasticError::CardFull { asked, held: self.lock().held_bytes, source }
        } else {
            source.into()
        }
    }

    /// Maps each run with one call for each segment.
    fn lay(&self, built: &mut [Run<D::Handle>]) -> Result<(), ElasticError> {
        for run in built {
            for segment in 0..self.geometry.segments() {
                let offset = self.geometry.offset(segment, run.rows().start);
                let mapped = self.calls.map(&*self.driver, offset, &run.handles(segment));
                if mapped.as_ref().map_or_else(PageError::is_stuck, |()| true) {
                    run.mapped.end += 1;
                }
                mapped?;
            }
        }
        Ok(())
    }
}

/// Puts rows that follow each other together.
pub(crate) fn runs(rows: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some(run) if run.end > row => {}
            Some(run) if run.end == row => run.end += 1,
            _ => runs.push(row..row + 1),
        }
    }
    runs
}
