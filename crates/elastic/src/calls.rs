//! Calls of the driver, counted.

use crate::pages::{PageDriver, PageError};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts each kind of call, whatever it answers.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    created: AtomicU64,
    released: AtomicU64,
    mapped: AtomicU64,
    unmapped: AtomicU64,
    asked: AtomicU64,
    settled: AtomicU64,
}

/// How often a cache has called its driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Handles made.
    pub create: u64,
    /// Handles given back.
    pub release: u64,
    /// Runs mapped.
    pub map: u64,
    /// Runs unmapped.
    pub unmap: u64,
    /// Fences asked for.
    pub is_passed: u64,
    /// Waits for the device.
    pub settle: u64,
}

impl CallCounts {
    /// All calls.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.create + self.release + self.map + self.unmap + self.is_passed + self.settle
    }
}

impl Calls {
    pub(crate) fn counts(&self) -> CallCounts {
        CallCounts {
            create: self.created.load(Relaxed),
            release: self.released.load(Relaxed),
            map: self.mapped.load(Relaxed),
            unmap: self.unmapped.load(Relaxed),
            is_passed: self.asked.load(Relaxed),
            settle: self.settled.load(Relaxed),
        }
    }

    pub(crate) fn create<D: PageDriver>(
        &self,
        driver: &D,
        bytes: u64,
    ) -> Result<D::Handle, PageError> {
        self.created.fetch_add(1, Relaxed);
        driver.create(bytes)
    }

    pub(crate) fn release<D: PageDriver>(
        &self,
        driver: &D,
        handle: D::Handle,
    ) -> Result<(), PageError> {
        self.released.fetch_add(1, Relaxed);
        driver.release(handle)
    }

    pub(crate) fn map<D: PageDriver>(
        &self,
        driver: &D,
        offset: u64,
        handles: &[&D::Handle],
    ) -> Result<(), PageError> {
        self.mapped.fetch_add(1, Relaxed);
        driver.map(offset, handles)
    }

    pub(crate) fn unmap<D: PageDriver>(
        &self,
        driver: &D,
        offset: u64,
        bytes: u64,
    ) -> Result<(), PageError> {
        self.unmapped.fetch_add(1, Relaxed);
        driver.unmap(offset, bytes)
    }

    pub(crate) fn is_passed<D: PageDriver>(
        &self,
        driver: &D,
        fence: &D::Fence,
    ) -> Result<bool, PageError> {
        self.asked.fetch_add(1, Relaxed);
        driver.is_passed(fence)
    }

    pub(crate) fn settle<D: PageDriver>(&self, driver: &D) -> Result<(), PageError> {
        self.settled.fetch_add(1, Relaxed);
        driver.settle()
    }
}
