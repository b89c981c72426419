//! The lock of a pool, and how threads wait for each other there.

use std::sync::{Condvar, Mutex, PoisonError};

/// A value behind a lock. Tests put one in its place that a scheduler controls.
pub trait Monitor<T>: Send + Sync {
    /// A monitor of a value.
    fn new(value: T) -> Self;

    /// Works on the value, alone.
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R;

    /// Waits until a condition is not so any more. It is looked at after each
    /// [`Monitor::notify`].
    fn wait_while(&self, condition: impl FnMut(&mut T) -> bool);

    /// Has those who wait look again.
    fn notify(&self);
}

/// The lock of the standard library.
#[derive(Debug)]
pub struct StdMonitor<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T: Send> Monitor<T> for StdMonitor<T> {
    fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Condvar::new() }
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn wait_while(&self, condition: impl FnMut(&mut T) -> bool) {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(value, condition).unwrap_or_else(PoisonError::into_inner));
    }

    fn notify(&self) {
        self.changed.notify_all();
    }
}
