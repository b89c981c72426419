//! The gate in front of a model's tensors: closed while its mapping is changed in place.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use crate::ending::detached;
use crate::interrupt::SLICE;

/// Whoever has closed it passes, everybody else waits until it is open.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    closed: Mutex<Option<Closed>>,
    opened: Condvar,
}

#[derive(Clone, Copy, Debug)]
struct Closed {
    by: ThreadId,
    /// How often: a `with` inside of another one is fine.
    depth: u32,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Option<Closed>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this thread has closed it.
    pub(crate) fn is_mine(&self) -> bool {
        self.lock().is_some_and(|closed| closed.by == thread::current().id())
    }

    /// Waits until this thread may pass.
    pub(crate) fn pass(&self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, |_| ())
    }

    /// Waits until this thread may pass, and closes it for all others.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let by = thread::current().id();
        self.wait(py, |closed| {
            let depth = closed.map_or(0, |closed| closed.depth);
            *closed = Some(Closed { by, depth: depth + 1 });
        })
    }

    pub(crate) fn open(&self) {
        let mut closed = self.lock();
        *closed = closed
            .filter(|closed| closed.depth > 1)
            .map(|closed| Closed { depth: closed.depth - 1, ..closed });
        drop(closed);
        self.opened.notify_all();
    }

    fn wait(&self, py: Python<'_>, then: impl Fn(&mut Option<Closed>) + Sync) -> PyResult<()> {
        let me = thread::current().id();
        let try_now = |closed: &mut Option<Closed>| {
            let passes = closed.is_none_or(|closed| closed.by == me);
            if passes {
                then(closed);
            }
            passes
        };
        if try_now(&mut self.lock()) {
            return Ok(());
        }
        loop {
            let passed = detached(py, || {
                let waited = self.opened.wait_timeout_while(self.lock(), SLICE, |closed| {
                    closed.is_some_and(|closed| closed.by != me)
                });
                let (mut closed, _) = waited.unwrap_or_else(PoisonError::into_inner);
                try_now(&mut closed)
            });
            if passed {
                return Ok(());
            }
            py.check_signals()?;
        }
    }
}
