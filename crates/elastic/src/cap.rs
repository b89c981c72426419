//! What one cache may hold of the budget that it shares.

use crate::cache::Cache;
use crate::credit::Credit;
use crate::elastic_error::ElasticError;
use crate::grow::Effort;
use crate::inner::Inner;
use crate::pages::PageDriver;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The answer to a new cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapChange {
    /// The cache holds no more than the cap.
    Applied,
    /// No growth until the cache is below the cap. Pages above it are given back when no block uses them.
    Deferred {
        /// What the cache still holds above the cap.
        above_bytes: u64,
    },
    /// Another cap is in force, and nothing has changed.
    Stale {
        /// The revision in force.
        revision: u64,
    },
}

/// The cap of a cache, with everything that is paid for.
#[derive(Debug)]
pub(crate) struct Cap(Mutex<State>);

#[derive(Debug)]
struct State {
    bytes: u64,
    revision: u64,
    paid: u64,
}

impl Cap {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(State { bytes: u64::MAX, revision: 0, paid: 0 }))
    }

    /// The cap in bytes; `u64::MAX` means no cap.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// What is paid for above the cap once so many bytes more are.
    fn above(&self, more: u64) -> u64 {
        let state = self.lock();
        state.paid.saturating_add(more).saturating_sub(state.bytes)
    }

    fn set(&self, bytes: u64, revision: u64) -> Result<(), u64> {
        let mut state = self.lock();
        let is_repeat = revision == state.revision && bytes == state.bytes;
        if revision <= state.revision && !is_repeat {
            return Err(state.revision);
        }
        (state.bytes, state.revision) = (bytes, revision);
        Ok(())
    }

    fn take(&self, bytes: u64) -> Result<(), ElasticError> {
        let mut state = self.lock();
        match state.paid.checked_add(bytes).filter(|sum| *sum <= state.bytes) {
            Some(sum) => {
                state.paid = sum;
                Ok(())
            }
            None => Err(ElasticError::OverCap { asked: bytes, cap: state.bytes, held: state.paid }),
        }
    }

    pub(crate) fn give(&self, bytes: u64) {
        let mut state = self.lock();
        state.paid = state.paid.saturating_sub(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: PageDriver, C: Credit> Cache<D, C> {
    /// Sets what the cache may hold, whatever the budget has left. Idle pages above the cap are given back
    /// at once, and others as soon as no block uses them. Growth above the cap waits for the cache's own
    /// idle pages and is refused without them. `u64::MAX` is no cap.
    ///
    /// Revisions begin with 1 and grow with each change, so that commands that overtake each other leave
    /// the newest cap. A repeat of the cap in force returns what is still above it.
    ///
    /// # Errors
    /// What the driver answers to giving pages back. The cap is in force.
    pub fn set_cap(&self, bytes: u64, revision: u64) -> Result<CapChange, ElasticError> {
        let inner = self.inner();
        if let Err(revision) = inner.cap.set(bytes, revision) {
            return Ok(CapChange::Stale { revision });
        }
        match inner.cap.above(0) {
            0 => {}
            above => drop(inner.trim(above)?),
        }
        Ok(match inner.cap.above(0) {
            0 => CapChange::Applied,
            above_bytes => CapChange::Deferred { above_bytes },
        })
    }
}

impl<D: PageDriver, C: Credit> Inner<D, C> {
    /// Takes room under the cap. If the room does not suffice, idle pages of this cache are given back first, also
    /// those that the device must be waited for.
    pub(crate) fn take_room(&self, bytes: u64, effort: Effort) -> Result<(), ElasticError> {
        match self.cap.take(bytes) {
            Err(_) if effort == Effort::Patient && bytes <= self.cap.bytes() => {}
            answer => return answer,
        }
        let above = self.cap.above(bytes);
        let trimmed = self.trim(above)?;
        if trimmed.deferred_bytes > 0 {
            self.settle()?;
            self.trim(above.saturating_sub(trimmed.bytes))?;
        }
        self.cap.take(bytes)
    }

    /// Gives back unused pages above the cap. It does not wait: what it cannot give
    /// back, a later call does.
    pub(crate) fn keep_cap(&self) {
        let above = self.cap.above(0);
        if above > 0 && self.check_process().is_ok() {
            drop(self.ask_fences().and_then(|()| self.give_back(above)));
        }
    }
}
