//! Taking pages apart, and what to do with those that the driver does not take back.

use crate::credit::Credit;
use crate::extent::{Quarantined, Run};
use crate::inner::Inner;
use crate::pages::{PageDriver, PageError};
use std::ops::Range;

/// What became of pages that were taken apart.
pub(crate) struct Dismantled<H> {
    /// What the driver has again.
    pub(crate) freed_bytes: u64,
    /// What it did not take back.
    pub(crate) left: Option<Quarantined<H>>,
    pub(crate) left_bytes: u64,
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// Unmaps and releases a run that no work uses.
    pub(crate) fn dismantle(&self, run: Run<D::Handle>) -> Dismantled<D::Handle> {
        let (rows, granule) = (run.rows(), self.geometry.granule());
        let mut done = Dismantled { freed_bytes: 0, left: None, left_bytes: 0 };
        let mut parts: Vec<_> = run
            .extents
            .into_iter()
            .map(|extent| (extent.rows() * granule, extent.handles.into_iter()))
            .collect();
        for segment in 0..self.geometry.segments() {
            let handles: Vec<_> = parts
                .iter_mut()
                .filter_map(|(bytes, handles)| Some((*bytes, handles.next()?)))
                .collect();
            let (offset, bytes) =
                (self.geometry.offset(segment, rows.start), (rows.end - rows.start) * granule);
            if run.mapped.contains(&segment)
                && let Err(error) = self.calls.unmap(&*self.driver, offset, bytes)
            {
                let bytes = handles.iter().map(|(bytes, _)| bytes).sum();
                let handles = handles.into_iter().map(|(_, handle)| handle).collect();
                done.lose(rows.clone(), handles, bytes, error);
                continue;
            }
            for (bytes, handle) in handles {
                match self.calls.release(&*self.driver, handle) {
                    Ok(()) => done.freed_bytes += bytes,
                    Err(error) => done.lose(0..0, Vec::new(), bytes, error),
                }
            }
        }
        done
    }

    /// Keeps what the driver did not take back, and answers how much that is.
    pub(crate) fn quarantine(&self, done: Dismantled<D::Handle>) -> u64 {
        if let Some(left) = done.left {
            let mut book = self.lock();
            book.quarantine.push(left);
            book.quarantined_bytes += done.left_bytes;
        }
        done.left_bytes
    }
}

impl<H> Dismantled<H> {
    fn lose(&mut self, rows: Range<u64>, handles: Vec<H>, bytes: u64, error: PageError) {
        self.left_bytes += bytes;
        let empty = || Quarantined { rows: 0..0, handles: Vec::new(), error };
        let left = self.left.get_or_insert_with(empty);
        left.handles.extend(handles);
        if !rows.is_empty() {
            left.rows = rows;
        }
    }
}
