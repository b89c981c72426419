//! A gate in a call of the modelled card, where a thread can be held up.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Holds the first thread that makes a call, until it is opened.
#[derive(Debug, Default)]
pub struct Gate {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    closed: Option<&'static str>,
    is_occupied: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes it for the next call of that name, until what this answers is dropped.
    pub fn close(&self, call: &'static str) -> Closed<'_> {
        *self.lock() = Inner { closed: Some(call), is_occupied: false };
        Closed(self)
    }

    /// Goes through, or stands before it.
    pub fn pass(&self, call: &str) {
        let mut inner = self.lock();
        if inner.closed != Some(call) || inner.is_occupied {
            return;
        }
        inner.is_occupied = true;
        self.changed.notify_all();
        let inner = self.changed.wait_while(inner, |inner| inner.closed.is_some());
        drop(inner.unwrap_or_else(PoisonError::into_inner));
    }
}

/// A gate that is closed. A test that fails opens it too, and does not wait for ever.
pub struct Closed<'a>(&'a Gate);

impl Closed<'_> {
    /// Waits until a thread stands before the gate.
    pub fn await_thread(&self) {
        let inner = self.0.changed.wait_while(self.0.lock(), |inner| !inner.is_occupied);
        drop(inner.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = None;
        self.0.changed.notify_all();
    }
}
