//! Reserved device addresses.

use super::driver::Driver;
use super::pointer::DevicePtr;
use super::report_drop;
use crate::error::CudaError;
use crate::{result, to_usize};
use std::sync::Arc;

/// A reserved range of device addresses. Cheap to clone; given back when the last clone and the
/// last [`Mapping`](super::Mapping) in it are gone.
#[derive(Clone, Debug)]
pub struct AddressRange {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    driver: Driver,
    start: DevicePtr,
    bytes: u64,
}

impl AddressRange {
    /// Reserves addresses; costs no memory.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless `bytes` is a multiple of the granularity.
    pub fn reserve(driver: &Driver, bytes: u64) -> Result<Self, CudaError> {
        Self::reserve_at(driver, bytes, 0, DevicePtr(0))
    }

    /// Reserves addresses with an alignment and a wish, each 0 for "any". The driver may answer
    /// a wish with another address.
    ///
    /// # Errors
    /// `INVALID_VALUE` for odd sizes and alignments.
    pub fn reserve_at(
        driver: &Driver,
        bytes: u64,
        alignment: u64,
        wanted: DevicePtr,
    ) -> Result<Self, CudaError> {
        let (size, alignment) = (to_usize(bytes), to_usize(alignment));
        let start = result::mem::reserve(driver.table(), size, alignment, wanted.0)?;
        let inner = Inner { driver: driver.clone(), start: DevicePtr(start), bytes };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// First address.
    #[must_use]
    pub fn start(&self) -> DevicePtr {
        self.inner.start
    }

    /// Count of addresses.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// The driver it belongs to.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.inner.driver
    }

    /// The address at an offset, when `bytes` from there on lie inside.
    pub(crate) fn at(&self, offset: u64, bytes: u64) -> Option<DevicePtr> {
        let end = offset.checked_add(bytes)?;
        (end <= self.inner.bytes).then(|| self.inner.start.checked_add(offset))?
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let table = self.driver.table();
        // SAFETY: we own the reservation, and every mapping in it held a clone.
        report_drop(unsafe { result::mem::free(table, self.start.0, to_usize(self.bytes)) });
    }
}
